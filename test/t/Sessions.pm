# Statements and sessions on a server, for the tests of the horizon.
#
#	use_server($node);			set the server for the other functions
#	sql('SELECT 1', ...)		return the result of statements
#	refusal('SELECT 1/0')		return the messages of a statement that fails
#	my $session = session();	start a session
#	in($session, 'BEGIN', ...)	return the result of the last statement in a session
#	refused_in($session, ...)	return the messages of a statement that fails in a session
#	leave($session, ...)		end sessions, and wait for their processes
#	begin_to_wait($session, $statement)	send a statement, and wait until a lock blocks it
#	queue($table, ...)			let commands wait for the lock of a table, and return what each prints
package Sessions;
use Exporter 'import';
use ServerTest;

our @EXPORT = qw(use_server sql refusal session in refused_in leave begin_to_wait queue is_above_all is_held_at read_on ask_primary read_on_standby missed_and_twice run_pgbench);

my $node;

sub use_server { ($node) = @_; return $node }

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }

sub refusal
{
	my ($statement, $server) = @_;
	my ($status, $out, $err) = ($server || $node)->psql('postgres', "\\set VERBOSITY verbose\n$statement", on_error_stop => 0);

	return $err;
}

sub session { return ($_[0] || $node)->background_psql('postgres', on_error_stop => 0) }

sub in { my ($session, @statements) = @_; my $out; $out = $session->query_safe($_) foreach @statements; return $out }

sub refused_in
{
	my ($session, $statement) = @_;

	$session->query($statement);
	my $err = $session->{stderr};
	$session->{stderr} = '';
	return $err;
}

# End sessions, and wait for their server processes.  A transaction in progress ends with its
# server process, which can exit later than psql.
sub leave
{
	my @sessions = @_;
	my $pids = join ', ', map { in($_, 'SELECT pg_backend_pid()') } @sessions;

	$_->quit foreach @sessions;
	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid IN ($pids))") or die 'a session does not end';
}

# Send a statement to a session, and wait until a lock blocks it.
sub begin_to_wait
{
	my ($session, $statement) = @_;
	my $pid = in($session, 'SELECT pg_backend_pid()');

	$session->{stdin} .= "$statement;\n";
	$session->{run}->pump_nb;
	$node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $pid AND NOT granted)") or die "$statement does not wait";
	return;
}

# Start commands, of which each waits for the lock of a table behind the previous one.  Then let them run, and
# return what each prints.  A command is a list of statements for psql, or a reference to other words.
sub queue
{
	my ($table, @commands) = @_;
	my ($gate, @running) = (session());
	my @printed = map { '' } @commands;

	in($gate, 'BEGIN', "LOCK TABLE $table IN ACCESS SHARE MODE");
	foreach my $n (0 .. $#commands)
	{
		push @running, IPC::Run::start(ref $commands[$n] eq 'ARRAY' ? [ 'psql', '-XAtqd', $node->connstr('postgres'), map { (-c => $_) } @{ $commands[$n] } ] : ${ $commands[$n] }, '<', \undef, '>&', \$printed[$n]);
		$node->poll_query_until('postgres', "SELECT count(DISTINCT pid) = $n + 1 FROM pg_locks WHERE NOT granted") or die "a command does not wait: $printed[$n]";
	}
	in($gate, 'COMMIT');
	$_->finish foreach @running;
	leave($gate);
	return map { s/\n+\z//r } @printed;
}

# Test that the horizon is above all rows of the table events.
sub is_above_all
{
	my ($name) = @_;

	is(sql('SELECT public.uuidv7_horizon() > max(id::text)::uuid FROM events'), 't', $name);
}

# Test that the horizon is at or below the smallest ID of the rows with the given note.
sub is_held_at
{
	my ($note, $name, $session) = @_;
	my $query = "SELECT public.uuidv7_horizon() <= min(id::text)::uuid FROM events WHERE note = '$note'";

	is($session ? in($session, $query) : sql($query), 't', $name);
}

# Readers are hashes with a table, a position (undef at first), the IDs that were read, and
# optionally a node and the number of rows in a page.

# Read the next page of a reader, on the primary.  Return its number of rows.
sub read_on
{
	my ($reader) = @_;
	my $position = defined $reader->{position} ? "'$reader->{position}'" : 'NULL';
	my $limit = $reader->{limit} || 5000;
	my @page = map { [ split /\|/ ] } split /\n/, ($reader->{node} || $node)->safe_psql('postgres',
		"SELECT id, public.uuidv7_position(id, $position) FROM $reader->{table}
		WHERE id > public.uuidv7_after($position) AND id < public.uuidv7_horizon() ORDER BY id LIMIT $limit");

	push @{ $reader->{ids} }, map { $_->[0] } @page;
	$reader->{position} = $page[-1][1] if @page;
	return scalar @page;
}

# Return what a reader needs from the primary before it reads on a standby: the ID after which
# it continues, the horizon, the replay target, and the position of the horizon.
sub ask_primary
{
	my ($reader) = @_;
	my $position = defined $reader->{position} ? "'$reader->{position}'" : 'NULL';

	return split /\|/, ($reader->{node} || $node)->safe_psql('postgres',
		"SELECT public.uuidv7_after($position), public.uuidv7_horizon(), target, public.uuidv7_position(public.uuidv7_horizon(), $position)
		FROM public.uuid_replay_target()");
}

# Read the rows below the horizon on a standby that has replayed the target.  Return their
# number, or undef if the standby has not replayed the target after the given seconds.
sub read_on_standby
{
	my ($reader, $standby, $seconds, @from_primary) = @_;
	my ($after, $horizon, $target, $next) = @from_primary ? @from_primary : ask_primary($reader);

	for (my $end = time + $seconds;; select undef, undef, undef, 0.02)
	{
		my ($replayed, @page) = split /\n/, $standby->safe_psql('postgres',
			"BEGIN; SELECT public.uuid_has_replayed('$target'); SELECT id FROM $reader->{table} WHERE id > '$after' AND id < '$horizon' ORDER BY id; COMMIT");

		return if $replayed ne 't' && time >= $end;
		next if $replayed ne 't';
		push @{ $reader->{ids} }, @page;
		$reader->{position} = $next;
		return scalar @page;
	}
}

# Return how many rows of its table a reader missed, and how many it got more than once.
sub missed_and_twice
{
	my ($reader, $server) = @_;
	my (%times, $missed, $twice);

	$times{$_}++ foreach @{ $reader->{ids} };
	$missed = grep { !$times{$_} } split /\n/, ($server || $reader->{node} || $node)->safe_psql('postgres', "SELECT id FROM $reader->{table}");
	$twice = grep { $_ > 1 } values %times;
	return "$missed missed, $twice twice";
}

# Run a script in pgbench, and call a function repeatedly while pgbench runs.  Return the
# output of pgbench.
sub run_pgbench
{
	my ($script, $clients, $times, $meanwhile, @connection) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . '/script';
	my $out = '';

	append_to_file($file, $script);
	my $pgbench = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', "--client=$clients", "--transactions=$times", "--file=$file", @connection ? @connection : $node->connstr('postgres') ],
		'>', \$out, '2>&1');
	while ($pgbench->pumpable)
	{
		$pgbench->pump_nb;
		$meanwhile->();
	}
	ok($pgbench->finish, "$clients clients run without an error") or diag($out);
	return $out;
}

1;
