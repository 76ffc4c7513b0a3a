# A program that reads, of which the files in "consumers" are kinds.  It does one thing in a step, so that
# anything can happen between its reading, applying and confirming.  Its target is in memory, and is
# shared by all programs of one name; see Harness.pm.
#
# Each kind has these functions:
#
#	table		the table that it copies: "item", "event" or "outbox"
#	read		the first step, which sets "next", the name of the next one
#	differs		what is wrong in the target, if it is not that of copies_differ() or events_differ()
package Consumer;
use strict;
use warnings;
use Time::HiRes qw(time);

use parent 'Actor';

use constant LEASE => 5;	# seconds

sub step
{
	my ($self, $chance) = @_;
	my $next = $self->{next} // 'read';

	$self->{chance} = $chance;
	$self->{said} = $next;
	# after a failover or a reset of the generator, smaller IDs can come
	$self->{epoch} = $self->{world}{epoch} if $next =~ /^(read|page)$/;
	$self->$next;
	return 1;
}

# Return the query of a page.
sub page
{
	my ($self, %more) = @_;
	my $table = $self->table;
	my $columns = $table ne 'outbox' ? '(data).id, (data).n, (data).t' : '(data).id, (data).message, NULL';

	$more{page} = (1000, 1, 2, 7, 1000)[ $self->{chance} % 5 ];
	$more{lease} = q{'} . LEASE . q{ s'};
	$self->{deadline} = time + LEASE;
	$self->{has_begun} = $self->{target}{has_begun};
	return "SELECT change_type, $columns, change_position FROM changes_read(reader => '$self->{reader}', source => NULL::$table"
	  . join('', map { ", $_ => $more{$_}" } sort keys %more) . ')';
}

# Take a page.
sub got
{
	my ($self, @page) = @_;

	$self->{page} = \@page;
	$self->{is_empty} = !@page;
	$self->{delivered} += grep { $_->[0] ne 'reset' } @page if $self->table eq 'item';
	my $is_reset = @page && $page[0][0] eq 'reset';
	my $is_exact = grep({ $_ eq $self->{kind} } @{ $self->{world}{scenario}{exact} || [] }) || !grep { $_ ne 'later' || $self->{kind} ne 'after' } keys %{ $self->{world}{reasons} };
	$self->{world}->blame($self, 'reset', 'the reader copies the table again without a reason') if $is_reset && $self->{has_begun} && $is_exact;
	$self->{target}{has_begun} ||= !$is_reset;
	$self->{next} = !@page ? 'read' : $is_reset ? 'load' : 'apply';
	$self->{said} = 'reads ' . (join(', ', map { "$_->[0] $_->[1]" . ($_->[0] eq 'upsert' ? " ($_->[2])" : '') } @page[ 0 .. ($#page < 9 ? $#page : 9) ]) || 'nothing');
	$_->[0] eq 'upsert' and $self->{world}{read}{ $self->table . " $_->[1] $_->[2]" } = $self->{name} foreach @page;
	return;
}

# Read the whole table after "reset".
sub load
{
	my ($self) = @_;
	my $columns = $self->table ne 'outbox' ? 'id, n, t' : 'id, message, NULL';

	return $self->ask("SELECT $columns FROM " . $self->table, sub { $self->{rows} = \@_; $self->{next} = 'apply'; $self->{said} = 'reads all rows' });
}

# Apply the first part of a page to the target, or all of it.
sub apply
{
	my ($self) = @_;
	my ($target, $page) = @{$self}{qw(target page)};
	my $count = @$page > 1 && $self->{chance} % 3 == 0 ? 1 + $self->{chance} % $#$page : @$page;

	foreach my $change (splice @$page, 0, $count)
	{
		my ($type, $id, @row) = @$change;

		$self->{applied} = pop @row;
		if ($type eq 'reset') { $target->{rows} = { map { $_->[0] => "$_->[1] $_->[2]" } @{ $self->{rows} } } }
		elsif ($type eq 'upsert') { $target->{rows}{$id} = "@row" }
		else { delete $target->{rows}{$id} }
	}
	# a page that was applied after its lease must be confirmed
	$self->{owes} ||= time > $self->{deadline};
	$self->{next} = @$page && $self->{chance} % 2 ? 'apply' : 'confirm';
	$self->{said} = 'applies ' . (@$page ? 'a part' : 'the page');
	return;
}

sub confirm
{
	my ($self) = @_;

	return $self->ask("SELECT changes_done(reader => '$self->{reader}', \"position\" => '$self->{applied}')", sub { $self->confirmed });
}

sub confirmed
{
	my ($self) = @_;

	$self->{owes} = 0;
	$self->{said} = 'has confirmed';
	# a program can leave the rest of a page, which is delivered again
	$self->{next} = @{ $self->{page} || [] } && $self->{chance} % 2 ? 'apply' : 'read';
	return;
}

# The program dies.  Another one begins.
sub die_now
{
	my ($self) = @_;

	return if $self->{owes};
	delete @{$self}{qw(session next page rows applied deadline)};
	return;
}

sub failed
{
	my ($self, $result) = @_;
	my $goes_on = $self->{owes} || $self->{world}{is_late};

	if ($self->is_passing($result))
	{
		# what has been applied must be confirmed in another session; some programs also apply later
		my $next = $self->{next} // '';

		$self->restart unless $next eq 'confirm' || ($goes_on && $next eq 'apply');
	}
	else
	{
		# the log was altered, or there is no such reader any more
		$self->{world}->unexpected($self, $result) if $result->{error} !~ /^(55000|42704|42P01)$/;
		$self->{owes} = 0;
		$self->restart;
	}
	return "fails: $result->{message}";
}

# Check whether an error ends by itself.
sub is_passing { my ($self, $result) = @_; return $result->{error} =~ /^(lost|40001|40P01|55P03|57014|57P0\d)$/ }

# Begin again.  Programs whose transactions last end their session too.
sub restart { my ($self) = @_; delete @{$self}{qw(next page rows)}; return }

sub end_session { my ($self) = @_; $self->{session}->close if $self->{session}; return delete $self->{session} }

# --- verdicts -----------------------------------------------------------------------

# Return "lost", "kept" or "stale", and a sentence, for the first row in which a copy differs from its table.
sub copies_differ
{
	my ($self, $rows) = @_;
	my $copy = $self->{target}{rows};

	foreach my $id (sort { $a cmp $b } keys %{ { %$rows, %$copy } })
	{
		my ($is, $got) = ($rows->{$id}, $copy->{$id});

		return ('lost', "row $id ($is) is not in the copy") if !defined $got;
		return ('kept', "row $id ($got) is in the copy and not in the table") if !defined $is;
		return ('stale', "row $id is ($is), and ($got) in the copy") if $is ne $got;
	}
	return;
}

# Return what is wrong with the IDs that a reader of inserted rows has got.
sub events_differ
{
	my ($self, $rows) = @_;
	my (%got, $last);

	foreach (@{ $self->{target}{ids} })
	{
		my ($epoch, $id) = @$_;

		return ('twice', "row $id comes twice") if ($got{$id} // -1) == $epoch;
		return ('unordered', "row $id comes after $last->[1]") if $last && $last->[0] == $epoch && $last->[1] ge $id;
		$got{$id} = $epoch;
		$last = $_;
	}
	foreach my $id (sort keys %$rows) { return ('lost', "row $id does not come") unless exists $got{$id} }
	return;
}

1;
