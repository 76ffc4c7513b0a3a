-- Measure the CPU time of the guard trigger.
CREATE FUNCTION floor.after() RETURNS trigger LANGUAGE c AS :'floor', 'floor_after';
CREATE TABLE inserted ();
SELECT least(:rows, 200000) AS many \gset

-- Compare the guard with a trigger that does nothing after each row.
SELECT current_setting('data_directory') || '/many' AS file \gset
COPY (SELECT 'A message of 30 characters...' FROM generate_series(1, :many)) TO :'file';
INSERT INTO sides (measure, side, statement, scale, before)
SELECT format('s, %s of %s rows', command, :many), side, statement, 0.001,
	   'DROP TABLE inserted; CREATE TABLE inserted (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), body text); CHECKPOINT; ' || trigger
FROM (VALUES ('INSERT', format('INSERT INTO inserted (body) SELECT ''A message of 30 characters...'' FROM generate_series(1, %s)', :many)),
			 ('COPY', format('COPY inserted (body) FROM %L', :'file'))) AS a (command, statement),
	 (VALUES (1, 'no trigger', ''),
			 (2, 'uuidv7_guard_trigger(), AFTER', 'CREATE TRIGGER guard AFTER INSERT OR UPDATE ON inserted FOR EACH ROW EXECUTE FUNCTION public.uuidv7_guard_trigger(''id'')'),
			 (3, 'floor: an AFTER trigger that does nothing', 'CREATE TRIGGER guard AFTER INSERT OR UPDATE OF id ON inserted FOR EACH ROW EXECUTE FUNCTION floor.after()')) AS b (no, side, trigger)
ORDER BY command, no;
