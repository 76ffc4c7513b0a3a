# Another preloaded library with shared memory of its own: both libraries get their memory,
# whichever is loaded first.
use ServerTest;
use Neighbours;

need_extension('pg_stat_statements', 'pg_stat_statements');
my $node = PostgreSQL::Test::Cluster->new('pg_stat_statements');
$node->init;
# need more memory than the reserve in PostgreSQL's shared memory
$node->append_conf('postgresql.conf', 'pg_stat_statements.max = 100000');
my $id = '';
foreach my $libraries ('pg_stat_statements, uuid9562', 'uuid9562, pg_stat_statements')
{
	$node->append_conf('postgresql.conf', "shared_preload_libraries = '$libraries'");
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION uuid9562; CREATE EXTENSION pg_stat_statements') if $id eq '';
	my $next = $node->safe_psql('postgres', 'SELECT public.uuidv7_ordered()');
	cmp_ok($next, 'gt', $id, "$libraries: an ordered value is greater than the last one");
	$id = $next;
	cmp_ok($node->safe_psql('postgres', 'SELECT public.uuidv7_horizon()'), 'gt', $id, "$libraries: the horizon is above the ordered value");
	is($node->safe_psql('postgres', q{SELECT calls FROM pg_stat_statements WHERE query = 'SELECT public.uuidv7_ordered()'}),
		$libraries =~ /^pg/ ? 1 : 2, "$libraries: pg_stat_statements counts the statement");
	is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_shmem_allocations WHERE name IN ('uuid9562', 'pg_stat_statements')}), '2', "$libraries: both libraries have shared memory");
	$node->stop;
}
done_testing();
