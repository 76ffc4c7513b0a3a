# Functions for the tests with other extensions: skip a test whose extension is not
# installed, return the tables that a plan scans, and count the tables that are removed at execution.
package Neighbours;
use Exporter 'import';
use ServerTest;

our @EXPORT = qw(need_extension tables_in scanned removed);

sub pg_config
{
	my ($what) = @_;
	my $program = $ENV{PG_CONFIG} || 'pg_config';

	chomp(my $value = `$program --$what`);
	return $value;
}

# Skip the test if an extension is not installed.
sub need_extension
{
	my ($extension, $name) = @_;
	my ($major) = pg_config('version') =~ /^PostgreSQL (\d+)/;

	return if -f pg_config('sharedir') . "/extension/$extension.control";
	plan skip_all => "$name is not installed for PostgreSQL $major";
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
