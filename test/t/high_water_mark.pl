# The high-water mark is above all values of the ordered generators; the values below the mark
# are reserved.  While sessions generate values, the mark is advanced about once a second.  It
# is flushed before the new reservation is used.
use ServerTest;
use Ordered;

my $server = Ordered->new('mark', "max_connections = 150\nfsync = on\nwal_sync_method = fdatasync\nwal_writer_delay = '10 s'\nrestart_after_crash = on\n")
  or plan skip_all => World::REASON;
my $node = $server->node;
my $T = 1767225600;

# Stop the clock of the server at a number of seconds after $T.
sub clock
{
	my ($sec, $nsec) = @_;
	$server->turn($T + $sec . ' ' . ($nsec || 0));
	return;
}

# Return the time of the next value, in seconds after $T.  Round to tenths of a second,
# since the end of a reservation is rounded down to a millisecond.
sub time_of_next { return $server->sql("SELECT round(extract(epoch FROM public.uuidv7_timestamp(public.uuidv7_ordered()) - to_timestamp($T)), 1)::float") }

# --- the reservation ------------------------------------------------------------

clock(0);
$server->forget;
ok(!-e $server->mark, 'a server without ordered values has no mark');
my $staying = $server->stay;
ok(-f $server->mark, 'the first value creates the mark');
is($server->statistic('mark_writes'), '1', 'the first value writes the mark once');
clock(0, 999000000);
$server->value foreach 1 .. 3;
is($server->statistic('mark_writes'), '1', 'values of the first second do not write the mark');
my $writes = 1;
foreach my $half (2 .. 20)
{
	clock(int($half / 2), $half % 2 * 500000000);
	$server->value foreach 1 .. 2;
	$writes++ if $half % 2 == 0;
	is($server->statistic('mark_writes'), $writes, "the reservation is extended once a second: after $half half seconds");
}
$server->crash;
eval { $staying->quit };
is(time_of_next(), '12', 'after a crash the generator continues two seconds after the last extension');
$server->crash;
is(time_of_next(), '14', 'after a second crash the generator continues with the next reservation');
$server->restart;
is(time_of_next(), '16', 'after a clean restart the generator continues with the next reservation');

# --- WAL ------------------------------------------------------------------------

# Each write of the mark is one full-page image, which is flushed before a value of the new
# reservation is returned.
$server->forget;
{
	my ($out, $err, @writes) = ('', '');
	my $start = $server->sql('SELECT pg_current_wal_insert_lsn()');

	foreach my $second (0 .. 4)
	{
		clock($second);
		$server->value;
		push @writes, $server->statistic('mark_writes');
	}
	my $end = $server->sql('SELECT pg_current_wal_flush_lsn()');
	my @waldump = ('pg_waldump', '--relation=1664/0/9562', '--path=' . $node->data_dir . '/pg_wal', "--start=$start", "--end=$end");
	IPC::Run::run(\@waldump, '>', \$out, '2>', \$err);
	is("@writes", '1 2 3 4 5', 'generating one value a second writes the mark once a second');
	is(scalar(() = $out =~ /rmgr: XLOG .*desc: FPI .*blkref #0: rel 1664\/0\/9562 blk 0 FPW/g), 5, 'each write is a full-page image in WAL, which is flushed')
	  or diag("$out$err");
}

# --- a file that cannot be written ----------------------------------------------

clock(0);
$server->forget;
$staying = $server->stay;
my $first = $server->value;
$server->block;
clock(0, 999000000);
my $second = $server->value;
cmp_ok($second, 'gt', $first, 'values that are reserved do not need the file');
foreach my $sec (1, 2)
{
	clock($sec);
	my ($out, $err) = $server->try('SELECT public.uuidv7_ordered()');
	is($out, '', "no value after $sec s while the file cannot be opened");
	like($err, qr/ERROR:  42501: could not open file "global\/9562": Permission denied/, "an error after $sec s while the file cannot be opened");
}
$server->unblock;
cmp_ok($server->value, 'gt', $second, 'values continue when the file can be opened again');
$staying->quit;

$server->forget;
$server->block;
foreach my $attempt (1 .. 3)
{
	my ($out, $err) = $server->try('SELECT public.uuidv7_ordered()');
	is($out, '', "no value before the first write of the mark, attempt $attempt");
	like($err, qr/ERROR:  \w{5}: could not open file "global\/9562": Is a directory/, "an error before the first write, attempt $attempt");
}
$server->unblock;
$server->turn('normal');
$server->value;
$staying = $server->stay;
$server->block;
like($server->error(q{DO $$BEGIN FOR i IN 1 .. 1000000000 LOOP PERFORM public.uuidv7_ordered(); END LOOP; END$$}),
	qr/could not open file/, 'a session that generates without a pause fails when the mark cannot be written');
$server->unblock;

# --- the first write ------------------------------------------------------------

# If the disk is full, no file stays, so the generators work as soon as there is space.
$server->forget;
$server->turn('full');
foreach my $attempt (1, 2)
{
	my ($out, $err) = $server->try('SELECT public.uuidv7_ordered()');
	is($out, '', "no value while the disk is full, attempt $attempt");
	like($err, qr/ERROR:  53100: could not write file "global\/pgsql_tmp.9562": No space left on device/, "an error while the disk is full, attempt $attempt");
	is_deeply([ glob $node->data_dir . '/global/*9562*' ], [], "a full disk leaves no file, attempt $attempt");
}
$server->turn('normal');
like($server->value, qr/^[0-9a-f]{8}-/, 'values are generated when the disk has space again');

# Crash before each change of the folder in turn: no file, or a valid one, must remain.
my $changes = 0;
while ($changes < 20)
{
	$server->forget;
	$server->turn('kill ' . ++$changes);
	my $logged = -s $node->logfile;
	my ($out, $err) = $server->try('SELECT public.uuidv7_ordered()');
	$server->turn('normal');
	last if $out ne '';
	like($err, qr/server closed the connection/, "the session is killed before change $changes");
	$node->wait_for_log(qr/database system is ready to accept connections/, $logged);
	($out, $err) = $server->try('SELECT public.uuidv7_ordered()');
	like($out, qr/^[0-9a-f]{8}-/, "values are generated after a crash before change $changes") or diag($err);
	is_deeply([ glob $node->data_dir . '/global/*9562*' ], [ $server->mark ], "only the file remains after a crash before change $changes");
	$server->crash;
	cmp_ok($server->value, 'gt', $out, "values continue after another crash, after change $changes");
}
cmp_ok($changes, '>', 3, 'the first write changes the folder more than once');
cmp_ok($changes, '<', 20, 'the last attempt is not killed');

# --- a disk that is slow --------------------------------------------------------

sleep 3;
$server->turn('slow');
$first = $server->value;
like($first, qr/^[0-9a-f]{8}-/, 'a value waits for a disk that takes longer than the reservation lasts');
cmp_ok($server->value, 'gt', $first, 'the next value waits for the disk too');
$server->turn('normal');

# While the disk stalls, the session that extends the reservation waits, as in a COMMIT.  Other
# sessions continue, with times at the end of the reservation.  They wait when these are 30 seconds
# late, and then statements can be canceled and sessions terminated.
clock(0);
$server->sql('SELECT public.uuid_generator_reset()');
{
	my ($extends, $continues, $waits, $canceled, $terminated) = map { $server->stay } 1 .. 5;
	my @values;

	$server->turn($T + 1 . ' 0 stalled');
	Ordered::send_to($extends, q{SELECT 'extends', public.uuidv7_ordered()});
	$server->wait_for(q{query LIKE '%extends%' AND wait_event IN ('WALSync', 'WalSync', 'WALWrite', 'WalWrite')});
	foreach my $sec (1, 2, 5, 31)
	{
		$server->turn($T + $sec . ' 0 stalled');
		push @values, $continues->query_safe('SELECT public.uuidv7_ordered()') =~ /([0-9a-f-]{36})/;
	}
	is_deeply([ sort @values ], \@values, 'another session generates values in order while the disk stalls');
	is( join(' ', map { $server->sql("SELECT round(extract(epoch FROM public.uuidv7_timestamp('$_') - to_timestamp($T)), 2)::float") } @values),
		'1 1.75 1.75 1.75', 'values that are not reserved yet have times at the end of the reservation');
	$server->turn($T + 33 . ' 0 stalled');
	Ordered::send_to($waits, q{SELECT 'waits', public.uuidv7_ordered()});
	$server->wait_for(q{query LIKE '%waits%' AND wait_event = 'Uuid9562HighWaterMark'});
	ok(1, 'a session waits instead of generating a value that is more than 30 seconds late');
	$canceled->query_safe(q{SET statement_timeout = '10ms'});
	$canceled->query('SELECT public.uuidv7_ordered()');
	like($canceled->{stderr}, qr/canceling statement due to statement timeout/, 'a statement that waits for a disk that stalls can be canceled');
	Ordered::send_to($terminated, q{SELECT 'terminated', public.uuidv7_ordered()});
	$server->wait_for(q{query LIKE '%terminated%' AND wait_event = 'Uuid9562HighWaterMark'});
	is($server->sql(q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE '%''terminated''%' AND pid <> pg_backend_pid()}),
		't', 'a session that waits for a disk that stalls can be terminated');
	is($server->sql('SELECT generated > 0 FROM public.uuid_generator_stats()'), 't', 'the statistics do not wait for a disk that stalls');
	like($server->sql('SELECT public.uuidv7_horizon()'), qr/^[0-9a-f-]{36}$/, 'the horizon does not wait for a disk that stalls');
	clock(33);
	like($_->query_safe('SELECT 1'), qr/1/, 'a session that waited continues when the disk does') foreach $extends, $waits;
	is(time_of_next(), '33', 'values have the time of the clock when the disk continues');
	$canceled->{stderr} = '';
	$_->quit foreach $extends, $continues, $waits, $canceled;
	eval { $terminated->quit };
}

$staying->quit;

# --- the end of the time field --------------------------------------------------

my $end = '281474976710 655999999';
SKIP:
{
	skip World::NARROW, 4 unless World->can_be($end);
	$server->turn($end);
	$server->forget;
	my @values = grep { /-/ } map { ($server->try('SELECT public.uuidv7_ordered()'))[0] } 1 .. 20;
	cmp_ok(scalar(@values), '>=', 9, 'the last tick of the field has its values');
	is($server->statistic('mark_writes'), '1', 'the mark is written once at the end of the field');
	like($server->error('SELECT public.uuidv7_ordered()'), qr/ERROR:  22008: UUID version 7 has reached its maximum timestamp.*HINT:  .*uuid_generator_reset/s,
		'after the last value of the field there is an error');
	like($server->error('SELECT public.uuidv7_horizon()'), qr/ERROR:  22008: UUID version 7 has reached its maximum timestamp/,
		'after the last value of the field there is no horizon');
	$server->turn('normal');
}

$node->stop;
done_testing();
