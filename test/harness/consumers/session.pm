# Three calls, each in a transaction of its own, where the confirmation names no position.  A server that
# refuses that gets the position.
package consumers::session;
use parent -norequire, 'consumers::confirmed';
require consumers::confirmed;

sub confirm
{
	my ($self) = @_;

	# the whole page, or the applied part
	return $self->SUPER::confirm if @{ $self->{page} } || delete $self->{is_refused};
	$self->{names_nothing} = 1;
	return $self->ask("SELECT changes_done(reader => '$self->{reader}')", sub { $self->confirmed });
}

sub failed
{
	my ($self, $result) = @_;

	return $self->SUPER::failed($result) if !delete $self->{names_nothing} || $self->is_passing($result);
	$self->{is_refused} = 1;
	return "fails: $result->{message}";
}

sub confirmed { my ($self) = @_; $self->{names_nothing} = 0; return $self->SUPER::confirmed }

1;
