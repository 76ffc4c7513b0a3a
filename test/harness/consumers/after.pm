# Three calls with a position that the target stores in the transaction in which it applies a page.
package consumers::after;
use parent 'Consumer';

sub table { return 'item' }

sub read
{
	my ($self) = @_;

	$self->{from} = $self->{target}{position};
	return $self->ask($self->page(after => defined $self->{from} ? "'$self->{from}'" : 'NULL'), sub { $self->got(@_) });
}

sub apply
{
	my ($self) = @_;
	my $target = $self->{target};

	$self->{next} = 'read';
	$self->{said} = 'finds that another program has applied a page';
	return if ($target->{position} // '') ne ($self->{from} // '');
	$self->SUPER::apply;
	$target->{position} = $self->{from} = $self->{applied};
	$self->{owes} = 0;
	$self->{next} = @{ $self->{page} } ? 'apply' : 'read';
	return;
}

1;
