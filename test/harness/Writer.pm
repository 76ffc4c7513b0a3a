# A session that changes the tables of Harness.pm.  Steps take a key and a value, which is unique in the
# schedule.  A step that makes no sense in the state of the session does nothing, and returns false.
package Writer;
use strict;
use warnings;
no warnings 'redundant';

use parent 'Actor';

# %1$s is a key, and %1$d the same number
my %statements = (
	insert => 'INSERT INTO item (id, n) VALUES (%1$s, %2$d)',
	upsert => 'INSERT INTO item (id, n) VALUES (%1$s, %2$d) ON CONFLICT (id) DO UPDATE SET n = excluded.n',
	update => 'UPDATE item SET id = %1$s, n = %2$d WHERE id = %1$s',
	delete => 'DELETE FROM item WHERE id = %1$d',
	key => 'UPDATE item SET id = %3$s, n = %2$d WHERE id = %1$d',
	many => 'UPDATE item SET n = n + 1 WHERE id BETWEEN %1$d AND %1$d + 5',
	merge => 'MERGE INTO item USING (VALUES (%1$d), (24 + %3$d)) AS s (id) ON item.id = s.id WHEN MATCHED AND item.id %% 3 = 0 THEN DELETE'
	  . ' WHEN MATCHED THEN UPDATE SET n = %2$d WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, %2$d)',
	bulk => 'INSERT INTO item (id, n) SELECT 100 + k, %2$d FROM generate_series(1, 150 * (1 + %1$d %% 4)) AS k ON CONFLICT (id) DO UPDATE SET n = excluded.n',
	'bulk delete' => 'DELETE FROM item WHERE id > 100 AND id %% 3 = %1$d %% 3',
	truncate => 'TRUNCATE item',
	'truncate partition' => 'TRUNCATE item_2',
	burst => 'SELECT burst(%2$d, 2 * %1$d)',
	blocks => 'SELECT blocks(%2$d, 10 * %1$d)',
	stream => 'SET synchronous_commit = off; CALL stream(%2$d, 60 * %1$d)',
	event => 'INSERT INTO event (n) VALUES (%2$d) RETURNING id',
	events => 'INSERT INTO event (n) SELECT %2$d FROM generate_series(1, 1 + %1$d)',
	message => 'INSERT INTO outbox (message) VALUES (%2$d)',
	purge => q{SELECT changes_purge('item', keep => '-1 day', max_entries => CASE WHEN %1$d > 8 THEN %1$d END)},
	rewrite => 'ALTER TABLE item_2 SET UNLOGGED; ALTER TABLE item_2 SET LOGGED',
	id => 'SELECT uuidv7_ordered()',
	'late event' => q{INSERT INTO event (id, n) VALUES ('%4$s', %2$d)});

sub step
{
	my ($self, $op, $key, $value, $other) = @_;
	my $state = $self->{state} // '';

	$self->{op} = $op;
	if ($op eq 'begin' && !$state)
	{
		my $level = ('READ COMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')[ $value % 4 ];

		@{$self}{qw(state has_savepoint)} = ('open', 0);
		return $self->ask("BEGIN ISOLATION LEVEL $level; SET LOCAL synchronous_commit = " . ($key % 2 ? 'on' : 'off'));
	}
	return if $op eq 'begin';
	if ($op =~ /^(commit|rollback|prepare)$/)
	{
		return unless $state;
		$op = 'rollback' if $state eq 'failed';
		# a transaction that has used a savepoint can be prepared too
		return $self->ask($op eq 'prepare' ? "PREPARE TRANSACTION 'p$value'" : uc $op, sub { $self->{state} = '' });
	}
	return $self->ask(sprintf "%s PREPARED '%s'", $value % 4 ? 'COMMIT' : 'ROLLBACK', $self->{world}{prepared}[ $value % @{ $self->{world}{prepared} } ]) if $op eq 'finish' && !$state && $self->{world}->look_for_prepared;
	return if $op eq 'finish' || $state eq 'failed' || ($op eq 'stream' && $state);
	if ($op =~ /savepoint/)
	{
		return if !$state || ($op ne 'savepoint' && !$self->{has_savepoint});
		return $self->ask($op eq 'savepoint' ? 'SAVEPOINT s' : 'ROLLBACK TO s', sub { $self->{has_savepoint} = 1 });
	}
	return if $op eq 'late event' && !$self->{id};
	my $began = $self->{world}->tick;
	my @keys = map { $value % 2 ? "$_.0" : $_ } $key, $other // 0;
	return $self->ask(sprintf($statements{$op}, $keys[0], $value, $keys[1], $self->{id} // ''), sub {
		$self->{id} = $_[0][0] if $op eq 'id';
		push @{ $self->{world}{ids} }, [ $began, $self->{world}->tick, $_[0][0] ] if $op eq 'event' && @_;
	});
}

# Statements can fail, because of others and because of disturbances.
sub failed
{
	my ($self, $result) = @_;

	my $own = { 'late event' => qr/^(23514|55000)$/, purge => qr/^55000$/ }->{ $self->{op} // '' };
	$self->{world}->unexpected($self, $result) if $result->{error} !~ /^(lost|23505|40\w\w\w|55P03|57014|42704|57P01)$/ && !($own && $result->{error} =~ $own);
	$self->{state} = $result->{error} ne 'lost' && $self->{state} ? 'failed' : '';
	return "fails: $result->{message}";
}

1;
