# Functions of the tests that compare the project's files.
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
