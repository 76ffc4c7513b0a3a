# What the tests with neighbours share: is the neighbour installed, which
# partitions does a plan scan.
package Neighbours;

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT = qw(why_not tables_in scanned removed);

sub pg_config
{
	my ($what) = @_;
	my $program = $ENV{PG_CONFIG} || 'pg_config';

	chomp(my $value = `$program --$what`);
	return $value;
}

# Why a test with that extension cannot run here; undef when it can.
sub why_not
{
	my ($extension, $name) = @_;
	my ($major) = pg_config('version') =~ /^PostgreSQL (\d+)/;

	return undef if -f pg_config('sharedir') . "/extension/$extension.control";
	return "$name is not installed for PostgreSQL $major";
}

# The plan of the last of the statements, as text.
sub plan_of
{
	my ($node, $database, @statements) = @_;
	my $last = pop @statements;

	return $node->safe_psql($database, join ";\n", @statements, "EXPLAIN (COSTS OFF) $last");
}

# The tables that a plan scans, in order and in one string.
sub tables_in
{
	my ($plan) = @_;
	my %tables;

	foreach (split /\n/, $plan)
	{
		$tables{$1} = 1
		  if /(?:(?:Seq|Bitmap Heap) Scan|Index (?:Only )?Scan (?:Backward )?using (?:"[^"]*"|\S+)) on (\w+)/;
	}
	return join ' ', sort keys %tables;
}

# Those that the last of the statements scans.
sub scanned { return tables_in(plan_of(@_)) }

# How many partitions or chunks executing it leaves out, of those in the plan.
sub removed
{
	return plan_of(@_) =~ /(?:Subplans Removed|Chunks excluded during startup): (\d+)/ ? $1 : 0;
}

1;
