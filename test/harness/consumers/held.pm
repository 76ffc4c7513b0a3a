# Three calls, with a confirmation in a transaction of its own, which lasts: nobody else should wait for it.
package consumers::held;
use parent -norequire, 'consumers::confirmed';
require consumers::confirmed;

sub confirm
{
	my ($self) = @_;

	return $self->ask(qq{BEGIN;\nSELECT changes_done(reader => '$self->{reader}', "position" => '$self->{applied}')}, sub { $self->{only_confirms} = 1; $self->{next} = 'commit' });
}

sub commit { my ($self) = @_; return $self->ask('COMMIT', sub { $self->{only_confirms} = 0; $self->confirmed }) }

sub failed { my ($self, $result) = @_; $self->{only_confirms} = 0; $self->end_session; return $self->SUPER::failed($result) }

sub restart { my ($self) = @_; $self->{only_confirms} = 0; $self->end_session; return $self->SUPER::restart }

sub die_now { my ($self) = @_; $self->{only_confirms} = 0 unless $self->{owes}; return $self->SUPER::die_now }

1;
