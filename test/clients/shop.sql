-- Create the objects that each test needs in its database: the extensions, and a function
-- that inserts an order for every minute of a week into the table of the test.
CREATE EXTENSION uuid9562;
CREATE EXTENSION uuid9562_changes;

CREATE SCHEMA test;
CREATE FUNCTION test.a_week_of_orders() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO orders (id, item)
	SELECT uuidv7_at(timestamptz '2026-03-01 00:00Z' + n * interval '1 minute'), 'old'
	FROM generate_series(0, 7 * 24 * 60 - 1) AS n;
	ANALYZE orders;
END
$$;
