# From each earlier version of the extension to this one: its script with this
# library, ALTER EXTENSION ... UPDATE, and a dump of either.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Shop;
use Test::More;

my @scripts = glob(`$ENV{PG_CONFIG} --sharedir` =~ s/\n//r . '/extension/uuid9562--*--*.sql');
plan(skip_all => 'there is no earlier version to update from') unless @scripts;

my $node = PostgreSQL::Test::Cluster->new('update');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'\nshared_preload_libraries = 'uuid9562'\n");
$node->start;

sub sql { return $node->safe_psql(@_) }

# Rows of the catalogs that are about the extension, without oids.
my $catalog = q{
	SELECT format('%s %s', identity, obj_description(objid, classid::regclass::name)) AS what,
		   coalesce((SELECT to_jsonb(p) - 'oid' - 'pronamespace' - 'proowner' - 'prorettype' - 'proargtypes' - 'prosupport'
							|| jsonb_build_object('result', pg_get_function_result(p.oid), 'support', p.prosupport::regproc,
												  'aggregate', (SELECT to_jsonb(a) - 'aggfnoid' FROM pg_aggregate AS a WHERE aggfnoid = p.oid))
					 FROM pg_proc AS p WHERE classid = 'pg_proc'::regclass AND p.oid = objid),
					(SELECT jsonb_build_object('function', oprcode, 'commutator', oprcom::regoperator, 'negator', oprnegate::regoperator,
											   'restrict', oprrest, 'join', oprjoin)
					 FROM pg_operator AS o WHERE classid = 'pg_operator'::regclass AND o.oid = objid)) AS definition
	FROM pg_depend, pg_identify_object(classid, objid, 0)
	WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
		  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'uuid9562')
	ORDER BY identity COLLATE "C"};

# What each function says of values of the types that it takes; its error, where it has one.
my $answers = q{
	CREATE FUNCTION pg_temp.answer(call text) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		answer text;
	BEGIN
		EXECUTE 'SELECT ' || call INTO answer;
		RETURN answer;
	EXCEPTION WHEN OTHERS THEN
		RETURN SQLSTATE || ' ' || SQLERRM;
	END$$;
	CREATE TEMP TABLE given (type regtype, literal text);
	INSERT INTO given VALUES
		('uuid', 'c232ab00-9414-11ec-b3c8-9f6bdeced846'), ('uuid', '919108f7-52d1-4320-9bac-f847db4148a8'),
		('uuid', '1ec9414c-232a-6b00-b3c8-9f6bdeced846'), ('uuid', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
		('uuid', '2489e9ad-2ee2-8e00-8ec9-32d5f69181c0'), ('uuid', '00000000-0000-0000-0000-000000000000'),
		('timestamptz', '2026-01-10 12:00'), ('timestamptz', '1500-01-01'), ('timestamptz', 'infinity'),
		('tstzrange', '[2022-01-01,2023-01-01)'), ('tstzrange', 'empty'), ('tstzrange', '(,)'),
		('text', 'www.example.com'), ('text', 'dns'), ('text', '017f22e2-79b0-7cc3-98c4-dc0c0c07398f'),
		('text', 'urn:uuid:017f22e2-79b0-7cc3-98c4-dc0c0c07398f'), ('bytea', '\x00112233445566778899aabbccddeeff'),
		('int8', '-1'), ('int8', '5'), ('int4', '7');
	SELECT signature, pg_temp.answer(call)
	FROM (SELECT pg_get_function_identity_arguments(p.oid) || ' ' || p.proname AS signature, p.proname,
				 ARRAY(SELECT CASE WHEN typtype = 'd' THEN typbasetype ELSE t.oid END
					   FROM unnest(proargtypes) WITH ORDINALITY AS arguments (type, n) JOIN pg_type AS t ON t.oid = type ORDER BY n) AS types
		  FROM pg_proc AS p JOIN pg_depend ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
		  WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'uuid9562') AND provolatile = 'i' AND prokind = 'f') AS functions,
		 LATERAL (SELECT format('public.%s(%s)', proname, string_agg(argument, ', ' ORDER BY n)) AS call
				  FROM unnest(types) WITH ORDINALITY AS arguments (type, n),
					   LATERAL (SELECT format('%L::%s', literal, given.type) AS argument, row_number() OVER (ORDER BY literal) AS m
								FROM given WHERE given.type = arguments.type) AS choices
				  GROUP BY m HAVING count(*) = cardinality(types)) AS calls
	ORDER BY signature COLLATE "C", call COLLATE "C"};

sub dump_of
{
	my ($database) = @_;
	my $dump;

	$node->run_log([ 'pg_dump', '-d', $node->connstr($database) ], '>', \$dump);
	# since its minor versions of August 2025
	$dump =~ s/^\\(un)?restrict .*\n//mg;
	return $dump;
}

# ALTER EXTENSION adds what is new at the end, so only the fresh one is a reference
Shop::create($node, 'fresh');
my $fresh_catalog = sql('fresh', $catalog);
my @fresh_answers = split /\n/, sql('fresh', $answers);
cmp_ok(scalar(@fresh_answers), '>', 100, 'functions give answers');

my $now = sql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'uuid9562'});
my @earlier = split /\n/, sql('postgres', qq{SELECT version FROM pg_available_extension_versions WHERE name = 'uuid9562' AND version <> '$now' ORDER BY 1});

foreach my $version (@earlier)
{
	my $name = 'from_' . $version =~ tr/./_/r;

	Shop::create($node, $name, $version);
	my $shop = Shop::answers($node, $name);
	my %fresh = map { $_ => 1 } @fresh_answers;
	my @old_answers = split /\n/, sql($name, $answers);
	cmp_ok(scalar(@old_answers), '>', 100, "$version: its functions give answers with this library");
	is_deeply([ grep { !$fresh{$_} } @old_answers ], [], "$version: the same ones as those of $now");
	is(sql($name, q{SELECT count(DISTINCT generator) FROM public.uuid_generator_stats()}), '3', "$version: its statistics too");
	is(sql($name, 'SELECT count(*) FROM customers WHERE id <@ tstzrange(NULL, now())'), '100', "$version: and its operators");

	# restored, it is what a dump of today makes of it
	my $dump = dump_of($name);
	sql('postgres', "CREATE DATABASE restored_$name");
	$node->run_log([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("restored_$name") ], '<', \$dump);
	is(Shop::answers($node, "restored_$name"), $shop, "$version: a dump restores");
	is(sql("restored_$name", q{SELECT extversion FROM pg_extension WHERE extname = 'uuid9562'}), $now, "$version: into $now");

	sql($name, 'ALTER EXTENSION uuid9562 UPDATE');
	is(sql($name, q{SELECT extversion FROM pg_extension WHERE extname = 'uuid9562'}), $now, "$version: updated to $now");
	is(sql($name, $catalog), $fresh_catalog, "$version: with the catalog of a fresh $now");
	is_deeply([ split /\n/, sql($name, $answers) ], \@fresh_answers, "$version: and its answers");
	is(Shop::answers($node, $name), $shop, "$version: what uses it gives the same answers");
	is(dump_of($name), $dump, "$version: and has the same dump");
	is(sql($name, q{INSERT INTO customers DEFAULT VALUES; SELECT count(*) FROM customers WHERE id <@ tstzrange(NULL, '2100-01-01')}), '101',
		"$version: a default makes ids");
}

$node->stop;
done_testing();
