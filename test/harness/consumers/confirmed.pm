# Three calls, with the position of what has been applied, as the manual says.
package consumers::confirmed;
use parent 'Consumer';

sub table { return 'item' }

sub read { my ($self) = @_; return $self->ask($self->page, sub { $self->got(@_) }) }

1;
