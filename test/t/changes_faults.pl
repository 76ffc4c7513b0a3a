# Faults of an earlier form of changes_read(), which ran other roles' code, lost rows, or made others wait.
use ServerTest;
use Sessions;

my $node = use_server(new_server('changes_faults', "shared_preload_libraries = 'uuid9562'\nautovacuum = off\n", extra => [ '--encoding', 'UTF8' ]));
sql('CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE ROLE owner LOGIN', 'CREATE ROLE reader LOGIN', 'CREATE ROLE spy LOGIN', 'GRANT CREATE ON SCHEMA public TO owner, spy',
	'CREATE TABLE executed (role name)', 'GRANT INSERT ON executed TO PUBLIC', 'CREATE SCHEMA shared', 'GRANT ALL ON SCHEMA shared TO PUBLIC');
# Code of a role: it records who executes it
sub code { my ($name, $signature, $result) = @_; return qq{CREATE FUNCTION $name $signature LANGUAGE plpgsql AS \$\$BEGIN IF current_user <> 'owner' THEN INSERT INTO public.executed VALUES (current_user); END IF; RETURN $result; END\$\$} }
sub as { my ($role, @statements) = @_; return $node->safe_psql('postgres', join(';', @statements), extra_params => [ '-U', $role ]) }
sub error_as { my ($role, $statement) = @_; my (undef, undef, $err) = $node->psql('postgres', $statement, extra_params => [ '-U', $role ]); return $err =~ s/.*?(ERROR:[^\n]*).*/$1/sr }
sub page { my ($table, $reader, $what) = @_; return 'SELECT ' . ($what || q{concat_ws(' ', change_type, data)}) . " FROM changes_read('$reader', NULL::$table)" }
sub apply { my ($table, $reader) = @_; return 'BEGIN', page($table, $reader), "SELECT changes_done('$reader')", 'COMMIT' }
# Create and track a table as its owner, and let readers copy it.
sub create
{
	my ($columns, @readers) = @_;

	sql('DROP TABLE IF EXISTS item, detached CASCADE', 'TRUNCATE executed');
	as('owner', "CREATE TABLE item $columns", q{SELECT changes_track('item')}, 'GRANT ALL ON item TO PUBLIC');
	sql(apply('item', $_)) foreach @readers;
	return;
}
my $plain = '(id int PRIMARY KEY, v text)';

# --- 1. domains of the key ------------------------------------------------------------

as('owner', code('checked', '(text) RETURNS boolean', 'true'), 'CREATE DOMAIN code AS text CHECK (checked(VALUE))');
create('(id code PRIMARY KEY, v code)', 'r');
as('owner', q{INSERT INTO item VALUES ('a', 'x'), ('b', 'y')}, q{DELETE FROM item WHERE id = 'a'});
is(sql(apply('item', 'r')), "upsert (b,y)\ndelete (a,)\n", 'a deleted key of a domain is read');
is(sql('TABLE executed'), '', 'no CHECK of a domain is executed by the reader');
as('owner', q{DELETE FROM item}, q{ALTER DOMAIN code ADD CHECK (VALUE <> 'b') NOT VALID});
is(sql(apply('item', 'r')), "delete (b,)\n", 'nor one that a deleted key violates');

# --- 2. operators of the key's type ------------------------------------------------------

sql('CREATE TYPE shared.size AS (a int)', 'CREATE DOMAIN shared.length AS shared.size',
	(map { my ($name, $operator) = @$_; "CREATE FUNCTION shared.$name(shared.size, shared.size) RETURNS boolean IMMUTABLE LANGUAGE sql AS 'SELECT (\$1).a $operator (\$2).a'",
			"CREATE OPERATOR shared.$operator (FUNCTION = shared.$name, LEFTARG = shared.size, RIGHTARG = shared.size)" } [ 'lt', '<' ], [ 'le', '<=' ], [ 'eq', '=' ], [ 'ge', '>=' ], [ 'gt', '>' ]),
	q{CREATE FUNCTION shared.cmp(shared.size, shared.size) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT btint4cmp(($1).a, ($2).a)'},
	'CREATE OPERATOR CLASS shared.size_ops DEFAULT FOR TYPE shared.size USING btree AS ' . join(', ', map { "OPERATOR $_->[0] shared.$_->[1]" } [ 1, '<' ], [ 2, '<=' ], [ 3, '=' ], [ 4, '>=' ], [ 5, '>' ]) . ', FUNCTION 1 shared.cmp(shared.size, shared.size)');
create('(id shared.length PRIMARY KEY, v text)', 'r');
as('spy', code('shared.capture', '(shared.length, shared.length) RETURNS boolean', 'true'), 'CREATE OPERATOR shared.= (FUNCTION = shared.capture, LEFTARG = shared.length, RIGHTARG = shared.length)');
as('owner', q{INSERT INTO item VALUES (ROW(1), 'a'), (ROW(2), 'b')}, q{DELETE FROM item WHERE v = 'a'});
is(sql(apply('item', 'r')), "upsert (\"(2)\",b)\ndelete (\"(1)\",)\n", 'a key whose type is in the schema of others is read');
is(sql('TABLE executed'), '', 'a better match of another role is not executed');

# --- 3. policies and views -----------------------------------------------------------------

create($plain, 'r');
as('owner', code('allowed', '() RETURNS boolean', 'true'), 'CREATE POLICY p ON item USING (allowed())', 'ALTER TABLE item ENABLE ROW LEVEL SECURITY', q{INSERT INTO item VALUES (1, 'a')});
is(sql(page('item', 'r')), 'upsert (1,a)', 'a superuser reads a table with policies');
sql('TABLE changes_readers', 'TABLE changes_tables');
is(sql('TABLE executed'), '', 'no policy is executed by a reader or by who looks at the views');
like(refusal('SET ROLE owner; CREATE POLICY p ON uuid9562_changes.log USING (allowed())'), qr/must be owner/, 'nobody creates a policy on the log');
as('owner', q{CREATE FUNCTION trap(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$BEGIN IF current_user <> 'owner' THEN RAISE 'trap'; END IF; RETURN $1; END$$});
create(q{(id int PRIMARY KEY CHECK (trap('x') IS NOT NULL), v text DEFAULT trap('x'), w text GENERATED ALWAYS AS (trap(v)) STORED)}, 'r');
as('owner', q{CREATE INDEX ON item (trap(v), (trap('x')))}, q{CREATE INDEX ON item (id) WHERE trap('x') <> ''}, q{CREATE STATISTICS of_item ON (trap(v)), (trap('x')) FROM item}, q{CREATE RULE r AS ON UPDATE TO item DO ALSO SELECT trap('x')},
	q{INSERT INTO item VALUES (1, 'a')});
is(refusal(join ';', q{CALL changes_wait('r', 'item', '1 ms')}, apply('item', 'r'), 'TABLE changes_readers', 'TABLE changes_tables', 'SELECT * FROM changes_entries(NULL::item)', q{SELECT changes_purge('item', '0'), changes_reset('item'), changes_track('item', '{insert}'), changes_untrack('item')}), '',
	'no expression of the owner is executed by who reads, waits, purges or tracks');

# --- 4. the readers of others --------------------------------------------------------------

create($plain, 'r');
my @statements = map { my $statement = $_; map { sprintf $statement, "uuid9562_changes.$_" } qw(log state purged reader) } ('LOCK TABLE %s IN ACCESS SHARE MODE', 'TABLE %s', 'INSERT INTO %s DEFAULT VALUES', 'UPDATE %s SET source = source', 'DELETE FROM %s', 'TRUNCATE %s', 'DROP TABLE %s',
	'CREATE INDEX ON %s (source)', 'REINDEX TABLE %s', 'CLUSTER %s', 'CREATE STATISTICS s ON source, source FROM %s', 'ALTER TABLE %s DISABLE TRIGGER ALL', 'DROP TRIGGER guard ON %s', 'CREATE TRIGGER x BEFORE INSERT ON %s EXECUTE FUNCTION suppress_redundant_updates_trigger()',
	'CREATE RULE r AS ON INSERT TO %s DO INSTEAD NOTHING', 'CREATE POLICY p ON %s', 'ALTER TABLE %s OWNER TO CURRENT_USER', 'ALTER TABLE %s SET SCHEMA public', 'GRANT SELECT ON %s TO PUBLIC', 'CREATE TABLE x () INHERITS (%s)', 'CREATE TABLE x (LIKE %s)',
	'CREATE PUBLICATION p FOR TABLE %s', 'COMMENT ON TABLE %s IS NULL', 'ALTER EXTENSION uuid9562_changes DROP TABLE %s');
# Return the statements that a role can execute.
my $refuses = q{CREATE FUNCTION refuses(statement text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN EXECUTE statement; RETURN false; EXCEPTION WHEN insufficient_privilege THEN RETURN true; END$$};
sub executes { my ($database, $role) = @_; return $node->safe_psql($database, 'SELECT s FROM unnest(ARRAY[' . join(', ', map { "\$\$$_\$\$" } @statements) . ']) AS s WHERE NOT refuses(s)', extra_params => [ '-U', $role ]) }
sql($refuses);
is(executes('postgres', $_), '', "the role $_ cannot read, write, lock or alter the tables of the extension") foreach qw(owner spy);
is(sql('GRANT pg_read_all_data TO spy; SET ROLE spy; SELECT (SELECT count(*) FROM uuid9562_changes.log) + (SELECT count(*) FROM uuid9562_changes.reader) + (SELECT count(*) FROM uuid9562_changes.state)'), 0, 'pg_read_all_data sees no row of them');
sql('REVOKE pg_read_all_data FROM spy');
is(error_as('spy', page('item', 'r')), 'ERROR:  reader "r" of table item belongs to role ' . sql('SELECT current_user'), 'nobody takes the reader of another role');
sql('CREATE DATABASE granted', 'CREATE ROLE lessee LOGIN', 'ALTER DATABASE granted OWNER TO lessee');
$node->safe_psql('granted', 'CREATE SCHEMA ids; ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC; ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO spy WITH GRANT OPTION; CREATE EXTENSION uuid9562_changes CASCADE');
is($node->safe_psql('granted', q{SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class, unnest('{public,spy,lessee}'::text[]) AS r (role) WHERE relnamespace = 'uuid9562_changes'::regnamespace AND relkind = 'r' AND has_table_privilege(role, oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')}), '',
	'default privileges give nobody a privilege on them');
$node->safe_psql('granted', "DROP EXTENSION uuid9562 CASCADE; $refuses");
$node->safe_psql('granted', 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC; CREATE EXTENSION uuid9562_changes CASCADE', extra_params => [ '-U', 'lessee' ]);
is(executes('granted', 'lessee'), '', 'the owner of the database and of the extension cannot read, write, lock or alter them');
sql('REVOKE ALL ON item FROM PUBLIC');
is(error_as('spy', $_), 'ERROR:  permission denied for table item', "nobody calls $_ without SELECT on the table") foreach page('item', 'x'), q{CALL changes_wait('x', 'item')}, 'SELECT changes_entries(NULL::item)';

# --- 5. owners that change -------------------------------------------------------------------

create($plain, 'r');
as('owner', q{INSERT INTO item VALUES (1, 'a')});
sql('ALTER TABLE item OWNER TO reader');
as('reader', q{UPDATE item SET v = 'b'});
is(sql(apply('item', 'r')), "upsert (1,b)\n", 'changes are logged before and after the table gets another owner');
is(error_as('owner', $_), 'ERROR:  must be owner of table item', "the old owner has no right any more: $_") foreach q{SELECT changes_reset('item')}, q{SELECT changes_purge('item', '0')};

# --- 6. two programs that share a session ----------------------------------------------------------

create($plain, 'r');
as('owner', q{INSERT INTO item VALUES (1, 'a')});
my $shared = session();
my $of_a = in($shared, page('item', 'r', 'change_position'));
as('owner', q{INSERT INTO item VALUES (2, 'b')});
my $of_b = in($shared, page('item', 'r', 'max(change_position)'));
like(refused_in($shared, q{SELECT changes_done('r')}), qr/this transaction has not read a page of reader "r"/, 'behind a pooler, a program cannot confirm the page of another one');
in($shared, "SELECT changes_done('r', '$of_a')");
is(in($shared, page('item', 'r')), 'upsert (2,b)', 'with its position, it confirms its own page');
as('owner', q{UPDATE item SET v = 'v2' WHERE id = 1});
my $older = in($shared, page('item', 'r', 'max(change_position)'));
as('owner', q{UPDATE item SET v = 'v3' WHERE id = 1});
my $newer = in($shared, page('item', 'r', 'max(change_position)'));
in($shared, "SELECT changes_done('r', '$newer')");
is(in($shared, page('item', 'r')), '', 'a program confirms version 3');
leave($shared);
sql("SELECT changes_done('r', '$older')");
is(sql(page('item', 'r')), 'upsert (1,v3)', 'another one applies version 2 later, so version 3 is delivered again');

# --- 7. keys that are equal ------------------------------------------------------------------------

sql(q{CREATE COLLATION IF NOT EXISTS any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)});
create('(id text COLLATE any_case PRIMARY KEY, v text)', 'r');
as('owner', q{CREATE FUNCTION lowered() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN UPDATE item SET id = lower(id) WHERE id = NEW.id; RETURN NULL; END$$}, 'CREATE TRIGGER lowered AFTER INSERT ON item FOR EACH ROW EXECUTE FUNCTION lowered()', q{INSERT INTO item VALUES ('Ann', 'x')});
like(sql(page('item', 'r')), qr/\bdelete \(Ann,\)\nupsert \(ann,x\)$/, 'the row of an equal key comes after the deleted key');
my $delete = sql(page('item', 'r', 'change_position') . q{ WHERE change_type = 'delete'});
sql("SELECT changes_done('r', '$delete')");
like(sql(page('item', 'r')), qr/upsert \(ann,x\)$/, 'if only the deletion is confirmed, the row is delivered again');

# --- 8. statements that were planned before ALTER TABLE ------------------------------------------------

create($plain, 'r');
my $planned = session();
in($planned, 'PREPARE page AS ' . page('item', 'r'), 'EXECUTE page');
foreach my $alter ('ALTER v SET DEFAULT 1', 'ALTER v SET NOT NULL', 'ALTER v SET STATISTICS 7', 'ADD CHECK (id > 0)', 'ADD w int', 'DROP w', 'RENAME v TO v2')
{
	as('owner', "ALTER TABLE item $alter", q{INSERT INTO item (id, v) VALUES (8, 'x')} =~ s/\bv\b/$alter =~ m{v2} ? 'v2' : 'v'/er, 'DELETE FROM item');
	my $page = $planned->query('EXECUTE page') . $planned->{stderr};
	$planned->{stderr} = '';
	like($page, $alter =~ /SET|CHECK/ ? qr/^delete \(8,\)$/ : qr/^delete \(8,+\)$|^reset$|row type of table item has changed\n/, "the first page after $alter is not empty");
	like(in($planned, 'EXECUTE page'), qr/^delete \(8,+\)$|^reset$/, 'nor is the second one');
	sql(apply('item', 'r'));
}
leave($planned);

# --- 9. a transaction that has changed the table ----------------------------------------------------------

create($plain, 'r');
my $outside = sql(q{SELECT change_position FROM changes_read('outside', NULL::item, after => NULL)});
foreach my $change (q{INSERT INTO item VALUES (1, 'a')}, 'TRUNCATE item', 'ALTER TABLE item ADD w int', 'SAVEPOINT a; INSERT INTO item VALUES (5); RELEASE a', 'CREATE TABLE later (id int PRIMARY KEY); LOCK TABLE item IN ROW EXCLUSIVE MODE')
{
	foreach my $after ('', ", after => '$outside'")
	{
		like(refusal(qq{BEGIN; $change; SELECT * FROM changes_read('} . ($after ? 'outside' : 'r') . "', NULL::item$after); ROLLBACK"), qr/55000: cannot read changes of table item in a transaction that has changed it\n/,
			"refused after $change" . ($after && ', by position'));
	}
}
is(sql("BEGIN; CREATE TABLE other (id int PRIMARY KEY); INSERT INTO other VALUES (1); SELECT count(*) FROM changes_read('r', NULL::item); ROLLBACK"), 0, 'a transaction that has changed another table reads');

# --- 10. partitions that come back ------------------------------------------------------------------------------

foreach my $again ('ALTER TABLE item DETACH PARTITION item_1; DELETE FROM item_1; ALTER TABLE item ATTACH PARTITION item_1 FOR VALUES FROM (1) TO (9)',
	'ALTER TABLE item DETACH PARTITION item_1; ALTER TABLE item_1 RENAME TO detached; CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (1) TO (9)',
	'ALTER TABLE item DETACH PARTITION item_1; ALTER TABLE item_1 RENAME TO detached; CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (1) TO (5)')
{
	foreach my $between ('', 'read')
	{
		my ($detach, @rest) = split /; /, $again;

		create("$plain PARTITION BY RANGE (id)", 'r');
		as('owner', 'CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (1) TO (9)', q{INSERT INTO item VALUES (1, 'a')}, q{SELECT changes_track('item', dropped_partitions => 'ignore')});
		sql(apply('item', 'r')) for 1, 2;
		as('owner', $detach);
		sql(apply('item', 'r')) if $between;
		as('owner', @rest);
		is(sql(page('item', 'r')), 'reset', 'old rows do not stay in the copy after ' . join('; ', $detach, $between || (), @rest));
	}
}

# --- 11 and 12. dumps -------------------------------------------------------------------------------------------------

create($plain, 'r');
as('owner', q{INSERT INTO item VALUES (1, 'a')}, 'CREATE TABLE keep (id int PRIMARY KEY)', q{SELECT changes_track('keep')});
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
sql('CREATE DATABASE partly', 'CREATE DATABASE owned OWNER lessee');
$node->command_ok([ 'pg_dump', '-T', 'keep', '-f', $dump, $node->connstr('postgres') ], 'a dump without one of the tracked tables');
unlike(slurp_file($dump), qr/COPY uuid9562_changes|\b\d{5}\b(?=\s*\t)/, 'it has no row of the extension');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('partly') ], 'it is restored');
is($node->safe_psql('partly', q{SELECT source, problem IS NULL FROM changes_tables; } . page('item', 'r')), "item|t\nreset", 'and the other table is tracked');
$node->command_ok([ 'pg_dump', '-O', '-x', '-t', 'item', '-f', $dump, $node->connstr('postgres') ], 'a dump of one table');
$node->safe_psql('owned', 'CREATE EXTENSION uuid9562; CREATE EXTENSION uuid9562_changes', extra_params => [ '-U', 'lessee' ]);
$node->safe_psql('owned', 'CREATE SCHEMA own; ALTER ROLE lessee SET search_path = own', extra_params => [ '-U', 'lessee' ]);
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-U', 'lessee', '-f', $dump, $node->connstr('owned') ], 'a database owner who is no superuser restores it');
is($node->safe_psql('owned', q{SELECT problem IS NULL FROM public.changes_tables; SELECT change_type FROM public.changes_read('r', NULL::public.item)}, extra_params => [ '-U', 'lessee' ]), "t\nreset", 'and the table is tracked');

# --- 13. transactions that only confirm -----------------------------------------------------------------------------------

create($plain, 'r', 's');
as('owner', 'INSERT INTO item SELECT generate_series(1, 100)');
my ($confirming, $reading) = (session(), session());
in($confirming, 'BEGIN', page('item', 'r', 'count(*)'), q{SELECT changes_done('r')});
is(in($reading, q{SET lock_timeout = '1 ms'}, page('item', 's', 'count(*)')), 100, 'another reader does not wait for a transaction that has confirmed');
in($reading, 'RESET lock_timeout', 'SET ROLE owner', q{SET lock_timeout = '1 ms'}, q{SELECT changes_track('item')});
pass('nor does changes_track()');
in($confirming, 'COMMIT');
leave($confirming, $reading);

# --- 14. many partitions, rows and tables ------------------------------------------------------------------------------------

create("$plain PARTITION BY RANGE (id)", 'r');
as('owner', 'CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (0) TO (1000000)', 'CREATE TABLE detached (LIKE item INCLUDING ALL)', 'INSERT INTO detached SELECT generate_series(1000000, 1020000)', 'ALTER TABLE item ATTACH PARTITION detached FOR VALUES FROM (1000000) TO (2000000)');
my $entries = q{SELECT count(*) FROM uuid9562_changes.log WHERE source = 'item'::regclass};
is(sql(apply('item', 'r'), $entries), "reset\n\n0", 'a large partition that is attached means "reset", and no entries');
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

# --- 15. settings, levels, names and empty pages ---------------------------------------------------------------------------------

create($plain, 'r');
unlike(slurp_file($node->safe_psql('postgres', q{SELECT setting FROM pg_config WHERE name = 'SHAREDIR'}) . '/extension/uuid9562_changes--1.0.sql'), qr/\bmd5\b/i, 'nothing needs md5(), which fails in FIPS mode');
is(sql('BEGIN ISOLATION LEVEL READ UNCOMMITTED', page('item', 'r'), q{SELECT changes_done('r')}, 'COMMIT'), '', 'READ UNCOMMITTED is READ COMMITTED, and after an empty page, there is nothing to confirm');
as('owner', q{INSERT INTO item VALUES (1, 'a')});
my $position = sql(page('item', 'r', 'change_position'));
is(sql('BEGIN ISOLATION LEVEL SERIALIZABLE', 'SELECT 1', "SELECT changes_done('r', '$position')", 'COMMIT', page('item', 'r')), '1' . "\n", 'changes_done() works at each level');
like(refusal($_), qr/ERROR:  22023: invalid name of reader: "x{100}"\n/, "a long name is refused in $_") foreach map { sprintf $_, q{repeat('x', 3000000)} } 'SELECT * FROM changes_read(%s, NULL::item)', 'SELECT changes_done(%s)';
is(sql(q{SELECT count(*) FROM changes_read(repeat('x', 200), NULL::item)}), 1, 'a name of 200 bytes is not');

# --- 16. tables that are dropped ---------------------------------------------------------------------------------------------------

create($plain, 'r');
as('owner', q{INSERT INTO item VALUES (1, 'a')});
$outside = sql(q{SELECT change_position FROM changes_read('outside', NULL::item, after => NULL)});
sql('DROP TABLE item', 'CREATE SCHEMA second', 'CREATE TABLE item (id int PRIMARY KEY)', 'CREATE TABLE second.item (id int PRIMARY KEY)');
is(sql(q{SELECT changes_track('item')}, q{SELECT changes_track('second.item')}, page('item', 'r'), page('second.item', 'r'), "SELECT change_type FROM changes_read('outside', NULL::item, after => '$outside')", q{SELECT changes_untrack('item')}), "\n\nreset\nreset\nreset\n", 'tables of the same name are tracked, also in another schema');
is(sql('DROP TABLE item, second.item', 'TABLE changes_tables'), 'keep|{insert,update,delete}|reset|7 days||{}|0||', 'dropped tables are not listed');
sql('CREATE TABLE swap_a (id int PRIMARY KEY, v text)', 'CREATE TABLE swap_b (id int PRIMARY KEY, v text)', q{SELECT changes_track('swap_a')}, q{SELECT changes_track('swap_b')}, apply('swap_a', 'r'), apply('swap_b', 'r'),
	'ALTER TABLE swap_a RENAME TO x; ALTER TABLE swap_b RENAME TO swap_a; ALTER TABLE x RENAME TO swap_b', q{INSERT INTO swap_a VALUES (1, 'a')}, q{INSERT INTO swap_b VALUES (1, 'b')});
is(sql(page('swap_a', 'r'), page('swap_b', 'r')), "upsert (1,a)\nupsert (1,b)", 'two tables exchange their names: each reader gets the rows of its table');
$outside = sql(q{SELECT change_position FROM changes_read('outside', NULL::swap_a, after => NULL)});
like(refusal("SELECT changes_read('outside', NULL::swap_b, after => '$outside')"), qr/22023: position of table swap_a cannot be used for table swap_b/, 'and a position keeps to its table');
is(sql('DROP EXTENSION uuid9562_changes CASCADE', q{SELECT count(*) FROM pg_namespace WHERE nspname = 'uuid9562_changes'}, q{SELECT count(*) FROM pg_trigger WHERE tgname ~ 'uuid9562'}), "0\n0", 'DROP EXTENSION works, and leaves no trigger');

$node->stop;
done_testing();
