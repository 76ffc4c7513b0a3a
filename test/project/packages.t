# The files of the packages agree with META.json, LICENSE and each other.
use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use Project;

my $meta = decode_json(slurp('META.json'));
my $template = slurp('debian/control.in');
my $copyright = slurp('debian/copyright');

my $maintainer = $meta->{maintainer};
like($maintainer, qr/ <.+@.+>$/, 'META.json has the maintainer and an address');
like($template, qr/^Maintainer: \Q$maintainer\E$/m, 'the Debian package has the same maintainer');
like(slurp('debian/changelog'), qr/^ -- \Q$maintainer\E  /m, 'the Debian changelog has the same maintainer');
like($copyright, qr/^Upstream-Contact: \Q$maintainer\E$/m, 'debian/copyright has the same maintainer');
like(slurp('rpm/uuid9562.spec'), qr/^\* .* \Q$maintainer\E - /m, 'the RPM changelog has the same maintainer');
my ($mail) = $maintainer =~ /(<.*>)$/;
like(slurp('SECURITY.md'), qr/^## Report a vulnerability\n.*\Q$mail\E/ms, 'SECURITY.md has the address of the maintainer');

my $address = $meta->{resources}{homepage};
is_deeply($meta->{resources}, {
	homepage => $address,
	bugtracker => { web => "$address/issues" },
	repository => { type => 'git', url => "$address.git", web => $address } }, 'META.json has one address of the repository');
like($template, qr/^$_$/m, "debian/control.in has $_")
  foreach "Homepage: \Q$address\E", "Vcs-Browser: \Q$address\E", "Vcs-Git: \Q$address.git\E";
like($copyright, qr/^Source: \Q$address\E$/m, 'debian/copyright has the same address');
like(slurp('debian/watch'), qr{^\Q$address/tags\E }m, 'debian/watch has the address of the tags');
like(slurp('rpm/uuid9562.spec'), qr/^URL:\s+\Q$address\E$/m, 'the RPM spec has the same address');
like(slurp('mkdocs.yml'), qr/^repo_url: .*'\Q$address\E'\]$/m, 'the site has the same address');
like(slurp($_), qr/\(\Q$address\E\)/, "$_ has the same address") foreach 'managed/README.md', 'SECURITY.md';
like(slurp('CITATION.cff'), qr/^repository-code: \Q$address\E$/m, 'CITATION.cff has the same address');
like(slurp('CITATION.cff'), qr/^  - name: \Q$meta->{generated_by}\E$/m, 'CITATION.cff has the maintainer');
like(slurp('nix/default.nix'), qr/homepage = "\Q$address\E";/, 'the derivation for Nix has the same address');
like(slurp($_), qr/^ *(?:abstract: |description = ")\Q$meta->{abstract}\E(?:";)?$/m, "$_ has the abstract of META.json") foreach 'CITATION.cff', 'nix/default.nix';

my ($holder, $terms) = slurp('LICENSE') =~ /^Copyright \(c\) (.*?)\n\n(.*)/ms;
like($copyright, qr/^Copyright: \Q$holder\E$/m, 'debian/copyright has the copyright of LICENSE');
my ($repeated) = $copyright =~ /^License: PostgreSQL\n((?: .*\n)+)/m;
is($repeated =~ s/^ \.?//gmr, $terms, 'the copyright file repeats the terms of the license');

# debian/control is the output of "pg_buildext updatecontrol" for debian/control.in and the
# PostgreSQL versions that debian/control has
my $control = slurp('debian/control');
my @majors = $control =~ /^Package: postgresql-(\d+)-uuid9562$/mg;
cmp_ok(scalar(@majors), '>', 0, 'debian/control has packages');
my ($source, $package) = split /\n\n/, $template;
is($control =~ s/\n+\z//r, join("\n\n", $source, map { $package =~ s/PGVERSION/$_/gr =~ s/\n+\z//r } @majors),
	'debian/control is generated from debian/control.in');

my ($least) = slurp('debian/pgversions') =~ /^(\d+)\+$/m;
is("$least.0.0", $meta->{prereqs}{runtime}{requires}{PostgreSQL}, 'META.json and debian/pgversions require the same PostgreSQL version');
like(slurp('scripts/lib/common.sh'), qr/"\$major" -ge $least /, 'the scripts require the same PostgreSQL version');

done_testing();
