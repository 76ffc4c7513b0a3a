-- The figures of scripts/bench as Markdown: a table for each suite, and the bars.
-- Run there, with the table "figures" filled.

CREATE VIEW medians AS
SELECT suite, measure, side, size, max(round) AS rounds,
	   percentile_cont(0.5) WITHIN GROUP (ORDER BY value) AS median, min(value) AS least, max(value) AS most
FROM figures GROUP BY suite, measure, side, size;

-- Which suites were run.
SELECT bool_or(suite = 'calls') AS has_calls, bool_or(suite = 'loading') AS has_loading,
	   bool_or(suite = 'ordered') AS has_ordered, bool_or(suite = 'queries') AS has_queries
FROM figures \gset

CREATE FUNCTION figure(value float8, decimals int) RETURNS text LANGUAGE sql IMMUTABLE RETURN
	coalesce(round(value::numeric, decimals)::text, '');
-- To four digits, or to the unit.
CREATE FUNCTION digits(value float8) RETURNS text LANGUAGE sql IMMUTABLE RETURN
	figure(value, CASE WHEN abs(value) >= 1 THEN greatest(0, 3 - floor(log(abs(value)))::int) ELSE 4 END);

\if :has_calls
\qecho '### One call'
\qecho
\qecho 'Nanoseconds of CPU time a call, ten calls to a row; the same scan with ten NULLs is taken off.'
\qecho 'An argument in lower case is a column: reading it is included. The floor of a'
\qecho 'function is what a C function of its kind costs that does nothing else.'
\qecho
\qecho '| function | median | least | most | times its floor | times uuidv7() |'
\qecho '| --- | ---: | ---: | ---: | ---: | ---: |'
WITH calls AS (
	SELECT side, median, least, most,
		   CASE WHEN side ~ '^floor|clock_timestamp' THEN NULL
				WHEN side ~ 'extract_(version|timestamp|clock_seq)|timestamp(_micros|tz)?\(|node_id|is_v7' THEN 'floor: read 8 octets'
				WHEN side ~ '\((v[1678]|time|n|urn)\M' THEN 'floor: copy 16 octets'
				WHEN side ~ 'v4\(|random_uuid' THEN 'floor: allocate'
				ELSE 'floor: allocate and read the clock' END AS floor
	FROM medians WHERE measure = 'ns a call' AND suite = 'calls'
)
SELECT format('| %s | %s | %s | %s | %s | %s |', c.side, figure(c.median, 1), figure(c.least, 1), figure(c.most, 1),
			  figure(c.median / f.median, 2), figure(c.median / v7.median, 2))
FROM calls AS c
	 JOIN calls AS v7 ON v7.side = 'uuidv7()'
	 LEFT JOIN calls AS f ON f.side = c.floor
ORDER BY c.floor NULLS FIRST, c.side ~ ': |PostgreSQL', c.median;
\qecho
\endif

\if :has_loading
SELECT max(size) AS loaded FROM medians WHERE suite = 'loading' \gset
\qecho '### Loading' :loaded 'rows'
\qecho
\qecho 'Seconds of CPU time without fsync, seconds that pass with it.'
\qecho
\qecho '| key | seconds | least | most | times the bigint | with fsync | times the bigint | WAL, octets a row | index, octets a row |'
\qecho '| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s | %s | %s | %s | %s |', s.side, figure(s.median, 2), figure(s.least, 2), figure(s.most, 2),
			  figure(s.median / b.median, 2), figure(f.median, 2), figure(f.median / g.median, 2), figure(w.median, 0), figure(i.median, 1))
FROM medians AS s
	 JOIN medians AS b ON b.suite = 'loading' AND b.measure = s.measure AND b.side = 'bigint identity'
	 JOIN medians AS w ON w.suite = 'loading' AND w.measure = 'octets of WAL a row, fsync off' AND w.side = s.side
	 JOIN medians AS i ON i.suite = 'loading' AND i.measure = 'octets of index a row, fsync off' AND i.side = s.side
	 JOIN medians AS f ON f.suite = 'loading' AND f.measure = 's, fsync on' AND f.side = s.side
	 JOIN medians AS g ON g.suite = 'loading' AND g.measure = f.measure AND g.side = b.side
WHERE s.suite = 'loading' AND s.measure = 's of CPU time, fsync off' ORDER BY s.median;
\qecho
\endif

\if :has_ordered
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
	 JOIN medians AS b ON b.suite = 'ordered' AND b.measure = s.measure AND b.size = s.size AND b.side = 'bigint identity'
	 JOIN medians AS i ON i.suite = 'ordered' AND i.measure ~ 'index' AND i.size = s.size AND i.side = s.side
	 JOIN medians AS o ON o.suite = 'ordered' AND o.measure ~ 'out of order' AND o.size = s.size AND o.side = s.side
WHERE s.suite = 'ordered' AND s.measure = 'rows a second' ORDER BY s.size, s.median DESC;
\qecho
\endif

\if :has_queries
\qecho '### One day of a year'
\qecho
\qecho 'Milliseconds of CPU time, planning included.'
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
\endif

-- What no table above has.
CREATE VIEW others AS
SELECT * FROM medians
WHERE NOT (suite = 'calls' AND measure = 'ns a call') AND suite <> 'loading' AND measure NOT LIKE 'one day%'
  AND NOT (suite = 'ordered' AND measure IN ('rows a second', 'rows out of order, %', 'octets of index a row'));
SELECT count(*) > 0 AS has_others FROM others \gset
\if :has_others
\qecho '### All other measures'
\qecho
\qecho '| suite | measure | side | rounds | median | least | most |'
\qecho '| --- | --- | --- | ---: | ---: | ---: | ---: |'
SELECT format('| %s | %s | %s | %s | %s | %s | %s |', suite, measure, side, rounds, digits(median), digits(least), digits(most))
FROM others
ORDER BY array_position(ARRAY['calls', 'growth', 'bulk', 'ordered', 'queries', 'horizon', 'managed'], suite), measure, size, median;
\qecho
\endif

\ir bars.sql
