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

CREATE FUNCTION read(reader text, page int DEFAULT 1000, after text DEFAULT NULL) RETURNS TABLE (type text, data customer)
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

-- TRUNCATE means that readers copy the table
SELECT public.changes_done('billing') FROM read('billing');
TRUNCATE customer;
INSERT INTO customer VALUES (1, 'Zoe');
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT * FROM read('billing');

-- so does a column with a default, and changes_reset()
ALTER TABLE customer ADD COLUMN state text DEFAULT 'new';
SELECT * FROM read('billing');
SELECT public.changes_done('billing');
SELECT * FROM read('billing');
SELECT public.changes_reset('customer');
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

-- entries that all readers have confirmed are deleted
SELECT type FROM read('outside');
SELECT public.changes_forget('outside', 'customer');
INSERT INTO customer VALUES (2, 'Yan'), (3, 'Xia');
SELECT public.changes_purge('customer', '0');
SELECT public.changes_done('billing') FROM read('billing');
SELECT public.changes_purge('customer', '0');
SELECT count(*) FROM changes.customer;

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

-- partitions: rows that move, writes to a partition, TRUNCATE of a partition, a new partition
CREATE TABLE visit (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
CREATE TABLE visit_1 PARTITION OF visit FOR VALUES FROM (1) TO (10);
CREATE TABLE visit_2 (note text, id int NOT NULL);
ALTER TABLE visit ATTACH PARTITION visit_2 FOR VALUES FROM (10) TO (20);
SELECT public.changes_track('visit');
SELECT public.changes_done('r') FROM public.changes_read('r', NULL::visit);
INSERT INTO visit VALUES (1, 'one'), (10, 'ten');
UPDATE visit SET id = 12 WHERE id = 1;
INSERT INTO visit_2 VALUES ('direct', 11);
SELECT change_type, data FROM public.changes_read('r', NULL::visit);
SELECT public.changes_done('r');
CREATE TABLE visit_3 (id int NOT NULL, note text);
INSERT INTO visit_3 VALUES (20, 'attached');
ALTER TABLE visit ATTACH PARTITION visit_3 FOR VALUES FROM (20) TO (30);
-- this call logs the rows of the new partition, and the next one returns them
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
SELECT public.changes_reset('outbox');
SELECT * FROM public.changes_read('billing', NULL::outbox);
SELECT * FROM public.changes_read('', NULL::customer);
SELECT * FROM public.changes_read('billing', NULL::customer, 0);
SELECT * FROM public.changes_read('billing', 1);
SELECT * FROM public.changes_read('billing', NULL::customer, after => 'changes1.a');
SELECT public.changes_forget('nobody', 'customer');
SELECT public.changes_done('nobody');
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM public.changes_read('billing', NULL::customer);
ROLLBACK;

-- privileges: writers need none on the log; readers need SELECT on table and log
CREATE ROLE changes_writer;
CREATE ROLE changes_other;
GRANT SELECT, INSERT ON customer TO changes_writer, changes_other;
GRANT SELECT ON changes.customer TO changes_other;
SET ROLE changes_other;
SELECT change_type FROM public.changes_read('other', NULL::customer);
SELECT public.changes_done('other');
SET ROLE changes_writer;
INSERT INTO customer VALUES (9, 'by a writer');
SELECT * FROM public.changes_read('writer', NULL::customer);
SELECT public.changes_track('customer');
SELECT public.changes_untrack('customer');
SELECT public.changes_reset('customer');
SELECT public.changes_register(jsonb_populate_record(NULL::uuid9562_changes.changes_catalog, '{"source": "customer"}'));
SELECT public.changes_forget('other', 'customer');
SELECT public.changes_done('other');
RESET ROLE;
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
CREATE TRIGGER wrong BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION public.changes_log_trigger();
INSERT INTO outbox VALUES (3);

SELECT public.changes_untrack('customer');
SELECT * FROM public.changes_tables;
SELECT * FROM uuid9562_changes.changes_reader;
DROP TABLE deferred, swapped, customer, stock, outbox, keyless, unlogged, child, parent CASCADE;
DROP VIEW view;
DROP DOMAIN code;
DROP SCHEMA changes CASCADE;
DROP ROLE changes_writer, changes_other;
