# The recipes of the page doc/outbox.md.  Its program runs as it is printed, while workers are killed,
# their number changes and the server crashes: each message is delivered, and the messages of an
# aggregate come in the order of its changes.  The program refuses to start beside workers of another
# number.  The statement that deletes messages, taken from the page too, leaves those that a reader
# still needs, and all until each worker has started.  No background worker purges, so that
# changes_purge() has an effect at once.
#
# Messages hold the number of the change of their aggregate.  Delivered messages are in files, one for
# each process.
use ServerTest;
use Sessions;

plan skip_all => 'Psycopg 3 is not installed' unless system("/usr/bin/python3 -c 'import psycopg' 2>/dev/null") == 0;
my $seed = $ENV{SEED} // int rand 1e9;
srand $seed;
note("SEED=$seed");
my $page = slurp_file("$FindBin::Bin/doc/outbox.md");
my ($program) = $page =~ /^<!-- program: .*? -->\n```python\n(.*?)^```/ms or die 'the page has no program';
my ($trigger) = $page =~ /^(CREATE FUNCTION publish.*?)^```/ms or die 'the page has no trigger';
my ($table) = $page =~ /^(CREATE TABLE outbox \(.*?\n\));/ms or die 'the page has no table';
my ($delete) = $page =~ /^(DELETE FROM outbox AS o.*?);\n```/ms or die 'the page has no statement that deletes messages';
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/relay.py", $program);

# Unless a program sets the encoding, Psycopg returns bytes from SQL_ASCII.
my $node = new_server('outbox', "shared_preload_libraries = 'uuid9562'\nmax_connections = 50\nuuid9562.purge_worker = off\n", extra => [ '--encoding', 'SQL_ASCII' ]);
use_server($node);
$node->safe_psql('postgres', 'CREATE DATABASE shop');
sub shop { return $node->safe_psql('shop', join ';', @_) }
shop('SET client_min_messages = warning; CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE TABLE account (id text PRIMARY KEY, balance numeric NOT NULL)',
	$table,
	q{INSERT INTO account SELECT n, 0 FROM generate_series(1, 20) AS n},
	q{INSERT INTO outbox (aggregate, message) VALUES ('old', 1), ('old', 2)},
	q{SELECT changes_track('outbox', operations => '{insert}')});

# --- workers ------------------------------------------------------------------------

my (%running, @files);
my $errors = '';
sub start
{
	my ($worker, $workers) = @_;
	my $file = "$folder/delivered." . @files;

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	push @files, $file;
	$running{$worker} = IPC::Run::start([ '/usr/bin/python3', "$folder/relay.py", $worker, $workers ], '<', \undef, '>', $file, '2>>', "$folder/errors");
}
sub end { (delete $running{$_})->kill_kill(grace => 0) foreach @_ }

# Start a worker that refuses to start.  Return its error.
sub refusal
{
	my ($worker, $workers) = @_;
	my ($out, $error);

	local $ENV{PGHOST} = $node->host;
	local $ENV{PGPORT} = $node->port;
	IPC::Run::run([ 'timeout', '20', '/usr/bin/python3', "$folder/relay.py", $worker, $workers ], '<', \undef, '>', \$out, '2>', \$error);
	return $error;
}

# Remove the readers that the error names, when the sessions of killed workers have ended.
sub remove_readers
{
	my ($error) = @_;

	$node->poll_query_until('shop', q{SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = 'shop' AND backend_type = 'client backend' AND pid <> pg_backend_pid())}) or die 'a worker runs';
	shop($error =~ /^stop the old processes, and execute: (.*)/);
}

# Insert messages: each transaction counts a change of an account, and inserts its number.
my $writers = "$folder/writers.sql";
append_to_file($writers, q{
	\set account random(1, 20)
	BEGIN;
	UPDATE account SET balance = balance + 1 WHERE id = :account::text RETURNING balance \gset
	INSERT INTO outbox (aggregate, message) VALUES (:account::text, :balance);
	\sleep 1 ms
	COMMIT;
});
sub write_messages
{
	my ($transactions) = @_;
	my $out = '';

	return IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=8', "--transactions=$transactions", "--file=$writers", $node->connstr('shop') ], '>', \$out, '2>&1');
}
sub wait_until_delivered
{
	my ($workers, $name) = @_;
	ok($node->poll_query_until('shop', "SELECT count(*) = $workers AND bool_and(waits_for IS NULL) FROM changes_readers WHERE reader ~ '^relay [0-9]'"), $name) or diag(slurp_file("$folder/errors"));
}
sub remaining
{
	shop(q{SELECT changes_purge('outbox', '0')}, $delete);
	return shop(q{SELECT string_agg(message, ' ' ORDER BY message) FROM outbox});
}

# Return how many messages were never delivered, and how often a message came before an earlier one of
# its aggregate that had not been delivered.
sub judge
{
	my (%last, $missed, $early);
	my %delivered;

	($missed, $early) = (0, 0);
	foreach my $file (@files)
	{
		foreach (split /\n/, slurp_file($file))
		{
			my ($id, $aggregate, $change) = /^(\S{36}) (\S+) (\d+)$/ or next;	# the last line of a killed process
			$early += grep { !$delivered{$aggregate}{$_} } 1 .. $change - 1;
			$delivered{$aggregate}{$change} = 1;
		}
	}
	foreach (split /\n/, shop('SELECT id, balance FROM account'))
	{
		my ($aggregate, $changes) = split /\|/;
		$missed += grep { !$delivered{$aggregate}{$_} } 1 .. $changes;
	}
	$missed += grep { !$delivered{old}{$_} } 1, 2;
	return "$missed missed, $early too early";
}

start(0, 1);
wait_until_delivered(1, 'messages from before the tracking are delivered');
my $writing = write_messages(40);
ok($writing->finish, 'the writers end');
wait_until_delivered(1, 'one worker delivers all messages');
is(remaining(), '', 'the messages of one worker are deleted');
end(0);
is(judge(), '0 missed, 0 too early', 'one worker delivers each message, in order');

my $refusal = refusal(3, 4);
is($refusal, "stop the old processes, and execute: SELECT changes_forget('relay 0 of 1', 'outbox');\n", 'a worker refuses to start beside a reader of another number of workers');
is(shop('SELECT reader FROM changes_readers'), 'relay 0 of 1', 'a worker that refuses to start creates no reader');
remove_readers($refusal);
start($_, 4) for 0 .. 3;
foreach my $round (1 .. 6)
{
	my $writing = write_messages(15);
	my $worker = int rand 4;

	select undef, undef, undef, rand 0.3;
	end($worker);
	start($worker, 4);
	ok($writing->finish, "the writers end in round $round");
}
wait_until_delivered(4, 'four workers that are killed deliver all messages');
is(shop('SELECT sum(balance) FROM account'), 8 * (40 + 6 * 15), 'the accounts have been changed');
is(judge(), '0 missed, 0 too early', 'four workers deliver each message, in order');
cmp_ok(scalar(grep { -s } @files), '>', 4, 'several workers deliver');

# a crash of the server, and another number of workers
$node->stop('immediate');
$node->start;
end(keys %running);
like(refusal(0, 14), qr/(?:'relay \d of 4'.*){4}/, 'the error names all readers of another number');
remove_readers(refusal(0, 3));
start($_, 3) for 0 .. 2;
$writing = write_messages(15);
ok($writing->finish, 'the writers end after the crash');
wait_until_delivered(3, 'three workers deliver all messages after a crash');
is(judge(), '0 missed, 0 too early', 'another number of workers delivers each message, in order');
end(keys %running);

# another reader
remove_readers(refusal(0, 1));
start(0, 1);
wait_until_delivered(1, 'the worker starts');
shop(q{SELECT change_type FROM changes_read('relay x 0 of 1', NULL::outbox)}, q{SELECT changes_forget('relay x 0 of 1', 'outbox')});
is(refusal(0, 2), $refusal, 'a worker does not name the reader of another program');
shop(q{INSERT INTO outbox (aggregate, message) VALUES ('kept', 1)});
wait_until_delivered(1, 'the worker delivers the message');
shop(q{SELECT changes_reset('outbox')});
wait_until_delivered(1, 'the worker reads the reset');
is(() = slurp_file($files[-1]) =~ / kept 1$/mg, 2, 'the worker delivers a kept message again after changes_reset()');
end(0);

# --- order --------------------------------------------------------------------------

# Two transactions change one account.  The first one inserts its message before it has the lock.
# Return the messages of the account in the order in which a reader gets them.
sub in_order
{
	my ($insert, $select) = @_;
	my @session = map { $node->background_psql('shop', on_error_stop => 0) } 1 .. 2;
	my $change = q{UPDATE account SET balance = balance + 1 WHERE id = '1'};

	in($session[0], 'BEGIN', $insert->('second')) if $insert;
	in($session[0], 'BEGIN') unless $insert;
	in($session[1], 'BEGIN', $change, $insert ? $insert->('first') : (), 'COMMIT');
	in($session[0], $change, 'COMMIT');
	$_->quit foreach @session;
	return shop($select);
}
shop('BEGIN', q{SELECT change_type FROM changes_read('order', NULL::outbox)}, q{SELECT changes_done('order')}, 'COMMIT');
is(in_order(sub { "INSERT INTO outbox (aggregate, message) VALUES ('1', '$_[0]')" },
	q{SELECT string_agg((data).message, ' ') FROM changes_read('order', NULL::outbox)}),
	'first second', 'messages come in the order of the commits, also if one was inserted before');
shop(q{CREATE TABLE event (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text)});
is(in_order(sub { "INSERT INTO event (message) VALUES ('$_[0]')" }, 'SELECT string_agg(message, $$ $$ ORDER BY id) FROM event WHERE id < uuidv7_horizon()'),
	'second first', 'ordered keys have the order of the inserts');
is(in_order(sub { ("SELECT FROM account WHERE id = '2' FOR UPDATE", "INSERT INTO event (message) VALUES ('locked $_[0]')")[ $_[0] eq 'second' ? (1) : (0, 1) ] },
	q{SELECT string_agg(message, ' ' ORDER BY id) FROM event WHERE message LIKE 'locked%'}), 'locked second locked first', 'without the lock, an earlier insert comes first');

# lock first: the second session waits, so that it inserts later
{
	my @session = map { $node->background_psql('shop', on_error_stop => 0) } 1 .. 2;
	my $lock = q{SELECT FROM account WHERE id = '3' FOR UPDATE};

	in($session[0], 'BEGIN', $lock);
	$session[1]->query_until(qr/waits/, "BEGIN;\n\\echo waits\n$lock;\nINSERT INTO event (message) VALUES ('lock: later');\nCOMMIT;\n\\echo done\n");
	$node->poll_query_until('shop', 'SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)') or die 'the second session does not wait';
	in($session[0], q{INSERT INTO event (message) VALUES ('lock: sooner')}, 'COMMIT');
	$_->quit foreach @session;
	is(shop(q{SELECT string_agg(message, ', ' ORDER BY id) FROM event WHERE message LIKE 'lock:%'}), 'lock: sooner, lock: later', 'if the lock is taken first, ordered keys have the order of the changes');
}

# the trigger of the page inserts messages in the order of the changes
shop('DELETE FROM outbox', 'UPDATE account SET balance = 0', $trigger =~ s/INTO outbox \(aggregate, message\) VALUES \(NEW.id,/INTO event (message) VALUES (NEW.id || /r);
in_order(undef, 'SELECT 1');
is(shop(q{SELECT string_agg(message, ', ' ORDER BY id) FROM event WHERE message LIKE '%balance%'}), '1balance is 1, 1balance is 2', 'the trigger inserts messages in the order of the changes');
shop('DROP TRIGGER publish ON account');

# --- deletion -----------------------------------------------------------------------

# Read and confirm a page.
sub confirm
{
	my ($reader) = @_;
	shop('BEGIN', qq{SELECT count(*) FROM changes_read('$reader', NULL::outbox)}, qq{SELECT changes_done('$reader')}, 'COMMIT');
}
my @worker = ('relay 0 of 2', 'relay 1 of 2');
shop('DELETE FROM outbox', 'SELECT changes_forget(reader, source) FROM changes_readers', q{INSERT INTO outbox (aggregate, message) VALUES ('1', 'a')});
is(remaining(), 'a', 'a message stays if no worker has come');
confirm($worker[0]);
is(remaining(), 'a', 'a message stays until each worker has come');
shop(q{SELECT change_type FROM changes_read('relay 1 of 2', NULL::outbox)});
is(remaining(), 'a', 'a message stays while a reader copies the whole table');
# the page with "reset" would keep entries until it is confirmed or the reader expires
shop(q{SELECT changes_forget('relay 1 of 2', 'outbox')});
confirm($worker[1]);
shop(q{SELECT change_type FROM changes_read('audit', NULL::outbox)});
is(remaining(), 'a', 'a message stays while a reader that is no worker copies the whole table');
shop(q{SELECT changes_forget('audit', 'outbox')});
is(remaining(), '', 'a message that all readers have copied is deleted');
shop(q{INSERT INTO outbox (aggregate, message) VALUES ('1', 'b')});
confirm($worker[0]);
shop(q{INSERT INTO outbox (aggregate, message) VALUES ('1', 'c')});
is(remaining(), 'b c', 'messages stay until each reader has confirmed them');
is(shop(q{SELECT string_agg(message, ' ' ORDER BY message) FROM changes_entries(NULL::outbox) JOIN outbox ON id = (data).id}), 'b c', 'the log has the keys of messages that a reader has not confirmed');
confirm($worker[1]);
is(remaining(), 'c', 'a message that all readers have confirmed is deleted');
shop('ALTER TABLE outbox DISABLE TRIGGER USER', q{INSERT INTO outbox (aggregate, message) VALUES ('1', 'd')});
is(remaining(), 'c d', 'messages stay while the triggers are disabled');
shop(q{SELECT changes_track('outbox', operations => '{insert}')});
is(remaining(), 'c d', 'messages stay until the readers have copied the table that is tracked again');
confirm($_) foreach @worker;
is(remaining(), '', 'messages that were not logged are deleted when the readers have copied them');
shop(q{INSERT INTO outbox (aggregate, message) VALUES ('1', 'e')}, 'TRUNCATE outbox', q{INSERT INTO outbox (aggregate, message) VALUES ('1', 'f')});
is(remaining(), 'f', 'a message that was inserted after TRUNCATE stays');
confirm($worker[0]) for 1 .. 3;	# the page before TRUNCATE, the reset, the message
is(remaining(), 'f', 'the message stays until each reader has copied the table after TRUNCATE');
confirm($worker[1]) for 1 .. 3;
is(remaining(), '', 'the message is deleted when all readers have copied the table after TRUNCATE');
{
	my $session = $node->background_psql('shop', on_error_stop => 0);

	in($session, 'BEGIN', q{SELECT change_type FROM changes_read('audit', NULL::outbox)});
	shop(q{INSERT INTO outbox (aggregate, message) VALUES ('1', 'g')});
	confirm($_) foreach @worker;
	is(remaining(), 'g', 'a message stays while a reader that can need it has not committed its first page');
	in($session, 'COMMIT');
	$session->quit;
}

$node->stop;
done_testing();
