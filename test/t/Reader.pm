# Incremental readers for the torture tests.  They use the statements of the manual, and
# do not stop at errors.
#
#	Reader::prepare($node, @names);		create the tables
#	my $reader = Reader->new($name, $dir, primary => sub { $node }, standby => sub { $other });
#	$reader->read_page					return the number of rows, or undef after an error
#	$reader->read_to_end
#	$reader->rows						return the lines "epoch|id" of the rows that it got
#	$reader->compare(@ids)				return how many of these rows the reader missed, how
#										many it got twice, and how many other rows it got
#
# A name with "inside" puts the position of the reader inside the database; otherwise, the
# position is in a file of the folder $dir.  A name with "primary" or "standby" selects where
# the reader reads, unless the option "where" does.  Each transaction runs in a new connection,
# on the server that the function "primary" or "standby" returns.  Errors go to the file
# "errors" of the folder.
package Reader;
use ServerTest;
use Time::HiRes qw(sleep);

sub prepare
{
	my ($node, @names) = @_;

	$node->safe_psql('postgres', q{
		CREATE TABLE events (id uuid PRIMARY KEY DEFAULT public.uuidv7_ordered(), n int);
		CREATE TABLE copied (reader text, id uuid, epoch int);
		CREATE TABLE places (reader text PRIMARY KEY, position text);
		INSERT INTO events DEFAULT VALUES;} . join ';', map { "INSERT INTO places VALUES ('$_', NULL)" } @names);
	return;
}

# Options, with their defaults in parentheses:
#
#	where		a function that returns "primary" or "standby"
#	tries		how often a transaction is tried (1)
#	polls		how often a standby is asked whether it has replayed a target (100)
#	limit		the number of rows of a page on the primary (1000)
#	epoch		a number that the caller increases whenever the reader may get rows again, for
#				example after a failover (0)
sub new
{
	my ($class, $name, $dir, %options) = @_;
	my ($where) = $name =~ /(primary|standby)/;

	return bless {
		name => $name, dir => $dir, inside => scalar($name =~ /inside/), where => sub { $where },
		tries => 1, polls => 100, limit => 1000, epoch => 0, unknown => 0, %options }, $class;
}

# Run statements in a new connection.  Return their output, or undef if they fail, and the
# errors.
sub run
{
	my ($server, @statements) = @_;
	my ($printed, $errors, $done) = ('', '');
	my $script = join '', map { "$_;\n" } @statements;

	# IPC::Run dies if psql ends before it has read all of the script
	eval {
		$done = IPC::Run::run([ 'psql', '-XAtqd', $server->connstr('postgres'), '-v', 'ON_ERROR_STOP=1' ], '<', \$script, '>', \$printed, '2>', \$errors);
	};
	chomp $printed;
	return ($done ? $printed : undef, $errors);
}

sub ask
{
	my ($self, $where, @statements) = @_;
	my ($printed, $errors);

	for (1 .. $self->{tries})
	{
		my $server = $self->{$where}->() or return;

		($printed, $errors) = run($server, @statements);
		append_to_file("$self->{dir}/errors", $errors) if $errors ne '';
		last if defined $printed || $errors =~ /position is unknown/;
	}
	$self->begin_again if $errors =~ /position is unknown on this server/;
	return $printed;
}

sub file { return "$_[0]{dir}/$_[1].$_[0]{name}" }

# Return the position as an SQL literal.
sub position
{
	my ($self) = @_;

	return $self->ask('primary', "SELECT quote_nullable(position) FROM places WHERE reader = '$self->{name}'") if $self->{inside};
	return -e $self->file('position') ? slurp_file($self->file('position')) : 'NULL';
}

# Begin again from position NULL, as the manual says for a position that the server does not know.
sub begin_again
{
	my ($self) = @_;

	$self->{unknown}++;
	if ($self->{inside})
	{
		$self->ask('primary', "UPDATE places SET position = NULL WHERE reader = '$self->{name}'");
	}
	else
	{
		unlink $self->file('position');
	}
	return;
}

# Return the current epoch, which also changes when the reader begins again.  A row counts as
# got twice only if the reader gets it twice in the same epoch.
sub epoch { return $_[0]{epoch} + $_[0]{unknown} }

sub read_page
{
	my ($self) = @_;

	return $self->{where}->() eq 'standby' ? $self->copy_from_standby : $self->{inside} ? $self->copy_on_primary : $self->copy_from_primary;
}

# Read on the primary, with a position outside the database.
sub copy_from_primary
{
	my ($self) = @_;
	my $position = $self->position;
	my $page = $self->ask('primary', "SELECT id, public.uuidv7_position(id, $position) FROM events
		WHERE id > public.uuidv7_after($position) AND id < public.uuidv7_horizon() ORDER BY id LIMIT $self->{limit}");
	return unless defined $page;
	my @page = map { [ split /\|/ ] } split /\n/, $page;

	return @page ? $self->keep($position, "'$page[-1][1]'", map { $_->[0] } @page) : 0;
}

# Read on the primary, and store the rows and the position in its tables.
sub copy_on_primary
{
	my ($self) = @_;
	my $epoch = $self->epoch;
	my $count = $self->ask('primary', qq{
		WITH page AS (
			SELECT rows.id, position AS previous, public.uuidv7_position(id, position) AS next
			FROM places, LATERAL (
				SELECT id FROM events
				WHERE id > public.uuidv7_after(position) AND id < public.uuidv7_horizon()
				ORDER BY id LIMIT $self->{limit}) AS rows
			WHERE reader = '$self->{name}'),
		copy AS (INSERT INTO copied SELECT '$self->{name}', id, $epoch FROM page)
		UPDATE places SET position = next
		FROM (SELECT previous, next, count(*) OVER () FROM page ORDER BY id DESC LIMIT 1) AS page
		WHERE reader = '$self->{name}' AND position IS NOT DISTINCT FROM previous RETURNING count});

	return defined $count ? $count || 0 : undef;
}

# Read all rows below the horizon on a standby.  Return what keep() needs, or nothing.
sub page_from_standby
{
	my ($self) = @_;
	my $position = $self->position // return;
	my $asked = $self->ask('primary', "SELECT public.uuidv7_after($position), public.uuidv7_horizon(), target, public.uuidv7_position(public.uuidv7_horizon(), $position)
		FROM public.uuid_replay_target()") or return;
	my ($after, $horizon, $target, $next) = split /\|/, $asked;

	for (1 .. $self->{polls})
	{
		# after a lost connection, return nothing: the next call takes a new target
		my $page = $self->ask('standby', "BEGIN; SELECT public.uuid_has_replayed('$target'); SELECT id FROM events WHERE id > '$after' AND id < '$horizon' ORDER BY id; COMMIT") // return;
		my ($replayed, @ids) = split /\n/, $page;
		return ($position, "'$next'", @ids) if $replayed eq 't';
		sleep 0.02;
	}
	return;
}

sub copy_from_standby
{
	my ($self) = @_;
	my @page = $self->page_from_standby or return;

	return $self->keep(@page);
}

# Store rows with the next position.  Inside the database, store them only if the stored
# position is still the previous one: a failover can restore an older position and fewer copied
# rows.
sub keep
{
	my ($self, $previous, $position, @ids) = @_;
	my $epoch = $self->epoch;

	if ($self->{inside})
	{
		my $moved = $self->ask('primary', "WITH moved AS (
				UPDATE places SET position = $position WHERE reader = '$self->{name}' AND position IS NOT DISTINCT FROM $previous RETURNING reader),
			copy AS (INSERT INTO copied SELECT reader, id, $epoch FROM moved, unnest('{" . join(',', @ids) . "}'::uuid[]) AS id)
			SELECT count(*) FROM moved");
		return $moved ? scalar @ids : undef;
	}
	append_to_file($self->file('read'), join '', map { "$epoch|$_\n" } @ids);
	unlink $self->file('position');
	append_to_file($self->file('position'), $position);
	return scalar @ids;
}

# Read until a page is empty.
sub read_to_end
{
	my ($self) = @_;
	my $failures = 0;

	while (1)
	{
		my $count = $self->read_page;

		last if defined $count && $count == 0;
		$failures++ < 100 or die "no page is read: $self->{name}" unless defined $count;
	}
	return;
}

sub rows
{
	my ($self) = @_;

	return split /\n/, $self->ask('primary', "SELECT epoch, id FROM copied WHERE reader = '$self->{name}'") // '' if $self->{inside};
	return -e $self->file('read') ? split /\n/, slurp_file($self->file('read')) : ();
}

sub compare
{
	my ($self, @rows) = @_;
	my %rows = map { $_ => 1 } @rows;
	my (%times, %got);

	foreach my $line ($self->rows)
	{
		my ($epoch, $id) = split /\|/, $line;

		$times{$line}++;
		$got{$id} = 1;
	}
	return (scalar(grep { !$got{$_} } @rows), scalar(grep { $_ > 1 } values %times), scalar(grep { !$rows{$_} } keys %got));
}

1;
