-- Measure the CPU time of transactions that change a table with and without a log of changes.  The
-- time includes COMMIT, which writes the log.
SELECT least(:rows, 50000) AS many \gset
CREATE FUNCTION floor.after() RETURNS trigger LANGUAGE c AS :'floor', 'floor_after';
CREATE TABLE tables (no int GENERATED ALWAYS AS IDENTITY, name text, side text, before text);
CREATE TABLE plain (id bigint PRIMARY KEY, body text NOT NULL);
INSERT INTO tables (name, side, before) VALUES ('plain', 'no trigger', 'TRUNCATE plain');
CREATE TABLE empty (LIKE plain INCLUDING ALL);
CREATE TRIGGER floor AFTER INSERT OR UPDATE OR DELETE ON empty FOR EACH ROW EXECUTE FUNCTION floor.after();
INSERT INTO tables (name, side, before) VALUES ('empty', 'floor: an AFTER trigger that does nothing', 'TRUNCATE empty');
CREATE TABLE logged (LIKE plain INCLUDING ALL);
SELECT public.changes_track('logged') AS log \gset
INSERT INTO tables (name, side, before) VALUES ('logged', 'the log of changes_track()', 'TRUNCATE logged; TRUNCATE changes.logged');
CREATE TABLE statements (no int GENERATED ALWAYS AS IDENTITY, measure text, statement text);
INSERT INTO statements (measure, statement)
SELECT format('ms, %s of %s rows', split_part(statement, ' ', 1), :many), statement
FROM (VALUES (format('INSERT INTO %%I SELECT n, ''A message of 30 characters...'' FROM generate_series(1, %s) AS n', :many)),
			 ('UPDATE %I SET body = ''Another message of 30 letters'''),
			 ('DELETE FROM %I')) AS a (statement);

-- As the procedure of measure.sql, but each statement is a transaction.  At the end, each table has
-- the rows for single-row transactions.
CREATE OR REPLACE PROCEDURE time_sides(round int) LANGUAGE plpgsql AS $$
DECLARE
	t record;
	s record;
	began float8;
	took float8[];
BEGIN
	FOR t IN
		SELECT * FROM tables ORDER BY (no - round + 100) % 4
	LOOP
		took := '{}';
		FOR run IN 1 .. 3
		LOOP
			EXECUTE t.before;
			COMMIT;
			CHECKPOINT;
			FOR s IN SELECT * FROM statements ORDER BY no
			LOOP
				began := floor.cpu();
				EXECUTE format(s.statement, t.name);
				COMMIT;
				took[s.no] := least(took[s.no], floor.cpu() - began);
			END LOOP;
		END LOOP;
		INSERT INTO figures (measure, side, round, value) SELECT measure, t.side, round, took[no] FROM statements;
		EXECUTE format((SELECT statement FROM statements ORDER BY no LIMIT 1), t.name);
		COMMIT;
	END LOOP;
	DELETE FROM figures WHERE figures.round = 0;
END$$;
