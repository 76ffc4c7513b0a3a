-- What scripts/bench measures the horizon with.
CREATE TABLE made (id uuid PRIMARY KEY DEFAULT public.uuidv7());

-- Wait until so many sessions of pgbench have made their ids and sleep.
CREATE PROCEDURE wait_for_sleepers(wanted int) LANGUAGE plpgsql AS $$
BEGIN
	WHILE (SELECT count(*) < wanted FROM pg_stat_activity WHERE wait_event = 'PgSleep')
	LOOP
		COMMIT;
		PERFORM pg_sleep(0.1);
	END LOOP;
END$$;

-- Microseconds a call, the median of a thousand: each in a transaction of its own
-- and after another commit, since what was answered for a snapshot is remembered.
CREATE PROCEDURE time_horizon(INOUT us float8) LANGUAGE plpgsql AS $$
DECLARE
	times float8[];
	began timestamptz;
BEGIN
	FOR i IN 1 .. 1000
	LOOP
		INSERT INTO made DEFAULT VALUES;
		COMMIT;
		began := clock_timestamp();
		PERFORM public.uuidv7_horizon();
		times := times || (extract(epoch FROM clock_timestamp() - began) * 1e6)::float8;
	END LOOP;
	SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY time) INTO us FROM unnest(times) AS time;
END$$;

-- Transactions of one row, one after the other; how many a second.
CREATE PROCEDURE write_shortly(seconds float8, INOUT rate float8 DEFAULT NULL) LANGUAGE plpgsql AS $$
DECLARE
	began timestamptz := clock_timestamp();
BEGIN
	rate := 0;
	WHILE clock_timestamp() < began + make_interval(secs => seconds)
	LOOP
		INSERT INTO made DEFAULT VALUES;
		COMMIT;
		rate := rate + 1;
	END LOOP;
	rate := rate / seconds;
END$$;

-- Read on every 10 ms: how long after it was made was a row read at the latest, and
-- how long did it take from one poll to the next, in ms?
CREATE PROCEDURE poll(seconds float8, INOUT lag float8, INOUT longest float8) LANGUAGE plpgsql AS $$
DECLARE
	ends timestamptz := clock_timestamp() + make_interval(secs => seconds);
	began timestamptz := clock_timestamp();
	last uuid := public.uuidv7_horizon();
	found float8;
	newest uuid;
BEGIN
	lag := 0;
	longest := 0;
	WHILE clock_timestamp() < ends
	LOOP
		COMMIT;
		PERFORM pg_sleep(0.01);
		SELECT max(extract(epoch FROM clock_timestamp() - public.uuidv7_timestamp_micros(id)) * 1000), (array_agg(id ORDER BY id DESC))[1]
		INTO found, newest FROM made WHERE id > last AND id < public.uuidv7_horizon();
		last := coalesce(newest, last);
		lag := greatest(lag, found);
		longest := greatest(longest, extract(epoch FROM clock_timestamp() - began) * 1000);
		began := clock_timestamp();
	END LOOP;
END$$;
