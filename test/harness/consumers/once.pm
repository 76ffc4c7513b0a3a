# Three calls in one transaction of the database of an outbox: each message is delivered exactly once, apart from
# those that are read after "reset".
package consumers::once;
use parent -norequire, 'consumers::inside';
require consumers::inside;

sub table { return 'outbox' }

sub apply
{
	my ($self) = @_;
	my @sql = map { $_->[0] eq 'reset'
		? "DELETE FROM copied WHERE reader = 'once'; INSERT INTO copied SELECT 'once', 0, id FROM outbox"
		: "INSERT INTO copied VALUES ('once', 1, '$_->[1]')" } @{ $self->{page} };

	return $self->ask(join(";\n", @sql, 'SELECT 1'), sub { $self->{next} = 'confirm' });
}

sub differs
{
	my ($self, $rows) = @_;
	my %got = map { @$_ } $self->{world}->rows(q{SELECT id, sum(epoch) FROM copied WHERE reader = 'once' GROUP BY id});

	foreach (sort keys %$rows) { return (defined $got{$_} ? 'twice' : 'lost', "message $_ is delivered " . ($got{$_} // 0) . ' times') if ($got{$_} // 2) > 1 }
	return;
}

1;
