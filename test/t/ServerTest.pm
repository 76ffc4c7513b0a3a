# What all tests with servers of their own begin with: strict and warnings, Test::More, FindBin, IPC::Run
# and PostgreSQL's modules for tests, of which IPC::Run exports nothing.
#
#	my $node = new_server('name', "conf\n", %options_of_init);	create and start a server
#
# A test that runs for more than a quarter of an hour, beside HARNESS_SECONDS and UUID9562_PAGE_SECONDS,
# fails, and shows where it and the sessions of its servers wait.
package ServerTest;
use strict;
use warnings;

use Carp ();
use FindBin;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use parent 'Exporter';

our @EXPORT = ('new_server', @PostgreSQL::Test::Utils::EXPORT, @Test::More::EXPORT);

sub import
{
	strict->import;
	warnings->import;
	__PACKAGE__->export_to_level(1, @_);
	$SIG{ALRM} = \&give_up;
	alarm(900 + ($ENV{HARNESS_SECONDS} || 0) + ($ENV{UUID9562_PAGE_SECONDS} || 0));
	return;
}

# Show where the test and the sessions of all servers wait, and end the test.
sub give_up
{
	diag(Carp::longmess("$0 does not end, it waits"));
	foreach my $file (glob("$ENV{TESTDATADIR}/{,tmp_check/}*/*/postmaster.pid"))
	{
		my (undef, $data, undef, $port, $host) = split /\n/, slurp_file($file);

		diag("$data: " . `timeout 10 psql -XAtd 'host=$host port=$port dbname=postgres' -c "SELECT pid, application_name, state, wait_event_type, wait_event, pg_blocking_pids(pid), query FROM pg_stat_activity" 2>&1`);
	}
	diag(`ps --ppid 2 -p 2 --deselect -o pid,ppid,etime,stat,wchan:24,args | cut -c 1-160`);
	exit 1;
}

sub new_server
{
	my ($name, $conf, %options) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init(%options);
	$node->append_conf('postgresql.conf', $conf // '');
	$node->start;
	return $node;
}

1;
