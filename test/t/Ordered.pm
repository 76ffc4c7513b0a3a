# A server for tests of the ordered generators.  It is a server of World.pm that preloads the
# library.
#
#	my $server = Ordered->new('name', "conf\n", %node_options) or plan skip_all => World::REASON;
package Ordered;
use ServerTest;
use World;

use parent -norequire, 'World';

sub new
{
	my ($class, $name, $conf, @node_options) = @_;

	return $class->SUPER::new($name, "shared_preload_libraries = 'uuid9562'\n" . ($conf || ''), @node_options);
}

# Return the path of the high-water mark's file.
sub mark { return $_[0]->node->data_dir . '/global/9562' }

# Run statements, and return what they print.
sub sql
{
	my ($self, @statements) = @_;
	return $self->node->safe_psql('postgres', join ";\n", @statements);
}

# Run statements, and return their output and their errors with SQLSTATE.
sub try
{
	my ($self, @statements) = @_;
	my ($status, $out, $err) = $self->node->psql('postgres', "\\set VERBOSITY verbose\n" . join(";\n", @statements), on_error_stop => 0);

	return ($out, $err);
}

sub error { return (shift->try(@_))[1] }

sub value { return $_[0]->sql('SELECT public.uuidv7_ordered()') }

# Return a column of the generator's statistics.
sub statistic
{
	my ($self, $column) = @_;
	return $self->sql("SELECT $column FROM public.uuid_generator_stats()");
}

# Start a session that generates a value and stays connected.
sub stay
{
	my ($self) = @_;
	my $session = $self->node->background_psql('postgres', on_error_stop => 0);

	$session->query('SELECT public.uuidv7_ordered()');
	return $session;
}

# Send a statement to a session, and do not wait for the result.
sub send_to
{
	my ($session, $statement) = @_;

	$session->{stdin} .= "$statement;\n";
	$session->{run}->pump_nb;
	return;
}

sub restart
{
	my ($self, $mode) = @_;

	$self->node->stop($mode || 'fast');
	$self->start;
	return;
}

sub crash { $_[0]->restart('immediate') }

# Remove the high-water mark, so that the generators start as on a new server.
sub forget
{
	my ($self) = @_;

	$self->node->stop;
	unlink $self->mark;
	$self->start;
	return;
}

# block() prevents the server from opening the file of the high-water mark, and unblock()
# allows it again.
sub block { my $mark = $_[0]->mark; (-e $mark ? chmod 0, $mark : mkdir $mark) or die }
sub unblock { my $mark = $_[0]->mark; (-d $mark ? rmdir $mark : chmod 0600, $mark) or die }

# Wait until a condition on pg_stat_activity is true for another session.
sub wait_for
{
	my ($self, $what) = @_;

	$self->node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND $what)")
	  or die "no session has: $what";
	return;
}

sub log_lines
{
	my ($self, $what) = @_;
	my @lines = slurp_file($self->node->logfile) =~ /($what)/g;

	return scalar @lines;
}

1;
