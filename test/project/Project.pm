# What all tests of this folder begin with: strict and warnings, Test::More, and a function that reads a
# file of the project.
package Project;
use strict;
use warnings;

use Test::More;

use parent 'Exporter';

our @EXPORT = ('slurp', @Test::More::EXPORT);

sub import
{
	strict->import;
	warnings->import;
	__PACKAGE__->export_to_level(1, @_);
	return;
}

# Return the text of a file; undef if it does not exist.
sub slurp
{
	my ($name) = @_;
	open my $file, '<:encoding(UTF-8)', $name or return undef;
	local $/;
	return scalar <$file>;
}

1;
