# A query of the reader's own, with a position that the target stores.  Sometimes its snapshot is older, and has
# several pages; or it is that of a cursor.
package consumers::own;
use parent 'Consumer';

sub table { return 'event' }

sub read
{
	my ($self) = @_;

	return $self->query if $self->{chance} % 3 == 1;
	return $self->ask("BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT 1", sub { @{$self}{qw(next is_old)} = ('query', 1); $self->{said} = 'takes a snapshot' }) if $self->{chance} % 3;
	return $self->ask("BEGIN;\nDECLARE c CURSOR FOR " . $self->sql . ";\nFETCH 2 FROM c", sub { $self->{first} = \@_; @{$self}{qw(next is_old)} = ('fetch', 1); $self->{said} = 'opens a cursor' });
}

sub fetch { my ($self) = @_; return $self->ask("FETCH ALL FROM c;\nCOMMIT", sub { $self->took(@{ $self->{first} }, @_) }) }

sub sql
{
	my ($self) = @_;
	my $from = $self->{from} = $self->{target}{position};
	my $position = defined $from ? "'$from'" : 'NULL';
	my $limit = (1000, 1, 3, 20)[ $self->{chance} % 4 ];

	return "SELECT id, uuidv7_position(id, $position) FROM event WHERE id > uuidv7_after($position) AND id < uuidv7_horizon() ORDER BY id LIMIT $limit";
}

sub query
{
	my ($self) = @_;
	my $goes_on = $self->{is_old} && $self->{chance} % 2;

	return $self->ask($self->sql . ($self->{is_old} && !$goes_on ? ";\nCOMMIT" : ''), sub { $self->took(@_); @{$self}{qw(next is_old)} = (@_ ? 'apply' : 'query', 1) if $goes_on });
}

sub took
{
	my ($self, @page) = @_;

	@{$self}{qw(page is_empty is_old next said)} = (\@page, !@page, 0, @page ? 'apply' : 'read', 'reads ' . @page . ' rows');
	return;
}

sub apply
{
	my ($self) = @_;
	my $target = $self->{target};

	$self->{next} = $self->{is_old} ? 'query' : 'read';
	return if ($target->{position} // '') ne ($self->{from} // '');
	push @{ $target->{ids} }, map { [ $self->{epoch}, $_->[0] ] } @{ $self->{page} };
	$target->{position} = $self->{page}[-1][1];
	return;
}

sub die_now { my ($self) = @_; $self->{is_old} = 0; return $self->SUPER::die_now }

sub differs { my ($self, $rows) = @_; return $self->events_differ($rows) }

# The server can know a position no more; then the reader begins again.
sub failed
{
	my ($self, $result) = @_;

	$self->end_session;
	$self->{is_old} = 0;
	return $self->SUPER::failed($result) if $result->{message} !~ /position is unknown/;
	$self->{target}{position} = undef;
	$self->{world}{epoch}++;
	$self->restart;
	return 'begins again';
}

1;
