-- Lock the tables of the migration in the mode :mode.  If other sessions prevent this for half a
-- second, name them, and end the script.  The other scripts include this file in a transaction.
SET LOCAL lock_timeout = '500ms';
-- the referenced table first, in the order of a cascading DELETE
SELECT format('LOCK TABLE %s IN %s MODE', string_agg("table", ', ' ORDER BY n, "table"), :'mode') AS lock_tables
FROM (SELECT 1 AS n, "table" FROM parent UNION SELECT 2, "table" FROM reference) AS part
\gset
\set ON_ERROR_STOP off
:lock_tables;
\set failed :ERROR
\set ON_ERROR_STOP on
\if :failed
	\set message :LAST_ERROR_MESSAGE
	ROLLBACK;
	SELECT format('DO %L', format('BEGIN RAISE lock_not_available USING MESSAGE = %L, DETAIL = %L, HINT = %L; END',
		'could not lock the tables: ' || :'message',
		coalesce('These have locks on the tables: ' || string_agg(holder, E'\n'), 'Nobody has a lock on the tables any more.'),
		'Repeat the script. If this fails again, end these transactions, or run the script when they have ended.'))
	FROM (SELECT DISTINCT CASE WHEN l.pid IS NULL THEN 'a transaction of pg_prepared_xacts'
							   ELSE format('process %s (%s): %s', l.pid, concat_ws(', ', coalesce(a.usename, a.backend_type), a.state), left(regexp_replace(a.query, '\s+', ' ', 'g'), 100)) END AS holder
		  FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
		  WHERE l.locktype = 'relation' AND l.granted AND l.pid IS DISTINCT FROM pg_backend_pid()
				AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
				AND l.relation IN (SELECT oid FROM parent UNION SELECT oid FROM reference)
				-- modes that conflict with the requested one
				AND (:'mode' = 'ACCESS EXCLUSIVE' OR l.mode NOT IN ('AccessShareLock', 'RowShareLock'))
				AND (:'mode' <> 'SHARE UPDATE EXCLUSIVE' OR l.mode <> 'RowExclusiveLock')) AS holders
	\gexec
\endif
