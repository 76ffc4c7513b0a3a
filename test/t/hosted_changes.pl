# Updates and deletes without the extension, as doc/hosted-reads.md describes them, by a role that
# is not a superuser.  The copy of the page equals the table whenever the writers pause.  Copies
# that ignore a part of the page differ.
#
# UUID9562_HOSTED_SECONDS is the duration of the load.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;

my $seconds = $ENV{UUID9562_HOSTED_SECONDS} || 3;
my $page = slurp_file("$FindBin::Bin/doc/hosted-reads.md");
my @blocks = grep { /customer/ } $page =~ /^```sql\n(.*?)^```/msg;
my ($places, $copy) = $blocks[-1] =~ /^(CREATE.*?\n)\n(WITH.*?;\n)/s or die 'the page has no copy';

my $node = use_server(PostgreSQL::Test::Cluster->new('hosted_changes'));
$node->init;
$node->append_conf('postgresql.conf', "max_prepared_transactions = 20\nautovacuum = off\n");
$node->start;
sql('CREATE ROLE app LOGIN', 'GRANT CREATE ON SCHEMA public TO app', 'CREATE ROLE clerk LOGIN');

sub app { return $node->safe_psql('postgres', join(";\n", @_), extra_params => [ '-U', 'app' ]) }
sub app_session { return $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'app' ]) }

app(@blocks[ 0 .. $#blocks - 1 ], $places);
app('GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON customer TO clerk');

# a copy without the view's condition on existing keys, which reads each change alone
my $without_rule = $copy =~ s/customer_(changes|copy|place)/simple_$1/gr =~ s/LIMIT 1000/LIMIT 1/r;
app('CREATE VIEW simple_changes AS SELECT xid, false AS deleted, id, name FROM customer WHERE xid < pg_snapshot_xmin(pg_current_snapshot())
		UNION ALL SELECT xid, true, id, NULL FROM customer_deleted WHERE xid < pg_snapshot_xmin(pg_current_snapshot())',
	'CREATE TABLE simple_copy (LIKE customer_copy INCLUDING ALL)', 'CREATE TABLE simple_place (LIKE customer_place INCLUDING ALL)',
	'INSERT INTO simple_place SELECT * FROM customer_place');

# Copy pages until there are none.
sub copy_all
{
	my ($statement, $prefix) = @_;
	my ($before, $after) = ('', 'none');

	until ($before eq $after)
	{
		$before = $after;
		app($statement);
		$after = app("SELECT xid, id FROM ${prefix}_place");
	}
}

# Count rows that differ between the table and a copy.
sub differences
{
	my ($prefix) = @_;
	return app("SELECT count(*) FROM (SELECT id, name FROM customer) AS c FULL JOIN ${prefix}_copy AS d USING (id) WHERE c.name IS DISTINCT FROM d.name");
}

sub is_equal { my ($name) = @_; copy_all($copy, 'customer'); is(differences('customer'), '0', "$name: the copy equals the table") }

app(q{INSERT INTO customer VALUES (1, 'one'), (2, 'two'), (3, 'three')});
is_equal('inserts');
app(q{UPDATE customer SET name = 'ONE' WHERE id = 1}, q{UPDATE customer SET id = 4 WHERE id = 2}, 'DELETE FROM customer WHERE id = 3');
is_equal('an update, a changed key and a delete');
$node->safe_psql('postgres', q{DELETE FROM customer WHERE id = 1; INSERT INTO customer VALUES (9, 'clerk'), (1, 'again')}, extra_params => [ '-U', 'clerk' ]);
is_equal('a role without privileges on the table of deleted keys');
my ($status, $out, $err) = $node->psql('postgres', 'TRUNCATE customer', extra_params => [ '-U', 'clerk' ]);
like($err, qr/cannot truncate table "customer"/, 'TRUNCATE is refused');

# an INSERT with a smaller transaction ID waits for the DELETE of its key
copy_all($without_rule, 'simple');
my ($early, $late) = map { app_session() } 1 .. 2;
in($early, 'BEGIN', q{INSERT INTO customer VALUES (20, 'early')});
in($late, 'BEGIN', 'DELETE FROM customer WHERE id = 1');
$early->query_until(qr/sent/, "\\echo sent\nINSERT INTO customer VALUES (1, 'inserted');\n");
$node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)") or die 'the INSERT does not wait';
is_equal('an INSERT waits');
in($late, 'COMMIT');
in($early, 'COMMIT');
copy_all($without_rule, 'simple');
is(differences('simple'), '1', 'a copy that does not ignore deletions of existing keys loses a row');
is_equal('an INSERT waits for the DELETE of its key');
$_->quit foreach $early, $late;

# Another session reads a page, but waits before it writes the page.
app(q{CREATE FUNCTION wait() RETURNS int LANGUAGE sql AS 'SELECT 0 FROM pg_advisory_xact_lock(1)'; INSERT INTO customer VALUES (30, 'old')});
my ($holder, $slow) = map { app_session() } 1 .. 2;
in($holder, 'SELECT pg_advisory_lock(1)');
$slow->query_until(qr/sent/, "\\echo sent\n" . $copy =~ s/LIMIT 1000/LIMIT 1000 OFFSET wait()/r . "\n");
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)}) or die 'the session does not wait';
app(q{UPDATE customer SET name = 'new' WHERE id = 30});
app($copy);
in($holder, 'SELECT pg_advisory_unlock(1)');
in($slow, 'SELECT 1');
is_equal('a session writes an older page than another session');
$_->quit foreach $holder, $slow;

# --- load -------------------------------------------------------------------------

my $dir = PostgreSQL::Test::Utils::tempdir();
my @scripts = (
	q{\set a random(1, 30)
\set b random(1, 30)
BEGIN;
INSERT INTO customer VALUES (:a, 'upsert') ON CONFLICT (id) DO UPDATE SET name = 'upsert ' || :b;
SELECT pg_sleep(0.002 * random());
SAVEPOINT s;
DELETE FROM customer WHERE id = :b;
ROLLBACK TO s;
UPDATE customer SET name = 'update ' || :a WHERE id = :b;
COMMIT;
}, q{\set a random(1, 30)
\set b random(1, 30)
BEGIN;
DELETE FROM customer WHERE id = :a;
INSERT INTO customer VALUES (:a, 'insert') ON CONFLICT DO NOTHING;
SELECT pg_sleep(0.002 * random());
UPDATE customer SET id = :b + 1000 * (random() * 1000000)::int WHERE id = :b;
DELETE FROM customer WHERE id > 1000 AND random() < 0.5;
COMMIT;
});
append_to_file("$dir/$_.sql", $scripts[$_]) foreach 0 .. $#scripts;
my $pauses = 0;
my $wrong = 0;
for my $round (1 .. $seconds)
{
	my $load = IPC::Run::start([ 'pgbench', '-n', '-h', $node->host, '-p', $node->port, '-U', 'app', '-c', 4, '-T', 1, '--max-tries=10',
		map({ ('-f', "$dir/$_.sql") } 0 .. $#scripts), 'postgres' ], '>', \my $log, '2>&1');
	while ($load->pumpable) { app($copy); $load->pump_nb; }
	$load->finish;
	copy_all($copy, 'customer');
	$pauses++;
	$wrong += differences('customer');
}
is($wrong, 0, "the copy equals the table at $pauses pauses");
cmp_ok(app('SELECT count(*) FROM customer_deleted'), '>', 0, 'the load deletes rows');
$node->stop;
done_testing();
