# The mark of uuid9562.monotonic_scope = instance: always ahead of what was
# handed out, whatever happens to the page, the disk, the sessions and the clock.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Socket qw(SOL_SOCKET SO_RCVBUF);
use Test::More;
use World;

my $world = World->new('mark', "shared_preload_libraries = 'uuid9562'\nuuid9562.monotonic_scope = instance\nmax_connections = 150\nfsync = on\nwal_sync_method = fdatasync\n")
  or plan skip_all => World::REASON;
my $node = $world->node;
my $mark = $node->data_dir . '/global/9562';
my $old_mark = $node->data_dir . '/uuid9562.mark';
my ($status, $out, $err);

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }
sub value { return sql('SELECT public.uuidv7()') }
sub statistic { return sql("SELECT max($_[0]) FROM public.uuid_generator_stats() WHERE scope = 'instance'") }

# The generators begin at the clock, with no mark.
sub begin_anew
{
	$node->stop;
	unlink $mark;
	$world->start;
}

sub crash { $node->stop('immediate'); $world->start }

# A session that has generated and stays: nobody else is the last to leave.
sub stay
{
	my $session = $node->background_psql('postgres');

	$session->query_safe('SELECT public.uuidv7()');
	return $session;
}

# A page that the server cannot open, or a folder in its place: each move looks for
# the file.
sub block { (-e $mark ? chmod 0, $mark : mkdir $mark) or die }
sub unblock { (-d $mark ? rmdir $mark : chmod 0600, $mark) or die }

sub log_lines { my ($what) = @_; my @lines = slurp_file($node->logfile) =~ /($what)/g; return scalar @lines }

# --- where it stands ----------------------------------------------------------

# Two seconds ahead of the first value; from one second on it is moved.
my $T = 1767225600;
begin_anew();
$world->turn("$T 0");
my $staying = stay();
my $first = value();
block();
$world->turn(($T + 1) . ' 0');
my $failures = log_lines('LOG:  could not open file "global/9562"');
my $second = value();
cmp_ok($second, 'gt', $first, 'near the mark a value is made while there is room');
is(log_lines('LOG:  could not open file "global/9562"'), $failures + 1, 'and that the mark could not be moved is logged');
$world->turn(($T + 1) . ' 999000000');
cmp_ok(value(), 'gt', $second, 'up to the mark');
$world->turn(($T + 2) . ' 0');
($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
is($out, '', 'at the mark there is no value');
like($err, qr/could not open file "global\/9562": Permission denied/, 'but an error');
unblock();
cmp_ok(value(), 'gt', $second, 'until it can be moved');
$staying->quit;

# Where it was never written, nothing is handed out.
begin_anew();
block();
foreach my $attempt (1 .. 3)
{
	($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
	is($out, '', "no value without a mark, attempt $attempt");
	like($err, qr/could not open file "global\/9562": Is a directory/, 'but an error');
}
unblock();

# One session that goes on is stopped where the room ends, and does not flood
# the log before.
begin_anew();
$world->turn('normal');
$staying = stay();
block();
$failures = log_lines('could not open file');
($status, $out, $err) = $node->psql('postgres', q{
	DO $$BEGIN FOR i IN 1 .. 1000000000 LOOP PERFORM public.uuidv7(); END LOOP; END$$});
like($err, qr/could not open file/, 'a session that generates on and on is stopped by a mark that cannot be written');
cmp_ok(log_lines('could not open file') - $failures, '<', 30, 'after some attempts only');
unblock();

# A disk that takes longer than the mark is ahead.
sleep 3;
$world->turn('slow');
$first = value();
like($first, qr/^[0-9a-f]{8}-/, 'on a slow disk a value takes its time, and is made');
cmp_ok(value(), 'gt', $first, 'and so is the next one');
$world->turn('normal');

# A disk that takes for ever holds up whoever moves the mark, as it does a COMMIT;
# the others can be cancelled and terminated.
{
	my @waiting = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;

	sub wait_for
	{
		my ($what) = @_;
		for (1 .. 600)
		{
			return 1 if sql("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $what)") eq 't';
			select undef, undef, undef, 0.1;
		}
		die "nobody is so: $what";
	}
	sleep 3;
	$world->turn('stalled');
	$waiting[0]->{stdin} .= "SELECT 'moved', public.uuidv7();\n";
	$waiting[0]->{run}->pump_nb;
	wait_for(q{query LIKE '%moved%' AND wait_event IN ('WALSync', 'WalSync', 'WALWrite', 'WalWrite') AND pid <> pg_backend_pid()});
	($status, $out, $err) = $node->psql('postgres', q{SET statement_timeout = 100; SELECT public.uuidv7()});
	like($err, qr/canceling statement due to statement timeout/, 'a session that waits for the mark can be cancelled');
	$waiting[1]->{stdin} .= "SELECT 'terminated', public.uuidv7();\n";
	$waiting[1]->{run}->pump_nb;
	wait_for(q{query LIKE '%terminated%' AND wait_event = 'Uuid9562Mark'});
	is(sql(q{SELECT count(*) FROM public.uuid_generator_stats() WHERE scope = 'instance'}), '5', 'the statistics do not wait');
	is(sql(q{SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE query LIKE '%terminated%' AND wait_event = 'Uuid9562Mark'}),
		't', 'a session that waits for the mark can be terminated');
	$world->turn('normal');
	like($waiting[0]->query_safe('SELECT 1'), qr/1/, 'and whoever moves the mark goes on with the disk');
	eval { $_->quit } foreach @waiting;
}

# --- sessions -----------------------------------------------------------------

# A session whose client does not read its error holds up nobody else.  Before the
# error goes a result that fills, at one of these lengths, what takes it up.
{
	my @clients;
	sleep 3;
	block();
	for (my $length = 100000; $length < 300000; $length += 2500)
	{
		my $client = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "no connection: $!";
		setsockopt($client, SOL_SOCKET, SO_RCVBUF, pack 'l', 4096);
		my $startup = pack 'N Z* Z* Z* Z* x', 196608, 'user', getpwuid($<) . '', 'database', 'postgres';
		syswrite $client, pack('N', 4 + length $startup) . $startup;
		my $answer = '';
		sysread $client, $answer, 1, length $answer or die "no answer: $answer" until $answer =~ /Z\x00\x00\x00\x05I$/s;
		my $query = pack 'Z*', "SELECT repeat('x', $length); SELECT public.uuidv7()";
		syswrite $client, 'Q' . pack('N', 4 + length $query) . $query;
		push @clients, $client;
	}
	sleep 1;
	unblock();
	($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()', timeout => 20, timed_out => \my $timed_out);
	like($out, qr/^[0-9a-f]{8}-/, 'a session whose client does not read holds up no other');
	close $_ foreach @clients;
}
$staying->quit;

# Each value is counted once, and none is lost between sessions; with a clock
# that goes on, it is never found behind, whatever the methods.
my $generated = statistic('generated');
my $backwards = statistic('clock_backwards');
$node->pgbench('--no-vacuum --client=8 --jobs=2 --transactions=100', 0, [qr/processed: 800\/800/], [qr/^$/],
	'eight sessions generate at once',
	{ map { ("generate_$_" => "SET uuid9562.v7_method = $_;\nSELECT count(public.uuidv7()) FROM generate_series(1, 1000);") } qw(fraction counter random) });
is(statistic('generated') - $generated, 800000, 'each value is counted once');
is(statistic('clock_backwards') - $backwards, 0, 'and the clock is not found behind');

# A session that leaves writes nothing, and values outlast a crash.
$world->turn("$T 0");
begin_anew();
my @batch = split /\n/, sql('SELECT public.uuidv7_batch(30)');
my $writes = statistic('mark_writes');
value() foreach 1 .. 2;
is(statistic('mark_writes'), $writes, 'a session that leaves writes nothing');
crash();
cmp_ok(value(), 'gt', $batch[-1], 'values go on over a crash');

# --- the page -----------------------------------------------------------------

# CRC-32C, bit by bit.
sub crc32c
{
	my $crc = 0xffffffff;
	foreach my $octet (unpack 'C*', $_[0])
	{
		$crc ^= $octet;
		$crc = $crc & 1 ? $crc >> 1 ^ 0x82f63b78 : $crc >> 1 for 1 .. 8;
	}
	return $crc ^ 0xffffffff;
}

# The record of a page, after its header: magic and format, five limits, the
# checksum.  With another magic number or format, or another limit and no new
# checksum.
sub rewrite
{
	my ($magic, $format, $damage) = @_;
	my $page = slurp_file($mark);
	my $record = substr $page, 24, 56;
	my ($old_magic, $old_format, $body, $crc) = unpack 'L L a40 L', $record;

	is($crc, crc32c(substr $record, 0, 48), 'the checksum of a mark is its CRC-32C');
	$record = pack 'L L a40', $magic || $old_magic, $format || $old_format, $body;
	$record = pack 'a48 L x4', $record, crc32c($record);
	substr($record, 20, 1) = 'x' if $damage;
	substr($page, 24, 56) = $record;
	open my $file, '>:raw', $mark or die;
	print $file $page;
	close $file;
}

# without PostgreSQL's own, which would see it first
$node->stop;
system_or_bail('pg_checksums', '--disable', '--pgdata', $node->data_dir) if $node->pg_version >= 18;
$world->start;
begin_anew();
$world->turn('normal');
foreach my $case ([ 'another magic number', 1, 0, 0 ], [ 'another format', 0, 1, 0 ], [ 'an octet that flipped', 0, 0, 1 ])
{
	my ($what, @how) = @$case;

	$first = value();
	$node->stop;
	rewrite(@how);
	$world->start;
	foreach my $attempt (1 .. 2)
	{
		($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()', extra_params => [ '-v', 'VERBOSITY=verbose' ]);
		is($out, '', "no value from a page with $what");
		like($err, qr/XX001: file "global\/9562" does not hold the mark.*HINT:  .*uuid_generator_reset/s, 'but an error that says the way out');
	}
	is(statistic('damaged_marks'), '1', 'which is counted');
	sql('SELECT public.uuid_generator_reset()', "SELECT public.uuid_generator_advance('$first')");
	cmp_ok(value(), 'gt', $first, 'a reset mends it, and an advance brings the order back');
	crash();
	cmp_ok(value(), 'gt', $first, 'over a crash too');
}
value();
$node->stop;
rewrite(0, 0);
$world->start;
like(value(), qr/^[0-9a-f]{8}-/, 'the same with its own is fine');
is(statistic('damaged_marks'), '0', 'and not counted');

# PostgreSQL's checksum finds it first.
$node->stop;
system_or_bail('pg_checksums', '--enable', '--pgdata', $node->data_dir);
rewrite(0, 0, 1);
$world->start;
($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
like($err, qr/invalid page in block 0 of relation "?global\/9562"?.*HINT:  .*uuid_generator_reset/s, 'what the checksum of a page finds has that hint too');
sql('SELECT public.uuid_generator_reset()');
like(value(), qr/^[0-9a-f]{8}-/, 'and is mended so');
$node->stop;
system_or_bail('pg_checksums', '--check', '--pgdata', $node->data_dir);
$world->start;

# --- the file of uuid9562 1.0 -------------------------------------------------

# magic and format, five payloads of two words, the checksum
sub write_old
{
	my ($time, $damage) = @_;
	my $ticks = $time * 4096000;	# all are read as v7's; only that is looked at
	my $record = pack 'L L Q10', 0x55554944, 1, 0, 0, 0, 0, $ticks, 12345, 0, 0, 0, 0;

	$record = pack 'a88 L x4', $record, crc32c($record);
	substr($record, 50, 1) = 'x' if $damage;
	open my $file, '>:raw', $old_mark or die;
	print $file $record;
	close $file;
}

$node->stop;
my $ahead = time + 30;
write_old($ahead);
$world->start;
is(sql("SELECT public.uuidv7_timestamp(public.uuidv7()) BETWEEN to_timestamp($ahead) AND to_timestamp($ahead + 2)"),
	't', 'values go on from what a 1.0 server has left');
ok(!-e $old_mark, 'which is gone then');
crash();
is(sql("SELECT public.uuidv7_timestamp(public.uuidv7()) >= to_timestamp($ahead)"), 't', 'and in the page');
$node->stop;
write_old($ahead, 1);
$world->start;
($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
like($err, qr/file "uuid9562\.mark" does not hold the mark.*HINT:  .*uuid_generator_reset/s, 'one that is damaged stops it');
sql('SELECT public.uuid_generator_reset()');
ok(!-e $old_mark, 'and goes with a reset');
cmp_ok(sql("SELECT public.uuidv7_timestamp(public.uuidv7()) < to_timestamp($ahead)"), 'eq', 't', 'with which the clock decides');

# One that cannot be read is no missing one.
$node->stop;
write_old($ahead);
chmod 0, $old_mark or die;
$world->start;
($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
is($out, '', 'no value from one that cannot be read');
like($err, qr/could not open file "uuid9562\.mark": Permission denied/, 'but an error');
chmod 0600, $old_mark or die;
cmp_ok(sql("SELECT public.uuidv7_timestamp(public.uuidv7()) >= to_timestamp($ahead)"), 'eq', 't', 'until it can');
sql('SELECT public.uuid_generator_reset()');

# --- ahead of the clock -------------------------------------------------------

# Reported with the first value from uuid9562.max_ahead on, also when attempts fail
# before.
foreach my $case ([ 30, 0 ], [ 120, 1 ], [ 864000, 1 ])
{
	my ($seconds, $warned) = @$case;

	$world->turn("$T 0");
	begin_anew();
	value();
	$node->stop;
	$world->turn(($T - $seconds) . ' 0');
	$world->start;
	if ($seconds > 86400)
	{
		block();
		($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
		like($err, qr/ERROR:  could not open/, 'a start that fails');
		unblock();
	}
	($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
	is(scalar($err =~ /WARNING:  UUIDs .* ahead of the clock/) || 0, $warned,
		"$seconds seconds ahead of the clock: " . ($warned ? 'a WARNING' : 'no WARNING'));
	($status, $out, $err) = $node->psql('postgres', 'SELECT public.uuidv7()');
	is($err, '', 'which is not said again');
}

# While it runs too, once for each time the clock was ahead and was corrected.
$world->turn("$T 0");
begin_anew();
foreach my $incident (1 .. 2)
{
	my $then = $T + $incident * 86400;
	my @warned;

	value();
	$world->turn("$then 0");
	value();
	$world->turn(($then - 3600) . ' 0');
	push @warned, ($node->psql('postgres', 'SELECT public.uuidv7()'))[2] =~ /WARNING:  UUIDs of .* are 36\d\d seconds ahead of the clock.*HINT:  .*uuid_generator_reset/s ? 1 : 0 for 1 .. 3;
	is("@warned", '1 0 0', "a clock that was an hour ahead is reported once, incident $incident");
	is(log_lines('WARNING:  UUIDs of uuid9562.monotonic_scope = instance are 36'), $incident, 'in the log');
	$world->turn(($then + 10) . ' 0');
}
$world->turn(($T - 864000) . ' 0');

# A reset holds over a crash.
sql('SELECT public.uuid_generator_reset()');
crash();
is(sql('SELECT public.uuidv7_timestamp(public.uuidv7()) = to_timestamp(' . ($T - 864000) . ')'), 't', 'after a reset and a crash the clock decides');

# And over one while others generate.
$world->turn((time + 864000) . ' 0');
begin_anew();
$staying = stay();
$world->turn('slow');
{
	my $resetting = $node->background_psql('postgres');

	$resetting->{stdin} .= "SELECT public.uuid_generator_reset();\n";
	$resetting->{run}->pump_nb;
	sleep 1;
	$staying->query_safe('SELECT public.uuidv7()');
	$resetting->query_safe('SELECT 1');
	$node->stop('immediate');
	eval { $_->quit } foreach $staying, $resetting;
}
$world->turn('normal');
$world->start;
is(sql(q{SELECT public.uuidv7_timestamp(public.uuidv7()) < now() + interval '1 minute'}), 't', 'also when another session generates during the reset');

# Only the generator that made values under a wrong clock is ahead after a crash.
$world->turn("$T 0");
begin_anew();
$staying = stay();
$world->turn(($T + 86400) . ' 0');
my $tomorrow = $staying->query_safe('SELECT public.uuidv6()');
$world->turn(($T + 5) . ' 0');
my $today = $staying->query_safe('SELECT public.uuidv7()');
$node->stop('immediate');
eval { $staying->quit };
$world->start;
$out = value();
like("$today $tomorrow", qr/^[0-9a-f-]{36} [0-9a-f-]{36}$/, 'a session generates under a clock that is wrong, and after');
cmp_ok($out, 'gt', $today, 'after a clock that was wrong, values go on over a crash');
is(sql("SELECT public.uuidv7_timestamp('$out') <= to_timestamp($T + 10)"), 't', 'by a generator that had made none meanwhile, near the clock');
cmp_ok(sql('SELECT public.uuidv6()'), 'gt', $tomorrow, 'by the one that had, from there on');

# The end of the field: the mark cannot go further, and is not tried again.
my $end = '281474976710 655999999';
SKIP:
{
	skip World::NARROW, 1 unless World->can_be($end);
	$world->turn($end);
	begin_anew();
	$staying = stay();
	$writes = statistic('mark_writes');
	value() foreach 1 .. 4;
	is(statistic('mark_writes'), $writes, 'at the end of the field the mark is not moved again and again');
	$staying->quit;
	$world->turn('normal');
}

$node->stop;
done_testing();
