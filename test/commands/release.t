# Test what scripts/release refuses, and which files it creates.  Short scripts replace
# scripts/lab/matrix and scripts/package, which take a long time.
use strict;
use warnings;

use File::Temp;
use JSON::PP;
use Test::More;

plan skip_all => 'there is no git' if system('git --version >/dev/null 2>&1') != 0;

my $folder = File::Temp->newdir;
my $checkout = "$folder/uuid9562";
my $git = "git -C $checkout -c user.name=test -c user.email=test\@localhost -c gc.auto=0";

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!"; local $/; return <$in> }

sub replace
{
	my ($name, $text) = @_;

	open my $out, '>', "$checkout/$name" or die "$name: $!";
	print $out $text;
	close $out;
}

# Replace $from by $to in a file of the copied checkout.
sub edit
{
	my ($name, $from, $to) = @_;

	replace($name, slurp("$checkout/$name") =~ s/$from/$to/r);
}

sub commit { system("$git add -A && $git commit -qm test") == 0 or die }

sub is_refused
{
	my ($version, $reasons, $name) = @_;

	is(`$checkout/scripts/release $version 2>&1`, "release: not released\n  - $reasons\n", $name);
}

system('bash', '-c', ". scripts/lib/common.sh && copy_checkout $checkout") == 0 or die;
replace('scripts/lab/matrix', "#!/bin/sh\nexit 77\n");
replace('scripts/package', "#!/bin/sh\necho packaged >\$OUT/package\n");
# replace test/project by a test that fails
system("rm -r $checkout/test/project && mkdir $checkout/test/project") == 0 or die;
replace('test/project/agree.t', "print qq(1..1\\nnot ok 1\\n);\n");
is(`bash -c '. $checkout/scripts/lib/common.sh && need_repository $folder/repository && in_git ls-files uuid9562.control && in_git status --porcelain' 2>&1`,
	"uuid9562.control\n", 'need_repository makes the files of a release tarball a repository');
like(`$checkout/scripts/release 1.0 2>&1`, qr/^  - git: there is no repository$/m, 'scripts/release refuses a release tarball, which has no repository');
system("$git init -q") == 0 or die;

my ($version) = slurp('uuid9562.control') =~ /^default_version = '(.*)'/m;
# mark the version as not yet released
edit('CHANGELOG.md', qr/^## \Q$version\E\n\n(?:Not yet released\. ?|Released on \S+ ?)?/m, "## $version\n\nNot yet released. ");
edit('debian/changelog', qr/\) \w+;/, ') UNRELEASED;');
commit();

like(`$checkout/scripts/release 9.9 2>&1`, qr/^  - uuid9562\.control: default_version is not 9\.9$/m, 'a version that the control file does not have is refused');
my $placeholders = "git: there are placeholders of addresses; see git grep -F repository.invalid";
my $clone = "README.md: the installation does not begin with git clone -b v$version";
is_refused($version, "CHANGELOG.md: $version has no date, such as \"Released on 2026-11-22.\"\n  - $clone\n  - debian/changelog: $version is marked as UNRELEASED\n"
	. "  - test/project: the project's files do not agree: prove test/project/*.t\n  - $placeholders", 'an undated version, a test that fails and placeholders are refused');
replace('test/project/agree.t', "print qq(1..1\\nok 1\\n);\n");
edit('CHANGELOG.md', qr/Not yet released\. /, 'Released on 2026-11-22. ');
edit('debian/changelog', qr/UNRELEASED/, 'unstable');
system("cd $checkout && git grep -l repository.invalid | grep -v -e ^scripts/ -e ^test/ | xargs sed -i s/repository.invalid/example.org/") == 0 or die;
commit();
is_refused($version, $clone, 'a README that does not install from the tag is refused');
my $printed = `$checkout/scripts/release --check $version 2>&1`;
is($? >> 8, 1, '--check fails if something prevents the release');
like($printed, qr/^release: not released\n  - \Q$clone\E\n\nTo publish it/, '--check prints what prevents the release, and what remains');
edit('README.md', qr/^make install$/m, "git clone -b v$version https://example.org/uuid9562\nmake -C uuid9562 install");
edit('SECURITY.md', qr/maintainer\@example\.org/, 'maintainer@repository.invalid');
commit();
is_refused($version, $placeholders, 'a placeholder of the address for reports of vulnerabilities is refused');
edit('SECURITY.md', qr/maintainer\@repository\.invalid/, 'maintainer@example.org');
is_refused($version, 'git: there are uncommitted changes; see git status', 'uncommitted changes are refused');
commit();
$printed = `$checkout/scripts/release $version 2>&1`;
ok($? && !-e "$checkout/packages", 'there is no release if scripts/lab/matrix fails');

$printed = `$checkout/scripts/release --check $version 2>&1`;
is($?, 0, '--check succeeds if nothing prevents the release');
like($printed, qr/\A\nTo publish it, .*^To announce it, .*^- Show HN/ms, '--check prints only what remains');
ok(!-e "$checkout/packages", '--check makes no files');

replace('scripts/lab/matrix', "#!/bin/sh\n");
commit();
$printed = `$checkout/scripts/release $version 2>&1`;
is($?, 0, 'a version that is ready is released') or diag($printed);
my $out = "$checkout/packages/$version";
is_deeply([ map { s{.*/}{}r } sort glob "$out/*" ], [ 'SHA256SUMS', 'package', "uuid9562-$version.spdx.json" ], 'a release has the packages, the list of components, and checksums');
is(system("cd $out && sha256sum --quiet -c SHA256SUMS"), 0, 'the checksums are right');
chomp(my $head = `$git rev-parse HEAD`);
my $sbom = decode_json(slurp("$out/uuid9562-$version.spdx.json"));
is_deeply([ map { "$_->{checksums}[1]{checksumValue}  $_->{fileName}" } @{ $sbom->{files} } ], [ map { s{  }{  ./}r } split /\n/, `cd $out && sha256sum package` ],
	'the list of components has the files and their checksums');
is_deeply([ map { "$_->{name} $_->{licenseDeclared}" } @{ $sbom->{packages} } ], [ 'uuid9562 PostgreSQL', 'PostgreSQL PostgreSQL', 'OpenSSL Apache-2.0' ],
	'the list of components has the libraries, with their licenses');
is($sbom->{packages}[0]{downloadLocation}, "git+https://example.org/uuid9562.git\@$head", 'the list of components has the commit');
like($printed, qr/^2\. Tag: git tag -a -m 'uuid9562 \Q$version\E' v\Q$version\E $head && git push origin v\Q$version\E$/m, 'the command that sets the tag is printed');

system("$git tag v$version") == 0 or die;
is_refused($version, "git: tag v$version already exists", 'a version that has a tag is not released again');

done_testing();
