-- Check that a package works in a new cluster: create the extensions, generate keys, select the
-- rows of a period, and read a change.  Then drop the extensions.
CREATE EXTENSION uuid9562;

CREATE TABLE orders (
	id uuid PRIMARY KEY DEFAULT public.uuidv7(),
	item text NOT NULL
);
INSERT INTO orders (item) VALUES ('tea'), ('milk'), ('sugar');
INSERT INTO orders VALUES (uuidv7_at('2026-03-01 12:00+00'), 'coffee'), (public.uuidv4(), 'honey');

DO $$
DECLARE
	items text;
BEGIN
	SELECT string_agg(item, ' ' ORDER BY id) INTO items FROM orders WHERE item IN ('tea', 'milk', 'sugar');
	ASSERT items = 'tea milk sugar', 'ids are in the order of their rows: ' || items;
	SELECT string_agg(item, ' ' ORDER BY id) INTO items FROM orders WHERE id <@ '[2026-03-01 00:00+00,2026-03-02 00:00+00)';
	ASSERT items = 'coffee', 'the rows of a day: ' || coalesce(items, 'none');
	SET LOCAL jit_above_cost = 0;
	SET LOCAL jit_inline_above_cost = 0;
	SELECT string_agg(item, ' ' ORDER BY id) INTO items FROM orders WHERE uuid_is_v7(id) AND item <> 'coffee';
	ASSERT items = 'tea milk sugar', 'the rows with an id of version 7, compiled by JIT: ' || items;
END
$$;

SELECT extversion AS "uuid9562 works, version" FROM pg_extension WHERE extname = 'uuid9562';

-- PostgreSQL 15 and 16 track tables only if the library is preloaded
CREATE EXTENSION uuid9562_changes;
SELECT current_setting('server_version_num')::int >= 170000 AS tracks \gset
\if :tracks
SELECT changes_track('orders');
BEGIN;
SELECT change_type FROM changes_read('reader', NULL::orders);
SELECT changes_done('reader');
COMMIT;
DO $$
DECLARE
	items text;
BEGIN
	INSERT INTO orders (item) VALUES ('cocoa');
	COMMIT;
	SELECT string_agg(change_type || ' ' || (data).item, ' ') INTO items FROM changes_read('reader', NULL::orders);
	ASSERT items = 'upsert cocoa', 'the changes: ' || coalesce(items, 'none');
END
$$;
SELECT changes_untrack('orders');
\endif
SELECT count(*) AS "uuid9562_changes works, tracked tables" FROM changes_tables;

DROP TABLE orders;
DROP EXTENSION uuid9562_changes;
DROP EXTENSION uuid9562;
