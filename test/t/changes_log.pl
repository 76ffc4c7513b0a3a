# The log of a tracked table: each committed change of a key has an entry that is later than all
# entries for earlier changes, and tracking prevents nothing that works without it.
use ServerTest;
use Config;
use Sessions;
use World;

my $dir = PostgreSQL::Test::Utils::tempdir();
chomp(my $headers = qx(pg_config --includedir-server));
system('gcc', '-shared', '-fPIC', "-I$headers", '-o', "$dir/late.so", "$FindBin::Bin/changes_log.c") == 0 or die 'changes_log.c does not build';

# PostgreSQL calls transaction callbacks in the reverse order of their registration, so those of the
# library that is loaded first are called after the extension's.
my $conf = "shared_preload_libraries = '$dir/late.so, uuid9562'\nmax_prepared_transactions = 10\nautovacuum = off\nuuid9562.purge_worker = off\nwal_level = logical\n"
	. "max_connections = 50\nshared_buffers = 16MB\nlogical_decoding_work_mem = 64kB\nfsync = off\nlog_min_messages = warning\n";
my $world = World->new('log', $conf, allows_streaming => 'logical', extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
my $node = use_server($world->node);
sql('CREATE EXTENSION uuid9562_changes');
my $version = sql('SHOW server_version_num');
my %last;    # last entries that have been seen, by table
my %oid;

# Return the keys of the entries of a table since the last call, in order.  A table can have been dropped.
sub entries
{
	my ($table) = @_;
	my $source = sql("SELECT to_regclass('$table')::oid");
	$oid{$table} = $source if $source ne '';
	my $out = sql(qq{SELECT string_agg(coalesce(key_of(key)::text, 'all'), ' ' ORDER BY id) || '|' || max(id::text) FROM uuid9562_changes.log
		WHERE source = $oid{$table} AND id > '} . ($last{$table} // '00000000-0000-0000-0000-000000000000') . q{'});
	return '' if $out eq '';
	(my $keys, $last{$table}) = split /\|/, $out;
	return $keys;
}

# Check that statements, which psql executes one by one, raise no error and write these entries.
sub logs
{
	my ($name, $statements, $expected, $table) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $statements, on_error_stop => 0);

	is($err, '', "$name: no error");
	is(entries($table // 't'), $expected, "$name: entries");
}

sub fresh
{
	sql(q{DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (id int PRIMARY KEY, v int); SELECT changes_track('t')});
	delete $last{t};
}

# an integer key follows a hash of four bytes and a header of four bytes
sql(q{CREATE FUNCTION key_of(key bytea) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT get_byte(key, 8) + 256 * get_byte(key, 9) + 65536 * get_byte(key, 10)'});
sql(q{CREATE ROLE owner; CREATE ROLE clerk LOGIN; CREATE ROLE lesser;
	GRANT CREATE ON SCHEMA public TO owner, lesser;
	CREATE FUNCTION nothing() RETURNS trigger LANGUAGE c AS '} . "$dir/late.so" . q{', 'late_nothing'});

# --- transactions -----------------------------------------------------------------

fresh();
logs('a transaction without changes', 'BEGIN; SELECT * FROM t; COMMIT', '');
logs('each command', 'INSERT INTO t VALUES (1, 0), (2, 0); UPDATE t SET v = 1 WHERE id = 1; DELETE FROM t WHERE id = 2', '1 2 1 2');
logs('a changed key', 'UPDATE t SET id = 3', '1 3');
logs('a key that moves along', 'BEGIN; UPDATE t SET id = 4; UPDATE t SET id = 5; UPDATE t SET id = 4; COMMIT', '3 5 4');
logs('1,000 updates of a row', q{DO $$BEGIN FOR i IN 1 .. 1000 LOOP UPDATE t SET v = i; END LOOP; END$$}, '4');
logs('the order of last changes', 'BEGIN; INSERT INTO t VALUES (1), (2), (3); UPDATE t SET v = 0 WHERE id = 1; COMMIT', '2 3 1');
logs('a rollback', 'BEGIN; DELETE FROM t; ROLLBACK', '');
logs('savepoints', 'BEGIN; UPDATE t SET v = 1 WHERE id = 1; SAVEPOINT a; UPDATE t SET v = 1 WHERE id = 2; SAVEPOINT b; UPDATE t SET v = 1 WHERE id = 3; ROLLBACK TO b;
	UPDATE t SET v = 1 WHERE id = 4; RELEASE a; UPDATE t SET v = 2 WHERE id = 1; SAVEPOINT c; DELETE FROM t; ROLLBACK TO c; COMMIT', '2 4 1');
logs('a savepoint with the only changes', 'BEGIN; SAVEPOINT a; UPDATE t SET v = 1 WHERE id = 2; ROLLBACK TO a; UPDATE t SET v = 1 WHERE id = 3; RELEASE a; COMMIT', '3');
logs('exceptions', q{DO $$BEGIN FOR i IN 1 .. 4 LOOP BEGIN UPDATE t SET v = 5 / (i - 2) WHERE id = i; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END$$}, '1 3 4');
logs('two-phase commit', q{BEGIN; UPDATE t SET v = 1 WHERE id = 2; PREPARE TRANSACTION 'p'; BEGIN; UPDATE t SET v = 2 WHERE id = 1; UPDATE t SET v = 3 WHERE id = 1; COMMIT; COMMIT PREPARED 'p'; BEGIN; DELETE FROM t; PREPARE TRANSACTION 'q'; ROLLBACK PREPARED 'q'}, '2 1');
logs('SERIALIZABLE', 'BEGIN ISOLATION LEVEL SERIALIZABLE; UPDATE t SET v = 1 WHERE id = 1; COMMIT; BEGIN ISOLATION LEVEL REPEATABLE READ; DELETE FROM t WHERE id = 4; COMMIT', '1 4');
logs('COPY', "COPY t FROM stdin;\n7\t0\n8\t0\n\\.\n", '7 8');
logs('MERGE', 'MERGE INTO t USING (VALUES (7), (8), (9)) AS s (k) ON id = k WHEN MATCHED AND k = 7 THEN DELETE WHEN MATCHED THEN UPDATE SET v = 1 WHEN NOT MATCHED THEN INSERT VALUES (k)', '7 8 9');
logs('ON CONFLICT', 'INSERT INTO t VALUES (8, 1), (10, 1) ON CONFLICT (id) DO UPDATE SET v = 2; INSERT INTO t VALUES (8), (11) ON CONFLICT DO NOTHING', '8 10 11');
logs('procedures that commit', q{CREATE PROCEDURE work() LANGUAGE plpgsql AS $$BEGIN FOR i IN 1 .. 6 LOOP UPDATE t SET v = i WHERE id IN (i, 8);
	IF i % 3 = 0 THEN ROLLBACK; ELSE COMMIT; END IF; END LOOP; END$$; CALL work()}, '1 8 2 8 8 8');
logs('SET CONSTRAINTS', q{CREATE TABLE child (id int PRIMARY KEY, t int REFERENCES t ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED);
	BEGIN; INSERT INTO child VALUES (1, 20); INSERT INTO t VALUES (20); SET CONSTRAINTS ALL IMMEDIATE; COMMIT}, '20');
sql(q{SELECT changes_track('child')});
logs('cascades', 'UPDATE t SET id = 21 WHERE id = 20', '20 21');
is(entries('child'), '1', 'cascades: entry of the other table');
logs('cascading deletes', 'DELETE FROM t WHERE id = 21', '21');
is(entries('child'), '1', 'cascading deletes: entry of the other table');
logs('TRUNCATE', 'TRUNCATE t, child', 'all');
is(entries('child'), 'all', 'TRUNCATE: entry of the other table');
logs('TRUNCATE and changes', 'BEGIN; INSERT INTO t VALUES (1); TRUNCATE t, child; INSERT INTO t VALUES (2); COMMIT', '1 all 2');
sql('DROP TABLE child');
logs('replication roles', q{SET session_replication_role = replica; INSERT INTO t VALUES (30)}, '30');
logs('a parallel query in the same transaction', q{BEGIN; INSERT INTO t SELECT generate_series(100, 199);
	SET LOCAL parallel_setup_cost = 0; SET LOCAL parallel_tuple_cost = 0; SET LOCAL min_parallel_table_scan_size = 0; SET LOCAL } . ($version < 160000 ? 'force_parallel_mode' : 'debug_parallel_query') . q{ = on;
	SELECT count(*) FROM t; DELETE FROM t WHERE id > 100; COMMIT}, join ' ', 100 .. 199);

# A trigger writes, for each changed key, the transaction and an ID that is generated at the change.
my $subtransactions = 20000;
sql("SET work_mem = '64kB'; DO \$\$BEGIN FOR i IN 1 .. $subtransactions LOOP BEGIN
	INSERT INTO t VALUES (1000 + i); IF i % 3 = 0 THEN RAISE division_by_zero; END IF; EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END\$\$");
is(sql(q{SELECT count(*), count(DISTINCT key), bool_and(key_of(key) IN (SELECT id FROM t)) FROM uuid9562_changes.log WHERE source = 't'::regclass AND key_of(key) > 1000}), 13334 . '|13334|t', 'many subtransactions, in memory of 64 kB');
entries('t');
sql(q{SET work_mem = '64kB'; BEGIN; UPDATE t SET v = 1 WHERE id > 1000 AND id <= 3000; SAVEPOINT a; UPDATE t SET v = 1 WHERE id > 3000 AND id <= 6000; SAVEPOINT b;
	UPDATE t SET v = 1 WHERE id > 6000 AND id <= 9000; RELEASE b; SAVEPOINT c; DELETE FROM t WHERE id > 9000; ROLLBACK TO c; UPDATE t SET v = 2 WHERE id > 9000 AND id <= 12000; RELEASE a;
	SAVEPOINT d; DELETE FROM t WHERE id <= 3000; ROLLBACK TO d; SAVEPOINT e; SAVEPOINT f; DELETE FROM t WHERE id > 12000; RELEASE f; ROLLBACK TO e; UPDATE t SET v = 3 WHERE id = 1001; COMMIT});
my @ids = split / /, entries('t');
my $kept = sql('SELECT string_agg(id::text, \' \' ORDER BY id) FROM t WHERE v IN (1, 2, 3) AND id > 1000');
is(join(' ', sort { $a <=> $b } keys %{ { map { $_ => 1 } @ids } }), $kept, 'savepoints in a temporary file: the committed keys');
is($ids[-1], 1001, 'savepoints in a temporary file: the order');

# --- changes of the table in the same transaction ------------------------------------

for my $ddl ('ALTER TABLE t ADD x int', 'ALTER TABLE t ADD x int DEFAULT 5', 'ALTER TABLE t ALTER v TYPE text', 'ALTER TABLE t DROP v', 'ALTER TABLE t ADD CHECK (v >= 0)',
	'ALTER TABLE t ADD CONSTRAINT u UNIQUE (v)', 'CREATE INDEX ON t (v)', 'CREATE TRIGGER x AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION nothing()', 'CLUSTER t USING t_pkey',
	'REINDEX TABLE t', 'LOCK TABLE t', 'ALTER TABLE t RENAME v TO w', 'ALTER TABLE t SET (fillfactor = 50)', 'ALTER TABLE t ENABLE ROW LEVEL SECURITY',
	'ALTER TABLE t DISABLE TRIGGER USER', 'ALTER TABLE t RENAME TO t2; ALTER TABLE t2 RENAME TO t', 'ALTER TABLE t SET SCHEMA changes_test; ALTER TABLE changes_test.t SET SCHEMA public',
	'ALTER TABLE t ALTER id TYPE bigint', 'ALTER TABLE t RENAME id TO key; ALTER TABLE t RENAME key TO id')
{
	fresh();
	sql('CREATE SCHEMA IF NOT EXISTS changes_test; INSERT INTO t VALUES (3, 3)');
	entries('t');
	logs("changes and then $ddl", "BEGIN; INSERT INTO t VALUES (1, 1); UPDATE t SET v = 4 WHERE id = 3; $ddl; COMMIT", '1 3');
}
fresh();
logs('a renamed key', 'INSERT INTO t VALUES (1); ALTER TABLE t RENAME id TO key; UPDATE t SET v = 1; ALTER TABLE t RENAME v TO id; UPDATE t SET id = 2', '1 1 1');
fresh();
logs('a key that gets another type', 'INSERT INTO t VALUES (1); ALTER TABLE t ALTER id TYPE bigint; INSERT INTO t VALUES (2)', '1 2');
logs('a key that is dropped', 'ALTER TABLE t DROP id; INSERT INTO t VALUES (2); UPDATE t SET v = 3', 'all all');
fresh();
logs('changes and then TRUNCATE', 'BEGIN; INSERT INTO t VALUES (1); TRUNCATE t; COMMIT', '1 all');
logs('changes and then DROP TABLE', 'BEGIN; INSERT INTO t VALUES (1); DROP TABLE t; COMMIT', '1');
fresh();
logs('changes and then changes_untrack()', q{BEGIN; INSERT INTO t VALUES (1); SELECT changes_untrack('t'); SELECT changes_track('t'); INSERT INTO t VALUES (2); COMMIT}, '1 2');

# --- the log ----------------------------------------------------------------------

fresh();
logs('a log with another index', 'CREATE INDEX other ON uuid9562_changes.log (key, id); INSERT INTO t VALUES (1)', '1');
is(sql(q{SET enable_seqscan = off; SELECT count(*) FROM uuid9562_changes.log WHERE key_of(key) = 1 AND source = 't'::regclass AND key > ''}), 1, 'and this index has the entry');
logs('a log that is clustered in the same transaction', 'BEGIN; INSERT INTO t VALUES (2); CLUSTER uuid9562_changes.log USING log_pkey; COMMIT; VACUUM FULL uuid9562_changes.log; INSERT INTO t VALUES (3)', '2 3');
logs('a log whose index is created again', 'REINDEX TABLE CONCURRENTLY uuid9562_changes.log; INSERT INTO t VALUES (4); DROP INDEX uuid9562_changes.other', '4');
is(sql(q{SELECT change_type FROM changes_read('r', NULL::t); INSERT INTO t VALUES (5); SELECT changes_done('r', change_position) FROM changes_read('r', NULL::t)}), "reset\n", 'a reader of this log begins');
sql('UPDATE t SET v = 1', 'REINDEX TABLE CONCURRENTLY uuid9562_changes.log', 'REINDEX TABLE CONCURRENTLY uuid9562_changes.reader', 'REINDEX TABLE CONCURRENTLY uuid9562_changes.state');
is(sql(q{SELECT count(*) FROM changes_read('r', NULL::t)}), 5, 'and continues after REINDEX of all tables');
entries('t');

# --- roles ------------------------------------------------------------------------

fresh();
sql('ALTER TABLE t OWNER TO owner', 'REVOKE ALL ON SCHEMA uuid9562_changes FROM PUBLIC', 'GRANT INSERT, DELETE ON t TO clerk', 'GRANT SELECT, UPDATE (id, v) ON t TO clerk');
logs('a role that can only change the table', 'SET ROLE clerk; INSERT INTO t VALUES (1); UPDATE t SET v = 2; BEGIN; UPDATE t SET id = 2; DELETE FROM t; COMMIT', '1 1 1 2');
sql('GRANT USAGE ON SCHEMA uuid9562_changes TO PUBLIC');
for my $when ('BEFORE INSERT ON t FOR EACH ROW', 'AFTER INSERT ON t FOR EACH STATEMENT', 'BEFORE TRUNCATE ON t')
{
	like(refusal("BEGIN; CREATE TRIGGER wrong $when EXECUTE FUNCTION uuid9562_changes.log_trigger(); INSERT INTO t VALUES (1); TRUNCATE t; ROLLBACK"),
		qr/ERROR:  39P01: function "log_trigger" must be fired AFTER ROW or AFTER TRUNCATE\n/, "a trigger $when is refused");
}

# --- the extension ----------------------------------------------------------------

fresh();
like(refusal('CREATE SCHEMA other; ALTER EXTENSION uuid9562_changes SET SCHEMA other'), qr/ERROR:  0A000: extension "uuid9562_changes" does not support SET SCHEMA\n/, 'the extension cannot be moved to another schema');
my $session = session();
in($session, 'INSERT INTO t VALUES (1)');
sql('DROP EXTENSION uuid9562_changes CASCADE');
in($session, 'INSERT INTO t VALUES (5)');
sql('CREATE EXTENSION uuid9562_changes', q{SELECT changes_track('t')});
delete $last{t};
in($session, 'INSERT INTO t VALUES (6)');
is(entries('t'), '6', 'the extension is dropped and created again');
sql(q{BEGIN; INSERT INTO t VALUES (7); DROP EXTENSION uuid9562 CASCADE; COMMIT; CREATE EXTENSION uuid9562_changes CASCADE; SELECT changes_track('t')});
leave($session);
sql('DROP TABLE t');

# --- partitions -------------------------------------------------------------------

sql(q{CREATE TABLE p (id int, v int, PRIMARY KEY (id)) PARTITION BY RANGE (id);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
	CREATE TABLE p2 (v int, dropped int, id int NOT NULL); ALTER TABLE p2 DROP dropped; ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (100) TO (200);
	CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (200) TO (300) PARTITION BY RANGE (id);
	CREATE TABLE p31 PARTITION OF p3 FOR VALUES FROM (200) TO (250);
	SELECT changes_track('p')});
logs('partitions', 'INSERT INTO p VALUES (1), (101), (201); UPDATE p SET v = 1; DELETE FROM p WHERE id = 101', '1 101 201 1 101 201 101', 'p');
logs('row movement', 'UPDATE p SET id = id + 100 WHERE id = 1', '1 101', 'p');
logs('writes to leaves', 'INSERT INTO p2 (id) VALUES (102); UPDATE p31 SET v = 2; DELETE FROM p2 WHERE id = 101; INSERT INTO p3 VALUES (202)', '102 201 101 202', 'p');
logs('a new partition', 'CREATE TABLE p4 PARTITION OF p FOR VALUES FROM (300) TO (400); INSERT INTO p VALUES (301); INSERT INTO p4 VALUES (302)', '301 302', 'p');
logs('an attached partition', 'CREATE TABLE p5 (v int, id int NOT NULL, x int); ALTER TABLE p5 DROP x; ALTER TABLE p ATTACH PARTITION p5 FOR VALUES FROM (400) TO (500); INSERT INTO p5 VALUES (0, 401)', '401', 'p');
$session = session();
in($session, 'INSERT INTO p5 (id) VALUES (402)');
sql('ALTER TABLE p DETACH PARTITION p5');
in($session, 'INSERT INTO p5 (id) VALUES (403)');
is(entries('p'), '402', 'a detached partition is not logged');
sql('ALTER TABLE p ATTACH PARTITION p5 FOR VALUES FROM (400) TO (500)');
in($session, 'UPDATE p5 SET v = 7 WHERE id = 403');
is(entries('p'), '403', 'a partition that is attached again is logged');
sql('ALTER TABLE p DETACH PARTITION p5 CONCURRENTLY');
in($session, 'UPDATE p5 SET v = 8');
is(entries('p'), '', 'a partition that is detached concurrently is not logged');
sql('CREATE TABLE tree (id int PRIMARY KEY, v int) PARTITION BY RANGE (id); CREATE TABLE tree1 PARTITION OF tree FOR VALUES FROM (500) TO (600)', q{SELECT changes_track('tree')});
in($session, 'INSERT INTO tree1 VALUES (500)');
sql('ALTER TABLE p ATTACH PARTITION tree FOR VALUES FROM (500) TO (600)');
in($session, 'BEGIN', 'INSERT INTO tree1 VALUES (501)', 'INSERT INTO p VALUES (502)', 'COMMIT', 'TRUNCATE tree1');
is(entries('tree'), '500 501 502 all', 'a tracked table that is attached to a tracked table is logged');
is(entries('p'), '501 502 all', 'and it is logged in the log of the other table too');
sql('ALTER TABLE p DETACH PARTITION tree');
in($session, 'INSERT INTO tree VALUES (503)');
is(entries('tree') . entries('p'), '503', 'when it is detached, only in its own log');
sql('ALTER TABLE p ATTACH PARTITION tree FOR VALUES FROM (500) TO (600)', q{SELECT changes_untrack('p')});
in($session, 'INSERT INTO p VALUES (504)', 'TRUNCATE tree');
is(entries('tree'), '504 all', 'the attached table is logged when the other one is no longer tracked');
leave($session);
is(sql(q{SELECT string_agg(tgrelid::regclass || ' ' || tgname, ', ') FROM pg_trigger WHERE tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgrelid IN ('p'::regclass, 'p1'::regclass, 'p31'::regclass, 'p5'::regclass)}), '', 'no trigger is left, not even on a detached partition');
sql('DROP TABLE p, p5');

# --- keys -------------------------------------------------------------------------

# One page for each entry
sql(q{CREATE FUNCTION keys_of_k(expression text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		keys text;
		page record;
	BEGIN
		LOOP
			EXECUTE format('SELECT string_agg(CASE change_type WHEN ''reset'' THEN ''all'' ELSE (SELECT (%s)::text FROM (SELECT (data).*) AS k) END, '' '') AS keys, max(change_position) AS place FROM changes_read(''k'', NULL::k, 1)', expression) INTO page;
			EXIT WHEN page.place IS NULL;
			keys := concat_ws(' ', keys, page.keys);
			PERFORM changes_done('k', page.place);
		END LOOP;
		RETURN keys;
	END$$});
sub keys_of
{
	my ($name, $columns, $statements, $expected, $key) = @_;

	sql('DROP TABLE IF EXISTS k', "CREATE TABLE k ($columns)", q{SELECT changes_track('k'); SELECT changes_done('k') FROM changes_read('k', NULL::k)});
	my ($status, $out, $err) = $node->psql('postgres', $statements, on_error_stop => 0);
	is($err, '', "$name: no error");
	# the first call can be told that the row type has changed
	my $call = 'SELECT keys_of_k($$' . ($key // 'id') . '$$)';
	is(($node->psql('postgres', "$call; $call", on_error_stop => 0))[1] =~ s/^\n|\n$//gr, $expected, "$name: keys");
}
sql(q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE DOMAIN code AS text NOT NULL CHECK (VALUE <> ''); CREATE DOMAIN strict_code AS code CHECK (length(VALUE) < 5); CREATE TYPE pair AS (a int, b text);
	CREATE DOMAIN pair_domain AS pair CHECK ((VALUE).a > 0)});
keys_of('a composite key, in the order of the key', 'b text, v int, a int, PRIMARY KEY (a, b)', q{INSERT INTO k VALUES ('x', 1, 2); BEGIN; UPDATE k SET b = 'y'; UPDATE k SET v = 2; COMMIT}, '2x 2x 2y', 'a || b');
keys_of('a key without regard to case', 'id text COLLATE nocase PRIMARY KEY', q{INSERT INTO k VALUES ('a'); BEGIN; UPDATE k SET id = 'A'; UPDATE k SET id = 'A'; COMMIT; DELETE FROM k WHERE id = 'a'}, 'a a A A');
keys_of('a floating-point key', 'id float8 PRIMARY KEY', q{INSERT INTO k VALUES ('NaN'), (0); UPDATE k SET id = '-0' WHERE id = 0; DELETE FROM k}, 'NaN 0 0 -0 NaN -0');
keys_of('a key that is compressed or stored out of line', 'id text PRIMARY KEY, v text', q{ALTER TABLE k ALTER v SET STORAGE external; INSERT INTO k VALUES (repeat('x', 8000), repeat('y', 9000)), ('z' || (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 80) AS n), '');
	BEGIN; UPDATE k SET v = ''; UPDATE k SET id = id || 'a'; DELETE FROM k; COMMIT; VACUUM k}, '8000x 2561z 8000x 2561z 8001x 2562z', 'length(id) || left(id, 1)');
keys_of('a domain that is NOT NULL', 'id strict_code PRIMARY KEY', q{INSERT INTO k VALUES ('a'); DELETE FROM k; TRUNCATE k}, 'a a all');
keys_of('a composite type', 'id pair PRIMARY KEY', q{INSERT INTO k VALUES ((1, 'a')), ((1, NULL)); UPDATE k SET id.b = 'b' WHERE (id).b IS NULL; INSERT INTO k VALUES ((2, repeat('x', 5000)))}, '(1,a) (1,) (1,) (1,b) (2,xxx', q{left(id::text, 6)});
keys_of('a domain over a composite type', 'id pair_domain PRIMARY KEY', q{INSERT INTO k VALUES ((1, 'a')); DELETE FROM k}, '(1,a) (1,a)');
keys_of('a generated key', 'a int, id int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY', 'INSERT INTO k VALUES (1); UPDATE k SET a = 2', '2 2 4');
like(refusal(q{CREATE TABLE lacks (id int NOT NULL) PARTITION BY RANGE (id); CREATE TABLE lacks_1 PARTITION OF lacks FOR VALUES FROM (0) TO (9); ALTER TABLE ONLY lacks ADD PRIMARY KEY (id); SELECT changes_track('lacks')}),
	qr/42809: cannot track table public\.lacks: its primary key is missing in a partition\n/, 'a key that a partition lacks is refused');
like(refusal(q{CREATE TABLE temporal (id int4range, during daterange, PRIMARY KEY (id, during WITHOUT OVERLAPS)); SELECT changes_track('temporal')}), qr/42809: cannot track table public\.temporal: its primary key has WITHOUT OVERLAPS\n/,
	'a temporal key is refused') if $version >= 180000;

# --- waiting ----------------------------------------------------------------------

fresh();
sql(q{CREATE TABLE u (id int PRIMARY KEY, v int); SELECT changes_track('u')});
my ($one, $two) = (session(), session());
in($one, 'BEGIN', 'INSERT INTO t VALUES (1)', 'INSERT INTO u VALUES (1)');
in($two, 'BEGIN', 'INSERT INTO u VALUES (2)', 'INSERT INTO t VALUES (2)');
in($one, 'COMMIT');
in($two, 'COMMIT');
is(entries('t') . ', ' . entries('u'), '1 2, 1 2', 'two transactions write two logs in different orders');
in($one, 'BEGIN', 'LOCK TABLE uuid9562_changes.log');
like(refused_in($two, q{SET statement_timeout = '100ms'; INSERT INTO t VALUES (3)}), qr/canceling statement due to statement timeout/, 'a lock on the log makes the statement wait');
in($one, 'COMMIT');
in($two, 'RESET statement_timeout', 'BEGIN', 'INSERT INTO t VALUES (3)');
in($one, q{SET lock_timeout = '100ms'}, 'BEGIN');
like(refused_in($one, 'LOCK TABLE uuid9562_changes.log'), qr/lock timeout/, 'a transaction with changes holds a lock on the log');
in($one, 'ROLLBACK', 'RESET lock_timeout');
in($two, 'COMMIT');
is(entries('t'), '3', 'COMMIT does not wait');
in($two, 'BEGIN', 'SAVEPOINT a', 'INSERT INTO t VALUES (4)', 'ROLLBACK TO a');
in($one, q{SET lock_timeout = '100ms'}, 'BEGIN');
like(refused_in($one, 'LOCK TABLE uuid9562_changes.log'), qr/lock timeout/, 'so does a transaction that has rolled back its changes');
in($one, 'ROLLBACK', 'RESET lock_timeout');
in($two, 'INSERT INTO t VALUES (5)', 'COMMIT');
is(entries('t'), '5', 'and it writes its later changes');
# An index whose comparison cancels the statement stops a transaction in the middle of its COMMIT.
fresh();
sql(q{CREATE FUNCTION canceling_cmp(oid, oid) RETURNS int LANGUAGE plpgsql AS $$BEGIN
		IF current_setting('changes.cancel', true) = 'on' THEN PERFORM pg_cancel_backend(pg_backend_pid()); END IF; RETURN btoidcmp($1, $2); END$$;
	CREATE OPERATOR CLASS canceling FOR TYPE oid USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 canceling_cmp(oid, oid);
	CREATE INDEX canceling ON uuid9562_changes.log (source canceling)});
in($two, q{SET changes.cancel = 'on'}, 'BEGIN', 'INSERT INTO t SELECT generate_series(1, 200)');
like(refused_in($two, 'COMMIT'), qr/canceling statement due to user request/, 'a COMMIT that writes a log can be canceled');
is(sql('SELECT count(*) FROM t') . entries('t'), 0, 'the canceled transaction has left nothing');
in($two, 'RESET changes.cancel', 'BEGIN', 'INSERT INTO t SELECT generate_series(1, 3)', 'COMMIT');
is(entries('t'), '1 2 3', 'the same transaction is committed afterwards');

# An error while the entries of a callback's changes are written is caught, and other logs are written.
# An assertion of PostgreSQL refuses to roll back a subtransaction during COMMIT.
if (sql('SHOW debug_assertions') eq 'off')
{
	in($two, 'BEGIN', q{SET LOCAL late.statement = 'DO $$BEGIN
			BEGIN PERFORM set_config(''changes.cancel'', ''on'', true); INSERT INTO t VALUES (9), (11), (12); EXCEPTION WHEN query_canceled THEN NULL; END;
			INSERT INTO u VALUES (9); INSERT INTO t VALUES (10); END$$'}, 'COMMIT');
	is(entries('t'), '10', 'an error of a callback is caught');
	is(entries('u'), '9', 'and other logs are written');
}
leave($one, $two);
sql('DROP INDEX uuid9562_changes.canceling');

# --- callbacks of other extensions ------------------------------------------------

fresh();
logs('a callback that writes after the log was written', q{BEGIN; SET LOCAL late.statement = 'INSERT INTO t VALUES (2), (3); UPDATE t SET v = 1 WHERE id = 1'; INSERT INTO t VALUES (1), (4); COMMIT}, '1 4 2 3 1');
logs('a callback with the only changes', q{BEGIN; SET LOCAL late.statement = 'DELETE FROM t WHERE id < 3'; COMMIT}, '1 2');
logs('a callback before PREPARE TRANSACTION', q{BEGIN; SET LOCAL late.statement = 'DELETE FROM t'; UPDATE t SET v = 2 WHERE id = 3; PREPARE TRANSACTION 'late'; RESET late.statement; COMMIT PREPARED 'late'}, '3 4 3');

# --- memory and disk --------------------------------------------------------------

sub memory { my ($pid, $what) = @_; return slurp_file("/proc/$pid/status") =~ /^$what:\s+(\d+) kB/m ? $1 : die "no $what" }

# Return the greatest memory of a session that inserts rows, and the entries' number.
sub memory_of
{
	my ($table, $rows) = @_;
	my $session = session();
	my $pid = in($session, 'SELECT pg_backend_pid()');
	in($session, q{SET work_mem = '1MB'}, 'BEGIN', "INSERT INTO $table SELECT generate_series(1, $rows)", 'COMMIT');
	my $memory = memory($pid, 'VmHWM');
	leave($session);
	return $memory;
}
my $rows = $ENV{CHANGES_ROWS} || 500_000;
sql('CREATE TABLE bare (id int PRIMARY KEY); CREATE TRIGGER nothing AFTER INSERT ON bare FOR EACH ROW EXECUTE FUNCTION nothing()');
fresh();
my ($bare, $tracked) = (memory_of('bare', $rows), memory_of('t (id)', $rows));
note("$rows rows: $bare kB with an empty trigger, $tracked kB with the log");
cmp_ok($tracked - $bare, '<', 30_000, 'the log needs little memory');
is(sql(q{SELECT count(*), count(DISTINCT key) FROM uuid9562_changes.log WHERE source = 't'::regclass}), "$rows|$rows", 'and each key is logged');
fresh();

# In the state "full pgsql_tmp", temporary files cannot be written.
my $big = 'INSERT INTO t SELECT generate_series(1, 20000)';
my ($out, $err) = $world->session('full pgsql_tmp', qq{SET work_mem = '64kB'; BEGIN; $big; COMMIT});
like($err, qr/ERROR:  53100: could not write to file "[^"]*pgsql_tmp[^"]*": No space left on device\n/, 'a full disk makes the statement fail');
is(entries('t') . sql('SELECT count(*) FROM t'), '0', 'nothing is committed');
($out, $err) = $world->session('full pgsql_tmp', qq{SET work_mem = '64kB'; BEGIN; INSERT INTO t VALUES (30000); SAVEPOINT a; $big; ROLLBACK TO a},
	'normal', q{INSERT INTO t VALUES (30001); COMMIT});
like($err, qr/ERROR:  58030: could not write all changed keys to a temporary file earlier in this transaction\n/, 'a transaction that continues after a full disk cannot commit');
is(entries('t') . sql('SELECT count(*) FROM t'), '0', 'and nothing of it is committed');
($out, $err) = $world->session('normal', qq{SET work_mem = '64kB'; SET temp_file_limit = '100kB'; BEGIN; INSERT INTO t VALUES (30000); SAVEPOINT a; $big; ROLLBACK TO a; COMMIT});
like($err, qr/53400: temporary file size exceeds/, 'temp_file_limit is respected');
# without a dirty block of the log, the COMMIT first extends the file
my $file = sql('CHECKPOINT', q{SELECT pg_relation_filepath('uuid9562_changes.log')});
($out, $err) = $world->session('normal', qq{BEGIN; $big}, "full $file", 'COMMIT', 'normal', 'SELECT count(*) FROM t');
like($err, qr/ERROR:  53100: could not extend file "[^"]*$file"/, 'a full disk makes the COMMIT fail');
is($out, '0', 'and the session continues');
is(entries('t') . sql('SELECT count(*) FROM t'), '0', 'nothing is committed');
sql("SET work_mem = '64kB'; BEGIN; $big; DELETE FROM t WHERE id > 2; COMMIT");
like(entries('t'), qr/^1 2 .* 20000$/, 'the same changes are committed afterwards');
sql('DELETE FROM t');
mkdir "$dir/space";
sql("CREATE TABLESPACE space LOCATION '$dir/space'");
sql(qq{SET temp_tablespaces = space; SET work_mem = '64kB'; SET log_temp_files = 0; BEGIN; $big; COMMIT});
like(slurp_file($node->logfile), qr/temporary file: path "pg_tblspc\/\d+\//, 'temp_tablespaces is respected');
sql('TRUNCATE t');
entries('t');
logs('a log in another tablespace', 'ALTER TABLE uuid9562_changes.log SET TABLESPACE space; INSERT INTO t VALUES (1); ALTER TABLE uuid9562_changes.log SET TABLESPACE pg_default', '1');

# --- a subscriber with the extension, of all tables ---------------------------------

sql($_) foreach 'CREATE DATABASE here', 'CREATE DATABASE there', 'CREATE ROLE subscriber LOGIN SUPERUSER';
sub here { return $node->safe_psql('here', join ';', @_) }
sub there { return $node->safe_psql('there', join ';', @_) }
my $read = q{SELECT concat_ws(' ', change_type, data) FROM changes_read('r', NULL::s); SELECT changes_done('r', max(change_position)) FROM changes_read('r', NULL::s)};
here(q{CREATE EXTENSION uuid9562_changes CASCADE; CREATE TABLE s (id int PRIMARY KEY, v text); INSERT INTO s VALUES (1, ''), (2, ''); SELECT changes_track('s')}, $read,
	q{UPDATE s SET v = 'a' WHERE id = 1}, $read, 'UPDATE s SET id = id', q{SELECT change_type FROM changes_read('r', NULL::s)}, 'CREATE PUBLICATION pub FOR ALL TABLES', q{SELECT pg_create_logical_replication_slot('sub', 'pgoutput', false, true)});
there(q{CREATE EXTENSION uuid9562_changes CASCADE; CREATE FUNCTION key_of(key bytea) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT get_byte(key, 8) + 256 * get_byte(key, 9)';
	CREATE TABLE s (id int PRIMARY KEY, v text); ALTER TABLE s OWNER TO lesser; GRANT CREATE ON SCHEMA public TO lesser; SET ROLE lesser; SELECT changes_track('s')});
my $streaming = $version < 160000 ? 'on' : 'parallel';
my $connection = $node->connstr('here') =~ s/'/''/gr;
there("SET ROLE subscriber; CREATE SUBSCRIPTION sub CONNECTION '$connection' PUBLICATION pub WITH (create_slot = false, slot_name = sub, streaming = $streaming, two_phase = true)");
my $offset = -s $node->logfile;
# all that the tables of the extension have in the subscriber
my $after = '00000000-0000-0000-0000-000000000000';
sub is_logged_there
{
	my ($expected, $name) = @_;
	my $logged = qq{SELECT string_agg(CASE WHEN source = 's'::regclass THEN coalesce(key_of(key)::text, 'all') ELSE 'other table' END, ' ' ORDER BY id) FROM uuid9562_changes.log WHERE id > '$after'};

	$node->poll_query_until('there', $logged, $expected) or diag(slurp_file($node->logfile));
	is(there($logged), $expected, $name);
	is(there('SELECT (SELECT count(*) FROM uuid9562_changes.state) + (SELECT count(*) FROM uuid9562_changes.purged) + (SELECT count(*) FROM uuid9562_changes.reader)'), 0, "$name: nothing of the publisher's readers");
	$after = there('SELECT max(id::text) FROM uuid9562_changes.log');
	return;
}
is_logged_there('2 1', 'a subscriber logs the initial copy');
$node->poll_query_until('there', q{SELECT subtwophasestate FROM pg_subscription}, 'e') or die 'two_phase is not enabled';
$node->poll_query_until('there', q{SELECT count(*) = 5 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel}) or die 'the tables of the extension are not copied';
here(q{INSERT INTO s VALUES (3, 'a'); UPDATE s SET id = 4 WHERE id = 3; DELETE FROM s WHERE id = 1; BEGIN; UPDATE s SET v = 'b' WHERE id = 2; PREPARE TRANSACTION 'sub'});
$node->poll_query_until('there', q{SELECT count(*) = 1 FROM pg_prepared_xacts WHERE database = 'there'}) or diag(slurp_file($node->logfile));
here(q{COMMIT PREPARED 'sub'}, $read, q{SELECT changes_purge('s', '-1 min')}, q{SELECT changes_reset('s')}, $read, q{SELECT changes_read('other', NULL::s); SELECT changes_forget('other', 's')}, 'TRUNCATE s');
is_logged_there('3 3 4 1 2 all', 'a subscriber logs each command, two-phase commit and TRUNCATE');
here(q{BEGIN; INSERT INTO s SELECT n, repeat('x', 100) FROM generate_series(1, 5000) AS n; SAVEPOINT a; DELETE FROM s; ROLLBACK TO a; UPDATE s SET v = '' WHERE id <= 10; COMMIT});
is_logged_there(join(' ', 11 .. 5000, 1 .. 10), 'a subscriber logs a streamed transaction');
ok($node->poll_query_until('postgres', q{SELECT stream_txns > 0 FROM pg_stat_replication_slots WHERE slot_name = 'sub'}), 'the transaction was streamed');
is(there("SET ROLE lesser; $read"), "reset\n", 'a reader of the subscriber begins');
here($read, 'DELETE FROM s WHERE id <> 7', $read, q{SELECT changes_purge('s', '-1 min')}, q{UPDATE s SET v = 'last'});
$node->poll_query_until('there', q{SELECT v = 'last' FROM s WHERE id = 7}) or diag(slurp_file($node->logfile));
is(there(q{SELECT change_type, count(*) FROM changes_read('r', NULL::s, 10000) GROUP BY 1 ORDER BY 1}), "delete|4999\nupsert|1", 'and gets the changes of the publisher');
is(there('SELECT count(*) FROM uuid9562_changes.reader'), 1, 'the subscriber has its own reader only');
unlike(slurp_file($node->logfile, $offset), qr/conflict detected|did not find row|duplicate key/, 'no conflict is reported');
my $position = here(q{SELECT max(change_position) FROM changes_read('r', NULL::s)});
like(($node->psql('there', "\\set VERBOSITY verbose\nSELECT changes_done('r', '$position')"))[2], qr/22023: position is that of a page of another database\n/, 'a position of the publisher is refused');
there('ALTER SUBSCRIPTION sub DISABLE; ALTER SUBSCRIPTION sub SET (slot_name = NONE); DROP SUBSCRIPTION sub');
here(q{SELECT pg_drop_replication_slot('sub') FROM pg_replication_slots WHERE NOT active});

# --- event triggers ---------------------------------------------------------------

sql(q{CREATE FUNCTION any_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN PERFORM count(*) FROM pg_event_trigger_ddl_commands(); END$$;
	CREATE EVENT TRIGGER any_ddl ON ddl_command_end EXECUTE FUNCTION any_ddl()},
	q{CREATE TABLE e (id int PRIMARY KEY); SELECT changes_track('e'); INSERT INTO e VALUES (1); ALTER TABLE e ADD v int; SELECT changes_track('e', '{insert}'); SELECT changes_untrack('e')}, 'DROP EVENT TRIGGER any_ddl');
is(sql(q{SELECT count(*) FROM pg_trigger WHERE tgrelid = 'e'::regclass}), 0, 'event triggers do not disturb');

# --- load -------------------------------------------------------------------------

# A second trigger records each change: the transaction, the key, and an ID that is generated at the
# change.  The transaction must have exactly one entry for the key, and it must be later.
sql(q{CREATE TABLE load (id int PRIMARY KEY, v int); SELECT changes_track('load'); CREATE TABLE audit (xid xid, id int, made uuid);
	CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF TG_OP <> 'INSERT' THEN INSERT INTO audit VALUES (pg_current_xact_id()::xid, OLD.id, uuidv7_ordered()); END IF;
		IF TG_OP <> 'DELETE' THEN INSERT INTO audit VALUES (pg_current_xact_id()::xid, NEW.id, uuidv7_ordered()); END IF;
		RETURN NULL;
	END$$;
	CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON load FOR EACH ROW EXECUTE FUNCTION audit();
	INSERT INTO load SELECT generate_series(1, 20); TRUNCATE audit});
my $start = sql('SELECT max(id::text) FROM uuid9562_changes.log');
sql(qq{CREATE VIEW load_log AS SELECT xmin, id AS change_id, key_of(key) AS id FROM uuid9562_changes.log WHERE source = 'load'::regclass AND id > '$start'});
my $workload = q{
	\set a random(1, 20)
	\set b random(1, 40)
	\set c random(1, 40)
	\set what random(1, 6)
	BEGIN;
	SELECT FROM load WHERE id IN (:a, :b, :c) ORDER BY id FOR UPDATE;
	INSERT INTO load VALUES (:a, 0) ON CONFLICT (id) DO UPDATE SET v = 1;
	SAVEPOINT s;
	DELETE FROM load WHERE id = :b;
	\if :what < 3
	ROLLBACK TO s;
	\endif
	UPDATE load SET v = :c WHERE id = :c;
	SAVEPOINT r;
	UPDATE load SET v = v + 1 WHERE id = :a;
	RELEASE s;
	\if :what = 6
	ROLLBACK;
	\else
	COMMIT;
	\endif
};
run_pgbench($workload, 6, 200, sub { select undef, undef, undef, 0.1 }, '--max-tries=100', $node->connstr('postgres'));
is(sql('SELECT count(*) > 0 FROM audit'), 't', 'the load changes rows');
is(sql('SELECT count(*) FROM audit AS a WHERE NOT EXISTS (SELECT FROM load_log AS l WHERE l.xmin = a.xid AND l.id = a.id AND l.change_id > a.made)'), 0, 'each change has a later entry of its transaction');
is(sql('SELECT count(*) FROM load_log AS l WHERE NOT EXISTS (SELECT FROM audit AS a WHERE l.xmin = a.xid AND l.id = a.id)'), 0, 'each entry has a change');
is(sql('SELECT count(*) FROM (SELECT FROM load_log AS l GROUP BY xmin, id HAVING count(*) > 1) AS a'), 0, 'each transaction has one entry for a key');
is(sql('SELECT count(*) FROM audit AS a JOIN load_log AS l ON l.id = a.id AND l.xmin <> a.xid AND l.change_id > a.made AND l.change_id < (SELECT max(o.change_id::text)::uuid FROM load_log AS o WHERE o.xmin = a.xid AND o.id = a.id)'), 0,
	'no other transaction has an entry between a change and its entry');

# Track again while writers write.
my $round = 0;
run_pgbench($workload, 4, 300, sub {
		my @again = (q{SELECT changes_untrack('load'); SELECT changes_track('load')}, q{SELECT changes_track('load', '{insert}'); SELECT changes_track('load', '{insert,update,delete}')}, q{SELECT changes_track('load')}, q{SELECT changes_reset('load')});
		$node->psql('postgres', $again[ $round++ % @again ]);
	}, '--max-tries=100', $node->connstr('postgres'));
cmp_ok($round, '>', 3, 'tables are tracked again while writers write');
$last{load} = sql('SELECT max(id::text) FROM uuid9562_changes.log');
logs('the last triggers', 'INSERT INTO load VALUES (50, 0); UPDATE load SET v = 1 WHERE id = 50', '50 50', 'load');

is(scalar(() = slurp_file($node->logfile) =~ /WARNING:  (?!publication|there is (?:no|already)|using index "pg_toast)/g), 0, 'the server has written no warnings');
$node->stop;
unlike(slurp_file($node->logfile), qr{PANIC:|TRAP:|was terminated by signal|still referenced|leak: }, 'no assertion failed and nothing leaked');

done_testing();
