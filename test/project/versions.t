# The version number is the same in the control file, in META.json, in the name of the
# install script and in the changelogs.  META.json conforms to the PGXN Meta Spec.
use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use Project;

my ($version) = slurp('uuid9562.control') =~ /^default_version = '(\d+\.\d+)'$/m;
ok($version, 'the control file has a version of two numbers');

my $meta = decode_json(slurp('META.json'));
is($meta->{version}, "$version.0", 'META.json has the version as three numbers');
my @extensions = map { s/\.control$//r } glob '*.control';
is_deeply([ sort keys %{ $meta->{provides} } ], [ sort @extensions ], 'META.json provides each extension');
foreach my $extension (@extensions)
{
	my ($provided, $control) = ($meta->{provides}{$extension}, slurp("$extension.control"));
	my ($script) = glob "$extension--*$version.sql";
	my ($comment) = $control =~ /^comment = '(.*)'$/m;

	like($control, qr/^default_version = '\Q$version\E'$/m, "$extension.control has the version");
	is($provided->{version}, "$version.0", "META.json provides the same version of $extension");
	is($provided->{file}, $script, "META.json names the install script of the version of $extension");
	ok(-f $provided->{docfile}, "the docfile of $extension exists");
	is(lcfirst $provided->{abstract}, $comment, "META.json has the comment of $extension.control");
	like(slurp("managed/$extension.control"), qr/^default_version = '\Q$version\E\.0'$/m, "$extension without C has the version as three numbers");
	like(slurp('rpm/uuid9562.spec'), qr/^%\{pgsharedir\}\/extension\/\Q$_\E$/m, "the RPM has $_") foreach "$extension.control" =~ s/uuid9562/%{sname}/r, "$extension--*.sql" =~ s/uuid9562/%{sname}/r;
	like(slurp('.dockerignore'), qr/^!\Q$_\E$/m, "the image is built from $_") foreach "$extension.control", "$extension--*.sql";
}
like(slurp($_), qr{^/\* \Q$_\E \*/}, "the first line of $_ has its name") foreach glob 'uuid9562*--*.sql';
my ($newest) = slurp('CHANGELOG.md') =~ /^## (\S+)/m;
is($newest, $version, 'the changelog begins with the version');
like(slurp('debian/changelog'), qr/\Auuid9562 \(\Q$version\E-\d+\) /, 'debian/changelog begins with the version');
unlike(slurp('Makefile'), qr/\Q$version\E/, 'the Makefile reads the version from the control file');
unlike(slurp($_) =~ s/CC0-1\.0//r, qr/\Q$version\E/, "$_ does not repeat the version")
  foreach 'scripts/package', 'scripts/lab/sbom', 'Dockerfile', 'debian/rules', 'debian/control.in', 'nix/default.nix';

my ($in_spec) = slurp('rpm/uuid9562.spec') =~ /^Version:\s*(\S+)$/m;
is($in_spec, $version, 'the RPM spec has the version');
like(slurp('rpm/uuid9562.spec'), qr/^%changelog\n\* .* - \Q$version\E-\d+PGDG$/m, 'the changelog of the RPM has the version');
like(slurp('CITATION.cff'), qr/^version: "\Q$version\E"$/m, 'CITATION.cff has the version');
my %in_metadata = map { $_ => 1 } slurp('cloudnativepg/metadata.hcl') =~ /^ +(?:package|sql) += "([\d.]+)/mg;
is_deeply([ keys %in_metadata ], [$version], 'metadata.hcl has the version');

# Makefile.win repeats the version and the lists of files, since nmake can read neither the
# control file nor Makefile
my ($on_windows, $elsewhere) = map { slurp($_) =~ s/\\\n\s*//gr } 'Makefile.win', 'Makefile';
like($on_windows, qr/^EXTVERSION = \Q$version\E$/m, 'Makefile.win has the version');
foreach my $list (qw(OBJS REGRESS))
{
	my ($here, $there) = map { /^$list = (.*)$/m } $on_windows, $elsewhere;
	is($here =~ tr{\\}{/}r =~ s/\.obj\b/.o/gr, $there, "Makefile.win has the $list of Makefile");
}
my %folders = map { $_ => 1 } $on_windows =~ /\s(src\S*)\\\w+\.obj/g;
is_deeply([ sort($on_windows =~ /^\{(\S+)\}\.c\{\1\}\.obj:$/mg) ], [ sort keys %folders ], 'Makefile.win has a rule for each folder of OBJS');

# META.json has the keys that PGXN Meta Spec 1.0.0 requires, and only keys that this spec
# has or that begin with x_
my %known = map { $_ => 1 } qw(name version abstract maintainer license provides meta-spec
  description generated_by no_index prereqs release_status resources tags);
is_deeply([ grep { !$meta->{$_} } qw(name version abstract maintainer license provides meta-spec) ], [], 'META.json has the required keys');
is_deeply([ grep { !$known{$_} && !/^x_/i } sort keys %$meta ], [], 'META.json has no unknown key');
like(slurp('mkdocs.yml'), qr/^site_description: \Q$meta->{abstract}\E$/m, 'the description of the site is the abstract of META.json');

done_testing();
