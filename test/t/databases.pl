# Each database has its own horizon: transactions of another database do not hold it, neither in
# progress nor prepared, nor after a restart.  Positions and replay targets of another database are
# refused.
use ServerTest;

my $node = new_server('databases', "shared_preload_libraries = 'uuid9562'\nmax_prepared_transactions = 4\nautovacuum = off\n");

sub in_database
{
	my ($database, @statements) = @_;
	return $node->safe_psql($database, join ";\n", @statements);
}

sub refused
{
	my ($database, $statement) = @_;
	my ($status, $out, $err) = $node->psql($database, "\\set VERBOSITY verbose\n$statement");

	return $err;
}

# Test whether the horizon of a database is above the newest ID of the server.
sub advances
{
	my ($database) = @_;
	my $last = in_database($database, 'SELECT uuidv7_ordered()');

	return in_database($database, "SELECT uuidv7_horizon() > '$last'");
}

in_database('postgres', 'CREATE DATABASE a', 'CREATE DATABASE b');
in_database($_, 'CREATE EXTENSION uuid9562', 'CREATE TABLE t (id uuid DEFAULT uuidv7_ordered())', 'INSERT INTO t DEFAULT VALUES') foreach 'a', 'b';

my $session = $node->background_psql('a', on_error_stop => 0);
$session->query_safe('BEGIN');
$session->query_safe('INSERT INTO t DEFAULT VALUES');
my $pid = $session->query_safe('SELECT pg_backend_pid()');
is(advances('a'), 'f', 'a transaction in progress holds the horizon of its database');
is(advances('b'), 't', 'a transaction in progress does not hold the horizon of another database');
is(in_database('a', 'SELECT held_by_pid FROM uuid_generator_stats()'), $pid, 'statistics name the holder of this database');
is(in_database('b', 'SELECT held_since IS NULL, held_by_pid IS NULL FROM uuid_generator_stats()'), 't|t',
	'statistics do not name the holder of another database');

$session->query_safe("PREPARE TRANSACTION 'held'");
$session->quit;
is(advances('a'), 'f', 'a prepared transaction holds the horizon of its database');
is(advances('b'), 't', 'a prepared transaction does not hold the horizon of another database');
$node->stop('immediate');
$node->start;
like(refused('a', 'SELECT uuidv7_ordered(); SELECT uuidv7_horizon()'), qr/55000: could not determine uuidv7_horizon\(\) because of an old transaction/,
	'after a restart, a prepared transaction stops readers of its database');
is(advances('b'), 't', 'after a restart, a prepared transaction does not stop readers of another database');
in_database('a', "COMMIT PREPARED 'held'");
is(advances('a'), 't', 'after the prepared transaction has finished, readers continue');

my $position = in_database('a', 'SELECT uuidv7_position(uuidv7_horizon(), NULL)');
my $target = in_database('a', 'SELECT target FROM uuid_replay_target()');
like(refused('b', "SELECT $_"), qr/22023: UUID (position|target) was computed in database "a".*HINT:/s, "$_ of another database is refused")
  foreach "uuidv7_after('$position')", "uuidv7_position(uuidv7_horizon(), '$position')", "uuid_has_replayed('$target')";
is(in_database('a', "SELECT uuidv7_after('$position') IS NOT NULL, uuid_has_replayed('$target')"), 't|t', 'they are accepted in their database');
in_database('postgres', 'DROP DATABASE a', 'CREATE DATABASE clone TEMPLATE b');
like(refused('b', "SELECT uuidv7_after('$position')"), qr/22023: UUID position was computed in database with OID \d+/, 'a dropped database has no name');
my $of_template = in_database('b', 'SELECT uuidv7_position(uuidv7_horizon(), NULL)');
like(refused('clone', "SELECT uuidv7_after('$of_template')"), qr/22023: UUID position was computed in database "b"/, 'a clone refuses positions of its template');
$node->stop;
done_testing();
