# A connection that does not wait for its statements: psql behind two pipes.
#
#	my $session = Session->new('name', $connstr);
#	$session->send('SELECT 1');
#	$session->poll($seconds)	wait at most so long; return the result, or undef if the statement runs
#	$session->run('SELECT 1')	send and wait
#	$session->close
#
# A result has "rows", references to lists of fields, and "error": the SQLSTATE of the first error, "lost" if
# the connection is lost, or an empty text.  Later statements can succeed, such as COMMIT, or fail for another
# reason, so errors are what psql writes about all of them.
package Session;
use strict;
use warnings;
use IPC::Open3;
use Time::HiRes qw(time);

sub new
{
	my ($class, $name, $connstr) = @_;
	my $self = bless { name => $name, buffer => '' }, $class;

	local $ENV{PGCONNECT_TIMEOUT} = 30;
	open $self->{errors}, '+>', undef or die "a temporary file: $!";
	$self->{pid} = open3($self->{in}, $self->{out}, '>&' . fileno $self->{errors}, 'psql', '-XAtqv', 'VERBOSITY=verbose', '-d', "$connstr application_name=$name");
	$self->{in}->autoflush(1);
	return $self;
}

sub send
{
	my ($self, $sql) = @_;
	local $SIG{PIPE} = 'IGNORE';

	$self->{is_busy} = 1;
	print { $self->{in} } "$sql;\n\\echo '\001' :SQLSTATE\n";
	return;
}

sub poll
{
	my ($self, $seconds) = @_;
	my $end = time + $seconds;
	my $bits = '';

	vec($bits, fileno $self->{out}, 1) = 1;
	while (1)
	{
		if ($self->{buffer} =~ /^(.*?)^\001 (\w*)\n\z/ms)
		{
			my ($rows, $state) = ($1, $2);

			# psql can survive the loss of its connection, which has no SQLSTATE
			return $self->lost if $state eq '';
			# psql, which writes to the same place of the file, waits
			sysseek $self->{errors}, 0, 0;
			sysread $self->{errors}, my $errors, 1e6;
			truncate $self->{errors}, 0;
			sysseek $self->{errors}, 0, 0;
			my ($error, $message) = $errors =~ /^(?:ERROR|FATAL|PANIC):  (\w{5}): (.*)/m;
			$self->{buffer} = '';
			$self->{is_busy} = 0;
			return { rows => [ map { [ split /\|/, $_, -1 ] } split /\n/, $rows ], error => $error // '', message => $message // '' };
		}
		my $left = $end - time;
		my $count = select(my $ready = $bits, undef, undef, $left > 0 ? $left : 0) or return;
		next if $count < 0 && $!{EINTR};
		next if sysread $self->{out}, $self->{buffer}, 65536, length $self->{buffer};
		return $self->lost;
	}
	return;
}

sub lost { my ($self) = @_; $self->close; return { rows => [], error => 'lost', message => 'the connection is lost' } }

sub run
{
	my ($self, $sql) = @_;

	$self->send($sql);
	return $self->poll(180) || die "$self->{name}: no result of $sql";
}

# End psql, whose server session ends at its next statement or at once.
sub close
{
	my ($self) = @_;
	my $pid = delete $self->{pid} or return;
	local $?;

	$self->{is_busy} = 0;
	kill KILL => $pid;
	close $self->{$_} foreach 'in', 'out', 'errors';
	waitpid $pid, 0;
	return;
}

sub DESTROY { $_[0]->close }

1;
