# The scripts in examples/event_log create and drop monthly partitions, and deliver each event
# to each reader, as a role that is not a superuser.
use ServerTest;
use Sessions;

my $node = use_server(new_server('event_log', "shared_preload_libraries = 'uuid9562'\nmax_connections = 40\n"));
sql('CREATE EXTENSION uuid9562', 'CREATE ROLE app LOGIN', 'GRANT CREATE ON SCHEMA public TO app');

sub app { return $node->safe_psql('postgres', $_[0], extra_params => [ '-U', 'app' ]) }

sub command { my ($name, @options) = @_; return ('psql', '-X', @options, '-d', $node->connstr('postgres') . ' user=app', '-f', "$FindBin::Bin/examples/event_log/$name.sql") }

# Run a script of the example.  Return its output.
sub script
{
	my $out = '';
	local $ENV{PGTZ} = 'Asia/Kolkata';

	IPC::Run::run([ command(@_) ], '>', \$out, '2>&1');
	return $out;
}
my $months = q{SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'event'::regclass};

unlike(script('schema'), qr/ERROR/, 'the tables are created');
is(app('SELECT count(*) FROM pg_inherits WHERE inhparent = \'event\'::regclass'), '4', 'partitions exist for four months');
is(app(q{SELECT string_agg(DISTINCT to_char(uuidv7_timestamp(substring(pg_get_expr(relpartbound, oid) FROM 'TO \(''([^'']*)')::uuid) AT TIME ZONE 'UTC', 'DD HH24:MI:SS'), ', ') FROM pg_class
	WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = 'event'::regclass)}), '01 00:00:00', 'each partition ends with a month in UTC');
my $before = app($months);
unlike(script('maintain'), qr/ERROR/, 'the maintenance can be repeated');
is(app($months), $before, 'a second run creates no partition');

# A reader's plan lacks partitions that are created later.
{
	my ($next) = reverse split / /, $before;
	my $reader = $node->background_psql('postgres', extra_params => [ '-U', 'app' ]);

	app("DROP TABLE $next");
	in($reader, 'BEGIN', 'SELECT count(*) FROM event');
	like(script('maintain'), qr/ERROR:  canceling statement due to lock timeout/, 'the maintenance creates no partition while a reader reads');
	in($reader, 'COMMIT');
	$reader->quit;
	unlike(script('maintain'), qr/ERROR/, 'the maintenance succeeds after the reader');
	is(app($months), $before, 'the maintenance has created the partition');
}

# --- readers ----------------------------------------------------------------------

my $work = PostgreSQL::Test::Utils::tempdir();
sub deliver
{
	my ($reader, $command) = @_;

	local $ENV{DELIVER} = $command || "cat >>$work/$reader";
	return script('read', '-v', "reader=$reader");
}
app(q{INSERT INTO reader VALUES ('billing'), ('search')});
is(deliver('billing'), '', 'a reader gets an empty page without an error');
app(q{INSERT INTO event (type, data) SELECT 'paid', json_build_object('n', n) FROM generate_series(1, 2500) AS n});
like(deliver('billing', 'exit 1'), qr/ERROR:.*could not be delivered/, 'a failed delivery is an error');
is(app(q{SELECT position FROM reader WHERE name = 'billing'}), '', 'a failed delivery does not advance the position');
is(deliver('billing'), '', 'a page is delivered');
is(scalar(split /\n/, slurp_file("$work/billing")), 1000, 'a page has 1,000 events');

# A second process waits for the first one.  Settings of the user change neither the isolation level
# nor the way in which psql reads.
{
	my $first = $node->background_psql('postgres', extra_params => [ '-U', 'app' ]);
	my $out = '';
	local $ENV{PGOPTIONS} = '-c default_transaction_isolation=serializable';
	local $ENV{DELIVER} = "cat >>$work/billing";

	in($first, 'BEGIN', q{UPDATE reader SET position = position WHERE name = 'billing'});
	my $second = IPC::Run::start([ 'psql', '-X', '-v', 'FETCH_COUNT=100', '-v', 'reader=billing', '-d', $node->connstr('postgres') . ' user=app',
		'-f', "$FindBin::Bin/examples/event_log/read.sql" ], '>', \$out, '2>&1');
	$node->poll_query_until('postgres', 'SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)') or die 'the second process does not wait';
	in($first, 'COMMIT');
	$second->finish;
	$first->quit;
	is($out, '', 'a second process of a reader waits, and reads the next page in READ COMMITTED');
	is(scalar(split /\n/, slurp_file("$work/billing")), 2000, 'the second process delivers its page');
	unlike(slurp_file($node->logfile), qr/DECLARE _psql_cursor/, 'psql reads without a cursor');
}

# A transaction in progress holds back later events.
{
	my $writer = $node->background_psql('postgres', extra_params => [ '-U', 'app' ]);
	my $insert = q{INSERT INTO event (type, data) VALUES ('a', '{}')};

	deliver($_) foreach ('billing', 'search') x 3;
	in($writer, 'BEGIN', $insert);
	app($insert);
	deliver($_) foreach 'billing', 'search';
	in($writer, $insert, 'COMMIT');
	$writer->quit;
}
for my $reader (qw(billing search))
{
	deliver($reader);
	my @got = map { /"id" : "([^"]*)"/ } split /\n/, slurp_file("$work/$reader");
	is(missed_and_twice({ table => 'event', ids => \@got }), '0 missed, 0 twice', "reader $reader gets each of " . @got . ' events once');
	is_deeply(\@got, [ sort @got ], "reader $reader gets the events in the order of their IDs");
}
like(deliver('nobody'), qr/no rows returned/, 'an unknown reader is an error');

# --- retention --------------------------------------------------------------------

# partitions for three months about three years ago, with an event in the second month
app(q{
	SET timezone = 'UTC';
	SELECT format('CREATE TABLE event_%s PARTITION OF event FOR VALUES FROM (%L) TO (%L)', to_char(month, 'YYYY_MM'), uuidv7_floor(month), uuidv7_floor(month + '1 month'))
	FROM generate_series(date_trunc('month', now()) - interval '36 months', date_trunc('month', now()) - interval '34 months', '1 month') AS month \gexec
	INSERT INTO event (id, type, data) VALUES (uuidv7_at(date_trunc('month', now()) - interval '35 months' + interval '1 day'), 'old', '{}');
	INSERT INTO reader VALUES ('audit')});
my @old = split / /, app(q{SET timezone = 'UTC'; SELECT string_agg(to_char(date_trunc('month', now()) - n * interval '1 month', '"event_"YYYY_MM'), ' ' ORDER BY n DESC) FROM generate_series(34, 36) AS n});
is(app($months), join(' ', @old, $before), 'there are old months');
like(script('maintain', '-v', 'keep=12 months'), qr/^kept for readers: $old[1]\nkept for readers: $old[2]\n/m, 'the maintenance reports the months with events that a reader has not got');
is(app($months), join(' ', @old[1, 2], $before), 'a month without unread events before it is dropped');
like((queue('event', [ "ALTER TABLE $old[1] SET UNLOGGED" ], \[ command('maintain', '-v', 'keep=12 months') ]))[1], qr/^kept for readers: $old[1]$/m, 'a month that is rewritten before the maintenance has its lock is kept for readers');
deliver('audit') for 1 .. 6;
unlike(script('maintain', '-v', 'keep=12 months'), qr/kept|ERROR/, 'the maintenance succeeds');
is(app($months), $before, 'the other months are dropped when each reader has got their events');
$node->stop;
done_testing();
