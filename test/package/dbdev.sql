-- Check that the extension without C works in a new cluster.
CREATE SCHEMA ids;
CREATE EXTENSION uuid9562 SCHEMA ids;
SET search_path = public, ids;

CREATE TABLE orders (
	id uuid PRIMARY KEY DEFAULT uuidv7_next(),
	item text NOT NULL
);
INSERT INTO orders (item) VALUES ('tea');
INSERT INTO orders VALUES (uuidv7_at('2026-03-01 12:00+00'), 'coffee');

DO $$
DECLARE
	items text;
BEGIN
	SELECT string_agg(item, ' ') INTO items FROM orders WHERE id <@ '[2026-03-01 00:00+00,2026-03-02 00:00+00)';
	ASSERT items = 'coffee', 'rows of a day: ' || coalesce(items, 'none');
	SELECT string_agg(item, ' ') INTO items FROM orders WHERE uuidv7_timestamp(id) > now() - interval '1 minute';
	ASSERT items = 'tea', 'rows of the last minute: ' || coalesce(items, 'none');
END
$$;

SELECT extversion AS "uuid9562 without C works, version" FROM pg_extension WHERE extname = 'uuid9562';

DROP TABLE orders;
DROP EXTENSION uuid9562;
