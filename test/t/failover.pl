# uuid9562.monotonic_scope = instance over failover: the ids that a promoted
# standby makes sort after every id that it has from the old primary, whatever the
# clocks show; also after pg_rewind, a restored backup and a base backup.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use World;

my $rows = 10000;
# v1 sorts by its time only as v6
my %calls = (
	v1 => 'public.uuidv1_to_v6(public.uuidv1())',
	v6 => 'public.uuidv6()',
	v7 => 'public.uuidv7()',
	v8 => 'public.uuidv8()',
	v8_node => 'public.uuidv8_node(7)');
my @kinds = sort keys %calls;
my $columns = join ', ', @kinds;
my $insert = "INSERT INTO ids ($columns, made) SELECT " . join(', ', @calls{@kinds});

my $world = World->new('primary', qq{
shared_preload_libraries = 'uuid9562'
uuid9562.monotonic_scope = instance
uuid9562.max_ahead = '1 h'
wal_consistency_checking = all
wal_log_hints = on
max_wal_senders = 10
wal_keep_size = 4GB
}, allows_streaming => 1, has_archiving => 1, extra => ['--data-checksums'])
  or plan skip_all => World::REASON;
my $first = $world->node;
$first->safe_psql('postgres', 'CREATE TABLE ids (n bigserial, ' . join(', ', map { "$_ uuid" } @kinds) . ', made text)');
# before any value is made: there is no page in it
$first->backup('base');

sub sql { my ($node, @sql) = @_; return $node->safe_psql('postgres', join ";\n", @sql) }

# As many rows as asked for.
sub fill
{
	my ($node, $made, $count) = @_;

	sql($node, "$insert, '$made' FROM generate_series(1, " . ($count || $rows) . ')');
	return;
}

# Start a server, then set its clock: pg_ctl looks at the time of a start.
sub start
{
	my ($node, $offset) = @_;

	$world->turn('normal', $node);
	$world->start($node);
	$world->turn($offset, $node) if $offset;
	return;
}

# Of a backup, a server that follows another, with its clock so many seconds off.
sub follow
{
	my ($name, $of, $offset, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init_from_backup($first, 'base', has_streaming => 1);
	$node->append_conf('postgresql.conf', "archive_mode = off\nprimary_conninfo = '" . $of->connstr . " application_name=$name'\n" . ($conf || ''));
	start($node, $offset);
	return $node;
}

sub caught_up
{
	my ($of, $node) = @_;
	$of->wait_for_catchup($node, 'replay', $of->lsn('insert'));
	return;
}

# Sessions that have made ids in recovery, and go on over the promotion: one of each
# kind, with its statement prepared, and one that lets a parallel worker make them.
sub connect_all
{
	my ($node) = @_;
	my $force = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
	my %session = map { $_ => $node->background_psql('postgres') } @kinds, 'parallel';

	$session{$_}->query_safe("PREPARE make AS SELECT $calls{$_}; EXECUTE make") foreach @kinds;
	$session{parallel}->query_safe("SET $force = on; SELECT public.uuidv7() FROM ids LIMIT 1");
	return \%session;
}

# Promote, let the sessions make ids, and a new one rows; then look at the order.
sub promote_in_order
{
	my ($node, $name, $made, $sessions) = @_;
	my %greatest;

	@greatest{@kinds} = split /\|/, sql($node, "SELECT " . join ', ', map { "(SELECT max($_ COLLATE \"C\") FROM (SELECT $_\::text FROM ids) AS texts)" } @kinds);
	$node->promote;
	foreach my $kind (sort keys %$sessions)
	{
		my $id = $kind eq 'parallel' ? $sessions->{$kind}->query_safe('SELECT public.uuidv7() FROM ids LIMIT 1') : $sessions->{$kind}->query_safe('EXECUTE make');
		cmp_ok($id =~ s/\s+//gr, 'gt', $greatest{ $kind eq 'parallel' ? 'v7' : $kind }, "$name: $kind, connected throughout");
		$sessions->{$kind}->quit;
	}
	fill($node, $made);
	in_order($node, $name, $made);
	return;
}

# Is each row of that maker above all rows that were there before?
sub in_order
{
	my ($node, $name, $made) = @_;
	my $counts = sql($node, "SELECT count(*) FILTER (WHERE made <> '$made') >= $rows, count(*) FILTER (WHERE made = '$made') >= $rows FROM ids");
	my $wrong = sql($node, 'SELECT ' . join ', ', map {
		"(SELECT count(*) FROM ids WHERE made = '$made' AND $_ <= (SELECT $_ FROM ids WHERE made <> '$made' ORDER BY $_ DESC LIMIT 1))" } @kinds);

	is("$counts $wrong", 't|t 0|0|0|0|0', "$name: rows on either side, and none out of order");
	return;
}

# --- a standby's clock behind -------------------------------------------------

# The first standby is killed before its first checkpoint after the page, and the
# second has no library.
my $near = follow('near', $first, 'by -5');
my $plain = follow('plain', $first, undef, "shared_preload_libraries = ''\nuuid9562.monotonic_scope = session\n");
my $far = follow('far', $first, 'by -30');
fill($first, 'first');
caught_up($first, $_) foreach $near, $plain, $far;
$near->stop('immediate');
start($near, 'by -5');
my %sessions = map { $_->name => connect_all($_) } $near, $far;
fill($first, 'first', 100);
caught_up($first, $_) foreach $near, $plain, $far;

# Behind the second, one more.
my $cascaded = follow('cascaded', $far, 'by -60');
caught_up($first, $far);

promote_in_order($near, 'a clock 5 s behind, after a crash of the standby', 'near', $sessions{near});
is(sql($plain, 'SELECT count(*) FROM ids'), $rows + 100, 'a standby without the library goes on');
promote_in_order($plain, 'a standby that had no library', 'plain', {}) if $plain->pg_version >= 17;
$_->stop foreach $near, $plain;

promote_in_order($far, 'a clock 30 s behind', 'far', $sessions{far});
my $throughout = connect_all($cascaded);
caught_up($far, $cascaded);
$far->stop('immediate');
promote_in_order($cascaded, 'a cascading standby, 30 s behind that', 'cascaded', $throughout);
$cascaded->stop;

# --- clocks equal, ids ahead --------------------------------------------------

sql($first, 'TRUNCATE ids');
foreach my $time (1 .. 5)
{
	fill($first, 'first', 1);
	$first->stop('immediate');
	$world->start;
}
my $equal = follow('equal', $first);
my $throughout_equal = connect_all($equal);
fill($first, 'first');
caught_up($first, $equal);
$first->stop('immediate');
promote_in_order($equal, 'clocks equal, five crashes before', 'equal', $throughout_equal);
$equal->stop('immediate');
$world->start;

# --- writers that still run ---------------------------------------------------

my $hasty = follow('hasty', $first, 'by -30');
caught_up($first, $hasty);
my $script = PostgreSQL::Test::Utils::tempdir() . '/insert';
PostgreSQL::Test::Utils::append_to_file($script, "$insert, 'first' FROM generate_series(1, 20);\n");
my $writers = IPC::Run::start(
	[ 'pgbench', '--no-vacuum', '--client=4', '--time=600', "--file=$script", $first->connstr('postgres') ],
	'>', \my $pgbench_out, '2>', \my $pgbench_err);
$hasty->poll_query_until('postgres', 'SELECT count(*) > 2 * ' . $rows . ' FROM ids') or die 'no rows arrive';

# of the same time, a base backup
$first->backup('under_load');
promote_in_order($hasty, 'writers of the old primary still run', 'hasty', {});
$hasty->stop;
$writers->kill_kill;

my $restored = PostgreSQL::Test::Cluster->new('restored');
$restored->init_from_backup($first, 'under_load');
$restored->append_conf('postgresql.conf', 'archive_mode = off');
start($restored, 'by -30');
fill($restored, 'restored');
in_order($restored, 'a base backup under load, 30 s behind', 'restored');
$restored->stop;

# --- a clock that was ahead once ----------------------------------------------

$world->turn('by 60');
fill($first, 'ahead', 1);
$world->turn('normal');
my $corrected = follow('corrected', $first);
my $throughout_corrected = connect_all($corrected);
fill($first, 'first');
caught_up($first, $corrected);

# from backup and archive
my $segment = sql($first, 'SELECT pg_walfile_name(pg_current_wal_lsn())', 'SELECT pg_switch_wal()') =~ s/\n.*//sr;
$first->poll_query_until('postgres', "SELECT last_archived_wal >= '$segment' FROM pg_stat_archiver") or die 'no archive';
my $archived = PostgreSQL::Test::Cluster->new('archived');
$archived->init_from_backup($first, 'base', has_restoring => 1, standby => 0);
$archived->append_conf('postgresql.conf', 'archive_mode = off');
$world->start($archived);
$archived->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()') or die 'recovery does not end';
is(sql($archived, "SELECT count(*) FROM ids WHERE made = 'ahead'"), '1', 'the archive has the row that was ahead');
fill($archived, 'archived');
in_order($archived, 'a clock that was 60 s ahead once, restored from backup and archive', 'archived');
$archived->stop;

$first->stop('immediate');
promote_in_order($corrected, 'a clock that was 60 s ahead once', 'corrected', $throughout_corrected);

# --- failed back --------------------------------------------------------------

# pg_rewind needs a clean stop, which the server itself sees to
sql($corrected, 'CHECKPOINT');
command_ok([ 'pg_rewind', '--no-sync', '--source-server', $corrected->connstr('postgres'), '--target-pgdata', $first->data_dir,
	'--config-file', $first->data_dir . '/postgresql.conf' ], 'pg_rewind');
$first->append_conf('postgresql.conf', 'port = ' . $first->port . "\nunix_socket_directories = '" . $first->host . "'\nprimary_conninfo = '" . $corrected->connstr . " application_name=primary'\n");
$first->set_standby_mode;
start($first, 'by -100');
my $throughout_first = connect_all($first);
fill($corrected, 'corrected', 100);
caught_up($corrected, $first);
$corrected->stop('immediate');
promote_in_order($first, 'failed back after pg_rewind, 100 s behind', 'back', $throughout_first);
$first->stop;
command_ok([ 'pg_checksums', '--check', '--pgdata', $first->data_dir ], 'its checksums are right');
ok(-s $first->data_dir . '/global/9562', 'with the page of the mark among them');

foreach my $node ($first, $near, $plain, $far, $cascaded, $equal, $hasty, $restored, $archived, $corrected)
{
	unlike(slurp_file($node->logfile), qr/(PANIC|inconsistent page|TRAP)/, 'no harm in the log of ' . $node->name);
}
done_testing();
