-- A sequence and a procedure for the suite "sessions" of scripts/bench.
CREATE SEQUENCE cached CACHE 100;

-- Microseconds per call of uuidv7_horizon(): the median of a thousand calls, each in a new
-- transaction, since the horizon of a snapshot is cached.
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
