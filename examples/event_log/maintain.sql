-- Create the partitions of this month and the next three, and drop those that are older than "keep".
-- A month stays until each reader has got the month's events.
--
--	psql -v keep='12 months' -f maintain.sql
--
-- Without "keep", drop nothing.  Run this each day, by cron.
\set ON_ERROR_STOP on
\set QUIET on
SET client_min_messages = warning;
SET timezone = 'UTC';
SET lock_timeout = '10s';

-- Unlike ATTACH PARTITION, this waits for readers.  The plan of a reader lacks partitions that are
-- created later, but its snapshot can be younger and see their rows, so the reader would miss them.
-- New statements wait too, so give up after a second.  The next run tries again, long before an
-- event needs the partition.
BEGIN;
SET LOCAL lock_timeout = '1s';
SELECT format('CREATE TABLE %I PARTITION OF event FOR VALUES FROM (%L) TO (%L)',
			  name, uuidv7_floor(month), uuidv7_floor(month + interval '1 month'))
FROM (SELECT date_trunc('month', now()) + n * interval '1 month' AS month FROM generate_series(0, 3) AS n) AS months,
	 LATERAL (SELECT 'event_' || to_char(month, 'YYYY_MM') AS name) AS names
WHERE to_regclass(format('%I', name)) IS NULL
ORDER BY month
\gexec
COMMIT;

\if :{?keep}
	-- finish what an interrupted run has left
	SELECT unnest(ARRAY[format('ALTER TABLE event DETACH PARTITION %s FINALIZE', inhrelid::regclass), format('DROP TABLE %s', inhrelid::regclass)])
	FROM pg_inherits WHERE inhparent = 'event'::regclass AND inhdetachpending
	\gexec
	-- With INTO, SELECT takes its snapshot before it locks the partitions.  If another session rewrites a
	-- partition in the meantime, SELECT would find no unread event there, so lock the partitions first.
	BEGIN ISOLATION LEVEL READ COMMITTED;
	LOCK TABLE event IN ACCESS SHARE MODE;
	SELECT inhrelid::regclass AS partition, bound,
		   EXISTS (SELECT FROM reader, LATERAL (SELECT FROM event WHERE id > uuidv7_after(position) AND id < bound LIMIT 1) AS unread) AS has_unread
	INTO TEMPORARY old
	FROM pg_inherits JOIN pg_class ON oid = inhrelid,
		 LATERAL (SELECT (regexp_match(pg_get_expr(relpartbound, oid), $$TO \('(.*?)'\)$$))[1]::uuid AS bound) AS bounds
	WHERE inhparent = 'event'::regclass AND uuidv7_timestamp(bound) <= now() - :'keep'::interval;
	COMMIT;

	SELECT unnest(ARRAY[format('ALTER TABLE event DETACH PARTITION %s CONCURRENTLY', partition), format('DROP TABLE %s', partition)])
	FROM old WHERE NOT has_unread ORDER BY bound
	\gexec
	SELECT format('kept for readers: %s', partition) FROM old WHERE has_unread ORDER BY bound
	\g (format=unaligned tuples_only=on)
\endif
