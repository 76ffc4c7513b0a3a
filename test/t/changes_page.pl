# The program on the page doc/changes.md keeps a copy.  It runs as it is printed, and the copy equals
# the table after each kind of change, while the program is killed at random and runs twice.
use ServerTest;

plan skip_all => 'Psycopg 3 is not installed' unless system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") == 0;
my $seed = $ENV{SEED} // int rand 1e9;
srand $seed;
note("SEED=$seed");
my ($program) = slurp_file("$FindBin::Bin/doc/changes.md") =~ /^<!-- program: .*? -->\n```python\n(.*?)^```/ms or die 'the page has no program';
my $file = PostgreSQL::Test::Utils::tempdir() . '/program.py';
append_to_file($file, $program);

# Psycopg returns bytes from SQL_ASCII
my $node = new_server('page', "shared_preload_libraries = 'uuid9562'\n", extra => [ '--encoding', 'UTF8' ]);
$node->safe_psql('postgres', 'CREATE DATABASE shop');
sub sql { return $node->safe_psql('shop', join ';', @_) }
sql('SET client_min_messages = warning; CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE TABLE customer (id bigint PRIMARY KEY, name text NOT NULL)',
	'CREATE TABLE customer_copy (id bigint PRIMARY KEY, name text)', q{INSERT INTO customer SELECT n, 'old' FROM generate_series(1, 3000) AS n}, q{SELECT changes_track('customer')});

my @running;
my $printed = '';
sub start
{
	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	push @running, IPC::Run::start([ '/usr/bin/python3', $file ], '>', \$printed, '2>&1');
}
sub wait_for_copy
{
	my ($name) = @_;
	ok($node->poll_query_until('shop', 'SELECT NOT EXISTS ((TABLE customer EXCEPT TABLE customer_copy) UNION ALL (TABLE customer_copy EXCEPT TABLE customer))'), $name) or diag($printed);
}
start() for 1, 2;
wait_for_copy('the program copies the table');
sql(q{INSERT INTO customer VALUES (3001, 'new')}, q{UPDATE customer SET name = 'changed' WHERE id % 2 = 0}, 'UPDATE customer SET id = -id WHERE id % 3 = 0', 'DELETE FROM customer WHERE id % 7 = 0');
wait_for_copy('it copies inserts, updates and deletes in several pages');
sql('TRUNCATE customer', q{INSERT INTO customer SELECT n, 'again' FROM generate_series(1, 3000) AS n});
wait_for_copy('it copies the table again after TRUNCATE');
sql('ALTER TABLE customer ADD other text', q{UPDATE customer SET name = 'wider' WHERE id % 5 = 0});
ok($node->poll_query_until('shop', q{SELECT count(*) = 600 FROM customer_copy WHERE name = 'wider'}), 'it continues after a column was added') or diag($printed);
sql('ALTER TABLE customer DROP other', q{UPDATE customer SET name = 'narrower' WHERE id % 5 = 1});
wait_for_copy('it continues after a column was dropped');
foreach my $round (1 .. 12)
{
	sql(map { my $id = 1 + int rand 3200; (q{INSERT INTO customer VALUES (} . $id . q{, 'x') ON CONFLICT (id) DO UPDATE SET name = customer.name || 'x'}, 'DELETE FROM customer WHERE id = ' . (1 + int rand 3200)) } 1 .. 100);
	my $killed = splice @running, int rand @running, 1;
	$killed->kill_kill(grace => 0);
	start();
}
wait_for_copy('no change is lost when the program is killed');
is($printed, '', 'the program prints no error');
$_->kill_kill(grace => 0) foreach @running;
$node->stop;
done_testing();
