-- Check that a package works in a new cluster: create the extensions, generate keys, select the
-- rows of a period, and read a change.  Then drop the extensions.
SELECT default_version ~ '\..*\.' AS managed FROM pg_available_extensions WHERE name = 'uuid9562' \gset
-- Create the extensions without C in other schemas.  Those with C track tables on PostgreSQL 15 and 16 only
-- if the library is preloaded.
SELECT CASE WHEN :'managed' THEN 'ids' ELSE 'public' END AS schema, CASE WHEN :'managed' THEN 'logs' ELSE 'public' END AS changes,
	:'managed' OR current_setting('server_version_num')::int >= 170000 AS tracks \gset
CREATE SCHEMA IF NOT EXISTS :schema;
CREATE SCHEMA IF NOT EXISTS :changes;
SET search_path = public, :schema, :changes;
CREATE EXTENSION uuid9562 SCHEMA :schema;

CREATE TABLE orders (
	id uuid PRIMARY KEY DEFAULT uuidv7_next(),
	item text NOT NULL
);
INSERT INTO orders (item) VALUES ('tea'), ('milk'), ('sugar');
INSERT INTO orders VALUES (uuidv7_at('2026-03-01 12:00+00'), 'coffee'), (gen_random_uuid(), 'honey');

DO $$
DECLARE
	items text;
BEGIN
	SELECT string_agg(item, ' ' ORDER BY id) INTO items FROM orders WHERE id <@ '[2026-03-01 00:00+00,2026-03-02 00:00+00)';
	ASSERT items = 'coffee', 'the rows of a day: ' || coalesce(items, 'none');
	SET LOCAL jit_above_cost = 0;
	SET LOCAL jit_inline_above_cost = 0;
	SELECT string_agg(item, ' ' ORDER BY item) INTO items FROM orders WHERE uuid_is_v7(id) AND item <> 'coffee';
	ASSERT items = 'milk sugar tea', 'the rows with an id of version 7, compiled by JIT: ' || items;
END
$$;

SELECT extversion AS "uuid9562 works, version" FROM pg_extension WHERE extname = 'uuid9562';

CREATE EXTENSION uuid9562_changes SCHEMA :changes;
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
