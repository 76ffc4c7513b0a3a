-- One day of a year of orders, by the time in the key and by the alternatives,
-- on a table of so many rows.  Run by scripts/bench; prints its figures as CSV.
SET TimeZone = 'UTC';

-- The same rows twice, once known to be all of version 7.
CREATE TABLE orders (
	id uuid PRIMARY KEY,
	created_at timestamptz NOT NULL,
	customer integer NOT NULL,
	amount numeric NOT NULL
);
INSERT INTO orders
SELECT public.uuidv7_at(made), made, n % 1000, n % 100
FROM (SELECT n, '2025-01-01'::timestamptz + n * (interval '365 days' / :rows) AS made
	  FROM generate_series(0, :rows - 1) AS n) AS a;
CREATE INDEX ON orders (created_at);
CREATE TABLE checked_orders (LIKE orders, PRIMARY KEY (id), CHECK (public.uuid_is_v7(id)));
INSERT INTO checked_orders SELECT * FROM orders;
VACUUM ANALYZE orders, checked_orders;

INSERT INTO sides
SELECT format('one day, %s', what), side, format(query, source, condition), times
FROM (VALUES ('count(*)', 'SELECT count(*) FROM %s WHERE %s'),
			 ('sum of a column', 'SELECT sum(amount) FROM %s WHERE %s'),
			 ('rows as text', 'COPY (SELECT * FROM %s WHERE %s) TO ''/dev/null''')) AS a (what, query),
	 (VALUES ('id <@ period', 'orders', $$id <@ '[2025-03-01,2025-03-02)'$$, 10),
			 ('id <@ period, with CHECK', 'checked_orders', $$id <@ '[2025-03-01,2025-03-02)'$$, 10),
			 ('bounds by hand', 'orders',
			  format('id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 10),
			 ('bounds by hand, with CHECK', 'checked_orders',
			  format('id >= %L AND id < %L', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 10),
			 ('bounds by hand and the version', 'orders',
			  format('id >= %L AND id < %L AND public.uuid_extract_version(id) = 7', public.uuidv7_floor('2025-03-01'), public.uuidv7_floor('2025-03-02')), 10),
			 ('created_at with an index of its own', 'orders',
			  $$created_at >= '2025-03-01' AND created_at < '2025-03-02'$$, 10),
			 ('extracted timestamp', 'orders',
			  $$public.uuidv7_timestamp(id) >= '2025-03-01' AND public.uuidv7_timestamp(id) < '2025-03-02'$$, 1)) AS b (side, source, condition, times);
CALL measure(:rounds);

COPY (SELECT 'queries', measure, side, (SELECT count(*) FROM orders), round, ms FROM timings) TO STDOUT CSV;
COPY (SELECT 'queries', 'octets of index a row', 'created_at with an index of its own', count(*), 1,
			 pg_relation_size('orders_created_at_idx')::float8 / count(*) FROM orders) TO STDOUT CSV;
DROP TABLE orders, checked_orders;
