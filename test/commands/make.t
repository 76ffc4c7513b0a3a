# Test what make installs and uninstalls, that make can build outside the source folder, and
# that it builds again if another PostgreSQL is selected.
use strict;
use warnings;

use File::Find;
use File::Temp;
use Test::More;
use Time::HiRes;

plan skip_all => 'PG_CONFIG is not set; scripts/test sets it' unless $ENV{PG_CONFIG};

my $folder = File::Temp->newdir;
mkdir "$folder/built" or die $!;

# Run make in the build folder.  Return its exit status and its output.
our $pg_config = $ENV{PG_CONFIG};
sub make
{
	my $printed = `make -s -C $folder/built -f ../source/Makefile PG_CONFIG=$pg_config DESTDIR=$folder/installed @_ 2>&1`;
	return ($? >> 8, $printed);
}

sub works
{
	my ($name, @targets) = @_;
	my ($status, $printed) = make(@targets);

	is($status, 0, $name) or diag($printed);
}

# Return the files below a folder, by their paths relative to it.
sub files
{
	my ($in) = @_;
	my @files;

	find({ no_chdir => 1, wanted => sub { push @files, s{^\Q$in\E/}{}r if -f } }, $in);
	return [ sort @files ];
}

system('bash', '-c', ". scripts/lib/common.sh && copy_checkout $folder/source") == 0 or die;
my $source = files("$folder/source");
works('make builds and installs from another folder', 'all', 'install');
is_deeply(files("$folder/source"), $source, 'make does not change the source folder');

my %installed = map { $_ => 1 } @{ files("$folder/installed") };
my ($extension, $library, $docdir) = map { `$ENV{PG_CONFIG} --$_` =~ s{^/|\n}{}gr } qw(sharedir pkglibdir docdir);
ok($installed{"$extension/extension/$_"}, "$_ is installed") foreach glob 'uuid9562*.control uuid9562*--*.sql';
ok(scalar(grep { m{^\Q$library\E/uuid9562\.\w+$} } keys %installed), 'the library is installed');

my @pages = grep { /\.md$/ } sort keys %installed;
cmp_ok(scalar(@pages), '>', 5, 'the manual is installed');
my @lost = grep { !m{^\Q$docdir\E/extension/uuid9562/} } @pages;
foreach my $page (@pages)
{
	open my $file, '<', "$folder/installed/$page" or die "$page: $!";
	my $text = do { local $/; <$file> };
	my ($at) = "$folder/installed/$page" =~ m{^(.*)/};
	push @lost, map { "$page: $_" } grep { !/^https?:/ && !-e "$at/$_" } $text =~ /\]\(([^)#\s]+)[^)\s]*\)/g;
}
is_deeply(\@lost, [], 'the manual is in a folder of its own, and every link in it has an installed target');

# Return the object files, bitcode files and libraries, with their times of last change.
sub products
{
	return { map { $_ => (Time::HiRes::stat("$folder/built/$_"))[9] } grep { /\.(?:o|bc|so|dylib)$/ } @{ files("$folder/built") } };
}
my $products = products();
works('make works again', 'all');
is_deeply(products(), $products, 'make with the same PG_CONFIG builds nothing again');
{
	open my $file, '>', "$folder/pg_config" or die $!;
	print $file "#!/bin/sh\n$pg_config \"\$@\"\n[ \$# -gt 0 ] || echo 'VERSION = another'\n";
	close $file;
	chmod 0755, "$folder/pg_config";
	local $pg_config = "$folder/pg_config";
	works('make works with another PG_CONFIG', 'all');
	my $again = products();
	is_deeply([ grep { $again->{$_} <= $products->{$_} } sort keys %$products ], [], 'make with another PG_CONFIG builds everything again');
}

works('make uninstall works', 'uninstall');
is_deeply(files("$folder/installed"), [], 'make uninstall leaves nothing behind');
works('make builds the tests of schedules in another folder', 'test/schedules/horizon');
works('make coretest works in another folder', 'coretest', 'SCHEDULE_PROGRAMS=');
works('make clean works in another folder', 'clean');
is_deeply(files("$folder/built"), [], 'make clean leaves nothing behind');

like((make('--dry-run', 'installcheck'))[1], qr/pg_regress .*--encoding=UTF8 --no-locale/,
	'make installcheck creates a UTF8 database on a server with another encoding');

# test the errors of make installcheck if it cannot run
SKIP:
{
	skip 'PGHOST is not set', 1 unless $ENV{PGHOST};
	system('psql', '-XAtq', '-c', 'CREATE ROLE guest LOGIN') == 0 or die;
	local $ENV{PGUSER} = 'guest';
	like((make('installcheck'))[1], qr/^make installcheck: role guest is no superuser\n/m, 'make installcheck reports that the role is not a superuser');
}
local $ENV{PGHOST} = "$folder";
like((make('installcheck'))[1], qr/^make installcheck: .*connection to server .*\n(?:.*\n)*It needs a running PostgreSQL \d+ /m,
	'make installcheck reports that there is no server');

done_testing();
