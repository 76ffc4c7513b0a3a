# The charts of doc/benchmarks: no label leaves the canvas or has lost its underscores
# to subscripts, and all can be read at half their size.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Project;
use Test::More;

# The width of a letter on average in a wide font such as DejaVu Sans, in its size
my $letter = 0.64;

my @charts = glob 'doc/benchmarks/*/*.svg';
cmp_ok(scalar(@charts), '>', 0, 'there are charts');
foreach my $chart (@charts)
{
	my $svg = slurp($chart);
	my ($width, $height) = $svg =~ /viewBox="0 0 (\d+) (\d+)"/;
	my $label = qr{<g transform="translate\(([\d.]+),([\d.]+)\)[^>]*font-size="([\d.]+)"\s+text-anchor="(\w+)">\s*<text>(.*?)</text>}s;
	my ($labels, @outside, @small) = (0);

	while ($svg =~ /$label/g)
	{
		my ($x, $y, $size, $anchor, $text) = ($1, $2, $3, $4, $5);
		my $long = $letter * $size * length($text =~ s/&\w+;/_/gr);
		my $left = $x - { start => 0, middle => $long / 2, end => $long }->{$anchor};

		$labels++;
		push @outside, $text if $left < 0 || $left + $long > $width || $y - $size < 0 || $y > $height;
		push @small, $text if $size < $width / 60;
	}
	is($labels, () = $svg =~ /<text/g, "$chart: its labels are found");
	is_deeply(\@outside, [], "$chart: each is on the canvas");
	is_deeply(\@small, [], "$chart: each is large enough");
	unlike($svg, qr/ dy=/, "$chart: none has a subscript");
	like($svg, qr/<rect[^>]*fill="#ffffff"/, "$chart: has a background of its own, for dark pages");
}

done_testing();
