# The program examples/changes/copy_table.py keeps copies in SQLite and in PostgreSQL.  The copies
# equal the table after each kind of change, after a purge, after a failover that lost copied
# transactions, and on a logical subscriber.  scripts/lab/torture tests the same under load.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Copies;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;
use World;

plan skip_all => 'Psycopg 3 is not installed' unless Copies::can_copy();
my $conf = "shared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\nautovacuum = off\nwal_level = logical\n";
my $world = World->new('copied', $conf, allows_streaming => 'logical', extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
my $primary = use_server($world->node);
$primary->backup('standby');
my $standby = PostgreSQL::Test::Cluster->new('copied_standby');
$standby->init_from_backup($primary, 'standby', has_streaming => 1);
$world->turn('normal', $standby);
$world->start($standby);
my $other = PostgreSQL::Test::Cluster->new('copied_other');
$other->init(extra => [ '--encoding', 'UTF8' ]);
$other->append_conf('postgresql.conf', $conf);
$other->start;

sql(q{
	CREATE ROLE reader LOGIN;
	CREATE SCHEMA shop;
	GRANT USAGE ON SCHEMA shop TO reader;
	CREATE DOMAIN shop.price AS numeric(10,2) NOT NULL;
	CREATE TABLE shop.item (id bigint, kind varchar(9), price shop.price DEFAULT 0, "when" timestamptz, "B%b" bytea, tags text[], x float8, PRIMARY KEY (kind, id));
	INSERT INTO shop.item SELECT n, 'kind ' || n % 7, n / 3.0, now() - n * interval '1 s', decode(to_hex(n + 2000000), 'hex'), ARRAY['ä', NULL, n::text], n / 7.0 + 0.01 FROM generate_series(1, 2500) AS n});
track($primary, 'shop.item');
sql('GRANT SELECT ON shop.item, shop.item_changes TO reader');

# The copies: one in SQLite, and one in PostgreSQL.
my $hosts = 'host=' . $primary->host . ',' . $standby->host . ' port=' . $primary->port . ',' . $standby->port . ' dbname=postgres user=reader';
my @copies = (Copies->new($hosts, 'shop.item'), Copies->new($hosts, 'shop.item', $other));

# Let the copies get all changes, and compare them with the table.  Return what the program reports.
sub are_equal
{
	my ($name, $server) = @_;
	my $reported = join '', map { $_->run('--once') } @copies;
	my $columns = q{id, kind, price, ("when" AT TIME ZONE 'UTC') || '+00', "B%b", tags, x, changed};
	my $expected = $server->safe_psql('postgres', qq{SELECT $columns FROM shop.item ORDER BY kind COLLATE "C", id});

	is(differences($_->rows($_->{node} ? $columns : $columns =~ s/\("when" [^,]*/"when"/r, 'kind, id'), $expected), '', "$name: the copy in $_->{kind} equals the table") foreach @copies;
	return $reported;
}

is(are_equal('at the beginning', $primary), '', 'new copies need no comparison');
sql(q{INSERT INTO shop.item (id, kind, price) VALUES (1, 'new', 1.5), (2, 'new', 2)}, q{UPDATE shop.item SET price = price + 1, tags = NULL WHERE id % 10 = 0},
	'DELETE FROM shop.item WHERE id % 10 = 1', 'UPDATE shop.item SET id = id + 10000 WHERE id % 10 = 2', q{UPDATE shop.item SET kind = 'other' WHERE id % 100 = 3},
	q{DELETE FROM shop.item WHERE id = 5; INSERT INTO shop.item (id, kind) SELECT 5, 'kind 5' ON CONFLICT DO NOTHING});
is(are_equal('after changes', $primary), '', 'changes need no comparison');
is($copies[0]->run('--check') . $copies[1]->run('--check'), "shop.item: compared, 0 rows fetched, 0 rows deleted\n0 rows differed\n" x 2, 'a check finds equal copies');

# A check corrects a copy that somebody has changed.
$_->change('DELETE FROM item WHERE id = 7', q{UPDATE item SET changed = '00000000-0000-0000-0000-000000000000' WHERE id IN (8, 9)}, q{UPDATE item SET id = -4 WHERE id = 4}) foreach @copies;
is($copies[0]->run('--check') . $copies[1]->run('--check'), "shop.item: compared, 4 rows fetched, 1 rows deleted\n5 rows differed\n" x 2, 'a check finds the differences');
are_equal('after a check', $primary);

# A reader that has not read a deletion that was purged.
sql('DELETE FROM shop.item WHERE id = 14', q{SELECT shop.item_purge('-1 s')});
like(are_equal('after a purge', $primary), qr/older than the last purge.*: compared, 0 rows fetched, 1 rows deleted\n.*: compared, 0 rows fetched, 1 rows deleted/s, 'a copy that is too old is compared');

# --- a failover that loses transactions -------------------------------------------

# the standby replays everything so far
is(are_equal('before the failover', $primary), '', 'the copies have all rows');
$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
$standby->append_conf('postgresql.conf', "primary_conninfo = ''\n");
$standby->reload;
$primary->poll_query_until('postgres', 'SELECT NOT EXISTS (SELECT FROM pg_stat_replication)') or die 'the standby is still connected';

# the first primary's clock is ahead, so the second one generates smaller stamps
$world->turn('by 600');
sql(q{INSERT INTO shop.item (id, kind) SELECT n, 'lost' FROM generate_series(1, 20) AS n}, 'UPDATE shop.item SET price = -1 WHERE id BETWEEN 20 AND 30', 'DELETE FROM shop.item WHERE id BETWEEN 40 AND 50');
is(are_equal('before the loss', $primary), '', 'transactions that will be lost are copied');
$primary->stop('immediate');
$standby->promote;
like(are_equal('after the loss', $standby), qr/: compared, \d+ rows fetched, 20 rows deleted\n.*: compared, \d+ rows fetched, 20 rows deleted\n/s, 'the copies notice the loss');
$standby->safe_psql('postgres', q{UPDATE shop.item SET price = 5 WHERE id BETWEEN 45 AND 60; DELETE FROM shop.item WHERE id = 60; INSERT INTO shop.item (id, kind) VALUES (1, 'lost')});
is(are_equal('on the new primary', $standby), '', 'the copies are compared only once');

# --- a logical subscriber ---------------------------------------------------------

# Only the subscriber has the column and the triggers.
$standby->safe_psql('postgres', q{
	CREATE TABLE shop.order (id int PRIMARY KEY, note text);
	INSERT INTO shop.order SELECT n, 'note ' || n FROM generate_series(1, 100) AS n;
	CREATE PUBLICATION orders FOR TABLE shop.order});
$other->safe_psql('postgres', q{CREATE EXTENSION IF NOT EXISTS uuid9562; CREATE SCHEMA shop; CREATE TABLE shop.order (id int PRIMARY KEY, note text)});
is(track($other, 'shop.order', 'column=arrived') =~ /ERROR/, '', 'the table of the subscriber is tracked');
$other->safe_psql('postgres', q{CREATE SUBSCRIPTION orders CONNECTION '} . $standby->connstr . q{ dbname=postgres' PUBLICATION orders});
$other->wait_for_subscription_sync($standby, 'orders');
my $copy = Copies->new($other->connstr('postgres'), 'shop.order');
sub is_replicated
{
	my ($name) = @_;
	my $reported;

	$standby->wait_for_catchup('orders');
	$reported = $copy->run('--once');
	is(differences($copy->rows('id, note', 'id'), $standby->safe_psql('postgres', 'SELECT * FROM shop.order ORDER BY id')), '', "subscriber: $name");
	is($reported, '', "subscriber: $name: no comparison");
	return;
}
is_replicated('the initial copy');
$standby->safe_psql('postgres', q{INSERT INTO shop.order VALUES (101, 'new'); UPDATE shop.order SET note = 'changed' WHERE id % 10 = 0; DELETE FROM shop.order WHERE id % 10 = 1; UPDATE shop.order SET id = -id WHERE id % 10 = 2});
is_replicated('inserts, updates, deletes and changes of keys');
$standby->safe_psql('postgres', q{BEGIN; INSERT INTO shop.order VALUES (200, 'soon gone'); TRUNCATE shop.order; INSERT INTO shop.order VALUES (5, 'after TRUNCATE'); COMMIT});
is_replicated('TRUNCATE');
like(refusal('TRUNCATE shop.order', $other), qr/0A000: cannot truncate table "order"/, 'a TRUNCATE of a user on the subscriber is refused');

# The reader of the first server continues on the subscriber, whose stamps differ.
$standby->safe_psql('postgres', 'CREATE PUBLICATION items FOR TABLE shop.item (id, kind, price, "when", "B%b", tags, x)');
$other->safe_psql('postgres', q{CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA shop TO reader; CREATE TABLE shop.item (id bigint, kind varchar(9), price numeric(10,2), "when" timestamptz, "B%b" bytea, tags text[], x float8, PRIMARY KEY (kind, id))});
track($other, 'shop.item');
$other->safe_psql('postgres', q{GRANT SELECT ON shop.item, shop.item_changes TO reader; CREATE SUBSCRIPTION items CONNECTION '} . $standby->connstr . q{ dbname=postgres' PUBLICATION items});
$other->wait_for_subscription_sync($standby, 'items');
$_->{source} = $other->connstr('postgres') . ' user=reader' foreach @copies;
like(are_equal('after a switch to the subscriber', $other), qr/compared.*compared/s, 'the copies notice the switch');
$standby->safe_psql('postgres', 'UPDATE shop.item SET price = 6 WHERE id < 100; DELETE FROM shop.item WHERE id < 10');
$standby->wait_for_catchup('items');
is(are_equal('on the subscriber', $other), '', 'the copies continue on the subscriber');
$_->stop foreach $other, $standby;
done_testing();
