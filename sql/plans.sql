-- Plans of period conditions.  The planner rewrites a condition to comparisons with the bounds
-- of the period.  The comparisons can use an index, prune partitions and exclude tables by
-- constraints.  A condition that cannot be rewritten remains a function call.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET max_parallel_workers_per_gather = 0;
SET enable_bitmapscan = off;
\pset format unaligned
\pset tuples_only

-- Return the plan of a query without the differences between versions of PostgreSQL: the
-- names of subqueries, and lines that only some versions print.
CREATE FUNCTION plan(query text, options text = 'COSTS OFF') RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query)
	LOOP
		CONTINUE WHEN line ~ '^ *(Replaces|Disabled):';
		line := regexp_replace(line, '\(InitPlan \w+\)\.col1|\$\d', 'subquery', 'g');
		line := regexp_replace(line, 'InitPlan .*', 'InitPlan');
		RETURN NEXT regexp_replace(line, 'SubPlan \w+', 'SubPlan', 'g');
	END LOOP;
END$$;

-- A table with an ID for each minute, for 69 days from 2026-01-01.
CREATE TABLE event (id uuid PRIMARY KEY, n int);
INSERT INTO event SELECT public.uuidv7_floor('2026-01-01'::timestamptz + n * interval '1 minute'), n FROM generate_series(0, 99999) AS n;
VACUUM ANALYZE event;

-- both operators and the functions use the index; the period is a literal or a constant
-- expression
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange('2026-01-10', '2026-01-11');
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE '[2026-01-10,2026-01-11)' @> id;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE public.uuidv7_within(id, '[2026-01-10,2026-01-11)');

-- of v6 and of v8 with a node ID, bounds by hand use the index
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE uuid_extract_version(id) = 6 AND id >= public.uuidv6_floor('2026-01-10') AND id < public.uuidv6_floor('2026-01-11');
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE uuid_extract_version(id) = 8 AND id >= public.uuidv8_node_floor('2026-01-10') AND id < public.uuidv8_node_floor('2026-01-11');

-- a period whose times are not whole milliseconds: the bounds include only the whole
-- milliseconds inside the period
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '[2026-01-10 12:00:00.0005,2026-01-10 12:00:00.0025]';

-- an index-only scan
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE id <@ '[2026-01-10,2026-01-11)';

-- an unbounded side has no comparison; no ID satisfies the comparisons of an empty period
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '[2026-03-10,)';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '(,2026-01-02)';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '(,)';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ 'empty';

-- a period that is known only during execution has a comparison for each bounded side
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now() - interval '1 day', NULL);
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(NULL, now());
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE tstzrange(now() - interval '1 day', now(), '[]') @> id;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now() - interval '1 day', now(), '()');
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE public.uuidv7_within(id, tstzrange(now() - interval '1 day', now(), '(]'));
-- a time can be an expression; if its value is NULL, the period is unbounded on that side
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', CURRENT_TIMESTAMP);
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(pg_conf_load_time(), NULL);
-- if one time is a constant, its bound is a constant
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange('2026-01-10', now());
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now(), '2026-01-10', '(]');
-- no ID satisfies the comparison if the period begins after the last time of version 7, or
-- ends before the first ID of version 7
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange('20000-01-01', now());
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now(), '1970-01-01');
-- if the third argument of tstzrange is unknown during planning, the range is constructed
-- during execution; a third argument that is NULL or invalid raises an error
SET test.sides = '[]';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now() - interval '1 day', now(), current_setting('test.sides'));
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now() - interval '1 day', now(), NULL);
SELECT n FROM event WHERE id <@ tstzrange(now() - interval '1 day', now(), '[)]');

-- a custom plan has constant bounds; a generic plan computes the bounds from its parameters
PREPARE by_period (tstzrange) AS SELECT n FROM event WHERE id <@ $1;
PREPARE by_untyped AS SELECT n FROM event WHERE id <@ $1;
PREPARE by_times (timestamptz, timestamptz) AS SELECT n FROM event WHERE id <@ tstzrange($1, $2);
EXPLAIN (COSTS OFF) EXECUTE by_period ('[2026-01-10,2026-01-11)');
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_period ('[2026-01-10,2026-01-11)');
EXPLAIN (COSTS OFF) EXECUTE by_untyped ('[2026-01-10,2026-01-11)');
EXPLAIN (COSTS OFF) EXECUTE by_times ('2026-01-10', '2026-01-11');
RESET plan_cache_mode;

-- times as parameters of custom and generic plans: NULL means unbounded, and the period from
-- -infinity to infinity contains all IDs.  If the period ends before it begins, a custom plan
-- raises an error, since it constructs the range.  A generic plan does not construct the
-- range, and finds no rows.
PREPARE count_by_times (timestamptz, timestamptz) AS
SELECT count(*) FILTER (WHERE n < 0) AS none, count(*) FROM event WHERE id <@ tstzrange($1, $2, '[]');
SET plan_cache_mode = force_custom_plan;
EXECUTE count_by_times ('2026-01-10', '2026-01-10 00:01');
EXECUTE count_by_times (NULL, '2026-01-01 00:01');
EXECUTE count_by_times ('2026-03-11 10:38', NULL);
EXECUTE count_by_times ('-infinity', 'infinity');
EXECUTE count_by_times ('2026-01-11', '2026-01-10');
SET plan_cache_mode = force_generic_plan;
EXECUTE count_by_times ('2026-01-10', '2026-01-10 00:01');
EXECUTE count_by_times (NULL, '2026-01-01 00:01');
EXECUTE count_by_times ('2026-03-11 10:38', NULL);
EXECUTE count_by_times ('-infinity', 'infinity');
EXECUTE count_by_times ('2026-01-11', '2026-01-10');
EXECUTE count_by_times ('infinity', NULL);
RESET plan_cache_mode;

-- a condition with a period from another table's row uses the index
CREATE TABLE shift (name text, period tstzrange);
INSERT INTO shift VALUES ('day', '[2026-01-10 06:00,2026-01-10 18:00)'), ('night', '[2026-01-10 18:00,2026-01-11 06:00)'), ('none', NULL);
ANALYZE shift;
EXPLAIN (COSTS OFF) SELECT name, n FROM shift JOIN event ON id <@ period;
SELECT name, count(n) FROM shift LEFT JOIN event ON period @> id GROUP BY name ORDER BY name;
-- a period from two times of another table's row; NULL means unbounded
EXPLAIN (COSTS OFF) SELECT name, n FROM shift LEFT JOIN event ON id <@ tstzrange(lower(period), upper(period));
SELECT name, count(n) FROM shift LEFT JOIN event ON id <@ tstzrange(lower(period), upper(period)) GROUP BY name ORDER BY name;
-- PostgreSQL reduces an outer join to an inner join if WHERE has a strict condition on the
-- nullable side; the condition uses the index
EXPLAIN (COSTS OFF) SELECT name, n FROM (VALUES (1)) AS one (row) LEFT JOIN (event CROSS JOIN shift) ON true WHERE id <@ period;

-- a subquery is evaluated once, and a condition without NOT uses the index
CREATE TABLE sync_state (last_run timestamptz);
INSERT INTO sync_state VALUES ('2026-03-11 10:38');
ANALYZE sync_state;
SELECT plan($$SELECT n FROM event WHERE id <@ tstzrange((SELECT last_run FROM sync_state), NULL)$$);
SELECT n FROM event WHERE id <@ tstzrange((SELECT last_run FROM sync_state), NULL);
SELECT plan($$SELECT n FROM event WHERE NOT id <@ tstzrange((SELECT last_run FROM sync_state), now())$$);
SELECT plan($$SELECT n FROM event WHERE id <@ tstzrange((SELECT clock_timestamp()), NULL)$$);
SELECT plan($$SELECT n FROM event WHERE id <@ (SELECT period FROM shift WHERE name = 'day')$$);
SELECT count(*) FROM event WHERE id <@ (SELECT period FROM shift WHERE name = 'day');
SELECT count(*) FROM event WHERE id <@ (SELECT period FROM shift WHERE name = 'none');
SELECT plan($$SELECT n FROM event WHERE (SELECT period FROM shift WHERE name = 'day') @> id$$);
SELECT plan($$SELECT n FROM event WHERE public.uuidv7_within(period => (SELECT period FROM shift WHERE name = 'day'), id => id)$$);
-- a condition in a subquery, or with a subquery, uses the index if the subquery is evaluated
-- for each row of another table
SELECT plan($$SELECT name, (SELECT count(*) FROM event WHERE id <@ tstzrange(lower(period), upper(period))) FROM shift$$);
SELECT plan($$SELECT name, days FROM shift, LATERAL (SELECT count(*) AS days FROM event WHERE id <@ (SELECT period * '[2026-01-10,)')) AS found$$);
SELECT name, (SELECT count(*) FROM event WHERE id <@ tstzrange(lower(period), upper(period))),
	   (SELECT count(*) FROM event WHERE id <@ (SELECT other.period FROM shift AS other WHERE other.name = shift.name))
FROM shift ORDER BY name;
-- a subquery that depends on the row of the ID: the condition does not use the index, and
-- the subquery runs once for each row
SELECT plan($$SELECT n FROM event WHERE id <@ tstzrange((SELECT last_run - n * interval '1 hour' FROM sync_state), NULL)$$);
DROP TABLE sync_state;

-- one time is from the row of the ID; the comparison with the other time, a constant, uses
-- the index
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange('2026-03-11 10:38', '2026-01-01'::timestamptz + n * interval '1 minute', '[]');
SELECT n FROM event WHERE id <@ tstzrange('2026-03-11 10:38', '2026-01-01'::timestamptz + n * interval '1 minute', '[]');
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange('2026-01-01'::timestamptz + n * interval '1 minute', '2026-01-01 00:01', '[]');
SELECT n FROM event WHERE id <@ tstzrange('2026-01-01'::timestamptz + n * interval '1 minute', '2026-01-01 00:01', '[]');

-- a sublink with more tables than its outer query: PostgreSQL may simplify the sublink's condition
-- with the PlannerInfo of the outer query, which does not have the sublink's tables
CREATE TABLE customer (id int, vip boolean);
CREATE TABLE contract (customer int);
CREATE TABLE purchase (id uuid, customer int, valid_from timestamptz, valid_to timestamptz, valid tstzrange);
INSERT INTO customer VALUES (1, false), (2, false), (3, true);
INSERT INTO contract VALUES (1), (2), (3);
INSERT INTO purchase
SELECT public.uuidv7_floor('2026-01-15'), n, starts, '2026-02-01', tstzrange(starts, '2026-02-01')
FROM (VALUES (1, '2026-01-01'::timestamptz), (2, '2026-01-20')) AS starts (n, starts);
SELECT c.id FROM customer AS c WHERE c.vip OR EXISTS (
	SELECT FROM contract JOIN purchase AS p USING (customer) WHERE p.customer = c.id AND p.id <@ tstzrange(p.valid_from, p.valid_to)) ORDER BY 1;
SELECT c.id FROM customer AS c WHERE c.vip OR EXISTS (
	SELECT FROM contract JOIN purchase AS p USING (customer) WHERE p.customer = c.id AND p.id <@ p.valid) ORDER BY 1;
SELECT c.id, CASE WHEN c.vip THEN 'vip' ELSE EXISTS (
	SELECT FROM contract AS k JOIN customer AS o ON o.id = k.customer FULL JOIN purchase AS p USING (customer)
	WHERE p.customer = c.id AND NOT p.valid @> p.id)::text END AS late
FROM customer AS c ORDER BY 1;
-- sublinks of several tables, with grouping in the outer query or in the sublink
SELECT vip, count(*), EXISTS (
	SELECT FROM contract JOIN purchase AS p USING (customer) WHERE p.customer = min(c.id) AND p.id <@ tstzrange(p.valid_from, p.valid_to)) AS early
FROM customer AS c GROUP BY ROLLUP (vip, c.id > 2) ORDER BY 1, 2;
SELECT c.id FROM customer AS c WHERE c.vip OR EXISTS (
	SELECT p.id <@ p.valid FROM contract JOIN purchase AS p USING (customer) WHERE p.customer = c.id
	GROUP BY ROLLUP (p.id <@ p.valid) HAVING NOT p.id <@ p.valid) ORDER BY 1;
DROP TABLE customer, contract, purchase;

-- a negated condition compares with the bounds too; with a NULL period, a condition is NULL
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE NOT (id <@ '[2026-01-10,2026-01-11)');
SELECT plan($$SELECT n FROM event WHERE id <@ NULL$$);
PREPARE by_no_period (tstzrange) AS
SELECT count(*) FILTER (WHERE id <@ $1) AS within, count(*) FILTER (WHERE NOT id <@ $1) AS without,
	   count(*) FILTER (WHERE (id <@ $1) IS NULL) AS unknown
FROM (SELECT id FROM event WHERE n < 3 UNION ALL VALUES ('919108f7-52d1-4320-9bac-f847db4148a8'::uuid)) AS ids;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_no_period (NULL);
EXECUTE by_no_period ('[2026-01-01 00:01,)');
RESET plan_cache_mode;

-- UPDATE, DELETE and a query on a view use the index; a view can be created again from its
-- definition
EXPLAIN (COSTS OFF) UPDATE event SET n = -n WHERE id <@ '[2026-01-10,2026-01-11)';
EXPLAIN (COSTS OFF) DELETE FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
CREATE VIEW january AS SELECT * FROM event WHERE id <@ '[2026-01-01,2026-02-01)';
DO $$BEGIN EXECUTE 'CREATE VIEW january_again AS ' || pg_get_viewdef('january'); END$$;
SELECT count(*), (SELECT count(*) FROM january_again) AS again FROM january;
DROP VIEW january_again;
EXPLAIN (COSTS OFF) SELECT n FROM january WHERE id <@ '[2026-01-10,2026-01-11)';

-- a condition is pushed down into each part of a union, and uses the index there
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT id, n FROM event UNION ALL SELECT id, -n FROM event) AS both_ways
WHERE id <@ tstzrange(now() - interval '1 day', NULL);

-- if the period is NULL in one part of a union, PostgreSQL puts this NULL in place of the period
-- without simplifying the condition again; each part can use its index, and the NULL finds no ID
CREATE TABLE stay AS SELECT id, period, period::public.uuidv7_period AS limits, lower(period) AS begins FROM event, shift WHERE n % 500 = 0;
CREATE VIEW stays AS SELECT * FROM stay UNION ALL SELECT id, NULL::tstzrange, NULL::public.uuidv7_period, NULL::timestamptz FROM event;
ANALYZE stay;
SET enable_seqscan = off;
SET enable_material = off;
SET enable_bitmapscan = on;
SELECT plan($$SELECT count(*) FROM stays AS s, shift WHERE public.uuidv7_within(s.id, s.period) OR public.uuidv7_within(s.id, shift.period)$$);
SELECT count(*) FROM stays AS s, shift WHERE public.uuidv7_within(s.id, s.period) OR public.uuidv7_within(s.id, shift.period);
SELECT count(*) FROM stays AS s, shift WHERE s.limits @> s.id OR s.id <@ tstzrange(upper(shift.period), upper(shift.period), '[]');
SELECT count(*) FROM stays AS s, shift WHERE s.id <@ tstzrange(s.begins, '2026-01-10 18:00') AND s.id >= public.uuidv7_floor(lower(shift.period)) OR s.id <@ s.limits;
SET enable_bitmapscan = off;
RESET enable_material;
RESET enable_seqscan;
DROP VIEW stays;
DROP TABLE stay;

-- a partial index is used if its period contains that of the query
CREATE INDEX event_february ON event (n) WHERE id <@ '[2026-02-01,2026-03-01)';
EXPLAIN (COSTS OFF) SELECT id FROM event WHERE n = 50000 AND id <@ '[2026-02-10,2026-02-11)';
EXPLAIN (COSTS OFF) SELECT id FROM event WHERE n = 50000 AND id <@ '[2026-02-10,2026-03-11)';
SELECT n FROM event WHERE n = 50000 AND id <@ '[2026-02-01,2026-02-11)';
DROP INDEX event_february;

-- a CHECK constraint excludes the table if its period and that of the query do not overlap
CREATE TABLE archive (id uuid CHECK (id <@ '[2025-01-01,2026-01-01)'), n int);
INSERT INTO archive VALUES (public.uuidv7_ceil('2025-12-31 23:59:59.999'), 1);
INSERT INTO archive VALUES (public.uuidv7_floor('2026-01-01'), 2);
INSERT INTO archive VALUES ('0195c0a5-ee00-4000-8000-000000000000', 3);
SET constraint_exclusion = on;
SELECT plan($$SELECT n FROM archive WHERE id <@ '[2026-01-01,)'$$);
EXPLAIN (COSTS OFF) SELECT n FROM archive WHERE id <@ '[2025-12-01,)';
RESET constraint_exclusion;
DROP TABLE archive;

-- only scans of a btree index omit a repeated condition on the version
SET enable_seqscan = off;
SET enable_bitmapscan = on;
BEGIN;
ALTER TABLE event DROP CONSTRAINT event_pkey;
CREATE INDEX event_brin ON event USING brin (id);
EXPLAIN (COSTS OFF) SELECT n FROM january WHERE id <@ '[2026-01-10,2026-01-11)';
ROLLBACK;
SET enable_bitmapscan = off;
RESET enable_seqscan;

-- a volatile period is evaluated once for each row
CREATE SEQUENCE evaluations;
CREATE FUNCTION counted_period() RETURNS tstzrange VOLATILE LANGUAGE sql
AS $$SELECT '[2026-01-01 00:01,)'::tstzrange WHERE nextval('evaluations') > 0$$;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ counted_period();
SELECT count(*), nextval('evaluations') - 1 AS evaluations FROM event WHERE n < 10 AND id <@ counted_period();
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(clock_timestamp(), NULL);

-- conditions that are not rewritten: with a period from the row of the ID, with a set of
-- periods, and with an ID that is not a column
EXPLAIN (COSTS OFF) SELECT n FROM (SELECT n, id, tstzrange(NULL, now()) AS period FROM event OFFSET 0) AS one_row WHERE id <@ period;
EXPLAIN (COSTS OFF, VERBOSE) SELECT id <@ unnest(ARRAY['(,)'::tstzrange, 'empty']) FROM event;
EXPLAIN (COSTS OFF) SELECT name FROM shift WHERE '019ba533-e400-7000-8000-000000000000'::uuid <@ period;
SELECT name FROM shift WHERE '019ba6f8-0000-7000-8000-000000000000'::uuid <@ period;

-- a condition on a volatile ID is not rewritten
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE CASE WHEN random() < 2 THEN id END <@ '[2026-01-10,2026-01-11)';

-- a period that is NULL during execution finds no ID
CREATE FUNCTION no_period() RETURNS tstzrange STABLE LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ no_period();
SELECT count(*) FROM event WHERE id <@ no_period();
DROP FUNCTION no_period;

-- a condition whose period cannot be NULL can use a partial index on the version
SET enable_seqscan = off;
BEGIN;
ALTER TABLE event DROP CONSTRAINT event_pkey;
CREATE INDEX event_v7 ON event (id) WHERE public.uuid_is_v7(id);
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
SELECT plan($$SELECT name, n FROM shift JOIN event ON id <@ coalesce(period, 'empty')$$);
SELECT plan($$SELECT name, n FROM shift JOIN event ON coalesce(NULL, period, tstzrange(now(), NULL))::public.uuidv7_period @> id$$);
SELECT name, count(n) FROM shift LEFT JOIN event ON id <@ coalesce(period, 'empty') GROUP BY name ORDER BY name;
SELECT name, count(n) FROM shift LEFT JOIN event ON id <@ coalesce(period, '[2026-01-10 05:00,2026-01-10 06:00)') GROUP BY name ORDER BY name;
PREPARE by_some_period (tstzrange) AS SELECT count(*) FROM event WHERE id <@ coalesce($1, '[2026-01-10,2026-01-11)');
SET LOCAL plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE by_some_period (NULL);
EXECUTE by_some_period (NULL);
EXECUTE by_some_period ('empty');
-- this period can be NULL
SELECT plan($$SELECT name, n FROM shift JOIN event ON id <@ coalesce(period, nullif(period, 'empty'))$$);
ROLLBACK;
RESET enable_seqscan;

-- a condition on an ID that costs much to compute remains one call, so that a scan computes the ID
-- once; the condition can still use an index
CREATE FUNCTION cheap_id(id uuid) RETURNS uuid IMMUTABLE LANGUAGE plpgsql COST 10 AS $$BEGIN RETURN id; END$$;
CREATE FUNCTION dear_id(id uuid) RETURNS uuid IMMUTABLE LANGUAGE plpgsql COST 11 AS $$BEGIN RETURN id; END$$;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE cheap_id(id) <@ '[2026-01-10,2026-01-11)';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE dear_id(id) <@ '[2026-01-10,2026-01-11)';
CREATE INDEX event_dear ON event (dear_id(id));
ANALYZE event;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE dear_id(id) <@ '[2026-01-10,2026-01-11)';
SELECT count(*) FROM event WHERE dear_id(id) <@ '[2026-01-10,2026-01-11)';
RESET enable_seqscan;
DROP INDEX event_dear;
DROP FUNCTION cheap_id, dear_id;

-- a trigger can have a condition in its WHEN clause
CREATE TABLE watched (id uuid);
CREATE FUNCTION watch() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE '% %: %', tg_when, tg_op, tg_name;
	RETURN coalesce(NEW, OLD);
END$$;
CREATE TRIGGER new_contained_by BEFORE INSERT ON watched FOR EACH ROW
	WHEN (NEW.id <@ '[2026-01-10,2026-01-11)') EXECUTE FUNCTION watch();
CREATE TRIGGER contains_new AFTER UPDATE ON watched FOR EACH ROW
	WHEN ('[2026-01-10,2026-01-11)' @> NEW.id AND NOT '[2026-01-10,2026-01-11)' @> OLD.id) EXECUTE FUNCTION watch();
CREATE TRIGGER old_within BEFORE DELETE ON watched FOR EACH ROW
	WHEN (public.uuidv7_within(OLD.id, '[2026-01-10,2026-01-11)')) EXECUTE FUNCTION watch();
INSERT INTO watched VALUES (public.uuidv7_floor('2026-01-09 23:59:59.999')), (public.uuidv7_floor('2026-01-10'));
UPDATE watched SET id = public.uuidv7_floor('2026-01-10');
DELETE FROM watched;
DROP TABLE watched;
DROP FUNCTION watch;

-- planning works with statistics without a histogram: of a column with only NULL, of a
-- column with a single value, and of a table without rows
CREATE TABLE few (id uuid);
INSERT INTO few SELECT NULL FROM generate_series(1, 100);
ANALYZE few;
SELECT count(*) FROM few WHERE id <@ '[2026-01-10,2026-01-11)';
UPDATE few SET id = public.uuidv7_floor('2026-01-10');
ANALYZE few;
SELECT count(*) FROM few WHERE id <@ '[2026-01-10,2026-01-11)';
TRUNCATE few;
ANALYZE few;
SELECT count(*) FROM few WHERE id <@ '[2026-01-10,2026-01-11)';
DROP TABLE few;
DROP FUNCTION counted_period;
DROP SEQUENCE evaluations;

-- partitions are pruned during planning if the period is constant
CREATE TABLE visit (id uuid PRIMARY KEY, n int) PARTITION BY RANGE (id);
CREATE TABLE visit_2001_01 PARTITION OF visit FOR VALUES FROM (public.uuidv7_floor('2001-01-01')) TO (public.uuidv7_floor('2001-02-01'));
CREATE TABLE visit_2001_02 PARTITION OF visit FOR VALUES FROM (public.uuidv7_floor('2001-02-01')) TO (public.uuidv7_floor('2001-03-01'));
CREATE TABLE visit_later PARTITION OF visit FOR VALUES FROM (public.uuidv7_floor('2001-03-01')) TO (MAXVALUE);
INSERT INTO visit SELECT public.uuidv7_at('2001-01-01'::timestamptz + n * interval '1 hour'), n FROM generate_series(0, 1439) AS n;
ANALYZE visit;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT n FROM visit WHERE id <@ '[2001-01-10,2001-01-11)';
EXPLAIN (COSTS OFF) SELECT n FROM visit WHERE id <@ '[2001-01-31,2001-02-02)';
SELECT plan($$SELECT n FROM visit WHERE id <@ 'empty'$$);
EXPLAIN (COSTS OFF) UPDATE visit SET n = -n WHERE id <@ '[2001-02-10,2001-02-11)';
EXPLAIN (COSTS OFF) DELETE FROM visit WHERE '[2001-02-10,2001-02-11)' @> id;

-- partitions are pruned during execution if the period is not constant
EXPLAIN (COSTS OFF) SELECT n FROM visit WHERE id <@ tstzrange(now() - interval '1 day', NULL);
SELECT plan($$SELECT n FROM visit WHERE id <@ tstzrange((SELECT max(upper(period)) FROM shift), NULL)$$);
SELECT count(*) AS skipped
FROM plan($$SELECT n FROM visit WHERE id <@ tstzrange((SELECT max(upper(period)) FROM shift), NULL)$$, 'ANALYZE, COSTS OFF, TIMING OFF')
WHERE plan LIKE '%on visit_% (never executed)';
PREPARE visits (tstzrange) AS SELECT count(*) FROM visit WHERE id <@ $1;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE visits ('[2001-02-01,2001-02-08)');
EXECUTE visits ('[2001-02-01,2001-02-08)');
EXECUTE visits ('[2001-01-31,2001-02-02)');
EXECUTE visits ('empty');
EXECUTE visits (NULL);
RESET plan_cache_mode;
RESET enable_seqscan;
DROP TABLE visit;

-- row-level security: comparisons with the bounds are leakproof, so they are evaluated
-- before the policy and use the index
CREATE ROLE uuid9562_reader;
CREATE TABLE shift_times AS SELECT lower(period) AS begins, upper(period) AS ends FROM shift;
ANALYZE shift_times;
GRANT SELECT ON event, shift, shift_times TO uuid9562_reader;
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
CREATE FUNCTION is_visible(n int) RETURNS boolean STABLE LANGUAGE plpgsql COST 1000
AS $$BEGIN RETURN n % 2 = 0; END$$;
CREATE POLICY even ON event USING (is_visible(n));
SET ROLE uuid9562_reader;
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
EXPLAIN (COSTS OFF) SELECT n FROM event WHERE id <@ tstzrange(now() - interval '1 day', NULL);
SELECT count(*) FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
EXPLAIN (COSTS OFF) SELECT n FROM shift JOIN event ON id <@ period;
EXPLAIN (COSTS OFF) SELECT n FROM shift_times JOIN event ON id <@ tstzrange(begins, ends);
RESET ROLE;
DROP POLICY even ON event;
ALTER TABLE event DISABLE ROW LEVEL SECURITY;

-- the condition of an index is simplified in the same way for every role, even if the first
-- role that opens the table may not call uuid_is_v7()
CREATE TABLE stored (id uuid, n int);
CREATE UNIQUE INDEX stored_id ON stored (id) WHERE id <@ '[2026-01-01,2026-02-01)';
INSERT INTO stored SELECT * FROM event WHERE n = 0;
GRANT SELECT ON stored TO uuid9562_reader;
REVOKE EXECUTE ON FUNCTION public.uuid_is_v7(uuid) FROM PUBLIC;
-- PostgreSQL forgets the simplified condition
ALTER INDEX stored_id SET (fillfactor = 80);
SET ROLE uuid9562_reader;
SELECT n FROM stored;
-- the role may not call uuid_is_v7() in a query either, so a condition is not rewritten
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
SELECT count(*) FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
RESET ROLE;
INSERT INTO stored SELECT id, 1 FROM event WHERE n = 0
ON CONFLICT (id) WHERE id <@ '[2026-01-01,2026-02-01)' DO UPDATE SET n = excluded.n RETURNING n;
GRANT EXECUTE ON FUNCTION public.uuid_is_v7(uuid) TO PUBLIC;
-- a condition is not rewritten either if the role may not call the function of a bound; a role
-- without EXECUTE on the function of a condition may not use the condition
REVOKE EXECUTE ON FUNCTION public.uuidv7_lower_bound(timestamptz, boolean) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION public.uuidv7_within(uuid, tstzrange) FROM PUBLIC;
SET ROLE uuid9562_reader;
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE id <@ tstzrange(now(), NULL);
SELECT count(*) FROM event WHERE id <@ tstzrange(now(), NULL);
EXPLAIN (COSTS OFF) SELECT count(*) FROM event WHERE id <@ '[2026-01-10,2026-01-11)';
SELECT count(*) FROM event WHERE public.uuidv7_within(id, '[2026-01-10,2026-01-11)');
RESET ROLE;
GRANT EXECUTE ON FUNCTION public.uuidv7_lower_bound(timestamptz, boolean) TO PUBLIC;
GRANT EXECUTE ON FUNCTION public.uuidv7_within(uuid, tstzrange) TO PUBLIC;
DROP TABLE stored;
DROP TABLE shift_times;
REVOKE ALL ON event, shift FROM uuid9562_reader;
DROP ROLE uuid9562_reader;

-- the plan of nested conditions does not grow exponentially: with twelve levels, the plan
-- is short
DO $$
DECLARE
	query text := 'SELECT id FROM event';
	line text;
	length bigint := 0;
BEGIN
	FOR level IN 1 .. 12 LOOP
		query := format('SELECT CASE WHEN id <@ %L::tstzrange THEN public.nil_uuid() END AS id FROM (%s) AS level', '[2026-01-01,2026-02-01)', query);
	END LOOP;
	FOR line IN EXECUTE 'EXPLAIN (VERBOSE, COSTS OFF) ' || query LOOP
		length := length + length(line);
	END LOOP;
	ASSERT length < 20000, length;
END$$;

-- the ID and the period of a condition can be PL/pgSQL variables
DO $$
DECLARE
	period tstzrange := '[2026-01-10,2026-01-11)';
	id uuid := public.uuidv7_at('2026-01-10 12:00');
	found bigint;
BEGIN
	ASSERT id <@ period;
	ASSERT NOT id <@ tstzrange(upper(period), NULL);
	SELECT count(*) INTO found FROM event WHERE event.id <@ period;
	ASSERT found = 1440, found;
END$$;

DROP VIEW january;
DROP TABLE event, shift;
DROP FUNCTION is_visible, plan;
