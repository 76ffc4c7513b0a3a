# A function for the tests of this folder, which compare files of the project.
package Project;
use strict;
use warnings;

use Exporter 'import';
our @EXPORT = ('slurp');

# Return the text of a file; undef if it does not exist.
sub slurp
{
	my ($name) = @_;
	open my $file, '<:encoding(UTF-8)', $name or return undef;
	local $/;
	return scalar <$file>;
}

1;
