# Each picture of the manual is drawn from its source, keeps its labels as text, loads no other
# file, and is on a page, with an alternative text.
use Digest::SHA 'sha256_hex';
use Encode 'encode_utf8';
use File::Temp;
use FindBin;
use lib $FindBin::Bin;
use Project;

my %texts;
foreach my $page ('README.md', glob 'doc/*.md')
{
	my ($folder) = $page =~ m{^(.*/)?};
	my @images = slurp($page) =~ /!\[([^\]]*)\]\(([^)]+)\)/g;
	while (my ($text, $picture) = splice @images, 0, 2)
	{
		push @{ $texts{ ($folder // '') . $picture } }, $text;
	}
}

my ($report) = slurp('scripts/lab/pictures') =~ m{^report=\.\./(\S+)$}m;
my @sources = grep { !m{/common\.} } glob 'doc/pictures/*.{awk,pikchr}';
cmp_ok(scalar(@sources), '>', 3, 'there are sources of pictures');
is_deeply([ sort glob 'doc/pictures/*.svg' ], [ sort map { s/\.\w+$/.svg/r } @sources ], 'each source has a picture, and each picture a source');
foreach my $source (@sources)
{
	my $picture = $source =~ s/\.\w+$/.svg/r;
	my $drawn = slurp($picture) // '';
	my $text = $source =~ /\.awk$/ ? `awk -f $source doc/$report` : encode_utf8(slurp($source));
	my $digest = sha256_hex(encode_utf8(slurp('doc/pictures/common.pikchr')) . $text);

	like($drawn, qr/ SHA-256 $digest /, "scripts/lab/pictures has drawn $picture from the current $source");
	my @strings = $drawn =~ />([^<>]+)<\/text>/g;
	cmp_ok(scalar(@strings), '>=', 10, "$picture contains text");
	unlike($drawn, qr/<(?:image|script|use|foreignObject)\b|\bhref\b|\burl\(|\@import/, "$picture loads nothing");
	ok($texts{$picture}, "$picture is on a page");
	is_deeply([ grep { length $_ < 100 } @{ $texts{$picture} } ], [], "the text for $picture tells what it shows");
}

# Fossil 2.21 to 2.28 draw the same pictures.  Without Fossil, the digests above show whether the
# pictures are up to date.
SKIP:
{
	my $folder = File::Temp->newdir;

	skip 'Fossil is not installed', 2 unless grep { -x "$_/fossil" } split /:/, $ENV{PATH};
	is(system("OUT=$folder scripts/lab/pictures >$folder/output"), 0, 'scripts/lab/pictures succeeds');
	is_deeply([ grep { slurp($_) ne (slurp("$folder/" . s{.*/}{}r) // '') } glob 'doc/pictures/*.svg' ], [], 'scripts/lab/pictures draws the pictures as they are');
}

done_testing();
