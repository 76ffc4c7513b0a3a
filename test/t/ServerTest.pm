# What all tests with servers of their own begin with: strict and warnings, Test::More, FindBin, IPC::Run
# and PostgreSQL's modules for tests, of which IPC::Run exports nothing.
#
#	my $node = new_server('name', "conf\n", %options_of_init);	create and start a server
package ServerTest;
use strict;
use warnings;

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
	return;
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
