# Functions for the tests with other extensions: check whether an extension is installed,
# return the tables that a plan scans, and count the tables that are removed at execution.
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

# Return why the test with an extension cannot run, or undef if it can run.
sub why_not
{
	my ($extension, $name) = @_;
	my ($major) = pg_config('version') =~ /^PostgreSQL (\d+)/;

	return undef if -f pg_config('sharedir') . "/extension/$extension.control";
	return "$name is not installed for PostgreSQL $major";
}

# Run statements, and return the plan of the last one.
sub plan_of
{
	my ($node, $database, @statements) = @_;
	my $last = pop @statements;

	return $node->safe_psql($database, join ";\n", @statements, "EXPLAIN (COSTS OFF) $last");
}

# Return the tables that a plan scans, as a sorted string.
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

# Return the tables that the last statement scans.
sub scanned { return tables_in(plan_of(@_)) }

# Return the number of partitions or chunks that are removed from the plan of the last
# statement when execution starts.
sub removed
{
	return plan_of(@_) =~ /(?:Subplans Removed|Chunks excluded during startup): (\d+)/ ? $1 : 0;
}

1;
