-- The data of the charts, a file for each suite that has one, in psql's folder: place,
-- name, median and whether it is ours.  Run by scripts/bench after report.sql.
CREATE FUNCTION chart(a_suite text, a_measure text, a_size bigint, sides text)
RETURNS TABLE (place bigint, name text, median float8, ours int) LANGUAGE sql STABLE AS $$
	SELECT row_number() OVER (ORDER BY CASE WHEN measure ~ 'a second' THEN -median ELSE median END), side, median, (side ~ '^(uuidv|id <@)')::int
	FROM medians
	WHERE suite = a_suite AND measure = a_measure AND size = coalesce(a_size, size) AND side ~ sides
	ORDER BY 1
$$;
\copy (SELECT * FROM chart('calls', 'ns a call', NULL, '^floor: allocate|^uuidv[14678]\(\)|gen_random_uuid|PostgreSQL''s uuidv|uuid_generate_v7|generate_uuidv7')) TO 'calls.dat'
\copy (SELECT * FROM chart('loading', 's of CPU time, fsync off', NULL, '')) TO 'loading.dat'
\copy (SELECT * FROM chart('ordered', 'rows a second', 8, '')) TO 'ordered.dat'
\copy (SELECT * FROM chart('queries', 'one day, count(*)', (SELECT max(size) FROM medians WHERE measure = 'one day, count(*)'), '')) TO 'queries.dat'
