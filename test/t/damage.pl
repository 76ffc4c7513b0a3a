# A damaged file of the high-water mark raises an error, and is never treated as a missing
# file.  A superuser can repair the file.
use ServerTest;
use Ordered;

my $server = Ordered->new('damage') or plan skip_all => World::REASON;
my $node = $server->node;
my $mark = $server->mark;

sub crc32c
{
	my $crc = 0xffffffff;
	foreach my $byte (unpack 'C*', $_[0])
	{
		$crc ^= $byte;
		$crc = $crc & 1 ? $crc >> 1 ^ 0x82f63b78 : $crc >> 1 for 1 .. 8;
	}
	return $crc ^ 0xffffffff;
}

sub write_page
{
	my ($page) = @_;

	open my $file, '>:raw', $mark or die;
	print $file $page;
	close $file;
	return;
}

# Replace bytes of the page.  The page header has 24 bytes, and its checksum is at 8.  After
# the header are the magic number, format, checksum and length of the mark, and the mark.
sub rewrite
{
	my ($offset, $bytes) = @_;
	my $page = slurp_file($mark);
	my ($crc, $length) = unpack 'L2', substr $page, 32, 8;

	is($crc, crc32c(substr $page, 40, $length), 'the checksum of the mark is its CRC-32C');
	substr($page, $offset, length $bytes) = $bytes;
	write_page($page);
	return;
}

my %damage = (
	'another magic number' => sub { rewrite(24, pack 'L', 1) },
	'another format' => sub { rewrite(28, pack 'L', 2) },
	'a length beyond the page' => sub { rewrite(36, pack 'L', 0xfffffff0) },
	'a flipped byte' => sub { rewrite(52, 'x') },
	'all zeros' => sub { write_page("\0" x 8192) },
	'half of its length' => sub { truncate $mark, 4096 or die },
	'no content' => sub { truncate $mark, 0 or die });
foreach my $what (sort keys %damage)
{
	my $first = $server->value;

	$node->stop;
	$damage{$what}->();
	# set the clock back, so that values are out of order if the mark is ignored
	$server->turn((time - 3600) . ' 0');
	$server->start;
	foreach my $attempt (1 .. 2)
	{
		my ($out, $err) = $server->try('SELECT public.uuidv7_ordered()', 'SELECT public.uuidv7_horizon()', "SELECT public.uuid_generator_advance('$first', force => true)");
		my @errors = $err =~ /(ERROR:  XX001: file "global\/9562" does not contain valid generator state.*?HINT:  .*?uuid_generator_reset)/gs;
		is($out, '', "no value from a file with $what, attempt $attempt");
		is(scalar(@errors), 3, "uuidv7_ordered(), uuidv7_horizon() and uuid_generator_advance() report the damaged file: $what, attempt $attempt");
	}
	like($server->error(q{SET statement_timeout = '100ms'}, 'SELECT public.uuidv7_ordered()', 'SELECT pg_sleep(3)'), qr/canceling statement due to statement timeout/,
		"a query can be canceled after the error of a file with $what");
	like($server->sql('SELECT public.uuidv7()'), qr/^[0-9a-f-]{36}$/, "uuidv7() does not need the file with $what");
	$server->sql('SELECT public.uuid_generator_reset()', "SELECT public.uuid_generator_advance('$first', force => true)");
	cmp_ok($server->value, 'gt', $first, "a reset and an advance repair a file with $what");
	$server->crash;
	cmp_ok($server->value, 'gt', $first, "the repair of a file with $what outlasts a crash");
	$server->turn('normal');
	$server->sql('SELECT public.uuid_generator_reset()');
}
# If the file is missing, the generators start as on a new server.
my $before = $server->value;
$node->stop;
unlink $mark or die;
$server->turn((time - 3600) . ' 0');
$server->start;
cmp_ok($server->value, 'lt', $before, 'without the file the generator starts at the current time');
$server->turn('normal');
$server->sql("SELECT public.uuid_generator_advance('$before')");
cmp_ok($server->value, 'gt', $before, 'an advance restores the order');

# After the file is removed, a running server must not return the same replay target again.  A
# standby that lags could mistake the second target for the first.
my $position = $server->sql('SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)');
my $target = $server->sql('SELECT target FROM public.uuid_replay_target()');
unlink $mark or die;
foreach my $statement ('SELECT public.uuid_replay_target()', "SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)")
{
	my ($out, $err) = $server->try($statement);
	is($out, '', "no result after the file was removed: $statement");
	like($err, qr/ERROR:  XX001: file "global\/9562" does not contain valid generator state/, "an error after the file was removed: $statement");
}
$server->sql('SELECT public.uuid_generator_reset()');
isnt($server->sql('SELECT target FROM public.uuid_replay_target()'), $target, 'targets after a reset are of another branch');
like($server->error("SELECT public.uuidv7_after('$position')"), qr/55000: position is unknown on this server/, 'positions of the lost branch are unknown');
$server->sql("SELECT public.uuid_generator_advance('$before', force => true)");

# Replay restores a file that was removed, but fails if it cannot open the file.
$before = $server->value;
$node->stop('immediate');
chmod 0, $mark or die;
$server->turn((time - 3600) . ' 0');
ok(!$node->start(fail_ok => 1), 'a server whose file cannot be opened does not recover');
like(slurp_file($node->logfile), qr/FATAL:  could not (?:create|open) file "global\/9562"/, 'the log names the file that cannot be opened');
unlink $mark or die;
$server->start;
cmp_ok($server->value, 'gt', $before, 'recovery restores a file that was removed after a crash');
$server->turn('normal');

# A page whose own checksum is right is valid, also if PostgreSQL's checksum of the page is wrong.
$node->stop;
system_or_bail('pg_checksums', '--enable', '--pgdata', $node->data_dir) if $node->pg_version < 18;
$server->start;
$position = $server->sql('SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)');
$before = $server->value;
$node->stop;
rewrite(8, "\0\0");
$server->turn((time - 3600) . ' 0');
$server->start;
isnt($server->sql("SELECT public.uuidv7_after('$position')"), '', 'a position is known if only the page checksum is wrong');
cmp_ok($server->value, 'gt', $before, 'the generators continue if only the page checksum is wrong');
$node->stop;
system_or_bail('pg_checksums', '--check', '--pgdata', $node->data_dir);
rewrite(8, "\0\0");
$server->start;
$server->sql('SELECT public.uuid_generator_reset()');
isnt($server->sql("SELECT public.uuidv7_after('$position')"), '', 'a position is known after a reset that read such a page');
$server->turn('normal');

# --- errors while a caller holds locks -------------------------------------------

# PostgreSQL calls the penalty function of a GiST index while it holds a lock on a
# buffer.  An error of the generator must release only the generator's own lock.
$server->sql(q{
	CREATE FUNCTION difference(integer, integer) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS
	$$BEGIN PERFORM public.uuidv7_ordered(); RETURN $1 - $2; END$$;
	CREATE TYPE span AS RANGE (subtype = integer, subtype_diff = difference);
	CREATE TABLE spans (s span);
	CREATE INDEX ON spans USING gist (s);
	INSERT INTO spans SELECT span(i, i + 1 + i % 7) FROM generate_series(1, 2000) AS i});
my $writer = $node->background_psql('postgres', on_error_stop => 0);
my $insert = 'INSERT INTO spans SELECT span(i, i + 1 + i % 7) FROM generate_series(1, 2000) AS i';
$writer->query_safe($insert);
my $T = time + 10;
$server->turn("$T 0");
$writer->query_safe('SELECT public.uuidv7_ordered()');
# generate a value one second into a reservation of two seconds, and a value after its end
foreach my $later (1, 3)
{
	$server->turn(($T + $later) . ' 0');
	$server->block;
	$writer->{stderr} = '';
	$writer->query($insert);
	like($writer->{stderr}, qr/ERROR:  could not open file "global\/9562": Permission denied/, "an INSERT into a GiST index is an error if its function cannot generate, after $later s");
	$server->unblock;
	$writer->{stderr} = '';
	$writer->query_safe($insert);
	is($server->sql('SET enable_seqscan = off', q{SELECT count(*) % 2000 FROM spans WHERE s && 'empty' OR s <@ '[0,100000)'}), '0', "the index is intact, after $later s");
}
$writer->quit;
is($server->log_lines('TRAP:|PANIC:|is not held'), 0, 'no lock of the caller was released');
$server->turn('normal');

$node->stop;
done_testing();
