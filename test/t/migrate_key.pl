# The scripts in examples/migrate_key replace a bigint key and a v4 key under load, as a role that
# is not a superuser, with the functions of managed/uuid9562.sql.  Each step runs twice.
use ServerTest;
use Sessions;

my $node = use_server(new_server('migrate_key', "max_connections = 40\nautovacuum = off\n"));
sql('CREATE ROLE app LOGIN', 'GRANT CREATE ON DATABASE postgres TO app', 'GRANT CREATE ON SCHEMA public TO app',
	'ALTER DATABASE postgres SET search_path = "$user", public, uuid9562');

sub app { return $node->safe_psql('postgres', $_[0], extra_params => [ '-U', 'app' ]) }
app("\\i $FindBin::Bin/managed/uuid9562.sql");

# Run a step with variables.  Repeat it after a lock timeout or deadlock.  Return its output, and
# set $status to its exit status.
my $work = PostgreSQL::Test::Utils::tempdir();
chdir $work;
my $status;
sub command { my ($step, @variables) = @_; return ('psql', '-Xd', $node->connstr('postgres') . ' user=app', (map { ('-v', $_) } @variables), '-f', "$FindBin::Bin/examples/migrate_key/$step.sql") }
sub step_once
{
	my $out = '';

	IPC::Run::run([ command(@_) ], '>', \$out, '2>&1');
	$status = $? >> 8;
	return $out;
}
sub step
{
	my $out;

	for (1 .. 100)
	{
		$out = step_once(@_);
		last if $status == 0 || $out !~ /lock timeout|deadlock detected/;
	}
	return $out;
}

# Check that a step with variables fails with an error, and changes no table.
sub is_refused
{
	my ($name, $error, $step, @with) = @_;
	my $described = '\d public.*' . "\n" . '\df public.*';
	my $before = app($described);

	like(step($step, @with), qr/ERROR: .*$error/, "$step is refused: $name");
	is($status, 3, "the exit status of $step shows the error: $name");
	is(app($described), $before, "$step changes no table: $name");
	return;
}

# --- a bigint key under load ------------------------------------------------------

app(q{
	CREATE TABLE "Order" (
		"Id"       bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
		created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
		note       text);
	CREATE TABLE line (
		id       bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
		order_id bigint NOT NULL REFERENCES "Order" ON DELETE CASCADE ON UPDATE RESTRICT,
		item     text);
	CREATE TABLE invoice (number int, order_id bigint REFERENCES "Order" ON DELETE SET NULL ON UPDATE SET DEFAULT);
	CREATE INDEX ON line (order_id);
	CREATE INDEX ON invoice (order_id);
	CREATE VIEW item_sold WITH (security_barrier) AS SELECT created_at, item FROM line JOIN "Order" AS o ON o."Id" = order_id;
	INSERT INTO "Order" (created_at) SELECT '2026-03-01'::timestamptz + n / 2 * interval '1 hour' FROM generate_series(0, 19999) AS n;
	INSERT INTO line (order_id, item) SELECT "Id", 'tea' FROM "Order";
	INSERT INTO invoice SELECT "Id", CASE WHEN "Id" % 2 = 0 THEN "Id" END FROM "Order" WHERE "Id" <= 1000});
sql('CREATE ROLE reporter', 'GRANT SELECT ON item_sold TO reporter');
my @variables = ('table="Order"', 'key=Id');
my $time = q{time=created_at + "Id" % 1000 * interval '1 microsecond'};

my $script = "$work/writers";
append_to_file($script, q{
	\set old random(1001, 19000)
	\set child random(1001, 19000)
	BEGIN;
	INSERT INTO "Order" (note) VALUES ('new') RETURNING "Id" AS id \gset
	INSERT INTO line (order_id, item) VALUES (:id, 'new'), (:old, 'old');
	UPDATE "Order" SET note = 'changed' WHERE "Id" = :old;
	UPDATE line SET item = 'coffee' WHERE id = :child;
	\sleep 2 ms
	COMMIT;
});
my $out = '';
my $pgbench = IPC::Run::start([ 'pgbench', '--no-vacuum', '--client=4', '--transactions=1000000', "--file=$script",
	$node->connstr('postgres') . ' user=app' ], '>', \$out, '2>&1');
my $written = 'SELECT count(*) >= 100 FROM "Order" WHERE note = \'new\'';
$node->poll_query_until('postgres', $written) or die 'the writers do not write';
foreach my $step ('1_add_columns', '2_fill', '3_validate', '4_create_indexes')
{
	for my $time_of ('first', 'second')
	{
		my $printed = step($step, @variables, $step =~ /^1/ ? $time : ());
		unlike($printed, qr/ERROR/, "$step succeeds under load the $time_of time") or diag($printed);
		like($printed, qr/"Order": \d+ rows filled, \d+ left.*line: \d+ rows filled, \d+ left/s, "$step reports filled rows") if $step =~ /^2/;
	}
}
ok($pgbench->pumpable, 'the writers have run without an error') or diag($out);
$pgbench->kill_kill;
is(app('SELECT count(*) FROM "Order" WHERE "new_Id" IS NULL'), '0', 'each row has a new ID');

app(q{CREATE TABLE before AS SELECT line.id, o.note, created_at, item, o."new_Id" FROM line JOIN "Order" AS o ON o."Id" = order_id});
my $sold = app('SELECT count(*), min(created_at) FROM item_sold');
is_refused('no views', 'the variable "views" is missing', '5_switch', @variables);
unlike(step('5_switch', @variables, 'views=views.sql'), qr/ERROR/, '5_switch succeeds');
is(app(q{SELECT count(*) FROM (SELECT line.id, o.note, created_at, item, o."Id" FROM line JOIN "Order" AS o ON o."Id" = order_id EXCEPT TABLE before) AS lines}),
	'0', 'each line references the same order as before');
is(app('SELECT count(*), min(created_at) FROM item_sold'), $sold, 'the view returns the same rows');
is(app(q{SELECT has_table_privilege('reporter', 'item_sold', 'SELECT'), reloptions FROM pg_class WHERE relname = 'item_sold'}),
	't|{security_barrier=true}', 'the view keeps its privileges and options');
is(app(q{SELECT count(*) FROM (SELECT "Id", lag("Id") OVER (ORDER BY created_at, "old_Id") AS previous FROM "Order" WHERE "old_Id" < 20000
	AND "old_Id" % 1000 NOT IN (0, 1)) AS o WHERE "Id" <= previous}), '0', 'the new IDs are in the order of creation');
is(app(q{SELECT count(*) FROM "Order" WHERE NOT uuid_is_v7("Id") OR abs(extract(epoch FROM created_at - uuidv7_timestamp("Id"))) > 1}), '0',
	'the new IDs have the time of creation');
app(q{INSERT INTO "Order" (note) VALUES ('after'); INSERT INTO line (order_id, item) SELECT "Id", 'after' FROM "Order" WHERE note = 'after';
	DELETE FROM "Order" WHERE "old_Id" IN (2, 4)});
is(app('SELECT count(*) FROM line WHERE old_order_id IN (2, 4)') . app('SELECT count(*) FROM invoice WHERE number IN (2, 4) AND order_id IS NULL'), '02',
	'the foreign keys keep their actions');
like(step($_, @variables, $time), qr/The table has been switched/, "$_ does nothing after the switch") foreach qw(1_add_columns 2_fill 3_validate 4_create_indexes 5_switch);
unlike(step('6_drop_old_columns', @variables), qr/ERROR/, '6_drop_old_columns succeeds');
like(step('6_drop_old_columns', @variables), qr/has no old column/, '6_drop_old_columns does nothing the second time');
is(app(q{SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '"Order"'::regclass AND attnum > 0 AND NOT attisdropped}),
	'created_at note Id', 'only the new column is left');
is(app(q{SELECT string_agg(pg_get_constraintdef(oid), '; ' ORDER BY conrelid::regclass::text) FROM pg_constraint WHERE contype = 'f' AND confrelid = '"Order"'::regclass}),
	'FOREIGN KEY (order_id) REFERENCES "Order"("Id") ON UPDATE SET DEFAULT ON DELETE SET NULL; FOREIGN KEY (order_id) REFERENCES "Order"("Id") ON UPDATE RESTRICT ON DELETE CASCADE',
	'the foreign keys have the same actions');
is(app(q{SELECT count(*) FROM pg_proc WHERE proname LIKE 'fill%'} ) . app(q{SELECT count(*) FROM pg_constraint WHERE conname LIKE '%filled'}), '00',
	'no trigger function and no constraint is left');

# --- a v4 key ---------------------------------------------------------------------

app(q{
	CREATE TABLE customer (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), since timestamp);
	CREATE TABLE address (customer_id uuid REFERENCES customer, street text);
	INSERT INTO customer (since) SELECT '2026-01-01'::timestamp + n * interval '1 minute' FROM generate_series(1, 20000) AS n;
	INSERT INTO address SELECT id, since FROM customer});
my @steps = qw(1_add_columns 2_fill 3_validate 4_create_indexes 5_switch 6_drop_old_columns);
foreach my $step (@steps)
{
	unlike(step($step, 'table=customer', q{time=since AT TIME ZONE 'UTC'}), qr/ERROR/, "$step succeeds with a v4 key");
	is($status, 0, "the exit status of $step is 0");
	cmp_ok(app('SELECT count(DISTINCT xmin::text) FROM customer'), '>', 1, 'each batch of rows is filled in a transaction of its own') if $step =~ /^2/;
}
is(app(q{SELECT count(*) FROM customer JOIN address ON id = customer_id WHERE uuidv7_timestamp(id) = since AT TIME ZONE 'UTC' AND street = since::text}), '20000',
	'a v4 key becomes a v7 key with the time of its row');
is_refused('v7 keys', 'all keys of the table are v7 already', $steps[0], 'table=customer', q{time=since AT TIME ZONE 'UTC'});

# --- a text key with ULIDs, and all steps in one session --------------------------

app(q{
	CREATE TABLE event (id text PRIMARY KEY, what text);
	INSERT INTO event SELECT uuid_encode(gen_random_uuid(), 'ulid'), n FROM generate_series(1, 100) AS n});

# an older snapshot, for which CREATE INDEX CONCURRENTLY waits
my $older = session();
in($older, 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'SELECT count(*) FROM customer');
my $printed = '';
my $psql = IPC::Run::start([ 'psql', '-Xd', $node->connstr('postgres') . ' user=app', (map { ('-v', $_) } 'table=event', q{new_id=uuid_decode(id, 'ulid')}, 'default=NULL'),
	map { ('-f', "$FindBin::Bin/examples/migrate_key/$_.sql") } @steps[0 .. 4] ], '>', \$printed, '2>&1');
$node->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'CREATE UNIQUE INDEX CONCURRENTLY%' AND wait_event_type = 'Lock')})
  or diag('the index does not wait');
sql('SELECT pg_sleep(1)');
in($older, 'COMMIT');
leave($older);
$psql->finish;
unlike($printed, qr/ERROR/, 'all steps succeed in one session, with an older transaction in progress') or diag($printed);
is(app(q{SELECT count(*) FROM event WHERE uuid_encode(id, 'ulid') = old_id}), '100', 'a ULID becomes the UUID with the same bits');
unlike(step('6_drop_old_columns', 'table=event'), qr/ERROR/, '6_drop_old_columns succeeds with a text key');

# Other types of ULIDs, with a foreign key
my %ulid = ('char(26)' => q{uuid_decode(id, 'ulid')}, 'varchar(26)' => q{uuid_decode(id, 'ulid')}, 'bytea' => q{encode(id, 'hex')::uuid});
foreach my $type (sort keys %ulid)
{
	my ($name) = map { "u_$_" } $type =~ /^(\w+)/;

	app("CREATE TABLE $name (id $type PRIMARY KEY, what text); CREATE TABLE ${name}_tag (parent $type NOT NULL REFERENCES $name, tag text);
		INSERT INTO $name SELECT " . ($type eq 'bytea' ? 'uuid_send(u)' : "uuid_encode(u, 'ulid')") . ", u FROM (SELECT gen_random_uuid() AS u FROM generate_series(1, 100)) AS made;
		INSERT INTO ${name}_tag SELECT id, what FROM $name");
	unlike(step($_, "table=$name", "new_id=$ulid{$type}", 'default=NULL', 'views=/dev/null'), qr/ERROR/, "$_ succeeds with a key of $type") foreach @steps;
	is(app("SELECT count(*) FROM $name JOIN ${name}_tag ON $name.id = parent AND $name.id = tag::uuid"), '100', "ULIDs of $type, and references to them, become the UUIDs with the same bits");
}

my $device = 'device' . 'x' x 52;	# the name of the index is truncated
app("CREATE TABLE $device (id int PRIMARY KEY, since timestamptz); INSERT INTO $device VALUES (1, '2026-01-01')");
step($_, "table=$device", 'time=since') foreach @steps[ 0 .. 4 ];
is(app("INSERT INTO $device (since) VALUES (now()) RETURNING uuid_is_v7(id), old_id IS NULL"), 't|t',
	'after the switch, a row needs no old ID if the old key has no default');

# --- objects of the old columns that the new columns lack -------------------------

app(q{
	CREATE TABLE account (id int PRIMARY KEY CONSTRAINT positive CHECK (id > 0), since timestamptz, UNIQUE (id, since), twice int GENERATED ALWAYS AS (2 * id) STORED);
	CREATE TABLE payment (account_id int DEFAULT 1 REFERENCES account ON DELETE SET DEFAULT, item text);
	CREATE INDEX ON payment (account_id);
	CREATE INDEX payment_item ON payment (account_id, item);
	CREATE STATISTICS payment_statistics ON account_id, item FROM payment;
	CREATE POLICY mine ON payment USING (account_id > 0);
	CREATE TRIGGER unchanged BEFORE UPDATE OF account_id ON payment FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
	CREATE RULE nothing AS ON UPDATE TO payment WHERE NEW.account_id = 0 DO INSTEAD NOTHING;
	CREATE FUNCTION payments() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(account_id) FROM payment; END;
	GRANT SELECT (account_id) ON payment TO reporter;
	INSERT INTO account VALUES (1, '2026-01-01'); INSERT INTO payment VALUES (1)});
sql('SET client_min_messages = error; CREATE PUBLICATION payments FOR TABLE payment (account_id) WITH (publish = \'insert\')');
step($_, 'table=account', 'time=since') foreach @steps[ 0 .. 3 ];
my @created = (
	[ 'constraint account_id_since_key on table account', 'ALTER TABLE account ADD UNIQUE (new_id, since)' ],
	[ 'constraint positive on table account', 'ALTER TABLE account DROP CONSTRAINT positive' ],
	[ 'default value for column twice of table account', 'ALTER TABLE account DROP twice' ],
	[ 'default value for column old_account_id of table payment', 'ALTER TABLE payment ALTER new_account_id SET DEFAULT gen_random_uuid()' ],
	[ 'index payment_item', 'CREATE INDEX ON payment (new_account_id, item)' ],
	[ 'statistics object payment_statistics', 'CREATE STATISTICS new_statistics ON new_account_id, item FROM payment' ],
	[ 'policy mine on table payment', 'CREATE POLICY new_mine ON payment USING (uuid_is_v7(new_account_id))' ],
	[ 'trigger unchanged on table payment', 'CREATE TRIGGER new_unchanged BEFORE UPDATE OF new_account_id ON payment FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()' ],
	[ 'rule nothing on table payment', 'CREATE RULE new_nothing AS ON UPDATE TO payment WHERE NEW.new_account_id IS NULL DO INSTEAD NOTHING' ],
	[ 'function payments()', 'CREATE OR REPLACE FUNCTION payments() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(new_account_id) FROM payment; END' ],
	[ 'publication of table payment in publication payments', undef ],
	[ 'privileges of column old_account_id of table payment', 'GRANT SELECT (new_account_id) ON payment TO reporter' ]);
foreach my $case (@created)
{
	my ($object, $statement) = @$case;
	my $refused = step($steps[4], 'table=account');

	like($refused, qr/ERROR:  the new columns lack objects that the old columns have.*\Q$object\E/s, "the switch fails while the new columns lack an object: $object");
	like($refused, qr/DETAIL:.*index payment_account_id_idx.*index payment_item/s, 'and names all old objects of the kind') if $object eq 'index payment_item';
	defined $statement ? app($statement) : sql('SET client_min_messages = error; ALTER PUBLICATION payments SET TABLE payment (new_account_id)');
	unlike(step($steps[4], 'table=account'), qr/\Q$object\E/, 'and does not name it when the new columns have one') if $object ne $created[-1][0];
}
unlike(step($steps[4], 'table=account'), qr/ERROR/, 'when they have all objects, the switch succeeds');

# --- keys that the scripts cannot migrate -----------------------------------------

# a foreign key that is refused, by the name of its referenced table
my %foreign_key = (
	'in_key' => 'CREATE TABLE %s_tag (parent int REFERENCES %1$s, tag text, PRIMARY KEY (parent, tag))',
	'deferrable' => 'CREATE TABLE %s_tag (parent int REFERENCES %1$s DEFERRABLE)',
	'itself' => 'ALTER TABLE %s ADD parent int REFERENCES %1$s',
	'two_columns' => 'ALTER TABLE %s ADD UNIQUE (id, note); CREATE TABLE %1$s_tag (parent int, note text, FOREIGN KEY (parent, note) REFERENCES %1$s (id, note))',
	'partitions' => 'CREATE TABLE %s_tag (parent int REFERENCES %1$s) PARTITION BY LIST (parent)',
	'children' => 'CREATE TABLE %s_tag (parent int REFERENCES %1$s); CREATE TABLE %1$s_child () INHERITS (%1$s_tag)');
app(join ';', 'CREATE TABLE parted (id int PRIMARY KEY, t timestamptz) PARTITION BY HASH (id)',
	'CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0)', 'CREATE TABLE named (id numeric PRIMARY KEY, t timestamptz)',
	'CREATE TABLE mother (id int PRIMARY KEY, t timestamptz)', 'CREATE TABLE child (PRIMARY KEY (id)) INHERITS (mother)',
	(map { sprintf "CREATE TABLE p_$_ (id int PRIMARY KEY, note text); $foreign_key{$_}", "p_$_" } sort keys %foreign_key),
	'CREATE TABLE plain (id int PRIMARY KEY, t timestamptz, name text)', q{INSERT INTO plain VALUES (1, '2026-01-01', 'tea'), (2, NULL, 'milk')});

foreach my $step (@steps)
{
	is_refused("a foreign key of $_", 'these foreign keys cannot be migrated', $step, "table=p_$_", 'time=now()') foreach sort keys %foreign_key;
	is_refused("the table $_", 'the key of this table cannot be migrated', $step, "table=$_", 'time=t') foreach qw(parted part mother child named);
	is_refused('a key that is not the primary key', 'the key of this table cannot be migrated', $step, 'table=plain', 'key=name', 'time=t');
	is_refused('no table', 'the variable "table" is missing', $step, 'key=id', 'time=t');
}
is_refused('no time', 'the variable "time" is missing', $steps[0], 'table=plain');
is_refused('a time that names no column', 'column "created_at" does not exist', $steps[0], 'table=plain', 'time=created_at');
is_refused('a time of another type', 'function uuidv7_at\(integer\) does not exist', $steps[0], 'table=plain', 'time=id');
is_refused('a time before 1970', 'timestamp out of range', $steps[0], 'table=plain', q{time=coalesce(t, '1969-01-01')});
is_refused('a time that is null', 'the expression "time" or "new_id" is null for some rows', $steps[0], 'table=plain', 'time=t');
is_refused('a new ID that is null', 'the expression "time" or "new_id" is null for some rows', $steps[0], 'table=plain', 'new_id=uuidv7_from(t, int4send(id))');
is_refused('a time that is null in one row', 'the expression "time" or "new_id" is null for some rows', $steps[0], 'table=plain', 'time=min(t)');
is_refused('a default of another type', 'column "new_id" is of type uuid', $steps[0], 'table=plain', 'time=now()', 'default=0');
# --- steps in another order, locks of others, and a file that psql cannot write ---------

app(q{CREATE TABLE room (id int PRIMARY KEY, since timestamptz); CREATE TABLE seat (room_id int REFERENCES room);
	INSERT INTO room SELECT n, '2026-01-01'::timestamptz + n * interval '1 minute' FROM generate_series(1, 1000) AS n; INSERT INTO seat SELECT id FROM room;
	CREATE TABLE copy AS TABLE room; ALTER TABLE copy ADD PRIMARY KEY (id)});
my @needed = (undef, ('1_add_columns') x 2, '3_validate', '4_create_indexes');
foreach my $done (0 .. 3)
{
	foreach my $n ($done + 1 .. 4)
	{
		# 2_fill is part of 3_validate
		next if $done == $n - 1 || $n == 2 && $done == 1 || $n == 1;
		my $missing = $done == 0 && $n <= 2 ? '1_add_columns' : $needed[$n];
		is_refused("step $n after step $done", "run $missing.sql first", $steps[$n], 'table=room', 'views=/dev/null') if $done < $n - 1;
	}
	is_refused('no step before', 'run 1_add_columns.sql first', $steps[1], 'table=room') if $done == 0;
	if ($done == 0)
	{
		my $reader = session();
		my $query = qr/SELECT count\(\*\) FROM seat \/\* a report \*\//;
		in($reader, 'BEGIN', 'SELECT count(*) FROM seat /* a report */');
		my $printed = step_once($steps[0], 'table=room', 'time=since');
		is($status, 3, 'a step fails while another transaction reads a table');
		like($printed, qr/could not lock the tables: canceling statement due to lock timeout.*process \d+ \(\w+\): <insufficient privilege>\nHINT/s, 'and names the session');
		sql('GRANT pg_read_all_stats TO app');
		like(step_once($steps[0], 'table=room', 'time=since'), qr/process \d+ \(\w+, idle in transaction\): $query[ ;]*\nHINT/, 'and its query, if the role may see it');
		in($reader, 'COMMIT');
		leave($reader);
	}
	if ($done == 1)
	{
		sql('ALTER ROLE app SET default_transaction_isolation = serializable');
		queue('room', [ 'ALTER TABLE room ADD other uuid DEFAULT gen_random_uuid()' ], \[ command('2_fill', 'table=room') ]);
		is(app('SELECT count(*) FROM room WHERE new_id IS NULL'), '0', '2_fill fills a table that is rewritten before it has the lock, whatever the default of the isolation level is');
		sql('ALTER ROLE app RESET default_transaction_isolation');
	}
	if ($done == 3)
	{
		like(step_once($steps[3], 'table=room', "views=$work/missing/views.sql"), qr/go to the file $work\/missing\/views\.sql - if psql cannot write there, set the variable "views".*No such file or directory/s,
			'a step says what to do if psql cannot write the file of views');
		is($status, 3, 'and ends');
		is(app(q{SELECT count(*) FROM pg_indexes WHERE tablename IN ('room', 'seat') AND indexname LIKE '%new%'}), '0', 'before it creates indexes');
	}
	unlike(step($steps[$done], 'table=room', 'new_id=uuidv7_from(since, int4send(id))', 'views=/dev/null'), qr/ERROR/, "step $done of a migration with given IDs succeeds");
}
unlike(step($steps[4], 'table=room', 'views=/dev/null'), qr/ERROR/, 'and the switch');
step($_, 'table=copy', 'new_id=uuidv7_from(since, int4send(id))', 'views=/dev/null') foreach @steps[ 0 .. 4 ];
is(app('SELECT count(*) FROM room JOIN copy ON room.id = copy.id AND room.old_id = copy.old_id WHERE uuidv7_timestamp(room.id) = room.since'), '1000',
	'a repeated migration with uuidv7_from() gives each row the same ID');
is(app('SELECT count(*) FROM seat JOIN room ON room_id = id AND old_room_id = old_id'), '1000', 'and the foreign keys have it too');
$node->stop;
done_testing();
