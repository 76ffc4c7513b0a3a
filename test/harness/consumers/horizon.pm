# A reader that needs only the horizon: the rows between the last horizon and the next one.
package consumers::horizon;
use parent 'Consumer';

sub table { return 'event' }

sub read
{
	my ($self) = @_;
	my $from = $self->{from} = $self->{target}{position} // '00000000-0000-0000-0000-000000000000';

	return $self->ask("SELECT uuidv7_horizon(), (SELECT string_agg(id::text, ' ' ORDER BY id) FROM event WHERE id >= '$from' AND id < uuidv7_horizon())",
		sub { $self->{page} = $_[0]; $self->{is_empty} = $_[0][1] eq ''; $self->{next} = 'apply' });
}

sub apply
{
	my ($self) = @_;
	my ($target, $page) = @{$self}{qw(target page)};

	$self->{next} = 'read';
	return if ($target->{position} // $self->{from}) ne $self->{from};
	push @{ $target->{ids} }, map { [ $self->{epoch}, $_ ] } split / /, $page->[1];
	$target->{position} = $page->[0];
	return;
}

sub differs { my ($self, $rows) = @_; return $self->events_differ($rows) }

1;
