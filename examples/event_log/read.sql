-- Deliver the next 1,000 events of a reader to a command, one JSON object a line.
--
--	DELIVER='curl --fail --data-binary @- https://example.com/events' psql -v reader=billing -f read.sql
--
-- If the command fails, the reader's position stays, and the next run delivers the events again.  A
-- crash can have the same effect, so the receiver must ignore an ID that it has already got.
--
-- Run this in a loop for each reader:
--
--	while sleep 1; do psql -v reader=billing -f read.sql; done
\set ON_ERROR_STOP on
\set QUIET on
-- with FETCH_COUNT, psql would read by a cursor, which can miss rows of a partition that is rewritten
\unset FETCH_COUNT

-- One transaction reads, delivers and advances, so that a failover cannot separate these steps.  A
-- second process of the same reader waits for the lock.
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT coalesce(position, '') AS position FROM reader WHERE name = :'reader' FOR UPDATE \gset
-- the page is between "after" and "next"
SELECT uuidv7_after(nullif(:'position', '')) AS after, coalesce(max(id), nil_uuid()) AS next,
	   coalesce(uuidv7_position(max(id), nullif(:'position', '')), '') AS position
FROM (SELECT id FROM event WHERE id > uuidv7_after(nullif(:'position', '')) AND id < uuidv7_horizon() ORDER BY id LIMIT 1000) AS page \gset
\set file `mktemp`
SELECT json_build_object('id', id, 'time', uuidv7_timestamp(id), 'type', type, 'data', data)
FROM event WHERE id > :'after' AND id <= :'next' ORDER BY id
\g (format=unaligned tuples_only=on) :file
\setenv PAGE :file
\set delivered `if [ ! -s "$PAGE" ] || sh -c "$DELIVER" <"$PAGE" >&2; then echo true; else echo false; fi; rm "$PAGE"`
\if :delivered
	UPDATE reader SET position = nullif(:'position', '') WHERE name = :'reader';
	COMMIT;
\else
	DO $$BEGIN RAISE 'the page could not be delivered'; END$$;
\endif
