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
my $conf = "shared_preload_libraries = '$dir/late.so, uuid9562'\nmax_prepared_transactions = 10\nautovacuum = off\nwal_level = logical\n"
	. "max_connections = 50\nshared_buffers = 16MB\nlogical_decoding_work_mem = 64kB\nfsync = off\nlog_min_messages = warning\n";
my $world = World->new('log', $conf, allows_streaming => 'logical', extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
my $node = use_server($world->node);
sql('CREATE EXTENSION uuid9562_changes');
my $version = sql('SHOW server_version_num');
my %last;    # last entries that have been seen, by log

# Return the keys of the entries that a log has got since the last call, in order.
sub entries
{
	my ($log, $key) = @_;
	my $after = $last{$log} // '00000000-0000-0000-0000-000000000000';
	my $out = sql('SELECT string_agg(coalesce((' . ($key // 'id') . ")::text, 'all'), ' ' ORDER BY change_id) || '|' || max(change_id::text) FROM $log WHERE change_id > '$after'");

	return '' if $out eq '';
	my ($keys, $id) = $out =~ /^(.*)\|([0-9a-f-]{36})$/s;
	$last{$log} = $id;
	return $keys;
}

# Check that statements, which psql executes one by one, raise no error and write these entries.
sub logs
{
	my ($name, $statements, $expected, $log, $key) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $statements, on_error_stop => 0);

	is($err, '', "$name: no error");
	is(entries($log // 'changes.t', $key), $expected, "$name: entries");
}

sub fresh
{
	sql(q{DROP TABLE IF EXISTS t CASCADE; CREATE TABLE t (id int PRIMARY KEY, v int); DROP TABLE IF EXISTS changes.t; SELECT changes_track('t')});
	delete $last{'changes.t'};
}

sql(q{CREATE ROLE owner; CREATE ROLE clerk LOGIN; CREATE ROLE lesser; CREATE ROLE dumper LOGIN;
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
logs('two-phase commit', q{BEGIN; UPDATE t SET v = 1 WHERE id = 2; PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'; BEGIN; DELETE FROM t; PREPARE TRANSACTION 'q'; ROLLBACK PREPARED 'q'}, '2');
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
is(entries('changes.child'), '1', 'cascades: entry of the other table');
logs('cascading deletes', 'DELETE FROM t WHERE id = 21', '21');
is(entries('changes.child'), '1', 'cascading deletes: entry of the other table');
logs('TRUNCATE', 'TRUNCATE t, child', 'all');
is(entries('changes.child'), 'all', 'TRUNCATE: entry of the other table');
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
is(sql('SELECT count(*), count(DISTINCT id), bool_and(id IN (SELECT id FROM t)) FROM changes.t WHERE id > 1000'), 13334 . '|13334|t', 'many subtransactions, in memory of 64 kB');
entries('changes.t');
sql(q{SET work_mem = '64kB'; BEGIN; UPDATE t SET v = 1 WHERE id > 1000 AND id <= 3000; SAVEPOINT a; UPDATE t SET v = 1 WHERE id > 3000 AND id <= 6000; SAVEPOINT b;
	UPDATE t SET v = 1 WHERE id > 6000 AND id <= 9000; RELEASE b; SAVEPOINT c; DELETE FROM t WHERE id > 9000; ROLLBACK TO c; UPDATE t SET v = 2 WHERE id > 9000 AND id <= 12000; RELEASE a;
	SAVEPOINT d; DELETE FROM t WHERE id <= 3000; ROLLBACK TO d; SAVEPOINT e; SAVEPOINT f; DELETE FROM t WHERE id > 12000; RELEASE f; ROLLBACK TO e; UPDATE t SET v = 3 WHERE id = 1001; COMMIT});
my @ids = split / /, entries('changes.t');
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
	entries('changes.t');
	logs("changes and then $ddl", "BEGIN; INSERT INTO t VALUES (1, 1); UPDATE t SET v = 4 WHERE id = 3; $ddl; COMMIT", '1 3');
}
fresh();
logs('changes and then TRUNCATE', 'BEGIN; INSERT INTO t VALUES (1); TRUNCATE t; COMMIT', '1 all');
logs('changes and then DROP TABLE', 'BEGIN; INSERT INTO t VALUES (1); DROP TABLE t; COMMIT', '1');
fresh();
logs('changes and then changes_untrack()', q{BEGIN; INSERT INTO t VALUES (1); SELECT changes_untrack('t'); SELECT changes_track('t'); INSERT INTO t VALUES (2); COMMIT}, '2');

# --- the log ----------------------------------------------------------------------

fresh();
logs('a renamed log', 'ALTER TABLE changes.t RENAME TO renamed; INSERT INTO t VALUES (1)', '1', 'changes.renamed');
logs('a moved log', 'CREATE SCHEMA moved; ALTER TABLE changes.renamed SET SCHEMA moved; SET search_path = moved, public; INSERT INTO t VALUES (2)', '1 2', 'moved.renamed');
logs('a log with further indexes', 'SET search_path = moved, public; CREATE INDEX i ON renamed (id, change_id); SET enable_seqscan = off; INSERT INTO t VALUES (3); SELECT count(*) FROM renamed WHERE id = 3 \gset
	SELECT 1 / :count', '3', 'moved.renamed');
logs('a log that the transaction moves and clusters', 'SET search_path = moved, public; BEGIN; INSERT INTO t VALUES (4); ALTER TABLE renamed RENAME TO t2; CLUSTER t2 USING i; ALTER TABLE t2 RENAME TO renamed; COMMIT', '4', 'moved.renamed');
logs('a log with a further column', 'SET search_path = moved, public; ALTER TABLE renamed ADD x int; INSERT INTO t VALUES (5); UPDATE t SET v = 1', 'all all', 'moved.renamed');
fresh();
logs('a log that gets a column after a change', 'BEGIN; INSERT INTO t VALUES (1), (2); ALTER TABLE changes.t ADD x int; COMMIT', 'all');
fresh();
logs('a log that is dropped after a change', 'BEGIN; INSERT INTO t VALUES (1); DROP TABLE changes.t; CREATE TABLE changes.t (change_id uuid PRIMARY KEY, id int); COMMIT; INSERT INTO t VALUES (2)', '');
fresh();
logs('a log that a savepoint dropped', 'BEGIN; INSERT INTO t VALUES (1); SAVEPOINT a; DROP TABLE changes.t; INSERT INTO t VALUES (2); ROLLBACK TO a; INSERT INTO t VALUES (3); COMMIT', '1 3');

# A log that cannot be written without executing code of its owner gets nothing.
for my $change ('ALTER TABLE changes.t ADD CHECK (evil(id))', 'CREATE INDEX ON changes.t ((evil(id)))', 'CREATE INDEX ON changes.t (id) WHERE evil(id)',
	'CREATE TABLE logs (change_id uuid NOT NULL, id int) PARTITION BY RANGE (change_id); ALTER TABLE logs ATTACH PARTITION changes.t DEFAULT', 'DROP TABLE changes.t; CREATE VIEW changes.t AS SELECT NULL::uuid AS change_id, NULL::int AS id WHERE false')
{
	fresh();
	sql('CREATE TABLE IF NOT EXISTS executed (role name)',
		'CREATE OR REPLACE FUNCTION evil(id int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$BEGIN INSERT INTO public.executed VALUES (current_user); RETURN true; END$$',
		'ALTER TABLE changes.t OWNER TO lesser', $change, 'TRUNCATE executed', 'BEGIN', 'INSERT INTO t VALUES (1)', 'UPDATE t SET v = 1', 'COMMIT');
	is(sql('SELECT (SELECT count(*) FROM changes.t) + (SELECT count(*) FROM executed)'), 0, "$change: nothing is written or executed");
	is(sql(q{SELECT problem FROM changes_tables WHERE source = 't'::regclass}), 'the log has been dropped or altered', "$change: the problem is shown");
	sql(q{DROP VIEW changes.t}) if $change =~ /VIEW/;
}

# Triggers, rules and policies of the log are not executed.
fresh();
sql('CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN INSERT INTO public.executed VALUES (current_user); RETURN NULL; END$$',
	'ALTER TABLE changes.t OWNER TO lesser',
	'CREATE TRIGGER a BEFORE INSERT OR DELETE ON changes.t FOR EACH ROW EXECUTE FUNCTION evil()', 'ALTER TABLE changes.t ENABLE ALWAYS TRIGGER a',
	'CREATE TRIGGER b AFTER INSERT OR DELETE ON changes.t FOR EACH STATEMENT EXECUTE FUNCTION evil()', 'ALTER TABLE changes.t ENABLE ALWAYS TRIGGER b',
	'CREATE RULE c AS ON INSERT TO changes.t DO INSTEAD INSERT INTO executed VALUES (current_user)',
	'CREATE RULE d AS ON DELETE TO changes.t DO INSTEAD INSERT INTO executed VALUES (current_user)',
	'ALTER TABLE changes.t ENABLE ROW LEVEL SECURITY', 'ALTER TABLE changes.t FORCE ROW LEVEL SECURITY', 'TRUNCATE executed');
logs('a log with triggers, rules and policies', 'INSERT INTO t VALUES (1); UPDATE t SET v = 1', '1 1');
is(sql(q{SELECT deleted FROM (SELECT max(change_id::text)::uuid AS id FROM changes.t WHERE change_id < (SELECT max(change_id::text)::uuid FROM changes.t)) AS last, changes_delete('changes.t', '00000000-0000-0000-0000-000000000000', id, 10)}), 1, 'entries up to an ID are deleted');
is(sql('SELECT (SELECT count(*) FROM changes.t), (SELECT count(*) FROM executed)'), '1|0', 'no trigger or rule of the log is executed');

# The owner deletes entries while they are purged.
fresh();
sql('INSERT INTO t VALUES (1), (2), (3)');
my ($owner, $purger) = (session(), session());
in($owner, 'BEGIN', 'DELETE FROM changes.t WHERE id = 2');
$purger->query_until(qr/begun/, qq{\\echo begun\nSELECT changes_purge('t', '-1 min');\n});
ok($node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'}), 'a purge waits for the owner of the log who deletes an entry');
in($owner, 'COMMIT');
is(in($purger, 'SELECT count(*) FROM changes.t'), "2\n0", 'and deletes the others');
# An index that did not wait for a writer would lack its entries.
in($owner, 'BEGIN', 'INSERT INTO t VALUES (4)');
like(refusal(q{SET lock_timeout = '100 ms'; CREATE INDEX ON changes.t (id)}), qr/ERROR:  55P03: /, 'CREATE INDEX on a log waits for writers');
in($owner, 'ROLLBACK');
leave($owner, $purger);

# --- roles ------------------------------------------------------------------------

fresh();
sql('ALTER TABLE t OWNER TO owner', 'ALTER TABLE changes.t OWNER TO owner', 'REVOKE ALL ON SCHEMA changes FROM PUBLIC', 'GRANT INSERT, DELETE ON t TO clerk', 'GRANT SELECT, UPDATE (id, v) ON t TO clerk');
logs('a role that can only change the table', 'SET ROLE clerk; INSERT INTO t VALUES (1); UPDATE t SET v = 2; BEGIN; UPDATE t SET id = 2; DELETE FROM t; COMMIT', '1 1 1 2');
like(refusal('SET ROLE clerk; SELECT * FROM changes.t'), qr/permission denied/, 'this role cannot read the log');
sql('CREATE TABLE victim (change_id uuid PRIMARY KEY, id int)', 'SET ROLE lesser', 'CREATE TABLE own (id int PRIMARY KEY)', q{SELECT changes_track('own', 'public', 'own_log')});
sql(q{GRANT TRIGGER, INSERT ON victim TO lesser; SET ROLE lesser;
	CREATE TRIGGER a AFTER INSERT ON victim FOR EACH ROW EXECUTE FUNCTION changes_log_trigger();
	CREATE CONSTRAINT TRIGGER b AFTER INSERT ON victim FROM own_log INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION changes_log_trigger();
	INSERT INTO victim VALUES (gen_random_uuid(), 1)});
is(sql('SELECT count(*) FROM own_log'), 0, 'a role with TRIGGER on a table cannot let it write to a log');
for my $when ('BEFORE INSERT ON t FOR EACH ROW', 'AFTER INSERT ON t FOR EACH STATEMENT', 'BEFORE TRUNCATE ON t')
{
	like(refusal("BEGIN; CREATE TRIGGER wrong $when EXECUTE FUNCTION changes_log_trigger(); INSERT INTO t VALUES (1); TRUNCATE t; ROLLBACK"),
		qr/ERROR:  39P01: function "changes_log_trigger" must be fired AFTER ROW or AFTER TRUNCATE\n/, "a trigger $when is refused");
}
sql('CREATE TABLE whole (id int PRIMARY KEY) PARTITION BY RANGE (id)');
like(refusal(q{SELECT changes_log_rows('whole')}), qr/ERROR:  42809: "whole" is not a table with rows of its own\n/, 'rows of a partitioned table are not logged');
is(sql(q{CREATE TABLE no_log (change_id uuid PRIMARY KEY, id int NOT NULL); INSERT INTO no_log VALUES (uuidv7_ordered(), 1); SELECT deleted FROM changes_delete('no_log', '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 10)}), 0, 'rows of a table that is no log are not deleted');
fresh();
sql('INSERT INTO t VALUES (6), (7)', 'CREATE INDEX backward ON changes.t (change_id DESC)', 'CLUSTER changes.t USING backward', 'DROP INDEX changes.backward');
{
	local $ENV{PGOPTIONS} = '-c ignore_system_indexes=on';
	is(sql(q{SELECT changes_purge('t', '-1 min', 1); SELECT count(*) FROM changes.t}), "2\n0", 'without indexes, a purge is not limited, since the entries are in no order');
}
sql('ALTER TABLE changes.t DROP CONSTRAINT t_pkey; INSERT INTO t VALUES (8), (9)');
is(sql(q{SELECT changes_purge('t', '-1 min', 1); SELECT count(*) FROM changes.t}), "2\n0", 'a log without its index is purged at once');
sql('GRANT USAGE ON SCHEMA changes TO PUBLIC', 'CREATE TABLE given (id int PRIMARY KEY)', q{SELECT changes_track('given')}, 'ALTER TABLE given OWNER TO owner');
like(refusal(q{SET ROLE owner; SELECT changes_track('given')}), qr/ERROR:  42501: must be owner of log changes\.given of table public\.given\n/, 'a new owner of the table needs the log');
is(sql(q{SELECT changes_track('given'); SET ROLE owner; SELECT changes_track('given')}), "changes.given\nchanges.given", 'a superuser who tracks it again gives the log to him');
sql('INSERT INTO given VALUES (1)');
is(entries('changes.given'), '1', 'and the log continues');

# --- the extension ----------------------------------------------------------------

fresh();
like(refusal('CREATE SCHEMA other; ALTER EXTENSION uuid9562_changes SET SCHEMA other'), qr/ERROR:  0A000: extension "uuid9562_changes" does not support SET SCHEMA\n/, 'the extension cannot be moved to another schema');
my $session = session();
in($session, 'INSERT INTO t VALUES (1)');
sql('DROP EXTENSION uuid9562_changes CASCADE');
in($session, 'INSERT INTO t VALUES (5)');
sql('CREATE EXTENSION uuid9562_changes', q{SELECT changes_track('t')});
delete $last{'changes.t'};
in($session, 'INSERT INTO t VALUES (6)');
is(entries('changes.t'), '6', 'the extension is dropped and created again');
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
logs('partitions', 'INSERT INTO p VALUES (1), (101), (201); UPDATE p SET v = 1; DELETE FROM p WHERE id = 101', '1 101 201 1 101 201 101', 'changes.p');
logs('row movement', 'UPDATE p SET id = id + 100 WHERE id = 1', '1 101', 'changes.p');
logs('writes to leaves', 'INSERT INTO p2 (id) VALUES (102); UPDATE p31 SET v = 2; DELETE FROM p2 WHERE id = 101; INSERT INTO p3 VALUES (202)', '102 201 101 202', 'changes.p');
logs('a new partition', 'CREATE TABLE p4 PARTITION OF p FOR VALUES FROM (300) TO (400); INSERT INTO p VALUES (301); INSERT INTO p4 VALUES (302)', '301 302', 'changes.p');
logs('an attached partition', 'CREATE TABLE p5 (v int, id int NOT NULL, x int); ALTER TABLE p5 DROP x; ALTER TABLE p ATTACH PARTITION p5 FOR VALUES FROM (400) TO (500); INSERT INTO p5 VALUES (0, 401)', '401', 'changes.p');
$session = session();
in($session, 'INSERT INTO p5 (id) VALUES (402)');
sql('ALTER TABLE p DETACH PARTITION p5');
in($session, 'INSERT INTO p5 (id) VALUES (403)');
is(entries('changes.p'), '402', 'a detached partition is not logged');
sql('ALTER TABLE p ATTACH PARTITION p5 FOR VALUES FROM (400) TO (500)');
in($session, 'UPDATE p5 SET v = 7 WHERE id = 403');
is(entries('changes.p'), '403', 'a partition that is attached again is logged');
sql('ALTER TABLE p DETACH PARTITION p5 CONCURRENTLY');
in($session, 'UPDATE p5 SET v = 8');
is(entries('changes.p'), '', 'a partition that is detached concurrently is not logged');
sql('CREATE TABLE tree (id int PRIMARY KEY, v int) PARTITION BY RANGE (id); CREATE TABLE tree1 PARTITION OF tree FOR VALUES FROM (500) TO (600)', q{SELECT changes_track('tree')});
in($session, 'INSERT INTO tree1 VALUES (500)');
sql('ALTER TABLE p ATTACH PARTITION tree FOR VALUES FROM (500) TO (600)');
in($session, 'BEGIN', 'INSERT INTO tree1 VALUES (501)', 'INSERT INTO p VALUES (502)', 'COMMIT', 'TRUNCATE tree1');
is(entries('changes.tree'), '500 501 502 all', 'a tracked table that is attached to a tracked table is logged');
is(entries('changes.p'), '501 502 all', 'and it is logged in the log of the other table too');
sql('ALTER TABLE p DETACH PARTITION tree');
in($session, 'INSERT INTO tree VALUES (503)');
is(entries('changes.tree') . entries('changes.p'), '503', 'when it is detached, only in its own log');
sql('ALTER TABLE p ATTACH PARTITION tree FOR VALUES FROM (500) TO (600)', q{SELECT changes_untrack('p')});
in($session, 'INSERT INTO p VALUES (504)', 'TRUNCATE tree');
is(entries('changes.tree'), '504 all', 'the attached table is logged when the other one is no longer tracked');
leave($session);
is(sql(q{SELECT string_agg(tgrelid::regclass || ' ' || tgname, ', ') FROM pg_trigger WHERE tgfoid = 'changes_log_trigger'::regproc AND tgrelid IN ('p'::regclass, 'p1'::regclass, 'p31'::regclass, 'p5'::regclass)}), '', 'no trigger is left, not even on a detached partition');
sql('DROP TABLE p, p5, changes.tree');

# --- keys -------------------------------------------------------------------------

sub keys_of
{
	my ($name, $columns, $statements, $expected, $key) = @_;

	sql('DROP TABLE IF EXISTS k, changes.k', "CREATE TABLE k ($columns)", q{SELECT changes_track('k')});
	delete $last{'changes.k'};
	logs($name, $statements, $expected, 'changes.k', $key);
}
sql(q{CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE DOMAIN code AS text NOT NULL CHECK (VALUE <> ''); CREATE DOMAIN strict_code AS code CHECK (length(VALUE) < 5); CREATE TYPE pair AS (a int, b text);
	CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN pair_domain AS pair CHECK ((VALUE).a > 0)});
keys_of('a composite key, in the order of the key', 'b text, v int, a int, PRIMARY KEY (a, b)', q{INSERT INTO k VALUES ('x', 1, 2); BEGIN; UPDATE k SET b = 'y'; UPDATE k SET v = 2; COMMIT}, '2x 2x 2y', 'a || b');
keys_of('a key without regard to case', 'id text COLLATE nocase PRIMARY KEY', q{INSERT INTO k VALUES ('a'); BEGIN; UPDATE k SET id = 'A'; UPDATE k SET id = 'A'; COMMIT; DELETE FROM k WHERE id = 'a'}, 'a a A A');
keys_of('a numeric key', 'id numeric PRIMARY KEY', q{INSERT INTO k VALUES (1.0); UPDATE k SET id = 1.00; INSERT INTO k VALUES ('NaN'), (-5), ('infinity'); DELETE FROM k WHERE id = 1}, '1.0 1.0 1.00 NaN -5 Infinity 1.00');
keys_of('a floating-point key', 'id float8 PRIMARY KEY', q{INSERT INTO k VALUES ('NaN'), (0); UPDATE k SET id = '-0' WHERE id = 0; DELETE FROM k}, 'NaN 0 0 -0 NaN -0');
keys_of('a key that is compressed or stored out of line', 'id text PRIMARY KEY, v text', q{ALTER TABLE k ALTER v SET STORAGE external; INSERT INTO k VALUES (repeat('x', 8000), repeat('y', 9000)), (repeat('z', 2600), '');
	BEGIN; UPDATE k SET v = ''; UPDATE k SET id = id || 'a'; DELETE FROM k; COMMIT}, '8000x 2600z 8000x 2600z 8001x 2601z', 'length(id) || left(id, 1)');
sql(q{CREATE TABLE k2 (id text PRIMARY KEY, v text); ALTER TABLE k2 ALTER id SET STORAGE external});
keys_of('a domain that is NOT NULL', 'id strict_code PRIMARY KEY', q{INSERT INTO k VALUES ('a'); DELETE FROM k; TRUNCATE k}, 'a a all');
keys_of('a composite type', 'id pair PRIMARY KEY', q{INSERT INTO k VALUES ((1, 'a')), ((1, NULL)); UPDATE k SET id.b = 'b' WHERE (id).b IS NULL; INSERT INTO k VALUES ((2, repeat('x', 5000)))}, '(1,a) (1,) (1,) (1,b) (2,xxx', q{left(id::text, 6)});
keys_of('a domain over a composite type', 'id pair_domain PRIMARY KEY', q{INSERT INTO k VALUES ((1, 'a')); DELETE FROM k}, '(1,a) (1,a)');
keys_of('an enumeration, an array and a name', q{a mood, b int[], c name, d bytea, e "char", PRIMARY KEY (a, b, c, d, e)}, q{INSERT INTO k VALUES ('ok', '{1,2}', 'n', '\x00', 'c'); DELETE FROM k}, 'ok12n00c ok12n00c', q{concat(a, array_to_string(b, ''), c, encode(d, 'hex'), e)});
keys_of('a key with included columns', 'id int, v text, PRIMARY KEY (id) INCLUDE (v)', q{INSERT INTO k VALUES (1, 'a'); UPDATE k SET v = 'b'}, '1 1');
keys_of('a generated key', 'a int, id int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY', 'INSERT INTO k VALUES (1); UPDATE k SET a = 2', '2 2 4');
keys_of('a renamed key', 'id int PRIMARY KEY, v int', 'INSERT INTO k VALUES (1); ALTER TABLE k RENAME id TO key; UPDATE k SET v = 1; ALTER TABLE k RENAME v TO id; UPDATE k SET id = 2', '1 1 1');
keys_of('a key that gets another type', 'id int PRIMARY KEY', 'INSERT INTO k VALUES (1); ALTER TABLE k ALTER id TYPE bigint; INSERT INTO k VALUES (2)', '1 all');
keys_of('a key that is dropped', 'id int PRIMARY KEY, v int', 'INSERT INTO k VALUES (1); ALTER TABLE k DROP id; INSERT INTO k VALUES (2); UPDATE k SET v = 3', '1 all all');
keys_of('a temporal key', 'id int4range, during daterange, v int, PRIMARY KEY (id, during WITHOUT OVERLAPS)', q{INSERT INTO k VALUES ('[1,2)', '[2026-01-01,2026-02-01)'); UPDATE k SET during = '[2026-01-01,2026-03-01)'; DELETE FROM k},
	'1-2026-02-01 1-2026-02-01 1-2026-03-01 1-2026-03-01', q{lower(id) || '-' || upper(during)}) if $version >= 180000;

# --- waiting ----------------------------------------------------------------------

fresh();
sql(q{CREATE TABLE u (id int PRIMARY KEY, v int); SELECT changes_track('u')});
my ($one, $two) = (session(), session());
in($one, 'BEGIN', 'INSERT INTO t VALUES (1)', 'INSERT INTO u VALUES (1)');
in($two, 'BEGIN', 'INSERT INTO u VALUES (2)', 'INSERT INTO t VALUES (2)');
in($one, 'COMMIT');
in($two, 'COMMIT');
is(entries('changes.t') . ', ' . entries('changes.u'), '1 2, 1 2', 'two transactions write two logs in different orders');
in($one, 'BEGIN', 'LOCK TABLE changes.t');
like(refused_in($two, q{SET statement_timeout = '100ms'; INSERT INTO t VALUES (3)}), qr/canceling statement due to statement timeout/, 'a lock on the log makes the statement wait');
in($one, 'COMMIT');
in($two, 'RESET statement_timeout', 'BEGIN', 'INSERT INTO t VALUES (3)');
in($one, q{SET lock_timeout = '100ms'}, 'BEGIN');
like(refused_in($one, 'LOCK TABLE changes.t'), qr/lock timeout/, 'a transaction with changes holds a lock on the log');
in($one, 'ROLLBACK', 'RESET lock_timeout');
in($two, 'COMMIT');
is(entries('changes.t'), '3', 'COMMIT does not wait');
in($two, 'BEGIN', 'SAVEPOINT a', 'INSERT INTO t VALUES (4)', 'ROLLBACK TO a');
in($one, q{SET lock_timeout = '100ms'}, 'BEGIN');
like(refused_in($one, 'LOCK TABLE changes.t'), qr/lock timeout/, 'so does a transaction that has rolled back its changes');
in($one, 'ROLLBACK', 'RESET lock_timeout');
in($two, 'INSERT INTO t VALUES (5)', 'COMMIT');
is(entries('changes.t'), '5', 'and it writes its later changes');
in($two, 'BEGIN', 'SAVEPOINT a', 'ALTER TABLE changes.t ADD x int', 'INSERT INTO t VALUES (6)', 'ROLLBACK TO a', 'INSERT INTO t VALUES (7)', 'COMMIT');
is(entries('changes.t'), 'all', 'a log is altered and restored by a savepoint');

# An index whose comparison cancels the statement stops a transaction in the middle of its COMMIT.
fresh();
sql(q{CREATE FUNCTION canceling_cmp(int, int) RETURNS int LANGUAGE plpgsql AS $$BEGIN
		IF current_setting('changes.cancel', true) = 'on' THEN PERFORM pg_cancel_backend(pg_backend_pid()); END IF; RETURN btint4cmp($1, $2); END$$;
	CREATE OPERATOR CLASS canceling FOR TYPE int USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 canceling_cmp(int, int);
	CREATE INDEX canceling ON changes.t (id canceling)});
in($two, q{SET changes.cancel = 'on'}, 'BEGIN', 'INSERT INTO t SELECT generate_series(1, 200)');
like(refused_in($two, 'COMMIT'), qr/canceling statement due to user request/, 'a COMMIT that writes a log can be canceled');
is(sql('SELECT (SELECT count(*) FROM t) + (SELECT count(*) FROM changes.t)'), 0, 'the canceled transaction has left nothing');
in($two, 'RESET changes.cancel', 'BEGIN', 'INSERT INTO t SELECT generate_series(1, 3)', 'COMMIT');
is(entries('changes.t'), '1 2 3', 'the same transaction is committed afterwards');

# An error while the entries of a callback's changes are written is caught, and other logs are written.
# An assertion of PostgreSQL refuses to roll back a subtransaction during COMMIT.
if (sql('SHOW debug_assertions') eq 'off')
{
	in($two, 'BEGIN', q{SET LOCAL late.statement = 'DO $$BEGIN
			BEGIN PERFORM set_config(''changes.cancel'', ''on'', true); INSERT INTO t VALUES (9), (11), (12); EXCEPTION WHEN query_canceled THEN NULL; END;
			INSERT INTO u VALUES (9); INSERT INTO t VALUES (10); END$$'}, 'COMMIT');
	is(entries('changes.t'), '10', 'an error of a callback is caught');
	is(entries('changes.u'), '9', 'and other logs are written');
}
leave($one, $two);

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
is(sql('SELECT count(*), count(DISTINCT id) FROM changes.t'), "$rows|$rows", 'and each key is logged');
$last{'changes.t'} = sql('SELECT max(change_id::text) FROM changes.t');
sql('TRUNCATE t');
entries('changes.t');

# In the state "full pgsql_tmp", temporary files cannot be written.
my $big = 'INSERT INTO t SELECT generate_series(1, 20000)';
my ($out, $err) = $world->session('full pgsql_tmp', qq{SET work_mem = '64kB'; BEGIN; $big; COMMIT});
like($err, qr/ERROR:  53100: could not write to file "[^"]*pgsql_tmp[^"]*": No space left on device\n/, 'a full disk makes the statement fail');
is(entries('changes.t') . sql('SELECT count(*) FROM t'), '0', 'nothing is committed');
($out, $err) = $world->session('full pgsql_tmp', qq{SET work_mem = '64kB'; BEGIN; INSERT INTO t VALUES (30000); SAVEPOINT a; $big; ROLLBACK TO a},
	'normal', q{INSERT INTO t VALUES (30001); COMMIT});
like($err, qr/ERROR:  58030: could not write all changed keys to a temporary file earlier in this transaction\n/, 'a transaction that continues after a full disk cannot commit');
is(entries('changes.t') . sql('SELECT count(*) FROM t'), '0', 'and nothing of it is committed');
($out, $err) = $world->session('normal', qq{SET work_mem = '64kB'; SET temp_file_limit = '100kB'; BEGIN; INSERT INTO t VALUES (30000); SAVEPOINT a; $big; ROLLBACK TO a; COMMIT});
like($err, qr/53400: temporary file size exceeds/, 'temp_file_limit is respected');
# without a dirty block of the log, the COMMIT first extends the file
my $file = sql('CHECKPOINT', q{SELECT pg_relation_filepath('changes.t')});
($out, $err) = $world->session('normal', qq{BEGIN; $big}, "full $file", 'COMMIT', 'normal', 'SELECT count(*) FROM t');
like($err, qr/ERROR:  53100: could not extend file "[^"]*$file"/, 'a full disk makes the COMMIT fail');
is($out, '0', 'and the session continues');
is(entries('changes.t') . sql('SELECT count(*) FROM t'), '0', 'nothing is committed');
logs('the same changes afterwards', "SET work_mem = '64kB'; BEGIN; $big; DELETE FROM t WHERE id > 2; COMMIT; TRUNCATE changes.t; DELETE FROM t", '1 2');
mkdir "$dir/space";
sql("CREATE TABLESPACE space LOCATION '$dir/space'");
sql(qq{SET temp_tablespaces = space; SET work_mem = '64kB'; SET log_temp_files = 0; BEGIN; $big; COMMIT});
like(slurp_file($node->logfile), qr/temporary file: path "pg_tblspc\/\d+\//, 'temp_tablespaces is respected');
sql('ALTER TABLE changes.t SET TABLESPACE space; TRUNCATE t; TRUNCATE changes.t');
logs('a log in another tablespace', 'INSERT INTO t VALUES (1)', '1');

# --- a subscriber -----------------------------------------------------------------

sql('CREATE DATABASE there', 'CREATE TABLE s (id int PRIMARY KEY, v text); INSERT INTO s VALUES (1, \'\'), (2, \'\')', 'CREATE PUBLICATION pub FOR TABLE s',
	q{CREATE ROLE subscriber LOGIN SUPERUSER}, q{SELECT pg_create_logical_replication_slot('sub', 'pgoutput', false, true)});
sub there { return $node->safe_psql('there', join ';', @_) }
there(q{CREATE EXTENSION uuid9562_changes CASCADE; CREATE TABLE s (id int PRIMARY KEY, v text); ALTER TABLE s OWNER TO lesser; GRANT CREATE ON DATABASE there TO lesser; SET ROLE lesser; SELECT changes_track('s')});
my $streaming = $version < 160000 ? 'on' : 'parallel';
my $connection = $node->connstr('postgres') =~ s/'/''/gr;
there("SET ROLE subscriber; CREATE SUBSCRIPTION sub CONNECTION '$connection' PUBLICATION pub WITH (create_slot = false, slot_name = sub, streaming = $streaming, two_phase = true)");
my $there = q{SELECT coalesce(string_agg(coalesce(id::text, 'all'), ' ' ORDER BY change_id), '') FROM changes.s};
$node->poll_query_until('there', $there, '1 2') or diag(slurp_file($node->logfile));
is(there($there), '1 2', 'a subscriber logs the initial copy');
$node->poll_query_until('there', q{SELECT subtwophasestate FROM pg_subscription}, 'e') or die 'two_phase is not enabled';
there('TRUNCATE changes.s');
sql(q{INSERT INTO s VALUES (3, 'a'); UPDATE s SET id = 4 WHERE id = 3; DELETE FROM s WHERE id = 1; BEGIN; UPDATE s SET v = 'b' WHERE id = 2; PREPARE TRANSACTION 'sub'});
$node->poll_query_until('there', q{SELECT count(*) = 1 FROM pg_prepared_xacts WHERE database = 'there'}) or diag(slurp_file($node->logfile));
sql(q{COMMIT PREPARED 'sub'}, 'TRUNCATE s');
$node->poll_query_until('there', $there, '3 3 4 1 2 all') or diag(slurp_file($node->logfile));
is(there($there), '3 3 4 1 2 all', 'a subscriber logs each command, two-phase commit and TRUNCATE');
there('TRUNCATE changes.s');
sql(q{BEGIN; INSERT INTO s SELECT n, repeat('x', 100) FROM generate_series(1, 5000) AS n; SAVEPOINT a; DELETE FROM s; ROLLBACK TO a; UPDATE s SET v = '' WHERE id <= 10; COMMIT});
$node->poll_query_until('there', 'SELECT count(*) = 5000 FROM changes.s') or diag(slurp_file($node->logfile));
is(there('SELECT count(*), count(DISTINCT id) FROM changes.s'), '5000|5000', 'a subscriber logs a streamed transaction');
ok($node->poll_query_until('postgres', q{SELECT stream_txns > 0 FROM pg_stat_replication_slots WHERE slot_name = 'sub'}), 'the transaction was streamed');
there('ALTER SUBSCRIPTION sub DISABLE; ALTER SUBSCRIPTION sub SET (slot_name = NONE); DROP SUBSCRIPTION sub');
sql(q{SELECT pg_drop_replication_slot('sub') FROM pg_replication_slots WHERE NOT active});

# --- publications, event triggers, dump -------------------------------------------

sql('CREATE PUBLICATION everything FOR ALL TABLES', 'CREATE TABLE w (id int PRIMARY KEY)');
like(refusal(q{SELECT changes_track('w')}), qr/WARNING:  01000: publication "everything" also publishes the log changes\.w\n/, 'a publication of all tables gives a warning');
sql('DROP PUBLICATION everything', 'DROP PUBLICATION pub');
sql(q{CREATE FUNCTION any_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$BEGIN PERFORM count(*) FROM pg_event_trigger_ddl_commands(); END$$;
	CREATE EVENT TRIGGER any_ddl ON ddl_command_end EXECUTE FUNCTION any_ddl()},
	q{CREATE TABLE e (id int PRIMARY KEY); SELECT changes_track('e'); INSERT INTO e VALUES (1); ALTER TABLE e ADD v int; SELECT changes_track('e'); SELECT changes_untrack('e')}, 'DROP EVENT TRIGGER any_ddl');
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
	INSERT INTO load SELECT generate_series(1, 20); TRUNCATE audit; TRUNCATE changes.load});
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
is(sql('SELECT count(*) FROM audit AS a WHERE NOT EXISTS (SELECT FROM changes.load AS l WHERE l.xmin = a.xid AND l.id = a.id AND l.change_id > a.made)'), 0, 'each change has a later entry of its transaction');
is(sql('SELECT count(*) FROM changes.load AS l WHERE NOT EXISTS (SELECT FROM audit AS a WHERE l.xmin = a.xid AND l.id = a.id)'), 0, 'each entry has a change');
is(sql('SELECT count(*) FROM (SELECT FROM changes.load AS l GROUP BY xmin, id HAVING count(*) > 1) AS a'), 0, 'each transaction has one entry for a key');
is(sql('SELECT count(*) FROM audit AS a JOIN changes.load AS l ON l.id = a.id AND l.xmin <> a.xid AND l.change_id > a.made AND l.change_id < (SELECT max(o.change_id::text)::uuid FROM changes.load AS o WHERE o.xmin = a.xid AND o.id = a.id)'), 0,
	'no other transaction has an entry between a change and its entry');

# Track again while writers write.
my $round = 0;
run_pgbench($workload, 4, 300, sub {
		my @again = (q{SELECT changes_untrack('load'); SELECT changes_track('load')}, q{DROP TABLE changes.load; SELECT changes_track('load')}, q{SELECT changes_track('load')}, q{SELECT changes_reset('load')});
		$node->psql('postgres', $again[ $round++ % @again ]);
	}, '--max-tries=100', $node->connstr('postgres'));
cmp_ok($round, '>', 3, 'tables are tracked again while writers write');
sql('TRUNCATE audit; TRUNCATE changes.load; INSERT INTO load VALUES (50, 0); UPDATE load SET v = 1 WHERE id = 50');
is(sql('SELECT count(*) FROM changes.load'), 2, 'and the last log works');

# --- dump and restore -------------------------------------------------------------

sql('CREATE DATABASE dumped', 'CREATE DATABASE restored', 'ALTER DATABASE dumped OWNER TO dumper');
$node->safe_psql('dumped', q{CREATE EXTENSION uuid9562_changes CASCADE; SET ROLE dumper; CREATE SCHEMA own; CREATE TABLE own.t (id int PRIMARY KEY); SELECT changes_track('own.t'); INSERT INTO own.t VALUES (1)});
my $dump = "$dir/dump";
IPC::Run::run([ 'pg_dump', '-f', $dump, $node->connstr('dumped') ], '2>', \$err);
is($err, '', 'a superuser can dump');
$node->psql('restored', '', extra_params => [ '-f', $dump ]);
is($node->safe_psql('restored', q{INSERT INTO own.t VALUES (2); SELECT (SELECT string_agg(id::text, ' ' ORDER BY change_id) FROM changes.t), (SELECT problem IS NULL FROM changes_tables)}), '1 2|t', 'a restored table is tracked');
IPC::Run::run([ 'pg_dump', '-f', "$dump.own", $node->connstr('dumped') . ' user=dumper' ], '2>', \$err);
is($err, '', 'the owner of the tables can dump');

is(scalar(() = slurp_file($node->logfile) =~ /WARNING:  (?!publication|there is (?:no|already)|using index "pg_toast)/g), 0, 'the server has written no warnings');
$node->stop;
unlike(slurp_file($node->logfile), qr{PANIC:|TRAP:|was terminated by signal|still referenced|leak: }, 'no assertion failed and nothing leaked');

done_testing();
