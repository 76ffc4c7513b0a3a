# What only managed/uuid9562_changes.sql has to do: its tables are dumped, copied and replicated like those of
# users, an ordinary role owns them, and its functions are SQL and PL/pgSQL.
use ServerTest;
use Sessions;

my $node = new_server('changes_managed', "wal_level = logical\nautovacuum = off\n", extra => [ '--encoding', 'UTF8' ], allows_streaming => 1);
my $other = new_server('changes_subscriber', "wal_level = logical\nautovacuum = off\n", extra => [ '--encoding', 'UTF8' ]);
use_server($node);
my $file = "$FindBin::Bin/managed/uuid9562_changes.sql";
my $text = slurp_file($file);
my $tables = q{SELECT oid::regclass FROM pg_class WHERE relnamespace = 'uuid9562_changes'::regnamespace AND relkind = 'r' ORDER BY 1};

sql('CREATE ROLE app LOGIN; CREATE ROLE reader LOGIN; CREATE ROLE curious LOGIN');

sub in_database
{
	my ($server, $database, $sql, %options) = @_;
	my ($status, $out, $err) = $server->psql($database, "\\set VERBOSITY sqlstate\nSET search_path = public, uuid9562_changes;\n$sql", on_error_stop => 0, $options{role} ? (extra_params => [ '-U', $options{role} ]) : ());

	return join "\n", grep { length } $out =~ s/\n+$//r, map { s/^.*?(ERROR|WARNING)/$1/r } grep { /ERROR|WARNING/ } split /\n/, $err;
}

sub page { my ($server, $database, %options) = @_; return in_database($server, $database, "SELECT concat_ws(' ', change_type, data) FROM changes_read('r', NULL::item)", %options) }

sub apply
{
	my ($server, $database, %options) = @_;

	return in_database($server, $database, "BEGIN; SELECT concat_ws(' ', change_type, data) FROM changes_read('r', NULL::item); DO 'BEGIN PERFORM changes_done(''r''); END'; COMMIT", %options);
}

sub create_database
{
	my ($name) = @_;

	sql("CREATE DATABASE $name OWNER app");
	is(in_database($node, $name, "\\i $file", role => 'app'), '', "the owner of database $name installs the file");
	in_database($node, $name, q{CREATE TABLE item (id int PRIMARY KEY, v text); SELECT changes_track('item'); INSERT INTO item VALUES (1, 'a')}, role => 'app');
	is(apply($node, $name, role => 'app'), 'reset', 'and reads');
	in_database($node, $name, q{INSERT INTO item VALUES (2, 'b')}, role => 'app');
	is(page($node, $name, role => 'app'), 'upsert (2,b)', 'and gets changes');
	return;
}

# --- the text ---------------------------------------------------------------------

unlike($text, qr/\bmd5\(/, 'the file does not need md5()');
unlike($text =~ s/^\s*--.*$//mgr, qr/advisory/, 'or advisory locks');
unlike($text, qr/\\/, 'the file does not depend on standard_conforming_strings');
my @lengths = map { scalar(() = /\n/g) } $text =~ /^(CREATE (?:FUNCTION|PROCEDURE) .*?^END\$body\$;\n)/msg;
cmp_ok((sort { $b <=> $a } @lengths)[0], '<=', 120, 'no function has more than 120 lines');

# --- tables -----------------------------------------------------------------------

create_database('shop');
is($node->safe_psql('shop', q{SELECT count(*) FROM pg_proc AS p WHERE pronamespace = 'uuid9562_changes'::regnamespace AND prosecdef AND NOT coalesce(proconfig @> '{"search_path=pg_catalog, pg_temp"}', false)}), '0',
	'each SECURITY DEFINER function has a fixed search path');
is($node->safe_psql('shop', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'uuid9562_changes'::regnamespace AND relkind IN ('r', 'S') AND EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE grantee <> relowner)}), '0',
	'no role has a privilege on the tables');
sql('CREATE DATABASE granted');
$node->safe_psql('granted', 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO curious, PUBLIC; ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO curious');
is(in_database($node, 'granted', "\\i $file"), '', 'with default privileges');
is($node->safe_psql('granted', q{SELECT count(*) FROM pg_class WHERE relnamespace = 'uuid9562_changes'::regnamespace AND relkind IN ('r', 'S') AND EXISTS (SELECT FROM aclexplode(relacl) AS a WHERE grantee <> relowner)}), '0',
	'they are revoked');

# A role without rights calls the functions that others call inside.
in_database($node, 'shop', 'GRANT SELECT ON item TO reader', role => 'app');
my $oid = $node->safe_psql('shop', q{SELECT 'item'::regclass::oid});
foreach my $call ("changes_begin('r', $oid, 10, 'confirmed', '1 s')", "changes_publish($oid)", "changes_delete($oid, '0', 10)", "changes_done('r', 'x')", "changes_add_slots($oid)",
	"changes_find_reader('r', $oid)", "changes_forget('r', 'item')", "changes_reset('item')", "changes_purge('item')", "changes_untrack('item')")
{
	like(in_database($node, 'shop', "SELECT $call", role => 'curious'), qr/^ERROR:  (42501|22P02)$/, "a role without rights cannot execute $call");
}
is(in_database($node, 'shop', "SELECT changes_look('r', $oid, 'confirmed')", role => 'curious'), 't', 'and learns nothing about a reader');
in_database($node, 'shop', 'ALTER TABLE item ENABLE ROW LEVEL SECURITY', role => 'app');
is(in_database($node, 'shop', "SELECT changes_begin('mine', $oid, 10, 'confirmed', '1 s')", role => 'reader'), 'ERROR:  42501', 'row-level security hides keys');
in_database($node, 'shop', 'ALTER TABLE item DISABLE ROW LEVEL SECURITY', role => 'app');

# Another role's function is executed as that role, but the reader belongs to the role of the session.
in_database($node, 'shop', q{CREATE FUNCTION page() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, uuid9562_changes AS $$SELECT count(*) FROM changes_read('defined', NULL::item)$$}, role => 'app');
is(in_database($node, 'shop', 'SELECT page()', role => 'curious'), 'ERROR:  42501', 'in a SECURITY DEFINER function, the role of the session needs SELECT');
is(in_database($node, 'shop', 'SELECT page()', role => 'reader'), '1', 'with which it reads');
is(in_database($node, 'shop', q{SELECT owner FROM changes_readers WHERE reader = 'defined'}), 'reader', 'and the reader belongs to it');

# While a transaction that has read one table is in progress, readers of another table do not wait, whatever its OID is.
{
	my $holder = $node->background_psql('shop', on_error_stop => 0, extra_params => [ '-U', 'app' ]);

	in_database($node, 'shop', q{CREATE TABLE held (id int PRIMARY KEY); SELECT changes_track('held')}, role => 'app');
	in($holder, 'SET search_path = public, uuid9562_changes', 'BEGIN', q{SELECT change_type FROM changes_read('h', NULL::held)});
	in_database($node, 'shop', q{INSERT INTO held VALUES (1)}, role => 'app');
	is(in_database($node, 'shop', q{SET lock_timeout = 2000; SELECT change_type FROM changes_read('h2', NULL::held)}, role => 'app'), 'reset', 'a new reader of a table does not wait for the first one');
	is(apply($node, 'shop', role => 'app'), 'upsert (2,b)', 'readers of other tables read');
	in($holder, 'COMMIT');
	is(in_database($node, 'shop', q{SELECT change_type FROM changes_read('h', NULL::held)}, role => 'app'), 'reset', 'the first reader of the table');
	$holder->quit;
}

# --- leases -----------------------------------------------------------------------

# End the leases of all pages.
sub end_leases
{
	$node->safe_psql('shop', q{SET geqo_seed = 0.9562; UPDATE uuid9562_changes.changes_reader AS r SET pages = ARRAY(
		SELECT ROW(number, last, horizon, cap, read_at - interval '1 hour', until - interval '1 hour', is_reset, expired)::uuid9562_changes.changes_page FROM unnest(pages))});
	return;
}
sub update { my ($v) = @_; return in_database($node, 'shop', "UPDATE item SET v = '$v' WHERE id = 1", role => 'app') }

page($node, 'shop', role => 'app') foreach 1 .. 3;
update('5');
in_database($node, 'shop', join(';', map { "UPDATE item SET v = '$_' WHERE id = 1; SELECT FROM changes_read('r', NULL::item)" } 6 .. 80), role => 'app');
is(in_database($node, 'shop', q{SELECT pages_out FROM changes_readers WHERE reader = 'r'}), '64', 'at most 64 pages are out');
is(apply($node, 'shop', role => 'app'), 'upsert (1,80)', 'and the next page is read and confirmed');
end_leases();
is(apply($node, 'shop', role => 'app'), 'upsert (1,80)', 'merged pages are not forgotten');

# --- dumps and copies of the database --------------------------------------------------

update('dumped');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('shop') ], 'the database is dumped');
foreach my $case ([ 'restored' ], [ 'restored_without_owner', '--no-owner' ], [ 'restored_schema', '--schema-only' ])
{
	my ($name, @options) = @$case;

	sql("CREATE DATABASE $name");
	$node->command_ok([ 'pg_restore', '-d', $node->connstr($name), @options, $dump ], "$name: the dump is restored");
	is(in_database($node, $name, q{SELECT source, problem FROM changes_tables ORDER BY 1}), "held|\nitem|", "$name: the tables are tracked");
	is(apply($node, $name), 'reset', "$name: the reader gets a reset");
	in_database($node, $name, q{INSERT INTO item VALUES (10, 'new')});
	is(apply($node, $name), 'upsert (10,new)', "$name: and then changes");
}
$node->command_ok([ 'pg_dump', '-Fc', '-t', 'item', '-f', "$dump.item", $node->connstr('shop') ], 'a table is dumped');
create_database('target');
in_database($node, 'target', 'DROP TABLE item', role => 'app');
$node->command_ok([ 'pg_restore', '-d', $node->connstr('target'), "$dump.item" ], 'and restored where the file is installed');
is(apply($node, 'target', role => 'app'), 'reset', 'its reader gets a reset');
in_database($node, 'target', q{INSERT INTO item VALUES (11, 'new')}, role => 'app');
is(apply($node, 'target', role => 'app'), 'upsert (11,new)', 'and then changes');
sql('CREATE DATABASE copied TEMPLATE shop');
is(page($node, 'copied', role => 'app'), 'reset', 'in a copied database, a reader gets a reset, although nothing has changed');
apply($node, 'shop', role => 'app');
is(page($node, 'shop', role => 'app'), '', 'unlike in the original');

# --- crashes and promotions -----------------------------------------------------------

my $unconfirmed = in_database($node, 'shop', q{SELECT change_position FROM changes_read('new', NULL::item)}, role => 'app');
update('before the crash');
$node->stop('immediate');
$node->start;
is(page($node, 'shop', role => 'app'), 'upsert (1,"before the crash")', 'a crash loses no change');
is(in_database($node, 'shop', "SELECT changes_done('new', '$unconfirmed')", role => 'app'), 'WARNING:  01000', 'a copy that was not confirmed before the crash does not count');
is(in_database($node, 'shop', q{SELECT change_type FROM changes_read('new', NULL::item)}, role => 'app'), 'reset', 'and is made again');
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('changes_standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$node->wait_for_catchup($standby);
is(page($standby, 'shop', role => 'app'), 'ERROR:  25006', 'a standby refuses');
$standby->promote;
is(page($standby, 'shop', role => 'app'), 'reset', 'after a promotion, readers get a reset');
$standby->stop;

# --- publications -----------------------------------------------------------------

$other->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE DATABASE shop OWNER app');
is(in_database($other, 'shop', "\\i $file", role => 'app'), '', 'a subscriber has the file, too');
in_database($other, 'shop', q{CREATE TABLE item (id int PRIMARY KEY, v text); CREATE TABLE held (id int PRIMARY KEY); SELECT changes_track('item')}, role => 'app');
is(apply($other, 'shop', role => 'app'), 'reset', 'and a reader');
in_database($node, 'shop', 'CREATE PUBLICATION everything FOR ALL TABLES');
is(in_database($node, 'shop', q{SELECT changes_track('item')}, role => 'app'), 'WARNING:  01000', 'changes_track() warns of a publication of all tables');
in_database($other, 'shop', "CREATE SUBSCRIPTION everything CONNECTION '" . $node->connstr('shop') =~ s/'/''/gr . "' PUBLICATION everything");
$other->wait_for_subscription_sync($node, 'everything', 'shop');
is(in_database($other, 'shop', 'SELECT count(*) > 0 FROM item'), 't', 'rows are replicated');
is(in_database($other, 'shop', "SELECT count(*) FROM uuid9562_changes.changes_reader WHERE reader <> 'r'"), '0', 'but no readers');
in_database($node, 'shop', q{INSERT INTO item VALUES (20, 'replicated')}, role => 'app');
is(apply($node, 'shop', role => 'app') =~ s/.*\n//sr, 'upsert (20,replicated)', 'the publisher reads');
in_database($node, 'shop', q{SELECT changes_forget(reader, source) FROM changes_readers WHERE reader <> 'r'; SELECT changes_purge('item', '0')}, role => 'app');
in_database($node, 'shop', q{UPDATE item SET v = 'again' WHERE id = 20}, role => 'app');
$node->wait_for_catchup('everything');
is(in_database($other, 'shop', q{SELECT v FROM item WHERE id = 20}), 'again', 'replication runs through updates and deletions of entries');
my $logged = in_database($other, 'shop', q{SELECT count(*) FROM uuid9562_changes.log, pg_class WHERE source = pg_class.oid AND relname = 'item'});
is(in_database($other, 'shop', 'SELECT count(*) FROM uuid9562_changes.log'), $logged, 'the subscriber has entries of its own tables alone');
like(page($other, 'shop', role => 'app'), qr/^upsert \(20,again\)$/m, 'and its reader gets the replicated rows');
in_database($other, 'shop', 'DROP SUBSCRIPTION everything');

# --- changes_reset() beside a reader ------------------------------------------------

create_database('resets');
{
	my ($reading, $resetting) = map { $node->background_psql('resets', on_error_stop => 0) } 1, 2;
	my $read = q{SELECT change_type FROM changes_read('late', NULL::item)};

	in($_, 'SET search_path = public, uuid9562_changes') foreach $reading, $resetting;
	in($resetting, q{SELECT changes_reset('item')});
	in($reading, 'BEGIN', $read, q{SELECT changes_done('late')});
	begin_to_wait($resetting, q{SELECT changes_reset('item')});
	in($reading, 'COMMIT');
	in($resetting, 'SELECT 1');
	is(in($reading, $read), 'reset', 'changes_reset() waits for a session that has stored the first state');

	# rows with a new value of an enum come while a first reader waits, or beside a session that stores an older state
	my @apply = ('BEGIN', $read =~ s/item/labelled/r, q{SELECT changes_done('late')}, 'COMMIT');
	sub renamed { my ($id) = @_; in_database($node, 'resets', $_) foreach "ALTER TYPE label ADD VALUE 'v$id'", "INSERT INTO labelled VALUES ($id, 'v$id')"; return "ALTER TYPE label RENAME VALUE 'v$id' TO 'w$id'" }
	in($resetting, q{CREATE TYPE label AS ENUM ('a')}, 'CREATE TABLE labelled (id int PRIMARY KEY, v label)', q{SELECT changes_track('labelled')}, 'BEGIN', q{SELECT changes_reset('labelled')});
	begin_to_wait($reading, join ';', @apply);
	my $rename = renamed(1);
	in($resetting, 'COMMIT');
	in($reading, 'SELECT 1');
	in($resetting, $rename);
	is(in($reading, $apply[1]), 'reset', 'a renamed value is noticed that has come while a reader waited');
	in($reading, @apply, @apply);
	in($resetting, 'ALTER TABLE labelled ALTER v SET STATISTICS 7', 'BEGIN', $apply[1] =~ s/late/other/r);
	is(in($reading, $apply[1]), '', 'a reader goes on beside a session that stores a state with the same values');
	$rename = renamed(2);
	in($reading, @apply, @apply);
	in($resetting, 'COMMIT', $rename);
	is(in($reading, $apply[1]), 'reset', 'and one that has come after the state that another session stores');
	leave($reading, $resetting);
	is(apply($node, 'resets'), 'reset', 'other readers copy the table, too');
}

$node->stop;
$other->stop;
done_testing();
