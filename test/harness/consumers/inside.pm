# Three calls in one transaction, which also writes the copy, in the same database.
package consumers::inside;
use parent 'Consumer';

sub table { return 'item' }

# A subtransaction that rolls back can have read the page.
sub read
{
	my ($self) = @_;
	my $page = $self->page;

	$page = "SAVEPOINT s;\nSELECT 1 FROM ($page) AS p WHERE change_type = '';\nROLLBACK TO s;\n$page" if $self->{chance} % 4 == 3;
	return $self->ask("BEGIN;\n$page", sub { $self->got(@_); $self->{next} = 'apply' });
}

sub apply
{
	my ($self) = @_;
	my @sql;

	foreach (@{ $self->{page} })
	{
		my ($type, $id, $n, $t) = @$_;

		push @sql, $type eq 'reset' ? 'DELETE FROM copy; INSERT INTO copy SELECT id, n, t FROM item' : "DELETE FROM copy WHERE id = $id";
		push @sql, "INSERT INTO copy VALUES ($id, $n, '$t')" if $type eq 'upsert';
	}
	return $self->ask(join(";\n", @sql, 'SELECT 1'), sub { $self->{next} = 'confirm' });
}

# Roll back now and then.
sub confirm
{
	my ($self) = @_;
	my $done = $self->{chance} % 2 ? '' : @{ $self->{page} } ? qq{, "position" => '$self->{page}[-1][-1]'} : '';

	return $self->end('ROLLBACK') if $self->{chance} % 7 == 0;
	return $self->end('COMMIT') if !@{ $self->{page} };
	my $confirm = "SELECT changes_done(reader => '$self->{reader}'$done)";
	$confirm = "SAVEPOINT s;\n$confirm" . ($self->{chance} % 4 < 2 ? '' : ";\nROLLBACK TO s;\n$confirm") if $self->{chance} % 5 < 3;
	return $self->ask($confirm, sub { $self->{next} = 'commit' });
}

sub commit { return $_[0]->end('COMMIT') }

sub end { my ($self, $how) = @_; return $self->ask($how, sub { $self->{next} = 'read'; $self->{said} = lc $how }) }

# Nothing is left of a transaction that did not commit.
sub failed { my ($self, $result) = @_; my $said = $self->SUPER::failed($result); $self->end_session; $self->restart; return $said }

sub differs
{
	my ($self, $rows) = @_;

	$self->{target}{rows} = { map { $_->[0] => "$_->[1] $_->[2]" } $self->{world}->rows('SELECT * FROM copy') };
	return $self->copies_differ($rows);
}

1;
