# changes_read() returns the changes of a table, or fails, or returns "reset", whatever happens to the
# table, its triggers and its log.  Roles can read and confirm only what they may.
use ServerTest;
use Sessions;
use World;

my $conf = "shared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\nautovacuum = off\nmax_prepared_transactions = 2\n";
my $world = World->new('changes_read', $conf, allows_streaming => 1, has_archiving => 1, extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
my $node = use_server($world->node);

# Return the changes of a page, and confirm it if that is asked for.  Errors are returned as messages.
sub page
{
	my ($table, %options) = @_;
	my $reader = $options{reader} || 'inside';
	my $arguments = join ', ', "'$reader'", "NULL::$table", map { "$_ => $options{$_}" } grep { defined $options{$_} } qw(page after);
	my $sql = "SELECT concat_ws(' ', change_type, data) FROM changes_read($arguments)";

	$sql .= ";SELECT changes_done('$reader')" if $options{done};
	my ($status, $out, $err) = ($options{node} || $node)->psql($options{database} || 'postgres', $sql, on_error_stop => 0, $options{role} ? (extra_params => [ '-U', $options{role} ]) : ());
	return $err =~ s/.*?(ERROR:[^\n]*).*/$1/sr if $err ne '';
	return $out =~ s/\n+$//r;
}

# Return the position of the last change of a page of the reader "outside".
sub position
{
	my ($table, $after) = @_;

	return $node->safe_psql('postgres', "SELECT change_position FROM changes_read('outside', NULL::$table" . ($after ? ", after => '$after'" : '') . ')') =~ s/.*\n//sr || $after;
}

my $structure = '(id int PRIMARY KEY, v text)';
my $outside;

# Create and track a table, and let two readers copy it and read a change.
sub create
{
	my ($definition, %options) = @_;

	sql('SET client_min_messages = warning; DROP TABLE IF EXISTS item, changes.item, detached CASCADE', "CREATE TABLE item $definition", $options{more} // (),
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

	sql(@statements);
	# the call that notices an alteration can return no rows, because its statement can be older
	page('item') if grep { /^ALTER TABLE/ } @statements;
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
is(sql(q{SELECT changes_key('item')}), '({1},{id},{23},{pg_catalog.=},"id integer")', 'the primary key is known');
is(sql(q{SELECT count(*) FROM changes_read('inside', NULL::item); SELECT changes_verified('item'); CREATE TEMPORARY TABLE x (); SELECT changes_verified('item') > 0}), "0\n0\nt", 'a session compares a table with the catalog when it can have been altered');
sql('INSERT INTO item SELECT n FROM generate_series(101, 105) AS n');
my @positions = split /\n/, sql(q{SELECT change_position FROM changes_read('inside', NULL::item)});
sql(("SELECT changes_done('inside', '$positions[1]')") x 2);
is(page('item'), "upsert (103,)\nupsert (104,)\nupsert (105,)", 'a page is confirmed up to its middle, and twice');
sql("SELECT changes_done('inside', '$positions[0]')");
is(page('item', done => 1), "upsert (101,)\nupsert (102,)\nupsert (103,)\nupsert (104,)\nupsert (105,)", 'a position of an earlier page moves the reader back');
sql('UPDATE item SET v = v || 1 WHERE id = 2; UPDATE item SET v = v || 2 WHERE id = 2; INSERT INTO item VALUES (50)');
is(page('item', page => 1), 'upsert (2,old12)', 'the row is newer than the first of its changes');
is(page('item', page => 3, done => 1), "upsert (2,old12)\nupsert (50,)", 'a key that has changed twice is returned once');
my $wal = q{SELECT pg_current_wal_insert_lsn()};
page('item');
my $before = sql($wal);
page('item') foreach 1 .. 3;
is(sql($wal), $before, 'an empty page writes no WAL');

sql(q{UPDATE item SET v = 'a' WHERE id IN (2, 3)});
is(sql(q{SELECT change_type, data, count(*) OVER (PARTITION BY split_part(change_position, '.', 3)) FROM (SELECT (changes_read('inside', NULL::item)).*) AS page}), "upsert|(2,a)|2\nupsert|(3,a)|2", 'a page that is expanded in the select list is read once');
page('item', done => 1);

# A copy of the rows of one tenant, with the query of doc/clients.md
my ($query) = slurp_file("$FindBin::Bin/doc/clients.md") =~ /^(SELECT CASE WHEN change_type.*?);\n/ms or die 'the page has no query for a tenant';
$query =~ s/(FROM|=) 7\b/$1 1/g == 2 and $query =~ s/tenant 7/tenant 1/ and $query =~ s/::message/::bill/ or die 'the query has another tenant or table';
my $copy_page = q{DO $$
	DECLARE
		change record;
	BEGIN
		FOR change IN SELECT change_type, id, (data).tenant, (data).v FROM (} . $query . q{) AS page LOOP
			IF change.change_type = 'reset' THEN
				DELETE FROM bill_copy;
				INSERT INTO bill_copy SELECT * FROM bill WHERE tenant = 1;
			ELSIF change.change_type = 'delete' THEN
				DELETE FROM bill_copy WHERE id = change.id;
			ELSE
				INSERT INTO bill_copy VALUES (change.id, change.tenant, change.v) ON CONFLICT (id) DO UPDATE SET v = excluded.v;
			END IF;
		END LOOP;
		PERFORM changes_done('tenant 1');
	END$$};
sql('CREATE TABLE bill (id int PRIMARY KEY, tenant int, v text)', 'CREATE TABLE bill_copy (LIKE bill INCLUDING INDEXES)',
	q{INSERT INTO bill SELECT n, n % 2, 'old' FROM generate_series(1, 9) AS n}, q{SELECT changes_track('bill')});
sql($copy_page);
sql('UPDATE bill SET tenant = 1 - tenant WHERE id IN (1, 2)', 'DELETE FROM bill WHERE id IN (3, 4)', 'UPDATE bill SET tenant = NULL WHERE id = 7', q{UPDATE bill SET v = 'new' WHERE id IN (5, 6)}, 'INSERT INTO bill VALUES (10, 0), (11, 1)');
sql($copy_page);
is(sql('SELECT * FROM bill_copy ORDER BY id'), "2|1|old\n5|1|new\n9|1|old\n11|1|", 'a copy of one tenant has the rows that moved to it, and lacks those that left it');
sql(q{SELECT changes_untrack('bill')}, 'DROP TABLE bill, bill_copy');

# --- wrong calls --------------------------------------------------------------------

like(refusal('SELECT * FROM changes_read(NULL, NULL::item)'), qr/22023: name of reader must not be null or empty/, 'a reader needs a name');
like(refusal("BEGIN ISOLATION LEVEL $_; SELECT * FROM changes_read('inside', NULL::item)"), qr/25001: cannot execute changes_read\(\) at isolation level $_/, "$_ is refused") foreach 'REPEATABLE READ', 'SERIALIZABLE';
like(refusal(q{SELECT changes_done(NULL)}), qr/22023: name of reader must not be null or empty/, 'a confirmation needs a name');
like(refusal(q{SELECT changes_done('inside')}), qr/55000: another session has read the last page of reader "inside"/, 'the page of another session cannot be confirmed without a position');
like(refusal("SELECT changes_done('inside', '" . $outside =~ s/1/2/r . "')"), qr/22P02: invalid input syntax for position of changes/, 'an edited position is refused');
like(refusal("SELECT * FROM changes_read('inside', NULL::item, after => '" . substr($outside, 0, -1) . "')"), qr/22P02: invalid input syntax for position of changes/, 'a truncated position is refused');
sql(q{CREATE TABLE other (id int PRIMARY KEY); SELECT changes_track('other')});
like(refusal("SELECT changes_done('elsewhere', '$outside')"), qr/42704: reader "elsewhere" does not exist/, 'the position of another reader is refused');
is(sql(q{SELECT change_type FROM changes_read('inside', NULL::other)}), 'reset', 'a reader can read two tables');
my $two = sql(q{SELECT change_position FROM changes_read('inside', NULL::other)});
is(sql("SELECT changes_done('inside', '$two'); SELECT count(*) FROM changes_read('inside', NULL::other)"), "\n0", 'the position says which table is meant');
like(refusal("SELECT changes_done('nowhere', '$two')"), qr/reader "nowhere" does not exist/, 'a reader must have read');
sql(q{CREATE ROLE stranger; GRANT CREATE ON SCHEMA public TO stranger; SET ROLE stranger; CREATE TABLE strange (id int PRIMARY KEY); SELECT changes_track('strange', log_schema => 'public', log_name => 'strange_log');
	SELECT changes_read('inside', NULL::strange)});
is(sql(q{INSERT INTO other VALUES (9)}, q{SELECT change_type FROM changes_read('inside', NULL::other)}, q{SELECT changes_done('inside')}), "upsert\n", 'a reader of another role with the same name does not prevent that');
sql('DROP TABLE strange, strange_log; DROP OWNED BY stranger; DROP ROLE stranger');
sql('DROP TABLE other');

# --- what happens to the table ------------------------------------------------------

my $reset = qr/^reset$/;
my $always = q{DO $$DECLARE t name; BEGIN FOR t IN SELECT tgname FROM pg_trigger WHERE tgrelid = 'item'::regclass LOOP EXECUTE format('ALTER TABLE item ENABLE ALWAYS TRIGGER %I', t); END LOOP; END$$};
my $not_logged = qr/^ERROR:  changes of table public.item are not logged$/;

foreach my $case (
	[ 'triggers are disabled, and enabled always again', $reset, 'ALTER TABLE item DISABLE TRIGGER ALL', 'DELETE FROM item WHERE id = 3', $always ],
	[ 'triggers are disabled', $not_logged, 'ALTER TABLE item DISABLE TRIGGER ALL' ],
	[ 'triggers are dropped', $not_logged, q{DO $$BEGIN EXECUTE format('DROP TRIGGER uuid9562_changes_%s ON item', 'item'::regclass::oid); END$$} ],
	[ 'triggers are dropped, and created again', $reset, q{DO $$DECLARE t text := 'uuid9562_changes_' || 'item'::regclass::oid; d text := pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = t;
		BEGIN EXECUTE 'DROP TRIGGER ' || t || ' ON item'; DELETE FROM item WHERE id = 3; EXECUTE d; EXECUTE 'ALTER TABLE item ENABLE ALWAYS TRIGGER ' || t; END$$} ],
	[ 'the TRUNCATE trigger gets a condition', $reset, 'DROP TRIGGER uuid9562_changes_truncate ON item', 'CREATE TRIGGER uuid9562_changes_truncate AFTER TRUNCATE ON item WHEN (false) EXECUTE FUNCTION changes_log_trigger()',
		'ALTER TABLE item ENABLE ALWAYS TRIGGER uuid9562_changes_truncate', 'TRUNCATE item', 'INSERT INTO item VALUES (2)' ],
	[ 'the TRUNCATE trigger is disabled for a while', $reset, 'ALTER TABLE item DISABLE TRIGGER uuid9562_changes_truncate', 'TRUNCATE item', 'INSERT INTO item VALUES (2)', 'ALTER TABLE item ENABLE ALWAYS TRIGGER uuid9562_changes_truncate' ],
	[ 'the TRUNCATE trigger is dropped', $reset, 'DROP TRIGGER uuid9562_changes_truncate ON item', 'TRUNCATE item', 'INSERT INTO item VALUES (2)' ],
	[ 'the log is emptied by TRUNCATE, and has entries again', $reset, 'UPDATE item SET v = 1', 'TRUNCATE changes.item', 'UPDATE item SET v = 2 WHERE id = 2' ],
	[ 'the log is emptied by DELETE, and has entries again', $reset, 'UPDATE item SET v = 1', 'DELETE FROM changes.item', 'UPDATE item SET v = 2 WHERE id = 2' ],
	[ 'an entry of the log is deleted', $reset, 'UPDATE item SET v = 1', 'DELETE FROM changes.item WHERE id = 2' ],
	[ 'an entry of the log is deleted in a subtransaction that is rolled back', qr/^upsert \(1,1\)$/, 'UPDATE item SET v = 1 WHERE id = 1',
		'BEGIN', 'SAVEPOINT a', 'DELETE FROM changes.item', 'ROLLBACK TO a', 'COMMIT' ],
	[ 'the trigger of the log is dropped', $not_logged, 'UPDATE item SET v = 1', 'DROP TRIGGER uuid9562_changes_deleted ON changes.item', 'DELETE FROM changes.item' ],
	[ 'entries are deleted while the table is tracked again', $reset, 'UPDATE item SET v = 1', 'BEGIN', 'DELETE FROM changes.item', q{SELECT changes_track('item')}, 'COMMIT' ],
	[ 'the log is dropped', $not_logged, 'DROP TABLE changes.item' ],
	[ 'the log is dropped, and the table is tracked again', $reset, 'DROP TABLE changes.item', 'DELETE FROM item WHERE id = 3', q{SELECT changes_track('item')} ],
	[ 'the log is dropped, and created by hand', $not_logged, 'DROP TABLE changes.item', 'CREATE TABLE changes.item (change_id uuid PRIMARY KEY, id int)' ],
	(map { my ($name, $expected, $change, $back) = @$_;
		[ "$name for a while", $expected, $change, 'DELETE FROM item WHERE id = 3', $back ],
		[ "$name for a while in a transaction", $expected, 'BEGIN', $change, 'DELETE FROM item WHERE id = 3', $back, 'COMMIT' ],
		[ "$name after a change", $expected, 'BEGIN', 'DELETE FROM item WHERE id = 3', $change, 'COMMIT', $back ],
		[ "$name, and nothing changes", qr/^delete \(3,\)$/, $change, $back, 'DELETE FROM item WHERE id = 3' ],
		[ "$name until a savepoint", qr/^delete \(3,\)$/, 'BEGIN', 'SAVEPOINT a', $change, 'DELETE FROM item', 'ROLLBACK TO a', 'DELETE FROM item WHERE id = 3', 'COMMIT' ],
		[ "$name in a transaction that is rolled back", qr/^delete \(3,\)$/, 'DELETE FROM item WHERE id = 3', 'BEGIN', $change, 'DELETE FROM item', 'ROLLBACK' ] }
		[ 'the log has a constraint', $reset, 'ALTER TABLE changes.item ADD CONSTRAINT positive CHECK (id > 0)', 'ALTER TABLE changes.item DROP CONSTRAINT positive' ],
		[ 'the log has an index of an expression', $reset, 'CREATE INDEX negative ON changes.item ((-id))', 'DROP INDEX changes.negative' ]),
	[ 'the log is a partition for a while', $reset, 'CREATE TABLE logs (LIKE changes.item) PARTITION BY LIST (id); ALTER TABLE logs ATTACH PARTITION changes.item DEFAULT', 'DELETE FROM item WHERE id = 3', 'ALTER TABLE logs DETACH PARTITION changes.item; DROP TABLE logs' ],
	[ 'a column of the log is renamed', qr/^delete \(3,\)$/, 'ALTER TABLE changes.item RENAME id TO "or 1=1; --"', 'DELETE FROM item WHERE id = 3' ],
	[ 'the table is not tracked any more', qr/^ERROR:  changes of table public.item are not tracked$/, q{SELECT changes_untrack('item')} ],
	[ 'the table is tracked anew', $reset, q{SELECT changes_untrack('item')}, 'DELETE FROM item WHERE id = 3', q{SELECT changes_track('item')} ],
	[ 'the key column is renamed for a while', qr/^delete \(3,\)$/, 'ALTER TABLE item RENAME id TO "number"', 'DELETE FROM item WHERE number = 3', 'ALTER TABLE item RENAME "number" TO id' ],
	[ 'columns exchange their names', $reset, 'ALTER TABLE item ADD w text', q{SELECT changes_notice('item')}, 'ALTER TABLE item RENAME v TO x', 'ALTER TABLE item RENAME w TO v', 'ALTER TABLE item DROP x' ],
	# PostgreSQL 19 has no other value
	[ 'a column is added, and a session with another setting notices it first', $reset, 'ALTER TABLE item ADD w int DEFAULT 1',
		q{DO $$BEGIN SET standard_conforming_strings = off; EXCEPTION WHEN OTHERS THEN END$$}, q{SELECT changes_notice('item')} ],
	[ 'the key column is renamed, and another has its name', $reset, 'ALTER TABLE item RENAME id TO "number"', 'ALTER TABLE item ADD id int', 'UPDATE item SET id = number + 1', 'DELETE FROM item WHERE number = 3' ],
	[ 'the type of the key column is changed', $not_logged, 'ALTER TABLE item ALTER id TYPE bigint', 'DELETE FROM item WHERE id = 3' ],
	[ 'the primary key has another column', $not_logged, 'ALTER TABLE item DROP CONSTRAINT item_pkey, ALTER v SET NOT NULL', 'UPDATE item SET v = id', 'ALTER TABLE item ADD PRIMARY KEY (v)', 'DELETE FROM item WHERE id = 3' ],
	[ 'the primary key is created again', qr/^delete \(3,\)$/, 'ALTER TABLE item DROP CONSTRAINT item_pkey, ADD PRIMARY KEY (id)', 'DELETE FROM item WHERE id = 3' ],
	[ 'another key is needed', $not_logged, 'ALTER TABLE item DROP id CASCADE', 'UPDATE item SET v = 0' ],
	[ 'row-level security hides rows from the owner', qr/^upsert \(1,1\)$/, 'ALTER TABLE item FORCE ROW LEVEL SECURITY, ENABLE ROW LEVEL SECURITY', 'UPDATE item SET v = 1 WHERE id = 1' ],
	[ 'a column with a volatile default is added, which is dropped', $reset, 'ALTER TABLE item ADD x float DEFAULT random()', 'ALTER TABLE item ALTER x DROP DEFAULT' ],
	[ 'a type is changed, and changed back', $reset, 'ALTER TABLE item ALTER v TYPE int USING length(v)', 'ALTER TABLE item ALTER v TYPE text' ],
	[ 'a column is dropped', qr/^delete \(3\)$/, 'ALTER TABLE item DROP v', 'DELETE FROM item WHERE id = 3' ],
	[ 'an attribute of a column is changed', qr/^delete \(3,\)$/, 'ALTER TABLE item ALTER v SET STATISTICS 10, ALTER v SET DEFAULT 1', 'GRANT SELECT (v) ON item TO PUBLIC', 'DELETE FROM item WHERE id = 3' ],
	[ 'a composite type gets an attribute', $reset, 'DROP TYPE IF EXISTS pair CASCADE; CREATE TYPE pair AS (a int, b text); ALTER TABLE item ADD p pair DEFAULT (1, 2)', undef, 'ALTER TYPE pair ADD ATTRIBUTE c int' ],
	[ 'an attribute of a composite type is renamed', $reset, 'DROP TYPE IF EXISTS pair CASCADE; CREATE TYPE pair AS (a int, b text); ALTER TABLE item ADD p pair', undef, 'ALTER TYPE pair RENAME ATTRIBUTE b TO c' ],
	[ 'a value of an enum in a domain in a composite type is renamed', $reset, q{DROP TYPE IF EXISTS state CASCADE; CREATE TYPE state AS ENUM ('old', 'new'); CREATE DOMAIN known AS state;
		DROP TYPE IF EXISTS pair CASCADE; CREATE TYPE pair AS (a int, b known); ALTER TABLE item ADD p pair}, undef, q{ALTER TYPE state RENAME VALUE 'new' TO 'fresh'} ],
	[ 'a value of an enum in a multirange is renamed', $reset, q{DROP TYPE IF EXISTS state CASCADE; CREATE TYPE state AS ENUM ('old', 'new'); CREATE TYPE states AS RANGE (SUBTYPE = state, MULTIRANGE_TYPE_NAME = states_list);
		ALTER TABLE item ADD s states_list DEFAULT '{[old,new]}'}, undef, q{ALTER TYPE state RENAME VALUE 'new' TO 'fresh'} ],
	[ 'a value of an enum is renamed and renamed back', $reset, q{DROP TYPE IF EXISTS state CASCADE; CREATE TYPE state AS ENUM ('old', 'new'); ALTER TABLE item ADD s state DEFAULT 'new'}, undef,
		q{ALTER TYPE state RENAME VALUE 'new' TO 'fresh'}, q{ALTER TYPE state RENAME VALUE 'fresh' TO 'new'} ],
	[ 'the table is renamed and moved', qr/^delete \(3,\)$/, 'CREATE SCHEMA IF NOT EXISTS attic', 'ALTER TABLE item SET SCHEMA attic', 'DELETE FROM attic.item WHERE id = 3', 'ALTER TABLE attic.item SET SCHEMA public' ],
	[ 'the generator begins again at an earlier time', $reset, q{SELECT uuid_generator_advance(uuidv7_floor(now() + interval '1 hour'))}, q{INSERT INTO item VALUES (8)}, undef, 'SELECT uuid_generator_reset()' ],
	[ 'the log is emptied by DELETE before an entry was read', $reset, q{SELECT changes_reset('item')}, 'TRUNCATE changes.item', undef, 'UPDATE item SET v = 1', 'DELETE FROM changes.item' ],
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
	next if ($expected ne $reset && $expected ne $not_logged) || $name =~ /another/;
	sql(q{DO $$BEGIN IF (SELECT obj_description('changes.item'::regclass) IS NULL) THEN DROP TABLE changes.item; END IF; EXCEPTION WHEN undefined_table THEN NULL; END$$},
		q{SELECT changes_track('item')}) if $expected eq $not_logged;
	is_well($name);
}

# --- partitions -----------------------------------------------------------------------

my $parts = q{(v text, id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE item_1 PARTITION OF item FOR VALUES FROM (1) TO (3);
	CREATE TABLE item_2 (other int, id int NOT NULL, v text); ALTER TABLE item_2 DROP other; ALTER TABLE item ATTACH PARTITION item_2 FOR VALUES FROM (3) TO (10)};
my $later = 'CREATE TABLE item_3 PARTITION OF item FOR VALUES FROM (10) TO (20)';

foreach my $case (
	[ 'a partition is detached', $reset, 'ALTER TABLE item DETACH PARTITION item_2', 'ALTER TABLE item_2 RENAME TO detached' ],
	[ 'a partition is dropped', $reset, 'DROP TABLE item_2' ],
	[ 'a partition is detached, changed and attached', $reset, 'ALTER TABLE item DETACH PARTITION item_2', 'DELETE FROM item_2', 'ALTER TABLE item ATTACH PARTITION item_2 FOR VALUES FROM (3) TO (10)' ],
	[ 'a partition is truncated', $reset, 'TRUNCATE item_2' ],
	[ 'a partition without TRUNCATE trigger is truncated', $reset, $later, 'INSERT INTO item VALUES (1, 10)', sub { page('item', done => 1); $outside = position('item', $outside) }, 'TRUNCATE item_3' ],
	[ 'rows of a partition are changed', qr/^delete \(,1\)\nupsert \(5,3\)$/, 'DELETE FROM item_1 WHERE id = 1', 'UPDATE item_2 SET v = 5' ],
	[ 'a row moves to another partition', qr/^delete \(,3\)\nupsert \(old,2\)$/, 'DELETE FROM item WHERE id = 2', sub { page('item', done => 1); $outside = position('item', $outside) }, 'UPDATE item SET id = 2 WHERE id = 3' ],
	[ 'a partition of other columns is detached', $reset, 'ALTER TABLE item DETACH PARTITION item_2' ],
  )
{
	my ($name, $expected, @statements) = @$case;

	create($parts);
	ref $_ ? $_->() : sql($_) foreach @statements;
	is_now($name, $expected);
	is_well($name) if $expected eq $reset;
	sql('DROP TABLE IF EXISTS item_2');
}
create($parts);
sql(q{CREATE TABLE item_3 (id int NOT NULL, v text); INSERT INTO item_3 SELECT n, n FROM generate_series(11, 13) AS n; ALTER TABLE item ATTACH PARTITION item_3 FOR VALUES FROM (10) TO (20)});
is(page('item'), '', 'a partition with rows is attached');
is_now('then the rows of the partition are read', qr/^upsert \(11,11\)\nupsert \(12,12\)\nupsert \(13,13\)$/);
page('item', done => 1);
create($parts, track => q{, dropped_partitions => 'ignore'});
after('a partition is dropped, and its rows are not read', qr/^$/, 'DROP TABLE item_2');
sql(q{CREATE TABLE item_3 PARTITION OF item FOR VALUES FROM (10) TO (20); ALTER TABLE item ALTER v SET DEFAULT 1;
	CREATE TABLE item_4 PARTITION OF item FOR VALUES FROM (20) TO (30)});
after('partitions come and go', qr/^$/, 'DROP TABLE item_3');
after('the partitioned table is restored from a dump of an earlier state', qr/^ERROR:  changes of table public.item are not tracked/, 'ALTER TABLE item RENAME TO detached', 'CREATE TABLE item (LIKE detached INCLUDING ALL)');
sql('DROP TABLE item, detached CASCADE');
create($structure);
is(sql('SELECT count(*) FROM uuid9562_changes.changes_catalog; SELECT DISTINCT reader FROM uuid9562_changes.changes_reader ORDER BY 1'), "1\ninside\noutside", 'dropped tables are forgotten');

# --- kinds of columns -----------------------------------------------------------------

sub is_read
{
	my ($name, $definition, @pairs) = @_;

	sql(q{SET client_min_messages = warning; DROP TABLE IF EXISTS "it's 50%.x", changes."it's 50%.x", item, changes.item CASCADE}, $definition);
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
is_read('domains that must not be NULL', q{CREATE DOMAIN code AS text NOT NULL CHECK (value <> ''); CREATE DOMAIN long AS code CHECK (length(value) > 2); CREATE TABLE item (c long PRIMARY KEY, v code)},
	q{INSERT INTO item VALUES ('abc', 'd')} => 'upsert (abc,d)', 'DELETE FROM item' => 'delete (abc,)');
is_read('a composite key of NULLs', q{CREATE TYPE nothing AS (a int, b text); CREATE TABLE item (id nothing PRIMARY KEY, v int)},
	q{INSERT INTO item VALUES ('(,)', 1)} => 'upsert ("(,)",1)', 'DELETE FROM item' => 'delete ("(,)",)');
is_read('keys that are equal, but not the same', q{CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE TABLE item (k text COLLATE any_case, n numeric, v int, PRIMARY KEY (k, n))},
	q{INSERT INTO item VALUES ('a', 1.0)} => 'upsert (a,1.0,)', q{UPDATE item SET k = 'A'} => "delete (a,1.0,)\nupsert (A,1.0,)", 'UPDATE item SET n = 1.00' => "delete (A,1.0,)\nupsert (A,1.00,)")
  if sql(q{SELECT count(*) FROM pg_collation WHERE collname = 'und-x-icu'}) ne '0';
is_read('blank-padded and bit keys', q{CREATE TABLE item (c char(5), b bit(3), t varchar(4), PRIMARY KEY (c, b, t))},
	q{INSERT INTO item VALUES ('ab', '101', 'wxyz')} => 'upsert ("ab   ",101,wxyz)', q{DELETE FROM item} => 'delete ("ab   ",101,wxyz)');
is_read('keys of ranges, arrays and enums', q{CREATE TYPE color AS ENUM ('red', 'green'); CREATE TABLE item (c color, r int4range, a int[], u uuid, PRIMARY KEY (c, r, a, u))},
	q{INSERT INTO item VALUES ('red', '[1,3)', '{1,2}', '00000000-0000-0000-0000-000000000001')} => 'upsert (red,"[1,3)","{1,2}",00000000-0000-0000-0000-000000000001)',
	'DELETE FROM item' => 'delete (red,"[1,3)","{1,2}",00000000-0000-0000-0000-000000000001)');
is_read('a large key', q{CREATE TABLE item (k text PRIMARY KEY)}, q{INSERT INTO item VALUES (repeat('x', 3000))} => 'upsert (' . 'x' x 3000 . ')', 'DELETE FROM item' => 'delete (' . 'x' x 3000 . ')');
is_read('an index of the key in descending order and with other columns', q{CREATE TABLE item (a int, b int, v int); CREATE UNIQUE INDEX item_key ON item (b, a) INCLUDE (v); ALTER TABLE item ALTER a SET NOT NULL, ALTER b SET NOT NULL, ADD PRIMARY KEY USING INDEX item_key},
	'INSERT INTO item VALUES (1, 2, 3)' => 'upsert (1,2,3)', 'DELETE FROM item' => 'delete (1,2,)');
is_read('1,600 columns', 'CREATE TABLE item (' . join(', ', map { "c$_ bool" } 1 .. 1599) . ', id int PRIMARY KEY)',
	'INSERT INTO item (id) VALUES (7)' => 'upsert (' . ',' x 1599 . '7)', 'DELETE FROM item' => 'delete (' . ',' x 1599 . '7)');

# --- two sessions -----------------------------------------------------------------------

create($structure);
my ($first, $second) = (session(), session());
my $read = q{SELECT concat_ws(' ', change_type, data) FROM changes_read('inside', NULL::item)};
my $place = q{SELECT change_position FROM changes_read('inside', NULL::item) OFFSET 1};
sql(q{UPDATE item SET v = 'a' WHERE id < 3});
my $overtaken = in($first, $place);
sql(q{UPDATE item SET v = 'b' WHERE id = 1});
my $newer = in($second, q{SELECT change_position FROM changes_read('inside', NULL::item) OFFSET 1});
in($second, "SELECT changes_done('inside', '$newer')");
is(in($second, $read), '', 'a session has confirmed the newer page');
in($first, "SELECT changes_done('inside', '$overtaken')");
is(in($second, $read), "upsert (2,a)\nupsert (1,b)", 'the other session confirms the older page, and both pages are read again');
in($second, q{SELECT changes_done('inside')});
sql(q{UPDATE item SET v = 'c' WHERE id < 3});
in($first, $read);
sql(q{UPDATE item SET v = 'd' WHERE id = 1});
in($second, $read, q{SELECT changes_done('inside')});
is(in($second, $read), '', 'a session has confirmed the newer page, while the other one works');
sql(q{SELECT changes_purge('item', '0')});
leave($first);
is(in($second, $read), "upsert (2,c)\nupsert (1,d)", 'the other session ends, and both pages are read again');
in($second, q{SELECT changes_done('inside')});
is(in($second, $read), '', 'once');
in($second, 'BEGIN', $read);
$first = session();
in($first, 'SET lock_timeout = 1');
like(refused_in($first, $read), qr/lock timeout/, 'a session waits while another one has read in its transaction');
in($second, 'COMMIT');
leave($first, $second);

# Transactions that change rows while the log cannot be used record that it lacks entries.  They do not
# wait for each other.
create($structure);
sql('ALTER TABLE changes.item ADD CONSTRAINT positive CHECK (id > 0)');
($first, $second) = (session(), session());
in($_, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM item') foreach $first, $second;
sql('BEGIN', 'INSERT INTO item VALUES (21)', q{PREPARE TRANSACTION 'missing'});
in($_, q{SET LOCAL lock_timeout = '10 s'}, 'INSERT INTO item VALUES (' . ($_ == $first ? 22 : 23) . ')', 'COMMIT') foreach $first, $second;
sql(q{COMMIT PREPARED 'missing'}, 'ALTER TABLE changes.item DROP CONSTRAINT positive');
is_now('transactions have changed rows while the log could not be used', $reset);
is_well('transactions have changed rows while the log could not be used');
is(sql('SELECT count(*) FROM uuid9562_changes.changes_missing'), '0', 'that is recorded once');
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
create($structure);

# --- privileges ---------------------------------------------------------------------------

sql(q{CREATE ROLE "App Owner" LOGIN; CREATE ROLE clerk LOGIN; CREATE ROLE spy LOGIN; CREATE ROLE "Lese Rolle" LOGIN; CREATE SCHEMA shop AUTHORIZATION "App Owner";
	GRANT USAGE ON SCHEMA shop TO PUBLIC; GRANT CREATE ON DATABASE postgres TO "App Owner"; GRANT CREATE ON SCHEMA public TO spy});
my @owner = (role => 'App Owner');
sub as { my ($role, @statements) = @_; return $node->safe_psql('postgres', join(';', @statements), extra_params => [ '-U', $role ]) }
sub error_as { my ($role, $statement) = @_; my (undef, undef, $err) = $node->psql('postgres', $statement, extra_params => [ '-U', $role ]); return $err }
sql(q{DROP TABLE item; DROP SCHEMA changes CASCADE});
as('App Owner', q{CREATE TABLE shop.orders (id int PRIMARY KEY, v text); INSERT INTO shop.orders VALUES (1, 'a'); SELECT changes_track('shop.orders'); GRANT SELECT ON shop.orders TO "Lese Rolle", clerk});
is(page('shop.orders', @owner, done => 1), 'reset', 'the owner reads');
is(page('shop.orders', role => 'clerk'), 'ERROR:  permission denied for log changes.orders of table shop.orders', 'a reader needs SELECT on the log');
is(page('shop.orders', role => 'spy'), 'ERROR:  permission denied for table shop.orders', 'a reader needs SELECT on the table');
as('App Owner', 'GRANT SELECT ON changes.orders TO "Lese Rolle", clerk, spy');
is(page('shop.orders', role => 'Lese Rolle', reader => 'her', done => 1), 'reset', 'a role with a name in two words reads');
is(sql(q{SELECT owner FROM uuid9562_changes.changes_reader WHERE reader = 'her'}), '"Lese Rolle"', 'its reader belongs to it');
like(page('shop.orders', role => 'clerk', reader => 'her'), qr/reader "her" of table shop.orders belongs to role "Lese Rolle"/, 'nobody reads with the reader of another role');
my $hers = as('App Owner', q{UPDATE shop.orders SET v = 'b'; SELECT change_position FROM changes_read('her', NULL::shop.orders)});
like(error_as('clerk', "SELECT changes_done('her', '$hers')"), qr/reader "her" of table shop.orders belongs to role "Lese Rolle"/, 'nobody confirms for the reader of another role');
is(as('clerk', q{SELECT changes_purge('shop.orders', '10 min'); SELECT changes_notice('shop.orders')}), "0\n", 'everybody can ask for a purge, which respects readers');
is(page('shop.orders', @owner, reader => 'her', done => 1), 'upsert (1,b)', 'the owner of the table reads and confirms with any reader');
is(page('shop.orders', role => 'Lese Rolle', reader => 'her'), '', 'the reader goes on there');
as('App Owner', 'ALTER TABLE shop.orders DISABLE TRIGGER USER', q{SELECT changes_track('shop.orders')});
is(page('shop.orders', role => 'Lese Rolle', reader => 'her', done => 1), 'reset', 'a role that could read the former log can read the new one');
page('shop.orders', @owner, done => 1);
as('App Owner', q{UPDATE shop.orders SET v = 'b'});
as('App Owner', 'ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY');
like(page('shop.orders', role => 'Lese Rolle', reader => 'her'), qr/row-level security hides rows of table shop.orders or its log from role Lese Rolle/, 'row-level security prevents reading');
is(page('shop.orders', @owner), 'upsert (1,b)', 'the owner sees all rows');
as('App Owner', 'ALTER TABLE shop.orders FORCE ROW LEVEL SECURITY');
like(page('shop.orders', @owner), qr/row-level security hides rows/, 'unless row-level security is forced');
as('App Owner', 'ALTER TABLE shop.orders NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY');

# functions and operators that capture calls with a hostile search path
as('spy', q{CREATE TABLE public.sprung (x text)}, q{GRANT ALL ON sprung TO PUBLIC},
	map { my ($name, $arguments, $type) = @$_; "CREATE FUNCTION public.$name($arguments) RETURNS $type LANGUAGE plpgsql AS \$\$BEGIN INSERT INTO public.sprung VALUES ('$name'); RETURN NULL; END\$\$" }
	  [ 'hashtextextended', 'text, bigint', 'bigint' ], [ 'format', 'text, regclass', 'text' ], [ 'format', 'text, text, text', 'text' ], [ 'has_table_privilege', 'regclass, text', 'bool' ], [ 'pg_has_role', 'regrole, text', 'bool' ],
	  [ 'concat_ws', 'text, regclass, regclass', 'text' ], [ 'array_position', 'int2[], int2', 'int' ], [ 'row_security_active', 'regclass', 'bool' ], [ 'split_part', 'text, text, bigint', 'text' ],
	  [ 'equal', 'regclass, regclass', 'bool' ], [ 'equal', 'regclass, oid', 'bool' ], [ 'equal', 'oid, regclass', 'bool' ]);
as('spy', 'CREATE OPERATOR public.= (FUNCTION = public.equal, LEFTARG = regclass, RIGHTARG = regclass)', 'CREATE OPERATOR public.= (FUNCTION = public.equal, LEFTARG = regclass, RIGHTARG = oid)', 'CREATE OPERATOR public.= (FUNCTION = public.equal, LEFTARG = oid, RIGHTARG = regclass)',
	map { "CREATE TABLE public.$_ (x int)" } qw(pg_class pg_trigger pg_type));
my $hostile = 'SET search_path = public, pg_catalog';
sql($hostile, q{UPDATE shop.orders SET v = 'c'}, q{SELECT * FROM changes_read('inside', NULL::shop.orders)}, q{SELECT changes_done('inside', change_position) FROM changes_read('inside', NULL::shop.orders)},
	q{SELECT changes_purge('shop.orders', '0')}, 'SELECT * FROM changes_readers', 'SELECT * FROM changes_tables');
is(sql('SELECT * FROM sprung'), '', 'functions and operators of other roles capture no call');

# --- purge and monitoring -------------------------------------------------------------------

sql(q{DROP TABLE shop.orders, changes.orders; DELETE FROM uuid9562_changes.changes_catalog; DELETE FROM uuid9562_changes.changes_reader});
my $waits = q{SELECT concat_ws(' ', reader, entries_waiting, oldest_waiting IS NOT NULL, waits_for) FROM changes_readers ORDER BY reader};
create($structure, track => q{, reader_expiry => '1 day'});
is(sql($waits), "inside 0 f\noutside 1 t confirmation", 'a reader waits for nothing, another one for a confirmation');
is(sql(q{SELECT changes_track('item'); SELECT reader_expiry, estimated_entries FROM changes_tables; ANALYZE changes.item; SELECT estimated_entries FROM changes_tables}), "changes.item\n1 day|0\n1", 'tracking again keeps the settings, and entries are estimated after ANALYZE');
page('item', done => 1);
$outside = position('item', position('item', $outside));
my $holder = session();
in($holder, 'BEGIN', q{SELECT uuidv7_ordered()});
sql(q{UPDATE item SET v = 'y' WHERE id = 1});
like(sql($waits), qr/^inside 1 t transaction of process \d+$/m, 'a reader waits for a transaction in progress');
leave($holder);
sql(q{SELECT changes_done('ahead', change_position) FROM changes_read('ahead', NULL::item); UPDATE uuid9562_changes.changes_reader SET seen = now() - interval '1 hour' WHERE reader = 'ahead'});
is(sql(q{SELECT changes_purge('item', '0') > 0}), 't', 'entries that all readers have confirmed are purged');
is(page('item'), 'upsert (1,y)', 'others are not');
like(sql($waits), qr/^inside 1 t confirmation$/m, 'a reader that stands at the last purged entry needs no copy');
sql(q{UPDATE uuid9562_changes.changes_reader SET seen = now() - interval '2 days'; SELECT changes_purge('item', '1 hour')});
is(page('item', done => 1), 'upsert (1,y)', 'young entries are kept');
sql(q{UPDATE item SET v = 'z'; UPDATE uuid9562_changes.changes_reader SET seen = now() - interval '2 days'; SELECT changes_purge('item', '0')});
is_now('a reader that has not been seen for a day copies the table again', $reset);
sql('ALTER TABLE changes.item DISABLE TRIGGER ALL; CREATE VIEW shown AS SELECT * FROM changes_readers; GRANT SELECT ON shown TO spy');
is(as('spy', q{SELECT DISTINCT entries_waiting IS NULL FROM changes_readers}), 't', 'who may not read the log does not see how many entries wait');

# --- other databases and servers ------------------------------------------------------------

create($structure);
sql('UPDATE item SET v = 1');
$node->safe_psql('template1', 'CREATE DATABASE copied TEMPLATE postgres');
is(page('item', database => 'copied'), 'reset', 'a database created from this one as template copies the table');
is(page('item', database => 'copied', reader => 'outside', after => "'$outside'"), 'reset', 'so does a reader with a position outside');
my $elsewhere = $node->safe_psql('copied', q{SELECT changes_done('inside', change_position) FROM changes_read('inside', NULL::item); UPDATE item SET v = 2; SELECT max(change_position) FROM changes_read('inside', NULL::item)}) =~ s/.*\n//sr;
is(page('item', reader => 'outside', after => "'$elsewhere'"), 'reset', 'a position of another database is not known');
$node->safe_psql('template1', 'CREATE DATABASE restored');
my $file = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->run_log([ 'pg_dump', '-f', $file, '-d', $node->connstr('postgres') ]);
$node->run_log([ 'psql', '-X', '-q', '-f', $file, '-d', $node->connstr('restored') ]);
is(page('item', database => 'restored', done => 1), 'reset', 'a database restored from a dump copies the table');
is(page('item', database => 'restored', reader => 'outside', after => "'$outside'"), 'reset', 'so does a reader with a position outside');
$node->safe_psql('restored', 'DELETE FROM item WHERE id = 1');
is(page('item', database => 'restored'), 'delete (1,)', 'then its changes are read');
$node->run_log([ 'pg_dump', '-t', 'changes.item', '-f', $file, '-d', $node->connstr('postgres') ]);
sql('UPDATE item SET v = 4; DROP TABLE changes.item');
$node->run_log([ 'psql', '-X', '-q', '-f', $file, '-d', $node->connstr('postgres') ]);
is_now('the log is restored from a dump', $not_logged);
sql(q{SELECT changes_track('item')});
is_well('the log is restored from a dump');
$node->run_log([ 'pg_dump', '--data-only', '-t', 'changes.item', '-f', $file, '-d', $node->connstr('postgres') ]);
sql('UPDATE item SET v = 5; TRUNCATE changes.item');
$node->run_log([ 'psql', '-X', '-q', '-f', $file, '-d', $node->connstr('postgres') ]);
is_now('the data of the log is restored from a dump', $reset);
$node->run_log([ 'pg_dump', '--data-only', '--disable-triggers', '-t', 'item', '-f', $file, '-d', $node->connstr('postgres') ]);
sql('DELETE FROM item');
$node->run_log([ 'psql', '-X', '-q', '-f', $file, '-d', $node->connstr('postgres') ]);
is_now('the data of the table is restored without triggers', $not_logged);

create($structure);
after('a table inherits from it', $not_logged, 'CREATE TABLE heir () INHERITS (item)');

# --- statements that were planned before a column was altered -------------------------------

create($structure);
my $planned = session();
in($planned, q{PREPARE page AS SELECT concat_ws(' ', change_type, (data).id, (data).v) FROM changes_read('inside', NULL::item)}, 'EXECUTE page');
my @exchange = ('ALTER TABLE item ADD w text', q{UPDATE item SET w = v || '!'}, 'ALTER TABLE item DROP v', 'ALTER TABLE item RENAME w TO v');
sql(@exchange);
is(in($planned, 'EXECUTE page'), 'reset', 'a column takes the place of another one: a planned statement gets "reset"');
in($planned, q{SELECT changes_done('inside')});
sql(q{UPDATE item SET v = 'x' WHERE id = 2});
is(in($planned, 'EXECUTE page'), 'upsert 2 x', 'then it gets values of the new column');
in($planned, q{SELECT changes_done('inside')});
sql(@exchange);
page('item', done => 1);
sql(q{UPDATE item SET v = 'y' WHERE id = 2});
is(in($planned, 'EXECUTE page'), '', 'another session gets "reset" first: the planned statement gets nothing');
is(in($planned, 'EXECUTE page'), 'upsert 2 y', 'but the next call gets values of the new column');
sql('ALTER TABLE item RENAME TO former', "CREATE TABLE item $structure");
is(in($planned, 'EXECUTE page'), '', 'another table has got the name of the table: the planned statement gets nothing');
like(refused_in($planned, 'EXECUTE page'), qr/changes of table public\.item are not tracked/, 'then it finds the other table');
leave($planned);
sql(q{DROP TABLE item; SELECT changes_untrack('former'); DROP TABLE former});

# the first call of a session is rolled back, or the session forgets its settings, or it has only planned
foreach ([ 'a rollback of the first call', 'BEGIN', 'EXECUTE page', 'ROLLBACK' ], [ 'RESET ALL', 'EXECUTE page', 'RESET ALL' ], [ 'no earlier call' ])
{
	my ($name, @calls) = @$_;

	create($structure);
	page('item', done => 1);
	$planned = session();
	in($planned, q{PREPARE page AS SELECT concat_ws(' ', change_type, (data).id, (data).v) FROM changes_read('inside', NULL::item)}, @calls);
	sql(@exchange);
	page('item', done => 1);
	sql(q{UPDATE item SET v = 'z' WHERE id = 2});
	is(in($planned, 'EXECUTE page'), '', "after $name, a planned statement gets nothing");
	in($planned, 'CREATE TEMP TABLE x ()');
	is(in($planned, 'EXECUTE page'), 'upsert 2 z', "after $name, the next call gets values of the new column, even if it compares the table again");
	leave($planned);
}

# a session older than changes_track(), and a purge between two statements of changes_read()
{
	my ($reader, $purger) = (session(), session());

	create($structure);
	sql(q{SELECT changes_forget('outside', 'item'); UPDATE item SET v = 'x' WHERE id = 3});
	is(in($reader, q{SELECT data FROM changes_read('inside', NULL::item)}), '(3,x)', 'a session that began before the table was tracked gets a change at once');
	in($reader, q{SELECT changes_done('inside'); SELECT count(*) FROM changes_read('inside', NULL::item)});
	in($purger, 'BEGIN', 'LOCK TABLE changes.item IN ACCESS EXCLUSIVE MODE');
	$reader->{stdin} .= "SELECT change_type FROM changes_read('inside', NULL::item);\n";
	$reader->{run}->pump_nb;
	$node->poll_query_until('postgres', 'SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)') or die 'the reader does not wait';
	in($purger, q{SELECT changes_purge('item', '0')}, 'COMMIT');
	is($reader->query('SELECT 1'), '1', 'the entry at which a reader stands is purged while it reads: nothing is read again');
	leave($reader, $purger);
}

# before the first call of a session, columns change places twice, or the table gets another name
create($structure);
$planned = session();
my $swap = 'ALTER TABLE item RENAME v TO u; ALTER TABLE item RENAME w TO v; ALTER TABLE item RENAME u TO w';
sql('ALTER TABLE item ADD w text');
page('item', done => 1);
sql($swap);
in($planned, q{PREPARE page AS SELECT concat_ws(' ', change_type, (data).id, (data).v) FROM changes_read('inside', NULL::item)});
sql($swap, q{UPDATE item SET v = 'x', w = 'y' WHERE id = 2});
is(in($planned, 'EXECUTE page'), '', 'columns have changed places twice: a planned statement gets nothing');
is(in($planned, 'EXECUTE page'), 'upsert 2 x', 'then it gets the right values');
in($planned, 'BEGIN', $swap, 'EXECUTE page', $swap, 'EXECUTE page', 'COMMIT');
page('item', done => 1);
sql(q{UPDATE item SET v = 'z' WHERE id = 2});
is(in($planned, 'EXECUTE page'), 'upsert 2 z', 'columns change places for a while in a transaction: a planned statement gets the right values');
leave($planned);
create($structure);
$planned = session();
in($planned, q{PREPARE page AS SELECT change_type FROM changes_read('inside', NULL::item)});
sql('ALTER TABLE item RENAME TO former', "CREATE TABLE item $structure", 'DELETE FROM former WHERE id = 1');
is(in($planned, 'EXECUTE page'), '', 'before the first call, another table has got the name of the table: the planned statement gets nothing');
like(refused_in($planned, 'EXECUTE page'), qr/changes of table public\.item are not tracked/, 'then it finds the other table, too');
leave($planned);
sql(q{DROP TABLE item; SELECT changes_untrack('former'); DROP TABLE former});

# --- settings of sessions ---------------------------------------------------------------------

create('(id int PRIMARY KEY, v text, at timestamptz DEFAULT now(), late boolean GENERATED ALWAYS AS (at > timestamptz \'2026-01-01 00:00+00\') STORED)');
my @settings = (q{SET TimeZone = 'Asia/Tokyo'}, q{SET DateStyle = 'German'}, 'SET quote_all_identifiers = on');
sql(q{UPDATE item SET v = 'x' WHERE id = 2});
is(sql(@settings, q{SELECT change_type FROM changes_read('inside', NULL::item)}), 'upsert', 'settings of a session do not alter a generated column');
is(page('item'), q{upsert (2,x,} . sql(q{SELECT quote_ident(at::text) || ',' || late FROM item WHERE id = 2}) =~ s/true/t/r . ')', 'also if another session has other settings');

# --- waits --------------------------------------------------------------------------------

create($structure);
sql('ALTER TABLE item ADD w int');
my $copying = session();
in($copying, 'BEGIN', q{SELECT change_type FROM changes_read('inside', NULL::item)});
my $tracking = session();
$tracking->query_until(qr/tracking/, "\\echo tracking\nSELECT changes_track('item', reader_expiry => '1 day');\n");
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) or die 'changes_track() does not wait';
sql(q{SET lock_timeout = '10 s'; INSERT INTO item VALUES (4, 'written while changes_track() waits for a reader')});
pass('writers do not wait while changes_track() waits for a reader that copies the table');
in($copying, 'COMMIT');
in($tracking, 'SELECT 1');
leave($copying, $tracking);

# others lock a partitioned table before its partitions
create("$structure PARTITION BY RANGE (id)", more => 'CREATE TABLE item_1 PARTITION OF item DEFAULT');
sql('TRUNCATE item');
my ($locking, $reading) = (session(), session());
my $pid = in($reading, 'SELECT pg_backend_pid()');
in($locking, 'BEGIN', 'LOCK TABLE ONLY item IN ACCESS EXCLUSIVE MODE');
$reading->query_until(qr/reading/, "\\echo reading\nSELECT change_type FROM changes_read('inside', NULL::item);\n");
$node->poll_query_until('postgres', "SELECT count(*) = 1 FROM pg_locks WHERE pid = $pid AND NOT granted") or die 'the reader does not wait';
is(sql("SELECT count(*) FROM pg_locks WHERE pid = $pid AND granted AND relation = 'item_1'::regclass"), '0', 'a reader that waits for a partitioned table has not locked its partitions');
in($locking, 'COMMIT');
in($reading, 'SELECT 1');
leave($locking, $reading);

create($structure);
sql('DROP TABLE IF EXISTS renamed', 'ALTER TABLE item RENAME TO renamed', 'CREATE TABLE item (id int PRIMARY KEY)');
like(refusal(q{SELECT changes_track('item')}), qr/relation changes.item already exists/, 'the log of a renamed table is not dropped');
sql('DROP TABLE item', 'ALTER TABLE renamed RENAME TO item');

# --- clocks and crashes -----------------------------------------------------------------------

create($structure);
$world->turn('by -3600');
sql('UPDATE item SET v = 6 WHERE id = 1');
is_now('the clock is set back, and changes are read', qr/^upsert \(1,6\)$/);
$world->turn('normal');
$node->stop('immediate');
$world->start;
is_now('the server has crashed, and changes are read', qr/^upsert \(1,6\)$/);
sql('ALTER TABLE item SET UNLOGGED');
$node->stop('immediate');
$world->start;
sql('ALTER TABLE item SET LOGGED');
is_now('the server crashes while the table is not logged in WAL', $reset);

$node->stop;
done_testing();
