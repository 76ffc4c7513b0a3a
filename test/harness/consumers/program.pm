# A program of the folder "examples", which runs beside the schedule.  A step starts it, or lets it run for a
# moment.  It survives crashes of the server.
package consumers::program;
use ServerTest;
use Time::HiRes qw(sleep);

use parent 'Consumer';

my $python = '/usr/bin/python3';

sub can_run { return system("$python -c 'import psycopg' 2>/dev/null") == 0 }

sub command
{
	my ($self, @options) = @_;
	my ($servers, $program) = ($self->{world}{servers}, "$FindBin::Bin/examples/" . ($self->{kind}) . '.py');
	my @nodes = grep { defined } @{$servers}{qw(node standby)};
	my $source = 'host=' . join(',', map { $_->host } @nodes) . ' port=' . join(',', map { $_->port } @nodes) . ' dbname=run user=app';

	return [ $python, $program, $self->arguments($source), @options ];
}

sub step
{
	my ($self) = @_;

	$self->{target}{log} //= PostgreSQL::Test::Utils::tempdir() . "/$self->{kind}";
	$self->{process} ||= IPC::Run::start($self->command, '<', \undef, '>>', "$self->{target}{log}.out", '2>>', "$self->{target}{log}.err");
	sleep 0.1;
	return 1;
}

sub die_now { my ($self) = @_; my $process = delete $self->{process} or return; return $process->kill_kill(grace => 0) }

sub lose { return }

sub DESTROY { local $?; $_[0]->die_now }

1;
