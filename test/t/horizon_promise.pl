# Tests that a transaction holds the horizon from its first ordered value to its end, and
# that nothing else holds the horizon.
use ServerTest;
use Sessions;
use World;

my $world = World->new('horizon_promise', <<'CONF') or plan skip_all => World::REASON;
shared_preload_libraries = 'uuid9562'
uuid9562.max_ahead = 1d
CONF
my $node = use_server($world->node);

# --- before the first value -----------------------------------------------------

like(refusal('SELECT public.uuidv7_horizon()'),
	qr/ERROR:  55000: uuidv7_ordered\(\) has not generated any value on this server\nHINT:  Make uuidv7_ordered\(\) the default of the column/,
	'uuidv7_horizon() raises an error with a hint before the first value');
sql(q{
	CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7(), note text);
	INSERT INTO events (note) VALUES ('old default')});
like(refusal('SELECT * FROM events WHERE id < public.uuidv7_horizon()'), qr/has not generated any value/,
	'the horizon is an error while the table has the old default');
sql(q{
	TRUNCATE events;
	ALTER TABLE events ALTER id SET DEFAULT public.uuidv7_ordered();
	INSERT INTO events (note) VALUES ('first')});

# --- a reader and two writers ---------------------------------------------------

{
	my ($slow, $fast) = (session(), session());

	in($slow, 'BEGIN', q{INSERT INTO events (note) VALUES ('slow')});
	in($fast, q{INSERT INTO events (note) VALUES ('fast')});
	my $last = sql('SELECT max(id::text) FROM events');
	is(sql('SELECT note FROM events WHERE id < public.uuidv7_horizon() ORDER BY id'), 'first',
		'rows after the first value of a transaction in progress are not below the horizon');
	is_held_at('slow', 'a transaction sees none of its own rows below the horizon', $slow);
	in($slow, 'COMMIT');
	is(sql("SELECT note FROM events WHERE id > '$last' ORDER BY id"), '', 'a reader without the horizon misses the row that was committed later');
	is(sql('SELECT note FROM events WHERE id < public.uuidv7_horizon() ORDER BY id'), "first\nslow\nfast", 'a reader with the horizon gets all rows in order');

	in($slow, 'BEGIN', 'SELECT public.uuidv7(), public.uuidv7_next()', q{INSERT INTO events VALUES (public.uuidv7(), 'session')});
	is_above_all('values of uuidv7() do not hold the horizon');
	in($slow, 'ROLLBACK');

	# savepoints, and transactions that AND CHAIN begins
	in($slow, 'BEGIN', 'SAVEPOINT s', q{INSERT INTO events (note) VALUES ('gone')}, 'ROLLBACK TO s', q{INSERT INTO events (note) VALUES ('after a savepoint')});
	in($fast, q{INSERT INTO events (note) VALUES ('beside')});
	is(sql(q{SELECT count(*) FROM events WHERE note = 'beside' AND id < public.uuidv7_horizon()}), '0', 'a value of a savepoint that is rolled back holds the horizon until the transaction ends');
	in($slow, 'COMMIT AND CHAIN');
	is_above_all('COMMIT AND CHAIN releases the horizon');
	in($slow, q{INSERT INTO events (note) VALUES ('chained')});
	is_held_at('chained', 'the chained transaction holds the horizon at its own first value', $slow);
	in($slow, 'ROLLBACK AND CHAIN');
	is_above_all('ROLLBACK AND CHAIN releases the horizon');
	in($slow, 'ROLLBACK');

	in($slow, 'BEGIN', 'SELECT public.uuidv7_ordered()');
	is(sql('SELECT public.uuidv7_horizon() < public.uuidv7_ordered()'), 't', 'a transaction that has written nothing holds the horizon');
	in($slow, 'COMMIT');
	is_above_all('the end of a transaction that has written nothing releases the horizon');
	is(sql('BEGIN READ ONLY', 'SELECT public.uuidv7_horizon() > max(id::text)::uuid FROM events', 'COMMIT'), 't', 'a read-only transaction can compute a horizon');

	sql(q{
		CREATE PROCEDURE commit_twice() LANGUAGE plpgsql AS $$
		DECLARE
			above boolean[];
		BEGIN
			FOR n IN 1 .. 3 LOOP
				INSERT INTO events (note) VALUES ('procedure ' || n);
				IF n < 3 THEN
					COMMIT;
				END IF;
				above[n] := public.uuidv7_horizon() > max(id::text)::uuid FROM events;
			END LOOP;
			RAISE NOTICE '%', above;
		END$$});
	my ($status, $out, $err) = $node->psql('postgres', 'CALL commit_twice()');
	like($err, qr/\{t,t,f\}/, 'each COMMIT in a procedure releases the horizon');
	leave($slow, $fast);
}

# --- the bits of the horizon ----------------------------------------------------

{
	my $holder = session();

	foreach my $held (0, 1)
	{
		in($holder, 'BEGIN', 'SELECT public.uuidv7_ordered()') if $held;
		my $found = sql("
			CREATE TEMP TABLE found (value uuid, horizon uuid);
			DO 'BEGIN
				FOR n IN 1 .. 300 LOOP
					INSERT INTO found (value) VALUES (public.uuidv7_ordered());
					COMMIT;
					UPDATE found SET horizon = public.uuidv7_horizon() WHERE horizon IS NULL;
					COMMIT;
				END LOOP;
			END'",
			"SELECT count(*), bool_and(horizon::text ~ '-8000-000000000000\$'), bool_and(horizon > value), count(DISTINCT horizon) FROM found");

		is($found, $held ? '300|t|f|1' : '300|t|t|300',
			'the horizon is ' . ($held ? 'constant while it is held' : 'above each value before it') . ', and all bits below its time are zero');
		is(sql("SELECT public.uuidv7_horizon() AS horizon \\gset\n", q{SELECT public.uuidv7_ordered() >= :'horizon'}), 't', 'no later value is below the horizon');
		in($holder, 'ROLLBACK') if $held;
	}

	# compute a horizon while the clock stands still
	$world->turn((time + 10) . ' 0');
	is(sql("SELECT public.uuidv7_ordered() AS before \\gset\n", "SELECT public.uuidv7_horizon() AS horizon \\gset\n",
		q{SELECT public.uuidv7_ordered() >= :'horizon', :'horizon'::uuid > :'before'}), 't|t', 'the horizon is between two values while the clock stands still');
	$world->turn('normal');
	is(sql('SELECT bool_and(a.h = b.h) FROM (SELECT public.uuidv7_horizon()) AS a(h), pg_sleep(0.01), (SELECT public.uuidv7_horizon()) AS b(h)'), 't', 'the horizon is the same within a statement');
	is(sql("SELECT public.uuidv7_horizon() AS h \\gset\n", q{SELECT :'h' = public.uuidv7_horizon()}), 't', 'horizons without a value in between are equal');
	leave($holder);
}

# --- work in COMMIT -------------------------------------------------------------

# Extensions such as Citus commit rows on other servers in a transaction callback.  At that time,
# snapshots already see the transaction of this server as finished.
{
	$world->turn('committing');
	my $committer = session();

	in($committer, 'BEGIN', q{INSERT INTO events (note) VALUES ('committing')});
	$committer->{stdin} .= "COMMIT;\n";
	$committer->{run}->pump_nb;
	$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM events WHERE note = 'committing')}) or die 'the row does not become visible';
	is_held_at('committing', 'a transaction holds the horizon until the callbacks of its COMMIT have returned');
	$world->turn('normal');
	in($committer, 'SELECT 1');
	is_above_all('a transaction whose COMMIT has returned does not hold the horizon');
	leave($committer);
}

# --- sessions that end ----------------------------------------------------------

{
	my $client = session();
	my $pid = in($client, 'SELECT pg_backend_pid()');

	in($client, 'BEGIN', q{INSERT INTO events (note) VALUES ('terminated')});
	is(sql(q{SELECT held_by_pid FROM public.uuid_generator_stats()}), $pid, 'the statistics show the session that holds the horizon');
	sql("SELECT pg_terminate_backend($pid)");
	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $pid)");
	is(sql('SELECT count(held_since) FROM public.uuid_generator_stats()'), '0', 'a session that is terminated in its transaction releases the horizon');
	is_above_all('after a session was terminated nothing holds the horizon');
	eval { $client->quit };
}

unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal [^9]/, 'the server has not crashed');
$node->stop;
done_testing();
