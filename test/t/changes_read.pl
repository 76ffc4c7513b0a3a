# changes_read() returns the changes of a table, or fails, or returns "reset", whatever happens to the
# table and its triggers.  Roles can read and confirm only what they may.
use ServerTest;
use Sessions;
use World;

my $conf = "shared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\nuuid9562.purge_worker = off\nautovacuum = off\nmax_prepared_transactions = 2\n";
my $world = World->new('changes_read', $conf, allows_streaming => 1, has_archiving => 1, extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
my $node = use_server($world->node);

# Return the changes of a page, or their positions, and confirm it if that is asked for.  Errors are
# returned as messages.  If the row type has changed, repeat the call, as its hint says.
sub page
{
	my ($table, %options) = @_;
	my $reader = $options{reader} || 'inside';
	my $call = 'changes_read(' . join(', ', "'$reader'", "NULL::$table", map { "$_ => $options{$_}" } grep { defined $options{$_} } qw(page after)) . ')';
	my $sql = 'SELECT ' . ($options{what} // q{concat_ws(' ', change_type, data)}) . " FROM $call";

	$sql = "BEGIN; $sql; SELECT changes_done('$reader'); COMMIT" if $options{done};
	foreach my $before ('', "SELECT FROM $call;")
	{
		my ($status, $out, $err) = ($options{node} || $node)->psql($options{database} || 'postgres', "$before $sql", on_error_stop => 0, $options{role} ? (extra_params => [ '-U', $options{role} ]) : ());
		next if $err =~ /row type of table \S+ has changed/ && $before eq '';
		$err =~ s/^[^\n]*row type of table \S+ has changed\n[^\n]*\n?//;
		return $err =~ s/.*?(ERROR:[^\n]*).*/$1/sr if $err ne '';
		return $out =~ s/\n+$//r;
	}
}

# Return the position of the last change of a page of the reader "outside".
sub position
{
	my ($table, $after) = @_;

	return page($table, reader => 'outside', after => $after ? "'$after'" : 'NULL', what => 'change_position') =~ s/.*\n//sr || $after;
}

my $structure = '(id int PRIMARY KEY, v text)';
my $outside;

# Create and track a table, and let two readers copy it and read a change.
sub create
{
	my ($definition, %options) = @_;

	sql('SET client_min_messages = warning; DROP TABLE IF EXISTS item, detached CASCADE', "CREATE TABLE item $definition", $options{more} // (),
		q{INSERT INTO item (id, v) SELECT n, 'old' FROM generate_series(1, 3) AS n},
		"SELECT changes_track('item'" . ($options{track} // '') . ')');
	page('item', done => 1);
	$outside = position('item');
	sql(q{UPDATE item SET v = 'new' WHERE id = 1});
	$outside = position('item', $outside);
	page('item', done => 1);
	return;
}

# What both readers get after statements.
sub after
{
	my ($name, $expected, @statements) = @_;

	while (@statements)
	{
		my @batch;

		push @batch, shift @statements while @statements && !ref $statements[0];
		sql(@batch) if @batch;
		(shift @statements)->() if @statements;
	}
	return is_now($name, $expected);
}

sub is_now
{
	my ($name, $expected) = @_;

	like(page('item'), $expected, $name);
	like(page('item', reader => 'outside', after => "'$outside'"), $expected, "$name, with a position outside");
	return;
}

# Both readers copy the table, and get the next change.
sub is_well
{
	my ($name) = @_;

	page('item', done => 1);
	$outside = position('item', $outside);
	sql(q{UPDATE item SET v = 'newer' WHERE id = 2});
	is_now("$name; then changes are read again", qr/^upsert \((2,newer|newer,2)/);
	return;
}

# --- pages --------------------------------------------------------------------------

sql('CREATE EXTENSION uuid9562_changes');
create($structure);
foreach ('', q{, after => '} . position('item', position('item', $outside)) . q{'})
{
	my $read = q{SELECT FROM changes_read('} . ($_ ? 'outside' : 'inside') . "', NULL::item$_)";
	like(sql('BEGIN', $read, "EXPLAIN (ANALYZE, WAL, BUFFERS OFF, COSTS OFF, TIMING OFF, SUMMARY OFF) $read", 'SELECT pg_current_xact_id_if_assigned() IS NULL', 'COMMIT'),
		qr/^Function Scan on changes_read \(actual rows=0(?:\.00)? loops=1\)\nt$/, 'an empty page writes no WAL and assigns no transaction ID' . ($_ && ', with a position outside'));
}
sql(q{UPDATE item SET v = 'a' WHERE id IN (2, 3)});
is(sql(q{SELECT change_type, data, count(*) OVER (PARTITION BY split_part(change_position, '.', 3)) FROM (SELECT (changes_read('inside', NULL::item)).*) AS page}), "upsert|(2,a)|2\nupsert|(3,a)|2", 'a page that is expanded in the select list is read once');
page('item', done => 1);

# Read pages of one change by position, in a transaction each.  Return the number of those that write.
sql(q{CREATE PROCEDURE read_by_position(INOUT number int, place text) LANGUAGE plpgsql AS $$
	DECLARE
		writes int := 0;
	BEGIN
		FOR i IN 1 .. number LOOP
			SELECT coalesce(max(change_position), place) INTO place FROM changes_read('outside', NULL::item, 1, after => place);
			writes := writes + (pg_current_xact_id_if_assigned() IS NOT NULL)::int;
			COMMIT;
		END LOOP;
		number := writes;
	END$$}, 'INSERT INTO item SELECT n FROM generate_series(1001, 2000) AS n');
my $began = time;
cmp_ok(sql(q{CALL read_by_position(1000, '} . position('item', $outside) . q{')}), '<=', 1 + (time - $began) / 60, '1,000 pages by position write at most once a minute');

# What programs do with pages, how long their leases are, and whether all entries can be purged but the last
# ones: pages that have not ended keep entries.
sql(q{CREATE PROCEDURE apply(program text, lease interval) LANGUAGE plpgsql AS $$
	DECLARE
		places text[];
	BEGIN
		FOR i IN 1 .. 350 LOOP
			UPDATE item SET v = i WHERE id < 4;
			COMMIT;
			places := ARRAY(SELECT change_position FROM changes_read('inside', NULL::item, lease => lease) WHERE change_type <> 'reset');
			COMMIT;
			UPDATE item SET v = -i WHERE id = 1;
			COMMIT;
			CONTINUE WHEN program = 'one page in five fails' AND i % 5 = 0 OR program = 'a page is forgotten' AND i = 2;
			FOR n IN CASE program WHEN 'each row is confirmed' THEN 1 ELSE cardinality(places) END .. cardinality(places) LOOP
				FOR time IN 1 .. CASE program WHEN 'each confirmation is sent twice' THEN 2 ELSE 1 END LOOP
					PERFORM changes_done('inside', places[n]);
					COMMIT;
				END LOOP;
			END LOOP;
		END LOOP;
	END$$});
foreach my $case ([ 'each row is confirmed', '1 day', 1 ], [ 'each confirmation is sent twice', '1 day', 1 ], [ 'one page in five fails', '1 day', 0 ], [ 'one page in five fails', '1 us', 1 ], [ 'a page is forgotten', '1 us', 1 ])
{
	my ($program, $lease, $is_purged) = @$case;

	create($structure);
	sql(q{SELECT changes_forget('outside', 'item')}, 'SET client_min_messages = error', "CALL apply('$program', '$lease')");
	is(sql(q{SELECT entries_waiting < 10 FROM changes_readers; SELECT changes_purge('item', '-1 h') > 0; SELECT entries < 10 FROM changes_tables}), $is_purged ? "t\nt\nt" : "t\nt\nf", "$program, lease $lease: the reader goes on");
}

# --- wrong calls --------------------------------------------------------------------

sql(q{CREATE TABLE other (id int PRIMARY KEY); SELECT changes_track('other')});
is(page('other', done => 1), 'reset', 'a reader can read two tables');
sql(q{CREATE ROLE stranger; GRANT CREATE ON SCHEMA public TO stranger; SET ROLE stranger; CREATE TABLE strange (id int PRIMARY KEY); SELECT changes_track('strange'); SELECT changes_read('inside', NULL::strange)});
is(sql(q{INSERT INTO other VALUES (9); BEGIN; SELECT change_type FROM changes_read('inside', NULL::other); SELECT changes_done('inside'); COMMIT}), "upsert\n", 'a reader of another role with the same name does not prevent that');
sql('DROP TABLE strange; DROP OWNED BY stranger; DROP ROLE stranger');
sql('DROP TABLE other');

# --- what happens to the table ------------------------------------------------------

my $reset = qr/^reset$/;
my $always = q{DO $$DECLARE t name; BEGIN FOR t IN SELECT tgname FROM pg_trigger WHERE tgrelid = 'item'::regclass LOOP EXECUTE format('ALTER TABLE item ENABLE ALWAYS TRIGGER %I', t); END LOOP; END$$};
my $not_logged = qr/^ERROR:  changes of table item are not logged$/;
my $not_tracked = qr/^ERROR:  changes of table item are not tracked$/;

foreach my $case (
	[ 'triggers are disabled, and enabled always again', $reset, 'ALTER TABLE item DISABLE TRIGGER ALL', 'DELETE FROM item WHERE id = 3', $always ],
	[ 'triggers are dropped', $not_tracked, q{DO $$BEGIN EXECUTE format('DROP TRIGGER uuid9562_changes_%s ON item', 'item'::regclass::oid); END$$} ],
	[ 'triggers are dropped, and created again', $reset, q{DO $$DECLARE t text := 'uuid9562_changes_' || 'item'::regclass::oid; d text := pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = t;
		BEGIN EXECUTE 'DROP TRIGGER ' || t || ' ON item'; DELETE FROM item WHERE id = 3; EXECUTE d; EXECUTE 'ALTER TABLE item ENABLE ALWAYS TRIGGER ' || t; END$$} ],
	[ 'the TRUNCATE trigger gets a condition', $reset, 'DROP TRIGGER uuid9562_changes_truncate ON item', 'CREATE TRIGGER uuid9562_changes_truncate AFTER TRUNCATE ON item WHEN (false) EXECUTE FUNCTION uuid9562_changes.log_trigger()',
		'ALTER TABLE item ENABLE ALWAYS TRIGGER uuid9562_changes_truncate', 'TRUNCATE item', 'INSERT INTO item VALUES (2)' ],
	[ 'the TRUNCATE trigger is dropped', $reset, 'DROP TRIGGER uuid9562_changes_truncate ON item', 'TRUNCATE item', 'INSERT INTO item VALUES (2)' ],
	[ 'the table is tracked anew', $reset, q{SELECT changes_untrack('item')}, 'DELETE FROM item WHERE id = 3', q{SELECT changes_track('item')} ],
	[ 'the key column is renamed for a while', qr/^delete \(3,\)$/, 'ALTER TABLE item RENAME id TO "number"', 'DELETE FROM item WHERE number = 3', 'ALTER TABLE item RENAME "number" TO id' ],
	[ 'the key column is renamed, and another has its name', $reset, 'ALTER TABLE item RENAME id TO "number"', 'ALTER TABLE item ADD id int', 'UPDATE item SET id = number + 1', 'DELETE FROM item WHERE number = 3' ],
	[ 'the type of the key column is changed', $reset, 'ALTER TABLE item ALTER id TYPE bigint', 'DELETE FROM item WHERE id = 3' ],
	[ 'another primary key', $reset, 'ALTER TABLE item DROP CONSTRAINT item_pkey, ALTER v SET NOT NULL', 'UPDATE item SET v = id', 'ALTER TABLE item ADD PRIMARY KEY (v)', 'DELETE FROM item WHERE id = 3' ],
	[ 'the primary key is created again', $reset, 'ALTER TABLE item DROP CONSTRAINT item_pkey, ADD PRIMARY KEY (id)', 'DELETE FROM item WHERE id = 3' ],
	[ 'another key is needed', $not_logged, 'ALTER TABLE item DROP id CASCADE', 'UPDATE item SET v = 0' ],
	[ 'the index of the primary key is created again', qr/^delete \(3,\)$/, 'REINDEX TABLE CONCURRENTLY item', 'DELETE FROM item WHERE id = 3' ],
	[ 'a column with a volatile default is added, which is dropped', $reset, 'ALTER TABLE item ADD x float DEFAULT random()', 'ALTER TABLE item ALTER x DROP DEFAULT' ],
	[ 'a column is dropped', qr/^delete \(3\)$/, 'ALTER TABLE item DROP v', 'DELETE FROM item WHERE id = 3' ],
	[ 'an attribute of a composite type is renamed', $reset, 'DROP TYPE IF EXISTS pair CASCADE; CREATE TYPE pair AS (a int, b text); ALTER TABLE item ADD p pair', undef, 'ALTER TYPE pair RENAME ATTRIBUTE b TO c' ],
	[ 'a value of an enum in a domain in a composite type is renamed', $reset, q{DROP TYPE IF EXISTS state CASCADE; CREATE TYPE state AS ENUM ('old', 'new'); CREATE DOMAIN known AS state;
		DROP TYPE IF EXISTS pair CASCADE; CREATE TYPE pair AS (a int, b known); ALTER TABLE item ADD p pair}, undef, q{ALTER TYPE state RENAME VALUE 'new' TO 'fresh'} ],
	[ 'a value of an enum in a multirange is renamed', $reset, q{DROP TYPE IF EXISTS state CASCADE; CREATE TYPE state AS ENUM ('old', 'new'); CREATE TYPE states AS RANGE (SUBTYPE = state, MULTIRANGE_TYPE_NAME = states_list);
		ALTER TABLE item ADD s states_list DEFAULT '{[old,new]}'}, undef, q{ALTER TYPE state RENAME VALUE 'new' TO 'fresh'} ],
	[ 'a value of an enum is renamed and renamed back', $reset, q{DROP TYPE IF EXISTS state CASCADE; CREATE TYPE state AS ENUM ('old', 'new'); ALTER TABLE item ADD s state DEFAULT 'new'}, undef,
		q{ALTER TYPE state RENAME VALUE 'new' TO 'fresh'}, q{ALTER TYPE state RENAME VALUE 'fresh' TO 'new'} ],
	[ 'the table is renamed and moved', qr/^delete \(3,\)$/, 'CREATE SCHEMA IF NOT EXISTS attic', 'ALTER TABLE item SET SCHEMA attic', 'DELETE FROM attic.item WHERE id = 3', 'ALTER TABLE attic.item SET SCHEMA public' ],
	[ 'the generator begins again at an earlier time', $reset, q{SELECT uuid_generator_advance(uuidv7_floor(now() + interval '1 hour'))}, q{INSERT INTO item VALUES (8)}, undef, 'SELECT uuid_generator_reset()' ],
	[ 'a column is altered, changes are read, and values are changed, in one transaction', $reset, q{BEGIN; ALTER TABLE item ALTER v SET STATISTICS 5; SELECT changes_read('other', NULL::item); ALTER TABLE item ALTER v TYPE text USING v || 'x'; COMMIT} ],
	[ 'a column is altered, and the table is rewritten', $reset, 'ALTER TABLE item ALTER v SET STATISTICS 10', 'VACUUM FULL item' ],
  )
{
	my ($name, $expected, @statements) = @$case;

	create($structure);
	# the statements before an undefined one prepare the case
	if (my ($end) = grep { !defined $statements[$_] } 0 .. $#statements)
	{
		sql(splice @statements, 0, $end);
		shift @statements;
		$outside = position('item', $outside);
		page('item', done => 1);
	}
	after($name, $expected, @statements);
	isnt(sql(q{SELECT problem FROM changes_tables}), '', "changes_tables names the problem if $name") if $expected eq $not_logged;
	next if ($expected ne $reset && $expected ne $not_logged && $expected ne $not_tracked) || $name =~ /another/;
	sql(q{SELECT changes_track('item')}) if $expected ne $reset;
	is_well($name);
}

# --- partitions -----------------------------------------------------------------------

my $parts = q{(v text, id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (1) TO (3);
	CREATE TABLE item_2 (other int, id int NOT NULL, v text); ALTER TABLE item_2 DROP other; ALTER TABLE item ATTACH PARTITION item_2 FOR VALUES FROM (3) TO (10)};
create($parts);
sql(q{CREATE TABLE item_3 (id int NOT NULL, v text); INSERT INTO item_3 SELECT n, n FROM generate_series(11, 13) AS n; ALTER TABLE item ATTACH PARTITION item_3 FOR VALUES FROM (10) TO (20)});
is(page('item'), 'reset', 'a partition with rows is attached, and nothing else has changed');
is_now('then the rows of the partition are read', qr/^upsert \(11,11\)\nupsert \(12,12\)\nupsert \(13,13\)$/);
page('item', done => 1);
create($parts, track => q{, dropped_partitions => 'ignore'});
after('a partition is dropped, and its rows are not read', qr/^$/, 'DROP TABLE item_2');
sql(q{CREATE TABLE item_3 PARTITION OF item FOR VALUES FROM (10) TO (20); ALTER TABLE item ALTER v SET DEFAULT 1;
	CREATE TABLE item_4 PARTITION OF item FOR VALUES FROM (20) TO (30)});
after('partitions come and go', qr/^$/, 'DROP TABLE item_3');
after('a partition is detached, changed and attached again', $reset, 'ALTER TABLE item DETACH PARTITION item_1', 'DELETE FROM item_1 WHERE id = 1', sub { page('item') }, 'ALTER TABLE item ATTACH PARTITION item_1 FOR VALUES FROM (1) TO (3)');
is_well('a partition is attached again');
after('a partition takes the place of another one', $reset, 'ALTER TABLE item DETACH PARTITION item_1', sub { page('item') }, 'DROP TABLE item_1', 'CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (1) TO (3)');
after('the partitioned table is restored from a dump of an earlier state', $not_tracked, 'ALTER TABLE item RENAME TO detached', 'CREATE TABLE item (LIKE detached INCLUDING ALL)');
sql('DROP TABLE item, detached CASCADE');
# --- kinds of columns -----------------------------------------------------------------

sub is_read
{
	my ($name, $definition, @pairs) = @_;

	sql(q{SET client_min_messages = warning; DROP TABLE IF EXISTS "it's 50%.x", item CASCADE}, $definition);
	my ($table) = $definition =~ /CREATE TABLE ("[^"]*"|\w+)/;
	sql(q{SELECT changes_track('} . $table =~ s/'/''/gr . q{')});
	page($table, done => 1);
	while (my ($statement, $expected) = splice @pairs, 0, 2)
	{
		sql($statement);
		is(page($table, done => 1), $expected, "$name: $statement");
	}
	return;
}

is_read('names with special characters', q{CREATE TABLE "it's 50%.x" ("a'b" int, "c.d%s" text, "e""f" int, PRIMARY KEY ("c.d%s", "a'b"))},
	q{INSERT INTO "it's 50%.x" VALUES (1, 'x', 2)} => 'upsert (1,x,2)', q{DELETE FROM "it's 50%.x"} => 'delete (1,x,)');
is_read('columns with the names of the result and of the function', q{CREATE TABLE item (change_id int PRIMARY KEY, change_type text, data text, change_position text, r int, e int, t int, position text, page int, source int, reader int, after int, id int)},
	'INSERT INTO item VALUES (1)' => 'upsert (1,,,,,,,,,,,,)', 'DELETE FROM item' => 'delete (1,,,,,,,,,,,,)');
is_read('columns of the key with the names of the function', q{CREATE TABLE item (id int, change_id int, e int, found int, row int, place int, entry int, PRIMARY KEY (change_id, id, e, found, row, place, entry))},
	'INSERT INTO item VALUES (1, 2, 3, 4, 5, 6, 7)' => 'upsert (1,2,3,4,5,6,7)', 'DELETE FROM item' => 'delete (1,2,3,4,5,6,7)');
is_read('dropped columns', q{CREATE TABLE item (x int, a text, y int, b text, id int, PRIMARY KEY (id, a)); ALTER TABLE item DROP x, DROP y},
	q{INSERT INTO item VALUES ('a', 'b', 1)} => 'upsert (a,b,1)', 'DELETE FROM item' => 'delete (a,,1)');
is_read('generated columns', q{CREATE TABLE item (id int PRIMARY KEY, d int GENERATED ALWAYS AS (2 * id) STORED, v int)},
	'INSERT INTO item VALUES (4)' => 'upsert (4,8,)', 'DELETE FROM item' => 'delete (4,,)');
is_read('virtual generated columns', q{CREATE TABLE item (id int PRIMARY KEY, d int GENERATED ALWAYS AS (2 * id), v int)},
	'INSERT INTO item VALUES (4)' => 'upsert (4,8,)', 'DELETE FROM item' => 'delete (4,,)') if $node->pg_version >= 18;
is_read('an index of the key in descending order and with other columns', q{CREATE TABLE item (a int, b int, v int); CREATE UNIQUE INDEX item_key ON item (b, a) INCLUDE (v); ALTER TABLE item ALTER a SET NOT NULL, ALTER b SET NOT NULL, ADD PRIMARY KEY USING INDEX item_key},
	'INSERT INTO item VALUES (1, 2, 3)' => 'upsert (1,2,3)', 'DELETE FROM item' => 'delete (1,2,)');
is_read('1,600 columns', 'CREATE TABLE item (' . join(', ', map { "c$_ bool" } 1 .. 1599) . ', id int PRIMARY KEY)',
	'INSERT INTO item (id) VALUES (7)' => 'upsert (' . ',' x 1599 . '7)', 'DELETE FROM item' => 'delete (' . ',' x 1599 . '7)');

# --- two sessions -----------------------------------------------------------------------

create($structure);
my ($first, $second) = (session(), session());
my $read = q{SELECT concat_ws(' ', change_type, data) FROM changes_read('inside', NULL::item)};
in($first, 'BEGIN', $read);
is(in($second, q{SET lock_timeout = '1 ms'}, $read), '', 'a session does not wait after another one has read an empty page in its transaction');
in($first, 'COMMIT');
leave($first, $second);

# A session that has compared a table with the catalog compares it again if an enum has changed.
sql(q{CREATE TYPE kind AS ENUM ('old', 'new')});
create('(id int PRIMARY KEY, v kind)');
$first = session();
is(in($first, $read), '', 'a session has read a table with an enum');
sql(q{ALTER TYPE kind RENAME VALUE 'new' TO 'fresh'});
is(in($first, $read), 'reset', 'then a value of the enum is renamed');
leave($first);
sql('DROP TYPE kind CASCADE');

# Sessions that remember the state of a table at the same time do not wait, and a rollback does no harm.
create($structure);
sql(q{SELECT changes_reset('item')});
($first, $second) = (session(), session());
in($first, 'BEGIN', q{SELECT change_position FROM changes_read('a', NULL::item)});
my $theirs = in($second, q{SET lock_timeout = '1 ms'}, q{SELECT change_position FROM changes_read('b', NULL::item)});
in($first, 'ROLLBACK');
in($second, "SELECT changes_done('b', '$theirs')");
sql(q{UPDATE item SET v = 'b' WHERE id = 1});
is(in($second, q{SELECT data FROM changes_read('b', NULL::item)}), '(1,b)', 'two sessions remember a table at the same time, and one rolls back');
leave($first, $second);

# --- privileges ---------------------------------------------------------------------------

sql(q{CREATE ROLE owner LOGIN; CREATE ROLE spy LOGIN; CREATE SCHEMA shop AUTHORIZATION owner; GRANT USAGE ON SCHEMA shop TO PUBLIC});
$node->safe_psql('postgres', q{CREATE TABLE shop.orders (id int PRIMARY KEY, v text); SELECT changes_track('shop.orders'); GRANT SELECT (id) ON shop.orders TO spy;
	ALTER TABLE shop.orders FORCE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY}, extra_params => [ '-U', 'owner' ]);
is(page('shop.orders', role => 'spy'), 'ERROR:  permission denied for table orders', 'a reader needs SELECT on all columns');
like(page('shop.orders', role => 'owner'), qr/row-level security hides rows of table shop.orders from role owner/, 'row-level security that is forced prevents its owner from reading');

# --- monitoring -----------------------------------------------------------------------------

create($structure);
my $holder = session();
in($holder, 'BEGIN', q{SELECT uuidv7_ordered()});
sql(q{UPDATE item SET v = 'y' WHERE id = 1});
like(sql(q{SELECT entries_waiting, waits_for FROM changes_readers WHERE reader = 'inside'}), qr/^1\|transaction of process \d+$/, 'a reader waits for a transaction in progress');
leave($holder);

# --- statements that were planned before a column was altered -------------------------------

my $prepare = q{PREPARE page AS SELECT concat_ws(' ', change_type, (data).id, (data).v) FROM changes_read('inside', NULL::item)};
my $planned;

# The first call after an alteration must fail, so that the statement is planned again.
sub is_planned_again
{
	my ($name, $expected) = @_;

	like(refused_in($planned, 'EXECUTE page'), qr/row type of table (public\.)?\w+ has changed\n/, "$name: a planned statement fails");
	is(in($planned, 'EXECUTE page'), $expected, "$name: then it returns the right values") if defined $expected;
	return;
}

create($structure);
$planned = session();
in($planned, $prepare, 'EXECUTE page');
my @exchange = ('ALTER TABLE item ADD w text', q{UPDATE item SET w = v || '!'}, 'ALTER TABLE item DROP v', 'ALTER TABLE item RENAME w TO v');
sql(@exchange);
is_planned_again('a column takes the place of another one', 'reset');
page('item', done => 1);
sql(q{UPDATE item SET v = 'x' WHERE id = 2});
is(in($planned, 'EXECUTE page'), 'upsert 2 x', 'the next page needs no new plan');
sql(@exchange);
page('item', done => 1);
sql(q{UPDATE item SET v = 'y' WHERE id = 2});
is_planned_again('another session has read the reset', 'upsert 2 y');
sql('ALTER TABLE item RENAME TO former', "CREATE TABLE item $structure");
is_planned_again('another table has got the name of the table');
like(refused_in($planned, 'EXECUTE page'), qr/changes of table item are not tracked/, 'then the statement finds the other table');
leave($planned);
sql(q{DROP TABLE item, former});
create($structure);
$planned = session();
in($planned, 'PREPARE page AS SELECT (data).v FROM changes_entries(NULL::item)', 'EXECUTE page');
sql(@exchange);
is_planned_again('changes_entries()');
leave($planned);

# the first call of a session is rolled back, or the session forgets its settings, or it has only planned
foreach ([ 'a rollback of the first call', 'BEGIN', 'EXECUTE page', 'ROLLBACK' ], [ 'DISCARD TEMP', 'EXECUTE page', 'DISCARD TEMP' ], [ 'no earlier call' ])
{
	my ($name, @calls) = @$_;

	create($structure);
	$planned = session();
	in($planned, $prepare, @calls);
	sql(@exchange);
	page('item', done => 1);
	sql(q{UPDATE item SET v = 'z' WHERE id = 2});
	is_planned_again($name, 'upsert 2 z');
	leave($planned);
}

# columns change places twice, also where the session itself does it
create($structure);
my $swap = 'ALTER TABLE item RENAME v TO u; ALTER TABLE item RENAME w TO v; ALTER TABLE item RENAME u TO w';
sql('ALTER TABLE item ADD w text');
page('item', done => 1);
$planned = session();
sql($swap);
in($planned, $prepare);
sql($swap, q{UPDATE item SET v = 'x', w = 'y' WHERE id = 2});
is_planned_again('columns have changed places twice before the first call', 'upsert 2 x');
sql($swap);
in($planned, 'DEALLOCATE page', $prepare);
sql($swap);
is_planned_again('columns have changed places twice after it', 'upsert 2 x');
foreach ([ 'in a transaction that rolls back', 'BEGIN', $swap, $prepare, 'ROLLBACK' ], [ 'in a savepoint that rolls back', 'BEGIN', 'SAVEPOINT a', $swap, $prepare, 'ROLLBACK TO a', 'COMMIT' ])
{
	my ($name, @statements) = @$_;

	in($planned, 'DEALLOCATE page', @statements);
	is_planned_again("columns have changed places $name", 'upsert 2 x');
	leave($planned);
	$planned = session();
	in($planned, @statements);
	is_planned_again("columns have changed places $name, before the first call", 'upsert 2 x');
}
leave($planned);
$planned = session();
in($planned, 'BEGIN', $prepare =~ s/PREPARE page AS/DECLARE page CURSOR FOR/r);
sql($swap);
like(refused_in($planned, 'FETCH page'), qr/row type of table item has changed/, 'columns have changed places after a cursor was declared');
in($planned, 'ROLLBACK');
leave($planned);

# --- locks ----------------------------------------------------------------------------------

# a purge between two steps of changes_read()
create($structure);
my ($reader, $purger) = (session(), session());
sql(q{SELECT changes_forget('outside', 'item')});
in($reader, q{SELECT count(*) FROM changes_read('inside', NULL::item)});
in($purger, 'BEGIN', 'LOCK TABLE item IN ACCESS EXCLUSIVE MODE');
begin_to_wait($reader, q{SELECT change_type FROM changes_read('inside', NULL::item)});
in($purger, q{SELECT changes_purge('item', '0')}, 'COMMIT');
is($reader->query('SELECT 1'), '1', 'the entry at which a reader stands is purged while it reads: nothing is read again');
leave($reader, $purger);

# others lock a partitioned table before its partitions
create("$structure PARTITION BY RANGE (id)", more => 'CREATE TABLE item_1 PARTITION OF item DEFAULT');
sql('TRUNCATE item');
my ($locking, $reading) = (session(), session());
my $pid = in($reading, 'SELECT pg_backend_pid()');
in($locking, 'BEGIN', 'LOCK TABLE ONLY item IN ACCESS EXCLUSIVE MODE');
begin_to_wait($reading, q{SELECT change_type FROM changes_read('inside', NULL::item)});
is(sql("SELECT count(*) FROM pg_locks WHERE pid = $pid AND granted AND relation = 'item_1'::regclass"), '0', 'a reader that waits for a partitioned table has not locked its partitions');
in($locking, 'COMMIT');
in($reading, 'SELECT 1');
leave($locking, $reading);

# --- a rewrite between reset and its confirmation -----------------------------------------------

# COPY takes its snapshot before it waits for the lock of the table, and misses the rows that are rewritten meanwhile.
sql('CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER heap_tableam_handler');
foreach my $case (
	[ '', $structure, 'ALTER TABLE item ADD u uuid DEFAULT gen_random_uuid()' ],
	[ '', $structure, 'ALTER TABLE item ALTER v TYPE text USING v || 1' ],
	[ '', $structure, 'ALTER TABLE item SET ACCESS METHOD other_heap' ],
	[ "1\n2", $parts, 'ALTER TABLE item_2 SET ACCESS METHOD other_heap' ],
	sql('SHOW server_version_num') >= 190000 ? ([ '', $structure, 'REPACK (CONCURRENTLY) item' ], [ "1\n2", $parts, 'REPACK (CONCURRENTLY) item_2' ]) : ())
{
	my ($incomplete, $definition, $rewrite) = @$case;

	foreach ([ $incomplete ], [ "1\n2\n3", 'LOCK TABLE item IN ACCESS SHARE MODE' ])
	{
		my ($expected, @lock) = @$_;
		my $name = "$rewrite before " . (@lock ? 'LOCK TABLE and COPY' : 'COPY');

		create($definition);
		sql(q{SELECT changes_reset('item')});
		my $inside = page('item', what => 'change_position');
		$outside = position('item', $outside);
		is((queue('item', [ $rewrite ], [ 'BEGIN', @lock, 'COPY (SELECT id FROM item ORDER BY id) TO STDOUT', 'COMMIT' ]))[1], $expected, "$name: " . (@lock ? 'all rows' : 'rows are missing'));
		like(refusal("SELECT changes_done('inside', '$inside')"), qr/WARNING:  01000: page of reader "inside" of table item cannot be confirmed\nDETAIL: .* The next page is "reset"\./, "$name: the page cannot be confirmed");
		is_now("$name: the table must be copied again", $reset);
	}
	sql('DROP TABLE IF EXISTS item_2');
}

# --- restarts ---------------------------------------------------------------------------------

create($structure);
my $copied = "'" . page('item', reader => 'copied', after => 'NULL', what => 'change_position') . "'";
is(page('item', reader => 'copied', after => $copied), '', 'a target has stored the position of a copy');
$node->stop('fast');
$world->start;
is(page('item', reader => 'copied', after => $copied), '', 'a restart before any change does not let it copy the table again');
sql('ALTER TABLE item SET UNLOGGED');
$node->stop('immediate');
$world->start;
sql('ALTER TABLE item SET LOGGED');
is_now('the server crashes while the table is not logged in WAL', qr/^reset$/);

$node->stop;
done_testing();
