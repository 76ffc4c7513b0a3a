# Test the update from each earlier version of the extension: create that version with the
# current library, update it with ALTER EXTENSION, and compare the dumps before and after.
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

# a query that returns the catalog rows of the extension, without OIDs
my $catalog = q{
	SELECT format('%s %s', identity, obj_description(objid, classid::regclass::name)),
		   (SELECT to_jsonb(p) - '{oid,pronamespace,proowner,prorettype,proargtypes,prosupport}'::text[] || jsonb_build_object(
					   'result', pg_get_function_result(p.oid), 'support', p.prosupport::regproc,
					   'aggregate', (SELECT to_jsonb(a) - 'aggfnoid' FROM pg_aggregate AS a WHERE aggfnoid = p.oid))
			FROM pg_proc AS p WHERE classid = 'pg_proc'::regclass AND p.oid = objid),
		   (SELECT (oprcode, oprcom::regoperator, oprnegate::regoperator, oprrest, oprjoin)
			FROM pg_operator AS o WHERE classid = 'pg_operator'::regclass AND o.oid = objid)
	FROM pg_depend, pg_identify_object(classid, objid, 0)
	WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
		  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'uuid9562')
	ORDER BY identity COLLATE "C"};

sub dump_of
{
	my ($database) = @_;
	my $dump;

	$node->run_log([ 'pg_dump', '-d', $node->connstr($database) ], '>', \$dump);
	# since the minor releases of August 2025, pg_dump writes \restrict and \unrestrict with
	# random keys
	$dump =~ s/^\\(un)?restrict .*\n//mg;
	return $dump;
}

Shop::create($node, 'fresh');
my $now = sql('postgres', q{SELECT default_version FROM pg_available_extensions WHERE name = 'uuid9562'});
my $version_of = q{SELECT extversion FROM pg_extension WHERE extname = 'uuid9562'};

foreach my $version (split /\n/, sql('postgres',
		qq{SELECT version FROM pg_available_extension_versions WHERE name = 'uuid9562' AND version <> '$now' ORDER BY 1}))
{
	my $name = 'from_' . $version =~ tr/./_/r;

	Shop::create($node, $name, $version);
	is(sql($name, $version_of), $version, "$version: the extension is created with the current library");
	my $shop = Shop::answers($node, $name);
	my $dump = dump_of($name);

	sql('postgres', "CREATE DATABASE restored_$name");
	$node->run_log([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("restored_$name") ], '<', \$dump);
	is(sql("restored_$name", $version_of), $now, "$version: a dump restores into $now");
	is(Shop::answers($node, "restored_$name"), $shop, "$version: queries on the restored database return the same results");

	sql($name, 'ALTER EXTENSION uuid9562 UPDATE');
	is(sql($name, $version_of), $now, "$version: ALTER EXTENSION updates the extension to $now");
	is(sql($name, $catalog), sql('fresh', $catalog), "$version: after the update the catalog is that of a new $now");
	is(Shop::answers($node, $name), $shop, "$version: after the update the queries return the same results");
	is(dump_of($name), $dump, "$version: after the update the dump is the same");
}

$node->stop;
done_testing();
