-- uuidv7() as a column default generates IDs in row order, for several kinds of
-- statements and tables.

BEGIN;
SELECT plan(6);

-- Column n numbers the rows in the order of their insertion.  Sorting by ID must give the
-- same order.
CREATE SEQUENCE order_of_rows;
CREATE TABLE plain (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n bigint DEFAULT nextval('order_of_rows'), t text);
CREATE TABLE composite (id uuid DEFAULT public.uuidv7(), tenant int DEFAULT 1, n bigint DEFAULT nextval('order_of_rows'), PRIMARY KEY (id, tenant));

CREATE FUNCTION in_row_order(name regclass, rows bigint, how text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ordered bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY id) AS by_id, row_number() OVER (ORDER BY n) AS by_row FROM %s) AS rows
					WHERE by_id = by_row', name)
	INTO ordered;
	RETURN is(ordered, rows, format('the IDs are in row order: %s, %s', name, how));
END
$$;

INSERT INTO plain (t) VALUES ('a'), ('b'), ('c');
INSERT INTO plain (t) SELECT 'x' || n FROM generate_series(1, 100000) AS n;
SELECT in_row_order('plain', 100003, 'INSERT');
COPY plain (t) FROM stdin;
one
two
three
\.
SELECT in_row_order('plain', 100006, 'COPY');
INSERT INTO plain (t) SELECT 'again ' || t FROM plain ORDER BY id DESC;
SELECT in_row_order('plain', 200012, 'INSERT ... SELECT with a sort');
INSERT INTO composite SELECT FROM generate_series(1, 1000);
SELECT in_row_order('composite', 1000, 'first column of a composite primary key');

-- a rollback does not rewind the generator
SELECT public.max(id) AS last FROM plain \gset
SAVEPOINT before;
INSERT INTO plain DEFAULT VALUES RETURNING id AS undone \gset
ROLLBACK TO before;
INSERT INTO plain DEFAULT VALUES RETURNING id AS kept \gset
SELECT cmp_ok(:'kept'::uuid, '>', :'undone'::uuid, 'a value after a rollback is greater than the one rolled back');
SELECT cmp_ok(:'undone'::uuid, '>', :'last'::uuid, 'a value is greater than the last one of the table');

SELECT * FROM finish();
ROLLBACK;
