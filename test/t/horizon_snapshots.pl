# The horizon of a snapshot does not change, and an old snapshot has an old horizon.
use ServerTest;
use Sessions;

my $node = use_server(new_server('horizon_snapshots', "shared_preload_libraries = 'uuid9562'\n"));
sql(q{
	CREATE EXTENSION uuid9562;
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), note text);
	INSERT INTO events (note) VALUES ('first')});

# --- one snapshot, one horizon --------------------------------------------------

# gate() waits for an advisory lock at the second row.  PostgreSQL evaluates gate() before
# the other conditions, because of its low cost.
sql(q{
	CREATE FUNCTION gate(n int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
	BEGIN
		IF n = 2 THEN
			PERFORM pg_advisory_xact_lock_shared(1);
		END IF;
		RETURN true;
	END$$;
	CREATE TABLE heap (id uuid, n int)});

{
	my $query = 'SELECT n FROM heap WHERE gate(n) AND id < public.uuidv7_horizon()';
	my ($gatekeeper, $holder, $reader) = (session(), session(), session());

	# generate the value of the holder first, so that the holder keeps the horizon below all
	# rows
	in($gatekeeper, 'SELECT pg_advisory_lock(1)');
	in($holder, 'BEGIN', 'SELECT public.uuidv7_ordered()');
	sql('INSERT INTO heap SELECT public.uuidv7_ordered(), n FROM generate_series(1, 3) AS n');
	in($reader, 'SET max_parallel_workers_per_gather = 0');
	$reader->query_until(qr/begun/, "\\echo begun\n$query;\n\\echo done\n");
	$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'advisory'});
	in($holder, 'ROLLBACK');
	in($gatekeeper, 'SELECT pg_advisory_unlock(1)');
	is($reader->query_until(qr/done/, ''), "done\n", 'the horizon does not grow within a statement when its holder rolls back');
	is(in($reader, $query), "1\n2\n3", 'the next statement reads all rows');
	leave($gatekeeper, $holder, $reader);
}

foreach my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	my ($holder, $reader) = (session(), session());

	sql('TRUNCATE heap', 'INSERT INTO heap VALUES (public.uuidv7_ordered(), 0)');
	my $old = sql('SELECT id FROM heap');
	in($holder, 'BEGIN', 'SELECT public.uuidv7_ordered()');
	sql('TRUNCATE heap', "INSERT INTO heap VALUES (public.uuidv7_ordered(), 1), ('$old', 0), (public.uuidv7_ordered(), 2)");
	in($reader, "BEGIN ISOLATION LEVEL $level", 'DECLARE c CURSOR FOR SELECT n FROM heap WHERE id < public.uuidv7_horizon()');
	is(in($reader, 'FETCH 1 FROM c'), '0', "$level: a cursor returns the row below the horizon");
	in($holder, 'ROLLBACK');
	sql('INSERT INTO heap VALUES (public.uuidv7_ordered(), 3)');
	is(in($reader, 'FETCH ALL FROM c'), '', "$level: the horizon of a cursor does not grow between two FETCHes");
	is(in($reader, 'SELECT count(*) FROM heap WHERE id < public.uuidv7_horizon()'), $level eq 'READ COMMITTED' ? '4' : '1',
		"$level: a later statement has the horizon of its own snapshot");
	in($reader, 'COMMIT');
	is(in($reader, 'SELECT count(*) FROM heap WHERE id < public.uuidv7_horizon()'), '4', "$level: the next transaction reads all rows");
	leave($holder, $reader);
}

# --- old snapshots --------------------------------------------------------------

{
	my ($exporter, $holder, $reader) = (session(), session(), session());
	my $snapshot = in($exporter, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT pg_export_snapshot()');

	sql(q{INSERT INTO events (note) VALUES ('exported')}) for 1 .. 3;
	in($holder, q{INSERT INTO events (note) VALUES ('exported')}) for 1 .. 3;
	in($reader, 'BEGIN ISOLATION LEVEL REPEATABLE READ', "SET TRANSACTION SNAPSHOT '$snapshot'");
	my $first = sql(q{SELECT min(id::text) FROM events WHERE note = 'exported'});
	cmp_ok(in($exporter, 'SELECT public.uuidv7_horizon()'), 'le', $first, 'the horizon of an old snapshot is not above a row that it does not see');
	cmp_ok(in($reader, 'SELECT public.uuidv7_horizon()'), 'le', $first, 'the horizon of an imported snapshot is not above a row that it does not see');
	leave($exporter, $holder, $reader);
}

# --- many snapshots in one transaction ------------------------------------------

# take_snapshots() computes the horizons of n snapshots, and returns the size of their cache.
# No two snapshots are the same, since each subtransaction that is rolled back changes the
# next snapshot.
sql(q{
	CREATE FUNCTION take_snapshots(n int) RETURNS bigint LANGUAGE plpgsql AS $$
	DECLARE
		horizon uuid;
		previous uuid := nil_uuid();
		decreasing int := 0;
	BEGIN
		FOR i IN 1 .. n LOOP
			BEGIN
				INSERT INTO heap (n) VALUES (i);
				RAISE division_by_zero;
			EXCEPTION WHEN division_by_zero THEN
				NULL;
			END;
			horizon := public.uuidv7_horizon();
			decreasing := decreasing + (horizon < previous)::int;
			previous := horizon;
		END LOOP;
		IF decreasing > 0 THEN
			RAISE 'the horizon decreased % times', decreasing;
		END IF;
		RETURN (SELECT total_bytes FROM pg_backend_memory_contexts WHERE name = 'uuid9562 horizon cache');
	END$$});
{
	my $reader = session();
	my @bytes = map { in($reader, "BEGIN; SELECT take_snapshots($_); ROLLBACK") =~ /(\d+)/ ? $1 : 0 } 500, 2000, 10000;

	cmp_ok($bytes[1], '>', $bytes[0], "the cache of horizons grows with the snapshots ($bytes[0] and $bytes[1] bytes)");
	cmp_ok($bytes[2], '<=', $bytes[1], 'the cache of horizons does not grow after 2,000 snapshots in one transaction');
	in($reader, 'BEGIN', 'DECLARE c CURSOR FOR SELECT public.uuidv7_horizon() FROM generate_series(1, 3)', 'FETCH c');
	my $first = in($reader, 'FETCH c');
	in($reader, 'SELECT take_snapshots(500)');
	is(in($reader, 'FETCH c'), $first, 'a cursor gets its horizon from the cache after 500 other snapshots');
	in($reader, 'ROLLBACK');
	in($reader, 'BEGIN', 'DECLARE c CURSOR FOR SELECT public.uuidv7_horizon() FROM generate_series(1, 3)', 'FETCH c', 'SELECT take_snapshots(1000)');
	like(refused_in($reader, 'FETCH c'), qr/ERROR:  too many snapshots in one transaction to compute the horizon of an older snapshot\nHINT:  Compute the horizon in a new transaction/,
		'a snapshot that the cache may have lost is refused');
	in($reader, 'ROLLBACK');

	# the cache has room for 1,000 snapshots, so the last two snapshots displace those of both
	# cursors: first the newer one, whose horizon was used first
	in($reader, 'BEGIN', map { ("DECLARE $_ CURSOR FOR SELECT public.uuidv7_horizon() FROM generate_series(1, 3)", 'SELECT take_snapshots(1)') } 'older', 'newer');
	my @fetched = map { in($reader, "FETCH $_") } 'newer', 'older';
	in($reader, 'SELECT take_snapshots(998)');
	is(in($reader, 'FETCH newer') . in($reader, 'FETCH older'), join('', @fetched), 'the cache keeps the horizons of both cursors and 998 other snapshots');
	in($reader, 'SELECT take_snapshots(1000)', 'SAVEPOINT s');
	foreach my $cursor ('older', 'newer')
	{
		like(refused_in($reader, "FETCH $cursor"), qr/ERROR:  too many snapshots in one transaction/, "the snapshot of the $cursor of two cursors is refused");
		in($reader, 'ROLLBACK TO s');
	}
	in($reader, 'ROLLBACK');
	leave($reader);
}

# --- tables that change between plan, lock and snapshot --------------------------

# The horizon is exact for the rows that a statement can see.  A statement whose plan or snapshot is
# too old does not see all of them.
sql(q{
	CREATE TABLE feed (tenant int, id uuid DEFAULT public.uuidv7_ordered(), PRIMARY KEY (tenant, id)) PARTITION BY LIST (tenant);
	CREATE TABLE feed_1 PARTITION OF feed FOR VALUES IN (1);
	CREATE FUNCTION pause() RETURNS int STABLE LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(2); RETURN 0; END'});
my $page = 'SELECT string_agg(tenant::text, $$ $$ ORDER BY id) FROM feed WHERE id < public.uuidv7_horizon()';
my $file = PostgreSQL::Test::Utils::tempdir() . '/read';

# Send statements to a session, and wait until a lock blocks it.
sub begin_to_read { my ($reader, $statements) = @_; return begin_to_wait($reader, "\\o $file\n$statements;\n\\o\n") }

# Return what the session has read.
sub has_read
{
	my ($reader) = @_;

	in($reader, 'SELECT 1');
	return slurp_file($file) =~ s/\n+$//r;
}

# The planner calls pause() after it has looked up the partitions.
{
	my ($gate, $reader) = (session(), session());

	foreach my $case (
		[ 'CREATE TABLE feed_2 PARTITION OF feed FOR VALUES IN (2)', 't' ],
		[ 'CREATE TABLE feed_2 (LIKE feed INCLUDING ALL); BEGIN; LOCK TABLE ONLY feed IN ACCESS EXCLUSIVE MODE; ALTER TABLE feed ATTACH PARTITION feed_2 FOR VALUES IN (2); COMMIT', 't' ],
		[ 'DROP TABLE feed_2; CREATE TABLE feed_2 (LIKE feed INCLUDING ALL); ALTER TABLE feed ATTACH PARTITION feed_2 FOR VALUES IN (2); INSERT INTO feed VALUES (2)', 'f' ])
	{
		my ($statements, $waits) = @$case;
		my ($way) = $statements =~ /((?:PARTITION OF|LOCK|ALTER) .*?(?= FOR|$))/;

		in($gate, 'SELECT pg_advisory_lock(2)');
		begin_to_read($reader, "$page AND tenant <> pause()");
		my ($status, $out, $err) = $node->psql('postgres', "SET lock_timeout = '500ms'; $statements", on_error_stop => 1);
		is($err =~ /lock timeout/ ? 't' : 'f', $waits, ($waits eq 't' ? 'a partition waits for readers: ' : 'a partition does not wait for readers: ') . $way);
		sql('INSERT INTO feed VALUES (1)');
		in($gate, 'SELECT pg_advisory_unlock(2)');
		my $read = has_read($reader);
		is($read, sql($page), "a reader misses no row: $way") if $waits eq 't';
		isnt($read, sql($page), "a reader misses a row of the partition that its plan lacks: $way") if $waits eq 'f';
	}

	# ALTER TABLE ... SET LOGGED and SET UNLOGGED write all rows of a partition again.
	my ($alter, $logged) = (session(), 'UNLOGGED');
	sql("CREATE FUNCTION read_feed() RETURNS text STABLE LANGUAGE plpgsql AS 'BEGIN RETURN ($page); END'");
	in($reader, "PREPARE read AS $page");
	foreach my $case (
		[ 'a plain SELECT', $page, 't' ],
		[ 'a WITH statement that modifies a table', "WITH page AS ($page) INSERT INTO events (note) SELECT * FROM page RETURNING note", 't' ],
		[ 'a cursor', "BEGIN; DECLARE c CURSOR FOR $page; FETCH c; COMMIT", 'f' ],
		[ 'EXECUTE', 'EXECUTE read', 'f' ],
		[ 'COPY', "COPY ($page) TO STDOUT", 'f' ],
		[ 'CREATE TABLE AS', "CREATE TEMPORARY TABLE page AS $page; TABLE page", 'f' ],
		[ 'a STABLE function', 'SELECT read_feed()', 'f' ],
		[ 'REPEATABLE READ', "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM events; $page; COMMIT", 'f' ])
	{
		my ($way, $statements, $complete) = @$case;

		in($alter, 'BEGIN', "ALTER TABLE feed_1 SET $logged");
		begin_to_read($reader, $statements);
		in($alter, 'COMMIT');
		is(has_read($reader) eq sql($page) ? 't' : 'f', $complete, "$way " . ($complete eq 't' ? 'reads' : 'misses') . ' the rows of a partition that is rewritten meanwhile');
		$logged = $logged eq 'LOGGED' ? 'UNLOGGED' : 'LOGGED';
	}
	leave($gate, $reader, $alter);
}

# --- a position that is set back -------------------------------------------------

# The statement of the manual, whose UPDATE waits for another transaction
{
	my ($statement) = slurp_file("$FindBin::Bin/doc/incremental-reads.md") =~ /^(WITH page AS.*?;\n)/ms or die 'the page has no statement';
	my ($admin, $reader) = (session(), session());

	sql(q{CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), message text)},
		'CREATE TABLE copied (id uuid PRIMARY KEY, message text)', 'CREATE TABLE place (reader text, position text)',
		q{INSERT INTO place VALUES ('copy', NULL)}, q{INSERT INTO outbox (message) VALUES ('first')}, $statement);
	is(sql('SELECT message FROM copied, place WHERE position IS NOT NULL'), 'first', 'the statement copies a row and advances the position');
	sql(q{INSERT INTO outbox (message) VALUES ('second')});
	in($admin, 'BEGIN', 'UPDATE place SET position = NULL');
	begin_to_read($reader, $statement);
	in($admin, 'COMMIT');
	has_read($reader);
	is(sql('SELECT position IS NULL FROM place'), 't', 'a position that is set back while the statement runs stays set back');
	sql('TRUNCATE copied', $statement);
	is(sql('SELECT string_agg(message, $$, $$ ORDER BY id) FROM copied'), 'first, second', 'a reader whose position is set back copies the rows again');
	leave($admin, $reader);
}

# --- an existing table ------------------------------------------------------------

# The block of the manual that starts readers
{
	my ($block) = slurp_file("$FindBin::Bin/doc/incremental-reads.md") =~ /^(DO \$\$.*?^END \$\$;)/ms or die 'the page has no block';
	my $readers = q{SELECT string_agg(reader, ', ' ORDER BY reader) FROM place WHERE reader <> 'copy'};
	my $writer = session();

	sql(q{INSERT INTO outbox VALUES ('f81d4fae-7dec-4ad0-a765-00a0c91e6bf6', 'v4')});
	my $guarded = qr/ERROR:.*outbox lacks the default or the guard trigger/;
	like(refusal($block), $guarded, 'readers do not start without the guard trigger');
	sql(q{CREATE TRIGGER guard AFTER INSERT OR UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION public.uuidv7_guard_trigger('id')},
		'ALTER TABLE outbox ENABLE ALWAYS TRIGGER guard');
	foreach my $case ([ 'DISABLE TRIGGER guard', 'ENABLE ALWAYS TRIGGER guard' ], [ 'ENABLE TRIGGER guard', 'ENABLE ALWAYS TRIGGER guard' ],
		[ 'ALTER id SET DEFAULT public.uuidv7()', 'ALTER id SET DEFAULT public.uuidv7_ordered()' ])
	{
		my ($break, $repair) = @$case;

		sql("ALTER TABLE outbox $break");
		like(refusal($block), $guarded, "readers do not start after $break");
		sql("ALTER TABLE outbox $repair");
	}
	my ($restore) = slurp_file("$FindBin::Bin/doc/incremental-reads.md") =~ /^(SELECT format\('ALTER TABLE .*?);/ms or die 'the page has no query';
	sql('ALTER TABLE outbox DISABLE TRIGGER ALL', 'ALTER TABLE outbox ENABLE TRIGGER ALL', "$restore \\gexec");
	is(sql("SELECT tgenabled FROM pg_trigger WHERE tgrelid = 'outbox'::regclass"), 'A', 'the statements of the manual restore the guard trigger after ENABLE TRIGGER ALL');
	like(refusal($block), qr/ERROR:.*outbox contains IDs that are greater than new ones/, 'readers do not start while a v4 ID is greater than new IDs');
	sql('ALTER TABLE outbox DISABLE TRIGGER guard', q{UPDATE outbox SET id = uuidv7_at(now() + interval '1 hour') WHERE message = 'v4'},
		'ALTER TABLE outbox ENABLE ALWAYS TRIGGER guard');
	like(refusal($block), qr/ERROR:.*outbox contains IDs that are greater than new ones/, 'nor while a v7 ID of the future is');
	is(sql($readers), '', 'and no position is stored');
	sql(q{DELETE FROM outbox WHERE message = 'v4'});
	in($writer, 'BEGIN', q{INSERT INTO outbox (message) VALUES ('slow')});
	sql(q{INSERT INTO outbox (message) VALUES ('fast')});
	is(refusal($block), '', 'readers start while a transaction holds the horizon');
	in($writer, 'COMMIT');
	is(sql($readers), 'all rows, new rows', 'and their positions are stored');
	my %read = map { my $reader = { table => 'outbox', position => sql("SELECT position FROM place WHERE reader = '$_'") || undef }; read_on($reader); ($_ => $reader) } 'all rows', 'new rows';
	is(missed_and_twice($read{'all rows'}), '0 missed, 0 twice', 'the reader of all rows gets each row');
	is(sql(q{SELECT string_agg(message, ', ' ORDER BY id) FROM outbox WHERE id IN ('} . join(q{', '}, @{ $read{'new rows'}{ids} }) . q{')}), 'slow, fast',
		'the reader of new rows gets the rows of the transaction that held the horizon, and later ones');
	leave($writer);
}

# --- no snapshot ----------------------------------------------------------------

# After COMMIT, PL/pgSQL has no snapshot when it checks the NULL with which a variable begins.
sql('CREATE DOMAIN checked AS integer CHECK (VALUE IS NOT NULL OR public.uuidv7_horizon() IS NOT NULL)');
my $declare = 'DECLARE x checked; BEGIN x := 1; END;';
is(refusal("DO \$\$ BEGIN $declare END \$\$"), '', 'a check constraint of a domain computes the horizon');
like(refusal("DO \$\$ BEGIN COMMIT; $declare END \$\$"), qr/ERROR:  \w{5}: cannot execute uuidv7_horizon\(\) without an active snapshot/, 'without a snapshot there is no horizon');

unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, 'the server has not crashed');
$node->stop;
done_testing();
