-- uuidv7() as a column default: ids in row order, whatever the statement and
-- whatever the table.

BEGIN;
SELECT plan(15);

-- n is the order of the rows; ids must have it too.
CREATE TABLE plain (
	id uuid PRIMARY KEY DEFAULT public.uuidv7(),
	n bigint GENERATED ALWAYS AS IDENTITY,
	t text
);
CREATE TEMP TABLE temporary (LIKE plain INCLUDING ALL);
CREATE TABLE composite (
	id uuid DEFAULT public.uuidv7(),
	tenant int DEFAULT 1,
	n bigint GENERATED ALWAYS AS IDENTITY,
	t text,
	PRIMARY KEY (id, tenant)
);
-- an identity column cannot be one of a partitioned table before 17
CREATE SEQUENCE order_of_rows;
CREATE TABLE partitioned (
	id uuid PRIMARY KEY DEFAULT public.uuidv7(),
	n bigint DEFAULT nextval('order_of_rows'),
	t text
) PARTITION BY HASH (id);
CREATE TABLE partitioned_0 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE partitioned_1 PARTITION OF partitioned FOR VALUES WITH (MODULUS 2, REMAINDER 1);

CREATE FUNCTION in_row_order(name regclass, rows bigint, how text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ordered bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT n, row_number() OVER (ORDER BY id) AS by_id,
										  row_number() OVER (ORDER BY n) AS by_row FROM %s) AS rows
					WHERE by_id = by_row', name)
	INTO ordered;
	RETURN is(ordered, rows, format('%s: %s gives ids in row order', name, how));
END
$$;

INSERT INTO plain (t) VALUES ('a'), ('b'), ('c'), ('d'), ('e');
SELECT in_row_order('plain', 5, 'a multi-row INSERT');
INSERT INTO plain (t) SELECT 'x' FROM generate_series(1, 100000);
SELECT in_row_order('plain', 100005, 'INSERT ... SELECT');
COPY plain (t) FROM stdin;
one
two
three
\.
SELECT in_row_order('plain', 100008, 'COPY');
INSERT INTO plain (t) SELECT t FROM plain ORDER BY id DESC;
SELECT in_row_order('plain', 200016, 'INSERT ... SELECT with a sort');

INSERT INTO temporary (t) SELECT 'x' FROM generate_series(1, 1000);
INSERT INTO temporary (t) VALUES ('a'), ('b');
SELECT in_row_order('temporary', 1002, 'a temporary table');

INSERT INTO composite (t) SELECT 'x' FROM generate_series(1, 1000);
INSERT INTO composite (t, tenant) VALUES ('a', 2), ('b', 1);
SELECT in_row_order('composite', 1002, 'the left part of a composite key');

INSERT INTO partitioned (t) SELECT 'x' FROM generate_series(1, 1000);
INSERT INTO partitioned (t) VALUES ('a'), ('b');
COPY partitioned (t) FROM stdin;
one
two
\.
SELECT in_row_order('partitioned', 1004, 'a partitioned table');
SELECT cmp_ok((SELECT count(*) FROM partitioned_0), '>', 300::bigint, 'ids spread over hash partitions');

-- row by row, and in every kind of statement
CREATE TABLE one_by_one (LIKE plain INCLUDING ALL);
DO $$BEGIN FOR i IN 1..1000 LOOP INSERT INTO one_by_one (t) VALUES (i); END LOOP; END$$;
SELECT in_row_order('one_by_one', 1000, 'a row at a time');
MERGE INTO one_by_one AS target USING (SELECT generate_series(1001, 1010)) AS source (i) ON false
	WHEN NOT MATCHED THEN INSERT (t) VALUES (source.i);
SELECT in_row_order('one_by_one', 1010, 'MERGE');
CREATE UNIQUE INDEX ON one_by_one (t);
INSERT INTO one_by_one (t) SELECT generate_series(1001, 1020) ON CONFLICT (t) DO NOTHING;
SELECT in_row_order('one_by_one', 1020, 'ON CONFLICT DO NOTHING');
ALTER TABLE one_by_one ADD COLUMN other uuid NOT NULL DEFAULT public.uuidv7();
SELECT is(count(DISTINCT other), 1020::bigint, 'ALTER TABLE ... ADD COLUMN gives each row a UUID of its own') FROM one_by_one;

-- a rollback does not rewind
SAVEPOINT before;
SELECT max(n) AS last_n, (SELECT id FROM plain ORDER BY id DESC LIMIT 1) AS last_id FROM plain \gset
INSERT INTO plain (t) VALUES ('undone') RETURNING id AS undone \gset
ROLLBACK TO before;
INSERT INTO plain (t) VALUES ('kept') RETURNING id AS kept \gset
SELECT cmp_ok(:'kept'::uuid, '>', :'undone'::uuid, 'a value after a rollback exceeds the one rolled back');
SELECT cmp_ok(:'undone'::uuid, '>', :'last_id'::uuid, 'a value exceeds the last one of the table');

-- the other generators as defaults
CREATE TABLE others (
	a uuid DEFAULT public.uuidv1(), b uuid DEFAULT public.uuidv4(), c uuid DEFAULT public.uuidv6(),
	d uuid DEFAULT public.uuidv8(), e uuid DEFAULT public.uuidv8_node(7), f uuid DEFAULT public.uuidv7('1 day')
);
INSERT INTO others SELECT FROM generate_series(1, 1000);
SELECT results_eq(
	$$SELECT count(DISTINCT a), count(DISTINCT b), count(DISTINCT c), count(DISTINCT d), count(DISTINCT e), count(DISTINCT f)
	  FROM others$$,
	'VALUES (1000::bigint, 1000::bigint, 1000::bigint, 1000::bigint, 1000::bigint, 1000::bigint)',
	'every generator serves as a default');

SELECT * FROM finish();
ROLLBACK;
