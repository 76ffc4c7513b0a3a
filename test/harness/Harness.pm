# Is anything lost?  Writers, programs that read (Consumer.pm) and disturbances (Servers.pm) execute a
# schedule, which a seed determines.  At the end, each program reads until nothing is left, and each copy
# is compared with its table.
#
#	my $harness = Harness->new or plan skip_all => ...;
#	my $schedule = Harness::schedule($scenario, $seed);
#	my @faults = $harness->run($scenario, $schedule);
#	print $harness->shorten($scenario, $schedule, $faults[0], $seconds);	the shortest part that has the fault
#
# A schedule is a list of steps: an actor, and arguments that were chosen when it was made.  One process
# executes it step by step, and waits for each statement until it ends or waits for a lock.  So a part
# of a schedule does the same each time.  Only with "load" does it not wait, so that statements run side
# by side.
package Harness;
use ServerTest;
use Consumer;
use List::Util qw(first max min shuffle uniq);
use Servers;
use Time::HiRes qw(sleep time);
use Writer;

use constant WRITERS => 4;
use constant PURGE => q{SELECT changes_purge(source => t, keep => '-1 day') FROM unnest('{item,twin,outbox}'::regclass[]) AS t};
use constant MAX_READ_WAL => 20;	# bytes that a page may write for each row of an attached partition

my $tables = q{
	CREATE TABLE history (id numeric, n int);
	CREATE TABLE copy (id numeric PRIMARY KEY, n int, t text);
	CREATE TABLE twin (id numeric PRIMARY KEY, n int, t text);		-- changes with "item"
	CREATE TABLE event (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), n int);
	CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), message text);
	CREATE TABLE copied (reader text, epoch int, id uuid, number int GENERATED ALWAYS AS IDENTITY);
	CREATE TABLE place (reader text PRIMARY KEY, position text);
	INSERT INTO place VALUES ('event_log', NULL);
	<views>
	CREATE TABLE item (id numeric PRIMARY KEY, n int NOT NULL, t text)%s;		-- 1 and 1.0 are equal keys
	CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.t := ''t'' || NEW.n; RETURN NEW; END';
	CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		INSERT INTO history VALUES (NEW.id, NEW.n);	-- NULL for DELETE
		IF TG_OP <> 'INSERT' THEN DELETE FROM twin WHERE id = OLD.id; END IF;
		IF NEW.id < 100 THEN INSERT INTO twin VALUES (NEW.id, NEW.n, NEW.t) ON CONFLICT (id) DO UPDATE SET n = excluded.n, t = excluded.t; END IF;
		RETURN NULL;
	END$$;
	CREATE TRIGGER note BEFORE INSERT OR UPDATE ON item FOR EACH ROW EXECUTE FUNCTION note();
	CREATE TRIGGER remember AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION remember();
	INSERT INTO item (id, n) SELECT k, 1 FROM generate_series(1, 24) AS k;

	-- Make random changes, each in a subtransaction.
	CREATE FUNCTION burst(seed int, count int) RETURNS void LANGUAGE plpgsql SET work_mem = '64kB' AS $$
	DECLARE
		k numeric;
	BEGIN
		PERFORM setseed(seed % 1000 / 1000.0);
		FOR i IN 1 .. count LOOP
			k := round((1 + 24 * random() ^ 2)::int, i % 2);
			BEGIN
				CASE floor(random() * 5.3)
					WHEN 0 THEN INSERT INTO item (id, n) VALUES (k, seed + i) ON CONFLICT (id) DO UPDATE SET n = excluded.n;
					WHEN 1 THEN UPDATE item SET n = seed + i WHERE id = k;
					WHEN 2 THEN DELETE FROM item WHERE id = k;
					WHEN 3 THEN DELETE FROM item WHERE id = k; RAISE division_by_zero;
					WHEN 5 THEN UPDATE item SET n = n + 1 WHERE id < 100; INSERT INTO item (id, n) SELECT 1000 + g, 1 FROM generate_series(1, 1500) AS g; RAISE division_by_zero;	-- more keys than work_mem
					ELSE INSERT INTO item (id, n) VALUES (k, seed + i);
				END CASE;
			EXCEPTION WHEN division_by_zero OR unique_violation THEN NULL;
			END;
		END LOOP;
	END$$;

	CREATE PROCEDURE stream(seed int, count int) LANGUAGE plpgsql AS 'BEGIN FOR i IN 1 .. count LOOP INSERT INTO event (n) VALUES (seed + i); COMMIT; END LOOP; END';	-- as many transactions

	-- Call the horizon again and again, and read the rows between two horizons.
	CREATE FUNCTION watch(times int, INOUT last uuid, OUT ids uuid[]) LANGUAGE plpgsql AS $$
	DECLARE
		horizon uuid; more uuid[];
	BEGIN
		FOR i IN 1 .. times LOOP
			SELECT uuidv7_horizon(), (SELECT array_agg(id ORDER BY id) FROM event WHERE id >= last AND id < uuidv7_horizon()) INTO horizon, more;
			ids := ids || more;
			last := greatest(last, horizon);	-- a horizon can be less than an earlier one
		END LOOP;
	END$$;

	-- Write an event in each of many subtransactions, of which some roll back.
	CREATE FUNCTION blocks(seed int, count int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		FOR i IN 1 .. count LOOP
			BEGIN
				INSERT INTO event (n) VALUES (seed + i);
				IF i % 3 = 0 THEN
					RAISE division_by_zero;
				END IF;
			EXCEPTION WHEN division_by_zero THEN NULL;
			END;
		END LOOP;
	END$$;
};
# the guard and the views of the page for connectors
my $views = join '', map { s/outbox/event/gr } slurp_file("$FindBin::Bin/doc/connectors.md") =~ /^((?:CREATE (?:INDEX ON|VIEW|TRIGGER guard AFTER INSERT OR UPDATE ON)|ALTER TABLE) outbox.*?;\n)/msg;
my $parts = join('', map { "CREATE TABLE item_$_->[0] PARTITION OF item FOR VALUES FROM ($_->[1]) TO ($_->[2]);\n" } [ 1, 0, 5 ], [ 3, 100, 10000 ]) . other_columns('item_2', '') . "ALTER TABLE item ATTACH PARTITION item_2 FOR VALUES FROM (5) TO (100);\n";

# Return statements that create a table with the columns of "item" in another order.
sub other_columns { my ($name, $rows) = @_; return "CREATE TABLE $name (n int NOT NULL, gone int, t text, id int PRIMARY KEY); ALTER TABLE $name DROP gone; $rows;\n" }

sub new
{
	my ($class) = @_;
	my $servers = Servers->new or return;

	my $self = bless { servers => $servers, ticks => 0, delivered => 0, written => 0 }, $class;

	$self->begin({ consumers => [] });
	return $self;
}

# --- what actors use ----------------------------------------------------------------

sub connstr { my ($self, $through) = @_; return $self->{servers}->connstr($through) }

sub tick { return ++$_[0]{ticks} }

# Return the rows of a statement in the database, executed by its owner.
sub rows
{
	my ($self, $sql) = @_;
	my $result = $self->try($sql);

	die "$sql: $result->{message}" if $result->{error} ne '';
	return @{ $result->{rows} };
}

sub try
{
	my ($self, $sql) = @_;
	my $result = ($self->{own} ||= Session->new('owner', $self->connstr))->run($sql);

	delete $self->{own} if $result->{error} eq 'lost';
	return $result;
}

sub look_for_prepared
{
	my ($self) = @_;

	$self->{prepared} = [ map { $_->[0] } $self->rows(q{SELECT gid FROM pg_prepared_xacts WHERE database = 'run' ORDER BY gid COLLATE "C"}) ];
	return @{ $self->{prepared} } > 0;
}

# Record a fault: who has it, a word, and a sentence.
sub blame { my ($self, $actor, @fault) = @_; push @{ $self->{faults} }, [ ref $actor ? $actor->{kind} // 'writers' : $actor, @fault ]; return }

sub unexpected { my ($self, $actor, $result) = @_; return $self->blame($actor, 'error', "$actor->{name}: $result->{error} $result->{message}") }

# --- a run --------------------------------------------------------------------------

# Create the database and the actors of a scenario.
sub begin
{
	my ($self, $scenario) = @_;
	my $form = $scenario->{form} // 'C';

	$self->{servers}->clean;
	my $sql = $form eq 'C' ? $tables =~ s/<views>/$views/r : $tables =~ s/DEFAULT uuidv7_ordered..|<views>//gr;
	$sql =~ s/numeric/int/g if $form ne 'C' || $scenario->{parts};
	$self->{servers}->create($form, $form . ($scenario->{parts} ? '_parts' : ''), $sql =~ s/%s/ $scenario->{parts} ? ' PARTITION BY RANGE (id); ' . $parts : ''/er);
	@{$self}{qw(faults ids read epoch is_late actors scenario said did reasons attached)} = ([], [], {}, 0, $scenario->{late}, {}, $scenario, [], [], {}, 0);
	delete $self->{own};
	$self->rows(q{SELECT changes_track(source => t::regclass, reader_expiry => '30 min') FROM unnest('{item,twin}'::text[]) AS t; SELECT changes_track(source => 'outbox', operations => '{insert}', reader_expiry => '30 min')});
	$self->{actors}{"w$_"} = Writer->new(name => "w$_", world => $self) foreach 1 .. WRITERS;
	foreach my $kind (uniq @{ $scenario->{consumers} })
	{
		require "consumers/$kind.pm";
		next if "consumers::$kind"->can('can_run') && !"consumers::$kind"->can_run;
		my $target = { rows => {}, ids => [] };
		foreach my $name ($kind, $scenario->{two} ? "${kind}_2" : ())
		{
			$self->{actors}{$name} = "consumers::$kind"->new(name => $name, kind => $kind, reader => $kind, world => $self, through => $scenario->{through}, target => $target);
		}
	}
	return;
}

sub actors { my ($self) = @_; return map { $self->{actors}{$_} } sort keys %{ $self->{actors} } }

sub consumers { my ($self) = @_; return grep { $_->isa('Consumer') } $self->actors }

sub run
{
	my ($self, $scenario, $schedule) = @_;

	$self->begin($scenario);
	foreach my $number (0 .. $#$schedule)
	{
		$self->{number} = $number;
		push @{ $self->{did} }, $number if $self->execute(@{ $schedule->[$number] });
		last if @{ $self->{faults} };
	}
	$self->finish unless @{ $self->{faults} };
	$self->count_rows unless @{ $self->{faults} };
	$self->check_log unless @{ $self->{faults} } || $scenario->{form};
	delete $self->{own};
	$_->{session} && $_->{session}->close foreach $self->actors;
	return @{ $self->{faults} };
}

# Count the changes that programs have got, and those that they had to get: each kind gets each change.
sub count_rows
{
	my ($self) = @_;
	my @kinds = grep { $_->{name} eq $_->{kind} && $_->table eq 'item' } $self->consumers;

	$self->{delivered} += $_->{delivered} // 0 foreach $self->consumers;
	$self->{written} += @kinds * ($self->rows('SELECT count(*) FROM history'))[0][0];
	return;
}

# Execute a step, and return whether anything happened.
sub execute
{
	my ($self, $name, @step) = @_;
	my $actor = $self->{actors}{$name};
	return 0 if !$actor && $name ne 'server';
	my $said = \($self->{said}[ @{ $self->{said} } ]);
	# what can let a reader copy the table again
	$self->{reasons}{$1} = 1 if "@step" =~ /^((?:truncate|rewrite|crash|kill|save|restore|promote|generator|clock|later(?! 6)|attach|admin (?!SELECT changes_purge)).*)/;

	$$said = "$name " . join ' ', @step[ 0 .. ($#step > 1 && $actor ? 1 : $#step) ];
	if (!$actor)
	{
		my $disturb = $self->can("do_$step[0]") or die "no such step: $step[0]";
		my $result = $self->$disturb(@step[ 1 .. $#step ]) // '';
		$$said .= ": $result" if $result =~ /\D/;
	}
	elsif ($actor->is_busy)
	{
		pop @{ $self->{said} } unless $self->{scenario}{load};
		return 0 unless $self->{scenario}{load};
		# the statement can wait for another one, so go on after a second
		for (1 .. 100) { last if !$actor->is_busy; $self->settle }
		return 1 if $actor->is_busy;
	}
	if ($actor && $actor->isa('Consumer') && $step[0] =~ /^\d/)
	{
		my $plan = $actor->{plan}[0];

		if ($plan && $plan->[0] eq ($actor->{next} // 'read'))
		{
			@step = 'die' if $plan->[1] eq 'die';
			$actor->{rests_until} = $self->{number} + $plan->[1] if $plan->[1] ne 'die';
			shift @{ $actor->{plan} };
		}
		if (($actor->{rests_until} // 0) > $self->{number}) { pop @{ $self->{said} }; return 1 }
	}
	if ($actor && $step[0] eq 'plan') { $actor->{plan} = [ @step[ 1 .. $#step ] ]; $$said = "$name plans: " . join ', ', map { $_->[1] eq 'die' ? "dies before $_->[0]" : "rests before $_->[0]" } @{ $actor->{plan} } }
	elsif ($actor && $step[0] eq 'die') { $$said = "$name dies"; $actor->die_now }
	elsif ($actor)
	{
		$$said = $name if !$actor->isa('Writer');
		@{$actor}{qw(said line)} = (undef, $said);
		if (!$actor->step(@step)) { pop @{ $self->{said} }; return 0 }
		$$said .= ': waits' if $actor->is_busy;
	}
	$self->settle;
	$self->tell($actor) if $actor && !$actor->is_busy;
	return 1;
}

# Describe the result of the last step of an actor.
sub tell
{
	my ($self, $actor) = @_;
	my $line = delete $actor->{line} or return;

	$$line =~ s/: waits$//;
	$$line .= ": $actor->{said}" if defined $actor->{said};
	return;
}

# Let statements end, or wait for locks.
sub settle
{
	my ($self) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;

	for (my $seconds = 0.002;; $seconds = min($seconds * 2, 0.05))
	{
		my @busy = grep { $_->is_busy } $self->actors or return;
		my $bits = '';

		vec($bits, fileno $_->{session}{out}, 1) = 1 foreach @busy;
		select $bits, undef, undef, $self->{scenario}{load} ? 0.0005 : $seconds;
		foreach (@busy)
		{
			my $got = $_->collect(0) or next;
			$_->{said} = $got if $got =~ /^fails/;
			$self->tell($_);
		}
		return if $self->{scenario}{load};
		my @left = grep { $_->is_busy } @busy or return;
		return if @left == @busy && $seconds > 0.007 && $self->wait_for_locks(@left);
		next if time < $end;
		note join "\n", @{ $self->{said} };
		note map { join('|', @$_) . "\n" } $self->rows(q{SELECT application_name, state, wait_event_type, wait_event, pg_blocking_pids(pid), query FROM pg_stat_activity WHERE datname = 'run'});
		die 'a statement does not end: ' . join ' ', map { $_->{name} } @left;
	}
	return;
}

# Check whether statements can go on only after other steps: each waits for a lock of a session that has no
# statement, or of one that waits so, or for a session of the pooler, or in changes_wait().
sub wait_for_locks
{
	my ($self, @busy) = @_;
	my %busy = map { $_->{name} => $_ } @busy;
	my (%waits, %taken);

	# process 0 stands for prepared transactions
	foreach ($self->rows(q{
		SELECT a.application_name, a.state = 'active', blocker IS NOT NULL OR (a.wait_event_type = 'Extension' AND a.query ~ '^CALL'), coalesce(b.application_name, '')
		FROM pg_stat_activity AS a LEFT JOIN unnest(CASE a.wait_event_type WHEN 'Lock' THEN pg_blocking_pids(a.pid) END) AS blocker ON true
		LEFT JOIN pg_stat_activity AS b ON b.pid = blocker
		WHERE a.datname = 'run' AND a.state <> 'idle' AND a.pid <> pg_backend_pid()}))
	{
		my ($name, $is_active, $waits, $for) = @$_;

		$taken{$name} = 1 if $self->{actors}{$name} && ($is_active eq 'f' || $waits eq 't');
		push @{ $waits{$name} }, $waits eq 't' ? $for : undef if $is_active eq 't';
	}
	my $through = $self->{scenario}{through} // 0;
	my $is_full = $through && $through <= grep { $self->{actors}{$_}{through} } keys %taken;
	my %stuck = map { $_ => 1 } grep { $is_full && !$waits{$_} && $busy{$_}{through} } keys %busy;
	for my $round (keys %busy)
	{
		foreach my $name (grep { $waits{$_} && !grep { !defined } @{ $waits{$_} } } keys %busy)
		{
			$stuck{$name} = 1 if grep { !$busy{$_} || $stuck{$_} } @{ $waits{$name} };
		}
	}
	return if grep { !$stuck{$_} } keys %busy;
	foreach my $name (sort keys %waits)
	{
		my $for = first { defined && $self->{actors}{$_} && $self->{actors}{$_}{only_confirms} } @{ $waits{$name} };
		$self->blame($for, 'waits', "$name waits for a transaction that only confirms")
		  if $for && ($self->{actors}{$name} ? $self->{actors}{$name}{kind} // '' : '') ne $self->{actors}{$for}{kind};
	}
	return 1;
}

# --- disturbances -------------------------------------------------------------------

sub lose_all { my ($self) = @_; delete $self->{own}; $_->lose foreach $self->actors; return }

sub do_crash { my ($self, $mode) = @_; $self->{servers}->crash($mode); return $self->lose_all }

sub do_kill
{
	my ($self, $name) = @_;
	my $pid = ($self->rows("SELECT pid FROM pg_stat_activity WHERE application_name = '$name' AND datname = 'run'"))[0] or return;

	delete $self->{own};
	kill KILL => $pid->[0];
	$self->lose_all;
	return $self->{servers}->await;
}

sub do_terminate
{
	my ($self, $name) = @_;

	# wait until the session has ended
	$self->{servers}->sql('run', "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = '$name' AND datname = 'run'");
	$self->{actors}{$name}->lose if $self->{actors}{$name} && !$self->{actors}{$name}{through};
	return;
}

sub do_cancel { my ($self, $name) = @_; $self->{servers}->sql('run', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND application_name = '$name'"); return }

# A lease that has ended on the server has not ended for a program whose clock goes on as before, so
# programs treat it as ended.
sub do_clock
{
	my ($self, $seconds) = @_;

	$self->{servers}->turn($seconds);
	$_->{deadline} = 0 foreach $self->consumers;
	return;
}

sub do_later { my ($self, $seconds) = @_; return $self->do_clock($self->{servers}{clock} + ($seconds // 700)) }

# A session of another database has the slot of a writer for some transactions.
sub do_elsewhere
{
	my ($self, $name) = @_;

	return 'not now' if $self->{actors}{$name}->is_busy || $self->{actors}{$name}{state};
	$self->do_terminate($name);
	return Session->new('elsewhere', $self->{servers}{node}->connstr('template_c') . ' user=app')->run(join ";\n", ('SELECT uuidv7_ordered(), pg_current_xact_id()') x 40)->{message};
}

# Compare the copies, and go on.
sub do_pause { my ($self) = @_; $self->finish; return }

# Statements of an administrator, who gives up if they have to wait.
sub do_admin
{
	my ($self, $sql) = @_;
	my $result = $self->try("SET lock_timeout = '30ms'; $sql");

	$self->try('ROLLBACK') if $sql =~ /BEGIN/;
	return if $result->{error} eq '';
	# an administrator who waits finds out whether somebody only confirms
	my $held = first { $_->{only_confirms} } $self->consumers;
	$self->blame($held, 'waits', "$sql waits for a transaction that only confirms") if $held && $result->{error} eq '55P03' && !$self->look_for_prepared && !grep { $_->{state} } grep { $_->isa('Writer') } $self->actors;
	return "fails: $result->{message}";
}

sub do_generator
{
	my ($self) = @_;

	$self->{servers}->sql('run', 'SELECT uuid_generator_reset()');
	$self->{epoch}++;
	return $self->{was_reset} = 1;
}

# A program that waits although there is something to read must be woken.
sub do_woken
{
	my ($self) = @_;

	foreach ($self->{scenario}{load} ? () : $self->rows(q{SELECT application_name FROM pg_stat_activity AS a WHERE datname = 'run' AND wait_event_type = 'Extension' AND query ~ '^CALL'
		AND (backend_xmin IS NOT NULL OR EXISTS (SELECT FROM pg_locks AS l WHERE l.pid = a.pid AND locktype = 'relation'))}))
	{
		$self->blame($self->{actors}{ $_->[0] }, 'holds', 'changes_wait() has a snapshot or a lock while it sleeps');
	}
	foreach my $consumer (grep { $_->{waits} } $self->consumers)
	{
		my $is_readable = sub {
			my $result = $self->try("BEGIN; SET LOCAL lock_timeout = '30ms'; SELECT count(*) FROM changes_read('$consumer->{reader}', NULL::item)");

			$self->try('ROLLBACK');
			return $result->{error} eq '' && $result->{rows}[-1][0] > 0;
		};
		next unless $is_readable->();
		$consumer->collect(20);
		$self->blame($consumer, 'sleeps', 'changes_wait() does not return although there are changes') if $consumer->{waits} && $is_readable->();
	}
	return;
}

sub do_standby { my ($self, $rewind) = @_; return $self->{servers}->add_standby($rewind) }

sub do_cut { my ($self) = @_; return $self->{servers}->cut_off }

sub do_promote
{
	my ($self, $mode) = @_;

	return 'no standby' unless $self->{servers}{standby};
	return $self->other_server($self->{servers}->promote($mode));
}

sub do_save { my ($self) = @_; $self->{servers}->save; return $self->lose_all }

sub do_restore { my ($self) = @_; my $loses = $self->{servers}->restore or return 'no copy'; return $self->other_server($loses) }

# Sessions are lost, and perhaps what was read.
sub other_server
{
	my ($self, $loses) = @_;

	$self->lose_all;
	@{$self}{qw(epoch read ids)} = ($self->{epoch} + 1, {}, []) if $loses;
	return $loses ? 'loses transactions' : 'loses nothing';
}

# Attach a partition.  If it has many rows, read once: a page must not write something for each of its rows.
sub do_attach
{
	my ($self, $count) = @_;
	my ($reader) = grep { $_->{kind} eq 'confirmed' } $self->consumers;

	my $number = ++$self->{attached};
	my $first = 100000 * $number;

	$self->try(other_columns("more_$number", "INSERT INTO more_$number SELECT 1, 't1', k FROM generate_series($first, $first + $count - 1) AS k; INSERT INTO history SELECT id, n FROM more_$number"));
	my $result = $self->try("SET lock_timeout = '30ms'; ALTER TABLE item ATTACH PARTITION more_$number FOR VALUES FROM ($first) TO ($first + 100000)");
	return "fails: $result->{message}" if $result->{error} ne '';
	return if !$reader || $count <= 5000;
	my $wal = sub { ($self->rows(q{SELECT pg_current_wal_insert_lsn() - '0/0'}))[0][0] };
	my $before = $wal->();
	$self->rows(q{SELECT count(*) FROM changes_read(reader => 'large', source => NULL::item)});
	my $written = $wal->() - $before;
	$self->blame($reader, 'attach', "a page writes $written bytes after a partition of $count rows is attached") if $written > $count * MAX_READ_WAL;
	return;
}

# --- the end ------------------------------------------------------------------------

sub finish
{
	my ($self) = @_;

	foreach (1 .. 200)
	{
		$_->step('commit', 0, 0) foreach grep { $_->isa('Writer') && !$_->is_busy } $self->actors;
		$self->settle;
		last unless grep { $_->isa('Writer') && ($_->{state} || $_->is_busy) } $self->actors;
		# a writer can wait for a program or a prepared transaction
		$self->look_for_prepared;
		$self->try("COMMIT PREPARED '$_'") foreach @{ $self->{prepared} };
		$_->is_busy || $_->{owes} || $self->{scenario}{strict} || $_->die_now foreach $self->consumers;
		sleep 0.01;
	}
	$self->look_for_prepared;
	$self->try("COMMIT PREPARED '$_'") foreach @{ $self->{prepared} };
	$self->do_woken;
	# others can wait for its locks
	$_->is_busy || $_->{owes} || $self->{scenario}{strict} || $_->die_now foreach $self->consumers;
	# whoever has applied a page after its lease confirms it
	foreach my $consumer ($self->consumers)
	{
		for (1 .. 100) { last unless $consumer->{owes} || ($consumer->is_busy && !$consumer->{waits}); $consumer->is_busy || $consumer->step(40); $self->settle }
		delete $consumer->{owes};
		# a session that goes on is what an altered table can confuse
		$self->{scenario}{strict} ? $consumer->restart : $consumer->die_now;
	}
	$self->do_later(Consumer::LEASE + 1);
	# triggers can be disabled
	$self->try(q{SELECT changes_track(source => 'item')}) if $self->{scenario}{alters};
	$self->{servers}->sql('run', 'SELECT uuid_generator_advance(max(id)) FROM event') if delete $self->{was_reset};
	# a view of doc/connectors.md hides the last millisecond, to which IDs belong longer after a crash
	$self->{servers}->sql('run', q{SELECT uuid_generator_advance(uuidv7_at(uuidv7_timestamp(uuidv7_horizon()) + interval '2 ms'), force => true)}) if $self->{actors}{connector};
	my %columns = (item => 'id, n, t', twin => 'id, n, t', event => 'id, n', outbox => 'id, message');
	my %rows = map { my $table = $_; $table => { map { $_->[0] => join ' ', @$_[ 1 .. $#$_ ] } $self->rows("SELECT $columns{$table} FROM $table") } } keys %columns;
	my %history = map { ("item $_->[0] $_->[1]" => 1) } $self->rows('SELECT DISTINCT * FROM history');
	foreach my $consumer (grep { $_->{name} eq $_->{kind} } $self->consumers)
	{
		$self->drain($consumer) or return $self->blame($consumer, 'endless', 'the reader does not come to an end');
		my @fault = $consumer->can('differs') ? $consumer->differs($rows{ $consumer->table }) : $consumer->copies_differ($rows{ $consumer->table });
		$self->blame($consumer, @fault) if @fault;
	}
	foreach (sort keys %{ $self->{read} }) { $self->blame($self->{read}{$_} =~ s/_2$//r, 'uncommitted', "$_ was read and never committed") if /^item/ && !$history{$_} }
	$self->check_order;
	return;
}

# Let a program read until nothing is left.
sub drain
{
	my ($self, $consumer) = @_;
	my $empty = 0;

	return $consumer->drain if $consumer->can('drain');

	for (1 .. 800)
	{
		delete $consumer->{is_empty};
		$consumer->is_busy || $consumer->step(40);
		$self->settle;
		$consumer->is_busy and sleep 0.01;
		$self->blame($consumer, 'empty', 'a page is empty while changes wait') if $empty && !($consumer->{is_empty} // 1) && $self->{scenario}{strict};
		$empty = $consumer->{is_empty} ? $empty + 1 : 0 if defined $consumer->{is_empty};
		return 1 if $empty >= 2 && ($consumer->{next} // 'read') eq 'read';
	}
	return;
}

# Entries that no reader needs must not stay in the log.
sub check_log
{
	my ($self) = @_;
	my $entries = join ' UNION ALL ', map { "SELECT '$_', change_id FROM changes_entries(NULL::$_)" } qw(item twin outbox);
	my $left;

	# entries from before a reset of the generator can have later IDs than it
	$self->{servers}->sql('run', "SELECT uuid_generator_advance(max(id)) FROM ($entries) AS e (source, id)") if $self->{reasons}{generator};
	# a session that has just ended can still read
	for (1 .. 40)
	{
		$self->try(q{SELECT changes_forget(reader, source) FROM changes_readers; SELECT changes_purge('item', '-1 day', 1); } . PURGE);
		$left = $self->try($entries);
		return if $left->{error} eq '' && !@{ $left->{rows} };
		sleep 0.05;
	}
	return $self->blame('writers', 'entries', "an entry stays in the log: @{ $left->{rows}[0] // [] } $left->{message}");
}

# Each ID must be greater than all whose calls returned before its own call began.
sub check_order
{
	my ($self) = @_;
	my @returned = sort { $a->[1] <=> $b->[1] } @{ $self->{ids} };
	my $greatest = '';

	return if $self->{epoch};
	foreach my $call (sort { $a->[0] <=> $b->[0] } @{ $self->{ids} })
	{
		while (@returned && $returned[0][1] < $call->[0]) { my $id = (shift @returned)->[2]; $greatest = $id if $id gt $greatest }
		$self->blame('writers', 'unordered', "ID $call->[2] is generated after $greatest") if $call->[2] le $greatest;
	}
	return;
}

# --- schedules ----------------------------------------------------------------------

my %writes = (begin => 8, commit => 5, rollback => 1, savepoint => 2, 'rollback to savepoint' => 1, insert => 3, upsert => 3, update => 6, delete => 3, key => 2, many => 2, merge => 1,
	bulk => 0.3, 'bulk delete' => 0.3, truncate => 0.1, burst => 0.5, blocks => 0.7, stream => 0.5, purge => 1, id => 1, 'late event' => 1, event => 7, events => 2, message => 3, prepare => 3, finish => 2);

my %admin = (
	purge => PURGE,
	'purge some' => q{SELECT changes_purge(source => 'item', keep => '-1 day', max_entries => 3)},
	track => q{SELECT changes_track(source => 'item')},
	reset => q{SELECT changes_reset(source => 'item')},
	'set default' => q{ALTER TABLE item ALTER t SET DEFAULT 'x'},
	'not null' => q{ALTER TABLE item ALTER t SET NOT NULL},
	statistics => q{ALTER TABLE item ALTER n SET STATISTICS 10},
	'add column' => q{ALTER TABLE item ADD IF NOT EXISTS more int DEFAULT 1},
	'drop column' => q{ALTER TABLE item DROP COLUMN IF EXISTS more},
	rename => q{BEGIN; ALTER TABLE item RENAME t TO u; ALTER TABLE item RENAME u TO t; COMMIT},
	index => q{DROP INDEX IF EXISTS item_n; CREATE INDEX item_n ON item (n)},
	rewrite => q{VACUUM FULL item},
	'disable partition' => q{BEGIN; ALTER TABLE item_2 DISABLE TRIGGER ALL; UPDATE item_2 SET n = n + 1000000; INSERT INTO history SELECT id, n FROM item_2; ALTER TABLE item_2 ENABLE TRIGGER ALL; SELECT changes_track(source => 'item'); COMMIT},
	retype => q{BEGIN; ALTER TABLE item ALTER n TYPE int USING n + 1000000; INSERT INTO history SELECT id, n FROM item; COMMIT},
	disable => q{BEGIN; ALTER TABLE item DISABLE TRIGGER ALL; UPDATE item SET n = n + 1000000 WHERE id < 4; INSERT INTO history SELECT id, n FROM item WHERE id < 4; ALTER TABLE item ENABLE TRIGGER ALL; SELECT changes_track(source => 'item'); COMMIT},
	detach => q{BEGIN; ALTER TABLE item DETACH PARTITION item_2; UPDATE item_2 SET n = n + 1000000; INSERT INTO history SELECT id, n FROM item_2; ALTER TABLE item ATTACH PARTITION item_2 FOR VALUES FROM (5) TO (100); COMMIT},
	'drop partition' => q{DROP TABLE item_3; CREATE TABLE item_3 PARTITION OF item FOR VALUES FROM (100) TO (10000)});

sub pick { my (@of) = @_; return $of[rand @of] }

# Choose a key of a hash by its values.
sub weighed
{
	my (%weights) = @_;
	my $left = rand(List::Util::sum(values %weights));

	foreach (sort keys %weights) { return $_ if ($left -= $weights{$_}) < 0 }
	return (sort keys %weights)[-1];
}

# Return a scenario for a seed, which has only "some" of the kinds of programs, others for the next seed.
sub variant
{
	my ($scenario, $seed) = @_;
	my @kinds = @{ $scenario->{consumers} };

	my $some = $scenario->{some} // @kinds;
	return { %$scenario, consumers => [ map { $kinds[ ($seed * $some + ($scenario->{from} // 0) + $_) % @kinds ] } 0 .. $some - 1 ] };
}

sub schedule
{
	my ($scenario, $seed) = @_;
	return $scenario->{schedule} if $scenario->{schedule};
	my @names = map { $_, $scenario->{two} ? "${_}_2" : () } @{ $scenario->{consumers} };
	my @schedule;
	my %disturbances = %{ $scenario->{disturb} || {} };
	my %weights = (%writes, %{ $scenario->{writes} || {} });

	delete $weights{truncate} if $scenario->{exact};
	# write only what somebody reads
	my $kinds = "@{ $scenario->{consumers} }";
	delete @weights{qw(event events blocks stream id), 'late event'} if $kinds !~ /own|horizon|event_log|connector|standby/;
	delete $weights{message} if $kinds !~ /outbox|once/;
	delete @weights{qw(insert upsert update delete key many merge bulk burst truncate rewrite purge), 'bulk delete'} if $kinds !~ /confirmed|session|after|inside|held|twin|copy_table/;
	my ($last, @turns, %rests) = '';
	my $key = sub { return 1 + int(24 * rand() ** 2) };
	srand $seed + 1000 * length $scenario->{name};
	foreach my $number (1 .. $scenario->{steps} // 200)
	{
		push @schedule, [ 'server', 'pause' ] if $number % 100 == 0;
		my @changes = ([ 'w1', 'many', 1, $number ], [ 'w1', 'message', 1, $number ]);
		if ($scenario->{orders} && !@turns)
		{
			my ($kind) = shuffle(@{ $scenario->{consumers} });
			my @both = shuffle($kind, "${kind}_2");

			if ($kind eq 'own')
			{
				# a transaction ends between a snapshot and its use, and another database has its slot
				my @writer = map { [ @$_, 1, 100 * $number + 1 ] } [qw(w1 begin)], [qw(w1 event)], [ 'w1', pick(qw(commit commit commit prepare rollback)) ];

				push @writer, rand() < 0.3 ? [qw(server elsewhere w1)] : (), [ 'w2', 'finish', 1, 1 ];
				@turns = rand() < 0.5 ? ([ $both[0], 'die' ], @writer[ 0, 1 ], [ $both[0], 2 ], @writer[ 2 .. $#writer - 1 ], [ $both[0], 40 ], [ $both[0], 40 ], $writer[-1])
				  : map { $_ ? [ pick(@both), int rand 210 ] : shift @writer } shuffle((0) x @writer, (1) x 6);
				next;
			}
			# rows change between two pages; the other program can wait until the first one has confirmed
			@turns = rand() < 0.3 ? shuffle('w1', (@both) x 5) : ($both[0], 'w1', $both[1], map { shuffle(@both) } 1 .. pick(2, 2, 3, 4));
			pop @turns if rand() < 0.5;	# a program does not confirm
			splice @turns, rand @turns, 0, 'server' if rand() < 0.4;	# leases end
			push @schedule, [ 'server', 'pause' ], @changes;
		}
		my $chance = rand;

		if (%disturbances && $chance < ($scenario->{often} // 0.05))
		{
			my $what = weighed(%disturbances);

			# leases have ended, and readers have expired
			if ($what eq 'expire') { push @schedule, @changes, [ 'server', 'later', 2000 ]; $what = 'purge' }
			if ($what eq 'die') { push @schedule, [ pick(@names), 'die' ] }
			elsif ($what =~ /^(kill|terminate|cancel)$/) { push @schedule, [ 'server', $what, pick(@names, map { "w$_" } 1 .. WRITERS) ] }
			elsif ($what eq 'elsewhere') { push @schedule, [ 'server', $what, 'w' . (1 + int rand WRITERS) ] }
			elsif ($admin{$what} || $what =~ /^attach/)
			{
				# often without transactions in progress, which would hold locks
				push @schedule, map { [ "w$_", 'commit', 0, $number ] } 1 .. WRITERS if rand() < 0.6;
				push @schedule, [ 'server', $admin{$what} ? ('admin', $admin{$what}) : split /:/, $what ];
			}
			else { push @schedule, [ 'server', split /:/, $what ] }
		}
		elsif (@turns && $chance < 0.9) { my $turn = shift @turns; push @schedule, ref $turn ? $turn : $turn eq 'w1' ? @changes : $turn eq 'server' ? [ 'server', 'later', 6 ] : [ $turn, pick((40) x 6, (map { int rand 210 } 1 .. 4), 'die') ] }
		elsif (!@turns && $chance < 0.55)
		{
			# a program often goes on, or rests at a point that it reaches soon, and then perhaps dies
			my @awake = grep { ($rests{$_} // 0) < $number } @names;
			$last = pick(@awake && rand() < 0.9 ? @awake : @names) if !grep({ $_ eq $last } @awake) || rand() < 0.4;
			push @schedule, [ $last, int rand 210 ];
			if (rand() < 0.12 && grep { $_ eq $last } @awake)
			{
				my $rest = [ pick('apply', 'apply', 'apply', 'confirm', 'commit'), 15 + int rand 40 ];

				push @schedule, [ $last, 'plan', $rest, $disturbances{die} && rand() < 0.7 ? [ pick('apply', 'confirm', 'confirm', 'confirm'), 'die' ] : () ];
				$rests{$last} = $number + $rest->[1];
			}
		}
		else { push @schedule, [ 'w' . (1 + int rand WRITERS), weighed(%weights), $key->(), 100 * $number + int rand 4, $key->() ] }
	}
	return \@schedule;
}

# --- the shortest schedule ----------------------------------------------------------

# Remove steps while the same kind of reader still has the fault: those that did nothing, those of each
# actor, and then smaller and smaller parts.  Return a text.
sub shorten
{
	my ($self, $scenario, $schedule, $fault, $seconds) = @_;
	my ($kind, $what) = @$fault;
	my $end = time + $seconds;
	my %small = (%$scenario, $kind eq 'writers' ? () : (consumers => [$kind]));
	my @steps = @$schedule;
	my $without = sub {
		my (@fewer) = @_;

		# side by side, a fault does not come each time
		for (1 .. $scenario->{load} ? 3 : 1)
		{
			next unless @fewer < @steps && time < $end && grep { $_->[0] eq $kind && $_->[1] eq $what } $self->run(\%small, \@fewer);
			my %did = map { $_ => 1 } @{ $self->{did} };
			@steps = @fewer[ grep { $did{$_} } 0 .. $#fewer ];
			return 1;
		}
		return 0;
	};

	$without->(grep { $_->[0] =~ /^(w\d|server|\Q$kind\E(_2)?)$/ } @steps);
	foreach my $actor (map { "w$_" } 1 .. WRITERS) { $without->(grep { $_->[0] ne $actor } @steps) }
	for (my $size = int(@steps / 2); $size >= 1 && time < $end;)
	{
		my $removed = 0;

		for (my $at = 0; $at < @steps && time < $end;)
		{
			$without->(@steps[ grep { $_ < $at || $_ >= $at + $size } 0 .. $#steps ]) ? $removed = 1 : ($at += $size);
		}
		$size = $size == 1 && $removed ? 1 : int($size / 2);
	}
	my ($same) = grep { $_->[0] eq $kind } $self->run(\%small, \@steps);
	return sprintf "%d of %d steps: %s\n%s", scalar @steps, scalar @$schedule, ($same || $fault)->[2], join '', map { "  $_\n" } @{ $self->{said} };
}

sub stop { my ($self) = @_; return $self->{servers}->stop }

# Has changes_read() an argument?
1;
