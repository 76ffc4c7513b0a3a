# The scenarios of the harness.  Each has a name and
#
#	consumers	kinds of programs, the files in "consumers"
#	some		the number of these kinds that take part, which the seed chooses; "from" lets others take part
#	two			two programs of each name
#	orders		again and again, two programs of a name take a few steps in any order after a change, or beside a
#				transaction; kinds that are named twice do so more often
#	through		the number of server sessions of PgBouncer
#	form		"SQL" for the form without C
#	late		programs that have lost their sessions still apply what they have read
#	parts		the table is partitioned
#	exact		kinds of programs that never have to copy the table again; others do not have to before a step that
#				can be a reason
#	strict		a page must not be empty while changes wait, also in a session from before an ALTER
#	alters		triggers can be disabled, so that the table must be tracked again
#	disturb		disturbances and their weights; and "often", their part of all steps
#	writes		other weights of what writers do
#	schedule	the steps, if they do not depend on the seed
#	steps		the number of steps
#	load		statements run side by side
package Scenarios;
use strict;
use warnings;

my @changes = qw(confirmed session after inside outbox twin);
my @events = qw(own horizon event_log connector);
my @pair = (consumers => [qw(confirmed session confirmed after)], some => 1, two => 1, writes => { begin => 3, prepare => 0, bulk => 0, truncate => 0, burst => 0.2 });
my %light = (disturb => { die => 2, terminate => 3, cancel => 1, purge => 2, 'later:6' => 2 }, often => 0.05);
my %clock = (disturb => { die => 2, terminate => 3, cancel => 1, purge => 2, 'later:6' => 2, later => 1, expire => 1 }, often => 0.05);
my %orders = (two => 1, orders => 1, late => 1, disturb => { die => 4, terminate => 1, 'later:6' => 2, later => 1, expire => 4, purge => 1, 'purge some' => 1 }, often => 0.06, steps => 220,
	writes => { begin => 1, many => 5, prepare => 0, bulk => 0, 'bulk delete' => 0, truncate => 0, burst => 0, message => 10 });

# Each reads, perhaps all rows, applies and confirms.
sub page { my @names = @_; return map { my $name = $_; map { [ $name, 40 ] } 1 .. 4 } @names }
my @copies = (qw(confirmed after inside));
my @change = ([ 'w1', 'update', 2, 777, 2 ], [ 'w1', 'insert', 50, 778, 50 ], [ 'w1', 'delete', 3, 0, 3 ]);

my @all = (
	{ name => 'orders of two programs', consumers => [qw(confirmed confirmed once)], %orders },
	# a program that rolls back, and goes on in its session, reads the rows of a new partition again
	{ name => 'a partition and a rollback', consumers => ['inside'], parts => 1, strict => 1,
		schedule => [ page('inside'), [qw(server attach 50)], [ 'w1', 'update', 2, 777, 2 ], map { [ 'inside', $_ ] } 40, 40, 70 ] },
	# a page with a key that changed twice is applied and confirmed in part
	{ name => 'a part of a page', consumers => ['confirmed'], schedule => [ page('confirmed'), (map { [ 'w1', 'update', $_, 700 + 2 * $_, $_ ] } 1, 2, 1), map { [ 'confirmed', $_ ] } 40, 6, 40 ] },
	# a page has a horizon above that of a later page
	{ name => 'a reset of the generator', consumers => ['confirmed'], two => 1,
		schedule => [ page('confirmed'), [qw(server clock 100)], [ 'w1', 'update', 2, 777, 2 ], [qw(server clock 0)], [ 'w1', 'update', 3, 778, 3 ], [ 'confirmed', 40 ], [qw(server generator)], [ 'w1', 'update', 3, 779, 3 ], page('confirmed_2'), [ 'confirmed', 40 ], [qw(confirmed die)] ] },
	{ name => 'a truncated partition', consumers => ['confirmed'], parts => 1, schedule => [ page('confirmed'), [ 'w1', 'truncate partition', 1, 1, 1 ] ] },
	{ name => 'load', consumers => [ @changes, @events ], some => 5, two => 1, load => 1, steps => 150, disturb => { die => 4, terminate => 2, cancel => 2, purge => 2 }, often => 0.05, writes => { burst => 8, blocks => 8 } },
	{ name => 'events', consumers => [qw(horizon own)], two => 1, load => 1, steps => 120, disturb => { die => 2, terminate => 1, cancel => 1 }, often => 0.03, writes => { begin => 0, stream => 20, blocks => 0 } },
	{ name => 'two programs', consumers => [ @changes, @events ], some => 2, two => 1, %clock },
	{ name => 'old snapshots', consumers => ['own'], two => 1, orders => 1, steps => 200, writes => { begin => 1, blocks => 4, prepare => 5, finish => 3 }, disturb => { die => 2, terminate => 2, elsewhere => 4 }, often => 0.04 },
	# rows that are read after "reset" are lost by a crash before they are confirmed
	{ name => 'a copy before a crash', consumers => ['confirmed'],
		schedule => [ [ 'confirmed', 40 ], [ 'w1', 'begin', 2, 4, 2 ], @change, [ 'w1', 'commit', 2, 4, 2 ], [ 'confirmed', 40 ], [ 'confirmed', 40 ], [ 'server', 'crash', 'immediate' ], page('confirmed') ] },
	{ name => 'orders of other programs', consumers => [qw(session confirmed)], %orders },
	{ name => 'direct', consumers => [ @changes, @events ], some => 5, from => 5, exact => \@changes, %light },
	{ name => 'attached partitions', consumers => [@changes], some => 4, from => 3, parts => 1, steps => 250, disturb => { 'attach:50' => 6, die => 2, purge => 1 }, often => 0.08, writes => { truncate => 0, 'truncate partition' => 1, rewrite => 4 } },
	{ name => 'partitions', consumers => [@changes], some => 3, parts => 1, alters => 1, disturb => { detach => 2, 'disable partition' => 2, retype => 1, 'drop partition' => 1, 'attach:50' => 2, 'add column' => 1, purge => 1 }, often => 0.05, writes => { bulk => 1, rewrite => 1, 'truncate partition' => 1 } },
	{ name => 'crashes', consumers => [ @changes, @events ], some => 3, exact => \@changes, disturb => { 'crash:immediate' => 2, 'crash:fast' => 1, 'crash:kill' => 1, kill => 2 }, often => 0.015, steps => 300, writes => { prepare => 3, finish => 2 } },
	{ name => 'pool of one session', consumers => [ @changes, @events ], some => 3, through => 1, exact => \@changes, %light },
	{ name => 'two programs that go on', @pair, late => 1, disturb => { die => 1, terminate => 6, 'later:6' => 1 }, often => 0.05 },
	# what was read is lost by a promotion, or by a restore
	{ name => 'a promotion that loses', consumers => \@copies,
		schedule => [ page(@copies), [ 'server', 'standby' ], [ 'server', 'cut' ], @change, page(@copies), [ 'server', 'promote', 'immediate' ], page(@copies) ] },
	{ name => 'a restore', consumers => ['after'], schedule => [ page('after'), [ 'server', 'save' ], @change, page('after'), [ 'server', 'restore' ], [ 'w1', 'update', 5, 5, 5 ], page('after') ] },
	{ name => 'without C', consumers => [@changes], some => 2, form => 'SQL', two => 1, %clock },
	{ name => 'failovers', consumers => [ @changes, 'own', 'event_log', 'standby' ], some => 4,
		disturb => { standby => 4, 'standby:rewind' => 2, cut => 2, 'promote:immediate' => 3, 'promote:fast' => 2, 'crash:immediate' => 1, later => 5 }, often => 0.05, steps => 250 },
	(map { { name => "waiting$_->[0]", consumers => [ 'waiting', 'confirmed' ], two => 1, load => $_->[1], steps => 250, disturb => { woken => 12, die => 2, terminate => 3, cancel => 3, purge => 1, 'crash:fast' => 1, 'crash:immediate' => 1 }, often => 0.15,
		writes => { begin => 5, rollback => 3, savepoint => 4, 'rollback to savepoint' => 3, prepare => 3, finish => 3 } } } [ '', 0 ], [ ' under load', 1 ]),
	{ name => 'pool of two sessions', consumers => [ @changes, @events ], some => 3, through => 2, exact => \@changes, %light },
	{ name => 'administration', consumers => [@changes], some => 3, disturb => { map { $_ => 1 } qw(purge track reset disable retype rewrite index rename statistics), 'set default', 'not null', 'add column', 'drop column' }, often => 0.1, alters => 1 },
	{ name => 'clock', consumers => [qw(own event_log confirmed after session)], some => 3, two => 1, disturb => { purge => 2, expire => 1, 'later:6' => 1, die => 1, 'clock:100' => 2, 'clock:0' => 2, 'clock:-100' => 2, 'crash:immediate' => 1, generator => 1 }, often => 0.03, writes => { event => 10, blocks => 3 } },
	{ name => 'restores', consumers => [ 'after', 'inside', 'own', 'event_log' ], disturb => { save => 2, restore => 3, standby => 1, 'promote:immediate' => 1, later => 2, 'crash:immediate' => 1 }, often => 0.03, steps => 250 },
	{ name => 'switchovers', consumers => [ @changes, 'own', 'event_log', 'standby' ], some => 4, exact => ['after'], disturb => { standby => 3, 'standby:rewind' => 2, 'promote:fast' => 3, 'crash:fast' => 1 }, often => 0.03 },
	{ name => 'programs', consumers => [ 'copy_table', 'outbox_reader' ], steps => 150, disturb => { die => 4, 'crash:immediate' => 1, standby => 2, cut => 1, 'promote:immediate' => 1, later => 1 }, often => 0.05 },
	{ name => 'pool of one session, two programs', @pair, through => 1, %light },
	{ name => 'pool of two sessions, two programs', @pair, through => 2, %light },
	{ name => 'without C, two programs that go on', @pair, form => 'SQL', through => 1, late => 1, %light },
	{ name => 'only confirmations', consumers => [ 'held', 'confirmed' ], disturb => { later => 2, purge => 2, track => 2, terminate => 1 }, often => 0.12 },
	{ name => 'an empty page', consumers => [ 'confirmed', 'after' ], strict => 1, steps => 150, disturb => { map { $_ => 1 } qw(rename statistics index), 'set default', 'not null', 'add column', 'drop column' }, often => 0.06 },
	{ name => 'a large partition', consumers => [ 'confirmed', 'after' ], parts => 1, steps => 60, disturb => { 'attach:6000' => 1 }, often => 0.1 });

sub all { return @all }

1;
