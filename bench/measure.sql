-- How the sides of a query are timed: they take turns, each so many times in a
-- round.  Run by scripts/bench before queries.sql, periods.sql and planning.sql.
CREATE TABLE sides (measure text, side text, query text, times int);
CREATE TABLE timings (measure text, side text, round int, ms float8);

-- The CPU time of each query, or with "planning" the time that the planner says it took.
CREATE PROCEDURE measure(rounds int, planning boolean DEFAULT false) LANGUAGE plpgsql AS $$
DECLARE
	s record;
	began float8;
	plan json;
BEGIN
	TRUNCATE timings;
	-- round 0 warms the caches
	FOR round IN 0 .. rounds
	LOOP
		FOR s IN SELECT sides.* FROM generate_series(1, 20) AS turn JOIN sides ON turn <= times ORDER BY measure, turn, side
		LOOP
			IF planning THEN
				EXECUTE 'EXPLAIN (SUMMARY, FORMAT JSON) ' || s.query INTO plan;
				INSERT INTO timings VALUES (s.measure, s.side, round, (plan -> 0 ->> 'Planning Time')::float8);
			ELSE
				began := floor.cpu();
				EXECUTE s.query;
				INSERT INTO timings VALUES (s.measure, s.side, round, floor.cpu() - began);
			END IF;
		END LOOP;
		COMMIT;
	END LOOP;
	DELETE FROM timings WHERE round = 0;
	TRUNCATE sides;
END$$;
