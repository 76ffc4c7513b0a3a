# A reader that needs only the horizon: the rows between the last horizon and the next one.
package consumers::horizon;
use parent 'Consumer';

sub table { return 'event' }

sub read
{
	my ($self) = @_;
	my $from = $self->{from} = $self->{target}{position} // '00000000-0000-0000-0000-000000000000';
	# beside others, ask often, since transactions are only for moments between generating an ID and being visible
	my $query = 'SELECT last, array_to_string(ids, \' \') FROM watch(' . ($self->{world}{scenario}{load} ? 400 : 1) . ", '$from')";

	# many transactions end after an old snapshot
	$query = join ";\n", ("BEGIN ISOLATION LEVEL REPEATABLE READ;\nDO 'BEGIN PERFORM pg_sleep(0.05); END';\n" . $query =~ s/400/1/r . ";\nCOMMIT") x 5 if $self->{world}{scenario}{load} && $self->{chance} % 3 == 2;
	return $self->ask($query, sub { $self->{page} = \@_; $self->{is_empty} = !grep { $_->[1] ne '' } @_; $self->{next} = 'apply' });
}

sub apply
{
	my ($self) = @_;
	my ($target, $page) = @{$self}{qw(target page)};

	$self->{next} = 'read';
	return if ($target->{position} // $self->{from}) ne $self->{from};
	foreach (@$page)
	{
		my $position = $target->{position} // $self->{from};

		push @{ $target->{ids} }, map { [ $self->{epoch}, $_ ] } grep { $_ ge $position } split / /, $_->[1];
		# a horizon can be less than an earlier one
		$target->{position} = List::Util::maxstr($position, $_->[0]);
	}
	return;
}

sub differs { my ($self, $rows) = @_; return $self->events_differ($rows) }

1;
