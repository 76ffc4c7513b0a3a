# A random source or a clock that fails stops the statement: an error, and no
# value, and the next call works again.  A library before the server's own
# makes them fail on demand.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $postgres = qx(pg_config --bindir);
chomp $postgres;
plan skip_all => 'this server takes random octets from elsewhere than OpenSSL'
  unless qx(ldd $postgres/postgres) =~ /libcrypto/;

my $dir = PostgreSQL::Test::Utils::tempdir();
my $switch = "$dir/fail";
open my $source, '>', "$dir/failing.c" or die;
print $source <<'C';
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What the file SWITCH says, or an empty string. */
static const char *
failing(void)
{
	static char what[32];
	FILE	   *file = fopen(SWITCH, "r");

	what[0] = 0;
	if (file != NULL)
	{
		if (fgets(what, sizeof(what), file) == NULL)
			what[0] = 0;
		fclose(file);
	}
	return what;
}

int
RAND_bytes(unsigned char *octets, int count)
{
	int			(*real) (unsigned char *, int) = dlsym(RTLD_NEXT, "RAND_bytes");

	if (strcmp(failing(), "random") == 0)
		return 0;
	return real(octets, count);
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	static int	(*real) (clockid_t, struct timespec *);
	const char *what;
	int			status;

	if (real == NULL)
		real = dlsym(RTLD_NEXT, "clock_gettime");
	status = real(clock, now);
	if (clock != CLOCK_REALTIME)
		return status;
	what = failing();
	if (strcmp(what, "clock") == 0)
	{
		errno = EPERM;
		return -1;
	}
	if (strcmp(what, "1969") == 0)
		now->tv_sec = -1;
	if (strcmp(what, "1500") == 0)
		now->tv_sec = -14830000000;
	if (strcmp(what, "20000") == 0)
		now->tv_sec = 569000000000;
	return status;
}
C
close $source;
command_ok([ 'gcc', '-shared', '-fPIC', "-DSWITCH=\"$switch\"", '-o', "$dir/failing.so", "$dir/failing.c", '-ldl' ],
	'the failing library builds');

sub fail_with
{
	my ($what) = @_;
	unlink $switch;
	return if $what eq '';
	open my $file, '>', $switch or die;
	print $file $what;
	close $file;
	return;
}

my $node = PostgreSQL::Test::Cluster->new('failure');
$node->init;
{
	local $ENV{LD_PRELOAD} = "$dir/failing.so";
	$node->start;
}
$node->safe_psql('postgres', 'CREATE EXTENSION uuid9562; CREATE TABLE ids (id uuid DEFAULT public.uuidv7())');

my @generators = qw(uuidv1() uuidv4() uuidv6() uuidv7() uuidv7('1d') uuidv8() uuidv8_node(1));

# One session, in which the switch is turned by psql itself: the failure, and
# the call after it.
sub is_stopped
{
	my ($call, $what, $error, $name) = @_;
	my ($status, $out, $err) = $node->psql('postgres', qq{
\\! printf $what > $switch
SELECT 'value ' || public.$call;
\\! rm $switch
SELECT 'again ' || public.$call;
}, on_error_stop => 0);
	unlike($out, qr/value/, "$call: no value when $name");
	like($err, $error, "$call: an error when $name");
	like($out, qr/again [0-9a-f]{8}-/, "$call: works again after $name");
	return;
}

is_stopped($_, 'random', qr/ERROR:  could not generate random values/, 'the random source fails')
  for @generators;
is_stopped($_, 'clock', qr/ERROR:  could not read the system clock: Operation not permitted/, 'the clock fails')
  for grep { $_ ne 'uuidv4()' } @generators;
is_stopped($_, '1969', qr/ERROR:  system clock is out of range for UUID version [78]/, 'the clock is before 1970')
  for qw(uuidv7() uuidv7('1d') uuidv8() uuidv8_node(1));
is_stopped($_, '1500', qr/ERROR:  system clock is out of range for UUID version [16]/, 'the clock is before 1582')
  for qw(uuidv1() uuidv6());
is_stopped($_, '20000', qr/ERROR:  system clock is out of range for UUID version [167]/, 'the clock is after the field')
  for qw(uuidv1() uuidv6() uuidv7());

# A statement that needs more than one refill fails as a whole.
my ($status, $out, $err) = $node->psql('postgres', qq{
INSERT INTO ids SELECT FROM generate_series(1, 100);
\\! printf random > $switch
INSERT INTO ids SELECT FROM generate_series(1, 1000);
\\! rm $switch
SELECT count(*) FROM ids;
}, on_error_stop => 0);
like($err, qr/could not generate random values/, 'an INSERT stops where the pool ends');
is($out, '100', 'and leaves no row');

$node->stop;
done_testing();
