-- Changes of tables: changes_track(), changes_read() and changes_done() on one server without
-- failures.  Tests in test/t add other sessions, crashes, failovers and restores.
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

CREATE TABLE customer (id bigint PRIMARY KEY, name text, "position" int);
INSERT INTO customer VALUES (1, 'Ann'), (2, 'Bob'), (3, 'Cy');
SELECT public.changes_track('customer');
SELECT tgname ~ '^uuid9562_changes_', tgenabled, pg_get_triggerdef(oid) ~ 'AFTER (INSERT OR DELETE OR UPDATE|TRUNCATE) ON public.customer'
FROM pg_trigger WHERE tgrelid = 'customer'::regclass;
SELECT attname, format_type(atttypid, atttypmod), attnotnull FROM pg_attribute WHERE attrelid = 'changes.customer'::regclass AND attnum > 0 ORDER BY attnum;

CREATE FUNCTION read(reader text, page int DEFAULT 1000, after text DEFAULT 'confirmed') RETURNS TABLE (type text, data customer)
LANGUAGE sql AS 'SELECT change_type, data FROM public.changes_read(reader, NULL::customer, page, after)';

-- a new reader copies the table; until then, each call returns the same
SELECT * FROM read('billing');
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT count(*) FROM read('billing');

-- the new content of each key once, in the order of the last changes
INSERT INTO customer VALUES (4, 'Dan');
UPDATE customer SET name = 'Bo' WHERE id = 2;
UPDATE customer SET id = 33 WHERE id = 3;
DELETE FROM customer WHERE id = 1;
UPDATE customer SET name = 'Dana' WHERE id = 4;
INSERT INTO customer VALUES (1, 'Amy');
DELETE FROM customer WHERE id = 1;
SELECT change_type, (data).* FROM public.changes_read('billing', NULL::customer);

-- the page returns until it is confirmed, and contains later changes
UPDATE customer SET name = 'Bobby' WHERE id = 2;
SELECT * FROM read('billing');
-- a page by two changes, and a position in the middle of a page
SELECT * FROM read('billing', 2);
SELECT public.changes_done('billing');
SELECT array_agg(change_type || ' ' || (data).id) AS page, min(change_position) FILTER (WHERE (data).id = 33) AS "position"
FROM public.changes_read('billing', NULL::customer) \gset
SELECT :'page';
SELECT public.changes_done('billing', :'position');
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT * FROM read('billing');

-- a condition of the caller hides rows, but not from changes_done()
INSERT INTO customer VALUES (5, 'Eve');
SELECT * FROM read('billing') WHERE type = 'delete';
SELECT public.changes_done('billing');
SELECT * FROM read('billing');

-- a confirmation of an overtaken page: its older rows may have been applied last, so both pages return
UPDATE customer SET name = 'Evi' WHERE id = 5;
SELECT change_position AS overtaken FROM public.changes_read('billing', NULL::customer) \gset
UPDATE customer SET name = 'Bob' WHERE id = 2;
SELECT max(change_position) AS newer FROM public.changes_read('billing', NULL::customer) \gset
SELECT public.changes_done('billing', :'newer');
SELECT public.changes_done('billing', :'overtaken');
SELECT * FROM read('billing');
SELECT public.changes_done('billing');

-- a transaction logs each key once when it commits, and nothing that is rolled back
BEGIN;
UPDATE customer SET name = upper(name);
SAVEPOINT a;
UPDATE customer SET id = id + 100;
ROLLBACK TO a;
UPDATE customer SET name = 'EVA' WHERE id = 5;
SELECT count(*) FROM read('billing');
COMMIT;
SELECT * FROM read('billing');
SELECT public.changes_done('billing');

-- the same key of two tables, and a transaction that becomes read-only: neither table's readers miss row 5
CREATE TABLE supplier (id bigint PRIMARY KEY);
SELECT public.changes_track('supplier');
SELECT public.changes_done('shop') FROM public.changes_read('shop', NULL::supplier);
BEGIN;
UPDATE customer SET name = 'Eve' WHERE id = 5;
INSERT INTO supplier VALUES (5);
UPDATE supplier SET id = 5;
SET TRANSACTION READ ONLY;
COMMIT;
SELECT id FROM changes.supplier;
SELECT * FROM read('billing');
SELECT public.changes_done('billing');

-- more keys than work_mem allows are kept in a file, from which readers get all but those rolled back
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
SELECT change_type, count(*), max((data).id) FROM public.changes_read('shop', NULL::supplier, 10000) GROUP BY 1 ORDER BY 1;
SELECT id AS last_changed FROM changes.supplier ORDER BY change_id DESC LIMIT 1;

-- a session that has read two tables must say which page it confirms, or it would lose the other one
SELECT change_type, change_position AS "position" FROM public.changes_read('shop', NULL::customer) \gset
SELECT public.changes_done('shop');
\echo :LAST_ERROR_SQLSTATE
SELECT public.changes_done('shop', :'position');
SELECT * FROM public.changes_read('shop', NULL::supplier, after => :'position');
\echo :LAST_ERROR_SQLSTATE
SELECT public.changes_forget('shop', 'customer');
DROP TABLE supplier, changes.supplier;
SELECT problem FROM public.changes_tables ORDER BY 1;

-- a position that the reader has stored confirms the changes up to it
INSERT INTO customer VALUES (6, 'Fay');
SELECT change_type, change_position AS "position" FROM public.changes_read('outside', NULL::customer) \gset
SELECT :'change_type';
INSERT INTO customer VALUES (7, 'Guy');
SELECT data, change_position AS "position" FROM public.changes_read('outside', NULL::customer, after => :'position') \gset
SELECT :'data';
SELECT * FROM read('outside', after => :'position');
INSERT INTO customer VALUES (8, 'Hal');
SELECT * FROM read('outside', after => :'position');

-- TRUNCATE means that readers copy the table, after the page of the changes before it
SELECT public.changes_done('billing') FROM read('billing');
INSERT INTO customer VALUES (9, 'Ida');
TRUNCATE customer;
INSERT INTO customer VALUES (1, 'Zoe');
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT * FROM read('billing');

-- so does a column with a default, and changes_reset()
ALTER TABLE customer ADD COLUMN state text DEFAULT 'new';
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT * FROM read('billing');
SELECT public.changes_reset('customer');
SELECT waits_for FROM public.changes_readers WHERE reader = 'billing';
SELECT * FROM read('billing');
SELECT public.changes_done('billing');

-- a missing trigger is an error until changes_track() is called again
ALTER TABLE customer DISABLE TRIGGER ALL;
SELECT * FROM public.changes_read('billing', NULL::customer);
SELECT source, log, problem FROM public.changes_tables;
SELECT public.changes_track('customer');
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT source, log, operations, dropped_partitions, reader_expiry, problem, without_truncate_trigger FROM public.changes_tables;

-- entries that all readers have confirmed are deleted, the first ones first, and no reader must copy the table
SELECT type FROM read('outside');
SELECT public.changes_forget('outside', 'customer');
INSERT INTO customer VALUES (2, 'Yan'), (3, 'Xia'), (4, 'Wes');
SELECT entries_waiting, oldest_waiting IS NOT NULL, waits_for FROM public.changes_readers;
SELECT public.changes_purge('customer', '-1 min');
SELECT count(*) FROM read('billing');
SELECT waits_for FROM public.changes_readers;
SELECT public.changes_done('billing');
SELECT public.changes_purge('customer', '-1 min', 1);
SELECT public.changes_purge('customer', '-1 min', 1);
SELECT id FROM changes.customer;
SELECT public.changes_purge('customer', '-1 min');
SELECT count(*) FROM changes.customer;
SELECT entries_waiting, oldest_waiting, waits_for FROM public.changes_readers;

-- a reader that finds no changes for a week is seen all the same, so its entries are not deleted
UPDATE uuid9562_changes.changes_reader SET seen = now() - interval '50 min';
SELECT count(*) FROM read('billing');
SELECT seen > now() - interval '30 min' FROM uuid9562_changes.changes_reader;
UPDATE uuid9562_changes.changes_reader SET seen = now() - interval '70 min';
SELECT count(*) FROM read('billing');
SELECT seen > now() - interval '30 min' FROM uuid9562_changes.changes_reader;
UPDATE customer SET name = 'Una' WHERE id = 2;
UPDATE uuid9562_changes.changes_reader SET seen = now() - interval '6 days 23 hours';
SELECT public.changes_purge('customer', '-1 min');
UPDATE uuid9562_changes.changes_reader SET seen = now() - interval '7 days 1 hour';
SELECT public.changes_purge('customer', '-1 min');
SELECT waits_for FROM public.changes_readers;
SELECT * FROM read('billing');
SELECT public.changes_done('billing');

-- readers copy the table if values of its columns were altered, or if the log lacks entries; otherwise
-- they would keep former values
CREATE FUNCTION confirmed_page() RETURNS SETOF text LANGUAGE plpgsql AS $$BEGIN
	RETURN QUERY SELECT concat_ws(' ', change_type, data) FROM public.changes_read('billing', NULL::customer);
	PERFORM public.changes_done('billing');
END$$;
CREATE TYPE kind AS ENUM ('person', 'firm');
CREATE TYPE address AS (city text, kinds kind[]);
ALTER TABLE customer ADD COLUMN home address;
SELECT confirmed_page();
ALTER TYPE kind RENAME VALUE 'firm' TO 'company';
SELECT confirmed_page();
ALTER TYPE address ADD ATTRIBUTE zip text;
SELECT confirmed_page();
ALTER TYPE address DROP ATTRIBUTE zip;
SELECT confirmed_page();
ALTER TABLE customer ALTER name TYPE varchar USING upper(name);
ALTER TABLE customer ALTER name TYPE text;
SELECT confirmed_page();
INSERT INTO customer VALUES (5, 'Viv');
DELETE FROM changes.customer;
SELECT confirmed_page();
INSERT INTO customer VALUES (6, 'Tom');
ALTER TABLE changes.customer DISABLE TRIGGER ALL;
DELETE FROM changes.customer;
ALTER TABLE changes.customer ENABLE ALWAYS TRIGGER uuid9562_changes_deleted;
SELECT confirmed_page();
TRUNCATE changes.customer;
SELECT confirmed_page();
ALTER TABLE changes.customer ADD CONSTRAINT small CHECK (id < 10);
UPDATE customer SET name = 'Zoe';
ALTER TABLE changes.customer DROP CONSTRAINT small;
SELECT count(*) FROM changes.customer;
SELECT confirmed_page();
ALTER TABLE customer DISABLE TRIGGER uuid9562_changes_truncate;
TRUNCATE customer;
ALTER TABLE customer ENABLE ALWAYS TRIGGER uuid9562_changes_truncate;
SELECT confirmed_page();
-- but not if nothing of that can have happened; a statement that was planned before returns an empty page
INSERT INTO customer VALUES (1, 'Zoe');
ALTER TYPE kind ADD VALUE 'state';
ALTER TABLE customer ALTER name SET STATISTICS 10;
ALTER TABLE customer RENAME TO client;
ALTER TABLE client RENAME TO customer;
ALTER TABLE changes.customer RENAME TO renamed;
ALTER TABLE changes.renamed RENAME TO customer;
SELECT confirmed_page();
VACUUM FULL customer;
SELECT confirmed_page();

-- a planned statement returns values of the column that now has the name, not of the former one
ALTER TABLE customer ADD COLUMN motto text DEFAULT 'former', ADD COLUMN slogan text DEFAULT 'new';
SELECT confirmed_page();
PREPARE mottos AS SELECT change_type, (data).motto FROM public.changes_read('billing', NULL::customer);
EXECUTE mottos;
ALTER TABLE customer DROP motto;
ALTER TABLE customer RENAME slogan TO motto;
EXECUTE mottos;
SELECT public.changes_done('billing');
UPDATE customer SET "position" = 1;
EXECUTE mottos;
SELECT public.changes_done('billing');

-- an index that the owner of the log creates finds all entries, so those who query it miss none
CREATE INDEX ON changes.customer (id, change_id);
INSERT INTO customer (id) SELECT generate_series(1001, 1150);
SET enable_seqscan = off;
SELECT count(*) FROM changes.customer WHERE id > 1000;
RESET enable_seqscan;
DELETE FROM customer WHERE id > 1000;
SELECT count(*) FROM confirmed_page();

-- if a log could refuse an entry, or run code of its owner, or lack changes, readers get an error instead of
-- missing rows
CREATE FUNCTION problem_after(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	problem text;
BEGIN
	EXECUTE command;
	problem := (SELECT t.problem FROM public.changes_tables AS t);
	RAISE 'roll back';
EXCEPTION WHEN raise_exception THEN
	RETURN problem;
END$$;
TRUNCATE changes.customer;
SELECT confirmed_page();
SELECT command, problem_after(command) FROM (VALUES
	('CREATE INDEX ON changes.customer (id)'),
	('CREATE UNIQUE INDEX ON changes.customer (id)'),
	('CREATE UNIQUE INDEX ON changes.customer (change_id, id)'),
	('CREATE INDEX ON changes.customer ((id + 1))'),
	('CREATE INDEX ON changes.customer (id) WHERE id > 0'),
	('CREATE INDEX ON changes.customer USING hash (id)'),
	('ALTER TABLE changes.customer ADD UNIQUE (change_id) DEFERRABLE'),
	('ALTER TABLE changes.customer ADD EXCLUDE (change_id WITH =)'),
	('ALTER TABLE changes.customer ADD CHECK (id > 0)'),
	('ALTER TABLE changes.customer ALTER id SET NOT NULL'),
	('ALTER TABLE changes.customer ADD x int GENERATED ALWAYS AS (id + 1) STORED'),
	('ALTER TABLE changes.customer DROP id'),
	('ALTER TABLE changes.customer ALTER change_id TYPE text'),
	('ALTER TABLE changes.customer SET UNLOGGED'),
	('CREATE TABLE logs (LIKE changes.customer) PARTITION BY LIST (id); ALTER TABLE logs ATTACH PARTITION changes.customer DEFAULT'),
	('ALTER TABLE changes.customer DISABLE TRIGGER ALL'),
	('DROP TABLE changes.customer'),
	('ALTER TABLE customer ENABLE TRIGGER ALL'),
	('ALTER TABLE customer SET UNLOGGED'),
	('CREATE TABLE heir () INHERITS (customer)'),
	('ALTER TABLE customer DROP CONSTRAINT customer_pkey'),
	('ALTER TABLE customer ALTER id TYPE int')) AS c (command);
SELECT events, problem_after(format('ALTER TABLE customer DISABLE TRIGGER ALL; CREATE TRIGGER own AFTER %s EXECUTE FUNCTION public.changes_log_trigger(); ALTER TABLE customer ENABLE ALWAYS TRIGGER own', events))
FROM (VALUES
	('INSERT OR UPDATE OR DELETE ON customer FOR EACH ROW'),
	('INSERT OR UPDATE ON customer FOR EACH ROW'),
	('INSERT OR DELETE OR UPDATE OF id ON customer FOR EACH ROW'),
	('INSERT OR UPDATE OR DELETE ON customer FOR EACH ROW WHEN (false)')) AS t (events);
BEGIN;
DROP TABLE changes.customer;
SELECT * FROM read('billing');
ROLLBACK;
BEGIN;
ALTER TABLE customer ALTER id TYPE int;
UPDATE customer SET name = 'Zoe';
SELECT * FROM read('billing');
ROLLBACK;
-- a transaction that has changed rows and alters the log writes one entry, which stands for all rows
BEGIN;
INSERT INTO customer VALUES (6, 'Tom'), (7, 'Sue');
ALTER TABLE changes.customer ADD x int;
COMMIT;
SELECT id, x FROM changes.customer;
SELECT public.changes_track('customer');
SELECT confirmed_page();

-- keys of several columns, of domains and of text that is equal in several forms
CREATE DOMAIN code AS text NOT NULL CHECK (value <> '');
CREATE TABLE stock ("place of" code, change_id numeric, amount int, PRIMARY KEY (change_id, "place of"));
SELECT public.changes_track('stock', log_name => 'Stock log');
SELECT public.changes_done('r') FROM public.changes_read('r', NULL::stock);
INSERT INTO stock VALUES ('a', 1.0, 1), ('b', 1.00, 2);
UPDATE stock SET change_id = 1 WHERE "place of" = 'a';
SELECT change_type, data FROM public.changes_read('r', NULL::stock);
SELECT * FROM changes."Stock log" WHERE false;
SELECT public.changes_done('r');
SELECT public.changes_untrack('stock');
SELECT count(*) FROM pg_trigger WHERE tgrelid = 'stock'::regclass;

-- a key of as many columns as a key can have
DO $$BEGIN
	EXECUTE (SELECT format('CREATE TABLE wide (%s, PRIMARY KEY (%s))', string_agg(c || ' int DEFAULT ' || n, ', '), string_agg(c, ', '))
			 FROM generate_series(1, 32) AS n, concat('c', n) AS c);
END$$;
SELECT public.changes_track('wide');
SELECT public.changes_done('r') FROM public.changes_read('r', NULL::wide);
INSERT INTO wide DEFAULT VALUES;
SELECT change_type, (data).c1, (data).c32 FROM public.changes_read('r', NULL::wide);
SELECT public.changes_untrack('wide');

-- a key that is stored out of line is logged, even if the same transaction removes what is stored there
CREATE TABLE document (title text PRIMARY KEY);
ALTER TABLE document ALTER title SET STORAGE external;
SELECT public.changes_track('document');
INSERT INTO document VALUES (repeat('x', 2600));
BEGIN;
DELETE FROM document;
TRUNCATE document;
COMMIT;
SELECT length(title) FROM changes.document ORDER BY change_id;
SELECT public.changes_untrack('document');
DROP TABLE wide, document;

-- partitions: rows that move, writes to a partition, TRUNCATE of a partition, a new partition
CREATE TABLE visit (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
CREATE TABLE visit_1 PARTITION OF visit FOR VALUES FROM (1) TO (10);
CREATE TABLE visit_2 (note text, id int NOT NULL);
ALTER TABLE visit ATTACH PARTITION visit_2 FOR VALUES FROM (10) TO (20);
CREATE TABLE visit_4 PARTITION OF visit FOR VALUES FROM (30) TO (50) PARTITION BY RANGE (id);
CREATE TABLE visit_40 PARTITION OF visit_4 FOR VALUES FROM (40) TO (50);
SELECT public.changes_track('visit');
SELECT public.changes_done('r') FROM public.changes_read('r', NULL::visit);
INSERT INTO visit VALUES (1, 'one'), (10, 'ten'), (40, 'in a partition of a partition');
UPDATE visit SET id = 12 WHERE id = 1;
INSERT INTO visit_2 VALUES ('direct', 11);
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
SELECT public.changes_done('r');
CREATE TABLE visit_3 (id int NOT NULL, note text);
INSERT INTO visit_3 VALUES (20, 'attached');
ALTER TABLE visit ATTACH PARTITION visit_3 FOR VALUES FROM (20) TO (30);
-- this call logs the rows of the new partition, if it is committed, and the next one returns them
BEGIN;
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
ROLLBACK;
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
SELECT without_truncate_trigger FROM public.changes_tables WHERE source = 'visit'::regclass;
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
SELECT public.changes_done('r', NULL);
TRUNCATE visit_1;
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
SELECT public.changes_done('r');
SELECT public.changes_track('visit', dropped_partitions => 'ignore');
ALTER TABLE visit DETACH PARTITION visit_3;
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
SELECT count(*) FROM visit_3;
SELECT public.changes_track('visit', dropped_partitions => 'reset');
DROP TABLE visit_2;
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
SELECT public.changes_done('r');
SELECT change_type FROM public.changes_read('r', NULL::visit_1);
SELECT public.changes_track('visit_1');
SELECT public.changes_untrack('visit');
DROP TABLE visit, visit_3;

-- only some operations
CREATE TABLE outbox (id int PRIMARY KEY);
SELECT public.changes_track('outbox', operations => '{insert}');
SELECT public.changes_done('relay') FROM public.changes_read('relay', NULL::outbox);
INSERT INTO outbox VALUES (1), (2);
DELETE FROM outbox WHERE id = 1;
-- row 1 does not exist any more
SELECT change_type, data FROM public.changes_read('relay', NULL::outbox);
SELECT public.changes_track('outbox', operations => '{insert,delete}');
SELECT public.changes_done('relay') FROM public.changes_read('relay', NULL::outbox);
DELETE FROM outbox;
SELECT change_type, data FROM public.changes_read('relay', NULL::outbox);
SELECT public.changes_untrack('outbox');

-- what is refused
CREATE TABLE keyless (id int);
CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY);
CREATE TEMPORARY TABLE temporary (id int PRIMARY KEY);
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child () INHERITS (parent);
CREATE VIEW view AS SELECT 1 AS id;
CREATE TABLE changes.outbox (id int);
CREATE TABLE deferred (id numeric PRIMARY KEY DEFERRABLE);
CREATE TABLE swapped (id int PRIMARY KEY DEFERRABLE, name text);
SELECT public.changes_track('deferred');
SELECT public.changes_track('swapped');
SELECT public.changes_untrack('swapped');
SELECT public.changes_track('keyless');
SELECT public.changes_track('unlogged');
SELECT public.changes_track('temporary');
SELECT public.changes_track('parent');
SELECT public.changes_track('child');
SELECT public.changes_track('view');
SELECT public.changes_track('pg_class');
SELECT public.changes_track('outbox');
SELECT public.changes_track('outbox', '{insert}');
SELECT public.changes_track('outbox', operations => '{select}');
SELECT public.changes_track('outbox', dropped_partitions => 'keep');
SELECT public.changes_track('outbox', reader_expiry => '0');
SELECT public.changes_track('outbox', reader_expiry => '-12 mons 361 days');
\echo :LAST_ERROR_SQLSTATE
SELECT public.changes_reset('outbox');
SELECT * FROM public.changes_read('billing', NULL::outbox);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM public.changes_read('', NULL::customer);
SELECT * FROM public.changes_read('billing', NULL::customer, 0);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM public.changes_read('billing', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM public.changes_read('billing', NULL::customer, after => 'changes1.a');
SELECT public.changes_forget('nobody', 'customer');
SELECT public.changes_done('nobody');
\echo :LAST_ERROR_SQLSTATE
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM public.changes_read('billing', NULL::customer);
ROLLBACK;

-- privileges: writers need none on the log; readers need SELECT on table and log, and keep it on a new log
CREATE ROLE changes_writer;
CREATE ROLE changes_other;
GRANT SELECT, INSERT ON customer TO changes_writer, changes_other;
GRANT SELECT ON changes.customer TO changes_other;
ALTER TABLE customer DISABLE TRIGGER ALL;
SELECT public.changes_track('customer');
SELECT confirmed_page();
SET ROLE changes_other;
SELECT change_type FROM public.changes_read('other', NULL::customer);
SELECT public.changes_done('other');
SET ROLE changes_writer;
INSERT INTO customer VALUES (9, 'by a writer');
SELECT * FROM public.changes_read('writer', NULL::customer);
SELECT public.changes_track('customer');
\echo :LAST_ERROR_SQLSTATE
SELECT public.changes_untrack('customer');
SELECT public.changes_reset('customer');
SELECT public.changes_register(jsonb_populate_record(NULL::uuid9562_changes.changes_catalog, '{"source": "customer"}'));
SELECT public.changes_forget('other', 'customer');
SELECT public.changes_done('other');
SELECT public.changes_log_rows('customer');
SELECT public.changes_delete('changes.customer', '00000000-0000-0000-0000-000000000000', public.uuidv7_ordered(), 1);
UPDATE uuid9562_changes.changes_catalog SET source = 'outbox';
-- nobody changes or removes a reader of others, who would lose changes, or lets a reader hold back a purge
UPDATE uuid9562_changes.changes_reader SET confirmed = NULL WHERE reader = 'other' RETURNING reader;
DELETE FROM uuid9562_changes.changes_reader WHERE reader = 'other' RETURNING reader;
INSERT INTO uuid9562_changes.changes_reader SELECT (jsonb_populate_record(r, '{"reader": "new"}')).* FROM uuid9562_changes.changes_reader AS r WHERE reader = 'other';
INSERT INTO uuid9562_changes.changes_reader SELECT (jsonb_populate_record(r, '{"source": "outbox", "owner": "changes_writer"}')).* FROM uuid9562_changes.changes_reader AS r WHERE reader = 'other';
-- nobody lets changes of an own table write into the log of others, whose readers would get wrong keys
CREATE TEMPORARY TABLE own (id bigint PRIMARY KEY);
SELECT public.changes_register(jsonb_populate_record(c, '{"source": "own"}')) FROM uuid9562_changes.changes_catalog AS c;
SET SESSION AUTHORIZATION changes_writer;
SELECT public.changes_purge('customer', '10 min');
SELECT public.changes_purge('customer', '599 s');
SELECT public.changes_purge('customer', '-12 mons 361 days');
RESET SESSION AUTHORIZATION;
SELECT public.changes_purge('customer', NULL);
\echo :LAST_ERROR_SQLSTATE
SELECT public.changes_purge('customer', max_entries => 0);
GRANT SELECT ON changes.customer TO changes_writer;
SET ROLE changes_writer;
SELECT * FROM public.changes_read('other', NULL::customer);
SELECT change_type FROM public.changes_read('writer', NULL::customer);
RESET ROLE;
SELECT data FROM public.changes_read('billing', NULL::customer);
ALTER TABLE customer ENABLE ROW LEVEL SECURITY;
SET ROLE changes_other;
SELECT * FROM public.changes_read('other', NULL::customer);
RESET ROLE;

-- functions that the others call
SELECT public.changes_is_log(log), public.changes_is_log(source) FROM public.changes_tables;
SELECT cardinality(parts), cardinality(structure) > 3, problem FROM public.changes_state('customer');
SELECT identity AS before FROM uuid9562_changes.changes_catalog \gset
SELECT public.changes_notice('customer');
SELECT identity = :'before' FROM uuid9562_changes.changes_catalog;
SELECT public.changes_is_lost(branch, public.uuidv7_ordered(), timeline, lsn),
	   public.changes_is_lost('0', public.uuidv7_ordered(), timeline, lsn),
	   public.changes_is_lost(branch, public.uuidv7_ordered(), timeline, lsn + 1000000000)
FROM public.changes_place(true);
SELECT waiting.entries, waiting.first = (SELECT min(change_id::text)::uuid FROM changes.customer) AS is_first
FROM public.changes_waiting('changes.customer', '00000000-0000-0000-0000-000000000000') AS waiting;
REVOKE SELECT ON changes.customer FROM changes_writer;
SET ROLE changes_writer;
SELECT * FROM public.changes_waiting('changes.customer', '00000000-0000-0000-0000-000000000000');
RESET ROLE;
SELECT public.changes_log_trigger();
\echo :LAST_ERROR_SQLSTATE
CREATE TRIGGER wrong BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION public.changes_log_trigger();
INSERT INTO outbox VALUES (3);

SELECT public.changes_untrack('customer');
SELECT * FROM public.changes_tables;
SELECT * FROM uuid9562_changes.changes_reader;
DROP TABLE deferred, swapped, customer, stock, outbox, keyless, unlogged, child, parent CASCADE;
DROP VIEW view;
DROP DOMAIN code;
DROP TYPE address, kind;
DROP TABLE own;
DROP SCHEMA changes CASCADE;
DROP ROLE changes_writer, changes_other;
