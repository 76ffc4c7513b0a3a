# The extension uuid9562_changes executes no code of other roles, compares many partitions only if one has
# changed, and finds a table by its OID.  changes_behavior.pl has the rest of the behavior.
use ServerTest;
use Sessions;

my $node = use_server(new_server('changes_faults', "shared_preload_libraries = 'uuid9562'\nautovacuum = off\n", extra => [ '--encoding', 'UTF8' ]));
sql('CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE ROLE owner LOGIN', 'CREATE ROLE spy LOGIN', 'GRANT CREATE ON SCHEMA public TO owner, spy',
	'CREATE TABLE executed (role name)', 'GRANT INSERT ON executed TO PUBLIC', 'CREATE SCHEMA shared', 'GRANT ALL ON SCHEMA shared TO PUBLIC');
# Code of a role: it records who executes it
sub code { my ($name, $signature, $result) = @_; return qq{CREATE FUNCTION $name $signature LANGUAGE plpgsql AS \$\$BEGIN IF current_user <> 'owner' THEN INSERT INTO public.executed VALUES (current_user); END IF; RETURN $result; END\$\$} }
sub as { my ($role, @statements) = @_; return $node->safe_psql('postgres', join(';', @statements), extra_params => [ '-U', $role ]) }
sub error_as { my ($role, $statement) = @_; my (undef, undef, $err) = $node->psql('postgres', $statement, extra_params => [ '-U', $role ]); return $err =~ s/.*?(ERROR:[^\n]*).*/$1/sr }
sub page { my ($table, $reader, $what) = @_; return 'SELECT ' . ($what || q{concat_ws(' ', change_type, data)}) . " FROM changes_read('$reader', NULL::$table)" }
sub apply { my ($table, $reader) = @_; return 'BEGIN', page($table, $reader), "SELECT changes_done('$reader')", 'COMMIT' }
# Create and track a table as its owner, and let a reader copy it.
sub create
{
	my ($columns) = @_;

	sql('DROP TABLE IF EXISTS item', 'TRUNCATE executed');
	as('owner', "CREATE TABLE item $columns", q{SELECT changes_track('item')});
	sql(apply('item', 'r'));
	return;
}
my $plain = '(id int PRIMARY KEY, v text)';

# --- operators of the key's type ------------------------------------------------------

sql('CREATE TYPE shared.size AS (a int)', 'CREATE DOMAIN shared.length AS shared.size',
	(map { my ($name, $operator) = @$_; "CREATE FUNCTION shared.$name(shared.size, shared.size) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT (\$1).a $operator (\$2).a'",
			"CREATE OPERATOR shared.$operator (FUNCTION = shared.$name, LEFTARG = shared.size, RIGHTARG = shared.size)" } [ 'lt', '<' ], [ 'le', '<=' ], [ 'eq', '=' ], [ 'ge', '>=' ], [ 'gt', '>' ]),
	q{CREATE FUNCTION shared.cmp(shared.size, shared.size) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT btint4cmp(($1).a, ($2).a)'},
	'CREATE OPERATOR CLASS shared.size_ops DEFAULT FOR TYPE shared.size USING btree AS ' . join(', ', map { "OPERATOR $_->[0] shared.$_->[1]" } [ 1, '<' ], [ 2, '<=' ], [ 3, '=' ], [ 4, '>=' ], [ 5, '>' ]) . ', FUNCTION 1 shared.cmp(shared.size, shared.size)');
create('(id shared.length PRIMARY KEY, v text)');
as('spy', code('shared.capture', '(shared.length, shared.length) RETURNS boolean', 'true'), 'CREATE OPERATOR shared.= (FUNCTION = shared.capture, LEFTARG = shared.length, RIGHTARG = shared.length)');
as('owner', q{INSERT INTO item VALUES (ROW(1), 'a'), (ROW(2), 'b')}, q{DELETE FROM item WHERE v = 'a'});
is(sql(apply('item', 'r')), "upsert (\"(2)\",b)\ndelete (\"(1)\",)\n", 'a key whose type is in the schema of others is read');
is(sql('TABLE executed'), '', 'a better match of another role is not executed');

# --- policies and views -----------------------------------------------------------------

create($plain);
as('owner', code('allowed', '() RETURNS boolean', 'true'), 'CREATE POLICY p ON item USING (allowed())', 'ALTER TABLE item ENABLE ROW LEVEL SECURITY', q{INSERT INTO item VALUES (1, 'a')});
is(sql(page('item', 'r')), 'upsert (1,a)', 'a superuser reads a table with policies');
sql('TABLE changes_readers', 'TABLE changes_tables');
is(sql('TABLE executed'), '', 'no policy is executed by a reader or by who looks at the views');

as('owner', q{CREATE FUNCTION trap(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$BEGIN IF current_user <> 'owner' THEN RAISE 'trap'; END IF; RETURN $1; END$$});
create(q{(id int PRIMARY KEY CHECK (trap('x') IS NOT NULL), v text DEFAULT trap('x'), w text GENERATED ALWAYS AS (trap(v)) STORED)});
as('owner', q{CREATE INDEX ON item (trap(v), (trap('x')))}, q{CREATE INDEX ON item (id) WHERE trap('x') <> ''}, q{CREATE STATISTICS of_item ON (trap(v)), (trap('x')) FROM item}, q{CREATE RULE r AS ON UPDATE TO item DO ALSO SELECT trap('x')},
	q{INSERT INTO item VALUES (1, 'a')});
is(refusal(join ';', q{CALL changes_wait('r', 'item', '1 ms')}, apply('item', 'r'), 'TABLE changes_readers', 'TABLE changes_tables', 'SELECT * FROM changes_entries(NULL::item)', q{SELECT changes_purge('item', '0'), changes_reset('item'), changes_track('item', '{insert}'), changes_untrack('item')}), '',
	'no expression of the owner is executed by who reads, waits, purges or tracks');

# --- the tables of the extension ---------------------------------------------------------------

my @statements = map { my $statement = $_; map { sprintf $statement, "uuid9562_changes.$_" } qw(log state purged reader) } ('LOCK TABLE %s IN ACCESS SHARE MODE', 'TABLE %s', 'INSERT INTO %s DEFAULT VALUES', 'UPDATE %s SET source = source', 'DELETE FROM %s', 'TRUNCATE %s', 'DROP TABLE %s',
	'CREATE INDEX ON %s (source)', 'REINDEX TABLE %s', 'CLUSTER %s', 'CREATE STATISTICS s ON source, source FROM %s', 'ALTER TABLE %s DISABLE TRIGGER ALL', 'DROP TRIGGER guard ON %s', 'CREATE TRIGGER x BEFORE INSERT ON %s EXECUTE FUNCTION suppress_redundant_updates_trigger()',
	'CREATE RULE r AS ON INSERT TO %s DO INSTEAD NOTHING', 'CREATE POLICY p ON %s', 'ALTER TABLE %s OWNER TO CURRENT_USER', 'ALTER TABLE %s SET SCHEMA public', 'GRANT SELECT ON %s TO PUBLIC', 'CREATE TABLE x () INHERITS (%s)', 'CREATE TABLE x (LIKE %s)',
	'CREATE PUBLICATION p FOR TABLE %s', 'COMMENT ON TABLE %s IS NULL', 'ALTER EXTENSION uuid9562_changes DROP TABLE %s');
# Return the statements that a role can execute.
my $refuses = q{CREATE FUNCTION refuses(statement text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN EXECUTE statement; RETURN false; EXCEPTION WHEN insufficient_privilege THEN RETURN true; END$$};
sub executes { my ($database, $role) = @_; return $node->safe_psql($database, 'SELECT s FROM unnest(ARRAY[' . join(', ', map { "\$\$$_\$\$" } @statements) . ']) AS s WHERE NOT refuses(s)', extra_params => [ '-U', $role ]) }
sql($refuses);
is(executes('postgres', $_), '', "the role $_ cannot read, write, lock or alter the tables of the extension") foreach qw(owner spy);

# --- default privileges ---------------------------------------------------------------------

sql(q{CREATE DATABASE granted TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'}, 'CREATE ROLE lessee LOGIN', 'ALTER DATABASE granted OWNER TO lessee');
$node->safe_psql('granted', 'CREATE SCHEMA ids; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO spy WITH GRANT OPTION; CREATE EXTENSION uuid9562_changes CASCADE');
is($node->safe_psql('granted', q{SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class, unnest('{public,spy,lessee}'::text[]) AS r (role) WHERE relnamespace = 'uuid9562_changes'::regnamespace AND relkind = 'r' AND has_table_privilege(role, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')}), '',
	'default privileges give nobody a privilege on them');
# this database sorts 'a' before 'B', and ignores '-'
my $as_readers = q{SELECT %s FROM unnest('{B,a,C,b,a-b,ab}'::text[]) AS reader, LATERAL (SELECT count(*) FROM changes_read(reader, NULL::item)) AS page};
is($node->safe_psql('granted', q{CREATE TABLE item (id int PRIMARY KEY); SELECT changes_track('item'); } . sprintf("$as_readers; $as_readers", 'changes_done(reader)', 'sum(count)')) =~ s/\n//gr, 0, 'readers are found in a database with a collation of a language');
$node->safe_psql('granted', "DROP EXTENSION uuid9562 CASCADE; $refuses");
$node->safe_psql('granted', 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC; CREATE EXTENSION uuid9562_changes CASCADE', extra_params => [ '-U', 'lessee' ]);
is(executes('granted', 'lessee'), '', 'the owner of the database and of the extension cannot read, write, lock or alter them');
is(error_as('spy', $_), 'ERROR:  permission denied for table item', "nobody calls $_ without SELECT on the table") foreach page('item', 'x'), q{CALL changes_wait('x', 'item')}, 'SELECT changes_entries(NULL::item)';

sql('CREATE TABLE gone (id int PRIMARY KEY)', q{SELECT changes_track('gone')}, page('gone', 'r'));
my $gone = sql(q{SELECT 'gone'::regclass::oid});
my $owner = sql('SELECT current_user');
like(refusal("BEGIN; DROP TABLE gone; SET ROLE spy; SELECT changes_forget('r', $gone)"), qr/: reader "r" of table $gone belongs to role $owner\n/, 'a reader of a dropped table has its role');
sql('DROP TABLE gone');

sql(map { ("CREATE TABLE $_ (id int PRIMARY KEY)", "SELECT changes_track('$_')", apply($_, 'r')) } qw(one two));
sql('BEGIN', 'INSERT INTO one VALUES (1)', 'INSERT INTO two VALUES (1)', 'COMMIT');
is(sql(page('one', 'r'), page('two', 'r')), "upsert (1)\nupsert (1)", 'a transaction that changes equal keys of two tables logs both');

# --- many partitions ------------------------------------------------------------------------------------

create("$plain PARTITION BY RANGE (id)");
as('owner', q{DO $$BEGIN FOR i IN 10 .. 309 LOOP EXECUTE format('CREATE TABLE item_%s PARTITION OF item FOR VALUES FROM (%s) TO (%s)', i, i * 1000000, (i + 1) * 1000000); END LOOP; END$$});
my $polling = session();
my $blocks = 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY OFF) ' . page('item', 'r', '1');
in($polling, page('item', 'r'), page('item', 'r'), $blocks);
my ($before) = in($polling, $blocks) =~ /shared hit=(\d+)/;
sql('CREATE TEMPORARY TABLE x (id int PRIMARY KEY); CREATE TEMPORARY TABLE y ()');
as('spy', 'CREATE TABLE unrelated (id int)');
my ($after) = in($polling, $blocks) =~ /shared hit=(\d+)/;
cmp_ok($after, '<', $before + 100, 'tables of other sessions do not make a poll compare 300 partitions again');
as('owner', 'ALTER TABLE item_309 ADD CHECK (id > 0)');
cmp_ok((in($polling, $blocks) =~ /shared hit=(\d+)/)[0], '>', $before + 300, 'but an altered partition does');
leave($polling);

# --- functions that can be missing -------------------------------------------------------------

unlike(slurp_file($node->safe_psql('postgres', q{SELECT setting FROM pg_config WHERE name = 'SHAREDIR'}) . '/extension/uuid9562_changes--1.0.sql'), qr/\bmd5\b/i, 'nothing needs md5(), which fails in FIPS mode');

# --- names -------------------------------------------------------------------------------------

sql('CREATE TABLE swap_a (id int PRIMARY KEY, v text)', 'CREATE TABLE swap_b (id int PRIMARY KEY, v text)', q{SELECT changes_track('swap_a')}, q{SELECT changes_track('swap_b')}, apply('swap_a', 'r'), apply('swap_b', 'r'),
	'ALTER TABLE swap_a RENAME TO x; ALTER TABLE swap_b RENAME TO swap_a; ALTER TABLE x RENAME TO swap_b', q{INSERT INTO swap_a VALUES (1, 'a')}, q{INSERT INTO swap_b VALUES (1, 'b')});
is(sql(page('swap_a', 'r'), page('swap_b', 'r')), "upsert (1,a)\nupsert (1,b)", 'two tables exchange their names: each reader gets the rows of its table');
my $outside = sql(q{SELECT change_position FROM changes_read('outside', NULL::swap_a, after => NULL)});
like(refusal("SELECT changes_read('outside', NULL::swap_b, after => '$outside')"), qr/22023: position of table swap_a cannot be used for table swap_b/, 'and a position keeps to its table');
sql('DROP TABLE swap_a', 'CREATE TABLE swap_a (id int PRIMARY KEY, v text)', q{SELECT changes_track('swap_a')});
is(sql("SELECT change_type FROM changes_read('outside', NULL::swap_a, after => '$outside')"), 'reset', 'a position of a table that was dropped means "reset" for its successor');
ok($node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM uuid9562_changes.reader WHERE source = $gone)"), 'a worker removes the reader of a dropped table');

$node->stop;
done_testing();
