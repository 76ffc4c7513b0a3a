# What the packages say again is what the project says: who maintains it, under which
# license, for which PostgreSQL.
use strict;
use warnings;

use JSON::PP;
use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

my $meta = decode_json(slurp('META.json'));
my $template = slurp('debian/control.in');
my $copyright = slurp('debian/copyright');

my ($maintainer) = $template =~ /^Maintainer: (.* <.*>)$/m;
like($maintainer, qr/^\Q$meta->{maintainer}\E </, 'the Debian package has the maintainer of META.json');
like(slurp('debian/changelog'), qr/^ -- \Q$maintainer\E  /m, 'and its changelog too');
like($copyright, qr/^Upstream-Contact: \Q$meta->{maintainer}\E$/m, 'and its copyright names them');

my ($holder, $terms) = slurp('LICENSE') =~ /^Copyright \(c\) (.*?)\n\n(.*)/ms;
like($copyright, qr/^Copyright: \Q$holder\E$/m, 'debian/copyright has the copyright of LICENSE');
my ($repeated) = $copyright =~ /^License: PostgreSQL\n((?: .*\n)+)/m;
is($repeated =~ s/^ \.?//gmr, $terms, 'and its terms');

# debian/control is what "pg_buildext updatecontrol" makes, for whichever versions
my $control = slurp('debian/control');
my @majors = $control =~ /^Package: postgresql-(\d+)-uuid9562$/mg;
cmp_ok(scalar(@majors), '>', 0, 'debian/control has packages');
my ($source, $package) = split /\n\n/, $template;
is($control =~ s/\n+\z//r, join("\n\n", $source, map { $package =~ s/PGVERSION/$_/gr =~ s/\n+\z//r } @majors),
	'and is made of debian/control.in');

my ($least) = slurp('debian/pgversions') =~ /^(\d+)\+$/m;
is("$least.0.0", $meta->{prereqs}{runtime}{requires}{PostgreSQL}, 'META.json and debian/pgversions have the same least PostgreSQL');
like(slurp('scripts/common.sh'), qr/"\$major" -ge $least /, 'and so have the scripts');

done_testing();
