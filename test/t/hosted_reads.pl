# Incremental reads without the extension, as doc/hosted-reads.md describes them, by a role
# that is not a superuser.  The test runs the queries of this manual page.  In each history,
# readers with the query of the manual page must get each row once, and readers with a wrong
# query must miss rows or get them twice.
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

my $seconds = $ENV{UUID9562_HOSTED_SECONDS} || 5;
my $nil = '00000000-0000-0000-0000-000000000000';
my $page = slurp_file("$FindBin::Bin/doc/hosted-reads.md");

# Return the only code block of the manual page that matches a pattern.
sub block_with
{
	my ($pattern) = @_;
	my @blocks = grep { /$pattern/ } $page =~ /^```sql\n(.*?)^```/msg;

	die "the page has not one block with $pattern" if @blocks != 1;
	return $blocks[0];
}
my ($tables) = block_with(qr/CREATE TABLE outbox/) =~ /^(CREATE TABLE.*?\);\nCREATE INDEX.*?;\n)/s;
my ($query) = block_with(qr/FROM outbox$/m) =~ /^(SELECT.*?;\n)/ms;
my ($places, $copy) = block_with(qr/CREATE TABLE place/) =~ /^(CREATE.*?\n)\n(WITH.*?;\n)/s;
my $strict_copy = $copy =~ s/ ON CONFLICT \(id\) DO NOTHING//r;
my $new_rows = block_with(qr/'new rows'/);
my $add_column = block_with(qr/ADD COLUMN xid/);
my $holder = block_with(qr/backend_xid/);

sub init
{
	my ($name, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%options);
	$node->append_conf('postgresql.conf', "max_connections = 40\nmax_prepared_transactions = 20\nautovacuum = off\nmax_wal_size = 4GB\n");
	return $node;
}
my $primary = use_server(init('hosted', allows_streaming => 'logical'));
$primary->start;
my $standby;

# Run statements as the role "app" on a server, by default the primary.
sub app
{
	my ($sql, $server) = @_;
	return ($server || $primary)->safe_psql('postgres', $sql, extra_params => [ '-U', 'app' ]);
}

sub app_session { return $primary->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'app' ]) }

sub await_replay
{
	my $lsn = sql('SELECT pg_current_wal_flush_lsn()');
	$standby->poll_query_until('postgres', "SELECT pg_last_wal_replay_lsn() >= '$lsn'") or die 'the standby does not catch up';
}

# --- readers ----------------------------------------------------------------------

# A reader is a hash with a query, a limit, a server, the position, and the IDs that it got.
sub reader
{
	my ($name, $sql, %other) = @_;
	return { name => $name, sql => $sql, limit => 2, xid => 0, id => $nil, ids => [], %other };
}

# Get the next rows of a reader, up to its limit.  Return their number.
sub get_page
{
	my ($reader) = @_;
	my $sql = $reader->{sql} =~ s/LIMIT \d+/LIMIT $reader->{limit}/r;

	my @rows = map { [ split /\|/ ] } split /\n/, app("\\set xid $reader->{xid}\n\\set id $reader->{id}\n$sql", $reader->{server});
	push @{ $reader->{ids} }, map { $_->[1] } @rows;
	@$reader{qw(xid id)} = @{ $rows[-1] } if @rows;
	return scalar @rows;
}

sub result
{
	my ($reader) = @_;
	return missed_and_twice({ node => $primary, table => 'outbox', ids => $reader->{ids} });
}

# Execute the manual page's statement that copies rows, until it copies no row.  Without ON CONFLICT,
# a row that is copied twice is an error.
sub copy_all
{
	my $before;

	do { $before = app('SELECT count(*) FROM copied'); app($strict_copy) } while app('SELECT count(*) FROM copied') > $before;
}

# Return the manual page's query with a part replaced.  The query must have the part.
sub wrong
{
	my ($part, $replacement) = @_;
	my $sql = $query;

	$sql =~ s/\Q$part\E/$replacement/ or die "the query has no $part";
	return $sql;
}
my $bound = ' AND xid < pg_snapshot_xmin(pg_current_snapshot())';
my %wrong = (
	'without a bound' => wrong($bound, ''),
	'with pg_snapshot_xmax' => wrong('pg_snapshot_xmin', 'pg_snapshot_xmax'),
	'in the order of the text of xid' => wrong('SELECT xid,', 'SELECT xid::text AS xid,'),
	'with xid as its position' => wrong(q{(xid, id) > (:'xid', :'id')}, q{xid > :'xid'}));

# --- histories --------------------------------------------------------------------

# Execute a history: a list of pairs of a session's name and a statement.  After each statement,
# each reader gets rows.  At the end, the sessions must have finished their transactions.  Then
# each reader with a wrong query that $found names must have missed a row or got one twice.
sub history
{
	my ($name, $found, @steps) = @_;
	my %session;

	app("TRUNCATE outbox, copied, place; INSERT INTO place VALUES ('copy', '0', '$nil')");
	my @right = (reader('a reader', $query), reader('a reader of larger pages', $query, limit => 1000),
		reader('a reader on a standby', $query, server => $standby));
	my @wrong = map { reader($_, $wrong{$_}) } @$found;
	while (my ($who, $statement) = splice @steps, 0, 2)
	{
		in($session{$who} ||= app_session(), $statement);
		await_replay();
		get_page($_) foreach @right, @wrong;
		app($strict_copy =~ s/LIMIT 1000/LIMIT 2/r);
	}
	$_->quit foreach values %session;
	foreach my $reader (@right, @wrong) { 1 while get_page($reader) }
	foreach my $reader (@right)
	{
		is(result($reader), '0 missed, 0 twice', "$name: $reader->{name} gets each row once");
	}
	copy_all();
	is(app('SELECT count(*) FROM outbox FULL JOIN copied USING (id) WHERE copied.id IS NULL OR outbox.id IS NULL'), '0',
		"$name: a reader with its position in the database gets each row");
	isnt(result($_), '0 missed, 0 twice', "$name: a reader $_->{name} does not get each row once") foreach @wrong;
}

sub insert { return 'INSERT INTO outbox (message) VALUES ' . join ', ', map { "('$_')" } @_ }

# --- the tables of the page -------------------------------------------------------

sql('CREATE ROLE app LOGIN', 'GRANT CREATE ON SCHEMA public TO app', 'CREATE DATABASE other');
sql('GRANT CREATE ON DATABASE postgres TO app');
$primary->psql('postgres', '', extra_params => [ '-U', 'app', '-v', 'ON_ERROR_STOP=1', '-f', "$FindBin::Bin/managed/uuid9562.sql" ]);
sql('ALTER DATABASE postgres SET search_path = "$user", public, uuid9562');
app($tables . $places);
is(app('SELECT rolsuper FROM pg_roles WHERE rolname = current_user'), 'f', 'the role is not a superuser');
$primary->backup('standby');
$standby = PostgreSQL::Test::Cluster->new('hosted_standby');
$standby->init_from_backup($primary, 'standby', has_streaming => 1);
$standby->start;

history('slow commit', [ 'without a bound', 'with pg_snapshot_xmax' ],
	a => 'BEGIN', a => insert('first'), b => insert('second'), a => insert('third'), a => 'COMMIT');

history('page that ends inside a transaction', ['with xid as its position'], a => insert(1 .. 5), b => insert(6 .. 8));

history('rollback and savepoints', [ 'without a bound', 'with pg_snapshot_xmax', 'with xid as its position' ],
	a => 'BEGIN', a => insert('a1'), a => 'SAVEPOINT s', a => insert('a2', 'a3'), b => insert('b1'),
	a => 'ROLLBACK TO s', a => insert('a4'), a => 'SAVEPOINT t', a => insert('a5'), a => 'RELEASE t',
	b => 'BEGIN', b => insert('b2'), c => insert('c1'), b => 'ROLLBACK', c => insert('c2'), a => 'COMMIT', c => insert('c3'));

history('first write in a savepoint', [ 'without a bound', 'with pg_snapshot_xmax' ],
	a => 'BEGIN', a => 'SAVEPOINT s', b => 'BEGIN', b => insert('b1'), a => insert('a1'), c => insert('c1'),
	a => 'RELEASE s', a => 'COMMIT', c => insert('c2'), b => 'COMMIT');

history('more savepoints than a standby stores', [ 'without a bound', 'with pg_snapshot_xmax' ],
	a => 'BEGIN', a => join(';', map { "SAVEPOINT s_$_; " . insert("a$_") } 1 .. 100), b => insert('b1'), a => 'COMMIT', b => insert('b2'));

history('prepared transactions', [ 'without a bound', 'with pg_snapshot_xmax' ],
	a => 'BEGIN', a => insert('a1'), a => q{PREPARE TRANSACTION 'a'}, b => insert('b1'),
	a => 'BEGIN', a => insert('a2'), a => q{PREPARE TRANSACTION 'a2'}, b => insert('b2'),
	b => q{ROLLBACK PREPARED 'a2'}, b => insert('b3'), b => q{COMMIT PREPARED 'a'}, b => insert('b4'));

# Use up transaction IDs, so that the next ones have one digit more than their predecessors.
{
	my $xid = sql('SELECT pg_current_xact_id()');
	my $target = 10**length($xid) - 6;

	$primary->psql('postgres', "SELECT pg_current_xact_id();\n" x ($target - $xid));
	history('transaction ID with more digits', ['in the order of the text of xid'], b => 'BEGIN', b => insert('b'), (map { (a => insert($_)) } 1 .. 6), b => 'COMMIT');
	is(app('SELECT count(DISTINCT length(xid::text)) FROM outbox'), 2, 'the transaction IDs have different numbers of digits');
}

# --- a position that is set back -------------------------------------------------

{
	my ($admin, $reader) = (app_session(), app_session());
	my $pid = in($reader, 'SELECT pg_backend_pid()');

	app('TRUNCATE outbox, copied;' . insert('first'));
	copy_all();
	app(insert('second'));
	in($admin, 'BEGIN', "UPDATE place SET xid = '0' WHERE reader = 'copy'");
	$reader->{stdin} .= $copy;
	$reader->{run}->pump_nb;
	$primary->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $pid AND NOT granted)") or die 'the reader does not wait';
	in($admin, 'COMMIT');
	in($reader, 'SELECT 1');
	$_->quit foreach $admin, $reader;
	is(app(q{SELECT xid FROM place WHERE reader = 'copy'}), '0', 'a position that is set back while the statement runs stays set back');
	app('TRUNCATE copied');
	app($copy);
	is(app('SELECT string_agg(message, $$, $$ ORDER BY id) FROM copied'), 'first, second', 'a reader whose position is set back copies the rows again');
}

# --- plan, start, and monitoring --------------------------------------------------

app('INSERT INTO outbox (message) SELECT n FROM generate_series(1, 10000) AS n');
sql('ANALYZE outbox');
{
	my $plan = app("\\set xid 1000\n\\set id $nil\nEXPLAIN $query");

	like($plan, qr/Index Scan using outbox_xid_id_idx.*Index Cond: \(\(ROW\(xid, id\) > .*xid < pg_snapshot_xmin/s, 'the query uses the index for both bounds');
	unlike($plan, qr/Sort/, 'the query does not sort');
}
SKIP:
{
	skip 'Psycopg 3 is not installed', 1 if system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") != 0;
	my ($program) = $page =~ /^```python\n(.*?)^```/ms or die 'the page has no program';
	my $reader = { table => 'outbox' };
	my ($out, $err);

	# end at the first page without rows
	$program = "import sys, time, psycopg\nconnection = psycopg.connect(sys.argv[1], client_encoding='utf8')\n"
	  . "time.sleep = sys.exit\ndef deliver(id, message): print(id)\n$program";
	app("INSERT INTO place VALUES ('mail', '0', '$nil')");
	IPC::Run::run([ 'timeout', '60', '/usr/bin/python3', '-', $primary->connstr('postgres') . ' user=app' ], '<', \$program, '>', \$out, '2>', \$err);
	$reader->{ids} = [ split /\n/, $out ];
	is(missed_and_twice($reader), '0 missed, 0 twice', 'the program of the page delivers each row once') or diag($err);
}
{
	my $slow = app_session();
	in($slow, 'BEGIN', insert('slow'));
	my $new = reader('a new reader', $query, limit => 1000);
	app(insert('seen before the start'));
	app($new_rows);
	@$new{qw(xid id)} = split /\|/, app(q{SELECT xid, id FROM place WHERE reader = 'new rows'});
	is(get_page($new), 0, 'a transaction in progress holds back a new reader');
	my $pid = in($slow, 'SELECT pg_backend_pid()');
	like(app($holder), qr/^$pid\|postgres\|app\|idle in transaction\|/, 'the query for monitoring shows the session that holds back the readers');
	my $elsewhere = $primary->background_psql('other');
	in($elsewhere, 'BEGIN', 'SELECT pg_current_xact_id()');
	in($slow, 'COMMIT');
	$slow->quit;
	app(insert('last'));
	is(get_page($new), 2, 'a transaction of another database holds back later rows');
	like(sql($holder), qr/\|other\|/, 'the query for monitoring shows the other database');
	in($elsewhere, 'COMMIT');
	$elsewhere->quit;
	get_page($new);
	is(app("SELECT string_agg(message, ', ' ORDER BY xid) FROM outbox WHERE id = ANY ('{" . join(',', @{ $new->{ids} }) . "}')"),
		'slow, seen before the start, last', 'a reader of new rows gets the rows of transactions in progress');
}

# --- an existing table ------------------------------------------------------------

{
	app(q{CREATE TABLE message (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, message text);
		INSERT INTO message (message) VALUES ('old 1'), ('old 2')});
	my ($file, $writer) = (app(q{SELECT pg_relation_filenode('message')}), app_session());

	in($writer, 'BEGIN', q{INSERT INTO message (message) VALUES ('in progress')});
	my ($status, $out, $err) = $primary->psql('postgres', $add_column, on_error_stop => 1, extra_params => [ '-U', 'app' ]);
	like($err, qr/lock timeout/, 'the new column waits for transactions that have inserted rows');
	in($writer, 'COMMIT');
	$writer->quit;
	app($add_column);
	app(q{INSERT INTO message (message) VALUES ('new')});
	is(app(q{SELECT pg_relation_filenode('message')}), $file, 'the new column rewrites no row');
	is(app(q{SELECT string_agg(message, ', ' ORDER BY id) FROM message WHERE xid = '0'}), 'old 1, old 2, in progress', 'old rows have the xid 0');
	is(app(q{SELECT string_agg(message, ', ') FROM message WHERE (xid, id) > ('1', 0)}), 'new', 'a reader that starts at the xid 1 gets only new rows');
}

# --- other servers: logical replication, dump and restore -------------------------

{
	my $subscriber = init('hosted_subscriber');
	$subscriber->start;
	$subscriber->safe_psql('postgres', 'CREATE TABLE outbox (id uuid PRIMARY KEY, xid xid8 NOT NULL DEFAULT pg_current_xact_id(), message text)');
	# make the transaction IDs of both servers differ
	$subscriber->psql('postgres', "SELECT pg_current_xact_id();\n" x 20);
	sql('TRUNCATE outbox', "INSERT INTO outbox (message) VALUES ('copied')", 'CREATE PUBLICATION outbox FOR TABLE outbox (id, message)');
	$subscriber->safe_psql('postgres', q{CREATE SUBSCRIPTION outbox CONNECTION $$} . $primary->connstr('postgres') . q{$$ PUBLICATION outbox});
	$subscriber->wait_for_subscription_sync($primary, 'outbox');
	app(insert('streamed'));
	$primary->wait_for_catchup('outbox');
	is($subscriber->safe_psql('postgres', q{
		SELECT string_agg(message, ', ' ORDER BY xid), bool_and(xid < pg_snapshot_xmin(pg_current_snapshot()) AND xid = xmin::text::xid8) FROM outbox}),
		'copied, streamed|t', 'a subscriber stores its own transaction IDs if the publication omits the column');
	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION outbox');

	# restore the table on the subscriber, whose transaction IDs are smaller
	$subscriber->safe_psql('postgres', 'DROP TABLE outbox');
	my ($dump, $restored) = ('', reader('of a restored table', $query, server => $subscriber, limit => 1000));
	IPC::Run::run([ 'pg_dump', '--no-owner', '--table=outbox', $primary->connstr('postgres') ], '>', \$dump) or die 'pg_dump fails';
	# uuidv7_next() does not exist on this server
	$subscriber->safe_psql('postgres', $dump =~ s/DEFAULT uuid9562.uuidv7_next\(\)/DEFAULT gen_random_uuid()/r);
	$subscriber->safe_psql('postgres', 'CREATE ROLE app LOGIN; GRANT SELECT ON outbox TO app');
	is(get_page($restored), 0, 'after dump and restore a reader does not get the restored rows');
	$subscriber->safe_psql('postgres', "UPDATE outbox SET xid = '0'; INSERT INTO outbox (message) VALUES ('later')");
	is(get_page($restored), 3, 'after the statement of the page a reader gets restored and new rows');
	@$restored{qw(xid id)} = (1, $nil);
	is(get_page($restored), 1, 'a reader that starts at the xid 1 gets only new rows');
	$subscriber->stop;
}

# --- load -------------------------------------------------------------------------

{
	my $script = PostgreSQL::Test::Utils::tempdir() . '/writer';
	my $out = '';

	app("TRUNCATE outbox, copied, place; INSERT INTO place VALUES ('copy', '0', '$nil')");
	append_to_file($script, q{
		\set fate random(1, 20)
		\set wait random(0, 20)
		BEGIN;
		INSERT INTO outbox (message) SELECT n FROM generate_series(1, 3) AS n;
		\if :fate <= 8
		\sleep :wait ms
		SAVEPOINT s;
		INSERT INTO outbox (message) SELECT n FROM generate_series(4, 6) AS n;
		\if :fate <= 4
		ROLLBACK TO s;
		\else
		RELEASE s;
		\endif
		INSERT INTO outbox (message) VALUES ('after');
		\endif
		\if :fate <= 2
		ROLLBACK;
		\elif :fate <= 5
		PREPARE TRANSACTION 'writer :client_id';
		\sleep :wait ms
		INSERT INTO outbox (message) VALUES ('between');
		\if :fate = 3
		ROLLBACK PREPARED 'writer :client_id';
		\else
		COMMIT PREPARED 'writer :client_id';
		\endif
		\else
		COMMIT;
		\endif
	});
	my @readers = (reader('of the primary', $query, limit => 1000), reader('of the standby', $query, limit => 1000, server => $standby),
		reader('of both', $query, limit => 100));
	my $unbounded = reader('without a bound', $wrong{'without a bound'}, limit => 1000);
	my $pgbench = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--client=8', "--time=$seconds", "--file=$script", $primary->connstr('postgres') . ' user=app' ], '>', \$out, '2>&1');
	while ($pgbench->pumpable)
	{
		$pgbench->pump_nb;
		get_page($_) foreach @readers, $unbounded;
		# the third reader alternates between the servers
		$readers[2]{server} = $readers[2]{server} ? undef : $standby;
		app($strict_copy);
	}
	ok($pgbench->finish, "8 writers run for $seconds seconds") or diag($out);
	await_replay();
	foreach my $reader (@readers, $unbounded) { 1 while get_page($reader) }
	is(result($_), '0 missed, 0 twice', "a reader $_->{name} gets each of " . @{ $_->{ids} } . ' rows once') foreach @readers;
	copy_all();
	is(app('SELECT count(*) FROM outbox JOIN copied USING (id)'), scalar @{ $readers[0]{ids} }, 'a reader with its position in the database gets each row');
	note "a reader without a bound: " . result($unbounded);
}

# --- failover that loses transactions ---------------------------------------------

{
	my $outside = reader('outside', $query, limit => 1000);
	await_replay();
	$standby->append_conf('postgresql.conf', "primary_conninfo = ''");
	$standby->reload;
	$primary->poll_query_until('postgres', 'SELECT count(*) = 0 FROM pg_stat_replication') or die 'the standby is still connected';
	app("TRUNCATE outbox, copied; INSERT INTO outbox (message) VALUES ('x')");
	app(insert("lost $_")) foreach 1 .. 5;
	app($copy);
	1 while get_page($outside);
	$primary->stop('immediate');
	$standby->promote;
	app(insert('new'), $standby);
	app($copy, $standby);
	is(app(q{SELECT count(*) FROM outbox LEFT JOIN copied USING (id) WHERE copied.id IS NULL}, $standby), '0',
		'after a failover that lost transactions, a reader with its position in the database misses no row');
	$outside->{server} = $standby;
	is(get_page($outside), 0, 'a reader with its position outside the database misses a row, as the page says');
}
unlike(slurp_file($_->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, $_->name . ' has not crashed') foreach $primary, $standby;
$standby->stop;
done_testing();
