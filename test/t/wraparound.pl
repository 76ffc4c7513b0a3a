# Transaction IDs have 32 bits, and wrap around after about four billion transactions.  The horizon
# waits for a transaction that began before the wraparound, and a reader misses no row.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;

my $node;

# Start a new server with 100 transaction IDs left.  pg_resetwal needs a file with the status
# of the transactions around the next ID: a file has 2 bits for each of 2^20 transactions.
sub start_before_wraparound
{
	my ($name) = @_;
	my $next = 2**32 - 100;

	$node = use_server(PostgreSQL::Test::Cluster->new($name));
	$node->init;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = 'uuid9562'\nautovacuum = off\n");
	$node->start;
	sql('CREATE EXTENSION uuid9562', 'CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered())');
	sql('VACUUM FREEZE');
	$node->stop;
	append_to_file($node->data_dir . sprintf('/pg_xact/%04X', $next >> 20), "\0" x 2**18);
	command_ok([ 'pg_resetwal', '-x', $next, '-u', $next - 1000, $node->data_dir ], 'pg_resetwal sets the next transaction ID');
	$node->start;
}

# Use 120 transaction IDs, and return the epoch of the next one.
sub use_ids
{
	sql('DO $$ BEGIN FOR i IN 1 .. 120 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$');
	return sql('SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint >> 32');
}

sub add_row { return 'INSERT INTO events DEFAULT VALUES RETURNING id' }

# a transaction that began before the wraparound, and before the first ordered value
start_before_wraparound('in_progress');
my $early = session();
in($early, 'BEGIN', 'SELECT pg_current_xact_id()');
is(use_ids(), 1, 'transaction IDs have started again');
sql(add_row());
is_above_all('a transaction that began before the wraparound does not prevent a horizon');
my $id = in($early, add_row()) =~ s/\s//gr;
sql(add_row()) foreach 1 .. 3;
cmp_ok(sql('SELECT public.uuidv7_horizon()'), 'le', $id, 'the horizon waits for a transaction that began before the wraparound');
in($early, 'COMMIT');
cmp_ok(sql('SELECT public.uuidv7_horizon()'), 'gt', $id, 'the horizon does not wait for a transaction from before the wraparound after its COMMIT');
leave($early);
$node->stop;

# a snapshot that was taken before the wraparound
start_before_wraparound('snapshot');
my ($writer, $reader) = (session(), session());
$id = in($writer, 'BEGIN', add_row()) =~ s/\s//gr;
my $count = in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM events');
is(use_ids(), 1, 'transaction IDs have started again');
in($writer, 'COMMIT');
sql(add_row());
is(in($reader, 'SELECT count(*) FROM events'), $count, 'a snapshot from before the wraparound does not see the row of a later commit');
cmp_ok(in($reader, 'SELECT public.uuidv7_horizon()') =~ s/\s//gr, 'le', $id, 'the horizon of a snapshot from before the wraparound is not above the row of the later commit');
cmp_ok(sql('SELECT public.uuidv7_horizon()'), 'gt', $id, 'the horizon of a new snapshot is above the row');
leave($writer, $reader);

$node->stop;
done_testing();
