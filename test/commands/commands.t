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

local $ENV{PATH} = "$programs:$ENV{PATH}";
chomp(my @folders = map { `$ENV{PG_CONFIG} --$_` } qw(bindir pkglibdir sharedir));
my $before = files(@folders, getcwd());
cmp_ok(scalar(keys %$before), '>', 500, 'the checkout and PostgreSQL have files');

program('prove', 'echo "ok 1 - one"; echo "1..1"');
program('pg_prove', q{echo "test/pgtap/one.sql .. "; echo "ok 1 - one"; echo "ok 2 # SKIP not here"; echo "ok 3 - three # skip nor here"; echo "not ok 4 - four"; echo "1..4"
echo "test/pgtap/two.sql .. "; echo "Dubious, test returned 3"
echo "test/pgtap/one.sql (Wstat: 0 Tests: 4 Failed: 1)"; echo "test/pgtap/two.sql (Wstat: 768 (exited 3) Tests: 0 Failed: 0)"; exit 1});
my $printed = `scripts/test 2>&1 </dev/null`;
is($? >> 8, 1, 'scripts/test fails if a test fails') or diag($printed);
like($printed, qr/^contract and properties: pgTAP +1 passed +2 failed$/m, 'skipped pgTAP tests do not count as passed');
like($printed, qr/^skipped: not here\n(?:.*\n)*failed: test\/pgtap\/one\.sql: not ok 4 - four\nfailed: test\/pgtap\/two\.sql: failed, see its output\n\n\d+ passed, 2 failed\n\z/m,
	'the summary has the reasons of skipped tests, and the files of failed ones');
is_deeply(files(@folders, getcwd()), $before, "scripts/test does not change the checkout or PG_CONFIG's PostgreSQL");

$printed = `scripts/demo 2>&1 </dev/null`;
is($?, 0, 'scripts/demo succeeds') or diag($printed);
is_deeply(files(@folders, getcwd()), $before, "scripts/demo does not change the checkout or PG_CONFIG's PostgreSQL");

# Replace prove by a program that prints its folder and process ID, and does not end.
program('prove', "echo begun `pwd` \$\$\nexec sleep 100000");
my $pid = open my $output, '-|', 'exec scripts/test 2>&1 </dev/null' or die $!;
my ($folder, $suite);
while (<$output>)
{
	($folder, $suite) = /^begun (.*) (\d+)$/ and last;
}
ok($suite, 'scripts/test has started a suite');
$SIG{ALRM} = sub { kill 'KILL', $pid, $suite; die "SIGTERM has not ended scripts/test in a minute\n" };
alarm 60;
kill 'TERM', $pid;
waitpid $pid, 0;
alarm 0;
is($? >> 8, 143, 'SIGTERM ends scripts/test while a suite runs');
ok(!kill(0, $suite), 'SIGTERM ends the suite');
ok(!-e $folder, 'SIGTERM removes the temporary folder');

done_testing();
