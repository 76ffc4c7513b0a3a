# Whoever executes steps of a schedule: a writer (Writer.pm), or a program that reads (Consumer.pm).
# An actor has at most one statement in progress.  "world" is the Harness.
package Actor;
use strict;
use warnings;
use Session;

sub new { my ($class, %self) = @_; return bless {%self}, $class }

# Send a statement, and return true.  A later collect() calls $then with the rows of its result.
sub ask
{
	my ($self, $sql, $then) = @_;

	$self->{session} ||= Session->new($self->{name}, $self->{world}->connstr($self->{through}));
	$self->{then} = $then || sub { };
	$self->{session}->send($sql);
	return 1;
}

sub is_busy { return $_[0]{session} && $_[0]{session}{is_busy} }

# Take the result of the statement if it has ended within some seconds.
sub collect
{
	my ($self, $seconds) = @_;
	my $result = $self->{session}->poll($seconds) or return;

	delete $self->{session} if $result->{error} eq 'lost';
	return $self->failed($result) if $result->{error} ne '';
	$self->{then}->(@{ $result->{rows} });
	return 1;
}

# The server or the session has ended.
sub lose
{
	my ($self) = @_;

	delete $self->{session};
	$self->failed({ error => 'lost', message => 'the connection is lost' });
	return;
}

1;
