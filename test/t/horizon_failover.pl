# Incremental reads after a failover that loses rows: whether a reader misses rows
# depends on where it stores its position.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;
use World;

my $conf = "shared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\nautovacuum = off\n";
my $world = World->new('lost_primary', $conf, allows_streaming => 1) or plan skip_all => World::REASON;
my $primary = $world->node;
my ($standby, $cascaded) = map { PostgreSQL::Test::Cluster->new($_) } 'lost_standby', 'lost_cascaded';
my @all = ($primary, $standby, $cascaded);
use_server($primary);
sql(q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), note text);
	CREATE TABLE copied (id uuid);
	CREATE TABLE place (last uuid NOT NULL);
	INSERT INTO place VALUES (public.nil_uuid())});

# Start a standby of the primary, and a cascading standby of that standby.
$primary->backup('base');
foreach ([ $standby, $primary ], [ $cascaded, $standby ])
{
	my ($node, $of) = @$_;

	$node->init_from_backup($primary, 'base', has_streaming => 1);
	$node->append_conf('postgresql.conf', "primary_conninfo = '" . $of->connstr . ' application_name=' . $node->name . "'\n");
	$world->turn('normal', $node);
	$world->start($node);
}

sub write_rows { $_[0]->safe_psql('postgres', "INSERT INTO events (note) SELECT '$_[1]' FROM generate_series(1, 500)") }

# --- readers with different positions -------------------------------------------

# $outside stores its position outside the database.  $careful stores its position outside
# the database too, together with the timeline of the position.
my $outside = { table => 'events' };
my $careful = { table => 'events', timeline => 1 };

# Copy the next page, and store the position in the same transaction and database.
sub read_inside
{
	my ($node) = @_;

	$node->safe_psql('postgres', q{
		WITH page AS (
			INSERT INTO copied
			SELECT id FROM events
			WHERE id > (SELECT last FROM place) AND id < public.uuidv7_horizon()
			RETURNING id)
		UPDATE place SET last = page.id FROM (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS page});
}

# Read the next page.  If the timeline has changed since the position was stored, first move
# the position back by an hour.
sub read_carefully
{
	my ($node) = @_;
	my $timeline = $node->safe_psql('postgres', 'SELECT timeline FROM public.uuid_replay_target()');

	$careful->{last} = $node->safe_psql('postgres', "SELECT public.uuidv7_floor(public.uuidv7_timestamp('$careful->{last}') - interval '1 hour')")
	  if $timeline ne $careful->{timeline};
	$careful->{timeline} = $timeline;
	$careful->{node} = $node;
	read_on($careful);
}

sub read_all
{
	my ($node) = @_;

	$outside->{node} = $node;
	read_on($outside);
	read_inside($node);
	read_carefully($node);
}

# --- a failover that loses rows -------------------------------------------------

write_rows($primary, 'kept');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$standby->wait_for_catchup($cascaded, 'replay', $standby->lsn('replay'));
read_all($primary);

# Stop replication to the standby, and set the clock of the primary ahead.  Then the last
# values of the primary, and its high-water mark, are above all values that the standby
# generates after its promotion.
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$standby->reload;
$primary->poll_query_until('postgres', q{SELECT count(*) = 0 FROM pg_stat_replication WHERE application_name = 'lost_standby'}) or die 'the standby is still connected';
$world->turn('by 60');
write_rows($primary, 'lost');
read_all($primary);
my ($horizon, $lsn, $timeline) = split /\|/, sql('SELECT public.uuidv7_horizon(), lsn, timeline FROM public.uuid_replay_target()');
my %on_standby = (table => 'events', last => $standby->safe_psql('postgres', 'SELECT max(id::text) FROM events'));
my %unchecked = (%on_standby);
$primary->stop('immediate');
$standby->promote;
is($standby->safe_psql('postgres', 'SELECT count(*) FROM events'), '500', 'the failover loses rows');

# --- a promotion between the steps of a read on a standby -----------------------

# A reader has the horizon of the old primary, and reads rows on the new primary's standby.
{
	my $slow = session($standby);

	in($slow, 'BEGIN', q{INSERT INTO events (note) VALUES ('slow')});
	write_rows($standby, 'new');
	$standby->safe_psql('postgres', q{SELECT pg_switch_wal()}) while $standby->safe_psql('postgres', "SELECT pg_current_wal_insert_lsn() < '$lsn'") eq 't';
	write_rows($standby, 'new');
	$cascaded->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn' AND count(*) = 1500 FROM events") or die 'the standby does not reach the position';
	my @page = split /\n/, $cascaded->safe_psql('postgres', "SELECT id FROM events WHERE id > '$on_standby{last}' AND id < '$horizon' ORDER BY id");
	is(scalar(@page), 1000, 'a standby of the new primary has rows below the horizon of the old one');
	isnt($standby->safe_psql('postgres', 'SELECT timeline FROM public.uuid_replay_target()'), $timeline, 'the new primary has another timeline, so a reader discards the page');
	$unchecked{last} = $page[-1];
	$unchecked{ids} = [@page];
	in($slow, 'COMMIT');
	$slow->quit;
	foreach my $reader (\%on_standby, \%unchecked)
	{
		$reader->{node} = $standby;
		1 while read_on($reader);
	}
	is(scalar(@{ $on_standby{ids} }), 1001, 'a reader that discards the page gets all new rows');
	is(scalar(@{ $unchecked{ids} }), 1000, 'a reader that keeps the page misses the row of a transaction that was in progress');
}

# --- the stored positions after the failover ------------------------------------

read_all($standby) for 1 .. 2;
is($standby->safe_psql('postgres', q{
	SELECT (SELECT count(*) FROM (SELECT id FROM events EXCEPT SELECT id FROM copied) AS missed),
		(SELECT count(*) - count(DISTINCT id) FROM copied)}), '0|0', 'a reader whose position is in the database misses no row, and gets none twice');
my ($missed) = missed_and_twice($outside) =~ /^(\d+)/;
note "a position outside the database: $missed missed";
cmp_ok($missed, '>', 0, 'a reader whose position is outside the database misses rows');
like(missed_and_twice($careful), qr/^0 missed, \d+ twice/, 'a reader that goes back an hour when the timeline changes misses no row');
unlike(slurp_file($_->logfile), qr/TRAP|PANIC/, $_->name . ' has not crashed') foreach @all;
$_->stop foreach $cascaded, $standby;
done_testing();
