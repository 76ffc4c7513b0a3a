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
is($copies[0]->run('--check') . $copies[1]->run('--check'), "postgres.shop.item: compared, 0 rows fetched, 0 rows deleted\n0 rows differed\n" x 2, 'a check finds equal copies');

# A check corrects a copy that somebody has changed.
$_->change('DELETE FROM item WHERE id = 7', q{UPDATE item SET changed = '00000000-0000-0000-0000-000000000000' WHERE id IN (8, 9)}, q{UPDATE item SET id = -4 WHERE id = 4}) foreach @copies;
is($copies[0]->run('--check') . $copies[1]->run('--check'), "postgres.shop.item: compared, 4 rows fetched, 1 rows deleted\n5 rows differed\n" x 2, 'a check finds the differences');
are_equal('after a check', $primary);

# A reader that has not read a deletion that was purged.
sql('DELETE FROM shop.item WHERE id = 14', q{SELECT shop.item_purge('-1 s')});
like(are_equal('after a purge', $primary), qr/older than the last purge.*: compared, 0 rows fetched, 1 rows deleted\n.*: compared, 0 rows fetched, 1 rows deleted/s, 'a copy that is too old is compared');

# Deletions that untrack.sql has removed before they were read.
sql('DELETE FROM shop.item WHERE id = (SELECT min(id) FROM shop.item)');
$primary->command_ok([ 'psql', '-X', '-d', $primary->connstr('postgres'), '-v', 'table=shop.item', '-f', "$FindBin::Bin/examples/changes/untrack.sql" ], 'the table is untracked');
track($primary, 'shop.item');
sql('GRANT SELECT ON shop.item, shop.item_changes TO reader');
like(are_equal('after tracking began again', $primary), qr/last purge.*: compared, \d+ rows fetched, 1 rows deleted\n.*: compared, \d+ rows fetched, 1 rows deleted/s, 'a copy is compared if tracking began again');
sql('DELETE FROM shop.item WHERE id = (SELECT min(id) FROM shop.item)', q{SELECT shop.item_purge('-1 s')});
are_equal('after another purge', $primary);

# --- values and names -------------------------------------------------------------

# Values whose texts depend on settings, or that SQLite would change, and a key of arrays.  The
# settings of the copies' database differ.
sql(q{
	CREATE TABLE shop.odd (key int[] PRIMARY KEY, stamp text, "{0} % ? ""x""" float8, f4 real, cash money, blank bpchar, fixed char(5), words text[], since interval, nr numeric, at timestamptz);
	INSERT INTO shop.odd VALUES
		('{1,2}', 'a', -2.2606631148481385e-299, 0.1, '-1234.56', 'b  ', 'c', '{NULL,"NULL","a b"}', '-1 year 2 mons -3 days 04:05:06.7', 'NaN', '0044-03-15 BC'),
		('{}', NULL, 'NaN', '-0', '0.5', '', '', '{}', '1 s', 1.50, 'infinity'),
		('[0:1]={3,NULL}', repeat('long ', 1500000), '-0', '-Infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
	CREATE TYPE shop.pair AS (a numeric, b text);
	CREATE TABLE shop.paired (key shop.pair PRIMARY KEY, n int);
	INSERT INTO shop.paired VALUES ('(1.0,a)', 1), ('(2,"b ")', 2), ('(,)', 3);
	CREATE TABLE shop.real (id int PRIMARY KEY, x float8, y real);
	INSERT INTO shop.real SELECT n, (random() - 0.5) * 10.0 ^ (random() * 600 - 300)::int, random() * 10.0 ^ (random() * 60 - 30)::int FROM generate_series(4, 3000) AS n;
	INSERT INTO shop.real VALUES (1, -2.2606631148481385e-299, '-0'), (2, 'NaN', 'Infinity'), (3, '-0', 'NaN')});
track($primary, "shop.$_") foreach qw(odd real paired);
sql("GRANT SELECT ON shop.$_, shop.${_}_changes TO reader") foreach qw(odd real paired);
$other->safe_psql('postgres', join ';', 'CREATE DATABASE settings', map { "ALTER DATABASE settings SET $_" } q{datestyle = 'SQL, DMY'}, q{timezone = 'Asia/Kolkata'}, 'intervalstyle = sql_standard',
	'array_nulls = off', 'extra_float_digits = -5', 'bytea_output = escape');
$other->safe_psql('settings', 'CREATE SCHEMA shop; CREATE TYPE shop.pair AS (a numeric, b text)');
my @odd = (Copies->new($hosts, 'shop.odd', $other, 'settings'), Copies->new($hosts, 'shop.real'), Copies->new($hosts, 'shop.paired', $other, 'settings'));
is($_->run('--once'), '', "$_->{table}: copied") foreach @odd;
sub odd_rows { my ($server, $database, $table) = @_; return $server->safe_psql($database, "SET datestyle = iso; SET timezone = utc; SET intervalstyle = postgres; SET extra_float_digits = 1; SELECT *, octet_length(textin(bpcharout(blank))) FROM (SELECT changed, key, stamp, \"{0} % ? \"\"x\"\"\", f4, cash, blank, fixed, words, since, nr, at FROM $table) AS t ORDER BY key") }
is(differences(odd_rows($other, 'settings', 'odd'), odd_rows($primary, 'postgres', 'shop.odd')), '', 'values do not depend on settings');
is(differences($odd[1]->rows('id, x, y', 'id'), sql('SELECT id, x, y FROM shop.real')), '', 'SQLite keeps floating-point numbers');
$odd[0]->change(q{UPDATE odd SET stamp = 'wrong', changed = '00000000-0000-0000-0000-000000000000'});
is($odd[0]->run('--check'), "postgres.shop.odd: compared, 3 rows fetched, 0 rows deleted\n3 rows differed\n", 'a check fetches rows whose keys are arrays');
is(differences(odd_rows($other, 'settings', 'odd'), odd_rows($primary, 'postgres', 'shop.odd')), '', 'the rows are corrected');
sql(q{DELETE FROM shop.paired WHERE n = 1; UPDATE shop.paired SET key = '(2.0,b)' WHERE n = 2});
is($odd[2]->run('--once'), '', 'changes of composite keys are copied');
is(differences($odd[2]->rows('key, n', 'n'), sql('SELECT key, n FROM shop.paired')), '', 'the copy with composite keys equals the table');
like(Copies->new($hosts, 'shop.odd')->run('--once'), qr/equal keys can have different texts/, 'SQLite refuses keys that can have different texts');

# --- copies that are dropped, or belong to others ---------------------------------

sql(q{CREATE SCHEMA other; CREATE TABLE other.item (LIKE shop.item INCLUDING ALL); ALTER TABLE other.item DROP changed; INSERT INTO other.item (id, kind) VALUES (-1, 'other')});
track($primary, 'other.item');
foreach my $copy (@copies)
{
	my $kind = $copy->{kind};
	my $same_name = bless { %$copy, table => 'other.item', source => $primary->connstr('postgres') }, 'Copies';

	like($same_name->run('--once'), qr/table "item" is a copy of postgres\.shop\.item\nexit status/, "$kind: a copy of another table is refused");
	$copy->change('CREATE TABLE word (id int PRIMARY KEY, n int)', 'INSERT INTO word VALUES (1, 1)');
	$copy->change('DROP TABLE item');
	like($copy->run('--once'), qr/last purge.*postgres\.shop\.item: compared, \d+ rows fetched, 0 rows deleted\n$/s, "$kind: a copy that was dropped is created again");
}
are_equal('after the copies were dropped', $primary);
sql('CREATE TABLE shop.word (id int PRIMARY KEY, n int)');
track($primary, 'shop.word');
sql('GRANT SELECT ON shop.word, shop.word_changes TO reader');
foreach my $copy (@copies)
{
	my $taken = bless { %$copy, table => 'shop.word', name => 'word' }, 'Copies';

	like($taken->run('--once'), qr/table "word" exists in the place of the copy, but is no copy/, "$copy->{kind}: another table is refused");
	is($taken->rows('id, n', 'id'), '1|1', "$copy->{kind}: the other table does not change");
}

# --- columns that change ----------------------------------------------------------

my @words = (Copies->new($hosts, 'shop.word'), bless { %{ $copies[1] }, table => 'shop.word', name => 'word', file => "$copies[1]{file}.word" }, 'Copies');
$words[1]->change('DROP TABLE word');
sql('INSERT INTO shop.word VALUES (1, 10)');
$_->start foreach @words;
$_->wait_for_rows(1) foreach @words;
sql('ALTER TABLE shop.word ADD added int DEFAULT 5');
like($_->last_words, qr/columns of table "shop\.word" have changed: start the program again$/, "$_->{kind}: the program stops when a column is added") foreach @words;
like($_->run('--once'), qr/view of table "shop\.word" lacks columns \(added\): run track\.sql again\n/, "$_->{kind}: a column that the view lacks is refused") foreach @words;
track($primary, 'shop.word');
foreach my $copy (@words)
{
	like($copy->run('--once'), qr/columns or the key of postgres\.shop\.word have changed: drop the copy/, "$copy->{kind}: a copy without the column is refused");
	$copy->change('DROP TABLE word');
	is($copy->run('--once'), '', "$copy->{kind}: the copy is created again");
	is($copy->rows('id, n, added', 'id'), '1|10|5', "$copy->{kind}: the copy has the column");
}
sql('DROP VIEW shop.word_changes; ALTER TABLE shop.word ALTER n TYPE numeric(10,2)');
track($primary, 'shop.word');
sql('GRANT SELECT ON shop.word_changes TO reader', 'UPDATE shop.word SET n = 1.5');
like($_->run('--once'), qr/columns or the key of postgres\.shop\.word have changed: drop the copy/, "$_->{kind}: a column with another type is refused") foreach @words;

# --- a restored dump --------------------------------------------------------------

sql('CREATE DATABASE restored');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$primary->command_ok([ 'pg_dump', '--file', $dump, $primary->connstr('postgres') ], 'a database with tracked tables is dumped');
$primary->command_ok([ 'psql', '--no-psqlrc', '--quiet', '--set=ON_ERROR_STOP=1', '--output', "$dump.out", '--file', $dump, $primary->connstr('restored') ], 'the dump is restored');
$primary->safe_psql('restored', q{DELETE FROM shop.item WHERE id % 10 = 6; UPDATE shop.item SET price = 7 WHERE id % 10 = 7});
foreach my $copy (@copies)
{
	my $columns = 'id, kind, price, changed';
	my $back = bless { %$copy, source => $copy->{source} =~ s/dbname=postgres/dbname=restored/r }, 'Copies';
	my $query = 'SELECT id, kind, price, changed FROM shop.item';

	like($back->run('--once'), qr/table "item" is a copy of postgres\.shop\.item\nexit status/, "$copy->{kind}: a table of another database is refused");
	$copy->change(q{UPDATE copy_state SET source = 'restored.shop.item' WHERE copy = 'item'});	# as if both databases had this name
	like($back->run('--once'), qr/computed in database.*: compared, \d+ rows fetched, [1-9]\d* rows deleted\n$/s, "$copy->{kind}: after a restore, the copy is compared");
	is(differences($back->rows($columns, 'kind, id'), $primary->safe_psql('restored', $query)), '', "$copy->{kind}: it equals the restored table");
	$copy->change(q{UPDATE copy_state SET source = 'postgres.shop.item' WHERE copy = 'item'});
	like($copy->run('--once'), qr/: compared/, "$copy->{kind}: back on the first database, it is compared again");
}
are_equal('back on the first database', $primary);

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
