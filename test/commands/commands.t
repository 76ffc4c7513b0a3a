# Tests of scripts/test and scripts/demo.  Neither of them changes the checkout or the
# installed PostgreSQL.  scripts/test counts tests correctly, and stops after a signal.
# Shell scripts of this test replace prove and pg_prove.
use strict;
use warnings;

use Cwd;
use File::Find;
use File::Temp;
use Test::More;

plan skip_all => 'PG_CONFIG is not set; scripts/test sets it' unless $ENV{PG_CONFIG};

my $programs = File::Temp->newdir;
chmod 0755, $programs;

sub program
{
	my ($name, $text) = @_;

	open my $file, '>', "$programs/$name" or die "$programs/$name: $!";
	print $file "#!/bin/sh\n$text\n";
	close $file;
	chmod 0755, "$programs/$name";
}

# Return the files of the given folders, with their sizes and times of last change.
sub files
{
	my %files;

	find({ no_chdir => 1, wanted => sub {
		$files{$_} = join ' ', (lstat)[ 7, 9 ] if -f || -l;
		$File::Find::prune = 1 if m{/(?:\.git|results)$};
	} }, @_);
	return \%files;
}

# Return the processes that have a variable of this test in their environment.
$ENV{UUID9562_COMMANDS_TEST} = $$;
sub marked
{
	my @marked;

	foreach my $process (map { m{(\d+)$} } glob '/proc/[0-9]*')
	{
		open my $file, '<', "/proc/$process/environ" or next;
		push @marked, $process if (<$file> // '') =~ /UUID9562_COMMANDS_TEST=$$\0/;
	}
	return @marked;
}

local $ENV{PATH} = "$programs:$ENV{PATH}";
chomp(my @folders = map { `$ENV{PG_CONFIG} --$_` } qw(bindir pkglibdir sharedir));
my $before = files(@folders, getcwd());
cmp_ok(scalar(keys %$before), '>', 500, 'the checkout and PostgreSQL have files');

program('prove', 'echo "ok 1 - one"; echo "1..1"');
program('pg_prove', q{echo "test/pgtap/one.sql .. "; echo "ok 1 - one"; echo "ok 2 # SKIP not here"; echo "ok 3 - three # skip nor here"
echo "# .. and dots"; echo "not ok 4 - four"; echo "# have: 4"; echo "ok 5 - five"; echo "# not of a failure"; echo "1..5"
echo "test/pgtap/two.sql .. "; echo "this is why"; echo "Dubious, test returned 3"
echo "test/schedules/three .. "; echo "not ok 1 - one"
echo "test/pgtap/one.sql (Wstat: 0 Tests: 5 Failed: 1)"; echo "test/pgtap/two.sql (Wstat: 768 (exited 3) Tests: 0 Failed: 0)"; exit 1});
my $printed = `scripts/test 2>&1 </dev/null`;
is($? >> 8, 1, 'scripts/test fails if a test fails') or diag($printed);
like($printed, qr/^contract and properties: pgTAP +2 passed +3 failed$/m, 'skipped pgTAP tests do not count as passed');
my $given = join '', map { "$_=$ENV{$_} " } grep { $ENV{$_} } qw(PG_CONFIG CC);
my ($ending) = $printed =~ /^(skipped: not here\n(?s:.*))\z/m;
my ($kept) = $printed =~ m{^the whole output: (/tmp/uuid9562-failed\.\w+)/output$}m;
like($ending, qr{^skipped: not here
(?:skipped: .*\n)*failed: test/pgtap/one\.sql: not ok 4 - four
    # have: 4
failed: test/schedules/three\.c: not ok 1 - one
failed: test/pgtap/two\.sql: failed without a failed test
    this is why

the whole output: \S+
to repeat what failed:
  \Q$given\Escripts/test test/pgtap/one\.sql
  \Q$given\Escripts/test test/pgtap/two\.sql
  \Q$given\Escripts/test test/schedules/three\.c

\d+ passed, 3 failed
\z}, 'the summary has the reasons of skipped tests, the first lines of each failure, and how to repeat it');
ok($kept && -s "$kept/server.log" && `cat $kept/output` =~ /^# not of a failure$/m, 'the output of a failed run, and the log of the server, remain');
system('rm', '-r', $kept) if $kept;
is_deeply(files(@folders, getcwd()), $before, "scripts/test does not change the checkout or PG_CONFIG's PostgreSQL");

program($_, qq{sleep 100000 >/dev/null 2>&1 & echo "$_ runs \$*"; echo "ok 1 - one"}) foreach 'prove', 'pg_prove';
$printed = `JOBS=1 scripts/test test/pgtap/order.sql ./test/project/versions.t sql/vectors.sql test/t/settings.pl project 2>&1 </dev/null`;
is($?, 0, 'scripts/test runs chosen suites and files') or diag($printed);
my @runs = map { s{/tmp/\S+/(?=t/)|\./}{}gr } $printed =~ /^(?:\w+ runs .*|.*ok\b.* vectors\b|test vectors .* ok)/mg;
is_deeply([ map { [ grep { m{/} || $_ eq 'vectors' } split ' ' ] } @runs ],
	[ ['vectors'], ['test/pgtap/order.sql'], ['t/settings.pl'], [ sort glob 'test/project/*.t' ] ], 'scripts/test runs nothing else');
is_deeply([ marked() ], [], 'scripts/test ends the programs that tests have left');
$printed = `scripts/test order 2>&1 </dev/null`;
is($? >> 8, 1, 'scripts/test refuses an unknown name');
like($printed, qr{^pgtap: (?:.*\n)*?.*test/pgtap/order\.sql (?:.*\n)*test: no such test: order; }m, 'the error lists the suites and their files');

$printed = `scripts/demo 2>&1 </dev/null`;
is($?, 0, 'scripts/demo succeeds') or diag($printed);
unlike($printed, qr/DEBUG|NOTICE|WARNING|ERROR/, 'scripts/demo prints no message of the server');
unlike($printed, qr/Enter continues/, 'scripts/demo does not wait without a terminal');
my ($screens) = $printed =~ /^== 1 of (\d): /m;
is_deeply([ $printed =~ /^ (upsert|delete) +\| +(\d)/mg ], [ qw(upsert 2 upsert 1 delete 3) ], 'copy B of scripts/demo reads each change');
is_deeply([ $printed =~ /^ +(\d) \| (\w*) +\| (\w*) +\| (\w*) *$/mg ], [ qw(1 Anna Ann Anna 2 Bobby Bobby Bobby), 3, '', 'Cid', '' ],
	'only copy B of scripts/demo has the late update and the delete');
like($printed, qr/ sugar\n\(1 row\)(?s:.*)^ order_\w{26} \| sugar$/m, 'scripts/demo finds a row by its public ID, and shows TypeIDs');

SKIP:
{
	skip 'no pseudo-terminal, or no IPC::Run or IO::Pty', 2
		unless eval { local $SIG{__WARN__} = sub { }; require IPC::Run; require IO::Pty; IO::Pty->new };
	local $ENV{PSQL_PAGER} = 'cat';
	my ($typed, $shown) = ('', '');
	my $demo = IPC::Run::start(['scripts/demo'], '<pty<', \$typed, '>pty>', \$shown, IPC::Run::timeout(300));
	my $pages = 0;
	while ($shown !~ /postgres=# /)
	{
		$demo->pump;
		$pages++, $typed .= "\n" if $shown =~ s/q and Enter leaves: //;
	}
	is($pages, $screens, 'on a terminal, scripts/demo waits after each screen');
	$typed .= "SELECT count(*) FROM orders WHERE item = 'tea';\n\\q\n";
	$demo->finish;
	like($shown, qr/\b1\s+\(1 row\)(?!.*\(1 row\))/s, 'on a terminal, scripts/demo ends with psql') or diag($shown);
}
is_deeply(files(@folders, getcwd()), $before, "scripts/demo does not change the checkout or PG_CONFIG's PostgreSQL");

# Replace prove by a program that prints its folder and process ID, and ends one second after
# SIGTERM, so that a second SIGTERM finds scripts/test removing its server.
program('prove', "trap 'sleep 1; exit' TERM\necho begun `pwd` \$\$\nsleep 100000 & wait");
my $pid = open my $output, '-|', 'exec env JOBS=1 scripts/test core 2>&1 </dev/null' or die $!;
my ($folder, $suite);
while (<$output>)
{
	($folder, $suite) = /^begun (.*) (\d+)$/ and last;
}
ok($suite, 'scripts/test has started a suite');
$SIG{ALRM} = sub { kill 'KILL', $pid, $suite; die "SIGTERM has not ended scripts/test in a minute\n" };
alarm 60;
kill 'TERM', $pid;
select undef, undef, undef, 0.3;
kill 'TERM', $pid;
waitpid $pid, 0;
alarm 0;
is($? >> 8, 143, 'SIGTERM ends scripts/test while a suite runs');
ok(!kill(0, $suite), 'SIGTERM ends the suite');
ok(!-e $folder, 'two SIGTERMs remove the server with its temporary folder');

# each package is missing, and apt-get fails
program('dpkg-query', 'exit 1');
program($_, 'echo "$0: no packages here" >&2; exit 100') foreach 'apt-get', 'sudo';
program('apt-cache', 'exit 0');
$printed = `scripts/test 2>&1 </dev/null`;
is($? >> 8, 1, 'scripts/test ends if packages cannot be installed');
like($printed, qr/^test: (?:could not install|these packages are missing).*: gcc libc6-dev /m, 'the error names the packages');
is_deeply([ marked() ], [], 'scripts/test leaves no process if it ends early');
my $packages = "PATH=$programs:\$PATH bash -c 'set -euo pipefail; . scripts/lib/common.sh; installed postgresql && echo yes || echo no' 2>&1";
program('dpkg-query', "if [ -e $programs/configured ]; then echo installed; else touch $programs/configured; echo half-configured; fi");
is(`$packages`, "yes\n", 'a package that another program configures is installed when it is configured');
program('dpkg-query', "echo $_->[0]"), is(`$packages`, "$_->[1]\n", "a package with the status $_->[0] is " . ($_->[1] eq 'yes' ? 'installed' : 'missing'))
  foreach [ 'triggers-pending', 'yes' ], [ 'config-files', 'no' ];

# apt-get finds its lock in use at the first time
program('sleep', '');
program('apt-get', "[ -e $programs/free ] || { touch $programs/free; echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 1 (apt-get)'; exit 100; }; echo done >$programs/free");
is(`PATH=$programs:\$PATH bash -c 'set -euo pipefail; . scripts/lib/common.sh; as_root() { "\$@"; }; apt_get update; cat $programs/free' 2>&1`, "done\n",
	'while another program has the lock of apt, installing packages waits');
unlink "$programs/$_" foreach qw(sleep apt-get apt-cache dpkg-query sudo);

# Without a pg_config program, the copy of PostgreSQL would be one of the whole file system.
like(`PG_CONFIG=true bash -c 'set -euo pipefail; . scripts/lib/common.sh; cp() { echo copies; }; private_copy $folder' 2>&1`,
	qr/\A[^\n]*PG_CONFIG is not a pg_config program: true\n\z/, 'private_copy refuses a program that names no folders');

done_testing();
