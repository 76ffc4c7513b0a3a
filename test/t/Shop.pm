# A database that uses the extension in many objects that a dump must restore: defaults,
# checks, generated columns, partitions, indexes, views, functions, policies.
#
#	Shop::create($node, 'shop');
#	my $answers = Shop::answers($node, 'shop');
package Shop;
use strict;
use warnings;

sub create
{
	my ($node, $database) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION uuid9562');
	$node->safe_psql($database, q{
	CREATE TABLE customers (
		id uuid PRIMARY KEY DEFAULT public.uuidv7() CHECK (public.uuid_is_v7(id)),
		old_id uuid DEFAULT public.uuidv1(),
		created timestamptz GENERATED ALWAYS AS (public.uuidv7_timestamp(id)) STORED,
		CHECK (id <@ '[2000-01-01,2100-01-01)'));
	CREATE INDEX recent_customers ON customers (old_id) WHERE id <@ '[2026-01-01,)';
	CREATE TABLE visits (id uuid PRIMARY KEY DEFAULT public.uuidv7(), page text NOT NULL) PARTITION BY RANGE (id);
	SELECT format('CREATE TABLE visits_%s PARTITION OF visits FOR VALUES FROM (%L) TO (%L)', to_char(month, 'YYYY_MM'),
				  public.uuidv7_floor(month), public.uuidv7_floor(month + interval '1 month'))
	FROM generate_series('2026-01-01'::timestamptz, '2026-12-01', '1 month') AS month \gexec
	CREATE TABLE visits_of_no_month PARTITION OF visits DEFAULT;
	CREATE TABLE parts (id uuid PRIMARY KEY DEFAULT public.uuidv8_node(3) CHECK (public.uuid_extract_version(id) = 8)) PARTITION BY RANGE (id);
	CREATE TABLE parts_of_spring PARTITION OF parts FOR VALUES FROM (public.uuidv8_node_floor('2026-03-01')) TO (public.uuidv8_node_floor('2026-06-01'));
	CREATE TABLE other_parts PARTITION OF parts DEFAULT;
	CREATE VIEW april_parts AS SELECT * FROM parts WHERE id >= public.uuidv8_node_floor('2026-04-01') AND id < public.uuidv8_node_floor('2026-05-01');
	CREATE VIEW march AS SELECT * FROM visits WHERE id <@ '[2026-03-01,2026-04-01)';
	CREATE VIEW latest AS SELECT * FROM visits WHERE tstzrange(now() - interval '1 hour', NULL) @> id;
	CREATE MATERIALIZED VIEW months AS
	SELECT date_trunc('month', public.uuidv7_timestamp(id)) AS month, count(*) FROM visits GROUP BY 1;
	CREATE FUNCTION visits_in(period tstzrange) RETURNS SETOF visits LANGUAGE sql STABLE
	BEGIN ATOMIC
		SELECT * FROM visits WHERE id <@ period;
	END;
	ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
	CREATE POLICY old ON customers FOR SELECT USING (id <@ tstzrange(NULL, now()));
	INSERT INTO customers (id) SELECT public.uuidv7_at('2026-06-01'::timestamptz + n * interval '1 hour') FROM generate_series(1, 100) AS n;
	INSERT INTO visits SELECT public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour'), '/' FROM generate_series(1, 8000) AS n;
	INSERT INTO parts SELECT public.uuidv8_node_at('2026-01-01'::timestamptz + n * interval '1 hour', n % 5) FROM generate_series(1, 4000) AS n;
	REFRESH MATERIALIZED VIEW months});
}

# Return the results of some queries, to compare them with the results on a copy of the
# database.
sub answers
{
	my ($node, $database) = @_;

	return $node->safe_psql($database, join ";\n",
		'SELECT count(*), md5(string_agg(id::text || old_id || created, $$ $$ ORDER BY id)) FROM customers',
		'SELECT count(*), md5(string_agg(id::text, $$ $$ ORDER BY id)) FROM march',
		q{SELECT count(*) FROM visits_in('[2026-05-05,2026-05-06)')},
		'SELECT count(*), md5(string_agg(id::text, $$ $$ ORDER BY id)) FROM april_parts',
		'SELECT count(*), sum(count) FROM months');
}

1;
