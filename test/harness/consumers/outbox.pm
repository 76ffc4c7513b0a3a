# A reader of an outbox: it gets inserted rows, delivers them, and confirms what it has delivered.
package consumers::outbox;
use parent 'Consumer';

sub table { return 'outbox' }

sub read { my ($self) = @_; return $self->ask($self->page, sub { $self->got(@_) }) }

# A receiver can get a row again, and ignores it.
sub apply
{
	my ($self) = @_;
	my $delivered = $self->{target}{rows} ||= {};

	$self->{applied} = $self->{page}[-1][-1];
	$delivered->{ $_->[0] } = $_->[1] foreach map { $_->[0] eq 'reset' ? @{ $self->{rows} } : [ @$_[ 1, 2 ] ] } @{ $self->{page} };
	$self->{page} = [];
	$self->{owes} ||= Time::HiRes::time() > $self->{deadline};
	$self->{next} = 'confirm';
	return;
}

# Messages that were delivered stay delivered, whatever happens to the table.
sub differs
{
	my ($self, $rows) = @_;

	foreach (sort keys %$rows) { return ('lost', "message $_ ($rows->{$_}) is not delivered") unless defined $self->{target}{rows}{$_} }
	return;
}

1;
