# Readers of changes after crashes, failovers and restores that can lose transactions.  A reader with a
# position outside the database copies the table again if the server lacks a change that it has got, and
# not after a planned switchover or a crash.  A reader without such a position never leaves a wrong row
# in a copy in the same database, and copies the table again after each promotion.
#
# The environment variable CHANGES_PROMOTIONS is the number of promotions, by default 4.
use ServerTest;
use Time::HiRes qw(sleep);
use World;

my $promotions = $ENV{CHANGES_PROMOTIONS} || 4;
my $world = World->new('lost_1', <<'CONF', allows_streaming => 1, has_archiving => 1, extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = 1d
max_wal_senders = 10
wal_retrieve_retry_interval = 100ms
log_statement = none
CONF
my $primary = $world->node;
my $nodes = 1;

sub on { my ($node, @statements) = @_; return $node->safe_psql('postgres', join ";\n", @statements) }

on($primary, q{
	CREATE EXTENSION uuid9562_changes;
	CREATE TABLE item (id int PRIMARY KEY, v bigint);
	CREATE TABLE history (v bigint);
	CREATE TABLE copy (id int PRIMARY KEY, v bigint);
	CREATE SEQUENCE versions;
	CREATE FUNCTION give_version() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.v := nextval(''versions''); INSERT INTO history VALUES (NEW.v); RETURN NEW; END';
	CREATE TRIGGER give_version BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION give_version();
	INSERT INTO item SELECT n FROM generate_series(1, 50) AS n;
	SELECT changes_track('item');

	-- Apply a page to the table "copy", and return the operations.
	CREATE FUNCTION apply() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		change record;
		types text;
	BEGIN
		FOR change IN SELECT change_type AS type, (data).* FROM changes_read('inside', NULL::item, 20) LOOP
			types := concat_ws(' ', types, change.type);
			IF change.type = 'reset' THEN
				DELETE FROM copy;
				INSERT INTO copy SELECT * FROM item;
			ELSE
				DELETE FROM copy WHERE id = change.id;
				INSERT INTO copy SELECT change.id, change.v WHERE change.type = 'upsert';
			END IF;
		END LOOP;
		PERFORM changes_done('inside') WHERE types IS NOT NULL;
		RETURN types;
	END$$});

# --- writers and readers ----------------------------------------------------------

my $file = PostgreSQL::Test::Utils::tempdir() . '/write.sql';
append_to_file($file, <<'SQL');
\set k random(1, 60)
\set n random(1, 3)
\if :n = 1
INSERT INTO item VALUES (:k) ON CONFLICT (id) DO UPDATE SET v = 0;
\elif :n = 2
UPDATE item SET v = 0 WHERE id BETWEEN :k AND :k + 3;
\else
DELETE FROM item WHERE id = :k;
\endif
SQL
my ($writers, $out);

sub start_writers
{
	$out = '';
	$writers = IPC::Run::start([ 'env', 'PGOPTIONS=-c synchronous_commit=' . (rand() < 0.7 ? 'off' : 'on'), 'pgbench', '--no-vacuum', '--client=2', '--time=600', '--rate=200',
			"--file=$file", $primary->connstr('postgres') ], '<', \undef, '>&', \$out);
	return;
}

sub stop_writers { $writers->kill_kill if $writers; undef $writers; return }

# A copy outside the database: with "after", or with changes_done()
my %outside = (reader => 'outside', after => 1, rows => {}, versions => {});
my %elsewhere = (reader => 'elsewhere', rows => {}, versions => {});
my @copies = (\%outside, \%elsewhere);

# Read a page into a copy, and return its operations.
sub apply
{
	my ($copy) = @_;
	my $after = $copy->{after} && $copy->{position} ? ", after => '$copy->{position}'" : '';
	my $page = on($primary, "SELECT change_type, (data).id, (data).v, change_position FROM changes_read('$copy->{reader}', NULL::item, 20$after)");
	my @types;

	foreach (split /\n/, $page)
	{
		my ($type, $id, $v, $position) = split /\|/;

		push @types, $type;
		if ($type eq 'reset')
		{
			$copy->{rows} = { map { split /\|/ } split /\n/, on($primary, 'SELECT * FROM item') };
			$copy->{versions} = {};
		}
		elsif ($type eq 'upsert') { $copy->{rows}{$id} = $v; $copy->{versions}{$v} = 1 }
		else { delete $copy->{rows}{$id} }
		$copy->{position} = $position;
	}
	on($primary, "SELECT changes_done('$copy->{reader}', '$copy->{position}')") if @types && !$copy->{after};
	return "@types";
}

# Read all changes, and compare the copies with the table.  Return the operations that "outside" gets first.
sub compare
{
	my ($name) = @_;
	my ($types, %first);
	my $resets = 0;
	my $check = sub { die "$name: a reader copies the table again and again" if $types =~ /reset/ && ++$resets > 50 };

	foreach my $copy (@copies)
	{
		while (($types = apply($copy)) ne '') { $first{ $copy->{reader} } //= $types; $check->() }
	}
	while (($types = on($primary, 'SELECT apply()')) ne '') { $first{inside} //= $types; $check->() }
	my $rows = on($primary, 'SELECT id || \'|\' || v FROM item ORDER BY id');
	foreach my $copy (@copies)
	{
		is(join("\n", map { "$_|$copy->{rows}{$_}" } sort { $a <=> $b } keys %{ $copy->{rows} }), $rows, "$name: the copy of \"$copy->{reader}\" equals the table");
	}
	is(on($primary, 'SELECT id || \'|\' || v FROM copy ORDER BY id'), $rows, "$name: the copy in the database equals the table");
	return \%first;
}

# Read while clients write.
sub run_for
{
	my ($seconds) = @_;
	my $end = time + $seconds;

	while (time < $end)
	{
		apply(\%outside) if rand() < 0.7;
		apply(\%elsewhere) if rand() < 0.5;
		on($primary, 'SET synchronous_commit = off', 'SELECT apply()') if rand() < 0.5;
		sleep rand 0.2;
	}
	return;
}

# Count the versions that "outside" has got and the server lacks.
sub lost
{
	my @versions = keys %{ $outside{versions} };

	return @versions ? on($primary, 'SELECT count(*) FROM (SELECT unnest(ARRAY[' . join(',', @versions) . ']::bigint[]) EXCEPT SELECT v FROM history) AS lost') : 0;
}

sub is_reset { my ($first, $reader) = @_; return ($first->{$reader} // '') eq 'reset' }

# --- crashes ------------------------------------------------------------------------

my %count = map { $_ => 0 } qw(crashes failovers switchovers lost spared);
compare('begin');
for my $crash (1 .. 3)
{
	start_writers();
	run_for(1);
	$primary->stop('immediate');
	stop_writers();
	$world->start($primary);
	$count{crashes}++;
	is(lost(), 0, "crash $crash: no change is lost that was read");
	my $first = compare("crash $crash");
	ok(!is_reset($first, 'outside'), "crash $crash: no table is copied again");
	ok(!is_reset($first, 'inside'), "crash $crash: nor is the one in the database");
}

# a copy of the whole table counts only if the server runs until it is confirmed
my $position = on($primary, q{SELECT change_position FROM changes_read('new', NULL::item)});
on($primary, 'SELECT * FROM item');
$primary->stop('immediate');
$world->start($primary);
on($primary, "SELECT changes_done('new', '$position')");
is(on($primary, q{SELECT change_type FROM changes_read('new', NULL::item)}), 'reset', 'a copy that was not confirmed before a crash does not count');
is(on($primary, "SELECT change_type FROM changes_read('newer', NULL::item, after => '$position')"), 'reset', 'nor does it with a position outside');

# --- promotions -----------------------------------------------------------------------

sub promote
{
	my ($kind, $name) = @_;
	my $old = $primary;
	my $standby = PostgreSQL::Test::Cluster->new('lost_' . ++$nodes);

	$old->backup("for_$nodes");
	$standby->init_from_backup($old, "for_$nodes", has_streaming => 1);
	$world->turn('normal', $standby);
	$world->start($standby);
	$world->turn('by ' . (int(rand 20) - 10), $standby);
	$old->wait_for_catchup($standby, 'replay', $old->lsn('insert'));
	start_writers();
	run_for(1);
	if ($kind eq 'failover')
	{
		if (rand() < 0.7)
		{
			$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
			$standby->reload;
			run_for(rand 1.5);
		}
		$old->stop('immediate');
	}
	else
	{
		$old->stop('fast');
	}
	stop_writers();
	$standby->promote;
	$primary = $standby;
	$count{"${kind}s"}++;
	my $lost = lost();
	my $first = compare($name);
	if ($kind eq 'switchover')
	{
		is($lost, 0, "$name: nothing is lost");
		ok(!is_reset($first, 'outside'), "$name: the table is not copied again with a position outside");
	}
	elsif ($lost)
	{
		ok(is_reset($first, 'outside'), "$name: the table is copied again, because changes are lost");
	}
	$count{lost}++ if $lost;
	$count{spared}++ if $kind eq 'failover' && !is_reset($first, 'outside');
	ok(is_reset($first, $_), "$name: \"$_\" copies the table again") foreach qw(inside elsewhere);
	return;
}

promote($_ % 2 ? 'failover' : 'switchover', "promotion $_") foreach 1 .. $promotions;
note join ', ', map { "$count{$_} $_" } sort keys %count;

# --- backups ------------------------------------------------------------------------------

# Restore a backup, and compare the copies after other WAL was written.
sub restore
{
	my ($name, $expected, %options) = @_;
	my $restored = PostgreSQL::Test::Cluster->new('lost_' . ++$nodes);

	$primary->stop('immediate') unless $options{target};
	$restored->init_from_backup($primary, 'last', $options{target} ? (has_restoring => 1, standby => 0) : ());
	$restored->append_conf('postgresql.conf', $options{target}) if $options{target};
	$world->turn('normal', $restored);
	$world->start($restored);
	$restored->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery does not end';
	$primary->stop('immediate') if $options{target};
	$primary = $restored;
	on($primary, q{CREATE TABLE filler AS SELECT n, repeat('x', 100) AS x FROM generate_series(1, 50000) AS n; DROP TABLE filler});
	my $lost = lost();
	my $first = compare($name);
	is(is_reset($first, 'outside') ? 'reset' : 'goes on', $expected, "$name: with a position outside");
	cmp_ok($lost, $expected eq 'reset' ? '>' : '==', 0, "$name: changes that were read are lost or not");
	return;
}

# a position in the database goes back with it, so only a copy in the same database is right
@copies = \%outside;
$primary->backup('last');
on($primary, 'UPDATE item SET v = 0');
compare('after the backup');
restore('a backup on the same timeline', 'reset');
$primary->stop('fast');
$world->start($primary);
$primary->backup('last');
restore('a backup, without loss', 'goes on');

$primary->append_conf('postgresql.conf', "archive_mode = on\n");
$primary->restart;
$primary->enable_archiving;
$primary->restart;
$primary->backup('last');
on($primary, 'UPDATE item SET v = 0 WHERE id < 20');
compare('before the time');
on($primary, q{SELECT pg_create_restore_point('before')});
on($primary, 'UPDATE item SET v = 0 WHERE id < 30');
compare('after the time');
on($primary, 'SELECT pg_switch_wal()');
$primary->poll_query_until('postgres', q{SELECT last_archived_wal IS NOT NULL AND last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 16777216) FROM pg_stat_archiver});
restore('a restore to a time', 'reset', target => "recovery_target_name = 'before'\nrecovery_target_action = promote\n");

# --- a lost order of IDs ------------------------------------------------------------------

# The generator loses its state, and new IDs are an hour smaller than those in the log.
on($primary, 'UPDATE item SET v = 0 WHERE id < 40');
compare('before the loss');
my $greatest = on($primary, 'SELECT uuidv7_ordered()');
$primary->stop('fast');
unlink $primary->data_dir . '/global/9562' or die;
$world->start($primary);
$world->turn('by -3600', $primary);
on($primary, 'UPDATE item SET v = 0 WHERE id < 10');
cmp_ok(on($primary, 'SELECT uuidv7_ordered()'), 'lt', $greatest, 'new IDs are smaller');
my $first = compare('a lost order');
ok(is_reset($first, $_), "a lost order: \"$_\" copies the table again") foreach qw(inside outside);
on($primary, 'UPDATE item SET v = 0 WHERE id < 20', 'DELETE FROM item WHERE id = 30');
$first = compare('after a lost order');
ok(!is_reset($first, $_), "after a lost order: \"$_\" continues") foreach qw(inside outside);

$primary->stop;
done_testing();
