# What the tests of the project's files share.
package Project;
use strict;
use warnings;

use Exporter 'import';
our @EXPORT = ('slurp');

# The text of a file, undef when there is none.
sub slurp
{
	my ($name) = @_;
	open my $file, '<:encoding(UTF-8)', $name or return undef;
	local $/;
	return scalar <$file>;
}

1;
