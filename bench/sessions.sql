-- A sequence and procedures for the suite "sessions" of scripts/bench.
CREATE SEQUENCE cached CACHE 100;

-- Return the median duration of a thousand calls of uuidv7_horizon(), in microseconds.
-- Each call is in a new transaction, since a transaction caches its horizons.
CREATE PROCEDURE time_horizon(INOUT us float8) LANGUAGE plpgsql AS $$
DECLARE
	times float8[];
	began timestamptz;
BEGIN
	FOR i IN 1 .. 1000
	LOOP
		INSERT INTO outbox DEFAULT VALUES;
		COMMIT;
		began := clock_timestamp();
		PERFORM public.uuidv7_horizon();
		times := times || (extract(epoch FROM clock_timestamp() - began) * 1e6)::float8;
	END LOOP;
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY time) INTO us FROM unnest(times) AS time;
END$$;

-- Return the CPU time of a commit, in microseconds.
CREATE PROCEDURE time_commits(INOUT us float8) LANGUAGE plpgsql AS $$
DECLARE
	began float8 := floor.cpu();
BEGIN
	FOR i IN 1 .. 20000
	LOOP
		PERFORM pg_current_xact_id();
		COMMIT;
	END LOOP;
	us := (floor.cpu() - began) / 20;
END$$;
