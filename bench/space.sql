-- Measure what a column created_at with its own index costs: the seconds of CPU time for inserting
-- at most 500,000 rows with and without it, and the size of the table and its indexes.
SELECT least(:rows, 500000) AS rows \gset
CREATE TABLE loaded ();
CREATE TABLE tables (no int, side text, rest text);
INSERT INTO tables VALUES
	(1, 'key uuidv7_next()', ')'),
	(2, 'key uuidv7_next(), indexed created_at',
	 ', created_at timestamptz NOT NULL DEFAULT clock_timestamp()); CREATE INDEX ON loaded (created_at)');

INSERT INTO sides (measure, side, statement, runs, scale, before)
SELECT 's, inserting ' || :rows || ' rows', side, format('INSERT INTO loaded (n) SELECT generate_series(1, %s)', :rows), 1, 0.001,
	   'DROP TABLE loaded; CREATE TABLE loaded (id uuid PRIMARY KEY DEFAULT public.uuidv7_next(), n int NOT NULL'
	   || rest || '; CHECKPOINT'
FROM tables ORDER BY no;

CREATE PROCEDURE size_of_rows() LANGUAGE plpgsql AS $$
DECLARE
	s record;
BEGIN
	FOR s IN SELECT * FROM sides ORDER BY no
	LOOP
		EXECUTE s.before;
		EXECUTE s.statement;
		INSERT INTO figures (measure, side, round, value)
		SELECT replace(replace(s.measure, 's, inserting', 'MB,'), 'rows', 'rows with indexes'), s.side, 1, pg_total_relation_size('loaded') / 1048576.0;
		COMMIT;
	END LOOP;
END$$;
