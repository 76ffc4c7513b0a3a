-- The bars: what each suite of scripts/bench is held against.  Run by report.sql.
--
-- A bar compares two sides of one measure, or holds one against a number:
--
--	ratio	side / beside			more	side - beside			value	side
--
-- "of" tells what of the rounds: the least, the median or the most of each side, or of
-- pairs, the median of each round's ratio.  What was measured at several sizes is
-- taken at the greatest.
CREATE TABLE bars (suite text, measure text, side text, beside text, kind text, of text, at text, bar float8);
INSERT INTO bars VALUES
	('calls', 'ns a call', 'uuidv7()', 'floor: allocate and read the clock', 'ratio', 'median', 'most', 1.15),
	('calls', 'ns a call', 'PostgreSQL''s uuidv7()', 'uuidv7()', 'ratio', 'median', 'least', 12),
	('calls', 'ns a call', 'pg_uuidv7: uuid_generate_v7()', 'uuidv7()', 'ratio', 'median', 'least', 12),
	('calls', 'ns a call', 'TimescaleDB: generate_uuidv7()', 'uuidv7()', 'ratio', 'median', 'least', 12),
	('calls', 'ns a call', 'PostgreSQL''s gen_random_uuid()', 'uuidv4()', 'ratio', 'median', 'least', 25),
	('calls', 'ns a call', 'uuidv6()', 'uuidv7()', 'ratio', 'median', 'most', 1.1),
	('calls', 'ns a call', 'uuidv8()', 'uuidv7()', 'ratio', 'median', 'most', 1.1),
	('calls', 'ns a call', 'uuidv1()', 'uuidv7()', 'ratio', 'median', 'most', 1.1),
	('calls', 'ns a call', 'uuidv7_timestamp(v7)', 'PostgreSQL''s uuid_extract_timestamp(v7)', 'ratio', 'median', 'most', 1.2),
	('calls', 'ns a call', 'uuidv1_timestamp(v1)', 'PostgreSQL''s uuid_extract_timestamp(v1)', 'ratio', 'median', 'most', 1.2),
	('calls', 'ns a call', 'uuidv1_to_v6(v1)', 'floor: copy 16 octets', 'ratio', 'median', 'most', 1.3),
	('growth', 'ns a call', 'uuidv7() after 100000000', 'uuidv7() after 1000', 'ratio', 'median', 'most', 1.1),
	('bulk', 'ns an id', 'uuidv7_batch(n)', 'uuidv7() of each row of generate_series(1, n)', 'ratio', 'least', 'most', 0.5),
	('bulk', 'ns an id', 'uuidv7(), ten to a row', NULL, 'value', 'least', 'most', 100),
	('loading', 's of CPU time, fsync off', 'uuidv7()', 'bigint identity', 'ratio', 'median', 'most', 1),
	('loading', 's of CPU time, fsync off', 'uuidv7()', 'bigint of a sequence with CACHE 100', 'ratio', 'median', 'most', 1),
	('loading', 's, fsync on', 'uuidv7()', 'bigint identity', 'ratio', 'least', 'most', 1),
	('loading', 's, fsync on', 'uuidv7()', 'bigint of a sequence with CACHE 100', 'ratio', 'least', 'most', 1),
	('ordered', 'ns a call', 'uuidv7_ordered()', 'uuidv7()', 'ratio', 'median', 'most', 1.2),
	('ordered', 'rows a second', 'uuidv7_ordered()', 'uuidv7()', 'ratio', 'pairs', 'least', 0.95),
	('ordered', 'octets of WAL a second and generator in use', 'generators in use: 1', NULL, 'value', 'median', 'most', 250),
	('ordered', 'octets of WAL a second and generator in use', 'generators in use: 3', NULL, 'value', 'median', 'most', 250),
	('ordered', 'rows out of order, %', 'uuidv7_ordered()', NULL, 'value', 'most', 'most', 0),
	('queries', '300 days of one table, now()', 'id <@ period', 'created_at', 'ratio', 'least', 'most', 1.35),
	('queries', '300 days of 365 partitions, now()', 'id <@ period', 'created_at', 'ratio', 'least', 'most', 1.35),
	('queries', '300 days of one table, constant', 'id <@ period', 'created_at, now()', 'ratio', 'least', 'most', 1),
	('queries', '300 days of 365 partitions, constant', 'id <@ period', 'created_at, now()', 'ratio', 'least', 'most', 1),
	('queries', 'since the last run, by index', 'id <@ period', 'created_at', 'ratio', 'least', 'most', 1.2),
	('queries', 'one day, count(*)', 'id <@ period', 'bounds by hand', 'ratio', 'least', 'most', 1.15),
	('queries', 'one day, sum of a column', 'id <@ period', 'bounds by hand', 'ratio', 'least', 'most', 1.15),
	('queries', 'one day, rows as text', 'id <@ period', 'bounds by hand', 'ratio', 'least', 'most', 1.15),
	('queries', 'one day, count(*)', 'extracted timestamp', 'id <@ period', 'ratio', 'least', 'least', 100),
	('queries', 'planning, one table, constant', 'id <@ period', 'bounds by hand', 'more', 'least', 'most', 0.005),
	('queries', 'planning, one table, now()', 'id <@ period', 'bounds by hand', 'more', 'least', 'most', 0.005),
	('queries', 'planning, all of 1,000 partitions, constant', 'id <@ period', 'bounds by hand', 'ratio', 'least', 'most', 1.2),
	('queries', 'planning, all of 1,000 partitions, now()', 'id <@ period', 'bounds by hand', 'ratio', 'least', 'most', 1.2),
	('queries', 'planning, ten NOT over 10,000 bins', 'id <@ period', NULL, 'value', 'least', 'most', 2),
	('horizon', 'ns a call of two builds', 'uuidv7(), instance scope', 'uuidv7(), instance scope of the other build', 'ratio', 'pairs', 'most', 1.05),
	('horizon', 'ns a call of two builds', 'uuidv7()', 'uuidv7() of the other build', 'ratio', 'pairs', 'most', 1.05),
	('horizon', 'rows a second of eight sessions', 'instance scope', 'instance scope of the other build', 'ratio', 'pairs', 'least', 0.97),
	('horizon', 'us a call of uuidv7_horizon()', '100 connections', NULL, 'value', 'median', 'most', 20),
	('horizon', 'transactions a second beside it', 'one session', NULL, 'value', 'median', 'least', 10000),
	('horizon', 'ms, age of the horizon', 'a snapshot of 10 ms', NULL, 'value', 'most', 'most', 50),
	('horizon', 'lag, times the longest transaction and one poll', 'eight writers', NULL, 'value', 'most', 'most', 1);
-- every generator, where another build was measured beside this one
INSERT INTO bars
SELECT suite, measure, side, side || ' of the other build', 'ratio', 'pairs', 'most', 1.03
FROM medians WHERE suite = 'calls' AND measure = 'ns a call of two builds' AND side !~ 'other build';

CREATE FUNCTION ratio_of_pairs(a_suite text, a_measure text, a_side text, beside text) RETURNS float8 LANGUAGE sql STABLE RETURN
	(SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a.value / b.value)
	 FROM figures AS a JOIN figures AS b USING (suite, measure, size, round)
	 WHERE suite = a_suite AND measure = a_measure AND a.side = a_side AND b.side = beside);
CREATE FUNCTION figure_of(a_suite text, a_measure text, a_side text, of text) RETURNS float8 LANGUAGE sql STABLE RETURN
	(SELECT CASE of WHEN 'least' THEN least WHEN 'most' THEN most ELSE median END
	 FROM medians WHERE suite = a_suite AND measure = a_measure AND side = a_side ORDER BY size DESC LIMIT 1);

SELECT count(*) > 0 AS has_bars FROM bars WHERE suite IN (SELECT suite FROM figures) \gset
\if :has_bars
\qecho '### Bars'
\qecho
\qecho '| suite | measure | of all rounds | bar | measured | |'
\qecho '| --- | --- | --- | ---: | ---: | --- |'
SELECT format('| %s | %s: %s | %s | %s %s | %s | %s |', suite, measure, side || coalesce(CASE kind WHEN 'more' THEN ', more than ' ELSE ' against ' END || beside, ''),
			  of, CASE at WHEN 'most' THEN 'at most' ELSE 'at least' END, bar, figure(measured, 3),
			  CASE WHEN measured IS NULL THEN 'not measured'
				   WHEN at = 'most' AND measured <= bar OR at = 'least' AND measured >= bar THEN 'met'
				   ELSE 'missed' END)
FROM (SELECT bars.*, row_number() OVER () AS no,
			 CASE WHEN of = 'pairs' THEN ratio_of_pairs(suite, measure, side, beside)
				  WHEN kind = 'ratio' THEN figure_of(suite, measure, side, of) / figure_of(suite, measure, beside, of)
				  WHEN kind = 'more' THEN figure_of(suite, measure, side, of) - figure_of(suite, measure, beside, of)
				  ELSE figure_of(suite, measure, side, of) END AS measured
	  FROM bars) AS a
WHERE suite IN (SELECT suite FROM figures)
ORDER BY array_position(ARRAY['calls', 'growth', 'bulk', 'loading', 'ordered', 'queries', 'horizon', 'managed'], suite), no;
\endif
