-- An event log in monthly partitions.  Readers get an event only when they can no longer miss an
-- older one.
--
--	psql -f schema.sql                                                create the tables
--	psql -v keep='12 months' -f maintain.sql                          create and drop months, each day
--	psql -c "INSERT INTO event (type, data) VALUES ('paid', '{}')"    write an event
--	psql -c "INSERT INTO reader VALUES ('billing')"                   add a reader
--	DELIVER='cat' psql -v reader=billing -f read.sql                  deliver a page to a reader
--
-- The extension uuid9562 must exist in the database and, on PostgreSQL 15 and 16, be preloaded.  The
-- pages doc/partitions.md and doc/incremental-reads.md explain the bounds and the horizon.
\set ON_ERROR_STOP on
\set QUIET on
BEGIN;

-- The time of an event is in its ID: uuidv7_timestamp(id).
CREATE TABLE event (
	id   uuid PRIMARY KEY DEFAULT uuidv7_ordered() CHECK (uuid_is_v7(id)),
	type text NOT NULL,
	data jsonb NOT NULL
) PARTITION BY RANGE (id);

-- how far each reader has read; NULL before the first event
CREATE TABLE reader (
	name     text PRIMARY KEY,
	position text
);

COMMIT;
-- Until the server has generated an ordered ID, it has no horizon, and a reader would get an error.
SELECT uuidv7_ordered() \g /dev/null
\ir maintain.sql
