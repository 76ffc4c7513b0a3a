# scripts/release, with the long commands that it runs replaced: what it refuses, and
# what it makes.
use strict;
use warnings;

use File::Temp;
use Test::More;

plan skip_all => 'there is no git' if system('git --version >/dev/null 2>&1') != 0;

my $folder = File::Temp->newdir;
my $checkout = "$folder/uuid9562";
my $git = "git -C $checkout -c user.name=test -c user.email=test\@localhost -c gc.auto=0";

# Replace $from by $to in a file of the copy.
sub edit
{
	my ($name, $from, $to) = @_;

	open my $in, '<', "$checkout/$name" or die "$name: $!";
	my $text = do { local $/; <$in> };
	$text =~ s/$from/$to/ or die "$name has no $from";
	open my $out, '>', "$checkout/$name" or die "$name: $!";
	print $out $text;
	close $out;
}

sub replace
{
	my ($name, $command) = @_;

	open my $out, '>', "$checkout/$name" or die "$name: $!";
	print $out "#!/bin/sh\n$command\n";
	close $out;
}

sub commit { system("$git add -A && $git commit -qm test") == 0 or die }

sub release
{
	my $printed = `$checkout/scripts/release @_ 2>&1`;
	return ($? >> 8, $printed);
}

is(system('bash', '-c', ". scripts/common.sh && copy_checkout $checkout"), 0, 'the checkout is copied');
replace('scripts/matrix', 'echo all pass');
replace('scripts/package', 'echo packaged >"$OUT/package"');
# what they agree on is tested in test/project, and needs a checkout
system("rm -r $checkout/test/project") == 0 or die;
mkdir "$checkout/test/project" or die $!;
open my $agree, '>', "$checkout/test/project/agree.t" or die $!;
print $agree "print qq(1..1\\nok 1\\n);\n";
close $agree;
is(`bash -c '. $checkout/scripts/common.sh && need_repository $folder/repository && in_git ls-files uuid9562.control && in_git status --porcelain' 2>&1`,
	"uuid9562.control\n", 'the files of a release tarball become a repository of their own');
my ($status, $printed) = release('1.2');
like($printed, qr/^  - git: there is no repository$/m, 'a release tarball is not released again');
system("$git init -q") == 0 or die;

my ($version) = do { open my $control, '<', 'uuid9562.control' or die $!; local $/; <$control> =~ /^default_version = '(.*)'/m };
# as if this version were being made, whether it is or was
edit('CHANGELOG.md', qr/^## \Q$version\E\n\n(?:Not yet released\. ?)?/m, "## $version\n\nNot yet released. ");
edit('debian/changelog', qr/\) \w+;/, ') UNRELEASED;');
commit();

($status, $printed) = release('9.9');
isnt($status, 0, 'a version that the files do not have is refused');
like($printed, qr/^  - \Q$_\E: .*9\.9/m, "$_ is named") foreach qw(uuid9562.control uuid9562--*.sql META.json CHANGELOG.md debian/changelog rpm/uuid9562.spec);

($status, $printed) = release($version);
isnt($status, 0, 'a version that is not said to be released is refused');
is($printed, "release: not released\n  - CHANGELOG.md: $version is marked as not yet released\n  - debian/changelog: $version is marked as UNRELEASED\n",
	'for these two reasons');

edit('CHANGELOG.md', qr/Not yet released\. /, '');
edit('debian/changelog', qr/UNRELEASED/, 'unstable');
($status, $printed) = release($version);
is($printed, "release: not released\n  - git: there are uncommitted changes; see git status\n", 'and so is what is not committed');
commit();

replace('scripts/matrix', 'exit 77');
commit();
($status, $printed) = release($version);
isnt($status, 0, 'where a tree could not be made there is no release');
ok(!-e "$checkout/packages", 'and no file');

replace('scripts/matrix', 'echo all pass');
commit();
($status, $printed) = release($version);
is($status, 0, 'a version that is ready is made') or diag($printed);
my $out = "$checkout/packages/$version";
is_deeply([ map { s{.*/}{}r } sort glob "$out/*" ], [ 'SHA256SUMS', 'package', "uuid9562-$version.tar.gz" ], 'its files are the tarball, the packages and their checksums');
is(system("cd $out && sha256sum --quiet -c SHA256SUMS"), 0, 'which are right');
is(`tar xzOf $out/uuid9562-$version.tar.gz uuid9562-$version/uuid9562.control`, `cat uuid9562.control`, 'the tarball has the files');
chomp(my $head = `$git rev-parse HEAD`);
like($printed, qr/^\tgit tag -a -m "uuid9562 \Q$version\E" v\Q$version\E $head\n\z/m, 'and the tag to set is named');

system("$git tag v$version") == 0 or die;
($status, $printed) = release($version);
is($printed, "release: not released\n  - git: tag v$version already exists\n", 'a version is released once');

done_testing();
