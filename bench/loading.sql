-- For each type of primary key, measure the seconds of CPU time for inserting :rows rows,
-- and how many bytes of WAL and of the index each row needs.
CREATE SEQUENCE cached CACHE 100;
CREATE TABLE loaded ();
CREATE TABLE keys (no int, side text, key text);
INSERT INTO keys VALUES
	(1, 'bigint identity', 'bigint GENERATED ALWAYS AS IDENTITY'),
	(2, 'bigint, sequence with CACHE 100', $$bigint DEFAULT nextval('cached')$$),
	(3, 'uuidv7()', 'uuid DEFAULT public.uuidv7()'),
	(4, 'uuidv7_ordered()', 'uuid DEFAULT public.uuidv7_ordered()'),
	(5, 'uuidv4()', 'uuid DEFAULT public.uuidv4()'),
	(6, 'PostgreSQL''s gen_random_uuid()', 'uuid DEFAULT pg_catalog.gen_random_uuid()'),
	(7, 'PostgreSQL''s uuidv7()', 'uuid DEFAULT pg_catalog.uuidv7()'),
	(8, 'pg_uuidv7: uuid_generate_v7()', 'uuid DEFAULT uuidv7.uuid_generate_v7()');

INSERT INTO sides (measure, side, statement, runs, scale, before)
SELECT 's, loading ' || :rows || ' rows', side, format('INSERT INTO loaded (n) SELECT generate_series(1, %s)', :rows), 1, 0.001,
	   'DROP TABLE loaded; CREATE TABLE loaded (id ' || key || ' PRIMARY KEY, n int NOT NULL); CHECKPOINT'
FROM keys ORDER BY no;

CREATE PROCEDURE size_of_rows() LANGUAGE plpgsql AS $$
DECLARE
	s record;
	lsn pg_lsn;
BEGIN
	FOR s IN SELECT * FROM sides WHERE before <> '' ORDER BY no
	LOOP
		EXECUTE s.before;
		lsn := pg_current_wal_insert_lsn();
		EXECUTE s.statement;
		INSERT INTO figures (measure, side, round, value)
		SELECT measure, s.side, 1, bytes / (SELECT count(*) FROM loaded)
		FROM (VALUES ('bytes of WAL a row', pg_current_wal_insert_lsn() - lsn), ('bytes of index a row', pg_relation_size('loaded_pkey'))) AS a (measure, bytes);
		COMMIT;
	END LOOP;
END$$;
