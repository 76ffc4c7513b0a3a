-- Changes of tables on one server without failures: what each call does, and what it refuses.  Tests in
-- test/t add other sessions, crashes, failovers and restores.
\pset format unaligned
\pset tuples_only
\set SHOW_CONTEXT never
SET client_min_messages = warning;
SET IntervalStyle = postgres;
-- PostgreSQL 15 and 16 need the library in shared_preload_libraries
SELECT current_setting('server_version_num')::int < 170000
	   AND current_setting('shared_preload_libraries') !~ 'uuid9562' AS skip \gset
\if :skip
\quit
\endif

-- --- changes_track() ---------------------------------------------------------

-- a table gets two triggers, which also fire for a replication role
CREATE TABLE customer (id bigint PRIMARY KEY, name text, "position" int);
INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy');
SELECT changes_track('customer');
SELECT tgenabled, replace(pg_get_triggerdef(oid), 'customer'::regclass::oid::text, 'OID') FROM pg_trigger WHERE tgrelid = 'customer'::regclass ORDER BY tgname;
SELECT * FROM changes_tables;

-- another call keeps the options and the triggers, unless an option is given
SELECT max(oid) AS last_trigger FROM pg_trigger \gset
SELECT changes_track('customer');
SELECT changes_track('customer', '{delete,update,insert}', 'reset', '7 days');
SELECT max(oid) = :last_trigger FROM pg_trigger;
SELECT changes_track('customer', reader_expiry => '1 day');
SELECT changes_track('customer', '{insert}', 'ignore');
SELECT changes_track('customer', '{insert,update,delete}');
SELECT operations, dropped_partitions, reader_expiry FROM changes_tables;
SELECT tgname ~ '^uuid9562_changes_' FROM pg_trigger WHERE tgrelid = 'customer'::regclass;

-- what cannot be tracked
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	d text;
	h text;
BEGIN
	EXECUTE statement;
	RETURN 'not refused';
EXCEPTION WHEN others THEN
	GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL, h = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n    ', SQLSTATE || ' ' || SQLERRM, nullif(d, ''), nullif(h, ''));
END$$;
CREATE TABLE keyless (id int);
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY);
CREATE TEMPORARY TABLE temporary (id int PRIMARY KEY);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child () INHERITS (parent);
CREATE VIEW view AS SELECT 1 AS id;
CREATE TABLE deferred (id numeric PRIMARY KEY DEFERRABLE);
CREATE TABLE parts (id int PRIMARY KEY) PARTITION BY LIST (id);
CREATE TABLE part PARTITION OF parts FOR VALUES IN (1);
CREATE UNLOGGED TABLE unlogged_part PARTITION OF parts FOR VALUES IN (2);
SELECT a || ': ' || refusal(format('SELECT changes_track(%s)', a)) FROM unnest(ARRAY[
	'NULL', '0::regclass', '''view''', '''pg_class''', '''uuid9562_changes.log''', '''temporary''', '''unlogged''', '''part''', '''parts''', '''parent''', '''child''', '''keyless''', '''deferred''',
	'''customer'', ''{select}''', '''customer'', ''{}''', '''customer'', ''{insert,NULL}''', '''customer'', dropped_partitions => ''keep''', '''customer'', reader_expiry => ''0''',
	'''customer'', reader_expiry => ''-12 mons 361 days''', '''customer'', reader_expiry => ''100 years 1 day''']) AS a;
DROP TABLE parts, unlogged, temporary, child, parent, deferred;
DROP VIEW view;

-- --- changes_read() and changes_done() in one transaction --------------------

CREATE FUNCTION read(reader text, page int DEFAULT 1000, after text DEFAULT 'confirmed', lease interval DEFAULT '1 day') RETURNS TABLE (type text, data customer, place text)
LANGUAGE sql AS 'SELECT * FROM changes_read(reader, NULL::customer, page, after, lease)';
CREATE FUNCTION apply(reader text, page int DEFAULT 1000) RETURNS SETOF text LANGUAGE plpgsql AS $$BEGIN
	RETURN QUERY SELECT concat_ws(' ', change_type, data) FROM changes_read(reader, NULL::customer, page);
	PERFORM changes_done(reader);
END$$;

-- a new reader copies the table; until this is confirmed, each call returns the same
SELECT type, data FROM read('billing');
SELECT type, data FROM read('billing');
SELECT apply('billing');
SELECT apply('billing');

-- the new content of each key once, in the order of the last changes
INSERT INTO customer VALUES (4, 'Dan');
UPDATE customer SET name = 'Bo' WHERE id = 2;
UPDATE customer SET id = 33 WHERE id = 3;
DELETE FROM customer WHERE id = 1;
UPDATE customer SET name = 'Dana' WHERE id = 4;
INSERT INTO customer VALUES (1, 'Amy');
DELETE FROM customer WHERE id = 1;
SELECT type, (data).* FROM read('billing');

-- a page has entries of the log, in which a key can be twice, and later content
UPDATE customer SET name = 'Bobby' WHERE id = 2;
SELECT type, data FROM read('billing', 2);
SELECT apply('billing', 5);
SELECT apply('billing', 5);

-- a condition of the caller hides rows, but not from changes_done(), which confirms the page once
INSERT INTO customer VALUES (5, 'Eve'), (6, 'Fay');
BEGIN;
SELECT type, data FROM read('billing', 1) WHERE type = 'delete';
SELECT changes_done('billing'), changes_done('billing');
SELECT changes_done('billing');
COMMIT;
SELECT changes_done('billing') FROM changes_read('billing', NULL::customer);
SELECT type, data FROM read('billing');

-- after an empty page there is nothing to confirm
BEGIN;
SELECT type, data FROM read('billing');
SELECT changes_done('billing');
COMMIT;

-- a read or a confirmation that is rolled back has not happened
UPDATE customer SET name = 'Evi' WHERE id = 5;
BEGIN;
SAVEPOINT a;
SELECT type, data FROM read('billing');
ROLLBACK TO a;
SELECT changes_done('billing');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
SELECT type, data FROM read('billing');
SAVEPOINT a;
SELECT changes_done('billing');
ROLLBACK TO a;
SELECT changes_done('billing');
COMMIT;
SELECT apply('billing');

-- --- positions ---------------------------------------------------------------

-- in another transaction, changes_done() needs the position of a change, and confirms up to it
UPDATE customer SET name = 'x' WHERE id IN (2, 4, 5);
SELECT array_agg(data) AS page, min(place) AS "first", max(place) AS "last" FROM read('billing') \gset
SELECT :'page';
SELECT changes_done('billing');
\echo :LAST_ERROR_SQLSTATE
SELECT changes_done('billing', :'first');
SELECT type, data FROM read('billing', 1);
SELECT changes_done('billing', :'last');
SELECT type, data FROM read('billing');

-- a position that is sent again delivers what was changed after the page was read
UPDATE customer SET name = 'y' WHERE id = 2;
SELECT apply('billing');
SELECT changes_done('billing', :'last');
SELECT apply('billing');
-- two programs with one name: what the first one confirms too late is delivered again
UPDATE customer SET name = 'first' WHERE id = 2;
SELECT place AS "first" FROM read('billing') \gset
UPDATE customer SET name = 'second' WHERE id = 2;
SELECT place AS "second" FROM read('billing') \gset
SELECT pages_out, entries_waiting, waits_for FROM changes_readers;
SELECT changes_done('billing', :'second');
SELECT type, data FROM read('billing');
SELECT changes_done('billing', :'first');
SELECT apply('billing');
SELECT apply('billing');

-- so is what was changed after a page whose lease has ended, since it can be applied at any time
UPDATE customer SET name = 'late' WHERE id = 4;
SELECT place AS late FROM read('billing', lease => '1 us') \gset
UPDATE customer SET name = 'later' WHERE id = 4;
SELECT apply('billing');
SELECT changes_done('billing', :'late');
SELECT apply('billing');
SELECT apply('billing');

-- wrong positions, readers and arguments
SELECT a || ': ' || refusal(format('SELECT changes_done(%s)', a)) FROM unnest(ARRAY['NULL', '''nobody''', '''billing'', ''changes1.a''']) AS a;
SELECT refusal(format('SELECT changes_done(''nobody'', %L)', :'late'));
SELECT a || ': ' || refusal(format('SELECT changes_read(%s)', a)) FROM unnest(ARRAY[
	'NULL, NULL::customer', 'repeat(''é'', 101), NULL::customer', '''r'', 1', '''r'', NULL::keyless', '''r'', NULL::pg_user', '''r'', NULL::customer, 0', '''r'', NULL::customer, NULL',
	'''r'', NULL::customer, after => ''Confirmed''', '''r'', NULL::customer, lease => ''0''', '''r'', NULL::customer, lease => ''30 days 1 us''', '''r'', NULL::customer, lease => ''-1 mon 29 days''',
	'''r'', NULL::customer, lease => NULL']) AS a;

-- the isolation level decides which changes a page can have
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT type, data FROM read('billing');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT type, data FROM read('billing');
ROLLBACK;
BEGIN ISOLATION LEVEL READ UNCOMMITTED;
SELECT type, data FROM read('billing');
COMMIT;
BEGIN READ ONLY;
SELECT type, data FROM read('billing');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;

-- a transaction that has changed the table cannot read it; another table is free
CREATE TABLE supplier (id bigint PRIMARY KEY);
SELECT changes_track('supplier');
BEGIN;
UPDATE customer SET name = 'Eve' WHERE id = 5;
SELECT change_type FROM changes_read('shop', NULL::supplier);
SELECT type, data FROM read('billing');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
TRUNCATE customer;
SELECT type, data FROM read('billing');
ROLLBACK;

-- a reader of two tables must say which page it confirms
BEGIN;
SELECT change_type FROM changes_read('shop', NULL::supplier);
SELECT type, data FROM read('shop');
SELECT changes_done('shop');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
SELECT changes_done('billing', change_position) FROM changes_read('shop', NULL::supplier);
\echo :LAST_ERROR_SQLSTATE
SELECT changes_done('shop', change_position) FROM changes_read('shop', NULL::supplier);

-- --- positions that the target stores ----------------------------------------

SELECT type, place FROM read('outside', after => NULL) \gset
SELECT :'type', entries_waiting, waits_for FROM changes_readers WHERE reader = 'outside';
SELECT type, data FROM read('outside', after => :'place');
INSERT INTO customer VALUES (7, 'Guy');
SELECT data, place AS "next" FROM read('outside', after => :'place') \gset
SELECT :'data';
SELECT type, data FROM read('outside', after => :'place');
BEGIN READ ONLY;
SELECT type, data FROM read('outside', after => :'next');
COMMIT;
SELECT * FROM changes_read('outside', NULL::supplier, after => :'next');
\echo :LAST_ERROR_SQLSTATE
SELECT changes_done('outside', :'next');
\echo :LAST_ERROR_SQLSTATE
SELECT type, data FROM read('billing', after => NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT type, data FROM read('outside');
SELECT changes_forget('outside', 'customer');

-- --- the log -----------------------------------------------------------------

-- a transaction logs each key once when it commits, also if it has become read-only, and nothing that is
-- rolled back
SELECT apply('billing');
BEGIN;
UPDATE customer SET name = upper(name);
SAVEPOINT a;
UPDATE customer SET id = id + 100;
ROLLBACK TO a;
UPDATE customer SET name = 'EVA' WHERE id = 2;
SET TRANSACTION READ ONLY;
COMMIT;
-- a page can be read when the last record of WAL ends at the end of a block
DO $$BEGIN
	WHILE (pg_current_wal_insert_lsn() - '0/0') % current_setting('wal_block_size')::int <> 24 LOOP PERFORM pg_logical_emit_message(false, '', repeat('x', (random() * 8)::int * 8)); END LOOP;
END$$;
SELECT apply('billing');

-- more keys than work_mem allows are kept in a file
SET work_mem = '64kB';
BEGIN;
INSERT INTO supplier SELECT generate_series(1001, 3000);
SAVEPOINT a;
SAVEPOINT b;
UPDATE supplier SET id = id + 5000;
RELEASE b;
ROLLBACK TO a;
DELETE FROM supplier WHERE id = 1001;
COMMIT;
RESET work_mem;
SELECT change_type, count(*), max((data).id) FROM changes_read('shop', NULL::supplier, 10000) GROUP BY 1 ORDER BY 1;
DROP TABLE supplier;

-- only some operations: row 1 of the log does not exist any more
CREATE TABLE outbox (id int PRIMARY KEY);
SELECT changes_track('outbox', '{insert}');
SELECT changes_done('relay') FROM changes_read('relay', NULL::outbox);
INSERT INTO outbox VALUES (1), (2);
UPDATE outbox SET id = 3 WHERE id = 2;
DELETE FROM outbox WHERE id = 1;
SELECT change_type, data FROM changes_read('relay', NULL::outbox);
SELECT changes_untrack('outbox');

-- nobody but the extension writes its tables, or reads them without being a superuser
SELECT count(*) > 0 FROM uuid9562_changes.log;
SET ROLE pg_read_all_data;
SELECT count(*) FROM uuid9562_changes.log;
RESET ROLE;
DELETE FROM uuid9562_changes.log;
UPDATE uuid9562_changes.reader SET owner = 0;
INSERT INTO uuid9562_changes.purged VALUES (1, '00000000-0000-0000-0000-000000000000');
TRUNCATE uuid9562_changes.state;
\echo :LAST_ERROR_SQLSTATE
SELECT count(*) FROM uuid9562_changes.purged;

-- --- reset -------------------------------------------------------------------

-- TRUNCATE means that readers copy the table, after the page of the changes before it
INSERT INTO customer VALUES (9, 'Ida');
TRUNCATE customer;
INSERT INTO customer VALUES (1, 'Zoe');
SELECT apply('billing');
SELECT apply('billing');
SELECT apply('billing');

-- so does changes_reset(), a column with a default, and whatever else alters values
SELECT changes_reset('customer');
SELECT waits_for FROM changes_readers WHERE reader = 'billing';
SELECT apply('billing');
CREATE TYPE kind AS ENUM ('person', 'firm');
CREATE TYPE address AS (city text, kinds kind[]);
ALTER TABLE customer ADD COLUMN state text DEFAULT 'new', ADD COLUMN home address;
SELECT apply('billing');
\echo :LAST_ERROR_SQLSTATE
SELECT apply('billing');
ALTER TYPE kind RENAME VALUE 'firm' TO 'company';
SELECT apply('billing');
ALTER TYPE address ADD ATTRIBUTE zip text;
SELECT apply('billing');
SELECT apply('billing');
ALTER TABLE customer ALTER name TYPE varchar USING upper(name);
ALTER TABLE customer ALTER name TYPE text;
SELECT apply('billing');
ALTER TABLE customer DISABLE TRIGGER uuid9562_changes_truncate;
TRUNCATE customer;
ALTER TABLE customer ENABLE ALWAYS TRIGGER uuid9562_changes_truncate;
SELECT apply('billing');

-- but nothing is copied, or refused, if rows and their type are the same
INSERT INTO customer VALUES (1, 'Zoe');
ALTER TYPE kind ADD VALUE 'state';
ALTER TABLE customer ALTER name SET STATISTICS 10, ALTER name SET DEFAULT 'x', ALTER name SET NOT NULL;
SELECT apply('billing');
VACUUM FULL customer;
REINDEX TABLE customer;
SELECT apply('billing');

-- a planned statement is never executed with another row type
PREPARE states AS SELECT change_type, (data).state FROM changes_read('billing', NULL::customer);
EXECUTE states;
ALTER TABLE customer ADD COLUMN later text;
UPDATE customer SET state = 'former', later = 'new';
ALTER TABLE customer DROP state;
ALTER TABLE customer RENAME later TO state;
EXECUTE states;
EXECUTE states;
SELECT apply('billing');
UPDATE customer SET name = 'Yan';
EXECUTE states;
SELECT apply('billing');

-- a change that is not logged is an error until changes_track() is called again
CREATE FUNCTION problem_after(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	problem text;
BEGIN
	EXECUTE command;
	problem := (SELECT max(t.problem) FROM changes_tables AS t WHERE source = 'customer'::regclass);
	RAISE 'roll back';
EXCEPTION WHEN raise_exception THEN
	RETURN problem;
END$$;
SELECT command, problem_after(command) FROM (VALUES
	('ALTER TABLE customer ENABLE TRIGGER ALL'),
	('ALTER TABLE customer SET UNLOGGED'),
	('CREATE TABLE heir () INHERITS (customer)'),
	('ALTER TABLE customer DROP CONSTRAINT customer_pkey'),
	('ALTER TABLE customer DROP CONSTRAINT customer_pkey, ADD PRIMARY KEY (id)'),
	('ALTER TABLE customer ALTER id TYPE int')) AS c (command);
-- a trigger is found by its function, not by its name
SELECT t, problem_after(format('CREATE TRIGGER own AFTER %s ON customer FOR EACH ROW %s EXECUTE FUNCTION uuid9562_changes.log_trigger(%s); ALTER TABLE customer ENABLE ALWAYS TRIGGER own; DROP TRIGGER uuid9562_changes_%s ON customer',
	events, condition, arguments, 'customer'::regclass::oid))
FROM (VALUES
	('INSERT OR UPDATE OR DELETE', '', '''reset'', 1'),
	('INSERT', '', '''ignore'', 1'),
	('UPDATE OF id', '', '''reset'', 1'),
	('INSERT', 'WHEN (false)', '''reset'', 1'),
	('INSERT', '', ''),
	('INSERT', '', '''reset'', 0'),
	('INSERT', '', '''reset'', ''1 day'''),
	('INSERT', '', '''keep'', 1')) AS t (events, condition, arguments);
SELECT problem_after('CREATE TRIGGER own AFTER INSERT ON customer FOR EACH ROW EXECUTE FUNCTION uuid9562_changes.log_trigger(); ALTER TABLE customer ENABLE ALWAYS TRIGGER own');
ALTER TABLE customer DISABLE TRIGGER ALL;
SELECT apply('billing');
\echo :LAST_ERROR_SQLSTATE
SELECT problem, without_truncate_trigger FROM changes_tables;
SELECT changes_track('customer');
SELECT problem, without_truncate_trigger FROM changes_tables;
SELECT apply('billing');

-- --- keys --------------------------------------------------------------------

-- several columns, domains, a name that must be quoted; a key that equals that of a row was deleted before
CREATE DOMAIN code AS text NOT NULL CHECK (value <> '');
CREATE TABLE "it's stock" ("place of" code, n numeric, amount int, PRIMARY KEY (n, "place of"));
SELECT changes_track('"it''s stock"');
SELECT changes_done('r') FROM changes_read('r', NULL::"it's stock");
INSERT INTO "it's stock" VALUES ('a', 1.0, 1), ('b', 1.00, 2);
UPDATE "it's stock" SET n = 1 WHERE "place of" = 'a';
SELECT change_type, data FROM changes_read('r', NULL::"it's stock");
-- to confirm the "delete" does not confirm the row that follows it
SELECT changes_done('r', (array_agg(change_position))[2]) FROM changes_read('r', NULL::"it's stock");
SELECT change_type, data FROM changes_read('r', NULL::"it's stock");

-- a key of as many columns as a key can have
CREATE TABLE wide ();
DO $$BEGIN
	EXECUTE (SELECT format('ALTER TABLE wide %s, ADD PRIMARY KEY (%s)', string_agg('ADD ' || c || ' int DEFAULT ' || n, ', '), string_agg(c, ', '))
			 FROM generate_series(1, 32) AS n, concat('c', n) AS c);
END$$;
SELECT changes_track('wide');
SELECT changes_done('r') FROM changes_read('r', NULL::wide);
INSERT INTO wide DEFAULT VALUES;
SELECT change_type, (data).c1, (data).c32 FROM changes_read('r', NULL::wide);
DROP TABLE wide, "it's stock";

-- --- partitions --------------------------------------------------------------

-- rows that move, writes to a partition, other columns, a partition of a partition
CREATE TABLE visit (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
CREATE TABLE visit_1 PARTITION OF visit FOR VALUES FROM (1) TO (10);
CREATE TABLE visit_2 (note text, id int NOT NULL);
ALTER TABLE visit ATTACH PARTITION visit_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE visit_4 PARTITION OF visit FOR VALUES FROM (30) TO (50) PARTITION BY RANGE (id);
CREATE TABLE visit_40 PARTITION OF visit_4 FOR VALUES FROM (40) TO (50);
SELECT changes_track('visit');
CREATE FUNCTION visits() RETURNS SETOF text LANGUAGE plpgsql AS $$BEGIN
	RETURN QUERY SELECT concat_ws(' ', change_type, data) FROM changes_read('r', NULL::visit);
	PERFORM changes_done('r');
END$$;
SELECT visits();
INSERT INTO visit VALUES (1, 'one'), (10, 'ten'), (40, 'in a partition of a partition');
UPDATE visit SET id = 12 WHERE id = 1;
INSERT INTO visit_2 VALUES ('direct', 11);
SELECT visits();

-- a new partition: the next page logs its rows, if it is committed, and the one after that has them
CREATE TABLE visit_3 (id int NOT NULL, note text);
INSERT INTO visit_3 VALUES (20, 'attached');
ALTER TABLE visit ATTACH PARTITION visit_3 FOR VALUES FROM (20) TO (30);
INSERT INTO visit VALUES (2, 'two');
BEGIN;
SELECT visits();
ROLLBACK;
SELECT visits();
SELECT visits();
SELECT visits();
-- if the next page would be empty, or if there are many rows, it is "reset"
CREATE TABLE visit_6 PARTITION OF visit FOR VALUES FROM (50) TO (60);
SELECT visits();
INSERT INTO visit_6 VALUES (50);
SELECT visits();
ALTER TABLE visit DETACH PARTITION visit_6;
SELECT visits();
ALTER TABLE visit ATTACH PARTITION visit_6 FOR VALUES FROM (50) TO (60);
SELECT visits();
SELECT visits();
DROP TABLE visit_6;
SELECT visits();
INSERT INTO visit VALUES (3, 'three');
CREATE TABLE visit_5 (id int NOT NULL, note text);
INSERT INTO visit_5 SELECT generate_series(1000, 6000);
ALTER TABLE visit ATTACH PARTITION visit_5 FOR VALUES FROM (1000) TO (9999);
SELECT visits();

-- TRUNCATE of a partition; a new partition lacks the trigger for it
SELECT without_truncate_trigger FROM changes_tables WHERE source = 'visit'::regclass;
TRUNCATE visit_1;
SELECT visits();
TRUNCATE visit_3;
SELECT visits();

-- partitions that go, and come back
SELECT changes_track('visit', dropped_partitions => 'ignore');
SELECT without_truncate_trigger FROM changes_tables WHERE source = 'visit'::regclass;
SELECT visits();
ALTER TABLE visit DETACH PARTITION visit_3;
SELECT visits();
ALTER TABLE visit ATTACH PARTITION visit_3 FOR VALUES FROM (20) TO (30);
SELECT visits();
DROP TABLE visit_3;
SELECT visits();
SELECT changes_track('visit', dropped_partitions => 'reset');
SELECT visits();
DROP TABLE visit_2;
SELECT visits();
SELECT change_type FROM changes_read('r', NULL::visit_1);
SELECT changes_untrack('visit');
SELECT count(*) FROM pg_trigger WHERE tgfoid = 'uuid9562_changes.log_trigger'::regproc AND tgrelid <> 'customer'::regclass;
DROP TABLE visit;

-- --- privileges --------------------------------------------------------------

-- readers need SELECT on the table, and writers nothing else than they need without tracking
CREATE ROLE changes_owner;
CREATE ROLE changes_reader;
CREATE ROLE changes_writer;
ALTER TABLE customer OWNER TO changes_owner;
GRANT SELECT ON customer TO changes_reader;
GRANT INSERT ON customer TO changes_writer;
SET SESSION AUTHORIZATION changes_writer;
INSERT INTO customer VALUES (10, 'by a writer');
SELECT a || ': ' || refusal(a) FROM unnest(ARRAY[
	'SELECT changes_track(''customer'')', 'SELECT changes_untrack(''customer'')', 'SELECT changes_reset(''customer'')', 'SELECT changes_purge(''customer'')', 'SELECT * FROM read(''writer'')',
	'TABLE uuid9562_changes.log', 'DELETE FROM uuid9562_changes.reader', 'LOCK TABLE uuid9562_changes.state']) AS a;
SET SESSION AUTHORIZATION changes_reader;
SELECT type, data FROM read('hers');
SELECT refusal(format('SELECT changes_done(''billing'', %L)', :'late'));
SELECT a || ': ' || refusal(a) FROM unnest(ARRAY['SELECT * FROM read(''billing'')', 'SELECT changes_forget(''billing'', ''customer'')']) AS a;
-- the owner of the table reads and confirms as any reader
SET SESSION AUTHORIZATION changes_owner;
SELECT apply('hers');
SELECT apply('hers');
SELECT changes_track('customer', reader_expiry => '7 days');
SELECT changes_reset('customer');
ALTER TABLE customer ENABLE ROW LEVEL SECURITY;
SELECT apply('hers');
SET SESSION AUTHORIZATION changes_reader;
SELECT apply('hers');
\echo :LAST_ERROR_SQLSTATE
SELECT reader, owner, entries_waiting FROM changes_readers ORDER BY reader COLLATE "C";
SET SESSION AUTHORIZATION changes_writer;
SELECT reader, owner, entries_waiting FROM changes_readers ORDER BY reader COLLATE "C";
RESET SESSION AUTHORIZATION;
ALTER TABLE customer DISABLE ROW LEVEL SECURITY;

-- --- changes_purge() and the views -------------------------------------------

SELECT changes_forget(reader, source) FROM changes_readers WHERE reader <> 'billing';
SELECT apply('billing');
INSERT INTO customer VALUES (2, 'Yan'), (3, 'Xia'), (4, 'Wes');
SELECT pages_out, entries_waiting, oldest_waiting IS NOT NULL, waits_for, seen IS NOT NULL FROM changes_readers;
SELECT changes_purge('customer', '-1 min') > 0 AS purged_before;
SELECT entries, kept_by FROM changes_tables;
SELECT count(*) FROM read('billing');
SELECT pages_out, waits_for FROM changes_readers;
SELECT changes_purge('customer', '-1 min');
SELECT apply('billing');
SELECT changes_purge('customer', '-1 min', 1), changes_purge('customer', '-1 min', 1), changes_purge('customer', '-1 min');
SELECT entries, purged IS NOT NULL, kept_by FROM changes_tables;
SELECT pages_out, entries_waiting, oldest_waiting, waits_for FROM changes_readers;
SELECT apply('billing');
SELECT a || ': ' || refusal(format('SELECT %s', a)) FROM unnest(ARRAY[
	'changes_purge(NULL)', 'changes_purge(''customer'', NULL)', 'changes_purge(''customer'', max_entries => 0)', 'changes_purge(''keyless'')', 'changes_reset(''keyless'')', 'changes_untrack(''keyless'')',
	'changes_forget(''nobody'', ''customer'')']) AS a;

-- entries are not kept for a reader that has not been seen for reader_expiry, which must copy the table
SELECT changes_track('customer', reader_expiry => '1 us');
SELECT apply('billing');
UPDATE customer SET name = 'Una' WHERE id = 2;
SELECT kept_by FROM changes_tables;
SELECT changes_purge('customer', '-1 min');
SELECT waits_for FROM changes_readers;
SELECT apply('billing');

-- --- changes_untrack() -------------------------------------------------------

SELECT changes_untrack('customer');
SELECT * FROM changes_tables;
SELECT * FROM changes_readers;
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'customer'::regclass;
SELECT type, data FROM read('billing');
UPDATE customer SET name = 'not logged' WHERE id = 2;
SELECT changes_track('customer');
SELECT apply('billing');
SELECT apply('billing');

-- --- functions that the others call ------------------------------------------

CREATE TRIGGER wrong BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION uuid9562_changes.log_trigger();
SET ROLE changes_writer;
SELECT a || ': ' || refusal(a) FROM unnest(ARRAY['SELECT uuid9562_changes.log_trigger()', 'SELECT uuid9562_changes.guard_trigger()', 'SELECT uuid9562_changes.forget_table(''customer'', true)']) AS a;
SELECT uuid9562_changes.entries_after('customer'::regclass, '00000000-0000-0000-0000-000000000000'), uuid9562_changes.table_info(0, false);
RESET ROLE;
SELECT refusal('INSERT INTO outbox VALUES (3)');

DROP TABLE customer, outbox, keyless CASCADE;
DROP DOMAIN code;
DROP TYPE address, kind;
DROP ROLE changes_owner, changes_reader, changes_writer;
