# A reader of an event log, as in examples/event_log: one transaction locks the position, reads, delivers
# and advances.
package consumers::event_log;
use parent 'Consumer';

sub table { return 'event' }

sub read
{
	my ($self) = @_;

	return $self->ask("BEGIN;\nSELECT position FROM place WHERE reader = '$self->{reader}' FOR UPDATE", sub { $self->{from} = $_[0][0]; $self->{next} = 'page' });
}

sub page
{
	my ($self) = @_;
	my $position = $self->{from} ne '' ? "'$self->{from}'" : 'NULL';
	my $limit = (1000, 1, 3, 20)[ $self->{chance} % 4 ];

	return $self->ask("SELECT id, uuidv7_position(id, $position) FROM event WHERE id > uuidv7_after($position) AND id < uuidv7_horizon() ORDER BY id LIMIT $limit",
		sub { $self->{page} = \@_; $self->{is_empty} = !@_; $self->{next} = @_ ? 'advance' : 'end' });
}

sub advance
{
	my ($self) = @_;
	my $ids = join ',', map { $_->[0] } @{ $self->{page} };

	return $self->ask("INSERT INTO copied SELECT '$self->{reader}', $self->{epoch}, id FROM unnest('{$ids}'::uuid[]) AS id;
		UPDATE place SET position = '$self->{page}[-1][1]' WHERE reader = '$self->{reader}'", sub { $self->{next} = 'end' });
}

sub end { my ($self) = @_; return $self->ask($self->{chance} % 7 ? 'COMMIT' : 'ROLLBACK', sub { $self->{next} = 'read' }) }

sub failed
{
	my ($self, $result) = @_;

	if ($result->{message} =~ /position is unknown/)
	{
		$self->{world}->rows("UPDATE place SET position = NULL WHERE reader = '$self->{reader}'");
		$self->{world}{epoch}++;
		$result->{error} = '40001';
	}
	my $said = $self->SUPER::failed($result);
	$self->end_session;
	$self->restart;
	return $said;
}

sub differs
{
	my ($self, $rows) = @_;

	$self->{target}{ids} = [ $self->{world}->rows("SELECT epoch, id FROM copied WHERE reader = '$self->{reader}' ORDER BY number") ];
	return $self->events_differ($rows);
}

1;
