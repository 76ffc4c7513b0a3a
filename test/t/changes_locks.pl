# What is logged and read when a lock is not granted, a trigger is disabled, or the extension is dropped.
use ServerTest;
use Sessions;

my $node = use_server(new_server('changes_locks', "shared_preload_libraries = 'uuid9562'\nautovacuum = off\n"));
sql('CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE ROLE owner LOGIN', 'GRANT CREATE ON SCHEMA public TO owner', 'GRANT CREATE ON DATABASE postgres TO owner');
my $page = q{SELECT concat_ws(' ', change_type, data) FROM changes_read('r', NULL::item)};
sub create { sql('DROP TABLE IF EXISTS item, part CASCADE', @_, q{SELECT changes_track('item')}, q{SELECT changes_done('r', change_position) FROM changes_read('r', NULL::item)}) }
# Execute a statement, which waits in vain for a lock of a table, and return whether it was so
sub waits { my ($session, $statement) = @_; return refused_in($session, $statement) =~ /lock timeout/ }
my $blocking = session();

# what is left of a dropped table, which the last part looks at
sql('CREATE TABLE gone (id int PRIMARY KEY)', q{SELECT changes_track('gone')}, q{SELECT changes_read('r', NULL::gone)}, q{SELECT changes_reset('gone')}, 'DROP TABLE gone');

# --- the lock of the log -------------------------------------------------------------------

create('CREATE TABLE item (id int PRIMARY KEY, v int)');
my $writing = session();
in($blocking, 'BEGIN', 'LOCK TABLE uuid9562_changes.log');
in($writing, q{SET lock_timeout = '10 ms'}, 'BEGIN', 'SAVEPOINT a');
ok(waits($writing, 'INSERT INTO item VALUES (1)'), 'a change waits for the lock of the log');
in($writing, 'ROLLBACK TO a');
ok(waits($writing, 'INSERT INTO item VALUES (2)'), 'and so does the next one of the transaction, after a timeout');
in($writing, 'ROLLBACK');
in($blocking, 'ROLLBACK');
leave($writing);

# --- the first call of a trigger ---------------------------------------------------------------

# each of these catalogs is read when a session calls the trigger for the first time
foreach my $catalog ('pg_trigger', 'pg_constraint', 'pg_attribute')
{
	create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part (v int, id int NOT NULL)', 'ALTER TABLE item ATTACH PARTITION part FOR VALUES FROM (0) TO (10)');
	$writing = session();
	in($writing, 'PREPARE change AS INSERT INTO item VALUES ($1, $2) ON CONFLICT DO NOTHING', 'SET plan_cache_mode = force_generic_plan', 'BEGIN', 'SET LOCAL session_replication_role = replica', 'ALTER TABLE item DISABLE TRIGGER USER', 'EXECUTE change (0, 0)', 'ROLLBACK', 'EXPLAIN EXECUTE change (0, 0)', q{SELECT 'item'::regclass});
	in($blocking, 'BEGIN', "LOCK TABLE $catalog");
	in($writing, q{SET lock_timeout = '10 ms'});
	$writing->query('EXECUTE change (1, 1)');
	$writing->{stderr} = '';
	in($blocking, 'ROLLBACK');
	in($writing, 'RESET lock_timeout', 'EXECUTE change (2, 22)');
	leave($writing);
	like(sql($page), qr/^(?:upsert \(1,1\)\n)?upsert \(2,22\)$/, "a change is logged after a lock timeout at $catalog");
}

# --- triggers of other tables ------------------------------------------------------------------------

# a partition that is tracked by itself has two triggers
create('CREATE TABLE part (id int PRIMARY KEY, v int)', q{SELECT changes_track('part')}, 'CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'ALTER TABLE item ATTACH PARTITION part FOR VALUES FROM (0) TO (10)');
sql(sql(q{SELECT format('ALTER TABLE part DISABLE TRIGGER %I', tgname) FROM pg_trigger WHERE tgrelid = 'part'::regclass AND tgparentid <> 0}), 'INSERT INTO item VALUES (1)');
like(refusal($page), qr/Table part lacks the trigger that logs all changes/, 'the own trigger of a partition does not stand for that of the partitioned table');
sql(q{SELECT changes_track('item')});
sql(sql(q{SELECT format('ALTER TABLE part DISABLE TRIGGER %I', tgname) FROM pg_trigger WHERE tgrelid = 'part'::regclass AND tgparentid = 0 AND tgtype & 1 = 1}));
is(sql(q{SELECT source, problem IS NULL FROM changes_tables ORDER BY 1}), "part|f\nitem|t", 'nor the other way round');

# --- the view ----------------------------------------------------------------------------------------------

create('CREATE TYPE pair AS (a int)', 'CREATE TABLE item (id int PRIMARY KEY, p pair)');
foreach my $locks ('REINDEX INDEX item_pkey', 'ALTER TYPE pair ADD ATTRIBUTE b int')
{
	in($blocking, 'BEGIN', $locks);
	like(sql(q{SET lock_timeout = '10 ms'}, q{SELECT problem FROM changes_tables WHERE source = 'item'::regclass}), qr/^relation (?:item_pkey|pair) is locked$/, "changes_tables does not wait for $locks");
	in($blocking, 'ROLLBACK');
}

# --- sessions at the same time ------------------------------------------------------------------------------

create('CREATE TABLE item (id int PRIMARY KEY, v int)');
my @reading = map { session() } 1 .. 3;
foreach my $round (1 .. 3)
{
	sql('ALTER TABLE item ALTER v SET STATISTICS ' . $round);	# a change that the state has
	in($reading[$_], 'BEGIN', qq{SELECT * FROM changes_read('r$_', NULL::item)}) foreach 0 .. 2;
	in($_, 'COMMIT') foreach @reading;
}
is(sql(q{SELECT count(*) <= 3 FROM uuid9562_changes.state WHERE source = 'item'::regclass}), 't', 'sessions that remember the same state do not multiply it');
sql('ALTER TABLE item ALTER v SET STATISTICS 9');
in($reading[0], 'BEGIN', q{SELECT * FROM changes_read('r0', NULL::item)});
sql(q{SELECT * FROM changes_read('r1', NULL::item)}) for 1 .. 4;
is(sql(q{SELECT count(*) <= 4 FROM uuid9562_changes.state WHERE source = 'item'::regclass}), 't', 'nor do sessions that come while another one is renewing it');
in($reading[0], 'COMMIT');
leave(@reading);

# a session renews the state, or stores the first one, while the table is reset
foreach my $first (0, 1)
{
	my ($renewing, $resetting) = (session(), session());

	create('CREATE TABLE item (id int PRIMARY KEY, v int)');
	sql($first ? q{SELECT changes_reset('item')} : 'ALTER TABLE item ALTER v SET STATISTICS 5');
	in($renewing, 'BEGIN', $page, q{SELECT changes_done('r')});
	begin_to_wait($resetting, q{SELECT changes_reset('item')});
	in($renewing, 'COMMIT');
	in($resetting, 'SELECT 1');
	is(sql($page), 'reset', 'changes_reset() waits for a session that has ' . ($first ? 'stored the first' : 'renewed the') . ' state');
	leave($renewing, $resetting);
}

# a reader comes before changes_reset() ends, or two readers replace one state
{
	my ($reading, $resetting) = (session(), session());
	my $other = $page =~ s/'r'/'other'/r;

	create('CREATE TABLE item (id int PRIMARY KEY, v int)');
	sql(q{SELECT changes_reset('item')});
	in($resetting, 'BEGIN', q{SELECT changes_reset('item')});
	begin_to_wait($reading, $page);
	in($resetting, 'COMMIT');
	in($reading, 'SELECT 1');
	is(in($reading, $page), 'reset', 'a reader waits for changes_reset(), and copies the table after it');
	sql(q{SELECT changes_done('r', change_position) FROM changes_read('r', NULL::item)}, q{SELECT changes_done('other', change_position) FROM changes_read('other', NULL::item)});
	sql('ALTER TABLE item ADD w int');
	leave($reading);
	$reading = session();
	in($blocking, 'BEGIN', $page, q{SELECT changes_done('r')});
	in($reading, 'BEGIN', $other, q{SELECT changes_done('other')});
	begin_to_wait($resetting, q{SELECT changes_reset('item')});
	in($_, 'COMMIT') foreach $blocking, $reading;
	in($resetting, 'SELECT 1');
	is(sql($page, $other), "reset\nreset", 'changes_reset() waits for two readers that replace one state');
	leave($reading, $resetting);
}

# the session that renews a state rolls back, and another one has read rows of a new partition
foreach my $end ('COMMIT', 'ROLLBACK')
{
	my $reading = session();
	my $apply = sub { my $rows = in($reading, 'BEGIN', $page); in($reading, q{SELECT changes_done('r')}, 'COMMIT'); return $rows };

	create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part_1 PARTITION OF item FOR VALUES FROM (0) TO (10)');
	sql($page =~ s/'r'/'other'/r);
	sql('CREATE TABLE part_2 (id int NOT NULL, v int)', 'INSERT INTO part_2 VALUES (11)', 'ALTER TABLE item ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (20)', 'INSERT INTO item VALUES (1)');
	in($blocking, 'BEGIN', $page =~ s/'r'/'other'/r);
	is($apply->(), 'upsert (1,)', "$end: a reader reads while another one renews the state");
	in($blocking, $end);
	is(join(' ', sort split /\n/, $apply->()), 'upsert (11,)', "$end: it gets the row of the new partition") if $end eq 'ROLLBACK';
	$apply->();
	sql('ALTER TABLE item DETACH PARTITION part_2');
	is($apply->(), 'reset', "$end: it copies the table when the partition is detached");
	sql('DROP TABLE part_2');
	leave($reading);
}

# a session keeps the renewed state uncommitted, while others come, each for a page
create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part_1 PARTITION OF item FOR VALUES FROM (0) TO (10)');
sql('CREATE TABLE part_2 (id int NOT NULL, v int)', 'INSERT INTO part_2 VALUES (11)', 'ALTER TABLE item ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (20)');
in($blocking, 'BEGIN', $page =~ s/'r'/'other'/r);
sql('BEGIN', $page, q{SELECT changes_done('r')}, 'COMMIT') for 1 .. 3;
is(sql($page), '', 'the rows of a new partition are delivered once while another session renews the state');
is(sql(q{SELECT count(*) FROM uuid9562_changes.log WHERE source = 'item'::regclass}), 1, 'and logged once');
in($blocking, 'ROLLBACK');
sql('DROP TABLE part_2');

# a partition is attached while a reader waits: for the table of states, after another session has stored a state
# from before; for changes_reset(), with a state to renew or, as a new reader, without; or for another partition
foreach my $waits_for ('another session', 'changes_reset()', 'changes_reset() that rolls back', 'a partition')
{
	my ($reading, $other) = (session(), session());
	my $is_new = $waits_for =~ /partition|rolls/;
	my $reader = $is_new ? 'new' : 'r';
	my $read = "SELECT change_type, change_position FROM changes_read('$reader', NULL::item)";

	create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part_1 PARTITION OF item FOR VALUES FROM (0) TO (10)');
	sql('CREATE TABLE part_2 (id int NOT NULL, v int)', 'INSERT INTO part_2 VALUES (11)', 'INSERT INTO item VALUES (1)', $is_new ? () : 'ALTER TABLE item ALTER v SET STATISTICS 5');
	my $attach = 'ALTER TABLE item ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (20)';
	if ($waits_for eq 'another session')
	{
		in($other, 'BEGIN', $page =~ s/'r'/'other'/r);
		sql($attach);
		begin_to_wait($blocking, 'BEGIN; LOCK TABLE uuid9562_changes.state IN SHARE MODE');
		begin_to_wait($reading, $page);
		in($_, 'COMMIT') foreach $other, $blocking;
		in($reading, 'SELECT 1');
		in($reading, 'BEGIN', $page, q{SELECT changes_done('r')}, 'COMMIT') for 1, 2;
	}
	else
	{
		in($other, 'BEGIN', $waits_for eq 'a partition' ? 'ALTER TABLE part_1 OWNER TO CURRENT_USER' : q{SELECT changes_reset('item')});
		begin_to_wait($reading, $read);
		sql($attach);
		in($other, $is_new ? 'ROLLBACK' : 'COMMIT');
		my ($position) = in($reading, 'SELECT 1') =~ /^reset\|(.*)$/m or die;
		in($reading, "SELECT changes_done('$reader', '$position')");	# after a copy, which has the rows of the partition
	}
	sql('ALTER TABLE item DETACH PARTITION part_2');
	like(in($reading, $read), qr/^reset\|/, "a detached partition is noticed after a wait for $waits_for");
	is(sql(q{SELECT count(*) <= 2 FROM uuid9562_changes.state WHERE source = 'item'::regclass}), 't', 'and states do not multiply');
	sql('DROP TABLE part_2');
	leave($reading, $other);
}

# a partition that is gone and ignored comes back with other rows, after two states were stored
{
	my $reading = session();

	create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part_1 PARTITION OF item FOR VALUES FROM (0) TO (10)');
	sql(q{SELECT changes_track('item', dropped_partitions => 'ignore')}, 'CREATE TABLE part_2 (id int NOT NULL, v int)', 'INSERT INTO part_2 VALUES (11), (12)');
	my $attach = 'ALTER TABLE item ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (20)';
	my $apply = sub { my $rows = in($reading, 'BEGIN', $page); in($reading, q{SELECT changes_done('r')}, 'COMMIT'); return $rows };
	$apply->();
	sql($attach);
	in($blocking, 'BEGIN', $page =~ s/'r'/'other'/r);
	$apply->() for 1, 2;
	in($blocking, 'ROLLBACK');
	sql('ALTER TABLE item DETACH PARTITION part_2');
	is($apply->(), '', 'a partition that is gone is ignored');
	sql('DELETE FROM part_2 WHERE id = 11', $attach, 'INSERT INTO item VALUES (1)');
	is($apply->(), 'reset', 'and noticed when it comes back, although another state does not have it');
	sql('DROP TABLE part_2');
	leave($reading);
}

# a reader copies a table for a long time, after a partition of many rows was attached
create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part_1 PARTITION OF item FOR VALUES FROM (0) TO (10)');
sql('CREATE TABLE part_2 (id int NOT NULL, v int)', 'INSERT INTO part_2 SELECT generate_series(10, 6000)', 'ALTER TABLE item ATTACH PARTITION part_2 FOR VALUES FROM (10) TO (9000)');
in($blocking, 'BEGIN', $page =~ s/'r'/'other'/r);
is(sql('BEGIN', $page, q{SELECT changes_done('r')}, 'COMMIT', $page), "reset\n", 'other readers copy the table once, not until it ends');
in($blocking, 'ROLLBACK');

# the generator was ahead of the clock, and is reset to an earlier time
create('CREATE TABLE item (id int PRIMARY KEY, v int)');
sql(q{SELECT uuid_generator_advance(uuidv7_floor(now() + interval '1 hour'), force => true)}, 'INSERT INTO item VALUES (1)');
my @apply = ('BEGIN', $page, q{SELECT changes_done('r')}, 'COMMIT');
is(sql(@apply, q{SELECT changes_purge('item', '-1 day')}), "upsert (1,)\n\n1", 'an entry of the future is purged');
sql('SELECT uuid_generator_reset()', 'INSERT INTO item VALUES (2)');
is(sql(@apply, 'INSERT INTO item VALUES (3)', @apply), "reset\n\nupsert (3,)\n", 'a copy from before the reset does not count, and one after it does');
sql('INSERT INTO item VALUES (4)');
is(sql('SELECT entries FROM changes_tables', q{SELECT entries_waiting, waits_for FROM changes_readers WHERE reader = 'r'}), "3\n1|changes_read()", 'the views know it');
is(sql(q{SELECT changes_purge('item', '-1 day')}, q{SELECT count(*) FROM changes_entries(NULL::item)}), "2\n1", 'entries of the time before the purged one are purged');

# a new reader copies one table for a long time, and another table changes meanwhile
{
	create('CREATE TABLE item (id int PRIMARY KEY, v int)', 'CREATE TABLE large (id int PRIMARY KEY)', q{SELECT changes_track('large')});
	in($blocking, 'BEGIN', q{SELECT change_type FROM changes_read('r', NULL::large)});
	sql('INSERT INTO item VALUES (1)');
	is(sql($page), 'upsert (1,)', 'the first reader of a table does not stop readers of other tables');
	in($blocking, 'ROLLBACK');
	sql('DROP TABLE large');
}

# locks of the table and of readers, in the same order everywhere
{
	my ($untracking, $reading) = (session(), session());

	create('CREATE TABLE item (id int PRIMARY KEY, v int)');
	in($blocking, 'BEGIN', 'SELECT FROM item');
	is(refusal(q{SET lock_timeout = '10 s'; SELECT changes_track('item', operations => '{insert,delete}')}), '', 'changes_track() does not wait for a transaction that has read the table');
	in($blocking, 'INSERT INTO item VALUES (1)');
	begin_to_wait($untracking, q{SELECT changes_untrack('item')});
	begin_to_wait($reading, $page);
	in($blocking, 'COMMIT');
	is(refused_in($untracking, 'SELECT 1'), '', 'changes_untrack() succeeds while a reader waits for it');
	like(refused_in($reading, 'SELECT 1'), qr/changes of table item are not tracked/, 'the reader then finds no triggers');
	leave($untracking, $reading);
}

# a reader compares the table while it is reset
create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part PARTITION OF item FOR VALUES FROM (0) TO (10)', 'CREATE TABLE part_2 PARTITION OF item FOR VALUES FROM (10) TO (20)');
my $comparing = session();
sql('ALTER TABLE item ALTER v SET STATISTICS 7');
in($blocking, 'BEGIN', 'LOCK TABLE part_2');
begin_to_wait($comparing, $page);
sql(q{SELECT changes_reset('item')});
in($blocking, 'ROLLBACK');
in($comparing, 'SELECT 1');
is(sql($page), 'reset', 'a session that was comparing the table does not undo changes_reset()');
leave($comparing);

# a new reader waits for the lock of a partition with its snapshot, while others read and purge
create('CREATE TABLE item (id int PRIMARY KEY, v int) PARTITION BY RANGE (id)', 'CREATE TABLE part PARTITION OF item FOR VALUES FROM (0) TO (10)', 'CREATE TABLE part_2 PARTITION OF item FOR VALUES FROM (10) TO (20)');
my ($late, $other) = (session(), session());
in($other, $page);
in($blocking, 'BEGIN', 'LOCK TABLE part_2');
begin_to_wait($late, q{SELECT change_type FROM changes_read('late', NULL::item)});
sql('INSERT INTO part VALUES (1)');
in($other, 'BEGIN', $page, q{SELECT changes_done('r')}, 'COMMIT');
is(in($other, q{SELECT changes_purge('item', '0')}), 1, 'others purge while a reader waits for a partition');
in($blocking, 'ROLLBACK');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM uuid9562_changes.reader WHERE reader = 'late'}) or die;
in($other, 'INSERT INTO item VALUES (2)');
is(in($other, $page), 'upsert (2,)', 'the reader that has waited resets no others');
in($late, 'SELECT 1');

# a session that has compared the table waits for a partition that is rewritten
in($blocking, 'INSERT INTO item VALUES (11)', 'BEGIN', 'ALTER TABLE part_2 SET UNLOGGED', 'ALTER TABLE part_2 SET LOGGED');
begin_to_wait($other, $page);
in($blocking, 'COMMIT');
is(in($other, 'SELECT 1'), "upsert (2,)\nupsert (11,)\n1", 'a reader that waits for a partition finds its rows after they were rewritten');

leave($late, $other);

# a block creates a temporary table before it waits
is(refusal(q{DO $$BEGIN CREATE TEMPORARY TABLE t (); FOR i IN 1 .. 2 LOOP CALL changes_wait('r', 'item', '0'); END LOOP; END$$}), '', 'changes_wait() after the first temporary table of a session');

# --- schemas of others ----------------------------------------------------------------------------------------

create('CREATE TABLE item (id int PRIMARY KEY, v int)');	# a confirmation starts the purge worker
ok($node->poll_query_until('postgres', q{SELECT NOT EXISTS (SELECT FROM uuid9562_changes.reader LEFT JOIN pg_class AS c ON c.oid = source WHERE c.oid IS NULL)}), 'the purge worker removes a reader of a dropped table that had been reset');
sql('ALTER SCHEMA uuid9562_changes RENAME TO moved');
like(refusal('INSERT INTO item VALUES (3)'), qr/relation "uuid9562_changes.log" does not exist/, 'a change fails while there is no log');
sql('ALTER SCHEMA moved RENAME TO uuid9562_changes', 'ALTER TABLE uuid9562_changes.state ALTER bound_texts TYPE text');
like(refusal($page), qr/table "uuid9562_changes.state" has been altered/, 'a reader fails while a column has another type');
foreach my $index ('((id::text))', '(id) WHERE source > 0')
{
	sql("CREATE INDEX computed ON uuid9562_changes.log $index");
	like(refusal('INSERT INTO item VALUES (3)'), qr/table "uuid9562_changes.log" has been altered/, "a change fails while the log has an index on $index");
	sql('DROP INDEX uuid9562_changes.computed');
}
sql('ALTER TABLE uuid9562_changes.log ADD COLUMN more int');
like(refusal('INSERT INTO item VALUES (3)'), qr/table "uuid9562_changes.log" has been altered/, 'a change fails while the log has another column');
sql('DROP EXTENSION uuid9562_changes CASCADE');
my $owns = sub { return $node->safe_psql('postgres', join(";\n", @_), extra_params => [ '-U', 'owner' ]) };
$owns->('CREATE EXTENSION uuid9562_changes', 'CREATE TABLE mine (id int PRIMARY KEY)', q{SELECT changes_track('mine')}, 'BEGIN', 'INSERT INTO mine VALUES (1)', 'DROP EXTENSION uuid9562_changes CASCADE', 'CREATE SCHEMA uuid9562_changes',
	'CREATE TABLE uuid9562_changes.log (source oid, id uuid, key bytea, PRIMARY KEY (source, id))', 'COMMIT');
is($owns->('TABLE mine', 'SELECT count(*) FROM uuid9562_changes.log'), "1\n0", 'nothing is written to a table that another role has put in the place of the log');

leave($blocking);

# --- without the library's memory -------------------------------------------------------------------------

sql('DROP TABLE uuid9562_changes.log', 'DROP SCHEMA uuid9562_changes', 'CREATE EXTENSION uuid9562_changes', q{SELECT changes_track('mine')}, 'INSERT INTO mine VALUES (2)', q{SELECT changes_purge('mine', '-1 day')});
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is(sql('SELECT source, entries, purged IS NOT NULL FROM changes_tables'), 'mine|0|t', 'changes_tables does not need the generator, for which PostgreSQL 15 and 16 must preload the library');

$node->stop;
done_testing();
