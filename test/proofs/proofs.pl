# Prove the properties of headers of src/core in this folder, for all values.
#
#	perl test/proofs/proofs.pl [PART OF A NAME]
#
# CBMC decides each property.  Then check that the properties reach each function of these headers.
use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Basename;
use File::Temp qw(tempdir);
use Test::More;

use lib dirname(__FILE__);
use Proofs;

my $proofs = Proofs->new(abs_path(dirname(__FILE__) . '/../..'), tempdir(CLEANUP => 1));
my $only = shift @ARGV;
my %reached;
my $seconds = 0;

foreach my $file ($proofs->files)
{
	my $in_file = 0;

	$proofs->compile($file);
	$reached{$_} = 1 foreach $proofs->reached($file);
	foreach my $property ($proofs->properties($file))
	{
		my ($name, $options) = @$property;
		next if defined $only && index("$file.c $name", $only) < 0;
		my ($holds, $failures, $time) = $proofs->decide($file, $name, $options);
		ok($holds, "$file.c: $name" =~ tr/_/ /r) or diag($failures);
		note(sprintf '%.1f s', $time) if $time > 1;
		$in_file += $time;
	}
	note(sprintf '%s.c: %.0f s', $file, $in_file) if $in_file;
	$seconds += $in_file;
}
my @missing = grep { !$reached{$_} } $proofs->core_functions;
is("@missing", '', 'the properties reach each function of their headers') if !defined $only;
note(sprintf 'all proofs: %.0f s', $seconds);
done_testing();
