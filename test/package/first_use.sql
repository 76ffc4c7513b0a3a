-- Check that a package works in a new cluster: create the extension, generate keys, and
-- select the rows of a period.  Then drop the extension.
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

DROP TABLE orders;
DROP EXTENSION uuid9562;
