# The functions of the ordered generators raise errors in read-only transactions and
# during recovery.  test/t/horizon_access.pl tests parallel workers.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use Test::More;
use Ordered;

my $server = Ordered->new('refused', '', allows_streaming => 1) or plan skip_all => World::REASON;
my $node = $server->node;
my @kinds = qw(uuidv6 uuidv7 uuidv8_node);
my $before = $server->sql('SELECT public.uuidv6_ordered(), public.uuidv8_node_ordered()', 'SELECT public.uuidv7_ordered()') =~ s/.*\n//r;

# Return the errors of a call, with SQLSTATE.
sub errors
{
	my ($of, $sql) = @_;
	my ($status, $out, $err) = $of->psql('postgres', "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);

	return $err =~ s/^psql:.*?: //mgr;
}

# --- read-only transactions -------------------------------------------------------

foreach my $function ((map { "${_}_ordered()" } @kinds), 'uuid_generator_reset()', "uuid_generator_advance('$before')")
{
	my ($name) = $function =~ /^(\w+)/;

	like(errors($node, "BEGIN READ ONLY; SELECT public.$function"), qr/^ERROR:  25006: cannot execute $name\(\) in a read-only transaction\n/,
		"$name() is an error in a read-only transaction");
}
my $session = $server->stay;
$session->query('BEGIN; SET LOCAL transaction_read_only = on; SELECT public.uuidv7_ordered(); ROLLBACK');
like($session->{stderr}, qr/cannot execute uuidv7_ordered\(\) in a read-only transaction/, 'uuidv7_ordered() is an error in a read-only transaction of a session that has generated before');
$session->{stderr} = '';
cmp_ok($session->query_safe('SELECT public.uuidv7_ordered()') =~ s/\s//gr, 'gt', $before, 'the session generates again afterwards');
$session->quit;

# --- recovery ---------------------------------------------------------------------

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$server->turn('normal', $standby);
$server->start($standby);
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
foreach my $kind (@kinds)
{
	# transactions during recovery are read-only, so either reason is correct
	like(errors($standby, "SELECT public.${kind}_ordered()"), qr/^ERROR:  25006: cannot execute ${kind}_ordered\(\) (in a read-only transaction|during recovery)\n/,
		"${kind}_ordered() is an error during recovery");
}
foreach my $function ('uuid_generator_reset()', "uuid_generator_advance('$before')")
{
	like(errors($standby, "SELECT public.$function"), qr/^ERROR:  25006: cannot execute \w+\(\) (in a read-only transaction|during recovery)/, "$function is an error during recovery");
}
is($standby->safe_psql('postgres', 'SELECT public.uuidv7() IS NOT NULL, public.uuidv6() IS NOT NULL, public.uuidv8_node() IS NOT NULL'),
	't|t|t', 'uuidv6(), uuidv7() and uuidv8_node() work during recovery');

$_->stop foreach $standby, $node;
done_testing();
