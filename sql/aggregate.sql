-- min() and max() of UUIDs.
SET max_parallel_workers_per_gather = 0;
\pset format unaligned
\pset tuples_only
CREATE TABLE event (id uuid PRIMARY KEY, n int);
INSERT INTO event SELECT md5(n::text)::uuid, n FROM generate_series(1, 1000) AS n;
ANALYZE event;

-- the smallest and greatest ID of each group, with IDs that are not in order
SELECT n % 2 AS odd, public.min(id ORDER BY n) = (array_agg(id ORDER BY id))[1] AS min,
	   public.max(id ORDER BY n) = (array_agg(id ORDER BY id DESC))[1] AS max
FROM event GROUP BY n % 2 ORDER BY 1;

-- min and max ignore NULL, and return NULL if there is no other value
SELECT public.min(id), public.max(id) FROM event WHERE false;
SELECT public.min(id), public.max(id)
FROM (VALUES (NULL::uuid), ('019535d9-3df7-79fb-b466-fa907fa17f9e'), (NULL)) AS one (id);

-- the plan reads only one entry of the index; show only scans and limits, since the other
-- lines of the plan differ between versions
CREATE FUNCTION scans(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query
	LOOP
		IF line ~ 'Scan|Limit' THEN
			RETURN NEXT trim(line);
		END IF;
	END LOOP;
END$$;
SET enable_seqscan = off;
SELECT scans('SELECT public.min(id) FROM event');
SELECT scans($$SELECT public.max(id) FROM event WHERE id < '80000000-0000-0000-0000-000000000000'$$);
RESET enable_seqscan;

-- a parallel plan, in which each worker reads some of the rows
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
SET enable_bitmapscan = off;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
EXPLAIN (COSTS OFF) SELECT public.min(id), public.max(id), count(*) FROM event;
SELECT public.min(id), public.max(id), count(*) FROM event;
SELECT min(id::text), max(id::text) FROM event;
DROP FUNCTION scans(text);
DROP TABLE event;
