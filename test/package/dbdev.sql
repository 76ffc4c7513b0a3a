-- Check that the extensions without C work in a new cluster, in any schema.
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

CREATE SCHEMA logs;
CREATE EXTENSION uuid9562_changes SCHEMA logs;
SELECT logs.changes_track('orders');
BEGIN;
SELECT change_type FROM logs.changes_read('reader', NULL::orders);
SELECT logs.changes_done('reader');
COMMIT;
INSERT INTO orders (item) VALUES ('cocoa');
DO $$
DECLARE
	items text;
BEGIN
	SELECT string_agg(change_type || ' ' || (data).item, ' ') INTO items FROM logs.changes_read('reader', NULL::orders);
	ASSERT items = 'upsert cocoa', 'the changes: ' || coalesce(items, 'none');
	ASSERT (SELECT oldest_waiting < interval '1 minute' FROM logs.changes_readers), 'the reader waits for less than a minute';
	PERFORM logs.changes_done('reader');
END
$$;
SELECT logs.changes_purge('orders', '0');
SELECT logs.changes_untrack('orders');
SELECT extversion AS "uuid9562_changes without C works, version" FROM pg_extension WHERE extname = 'uuid9562_changes';

DROP TABLE orders;
DROP EXTENSION uuid9562_changes;
DROP EXTENSION uuid9562;
