# A reader on a standby, which takes the horizon and the replay target from the primary.
package consumers::standby;
use parent -norequire, 'consumers::own';
require consumers::own;

sub read
{
	my ($self) = @_;
	my $from = $self->{from} = $self->{target}{position};
	my $position = defined $from ? "'$from'" : 'NULL';

	return $self->ask("SELECT uuidv7_after($position), uuidv7_horizon(), target, uuidv7_position(uuidv7_horizon(), $position) FROM uuid_replay_target()",
		sub { $self->{asked} = $_[0]; $self->{next} = 'read_there'; $self->{said} = 'asks the primary' });
}

# Without a standby that is connected, read on the primary, which has replayed everything.
sub read_there
{
	my ($self) = @_;
	my ($after, $horizon, $target, $next) = @{ $self->{asked} };
	my $servers = $self->{world}{servers};
	my $standby = $servers->{is_cut} ? undef : $servers->{standby};
	my $session = Session->new($self->{name}, ($standby || $servers->{node})->connstr('run') . ' user=app');
	my $select = "SELECT id FROM event WHERE id > '$after' AND id < '$horizon' ORDER BY id";
	my $result = $session->run($standby ? "BEGIN;\nSELECT uuid_has_replayed('$target');\n$select;\nCOMMIT" : "SELECT 't';\n$select");
	my ($replayed, @ids) = map { $_->[0] } @{ $result->{rows} };

	$session->close;
	return $self->{next} = 'read' if $result->{error} ne '' || ($replayed // '') ne 't';
	$self->{page} = [ map { [ $_, $next ] } @ids ];
	$self->{is_empty} = !@ids;
	$self->{next} = @ids ? 'apply' : 'read';
	$self->{said} = 'reads ' . @ids . ' rows';
	return;
}

1;
