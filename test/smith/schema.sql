-- The schema for the random queries of scripts/lab/smith.  It has many kinds of columns with IDs
-- and periods, and period conditions in many places where PostgreSQL simplifies conditions.
-- SQLsmith writes only the literals NULL, true, false and small integers.  So other constants
-- are functions without arguments.

CREATE SCHEMA ids;
CREATE EXTENSION uuid9562 SCHEMA ids;
CREATE ROLE smith LOGIN;
SET search_path = public, ids;

-- --- constants ---------------------------------------------------------------

CREATE FUNCTION first_time() RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$ SELECT timestamptz '2026-01-01 00:00+00' $$;
CREATE FUNCTION last_time() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT now() $$;
CREATE FUNCTION a_time() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN '2026-02-01 00:00+00'; END $$;
CREATE FUNCTION a_day() RETURNS interval LANGUAGE sql IMMUTABLE AS $$ SELECT interval '1 day' $$;
CREATE FUNCTION an_id() RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT ids.uuidv7_at('2026-01-15 00:00+00') $$;
CREATE FUNCTION old_id() RETURNS uuid LANGUAGE sql IMMUTABLE AS $$ SELECT uuid '8a2f6f4e-5d60-4d0c-9d2e-7c0f3f0a1b2c' $$;
CREATE FUNCTION january() RETURNS tstzrange LANGUAGE sql IMMUTABLE AS $$ SELECT tstzrange '[2026-01-01 00:00+00,2026-02-01 00:00+00)' $$;
CREATE FUNCTION since() RETURNS tstzrange LANGUAGE sql STABLE AS $$ SELECT tstzrange(now() - interval '90 days', NULL) $$;
CREATE FUNCTION until() RETURNS tstzrange LANGUAGE sql IMMUTABLE AS $$ SELECT tstzrange(NULL, '2026-02-10 00:00+00', '(]') $$;
CREATE FUNCTION never() RETURNS tstzrange LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN 'empty'; END $$;
CREATE FUNCTION always() RETURNS ids.uuidv7_period LANGUAGE sql IMMUTABLE AS $$ SELECT tstzrange(NULL, NULL)::ids.uuidv7_period $$;
CREATE FUNCTION months() RETURNS tstzmultirange LANGUAGE sql IMMUTABLE
AS $$ SELECT tstzmultirange '{[2026-01-01 00:00+00,2026-02-01 00:00+00),[2026-03-01 00:00+00,)}' $$;

-- --- tables ------------------------------------------------------------------

CREATE DOMAIN key AS uuid CHECK (ids.uuid_is_v7(VALUE));

-- Return an ID for a number: a v4 for every sixth number, and otherwise a v7 whose time is
-- in 2026 or later.
CREATE FUNCTION id_of(n integer) RETURNS uuid LANGUAGE sql
AS $$ SELECT CASE WHEN n % 6 = 0 THEN gen_random_uuid() ELSE ids.uuidv7_at('2026-01-01 00:00+00'::timestamptz + n * interval '2 days') END $$;

CREATE TABLE customer (
	id uuid PRIMARY KEY DEFAULT ids.uuidv7(),
	vip boolean,
	n integer,
	valid_from timestamptz,
	valid_to timestamptz,
	valid tstzrange,
	since timestamptz GENERATED ALWAYS AS (ids.uuidv7_timestamp(id)) STORED
);
INSERT INTO customer
SELECT id_of(n), n % 3 = 0, n % 4, t, CASE WHEN n % 7 > 0 THEN t + (n % 30) * interval '1 day' END, tstzrange(t, t + (n % 20) * interval '1 day', '[]')
FROM generate_series(1, 40) AS n, LATERAL (SELECT '2026-01-01 00:00+00'::timestamptz + n * interval '3 days' AS t) AS a;
INSERT INTO customer (id) VALUES (ids.nil_uuid()), (ids.max_uuid());

CREATE TABLE contract (
	customer uuid REFERENCES customer,
	id uuid,
	other uuid,
	period ids.uuidv7_period,
	periods tstzmultirange,
	at timestamptz,
	CHECK (id <@ tstzrange('2020-01-01', NULL))
);
INSERT INTO contract
SELECT id, ids.uuidv7_at(valid_from), id_of(n), valid, tstzmultirange(valid, tstzrange(valid_to + interval '5 days', NULL)), valid_to FROM customer WHERE n IS NOT NULL;
CREATE INDEX ON contract (id) WHERE id <@ tstzrange('2026-02-01 00:00+00', NULL);
CREATE INDEX ON contract (customer, id DESC);
CREATE INDEX ON contract ((ids.uuidv7_timestamp(id)), (id <@ period));
CREATE INDEX ON contract USING gist (period);
-- Omit the kind "dependencies".  With this kind, two conditions on one expression fail an
-- assertion in PostgreSQL's dependencies_clauselist_selectivity(), even if the expression is
-- an integer.
CREATE STATISTICS contract_in_period (ndistinct, mcv) ON (id <@ period), (ids.uuidv7_timestamp(other)) FROM contract;

-- a table that is partitioned by ID, and a partition that is partitioned too
CREATE TABLE orders (id uuid NOT NULL, customer uuid, n integer, valid_from timestamptz, valid_to timestamptz, valid tstzrange) PARTITION BY RANGE (id);
CREATE TABLE orders_1 PARTITION OF orders FOR VALUES FROM ('019b7600-0000-0000-0000-000000000000') TO ('019c1680-0000-0000-0000-000000000000');
CREATE TABLE orders_2 PARTITION OF orders FOR VALUES FROM ('019c1680-0000-0000-0000-000000000000') TO ('019ca600-0000-0000-0000-000000000000') PARTITION BY LIST (n);
CREATE TABLE orders_2_even PARTITION OF orders_2 FOR VALUES IN (0, 2);
CREATE TABLE orders_2_rest (valid tstzrange, n integer, dropped integer, customer uuid, id uuid NOT NULL, valid_from timestamptz, valid_to timestamptz);
ALTER TABLE orders_2_rest DROP COLUMN dropped;
ALTER TABLE orders_2 ATTACH PARTITION orders_2_rest DEFAULT;
CREATE TABLE orders_rest PARTITION OF orders DEFAULT;
INSERT INTO orders SELECT id_of(a), id, n, valid_from, valid_to, valid FROM customer, generate_series(1, 2) AS a WHERE n IS NOT NULL;
INSERT INTO orders SELECT id_of(n), NULL, n % 5 FROM generate_series(1, 60) AS n;
CREATE INDEX ON orders (id);
CREATE INDEX ON orders (customer, id) INCLUDE (n) WHERE n > 1;

-- a table that is partitioned by hash, with a key of domain type
CREATE TABLE visit (id key, page uuid, at timestamptz, stay tstzrange, PRIMARY KEY (id)) PARTITION BY HASH (id);
CREATE TABLE visit_0 PARTITION OF visit FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE visit_1 PARTITION OF visit FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO visit SELECT ids.uuidv7_at(at), id_of(n), at, tstzrange(at, at + n * interval '1 hour')
FROM generate_series(1, 50) AS n, LATERAL (SELECT '2026-01-10 00:00+00'::timestamptz + n * interval '7 hours' AS at) AS a;

-- inheritance
CREATE TABLE note (id uuid DEFAULT ids.uuidv7(), v6 uuid, node uuid, about uuid, body text);
CREATE TABLE note_old (CHECK (id <@ tstzrange(NULL, '2026-02-01 00:00+00'))) INHERITS (note);
INSERT INTO note SELECT id, ids.uuidv6_at(t), ids.uuidv8_node_at(t, 1), id_of(n), id::text
FROM generate_series(1, 30) AS n, LATERAL (SELECT id_of(n) AS id, '2026-01-01 00:00+00'::timestamptz + n * interval '1 day' AS t) AS a;
INSERT INTO note_old SELECT ids.uuidv7_at('2026-01-01 00:00+00'::timestamptz + n * interval '1 hour') FROM generate_series(1, 30) AS n;
CREATE INDEX ON note (id);
CREATE INDEX ON note (v6);
CREATE INDEX ON note (ids.uuidv8_node_timestamp(node)) WHERE ids.uuid_is_v7(id);

CREATE TABLE period (name integer PRIMARY KEY, a timestamptz, b timestamptz, p tstzrange, d ids.uuidv7_period, m tstzmultirange, step interval);
INSERT INTO period VALUES
	(1, '2026-01-01', '2026-02-01', '[2026-01-01,2026-02-01)', '[2026-01-01,2026-02-01)', '{[2026-01-01,2026-02-01)}', '1 day'),
	(2, NULL, '2026-02-01', '(,2026-02-01]', '(,)', '{(,)}', '-1 hour'),
	(3, '-infinity', 'infinity', '[-infinity,infinity]', 'empty', '{}', '1 month'),
	(4, '2026-02-01', NULL, NULL, NULL, NULL, NULL),
	(5, '4714-11-24 BC', '294276-12-31', '[1582-01-01,)', '(2026-01-20,2026-01-20]', NULL, '0');

-- --- triggers, policies and views --------------------------------------------

CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE TRIGGER of_january BEFORE INSERT OR UPDATE ON customer FOR EACH ROW WHEN (NEW.id <@ tstzrange('2026-01-01', '2026-02-01')) EXECUTE FUNCTION keep();
CREATE TRIGGER within AFTER UPDATE ON contract FOR EACH ROW WHEN (NEW.id <@ OLD.period OR NEW.period @> OLD.id) EXECUTE FUNCTION keep();

ALTER TABLE contract ENABLE ROW LEVEL SECURITY;
CREATE POLICY by_customer ON contract USING (EXISTS (SELECT FROM customer AS c WHERE c.id = customer AND (c.vip OR contract.id <@ tstzrange(c.valid_from, c.valid_to))))
	WITH CHECK (id <@ period);
ALTER TABLE visit ENABLE ROW LEVEL SECURITY;
CREATE POLICY recent ON visit USING (id <@ tstzrange('2026-01-12 00:00+00', now()));
CREATE POLICY own ON visit FOR SELECT USING (page <@ stay);

CREATE VIEW recent_orders AS SELECT id, customer, valid FROM orders WHERE id <@ tstzrange(now() - interval '1 year', NULL);
CREATE VIEW own_orders WITH (security_barrier) AS
	SELECT o.id, o.valid, o.id <@ o.valid AS within FROM orders AS o WHERE o.id <@ tstzrange(o.valid_from, o.valid_to) WITH CHECK OPTION;
CREATE VIEW visible_contracts WITH (security_invoker) AS SELECT * FROM contract WHERE id <@ period OR period @> other;
CREATE VIEW visits AS SELECT id::uuid AS id, page, stay::ids.uuidv7_period AS period, stay FROM visit;
CREATE VIEW orders_by_month AS
	SELECT n, p.name, p.p, count(*)::integer AS orders, min(id) AS first, max(id) AS last
	FROM orders JOIN period AS p ON id <@ p.p GROUP BY GROUPING SETS ((n, p.name, p.p), (p.name, p.p), ());
CREATE VIEW orders_in_period AS
	SELECT o.id, o.id <@ tstzrange(p.a, p.b) AS within, tstzrange(p.a, p.b) AS p, count(*)::integer AS n
	FROM orders AS o, period AS p WHERE p.name < 3 GROUP BY ROLLUP (o.id, tstzrange(p.a, p.b));
CREATE VIEW orders_or_notes AS
	SELECT id, customer AS other, valid FROM orders WHERE id <@ tstzrange('2026-01-05', '2026-02-15', '[]')
	UNION ALL SELECT id, about, NULL FROM note WHERE v6 < ids.uuidv6_floor('2026-02-01')
	UNION SELECT id, other, period FROM contract WHERE id <@ period;
CREATE VIEW last_of_period AS
	SELECT DISTINCT ON (p.name) p.name, o.id, row_number() OVER (PARTITION BY o.id <@ p.d ORDER BY o.id)::integer AS n, p.p
	FROM period AS p LEFT JOIN LATERAL (SELECT id FROM orders WHERE id <@ p.d OR id <@ tstzrange(p.a, p.b, '(]') ORDER BY id DESC LIMIT 3) AS o ON true
	ORDER BY p.name, o.id;
CREATE VIEW members AS
	SELECT c.id, c.vip, c.valid FROM customer AS c WHERE c.vip OR EXISTS (SELECT FROM contract AS k WHERE k.customer = c.id AND k.id <@ tstzrange(c.valid_from, k.at))
	OR c.id IN (SELECT customer FROM orders AS o WHERE o.id <@ c.valid);
-- NULL in each column of a part of UNION ALL, which PostgreSQL substitutes into conditions, and an
-- OR across joined tables.  PostgreSQL substitutes only if all parts have the same types.  For an
-- operator, it requests no index condition if both operands have columns of the UNION ALL.
CREATE VIEW parts_with_nulls AS
	SELECT id, customer, n, valid, valid_from, valid_to FROM orders
	UNION ALL SELECT id, NULL, NULL, NULL, NULL, NULL FROM note
	UNION ALL SELECT NULL, id, n, valid, valid_from, NULL FROM customer
	UNION ALL SELECT id, customer, NULL, period::tstzrange, NULL, at FROM contract;
CREATE VIEW periods_across_joins AS
	SELECT x.id, x.n, x.valid, p.name, p.p FROM parts_with_nulls AS x, period AS p
	WHERE uuidv7_within(x.id, x.valid) OR x.id <@ tstzrange(p.a, NULL) OR p.p @> x.id OR x.id <@ tstzrange(x.valid_from, p.b);
-- sublinks with several tables, which PostgreSQL simplifies before it plans them
CREATE VIEW members_with_orders WITH (security_barrier) AS
	SELECT c.id, c.n, CASE WHEN c.vip THEN EXISTS (SELECT FROM orders AS o LEFT JOIN visit AS v ON v.page = o.id WHERE o.id <@ c.valid AND v.id <@ v.stay) END AS visited,
		(SELECT max(o.id) FROM contract AS k, orders AS o, period AS p WHERE k.customer = c.id AND o.customer = c.id AND p.name = o.n AND o.id <@ tstzrange(o.valid_from, p.b) AND k.id <@ k.period) AS last
	FROM customer AS c
	WHERE c.vip OR EXISTS (SELECT FROM contract AS k JOIN orders AS o USING (customer) WHERE o.customer = c.id AND o.id <@ tstzrange(o.valid_from, o.valid_to))
	OR c.id NOT IN (SELECT k.customer FROM contract AS k JOIN note AS n ON n.about = k.other WHERE n.id <@ tstzrange(k.at, now()));
CREATE MATERIALIZED VIEW january_ids AS SELECT id, n FROM orders WHERE id <@ tstzrange('2026-01-01', '2026-02-01');
CREATE UNLOGGED TABLE scratch (LIKE orders INCLUDING ALL);

-- --- a foreign server that is this server ------------------------------------

CREATE EXTENSION postgres_fdw;
CREATE SERVER itself FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host :'socket', port :'port', dbname :'DBNAME', extensions 'uuid9562');
CREATE USER MAPPING FOR smith SERVER itself OPTIONS (user 'smith', password_required 'false');
CREATE FOREIGN TABLE far_orders (id uuid, customer uuid, n integer, valid tstzrange) SERVER itself OPTIONS (table_name 'orders');
CREATE FOREIGN TABLE far_period (name integer, a timestamptz, b timestamptz, p tstzrange, d ids.uuidv7_period) SERVER itself OPTIONS (table_name 'period');

-- --- operators ---------------------------------------------------------------

-- SQLsmith applies an operator only to expressions of exactly the operator's types.  So
-- these operators accept types for which the extension has no operator.  PostgreSQL inlines
-- their functions, which use the operators and functions of the extension.
CREATE FUNCTION within(uuid, tstzrange) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 OPERATOR(ids.<@) $2';
CREATE FUNCTION contains(tstzrange, uuid) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 OPERATOR(ids.@>) $2';
CREATE FUNCTION within_times(uuid, timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 OPERATOR(ids.<@) tstzrange($2, $2 + interval '30 days', '[]') $$;
CREATE FUNCTION before(uuid, timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT $1 OPERATOR(ids.<@) tstzrange(NULL, $2) $$;
CREATE FUNCTION key_within(key, tstzrange) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 OPERATOR(ids.<@) $2';
CREATE FUNCTION within_any(uuid, tstzmultirange) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 OPERATOR(ids.<@) range_merge($2)';
CREATE FUNCTION is_v7(uuid, boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT ids.uuid_is_v7($1) = $2';
CREATE OPERATOR <@ (FUNCTION = within, LEFTARG = uuid, RIGHTARG = tstzrange);
CREATE OPERATOR @> (FUNCTION = contains, LEFTARG = tstzrange, RIGHTARG = uuid);
CREATE OPERATOR <@ (FUNCTION = within_times, LEFTARG = uuid, RIGHTARG = timestamptz);
CREATE OPERATOR << (FUNCTION = before, LEFTARG = uuid, RIGHTARG = timestamptz);
CREATE OPERATOR <@ (FUNCTION = key_within, LEFTARG = key, RIGHTARG = tstzrange);
CREATE OPERATOR <@ (FUNCTION = within_any, LEFTARG = uuid, RIGHTARG = tstzmultirange);
CREATE OPERATOR === (FUNCTION = is_v7, LEFTARG = uuid, RIGHTARG = boolean);

-- --- the catalogs that SQLsmith reads ----------------------------------------

-- SQLsmith picks a random operator of the catalog, and writes its name without the schema.
-- Create copies of the operators above in other schemas, so that SQLsmith picks them more often.
DO $$
DECLARE
	operator record;
BEGIN
	FOR copy IN 1 .. 40 LOOP
		EXECUTE format('CREATE SCHEMA copy_%s', copy);
		FOR operator IN SELECT oprname, oprcode, oprleft::regtype, oprright::regtype FROM pg_operator
			WHERE oprnamespace IN ('public'::regnamespace, 'ids'::regnamespace) LOOP
			EXECUTE format('CREATE OPERATOR copy_%s.%s (FUNCTION = %s, LEFTARG = %s, RIGHTARG = %s)',
				copy, operator.oprname, operator.oprcode, operator.oprleft, operator.oprright);
		END LOOP;
	END LOOP;
END
$$;

-- SQLsmith reads functions from the first pg_proc of the search path.  This view has the
-- functions above, those of the extension, and PostgreSQL's non-volatile functions on
-- the types of this schema.
CREATE SCHEMA shown;
CREATE VIEW shown.pg_proc AS
WITH types AS MATERIALIZED (
	SELECT oid FROM pg_type WHERE typname IN ('uuid', 'uuidv7_period', 'key', 'tstzrange', 'tstzmultirange', 'timestamptz', 'interval', 'bool', 'int4',
		'anyrange', 'anymultirange', 'anyelement', 'anycompatiblerange'))
SELECT * FROM pg_catalog.pg_proc
WHERE pronamespace IN ('public'::regnamespace, 'ids'::regnamespace) AND proname !~ '_support$|^postgres_fdw|^uuid_generator'
	OR provolatile <> 'v' AND prorettype IN (SELECT oid FROM types) AND NOT EXISTS (SELECT unnest(proargtypes) EXCEPT SELECT oid FROM types);

GRANT USAGE ON SCHEMA ids, shown TO smith;
GRANT SELECT ON shown.pg_proc TO smith;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO smith;
ALTER ROLE smith SET search_path = shown, pg_catalog, public, ids;
ANALYZE;
