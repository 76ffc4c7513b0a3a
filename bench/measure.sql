-- Tables and functions that scripts/bench creates in the database of each suite.
-- The suite "managed" has functions without C instead of the extensions.
SELECT format('CREATE EXTENSION %I', name) FROM pg_available_extensions
WHERE name IN ('uuid9562', 'uuid9562_changes') AND current_database() <> 'managed' ORDER BY name \gexec
CREATE SCHEMA floor;
CREATE FUNCTION floor.allocate() RETURNS uuid LANGUAGE c AS :'floor', 'floor_allocate';
CREATE FUNCTION floor.clock() RETURNS uuid LANGUAGE c AS :'floor', 'floor_clock';
CREATE FUNCTION floor.copy(uuid) RETURNS uuid LANGUAGE c STRICT AS :'floor', 'floor_copy';
CREATE FUNCTION floor.read(uuid) RETURNS bigint LANGUAGE c STRICT AS :'floor', 'floor_read';
CREATE FUNCTION floor.cpu() RETURNS float8 LANGUAGE c AS :'floor', 'floor_cpu';

-- The statements to measure, called sides.  A side's figure is "scale" times the difference between
-- the CPU times of "statement" and "less".  Each statement is executed "runs" times, and its
-- fastest run counts.  "before" is executed before each run.  If "planning" is true, the planning
-- time of "statement" is used instead of its CPU time.
CREATE TABLE sides (
	no int GENERATED ALWAYS AS IDENTITY, measure text, side text, statement text, setting text,
	runs int DEFAULT 5, scale float8 DEFAULT 1, before text DEFAULT '', less text, planning boolean DEFAULT false
);
CREATE TABLE figures (no int GENERATED ALWAYS AS IDENTITY, measure text, side text, round int, value float8);
CREATE TABLE figures_against (LIKE figures);

CREATE FUNCTION fastest(statement text, runs int, before text, planning boolean) RETURNS float8 LANGUAGE plpgsql STRICT AS $$
DECLARE
	began float8;
	plan json;
	best float8 := 'infinity';
BEGIN
	FOR run IN 1 .. runs
	LOOP
		EXECUTE before;
		IF planning THEN
			EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || statement INTO plan;
			best := least(best, (plan -> 0 ->> 'Planning Time')::float8);
		ELSE
			began := floor.cpu();
			EXECUTE statement;
			best := least(best, floor.cpu() - began);
		END IF;
	END LOOP;
	RETURN best;
END$$;

-- Measure each side and add its figure.  In each round, a measure begins with a different side.
-- If a statement fails, for example because it uses an extension that is not installed,
-- remove its side.  Delete the figures of round 0, in which caches are still empty.
CREATE PROCEDURE time_sides(round int) LANGUAGE plpgsql AS $$
DECLARE
	s record;
BEGIN
	FOR s IN
		SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY measure ORDER BY no) AS turn, count(*) OVER (PARTITION BY measure) AS turns FROM sides) AS a
		ORDER BY measure, (turn - round + turns * 100) % turns
	LOOP
		BEGIN
			IF s.setting IS NOT NULL THEN
				PERFORM set_config(split_part(s.setting, '=', 1), split_part(s.setting, '=', 2), true);
			END IF;
			INSERT INTO figures (measure, side, round, value)
			SELECT s.measure, s.side, round,
				   s.scale * (fastest(s.statement, runs, s.before, s.planning) - coalesce(fastest(s.less, runs, s.before, false), 0))
			FROM (SELECT CASE WHEN round = 0 THEN 1 ELSE s.runs END) AS a (runs);
		EXCEPTION WHEN OTHERS THEN
			RAISE NOTICE 'not measured, %: %', s.side, SQLERRM;
			DELETE FROM sides WHERE no = s.no;
		END;
		COMMIT;
	END LOOP;
	DELETE FROM figures WHERE figures.round = 0;
END$$;

-- Round to four significant digits.
CREATE FUNCTION digits(value float8) RETURNS text LANGUAGE sql RETURN
	round(value::numeric, greatest(0, 3 - floor(log(greatest(abs(value), 0.0001)))::int));

-- A line of the report for each side: its median, smallest and greatest figure, and its
-- median divided by the median of the measure's first side.  The last column compares the
-- side with another commit, if there are figures of that commit in figures_against.  Each
-- round's figure is divided by the other commit's figure of the same round.  The column
-- shows the median of these ratios.
CREATE VIEW report AS
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', measure, side, digits(median), digits(least), digits(most),
			  digits(median / nullif(first_value(median) OVER of_measure, 0)), digits(against)) AS line
FROM (SELECT measure, side, min(f.no) AS no, percentile_cont(0.5) WITHIN GROUP (ORDER BY f.value) AS median, min(f.value) AS least,
			 max(f.value) AS most, percentile_cont(0.5) WITHIN GROUP (ORDER BY f.value / nullif(a.value, 0)) AS against
	  FROM figures AS f LEFT JOIN figures_against AS a USING (measure, side, round) GROUP BY measure, side) AS medians
WINDOW of_measure AS (PARTITION BY measure ORDER BY no)
ORDER BY min(no) OVER (PARTITION BY measure), no;
