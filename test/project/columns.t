# Lines of src have at most 100 columns, with tabs of four.  Lines with a message can be longer,
# since users search the source for messages.
use FindBin;
use lib $FindBin::Bin;
use Project;

foreach my $file (glob 'src/*.[ch] src/*/*.[ch]')
{
	my @long;

	foreach my $line (split /\n/, slurp($file))
	{
		1 while $line =~ s/^([^\t]*)\t/$1 . ' ' x (4 - length($1) % 4)/e;
		push @long, $line if length $line > 100 && $line !~ /\berr(?:msg|detail|hint)\(|^ *(?:\.expected = )?"/;
	}
	is_deeply(\@long, [], "$file: at most 100 columns");
}

done_testing();
