-- Measure the CPU time of the triggers, and of a page of changes.
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.changed := public.uuidv7_ordered(); RETURN NEW; END';
CREATE FUNCTION floor.guard_before() RETURNS trigger LANGUAGE c AS :'floor', 'floor_guard_before';
CREATE FUNCTION floor.after() RETURNS trigger LANGUAGE c AS :'floor', 'floor_after';
CREATE TABLE inserted ();
CREATE TABLE bare ();
SELECT least(:rows, 200000) AS many \gset

-- Measure how much longer INSERT takes with a trigger that stamps each row.  This includes
-- generating the stamp and storing its 16 bytes.
INSERT INTO sides (measure, side, statement, less, scale, before)
SELECT 'us a row, stamped by', side, format(statement, 'inserted'), format(statement, 'bare'), 1000.0 / :many, before || trigger
FROM (VALUES (format('INSERT INTO %%I (id, body) SELECT n, ''A message of 30 characters...'' FROM generate_series(1, %s) AS n', :many),
			  'DROP TABLE inserted, bare; CREATE TABLE inserted (id bigint, body text, changed uuid); CREATE TABLE bare (LIKE inserted); CHECKPOINT; '
			  'CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON inserted FOR EACH ROW EXECUTE FUNCTION ')) AS a (statement, before),
	 (VALUES ('the same trigger in PL/pgSQL', 'stamp()'),
			 ('uuidv7_stamp_trigger()', 'public.uuidv7_stamp_trigger(''changed'')')) AS b (side, trigger);

-- Compare the guard, which fires after each row, with a trigger that makes the same check before
-- each row, and with a trigger that does nothing after each row.
SELECT current_setting('data_directory') || '/many' AS file \gset
COPY (SELECT 'A message of 30 characters...' FROM generate_series(1, :many)) TO :'file';
INSERT INTO sides (measure, side, statement, scale, before)
SELECT format('s, %s of %s rows', command, :many), side, statement, 0.001,
	   'DROP TABLE inserted; CREATE TABLE inserted (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), body text); CHECKPOINT; ' || trigger
FROM (VALUES ('INSERT', format('INSERT INTO inserted (body) SELECT ''A message of 30 characters...'' FROM generate_series(1, %s)', :many)),
			 ('COPY', format('COPY inserted (body) FROM %L', :'file'))) AS a (command, statement),
	 (VALUES (1, 'no trigger', ''),
			 (2, 'uuidv7_guard_trigger(), AFTER', 'CREATE TRIGGER guard AFTER INSERT OR UPDATE OF id ON inserted FOR EACH ROW EXECUTE FUNCTION public.uuidv7_guard_trigger(''id'')'),
			 (3, 'the same check, BEFORE', 'CREATE TRIGGER guard BEFORE INSERT OR UPDATE OF id ON inserted FOR EACH ROW EXECUTE FUNCTION floor.guard_before(''id'')'),
			 (4, 'floor: an AFTER trigger that does nothing', 'CREATE TRIGGER guard AFTER INSERT OR UPDATE OF id ON inserted FOR EACH ROW EXECUTE FUNCTION floor.after()')) AS b (no, side, trigger)
ORDER BY command, no;

-- Read a page from the middle of a tracked table's changes, some of which are deletions.
SELECT to_regprocedure('public.uuidv7_stamp_trigger()') IS NOT NULL AS tracks \gset
\if :tracks
CREATE TABLE item (id bigint PRIMARY KEY, body text NOT NULL);
INSERT INTO item SELECT n, 'A message of 30 characters...' FROM generate_series(1, :rows) AS n;
\set table item
\i :track
RESET session_replication_role;
RESET search_path;
DELETE FROM item WHERE id % 20 = 0;
UPDATE item SET body = 'changed' WHERE id % 10 = 1;
VACUUM ANALYZE;
CREATE TABLE place AS SELECT changed, public.uuidv7_position(changed, NULL) AS position FROM item ORDER BY changed OFFSET (SELECT count(*) / 2 FROM item) LIMIT 1;
INSERT INTO sides (measure, side, statement)
SELECT format('ms, 1000 of %s rows', :rows), side, statement
FROM place, LATERAL (VALUES
	('the table, by an index', format('SELECT * FROM item WHERE changed > %L ORDER BY changed LIMIT 1000', changed)),
	('the view of changes, with positions', format('SELECT *, public.uuidv7_position(changed, %1$L) FROM item_changes WHERE changed > item_after(%1$L) ORDER BY changed LIMIT 1000', position)))
	AS a (side, statement);
DO $$
DECLARE
	page text := (SELECT statement FROM sides WHERE side LIKE 'the view%');
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || page
	LOOP
		plan := plan || line || E'\n';
	END LOOP;
	IF plan NOT LIKE '%Merge Append%Index Scan using item_changed on%Index Scan using item_deleted_pkey on%' OR plan ~ 'Sort Method|Seq Scan|Hash|-> +Sort' THEN
		RAISE 'a page is not read by two indexes:' USING DETAIL = plan;
	END IF;
END$$;
\endif
