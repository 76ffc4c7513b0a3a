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
-- earlier versions had a log for each table, whose name changes_track() returned
INSERT INTO tables (name, side, before) SELECT 'logged', 'the log of changes_track()', CASE WHEN :'log' = '' THEN 'TRUNCATE logged; SELECT public.changes_purge(''logged'', ''0'')' ELSE 'TRUNCATE logged; TRUNCATE ' || :'log' END;

-- what users write themselves: a time with an index, and a log that statement triggers fill
CREATE TABLE stamped (LIKE plain INCLUDING ALL, updated_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX ON stamped (updated_at);
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.updated_at := now(); RETURN NEW; END';
CREATE TRIGGER stamp BEFORE UPDATE ON stamped FOR EACH ROW EXECUTE FUNCTION stamp();
INSERT INTO tables (name, side, before) VALUES ('stamped', 'updated_at, set by a trigger, with an index', 'TRUNCATE stamped');
CREATE TABLE copied (LIKE plain INCLUDING ALL);
CREATE TABLE copied_keys (no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bigint);
CREATE FUNCTION log_new() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO copied_keys (id) SELECT id FROM new_rows; RETURN NULL; END';
CREATE FUNCTION log_old() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO copied_keys (id) SELECT id FROM old_rows; RETURN NULL; END';
CREATE TRIGGER log_insert AFTER INSERT ON copied REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_new();
CREATE TRIGGER log_update AFTER UPDATE ON copied REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_new();
CREATE TRIGGER log_delete AFTER DELETE ON copied REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION log_old();
INSERT INTO tables (name, side, before) VALUES ('copied', 'statement triggers that log keys', 'TRUNCATE copied, copied_keys');
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
		SELECT * FROM tables ORDER BY (no - round + 100) % 5
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

CREATE TABLE quiet (LIKE plain INCLUDING ALL);
SELECT public.changes_track('quiet') AS log \gset

-- A log with many entries that reader "unread" has not read.  Nobody has analyzed it.
CREATE TABLE big (LIKE plain INCLUDING ALL);
SELECT public.changes_track('big') AS log \gset
SELECT public.changes_done('unread', change_position) FROM public.changes_read('unread', NULL::big);
INSERT INTO big SELECT n, 'A message of 30 characters...' FROM generate_series(1, 5 * :rows) AS n;

-- Return the median elapsed time of pages of 1000 entries of that log, in milliseconds.
CREATE FUNCTION time_unread() RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	took float8[];
BEGIN
	FOR n IN 1 .. 5
	LOOP
		began := clock_timestamp();
		PERFORM public.changes_read('unread', NULL::big);
		took[n] := (extract(epoch FROM clock_timestamp() - began) * 1e3)::float8;
	END LOOP;
	RETURN percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM unnest(took) AS ms;
END$$;

-- Let the reader confirm two fifths of the entries, and purge these.
CREATE PROCEDURE purge_entries(rows int) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM public.changes_done('unread', (array_agg(change_position ORDER BY n DESC))[1])
	FROM public.changes_read('unread', NULL::big, 2 * rows) WITH ORDINALITY AS page (change_type, data, change_position, n);
	COMMIT;
	PERFORM public.changes_purge('big', '0');
END$$;

-- Measure pages of a reader that has copied the table "logged", in elapsed time.
CREATE PROCEDURE time_pages(round int) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz;
	took float8[] := '{}';
	a_position text;
BEGIN
	PERFORM public.changes_done('bench', change_position) FROM public.changes_read('bench', NULL::logged) WHERE change_type = 'reset';
	COMMIT;
	-- confirm what is left, so that the next pages are empty
	LOOP
		PERFORM public.changes_read('bench', NULL::logged, 1000000);
		EXIT WHEN NOT FOUND;
		PERFORM public.changes_done('bench');
		COMMIT;
	END LOOP;
	FOR n IN 1 .. 200
	LOOP
		COMMIT;
		began := clock_timestamp();
		PERFORM public.changes_read('bench', NULL::logged);
		took := took || (extract(epoch FROM clock_timestamp() - began) * 1e3)::float8;
	END LOOP;
	INSERT INTO figures (measure, side, round, value)
	SELECT 'ms, a page', 'empty', round, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM unnest(took) AS ms;
	took := '{}';
	FOR n IN 1 .. 100
	LOOP
		UPDATE logged SET body = 'Changed again, 30 characters' WHERE id = n;
		COMMIT;
		began := clock_timestamp();
		PERFORM public.changes_read('bench', NULL::logged);
		IF NOT FOUND THEN
			RAISE 'a committed change is not read';
		END IF;
		took := took || (extract(epoch FROM clock_timestamp() - began) * 1e3)::float8;
		PERFORM public.changes_done('bench');
		COMMIT;
	END LOOP;
	INSERT INTO figures (measure, side, round, value)
	SELECT 'ms, a page', 'with a change, right after its commit', round, percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) FROM unnest(took) AS ms;
	INSERT INTO figures (measure, side, round, value)
	VALUES ('ms, a page', format('of 1000 among %s unread entries', (SELECT count(*) FROM big)), round, time_unread());
END$$;
