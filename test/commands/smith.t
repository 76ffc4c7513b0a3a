# Test that scripts/smith restarts SQLsmith, counts its queries, and fails if the server
# crashes.  A program of this test replaces sqlsmith.
use strict;
use warnings;

use File::Temp;
use Test::More;

plan skip_all => 'PG_CONFIG is not that of a PostgreSQL with assertions; scripts/matrix has one'
  unless $ENV{PG_CONFIG} && `$ENV{PG_CONFIG} --configure` =~ /--enable-cassert/;
plan skip_all => 'SQLsmith is not installed' if system('command -v sqlsmith >/dev/null') != 0;

my $programs = File::Temp->newdir;
chmod 0755, $programs;
local $ENV{PATH} = "$programs:$ENV{PATH}";

# Run scripts/smith for some seconds with a program instead of sqlsmith.  Return the exit
# status and the output of scripts/smith.
sub smith
{
	my ($seconds, $program) = @_;

	open my $file, '>', "$programs/sqlsmith" or die "$programs/sqlsmith: $!";
	print $file "#!/bin/sh\ntarget=\${1#--target=}\n$program\n";
	close $file;
	chmod 0755, "$programs/sqlsmith";
	my $printed = `scripts/smith $seconds 1 2>&1 </dev/null`;
	return ($? >> 8, $printed);
}

my ($status, $printed) = smith(5, 'psql -Xq "$target" -c "SELECT count(*) FROM orders" >/dev/null && echo "SELECT 1;" && echo . >&2; sleep 1; exit 1');
is($status, 0, 'scripts/smith succeeds if SQLsmith ends by itself') or diag($printed);
like($printed, qr/^(\d+) queries of SQLsmith, \1 of them without an error: no crash, no failed assertion\n\z/m, 'the last line has the number of queries');
cmp_ok($printed =~ /^(\d+) queries of/m ? $1 : 0, '>', 1, 'SQLsmith is started again after it ends');

($status, $printed) = smith(5, 'exit 1');
is($status, 1, 'scripts/smith fails if no query runs');

($status, $printed) = smith(5, q{echo "SELECT the_last_query;"
psql -XAt "$target" -c 'SELECT pg_backend_pid()' -c 'SELECT pg_sleep(100)' 2>/dev/null | { read pid; kill -SEGV $pid; cat; }});
is($status, 1, 'scripts/smith fails if the server crashes');
like($printed, qr/^SELECT the_last_query;$/m, 'the last queries are printed');
like($printed, qr/terminated by signal 11.*\n.*SELECT pg_/, 'the query that crashed is printed');
like($printed, qr/ the round of seed 1 /, 'the seed is printed');

done_testing();
