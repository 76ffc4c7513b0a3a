# Whatever fails in the extension, such as an allocation, a file, OpenSSL, the clock or the
# random source, the statement raises an error and returns no value, and nothing else
# breaks.  Each statement runs repeatedly.  In run n, the n-th call that can fail is made to
# fail; see faults.h.
use ServerTest;

# Build the extension with faults.h, unless the installed one has been built with it.
my $library = qx(pg_config --pkglibdir) =~ s/\s+\z//r . '/uuid9562';
my $folder = PostgreSQL::Test::Utils::tempdir();
if (slurp_file("$library.so") !~ /uuid9562_set_fault/)
{
	system_or_bail('cp', '-a', "$FindBin::Bin/../uuid9562", "$folder/uuid9562");
	system_or_bail('make', '-s', '-C', "$folder/uuid9562", 'with_llvm=no', 'clean');
	system_or_bail('make', '-s', '-C', "$folder/uuid9562", 'with_llvm=no', "COPT=-include $FindBin::Bin/faults.h", 'uuid9562.so');
	$library = "$folder/uuid9562/uuid9562";
}

append_to_file("$folder/keys", 'postgres orders = ' . '01' x 32 . "\n");
chmod 0600, "$folder/keys" or die;
my $node = new_server('faults', "shared_preload_libraries = '$library'\nuuid9562.key_file = '$folder/keys'\nuuid9562.node_id = 7\n"
	  . "max_prepared_transactions = 5\nrestart_after_crash = off\n");

# create the functions from this library
my ($script) = glob "$FindBin::Bin/../uuid9562/uuid9562--?.?.sql";
my $sql = slurp_file($script);
$sql =~ s/^\\echo.*//m;
$sql =~ s/MODULE_PATHNAME/$library/g;
$sql =~ s/\@extschema\@/public/g;
$sql =~ s/^SELECT [^;]*pg_extension_config_dump[^;]*;//mg;
append_to_file("$folder/install.sql", $sql);
$node->safe_psql('postgres', "SET search_path = public;\n\\i $folder/install.sql\n"
	  . "CREATE FUNCTION set_fault(integer) RETURNS integer LANGUAGE c AS '$library', 'uuid9562_set_fault'");
my $id = $node->safe_psql('postgres', 'SELECT uuidv7_ordered()');
my $public_id = $node->safe_psql('postgres', "SELECT uuidv7_encrypt('$id', 'orders')");
$node->safe_psql('postgres', 'CREATE TABLE rows (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), CHECK (uuid_is_v7(id))); INSERT INTO rows DEFAULT VALUES; ANALYZE rows');

# Run statements in a new session, with the fault at call $n.  Return the output, the
# errors, and whether the fault occurred.
sub run_with_fault
{
	my ($n, $statement, $before) = @_;
	my ($status, $out, $err) = $node->psql('postgres',
		"\\set VERBOSITY verbose\n" . ($before || '') . ";\nSELECT 'before';\nSELECT set_fault($n) \\g /dev/null\n$statement;\nSELECT 'left ' || set_fault(0);\n"
		  . "SELECT 'after', uuidv7_ordered() > '$id', uuidv7() IS NOT NULL, uuidv7_horizon() > '$id', uuidv7_encrypt('$id', 'orders') = '$public_id'",
		on_error_stop => 0);

	BAIL_OUT("the server crashed at fault $n of: $statement\n$err\n" . substr(slurp_file($node->logfile), -2000)) if $status == 2;
	return ($out, $err, $out =~ /^left 0$/m);
}

my @calls = ('uuidv1()', 'uuidv4()', 'uuidv6()', 'uuidv7()', 'uuidv8()', 'uuidv8_node(1)', "uuidv7('1d')", 'uuidv7_at(now())', 'uuidv6_at(now())',
	'uuidv7_ordered()', 'uuidv7_horizon()', 'nil_uuid()', "uuid_namespace('dns')",
	"uuidv3(nil_uuid(), 'a')", "uuidv5(nil_uuid(), '\\x00'::bytea)", "uuidv8_name(nil_uuid(), 'a', 'sha512')", "uuidv8_custom('\\x000102030405060708090a0b0c0d0e0f')",
	'(SELECT count(*) FROM uuid_generator_stats())', "uuidv7_lower_bound('[2026-01-01,)'::tstzrange)", 'uuidv7_lower_bound(now(), true)');
my %cases = (
	(map { $_ => "SELECT 'value ' || $_" } @calls),
	'the fields of a UUID' => "SELECT 'value ' || (uuid_inspect('$id')).version",
	'the node of a UUID' => "SELECT 'value ' || (uuid_inspect(uuidv6_floor(now()))).node",
	'an encryption' => "SELECT 'value ' || uuidv7_encrypt('$id', 'orders')",
	'a decryption' => "SELECT 'value ' || uuidv7_decrypt('$public_id', 'orders')",
	'a row' => "INSERT INTO rows DEFAULT VALUES RETURNING 'value'",
	'a query for a period' => "SELECT DISTINCT 'value' FROM rows WHERE id <@ tstzrange(now() - interval '1 day', NULL)",
	'a query for a period in a generic plan' => "PREPARE p(tstzrange) AS SELECT DISTINCT 'value' FROM rows WHERE id <@ \$1; SET plan_cache_mode = force_generic_plan; EXECUTE p('[2026-01-01,)')",
	'a MAC address' => "SET uuid9562.mac_address = '00:00:5e:00:53:01'; SELECT 'value ' || uuidv6() WHERE current_setting('uuid9562.mac_address') <> ''",
	'an advance' => "SELECT 'value' FROM uuid_generator_advance(uuidv7_at(now() + interval '10 seconds'))",
	'a reset' => "SELECT 'value' FROM uuid_generator_reset()");

my ($faults, $kept) = (0, 0);
foreach my $name (sort keys %cases)
{
	my ($n, $wrong) = (0, '');

	while (++$n < 200)
	{
		my ($out, $err, $occurred) = run_with_fault($n, $cases{$name});
		if (!$occurred)
		{
			$wrong .= "without a fault: $out $err\n" unless $out =~ /^value/m && $err eq '';
			last;
		}
		$faults++;
		$wrong .= "fault $n: $out $err\n" unless $err =~ /ERROR:  \w{5}: / && $out !~ /^value/m;
		$wrong .= "after fault $n: $out $err\n" unless $out =~ /^after\|t\|t\|t\|t$/m;
	}
	ok($n < 200 && $wrong eq '', "$name: each of " . ($n - 1) . ' faults is an error') or diag($wrong);
}
cmp_ok($faults, '>', 100, 'more than 100 calls can fail');

# A fault after the generator's state has changed does not break the order.
my $last = '';
my $order = 0;
$node->safe_psql('postgres', 'SELECT uuid_generator_reset()');
foreach my $n (1 .. 30)
{
	my ($out, $err) = run_with_fault($n, 'SELECT uuidv7_ordered()');
	my $value = $node->safe_psql('postgres', 'SELECT uuidv7_ordered()');
	$order++ if $value le $last;
	$last = $value;
	if ($n % 5 == 0)
	{
		# the first value after a restart writes the mark
		$node->restart;
		run_with_fault($n / 5, 'SELECT uuidv7_ordered()');
	}
}
is($order, 0, 'values stay in order through faults');

is($node->safe_psql('postgres', 'SELECT count(*) FROM rows WHERE id < uuidv7_horizon()'), $node->safe_psql('postgres', 'SELECT count(*) FROM rows'), 'a reader sees all rows');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|was terminated by signal|is still referenced|leaked/, 'no fault crashes a process or leaks a resource');
$node->stop;
done_testing();
