# The scripts in examples/changes make the inserts, updates and deletes of a table readable, as a
# role that is not a superuser.
use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Sessions;
use Test::More;
use World;

my $conf = "shared_preload_libraries = 'uuid9562'\nuuid9562.max_ahead = 1d\nautovacuum = off\nmax_prepared_transactions = 2\n";
my $world = World->new('changes', $conf, allows_streaming => 'logical', extra => [ '--encoding', 'UTF8' ]) or plan skip_all => World::REASON;
my $primary = use_server($world->node);
my $superuser = getpwuid $<;
sql(q{
	CREATE ROLE app LOGIN;
	CREATE ROLE clerk LOGIN;
	CREATE ROLE reader LOGIN;
	CREATE SCHEMA shop AUTHORIZATION app;
	GRANT USAGE ON SCHEMA shop TO clerk, reader});

sub app { my ($server, @statements) = @_; return $server->safe_psql('postgres', join(";\n", @statements), extra_params => [ '-U', 'app' ]) }

# Run a script of the example.  Return its output.
sub script
{
	my ($server, $user, $name, @variables) = @_;
	my $out = '';

	IPC::Run::run([ 'psql', '-X', '-d', $server->connstr('postgres') . " user=$user", (map { ('-v', $_) } @variables), '-f', "$FindBin::Bin/examples/changes/$name.sql" ],
		'>', \$out, '2>&1');
	return $out;
}

sub track { my ($server, $user, @variables) = @_; return script($server, $user, 'track', @variables) }

# --- what is refused --------------------------------------------------------------

my $objects = q{SELECT (SELECT count(*) FROM pg_class WHERE relpersistence <> 't') || ' ' || (SELECT count(*) FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
	WHERE relpersistence <> 't') || ' ' || (SELECT count(*) FROM pg_trigger) || ' ' || (SELECT count(*) FROM pg_constraint) || ' ' || (SELECT count(*) FROM pg_proc)};
sql(q{CREATE SCHEMA odd},
	'CREATE TABLE odd.keyless (id int)',
	'CREATE UNLOGGED TABLE odd.unlogged (id int PRIMARY KEY)',
	'CREATE VIEW odd.view AS SELECT 1 AS id',
	'CREATE TABLE odd.parent (id int PRIMARY KEY); CREATE TABLE odd.child () INHERITS (odd.parent)',
	'CREATE TABLE odd.whole (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE odd.part PARTITION OF odd.whole FOR VALUES FROM (0) TO (1)',
	'CREATE UNLOGGED TABLE odd.unlogged_part PARTITION OF odd.whole DEFAULT',
	'CREATE TABLE odd.forced (id int PRIMARY KEY); ALTER TABLE odd.forced FORCE ROW LEVEL SECURITY',
	'CREATE TABLE odd.changed (id int PRIMARY KEY, changed uuid)',
	'CREATE TABLE odd.deleted (id int PRIMARY KEY, deleted boolean)',
	'CREATE TABLE odd.taken (id int PRIMARY KEY); CREATE TABLE odd.taken_deleted (id int)',
	'CREATE TABLE odd.indexed (id int PRIMARY KEY, at timestamptz); CREATE INDEX indexed_changed ON odd.indexed (at)',
	'CREATE TABLE odd.later (id int PRIMARY KEY); CREATE TRIGGER "~~" BEFORE UPDATE ON odd.later FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
	'CREATE TABLE odd.' . 'x' x 50 . ' (id int PRIMARY KEY)',
	'CREATE TABLE odd.others (id int PRIMARY KEY)',
	'GRANT USAGE ON SCHEMA odd TO app');
app($primary, 'CREATE TABLE shop.short (id int PRIMARY KEY)');
my $before = sql($objects);
foreach (
	[ 'keyless', qr/it has no primary key/ ],
	[ 'unlogged', qr/it is unlogged/ ],
	[ 'view', qr/it is not a table/ ],
	[ 'parent', qr/other tables inherit from it/ ],
	[ 'part', qr/it is a partition/ ],
	[ 'whole', qr/its partition odd\.unlogged_part is a foreign or unlogged table/ ],
	[ 'forced', qr/it hides rows from its owner/ ],
	[ 'changed', qr/column "changed" already exists/ ],
	[ 'deleted', qr/column "deleted" already exists/ ],
	[ 'taken', qr/"taken_deleted" already exists/ ],
	[ 'indexed', qr/"indexed_changed" already exists/ ],
	[ 'later', qr/its trigger "~~" would fire after the stamp/ ],
	[ 'x' x 50, qr/its name is too long/ ],
	[ 'missing', qr/relation "odd.missing" does not exist/ ])
{
	my ($table, $message) = @$_;

	like(track($primary, $superuser, "table=odd.$table"), qr/ERROR:.*$message/, "$table is refused");
}
like(track($primary, $superuser, 'table=pg_catalog.pg_authid'), qr/it is a system table/, 'a system table is refused');
like(track($primary, 'app', 'table=odd.others'), qr/you are not its owner/, 'a table of another role is refused');
like(track($primary, 'app', 'table=shop.short', $_ . '=' . 'é' x 32), qr/the name of a new column is too long/, "a name with 64 bytes is refused for $_") foreach 'column', 'deleted';
like(track($primary, 'app'), qr/the variable "table" is missing/, 'a missing variable is refused');
is(sql($objects), $before, 'a refused table does not change');

# --- a table with rows ------------------------------------------------------------

# A domain does not accept the NULLs of deleted rows, and the table has a trigger of its own.
app($primary, q{
	CREATE DOMAIN shop.address AS text NOT NULL;
	CREATE TABLE shop.customer (id int PRIMARY KEY, name text UNIQUE, mail shop.address DEFAULT 'none', notes text COLLATE "C");
	INSERT INTO shop.customer SELECT n, 'name ' || n FROM generate_series(1, 30000) AS n;
	GRANT INSERT, UPDATE, DELETE, SELECT, TRUNCATE ON shop.customer TO clerk});

# The script fails while it fills the stamps of old rows, and continues when it is repeated.
app($primary, q{
	CREATE FUNCTION shop.fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE $$no$$; END';
	CREATE TRIGGER fail BEFORE UPDATE ON shop.customer FOR EACH ROW WHEN (old.id = 25000) EXECUTE FUNCTION shop.fail()});
like(track($primary, 'app', 'table=shop.customer'), qr/ERROR:  no\b/, 'the script fails at an old row');
app($primary, 'DROP TRIGGER fail ON shop.customer');
is(sql('SELECT count(*) BETWEEN 1 AND 29999 FROM shop.customer WHERE changed IS NULL'), 't', 'the batches before the failure are filled');
is(sql(q{SELECT to_regclass('shop.customer_changes') IS NULL}), 't', 'there is no view until all rows are filled');
sql(q{INSERT INTO shop.customer VALUES (0, 'new'); DELETE FROM shop.customer WHERE id = 0});

# It waits for rows that are locked, but does not lock other rows meanwhile.
my $locker = session();
in($locker, 'BEGIN', 'SELECT FROM shop.customer WHERE id = 30000 FOR UPDATE');
my $progress = '';
my $tracking = IPC::Run::start([ 'psql', '-X', '-d', $primary->connstr('postgres') . ' user=app', '-v', 'table=shop.customer', '-f', "$FindBin::Bin/examples/changes/track.sql" ],
	'<', \undef, '>&', \$progress);
for (1 .. 300)
{
	last if $progress =~ /1 rows are locked/;
	$tracking->pump_nb;
	select undef, undef, undef, 0.1;
}
is(sql('SELECT count(*) FROM shop.customer WHERE changed IS NULL'), '1', 'the script fills the rows that are not locked');
leave($locker);
$tracking->finish;
unlike($progress, qr/ERROR/, 'the script ends when the row is unlocked');
is(sql('SELECT count(DISTINCT changed) FROM shop.customer'), '30000', 'each row has its own stamp');
my $tracked = sql($objects);
unlike(track($primary, 'app', 'table=shop.customer'), qr/ERROR/, 'the script can be repeated');
is(sql($objects), $tracked, 'a repeated script changes nothing');
like(track($primary, 'app', 'table=shop.customer', 'column=stamp'), qr/it is already tracked by column "changed"/, 'a second column is refused');
app($primary, 'ALTER TABLE shop.customer DISABLE TRIGGER USER; ALTER TABLE shop.customer ENABLE TRIGGER "~uuidv7_stamp"; DROP TRIGGER "~uuidv7_key" ON shop.customer');
like(track($primary, 'app', 'table=shop.customer'), qr/WARNING:  triggers of table "shop\.customer" were disabled/, 'the script warns about disabled triggers');
is(sql(q{SELECT string_agg(tgname::text || tgenabled::text, ' ' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = 'shop.customer'::regclass AND tgname LIKE '~uuidv7%'}),
	'~uuidv7_deletedA ~uuidv7_keyA ~uuidv7_stampA ~uuidv7_truncateA', 'the script enables and replaces them');
unlike(track($primary, 'app', 'table=shop.customer'), qr/WARNING/, 'and then warns no more');
sql('GRANT SELECT ON shop.customer, shop.customer_changes TO reader');

# A page of the view reads two indexes.  With much work_mem, the planner would prefer a hash table.
sql('INSERT INTO shop.customer_deleted SELECT public.uuidv7_ordered(), -n FROM generate_series(1, 3000) AS n', 'ANALYZE shop.customer', 'ANALYZE shop.customer_deleted');
my $plan = sql(q{SET work_mem = '1GB'}, 'EXPLAIN (COSTS OFF) SELECT * FROM shop.customer_changes WHERE changed > shop.customer_after(NULL) ORDER BY changed LIMIT 100');
like($plan, qr/Merge Append.*customer_changed.*customer_deleted_pkey/s, 'a page of changes merges two indexes');
unlike($plan, qr/Sort$|Seq Scan|hashed/m, 'a page of changes does not read the whole table') or diag($plan);

# --- changes ----------------------------------------------------------------------

# Return the changes after a position, as text, and the next position.
sub changes
{
	my ($position, $table) = @_;
	my @rows = map { [ split /\|/ ] } split /\n/, sql("SELECT public.uuidv7_position(changed, '$position'), CASE WHEN deleted THEN '-' ELSE '+' END || id
		FROM $table" . "_changes WHERE changed > $table" . "_after('$position') ORDER BY changed");

	return (join(' ', map { $_->[1] } @rows), @rows ? $rows[-1][0] : $position);
}
sub clerk { return $primary->safe_psql('postgres', join(";\n", @_), extra_params => [ '-U', 'clerk' ]) }
my $horizon = 'SELECT public.uuidv7_position(public.uuidv7_horizon(), NULL)';
my $position = sql($horizon);
my $feed;
is((changes($position, 'shop.customer'))[0], '', 'there are no changes yet');
clerk(q{INSERT INTO shop.customer VALUES (40001, 'a'), (40002, 'b')}, q{UPDATE shop.customer SET name = 'c' WHERE id = 40001},
	'DELETE FROM shop.customer WHERE id = 2', 'UPDATE shop.customer SET id = 40003 WHERE id = 3',
	q{INSERT INTO shop.customer VALUES (4, 'd') ON CONFLICT (id) DO UPDATE SET name = excluded.name},
	q{BEGIN; SAVEPOINT s; DELETE FROM shop.customer WHERE id = 5; ROLLBACK TO s; COMMIT});
($feed, $position) = changes($position, 'shop.customer');
is($feed, '+40002 +40001 -2 +40003 -3 +4', 'a role without further privileges changes the table, and readers get each change');

# An INSERT waits for the DELETE of its key, and has the smaller stamp.  The DELETE waits for an
# advisory lock after it has deleted the row, and before its trigger fires.
sub send_to { my ($session, $statement) = @_; $session->{stdin} .= "$statement;\n"; $session->{run}->pump_nb; return }
sub await { $primary->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = '$_[0]')") or die "no session waits for $_[0]" }
my ($holding, $deleting, $inserting) = map { session() } 1 .. 3;
in($holding, 'SELECT pg_advisory_lock(1)');
send_to($deleting, 'DELETE FROM shop.customer WHERE id = 6 RETURNING pg_advisory_xact_lock(1)');
await('advisory');
send_to($inserting, q{INSERT INTO shop.customer VALUES (6, 'again')});
await('transactionid');
in($holding, 'SELECT pg_advisory_unlock(1)');
in($_, 'SELECT 1') foreach $deleting, $inserting;
is(sql('SELECT d.changed > c.changed FROM shop.customer AS c JOIN shop.customer_deleted AS d USING (id) WHERE id = 6'), 't',
	'an INSERT that waits for a DELETE has the smaller stamp');
($feed, $position) = changes($position, 'shop.customer');
is($feed, '+6', 'readers ignore the deletion of a row that exists');
leave($holding, $deleting, $inserting);

# A transaction in progress holds back later changes.
in($deleting = session(), 'BEGIN', 'DELETE FROM shop.customer WHERE id = 7');
clerk(q{UPDATE shop.customer SET name = 'later' WHERE id = 8});
is((changes($position, 'shop.customer'))[0], '', 'a deletion in progress holds back later changes');
in($deleting, q{PREPARE TRANSACTION 'deletion'});
is((changes($position, 'shop.customer'))[0], '', 'a prepared deletion holds back later changes');
in($deleting, q{COMMIT PREPARED 'deletion'});
($feed, $position) = changes($position, 'shop.customer');
is($feed, '-7 +8', 'readers get the deletion and the later change');
leave($deleting);

like(refusal('TRUNCATE shop.customer'), qr/0A000: cannot truncate table "customer"/, 'TRUNCATE is refused');

# --- a partitioned table ----------------------------------------------------------

app($primary, q{
	CREATE TABLE shop."Item s" ("a A" int, kind text, deleted boolean, PRIMARY KEY ("a A", kind)) PARTITION BY RANGE ("a A");
	CREATE TABLE shop.low PARTITION OF shop."Item s" FOR VALUES FROM (0) TO (10) PARTITION BY LIST (kind);
	CREATE TABLE shop.low_x PARTITION OF shop.low FOR VALUES IN ('x');
	CREATE TABLE shop.high PARTITION OF shop."Item s" FOR VALUES FROM (10) TO (20);
	INSERT INTO shop."Item s" SELECT n, 'x' FROM generate_series(0, 19) AS n});
my @items = ('table=shop."Item s"', 'column=s S', 'deleted=is deleted');
unlike(track($primary, 'app', @items), qr/ERROR/, 'a partitioned table is tracked');
app($primary, 'CREATE TABLE shop.more PARTITION OF shop."Item s" FOR VALUES FROM (20) TO (30)');
unlike(track($primary, 'app', @items), qr/ERROR/, 'the script is repeated for a new partition');
like(refusal("TRUNCATE shop.$_"), qr/0A000: cannot truncate/, "TRUNCATE of $_ is refused") foreach '"Item s"', 'low', 'low_x', 'more';
$position = sql($horizon);
app($primary, 'DELETE FROM shop.low_x WHERE "a A" = 1', 'UPDATE shop."Item s" SET "a A" = 20 WHERE "a A" = 10', q{INSERT INTO shop.more VALUES (21, 'y')}, 'UPDATE shop.more SET "a A" = 22 WHERE "a A" = 21');
is(sql(qq{SELECT string_agg(concat("is deleted", "a A", kind), ' ' ORDER BY "s S") FROM shop."Item s_changes" WHERE "s S" > shop."Item s_after"('$position')}),
	't1x f20x t10x f22y t21y', 'readers get the changes of all partitions');

# --- names and operators ----------------------------------------------------------

# names with quotes, percent signs, dollar signs and letters that are not ASCII
my $odd = q{shop."It's 100 %s $$ ""x"" \ü"};
my @odd = ("table=$odd", q{column=ge'ändert %1$s "\\}, 'deleted=gelöscht %');
app($primary, qq{
	CREATE TABLE $odd ("i'd %s" int PRIMARY KEY, v text);
	INSERT INTO $odd SELECT n, n FROM generate_series(1, 3) AS n});
unlike(track($primary, 'app', @odd), qr/ERROR/, 'a table with an odd name is tracked');
unlike(track($primary, 'app', @odd), qr/ERROR/, 'and tracked again');
like(track($primary, 'app', $odd[0]), qr/already tracked by column "ge'ändert %1\$s "\\/, 'the message names the column');
app($primary, qq{DELETE FROM $odd WHERE v = '1'; UPDATE $odd SET "i'd %s" = 4 WHERE v = '2'; UPDATE $odd SET v = '5' WHERE v = '3'});
my $odd_changes = $odd =~ s/"$/_changes"/r;
is(sql(qq{SELECT string_agg(concat("gelöscht %", "i'd %s", v), ' ' ORDER BY "ge'ändert %1\$s ""\\") FROM $odd_changes}), 't1 f42 t2 f35', 'readers get its changes');
like(refusal("TRUNCATE $odd"), qr/0A000: cannot truncate/, 'TRUNCATE of it is refused');
unlike(script($primary, 'app', 'untrack', $odd[0]), qr/ERROR/, 'untrack a table with an odd name');

# Names are not looked up in schemas in which another role can create functions.
sql(q{CREATE SCHEMA hostile; CREATE TABLE shop.target (id int PRIMARY KEY)});
foreach my $arguments ('name', 'text')
{
	sql(qq{CREATE FUNCTION hostile.$_($arguments) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE \$\$hijacked\$\$; END'}) foreach qw(quote_ident octet_length);
}
sql(q{CREATE FUNCTION hostile.format(text, name, name) RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE $$hijacked$$; END'},
	q{ALTER ROLE } . $superuser . q{ SET search_path = hostile, shop});
unlike(track($primary, $superuser, 'table=target'), qr/ERROR/, 'the script executes no functions of other schemas');
unlike(script($primary, $superuser, 'untrack', 'table=target'), qr/ERROR/, 'neither does untrack');
sql('ALTER ROLE ' . $superuser . ' RESET search_path', 'DROP SCHEMA hostile CASCADE');

# The operator of the key is not in the search_path.
SKIP:
{
	skip 'citext is not installed', 4 if sql(q{SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'}) eq '0';
	sql('CREATE SCHEMA types', 'CREATE EXTENSION citext SCHEMA types', 'GRANT USAGE ON SCHEMA types TO app');
	app($primary, q{CREATE TABLE shop.word (word types.citext PRIMARY KEY, n int); INSERT INTO shop.word VALUES ('a', 1), ('b', 2)});
	unlike(track($primary, 'app', 'table=shop.word'), qr/ERROR/, 'a key of citext is tracked');
	app($primary, q{UPDATE shop.word SET word = 'A' WHERE word OPERATOR(types.=) 'A'});
	is(sql('SELECT count(*) FROM shop.word_deleted'), '0', 'an equal key is not stored as a deletion');
	app($primary, q{DELETE FROM shop.word WHERE n = 2; INSERT INTO shop.word VALUES ('B', 3)});
	is(sql(q{SELECT string_agg(concat(deleted, word), ' ' ORDER BY changed) FROM shop.word_changes}), 'fA fB', 'readers ignore the deletion of an equal key');
	unlike(script($primary, 'app', 'untrack', 'table=shop.word'), qr/ERROR/, 'untrack a table with a key of citext');
}

# --- names and keys that change ---------------------------------------------------

app($primary, 'CREATE TABLE shop.moved (id int PRIMARY KEY, other int NOT NULL)');
track($primary, 'app', 'table=shop.moved');
foreach ([ 'its key is another column', 'ALTER TABLE shop.moved DROP CONSTRAINT moved_pkey, ADD PRIMARY KEY (other)',
		'ALTER TABLE shop.moved DROP CONSTRAINT moved_pkey, ADD PRIMARY KEY (id)' ],
	[ 'its key has another name', 'ALTER TABLE shop.moved RENAME id TO identity', 'ALTER TABLE shop.moved RENAME identity TO id' ],
	[ 'it has another name', 'ALTER TABLE shop.moved RENAME TO gone', 'ALTER TABLE shop.gone RENAME TO moved' ])
{
	my ($name, $change, $undo) = @$_;
	my $table = $change =~ /TO gone/ ? 'table=shop.gone' : 'table=shop.moved';

	app($primary, $change);
	my $count = sql($objects);
	like(track($primary, 'app', $table), qr/ERROR:.*its name or its primary key has changed/, "a tracked table is refused if $name");
	is(sql($objects), $count, "$name: nothing changes");
	app($primary, $undo);
	unlike(track($primary, 'app', 'table=shop.moved'), qr/ERROR/, "$name: the script succeeds after the change is undone");
}
app($primary, 'ALTER TABLE shop.moved RENAME TO gone; ALTER TABLE shop.gone RENAME id TO identity');
unlike(script($primary, 'app', 'untrack', 'table=shop.gone'), qr/ERROR/, 'a table with another name and key is untracked');

# --- purge ------------------------------------------------------------------------

$position = sql($horizon);
clerk('DELETE FROM shop.customer WHERE id = 9');
my $current = sql($horizon);
is(app($primary, q{SELECT shop.customer_purge('1 day')}), '0', 'new deletions are kept');
cmp_ok(app($primary, q{SELECT shop.customer_purge('-1 s')}), '>', 3000, 'old deletions are removed');
like(refusal("SELECT shop.customer_after('$position')"), qr/55000: position is older than the last purge/, 'a reader that has not read a removed deletion is refused');
like(refusal('SELECT shop.customer_after(NULL)'), qr/55000: position is older than the last purge/, 'a new reader that has not begun at the horizon is refused');
is(sql("SELECT shop.customer_after('$current') IS NOT NULL"), 't', 'a current reader is not refused');
# a new reader, which then copies all rows of the table
is(sql("SELECT shop.customer_after(($horizon)) IS NOT NULL"), 't', 'a reader that begins at the horizon is not refused');
is(app($primary, q{SELECT shop.customer_purge('-1 s')}), '0', 'there is nothing to remove');
is(sql("SELECT shop.customer_after('$current') IS NOT NULL"), 't', 'a purge that removes nothing refuses no reader');

# A clock that was ahead: after a reset, the horizon is below the deletions that were removed.
sql(q{SELECT public.uuid_generator_advance(public.uuidv7_at(now() + interval '1 hour'))});
clerk('DELETE FROM shop.customer WHERE id = 10');
is(app($primary, q{SELECT shop.customer_purge('-2 hours')}), '1', 'a deletion of the future is removed');
sql('SELECT public.uuid_generator_reset()');
clerk('DELETE FROM shop.customer WHERE id = 11');
like(refusal("SELECT shop.customer_after(($horizon))"), qr/55000: position is older than the last purge/, 'after a reset, no reader knows whether it has read the deletion');
is(app($primary, q{SELECT shop.customer_purge('1 day')}), '0', 'the next purge notices the reset');
is(sql("SELECT shop.customer_after(($horizon)) IS NOT NULL"), 't', 'after this purge, a reader that begins at the horizon is not refused');
like(refusal("SELECT shop.customer_after('$current')"), qr/55000: position is older than the last purge/, 'other readers are still refused');
my ($status, $out, $err) = $primary->psql('postgres', q{SELECT shop.customer_purge('-1 s')}, extra_params => [ '-U', 'clerk' ]);
like($err, qr/permission denied/, 'a role without privileges cannot remove deletions');

# --- end --------------------------------------------------------------------------

unlike(script($primary, 'app', 'untrack', $_), qr/ERROR/, "untrack $_") foreach 'table=shop.customer', $items[0];
is(sql(q{SELECT count(*) FROM pg_class WHERE relnamespace = 'shop'::regnamespace AND relname ~ '_(changes|deleted|purged)|changes_|_changed'
	UNION ALL SELECT count(*) FROM pg_proc WHERE pronamespace = 'shop'::regnamespace AND proname <> 'fail'
	UNION ALL SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal AND tgname ~ 'uuidv7'
	UNION ALL SELECT count(*) FROM pg_attribute WHERE attname IN ('changed', 's S') AND attrelid <> 'odd.changed'::regclass}), "0\n0\n0\n0", 'nothing is left');
$primary->stop;
done_testing();
