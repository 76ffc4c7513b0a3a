# Tests of a database that uses the extension: dropping the extension, and a hostile search path.
use ServerTest;

my $node = new_server('life', "timezone = 'UTC'\n");

sub sql { my ($database, @statements) = @_; return $node->safe_psql($database, join ";\n", @statements) }

# --- DROP EXTENSION -----------------------------------------------------------

sql('postgres', 'CREATE DATABASE again');
is(sql('again', 'CREATE EXTENSION uuid9562', 'CREATE TEMP TABLE ids AS SELECT public.uuidv7() AS id', 'DROP EXTENSION uuid9562',
		'CREATE EXTENSION uuid9562', 'SELECT public.uuidv7() > id FROM ids'),
	't', 'values stay in order if the extension is dropped and created in a session');
sql('again', 'CREATE TABLE kept (id uuid PRIMARY KEY DEFAULT public.uuidv7(), n int)', 'INSERT INTO kept (n) VALUES (1)', 'DROP EXTENSION uuid9562 CASCADE');
is(sql('again', 'SELECT count(id), (SELECT column_default IS NULL FROM information_schema.columns WHERE table_name = $$kept$$ AND column_name = $$id$$) FROM kept'),
	'1|t', 'DROP EXTENSION CASCADE removes the default and keeps the IDs');

# doc/upgrading.md: without CASCADE nothing is lost, but CASCADE drops these
sql('again', 'CREATE EXTENSION uuid9562', q{CREATE TABLE generated (url text, id uuid GENERATED ALWAYS AS (public.uuidv5(public.uuid_namespace('url'), url)) STORED)},
	q{INSERT INTO generated VALUES ('a')}, 'CREATE TABLE by_time (id uuid) PARTITION BY RANGE (public.uuidv7_timestamp(id))', 'CREATE TABLE rest PARTITION OF by_time DEFAULT',
	'INSERT INTO by_time SELECT public.uuidv7()');
my $error = ($node->psql('again', 'DROP EXTENSION uuid9562'))[2];
like($error, qr/^(?=.*column id of table generated depends on function)(?=.*table by_time depends on function)/s, 'DROP EXTENSION lists a generated column and a table that is partitioned by a function');
is(sql('again', 'SELECT (SELECT count(id) FROM generated) + (SELECT count(*) FROM by_time)'), '2', 'and drops nothing');
sql('again', 'DROP EXTENSION uuid9562 CASCADE');
is(sql('again', q{SELECT to_regclass('by_time') IS NULL, (SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'generated'::regclass AND attnum > 0 AND NOT attisdropped)}),
	't|url', 'DROP EXTENSION CASCADE drops them with their values');

# --- a hostile search path ----------------------------------------------------

# In the search path $path, functions and operators of schema "trap" come before those of
# PostgreSQL with the same names.  No function of the extension calls those of "trap".
sql('postgres', 'CREATE DATABASE hostile');
sql('hostile', q{
	CREATE EXTENSION uuid9562;
	CREATE SCHEMA trap;
	CREATE FUNCTION trap.spring() RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'sprung'; END$$;
	CREATE FUNCTION trap.compare(uuid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring()';
	CREATE OPERATOR trap.>= (FUNCTION = trap.compare, LEFTARG = uuid, RIGHTARG = uuid);
	CREATE OPERATOR trap.<= (FUNCTION = trap.compare, LEFTARG = uuid, RIGHTARG = uuid);
	CREATE OPERATOR trap.= (FUNCTION = trap.compare, LEFTARG = uuid, RIGHTARG = uuid);
	CREATE FUNCTION trap.uuid_is_v7(uuid) RETURNS boolean LANGUAGE sql AS 'SELECT trap.spring()';
	CREATE FUNCTION trap.uuidv7_lower_bound(timestamptz, boolean) RETURNS uuid LANGUAGE sql AS 'SELECT CASE WHEN trap.spring() THEN gen_random_uuid() END';
	CREATE FUNCTION trap.uuidv7_upper_bound(timestamptz, boolean) RETURNS uuid LANGUAGE sql AS 'SELECT CASE WHEN trap.spring() THEN gen_random_uuid() END';
	CREATE TABLE public.ids (id uuid PRIMARY KEY DEFAULT public.uuidv7());
	INSERT INTO public.ids SELECT public.uuidv7_at('2026-01-01'::timestamptz + n * interval '1 hour') FROM generate_series(1, 1000) AS n;
	ANALYZE public.ids});
my $path = 'SET search_path = trap, pg_catalog, public';
is(sql('hostile', $path, q{SELECT count(*) FROM public.ids WHERE id OPERATOR(public.<@) '[2026-01-10,2026-01-11)'}), '24', 'a hostile search path: a constant period finds its rows');
is(sql('hostile', $path, 'SET enable_seqscan = off', q{SELECT count(*) FROM public.ids WHERE id OPERATOR(public.<@) pg_catalog.tstzrange('2026-01-10', '2026-01-10'::timestamptz + interval '1 day')}),
	'24', 'a hostile search path: a period that is not constant finds its rows');
my ($status, $out, $err) = $node->psql('hostile', "$path; SELECT count(*) FROM public.ids WHERE id = public.uuidv7()");
like($err, qr/sprung/, 'an unqualified operator in a query is that of the hostile schema');

$node->stop;
done_testing();
