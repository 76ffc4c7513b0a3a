# What make installs, takes away again, and builds in another folder than the source's.
use strict;
use warnings;

use Cwd;
use File::Find;
use File::Temp;
use Test::More;

plan skip_all => 'PG_CONFIG names no PostgreSQL; scripts/test does' unless $ENV{PG_CONFIG};

my $folder = File::Temp->newdir;
mkdir "$folder/built" or die $!;

# Runs in the folder of what is built, beside that of the source.
sub make
{
	my $printed = `make -s -C $folder/built -f ../source/Makefile PG_CONFIG=$ENV{PG_CONFIG} DESTDIR=$folder/installed @_ 2>&1`;
	return ($? >> 8, $printed);
}

# The files below a folder, by their names in it.
sub files
{
	my ($in) = @_;
	my @files;

	find({ no_chdir => 1, wanted => sub { push @files, s{^\Q$in\E/}{}r if -f } }, $in);
	return [ sort @files ];
}

is(system('bash', '-c', ". scripts/common.sh && copy_checkout $folder/source"), 0, 'the checkout is copied');
my $source = files("$folder/source");
my ($status, $printed) = make('all');
is($status, 0, 'make builds in another folder') or diag($printed);
($status, $printed) = make('install');
is($status, 0, 'and installs from there') or diag($printed);
is_deeply(files("$folder/source"), $source, 'and leaves the source as it is');

my %installed = map { $_ => 1 } @{ files("$folder/installed") };
my ($extension, $library, $docdir) = map { `$ENV{PG_CONFIG} --$_` =~ s{^/|\n}{}gr } qw(sharedir pkglibdir docdir);
ok($installed{"$extension/extension/$_"}, "$_ is installed") foreach 'uuid9562.control', glob 'uuid9562--*.sql';
ok(scalar(grep { m{^\Q$library\E/uuid9562\.\w+$} } keys %installed), 'and the library');

my @pages = grep { /\.md$/ } sort keys %installed;
cmp_ok(scalar(@pages), '>', 5, 'the manual is installed');
is_deeply([ grep { !m{^\Q$docdir\E/extension/uuid9562/} } @pages ], [], 'in a folder that is of no other extension');
foreach my $page (@pages)
{
	open my $file, '<', "$folder/installed/$page" or die "$page: $!";
	my $text = do { local $/; <$file> };
	my ($at) = "$folder/installed/$page" =~ m{^(.*)/};
	is_deeply([ grep { !/^https?:/ && !-e "$at/$_" } $text =~ /\]\(([^)#\s]+)[^)\s]*\)/g ], [], "$page: every link finds a file that is installed");
}

($status, $printed) = make('uninstall');
is($status, 0, 'make uninstall') or diag($printed);
is_deeply(files("$folder/installed"), [], 'leaves nothing behind');
($status, $printed) = make('coretest', 'clean');
is($status, 0, 'make builds and runs the tests of the core in another folder') or diag($printed);
is_deeply(files("$folder/built"), [], 'and make clean leaves nothing there');

# installcheck, where it cannot be
{
	local $ENV{PGHOST} = "$folder";
	($status, $printed) = make('installcheck');
	isnt($status, 0, 'make installcheck fails without a server');
	like($printed, qr/^make installcheck: .*connection to server .*\n(?:.*\n)*It needs a running PostgreSQL \d+ /m, 'and says what it needs');
}
SKIP:
{
	skip 'there is no server to ask', 2 unless $ENV{PGHOST};
	system('psql', '-XAtq', '-c', 'CREATE ROLE guest LOGIN') == 0 or die;
	local $ENV{PGUSER} = 'guest';
	($status, $printed) = make('installcheck');
	isnt($status, 0, 'make installcheck fails for a role with few rights');
	like($printed, qr/^make installcheck: role guest is no superuser\n/m, 'and says that');
}

done_testing();
