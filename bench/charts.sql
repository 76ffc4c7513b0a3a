-- The data of the charts, a file for each, in psql's folder.  Run by
-- scripts/bench after report.sql.
\copy (SELECT replace(side, 'PostgreSQL''s', 'core'), median, least, most FROM medians WHERE part = 'calls' AND (side ~ '^(floor: allocate|uuidv[14678]\(\))' OR side ~ 'PostgreSQL''s (gen|uuidv)|: (uuid_generate_v(1|7)|gen|generate_uuidv7)') ORDER BY median) TO 'calls.dat'
\copy (SELECT size, median, least, most FROM medians WHERE part = 'growth' ORDER BY size) TO 'growth.dat'
\copy (SELECT replace(side, 'PostgreSQL''s', 'core'), median, least, most FROM medians WHERE part = 'loading' AND measure = 's' ORDER BY median) TO 'loading.dat'
-- of several lines: a block for each, with its name at the head
CREATE FUNCTION blocks(a_part text, a_measure text, sides text[]) RETURNS text LANGUAGE sql STABLE RETURN (
	SELECT string_agg(block, E'\n\n\n')
	FROM (SELECT '"' || replace(side, 'PostgreSQL''s', 'core') || E'"\n' || string_agg(size || E'\t' || median, E'\n' ORDER BY size) AS block
		  FROM medians WHERE part = a_part AND measure = a_measure AND side = ANY (sides)
		  GROUP BY side ORDER BY array_position(sides, side)) AS a);
SELECT blocks('sessions', 'rows a second', ARRAY['uuidv7()', 'bigint identity', 'uuidv7(), instance scope',
	'PostgreSQL''s gen_random_uuid()', 'PostgreSQL''s uuidv7()']) \g sessions.dat
SELECT blocks('queries', 'one day, count(*)', ARRAY['id <@ period', 'bounds by hand', 'created_at with an index of its own',
	'extracted timestamp']) \g queries.dat
