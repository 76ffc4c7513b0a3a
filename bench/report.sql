-- The figures of scripts/bench as Markdown: a table for each part, and the bars.
-- Run there, with the table "figures" filled.

CREATE VIEW medians AS
SELECT part, measure, side, size,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median, min(value) AS least, max(value) AS most
FROM figures GROUP BY part, measure, side, size;

-- Which parts were run.
SELECT bool_or(part = 'calls') AS has_calls, bool_or(part = 'growth') AS has_growth, bool_or(part = 'bulk') AS has_bulk,
	   bool_or(part = 'loading') AS has_loading, bool_or(part = 'sessions') AS has_sessions,
	   bool_or(part = 'locks') AS has_locks, bool_or(part = 'queries') AS has_queries, bool_or(part <> 'locks') AS has_bars, max(round) AS rounds
FROM figures \gset

CREATE FUNCTION figure(value float8, decimals int) RETURNS text LANGUAGE sql IMMUTABLE RETURN
	coalesce(round(value::numeric, decimals)::text, '');

\if :has_calls
\qecho '### One call'
\qecho
\qecho 'Nanoseconds a call, ten calls to a row; the same scan with ten NULLs is taken off.'
\qecho 'An argument in lower case is a column: reading it is included. The floor of a'
\qecho 'function is what a C function of its kind costs that does nothing else.'
\qecho
\qecho '| function | median | least | most | times its floor | times uuidv7() |'
\qecho '| --- | ---: | ---: | ---: | ---: | ---: |'
CREATE VIEW calls AS
SELECT side, median, least, most,
	   CASE WHEN side ~ '^floor|clock_timestamp' THEN NULL
			WHEN side ~ 'extract_(version|timestamp|clock_seq)|timestamp(_micros|tz)?\(|node_id|is_v7' THEN 'floor: read 8 octets'
			WHEN side ~ '\((v[1678]|time|n|urn)\M' THEN 'floor: copy 16 octets'
			WHEN side ~ 'v4\(|random_uuid' THEN 'floor: allocate'
			ELSE 'floor: allocate and read the clock' END AS floor
FROM medians WHERE part = 'calls';
SELECT format('| %s | %s | %s | %s | %s | %s |', c.side, figure(c.median, 1), figure(c.least, 1), figure(c.most, 1),
			  figure(c.median / f.median, 2), figure(c.median / v7.median, 2))
FROM calls AS c
	 JOIN calls AS v7 ON v7.side = 'uuidv7()'
	 LEFT JOIN calls AS f ON f.side = c.floor
ORDER BY c.floor NULLS FIRST, c.side ~ ': |PostgreSQL', c.median;
\qecho
\endif

\if :has_growth
\qecho '### A call after many'
\qecho
\qecho 'Nanoseconds a call of uuidv7(), mean of the half million that follow on so many in a session.'
\qecho
\qecho '| after calls | median | least | most |'
\qecho '| ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s |', size, figure(median, 1), figure(least, 1), figure(most, 1))
FROM medians WHERE part = 'growth' ORDER BY size;
\qecho
\endif

\if :has_bulk
\qecho '### Ids fetched ahead'
\qecho
\qecho 'Nanoseconds an id, the whole query, its rows made but not sent.'
\qecho
\qecho '| query | median | least | most | ids a second |'
\qecho '| --- | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s |', side, figure(median, 1), figure(least, 1), figure(most, 1), figure(1e9 / median, 0))
FROM medians WHERE part = 'bulk' ORDER BY median;
\qecho
\endif

\if :has_loading
SELECT size AS loaded FROM medians WHERE part = 'loading' LIMIT 1 \gset
\qecho '### Loading' :loaded 'rows'
\qecho
\qecho '| key | seconds | least | most | times the bigint | WAL, octets a row | index, octets a row | density of index, % |'
\qecho '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s |', s.side, figure(s.median, 2), figure(s.least, 2), figure(s.most, 2),
			  figure(s.median / b.median, 2), figure(w.median, 0), figure(i.median, 1), figure(d.median, 0))
FROM medians AS s
	 JOIN medians AS b ON b.part = 'loading' AND b.measure = 's' AND b.side = 'bigint identity'
	 JOIN medians AS w ON w.part = 'loading' AND w.measure = 'octets of WAL a row' AND w.side = s.side
	 JOIN medians AS i ON i.part = 'loading' AND i.measure = 'octets of index a row' AND i.side = s.side
	 LEFT JOIN medians AS d ON d.part = 'loading' AND d.measure = 'density of index, %' AND d.side = s.side
WHERE s.part = 'loading' AND s.measure = 's' ORDER BY s.median;
\qecho
\endif

\if :has_sessions
\qecho '### Sessions that insert'
\qecho
\qecho 'Batches of twenty rows, each row with the newest id that its session saw before.'
\qecho 'Out of order is a row whose id is less than that.'
\qecho
\qecho '| sessions | key | rows a second | least | most | times the bigint | index, octets a row | out of order, % |'
\qecho '| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s |', s.size, s.side, figure(s.median, 0), figure(s.least, 0), figure(s.most, 0),
			  figure(s.median / b.median, 2), figure(i.median, 1), figure(o.median, 3))
FROM medians AS s
	 JOIN medians AS b ON b.part = 'sessions' AND b.measure = s.measure AND b.size = s.size AND b.side = 'bigint identity'
	 JOIN medians AS i ON i.part = 'sessions' AND i.measure ~ 'index' AND i.size = s.size AND i.side = s.side
	 JOIN medians AS o ON o.part = 'sessions' AND o.measure ~ 'before' AND o.size = s.size AND o.side = s.side
WHERE s.part = 'sessions' AND s.measure = 'rows a second' ORDER BY s.size, s.median DESC;
\qecho
\endif

\if :has_locks
\qecho '### Sharing a generator'
\qecho
\qecho 'Million values a second of all sessions, by what guards a step: nothing, since each'
\qecho 'session has its own; the spinlock that instance scope has; an LWLock; a'
\qecho 'compare-and-swap of time and counter in one word. In C, without SQL.'
\qecho
\qecho '| sessions | nothing | spinlock | LWLock | compare-and-swap |'
\qecho '| ---: | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s |', size, figure(max(median) FILTER (WHERE side = 'none'), 1),
			  figure(max(median) FILTER (WHERE side = 'spinlock'), 1), figure(max(median) FILTER (WHERE side = 'lwlock'), 1),
			  figure(max(median) FILTER (WHERE side = 'swap'), 1))
FROM medians WHERE part = 'locks' GROUP BY size ORDER BY size;
\qecho
\endif

\if :has_queries
\qecho '### One day of a year'
\qecho
\qecho 'Milliseconds, planning included.'
\qecho
\qecho '| rows | condition | count(*) | sum of a column | rows as text | count(*), times the bounds by hand |'
\qecho '| ---: | --- | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s | %s |', c.size, c.side, figure(c.median, 3), figure(s.median, 3), figure(t.median, 3),
			  figure(c.median / h.median, 2))
FROM medians AS c
	 JOIN medians AS s ON s.measure = 'one day, sum of a column' AND s.size = c.size AND s.side = c.side
	 JOIN medians AS t ON t.measure = 'one day, rows as text' AND t.size = c.size AND t.side = c.side
	 JOIN medians AS h ON h.measure = c.measure AND h.size = c.size AND h.side = 'bounds by hand'
WHERE c.measure = 'one day, count(*)' ORDER BY c.size, c.median;
\qecho
SELECT format('The index on created_at takes %s octets a row.', figure(median, 1))
FROM medians WHERE measure = 'octets of index a row' AND part = 'queries' ORDER BY size DESC LIMIT 1;
\qecho
\qecho '| planning | id <@ period, ms | bounds by hand, ms | ratio |'
\qecho '| --- | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s |', replace(o.measure, 'planning, ', ''), figure(o.median, 4), figure(h.median, 4), figure(o.median / h.median, 2))
FROM medians AS o JOIN medians AS h ON h.measure = o.measure AND h.side = 'bounds by hand'
WHERE o.measure LIKE 'planning%' AND o.side = 'id <@ period' ORDER BY o.measure DESC;
\qecho
\endif

\if :has_bars
\qecho '### Bars'
\qecho
\qecho 'Each a ratio of two medians of' :rounds 'rounds, unless it says otherwise.'
\qecho
\qecho '| measure | bar | measured | |'
\qecho '| --- | ---: | ---: | --- |'

-- A median of a part; NULL where it was not measured.
CREATE FUNCTION of_calls(function text) RETURNS float8 LANGUAGE sql STABLE RETURN
	(SELECT median FROM medians WHERE part = 'calls' AND side = function);
CREATE FUNCTION median_of(a_part text, a_measure text, a_side text, a_size bigint DEFAULT NULL) RETURNS float8 LANGUAGE sql STABLE RETURN
	(SELECT median FROM medians
	 WHERE part = a_part AND measure = a_measure AND side = a_side AND size = coalesce(a_size, size) ORDER BY size DESC LIMIT 1);
CREATE FUNCTION of_planning(condition text, a_side text) RETURNS float8 LANGUAGE sql STABLE RETURN
	median_of('queries', 'planning, ' || condition, a_side);

WITH bars (no, name, kind, bar, measured) AS (
	VALUES (1, 'uuidv7() against its floor', '<=', 1.15, of_calls('uuidv7()') / of_calls('floor: allocate and read the clock')),
		   (2, 'uuidv7(), times faster than PostgreSQL''s uuidv7()', '>=', 12, of_calls('PostgreSQL''s uuidv7()') / of_calls('uuidv7()')),
		   (2, 'uuidv7(), times faster than pg_uuidv7', '>=', 12, of_calls('pg_uuidv7: uuid_generate_v7()') / of_calls('uuidv7()')),
		   (2, 'uuidv7(), times faster than TimescaleDB', '>=', 12, of_calls('TimescaleDB: generate_uuidv7()') / of_calls('uuidv7()')),
		   (3, 'uuidv4(), times faster than gen_random_uuid()', '>=', 25, of_calls('PostgreSQL''s gen_random_uuid()') / of_calls('uuidv4()')),
		   (4, 'uuidv6() against uuidv7()', '<=', 1.1, of_calls('uuidv6()') / of_calls('uuidv7()')),
		   (4, 'uuidv8() against uuidv7()', '<=', 1.1, of_calls('uuidv8()') / of_calls('uuidv7()')),
		   (4, 'uuidv1() against uuidv7()', '<=', 1.1, of_calls('uuidv1()') / of_calls('uuidv7()')),
		   (5, 'instance scope against session scope, one session', '<=', 1.5, of_calls('uuidv7(), instance scope') / of_calls('uuidv7()')),
		   (6, 'uuidv7_timestamp() against PostgreSQL''s uuid_extract_timestamp()', '<=', 1.2,
			of_calls('uuidv7_timestamp(v7)') / of_calls('PostgreSQL''s uuid_extract_timestamp(v7)')),
		   (6, 'uuidv1_timestamp() against PostgreSQL''s uuid_extract_timestamp()', '<=', 1.2,
			of_calls('uuidv1_timestamp(v1)') / of_calls('PostgreSQL''s uuid_extract_timestamp(v1)')),
		   (7, 'uuidv1_to_v6() against copying 16 octets', '<=', 1.3, of_calls('uuidv1_to_v6(v1)') / of_calls('floor: copy 16 octets')),
		   (8, format('uuidv7() after %s calls against after %s', (SELECT max(size) FROM medians WHERE part = 'growth'), (SELECT min(size) FROM medians WHERE part = 'growth')), '<=', 1.1,
			(SELECT median FROM medians WHERE part = 'growth' ORDER BY size DESC LIMIT 1) / (SELECT median FROM medians WHERE part = 'growth' ORDER BY size LIMIT 1)),
		   (9, 'uuidv7_batch(), an id, against uuidv7() of each row of generate_series()', '<=', 0.5,
			median_of('bulk', 'ns an id', 'uuidv7_batch(n)') / median_of('bulk', 'ns an id', 'uuidv7() of each row of generate_series(1, n)')),
		   (10, 'uuidv7(), ten to a row, million a second', '>=', 10, 1e3 / median_of('bulk', 'ns an id', 'uuidv7(), ten to a row')),
		   (10, 'uuidv7_batch(), million a second', '>=', 10, 1e3 / median_of('bulk', 'ns an id', 'uuidv7_batch(n)')),
		   (11, 'loading with uuidv7() against a bigint identity', '<=', 1.0,
			median_of('loading', 's', 'uuidv7()') / median_of('loading', 's', 'bigint identity')),
		   (12, 'instance scope against session scope, rows a second, eight sessions', '>=', 0.8,
			median_of('sessions', 'rows a second', 'uuidv7(), instance scope', 8) / median_of('sessions', 'rows a second', 'uuidv7()', 8)),
		   (13, 'instance scope, rows out of order, most of all rounds, %', '<=', 0,
			(SELECT max(most) FROM medians WHERE part = 'sessions' AND measure ~ 'before' AND side = 'uuidv7(), instance scope')),
		   (14, 'instance scope, writes of the mark a second, median', '<=', 1,
			(SELECT max(median) FROM medians WHERE part = 'sessions' AND measure ~ 'writes' AND side = 'uuidv7(), instance scope')),
		   (18, 'planning id <@ period on one table, constant, ms more than bounds by hand', '<=', 0.1,
			of_planning('one table, constant', 'id <@ period') - of_planning('one table, constant', 'bounds by hand')),
		   (18, 'planning id <@ period on one table, now(), ms more than bounds by hand', '<=', 0.1,
			of_planning('one table, now()', 'id <@ period') - of_planning('one table, now()', 'bounds by hand')),
		   (19, 'planning id <@ period on 1,000 partitions, constant, against bounds by hand', '<=', 1.2,
			of_planning('1,000 partitions, constant', 'id <@ period') / of_planning('1,000 partitions, constant', 'bounds by hand')),
		   (19, 'planning id <@ period on 1,000 partitions, now(), against bounds by hand', '<=', 1.2,
			of_planning('1,000 partitions, now()', 'id <@ period') / of_planning('1,000 partitions, now()', 'bounds by hand'))
	UNION ALL
	-- on the largest table
	SELECT no, format(name, what) || format(', %s rows', max(size)), kind, bar,
		   CASE no WHEN 15 THEN median_of('queries', 'one day, ' || what, 'id <@ period') / median_of('queries', 'one day, ' || what, 'bounds by hand')
				   WHEN 16 THEN median_of('queries', 'one day, ' || what, 'id <@ period, with CHECK') / median_of('queries', 'one day, ' || what, 'bounds by hand, with CHECK')
				   ELSE median_of('queries', 'one day, ' || what, 'extracted timestamp') / median_of('queries', 'one day, ' || what, 'id <@ period') END
	FROM medians,
		 (VALUES (15, 'id <@ period against bounds by hand, %s', '<=', 1.1),
				 (16, 'id <@ period against bounds by hand, both with CHECK, %s', '<=', 1.1),
				 (17, 'id <@ period, times faster than the extracted timestamp, %s', '>=', 100)) AS of_queries (no, name, kind, bar),
		 (VALUES ('count(*)'), ('sum of a column')) AS queries (what)
	WHERE part = 'queries' AND measure LIKE 'one day%'
	GROUP BY no, name, kind, bar, what
)
SELECT format('| %s | %s %s | %s | %s |', name, CASE kind WHEN '<=' THEN 'at most' ELSE 'at least' END, bar, figure(measured, 3),
			  CASE WHEN measured IS NULL THEN 'not measured'
				   WHEN kind = '<=' AND measured <= bar OR kind = '>=' AND measured >= bar THEN 'pass'
				   ELSE 'fall short' END)
FROM bars
WHERE (no < 8 AND :'has_calls') OR (no = 8 AND :'has_growth') OR (no IN (9, 10) AND :'has_bulk') OR (no = 11 AND :'has_loading')
   OR (no BETWEEN 12 AND 14 AND :'has_sessions') OR (no > 14 AND :'has_queries')
ORDER BY no, name;
\endif
