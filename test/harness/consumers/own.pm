# A query of the reader's own, with a position that the target stores.  Sometimes its snapshot is older.
package consumers::own;
use parent 'Consumer';

sub table { return 'event' }

sub read
{
	my ($self) = @_;

	return $self->query if $self->{chance} % 3 != 2;
	return $self->ask("BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 1", sub { @{$self}{qw(next end)} = ('query', ";\nCOMMIT"); $self->{said} = 'takes a snapshot' });
}

sub query
{
	my ($self) = @_;
	my $from = $self->{from} = $self->{target}{position};
	my $position = defined $from ? "'$from'" : 'NULL';
	my $limit = (1000, 1, 3, 20)[ $self->{chance} % 4 ];

	return $self->ask("SELECT id, uuidv7_position(id, $position) FROM event WHERE id > uuidv7_after($position) AND id < uuidv7_horizon() ORDER BY id LIMIT $limit" . (delete $self->{end} // ''),
		sub { $self->{page} = \@_; $self->{is_empty} = !@_; $self->{next} = @_ ? 'apply' : 'read'; $self->{said} = 'reads ' . @_ . ' rows' });
}

sub apply
{
	my ($self) = @_;
	my $target = $self->{target};

	$self->{next} = 'read';
	return if ($target->{position} // '') ne ($self->{from} // '');
	push @{ $target->{ids} }, map { [ $self->{epoch}, $_->[0] ] } @{ $self->{page} };
	$target->{position} = $self->{page}[-1][1];
	return;
}

sub differs { my ($self, $rows) = @_; return $self->events_differ($rows) }

# The server can know a position no more; then the reader begins again.
sub failed
{
	my ($self, $result) = @_;

	$self->end_session if delete $self->{end};
	return $self->SUPER::failed($result) if $result->{message} !~ /position is unknown/;
	$self->{target}{position} = undef;
	$self->{world}{epoch}++;
	$self->restart;
	return 'begins again';
}

1;
