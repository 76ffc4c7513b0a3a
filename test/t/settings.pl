# Tests of settings of sessions, databases, roles and the server.  SET with an invalid value
# raises an error if the library is loaded.  Otherwise, loading the library raises a warning.
use ServerTest;

my $node = new_server('settings');
$node->safe_psql('postgres', 'CREATE EXTENSION uuid9562');

my $node_of_v6 = 'SELECT (public.uuid_inspect(public.uuidv6())).node';
my $id_of_v8 = 'SELECT public.uuidv8_node_id(public.uuidv8_node())';

# values that are set before the library is loaded
is($node->safe_psql('postgres', "SET uuid9562.mac_address = '02:00:5e:10:00:01'; $node_of_v6"),
	'02:00:5e:10:00:01', 'a value set before the library is loaded is used');
my ($status, $out, $err) = $node->psql('postgres', "SET uuid9562.mac_address = 'zz'; $node_of_v6");
is($status, 0, 'a bad value set before the library is loaded does not stop the call');
like($err, qr/WARNING:  invalid value for parameter "uuid9562.mac_address": "zz"/, 'a bad value set before the library is loaded is reported');
like($err, qr/Use a MAC address such as/, 'the warning has the hint');
like($out, qr/^[0-9a-f][13579bdf]:/, 'the default is used instead: a random node with the multicast bit');

# set the node ID for a database, a role and the server
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET uuid9562.node_id = 7');
is($node->safe_psql('postgres', $id_of_v8), '7', 'ALTER DATABASE ... SET sets the node ID');
$node->safe_psql('postgres', 'CREATE ROLE importer LOGIN; ALTER ROLE importer SET uuid9562.node_id = 8');
is($node->safe_psql('postgres', $id_of_v8, extra_params => [ '-U', 'importer' ]), '8', 'ALTER ROLE ... SET sets the node ID');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET uuid9562.node_id');
$node->safe_psql('postgres', 'SELECT public.nil_uuid(); ALTER SYSTEM SET uuid9562.node_id = 9');
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('uuid9562.node_id', true) = '9'});
is($node->safe_psql('postgres', $id_of_v8), '9', 'ALTER SYSTEM and a reload set the node ID');

# a database owner who is not a superuser can set the node ID after loading the library
$node->safe_psql('postgres', 'CREATE DATABASE shop OWNER importer');
$node->safe_psql('shop', 'CREATE EXTENSION uuid9562', extra_params => [ '-U', 'importer' ]);
($status, $out, $err) = $node->psql('shop', 'ALTER DATABASE shop SET uuid9562.node_id = 10', extra_params => [ '-U', 'importer' ]);
like($err, qr/permission denied to set parameter "uuid9562.node_id"/, 'the owner of a database cannot set the node ID with ALTER DATABASE before the library is loaded');
$node->safe_psql('shop', 'SELECT public.nil_uuid(); ALTER DATABASE shop SET uuid9562.node_id = 10', extra_params => [ '-U', 'importer' ]);
is($node->safe_psql('shop', "$id_of_v8; RESET uuid9562.node_id; $id_of_v8"), "10\n10", 'the owner of a database can set the node ID after the library is loaded');

# settings of the server, for a role that is not a superuser, before the library is loaded
sub show
{
	my ($options, $name) = @_;
	local $ENV{PGOPTIONS} = $options;

	return $node->psql('postgres', "SELECT public.nil_uuid() IS NULL; SHOW $name", extra_params => [ '-U', 'importer' ]);
}
$node->append_conf('postgresql.conf', "uuid9562.max_ahead = 7\nuuid9562.key_file = '/path'");
$node->reload;
$node->poll_query_until('postgres', q{SELECT current_setting('uuid9562.max_ahead', true) = '7'});
is((show('', 'uuid9562.max_ahead'))[1], "f\n7s", 'a session has the value of the server');
is((show('-c uuid9562.max_ahead=99999', 'uuid9562.max_ahead'))[1], "f\n1min", 'without preloading, a connection option replaces the value of the server by the default');
is($node->safe_psql('postgres', 'SHOW uuid9562.key_file', extra_params => [ '-U', 'importer' ]), '/path', 'without preloading, any user can read the path of the key file');

# with the library preloaded, every SET is checked at once
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'uuid9562'\nuuid9562.v7_method = 'counter'");
$node->restart;
foreach my $setting ('max_ahead=99999', 'key_file=')
{
	($status, $out, $err) = show("-c uuid9562.$setting", 'uuid9562.max_ahead');
	like($err, qr/FATAL:  parameter "uuid9562.\w+" cannot be changed now/, "with preloading, the connection option uuid9562.$setting is refused");
}
($status, $out, $err) = $node->psql('postgres', 'SHOW uuid9562.key_file', extra_params => [ '-U', 'importer' ]);
like($err, qr/ERROR:  (?:must be superuser|permission denied).* to examine "uuid9562.key_file"/, 'with preloading, only superusers and members of pg_read_all_settings can read the path of the key file');
is($node->safe_psql('postgres', 'SHOW uuid9562.v7_method'), 'counter', 'postgresql.conf sets the method if the library is preloaded');
($status, $out, $err) = $node->psql('postgres', "SET uuid9562.mac_address = 'zz'");
isnt($status, 0, 'a bad value is refused if the library is preloaded');
like($err, qr/ERROR:  invalid value for parameter "uuid9562.mac_address": "zz"/, 'the error names the value');
($status, $out, $err) = $node->psql('postgres', 'SET uuid9562.v7_metod = counter');
like($err, qr/invalid configuration parameter name "uuid9562.v7_metod"/, 'a misspelled name is refused if the library is preloaded');

# If postgresql.conf has an invalid value, the server keeps the previous value.  With exit_on_error = on, an
# error in the check hook would end the postmaster.
$node->append_conf('postgresql.conf', "uuid9562.mac_address = 'zz'\nexit_on_error = on");
my $offset = -s $node->logfile;
$node->reload;
ok( $node->wait_for_log(qr/invalid value for parameter "uuid9562.mac_address": "zz"\n(?:.*\n)*?.*configuration file .* contains errors/, $offset),
	'a bad value in postgresql.conf is reported at reload');
$offset = -s $node->logfile;
$node->append_conf('postgresql.conf', "uuid9562.mac_address = 'zzz'");
$node->reload;
ok( $node->wait_for_log(qr/invalid value for parameter "uuid9562.mac_address": "zzz"/, $offset),
	'a bad value is reported at the next reload too');
like($node->safe_psql('postgres', $node_of_v6), qr/^[0-9a-f][13579bdf]:/, 'the server keeps the value that it had');

$node->stop;
done_testing();
