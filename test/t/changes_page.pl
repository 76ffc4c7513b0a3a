# The program on the page doc/changes.md keeps a copy.  It runs as it is printed, and the copy equals
# the table after each kind of change, while the program is killed at random and runs twice.  It also keeps
# a copy of a table whose foreign key references the first one.
#
# UUID9562_PAGE_SECONDS is the time in which rows change at random, at least in 12 rounds.
use ServerTest;

plan skip_all => 'Psycopg 3 is not installed' unless system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") == 0;
my $seed = $ENV{SEED} // int rand 1e9;
srand $seed;
note("SEED=$seed");
my ($program) = slurp_file("$FindBin::Bin/doc/changes.md") =~ /^<!-- program: .*? -->\n```python\n(.*?)^```/ms or die 'the page has no program';
my %file = map { $_ => PostgreSQL::Test::Utils::tempdir() . "/$_.py" } qw(customer purchase);
append_to_file($file{customer}, $program);
append_to_file($file{purchase}, $program =~ s/\bcustomer/purchase/gr =~ s/\bname\b/customer_id/gr);

# Unless a program sets the encoding, Psycopg returns bytes from SQL_ASCII.
my $node = new_server('page', "shared_preload_libraries = 'uuid9562'\n", extra => [ '--encoding', 'SQL_ASCII' ]);
$node->safe_psql('postgres', 'CREATE DATABASE shop');
sub sql { return $node->safe_psql('shop', join ';', @_) }
sql('SET client_min_messages = warning; CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE TABLE customer (id bigint PRIMARY KEY, name text NOT NULL)',
	'CREATE TABLE customer_copy (id bigint PRIMARY KEY, name text)', q{INSERT INTO customer SELECT n, 'old' FROM generate_series(1, 3000) AS n},
	'CREATE TABLE purchase (id bigint PRIMARY KEY, customer_id bigint NOT NULL REFERENCES customer ON UPDATE CASCADE ON DELETE CASCADE)', 'CREATE INDEX ON purchase (customer_id)',
	'CREATE TABLE purchase_copy (id bigint PRIMARY KEY, customer_id bigint)', 'INSERT INTO purchase SELECT id, id FROM customer', q{SELECT changes_track('customer'), changes_track('purchase')});

my @running;
my $printed = '';
local $ENV{PGHOST} = $node->host;
local $ENV{PGPORT} = $node->port;
sub start
{
	my ($table) = @_;

	push @running, [ $table, IPC::Run::start([ '/usr/bin/python3', $file{$table} ], '>', \$printed, '2>&1') ];
}
sub wait_for_copy
{
	my ($name) = @_;
	ok($node->poll_query_until('shop', 'SELECT NOT EXISTS (' . join(' UNION ALL ', map { "SELECT FROM ((TABLE $_ EXCEPT TABLE ${_}_copy) UNION ALL (TABLE ${_}_copy EXCEPT TABLE $_)) AS $_" } sort keys %file) . ')'), $name) or diag($printed);
}
sql('ALTER TABLE purchase_copy ADD FOREIGN KEY (customer_id) REFERENCES customer_copy ON DELETE CASCADE');
IPC::Run::run([ 'timeout', '20', '/usr/bin/python3', $file{$_} ], '>>', \$printed, '2>&1') foreach qw(customer purchase);
is($printed, join('', map { "${_}_copy must have no foreign keys and no triggers\n" } qw(customer purchase)), 'the program refuses copies with a foreign key');
$printed = '';
sql('ALTER TABLE purchase_copy DROP CONSTRAINT purchase_copy_customer_id_fkey');

start($_) foreach qw(customer purchase customer purchase);
wait_for_copy('the program copies the table');
sql(q{INSERT INTO customer VALUES (3001, 'new')}, q{UPDATE customer SET name = 'changed' WHERE id % 2 = 0}, 'UPDATE customer SET id = -id WHERE id % 3 = 0', 'DELETE FROM customer WHERE id % 7 = 0');
wait_for_copy('it copies inserts, updates and deletes in several pages');
sql('TRUNCATE customer, purchase', q{INSERT INTO customer SELECT n, 'again' FROM generate_series(1, 3000) AS n}, 'INSERT INTO purchase SELECT id, id FROM customer');
wait_for_copy('it copies the table again after TRUNCATE');
sql('ALTER TABLE customer ADD other text', q{UPDATE customer SET name = 'wider' WHERE id % 5 = 0});
ok($node->poll_query_until('shop', q{SELECT count(*) = 600 FROM customer_copy WHERE name = 'wider'}), 'it continues after a column was added') or diag($printed);
sql('ALTER TABLE customer DROP other', q{UPDATE customer SET name = 'narrower' WHERE id % 5 = 1});
wait_for_copy('it continues after a column was dropped');
my $end = time + ($ENV{UUID9562_PAGE_SECONDS} // 0);
for (my $round = 1; $round <= 12 || time < $end; $round++)
{
	sql(map { my $id = 1 + int rand 3200; my $deleted = 1 + int rand 3200; (q{INSERT INTO customer VALUES (} . $id . q{, 'x') ON CONFLICT (id) DO UPDATE SET name = customer.name || 'x'},
		"INSERT INTO purchase VALUES ($deleted, $id) ON CONFLICT (id) DO UPDATE SET customer_id = excluded.customer_id", "DELETE FROM customer WHERE id = $deleted") } 1 .. 100);
	sql(q{SELECT changes_reset('} . (sort keys %file)[ int rand 2 ] . q{')}) if rand() < 0.2;
	my ($killed) = splice @running, int rand @running, 1;
	$killed->[1]->kill_kill(grace => 0);
	start($killed->[0]);
	wait_for_copy("no row of a parent or child is lost until round $round") if $round % 20 == 0;
}
wait_for_copy('no change is lost when the program is killed');
is($printed, '', 'the program prints no error');
$_->[1]->kill_kill(grace => 0) foreach @running;
$node->stop;
done_testing();
