# Three calls after changes_wait(), which must return if there is something to read; see do_woken() of Harness.pm.
package consumers::waiting;
use parent -norequire, 'consumers::confirmed';
require consumers::confirmed;

sub read
{
	my ($self) = @_;

	# at the end of a run, nothing comes
	return $self->SUPER::read if delete $self->{is_woken} || $self->{chance} == 40;
	$self->{waits} = 1;
	return $self->ask("CALL changes_wait('$self->{reader}', 'item', '60 s')", sub { @{$self}{qw(waits is_woken said)} = (0, 1, 'is woken') });
}

sub failed { my ($self, $result) = @_; $self->{waits} = 0; return $self->SUPER::failed($result) }

sub die_now { my ($self) = @_; $self->{waits} = 0 unless $self->{owes}; return $self->SUPER::die_now }

1;
