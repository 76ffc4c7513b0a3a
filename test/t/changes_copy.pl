# examples/copy_table.py keeps copies in another database.  The copies equal the table after each kind
# of change.  test/harness kills it, and lets the server fail over.
use ServerTest;

my $python = '/usr/bin/python3';
plan skip_all => 'Psycopg 3 is not installed' unless system("$python -c 'import psycopg' 2>/dev/null") == 0;
my $seed = $ENV{SEED} // int rand 1e9;
srand $seed;
note("SEED=$seed");

my $primary = new_server('copied', "shared_preload_libraries = 'uuid9562'\nautovacuum = off\n",
	allows_streaming => 1, extra => [ '--encoding', 'UTF8' ]);
my $other = new_server('copies', '', extra => [ '--encoding', 'UTF8' ]);
# settings that change the text of values
$other->safe_psql('postgres', join ';', 'CREATE DATABASE copies', map { "ALTER DATABASE copies SET $_" } q{datestyle = 'SQL, DMY'}, q{timezone = 'Asia/Kolkata'}, 'intervalstyle = sql_standard',
	'array_nulls = off', 'extra_float_digits = -5', 'bytea_output = escape');
sub sql { return $primary->safe_psql('postgres', join ';', @_) }
sub copies { return $other->safe_psql('copies', join ';', @_) }
sql('SET client_min_messages = warning; CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE ROLE reader LOGIN', 'CREATE SCHEMA shop', 'GRANT USAGE ON SCHEMA shop TO reader');

my $source = sub { return $primary->connstr('postgres') . ' user=reader client_encoding=latin1' };
sub command { my ($table, @options) = @_; return [ $python, "$FindBin::Bin/examples/copy_table.py", $source->(), $table, $other->connstr('copies'), @options ] }

# Run the program, and return what it prints.
sub run_copy
{
	my ($table, @options) = @_;
	my $out = '';

	IPC::Run::run(command($table, @options), '<', \undef, '>&', \$out);
	chomp $out;
	return $out;
}

# Run Python code that uses the program as a module.
sub run_python
{
	my ($code) = @_;
	my $out = '';

	IPC::Run::run([ $python, '-c', "import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, sys.argv[1])\nimport copy_table, psycopg\n$code", "$FindBin::Bin/examples", $source->(), $other->connstr('copies'),
		$primary->connstr('postgres') ], '<', \undef, '>&', \$out);
	chomp $out;
	return $out;
}

sub track { my ($table) = @_; sql("SELECT changes_track('$table')", "GRANT SELECT ON $table TO reader"); return }

# Compare the copy with the table, in an order and with settings that do not matter.
sub equals
{
	my ($table, $name) = @_;
	my $copy = $table =~ s/^shop\.//r;
	my $settings = q{SET datestyle = iso; SET timezone = utc; SET intervalstyle = postgres; SET extra_float_digits = 1; SET bytea_output = hex};
	my @rows = map { join "\n", sort split /\n/ } $primary->safe_psql('postgres', "$settings; TABLE $table"), $other->safe_psql('copies', "$settings; TABLE $copy");

	is($rows[1], $rows[0], $name);
	return;
}

# --- changes and values -----------------------------------------------------------

sql(q{CREATE DOMAIN shop.price AS numeric(10,2) NOT NULL},
	q{CREATE TABLE shop.item (id bigint, kind varchar(9), price shop.price DEFAULT 0, "when" timestamptz, "B%b" bytea, tags text[], c text, PRIMARY KEY (kind, id))},
	q{INSERT INTO shop.item SELECT n, 'kind ' || n % 7, n / 3.0, now() - n * interval '1 s', decode(to_hex(n + 2000000), 'hex'), ARRAY['ä', NULL, n::text], CASE n % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN E'a,"b"\n\\\\' ELSE '(x)\.' END
		FROM generate_series(1, 2500) AS n});
track('shop.item');
is(run_copy('shop.item', '--once'), '', 'the table is copied');
equals('shop.item', 'a new copy equals the table');
sql(q{INSERT INTO shop.item (id, kind, price, c) VALUES (1, 'new', 1.5, E'\\\\"'), (2, 'new', 2, '')}, q{UPDATE shop.item SET price = price + 1, tags = NULL WHERE id % 10 = 0}, 'DELETE FROM shop.item WHERE id % 10 = 1',
	'UPDATE shop.item SET id = id + 10000 WHERE id % 10 = 2', q{UPDATE shop.item SET kind = 'other' WHERE id % 100 = 3});
is(run_copy('shop.item', '--once'), '', 'changes are copied');
equals('shop.item', 'the copy has inserts, updates, deletes and changed keys');
copies('DELETE FROM item WHERE id = 7', q{UPDATE item SET c = 'wrong' WHERE id IN (8, 9)}, 'UPDATE item SET id = -4 WHERE id = 4');
is(run_copy('shop.item', '--check'), 'postgres.shop.item: compared, 4 rows corrected, 1 rows removed', 'a check corrects rows that differ');
equals('shop.item', 'the copy equals the table after a check');
is(run_copy('shop.item', '--check'), 'postgres.shop.item: compared, 0 rows corrected, 0 rows removed', 'a check of an equal copy corrects nothing');
sql('TRUNCATE shop.item', q{INSERT INTO shop.item (id, kind) VALUES (1, 'one')});
like(run_copy('shop.item', '--once'), qr/: compared, 1 rows corrected, \d+ rows removed$/, 'TRUNCATE makes the program compare all rows');
equals('shop.item', 'the copy equals the table after TRUNCATE');

sql(q{CREATE TABLE odd (key int[] PRIMARY KEY, stamp text, "{0} % ? ""x""" float8, f4 real, cash money, blank bpchar, fixed char(5), words text[], since interval, nr numeric, at timestamptz)},
	q{INSERT INTO odd VALUES ('{1,2}', 'a', -2.2606631148481385e-299, 0.1, '-1234.56', 'b  ', 'c', '{NULL,"NULL","a b"}', '-1 year 2 mons -3 days 04:05:06.7', 'NaN', '0044-03-15 BC'),
		('{}', NULL, 'NaN', '-0', '0.5', '', '', '{}', '1 s', 1.50, 'infinity'), ('[0:1]={3,NULL}', repeat('long ', 300000), '-0', '-Infinity', NULL, NULL, NULL, NULL, NULL, NULL, NULL)},
	q{CREATE TABLE "n%s" (nr numeric PRIMARY KEY, n int)}, q{INSERT INTO "n%s" VALUES (1.0, 1), (2, 2)});
track($_) foreach 'odd', '"n%s"';
is(run_copy($_, '--once'), '', "table $_ is copied") foreach 'odd', '"n%s"';
sql(q{UPDATE odd SET f4 = f4 WHERE stamp = 'a'}, q{UPDATE "n%s" SET nr = 1.00 WHERE n = 1}, q{UPDATE "n%s" SET nr = 3 WHERE n = 2}, q{INSERT INTO "n%s" VALUES (2.0, 4)});
is(run_copy($_, '--once'), '', "changes of table $_ are copied") foreach 'odd', '"n%s"';
equals($_, "values of table $_ do not depend on settings, and equal keys can have other digits") foreach 'odd', '"n%s"';
copies('UPDATE "n%s" SET nr = 3.00 WHERE nr = 3');
like(run_copy('"n%s"', '--check'), qr/compared, 1 rows corrected, 0 rows removed$/, 'a check corrects equal values with other digits');

sql('CREATE TABLE covering (a int, b text, PRIMARY KEY (a) INCLUDE (b))', q{INSERT INTO covering VALUES (1, 'x'), (2, 'Ã¤'), (3, 'z')});
track('covering');
is(run_copy('covering', '--once'), '', 'a table whose key includes a column is copied');
sql(q{UPDATE covering SET b = 'y' WHERE a = 1}, 'DELETE FROM covering WHERE a = 3');
is(run_copy('covering', '--once'), '', 'its changes are copied');
equals('covering', 'rows with the same key are replaced');

# --- pages ------------------------------------------------------------------------

sql('CREATE TABLE large (id int PRIMARY KEY, t text)', q{INSERT INTO large SELECT n, repeat('x', n % 20 * 100) FROM generate_series(1, 1500) AS n});
track('large');
is(run_copy('large', '--once'), '', 'a table with long rows is copied');
my $pages = q{
copy_table.PAGE_BYTES = 5000
largest, pages, fetch = 0, 0, copy_table.Copy.fetch
def measured(self):
    global largest, pages
    page = fetch(self)
    if page[0] > 1:
        largest = max(largest, sum(len(value) for value in page if isinstance(value, str) and not value.startswith("changes:")))
    pages += page[0] > 0
    return page
copy_table.Copy.fetch = measured
copy_table.main(sys.argv[2], "large", sys.argv[3], "--once")
# the texts of changed rows are in an array, which doubles some characters
print(pages > 100, largest < 8000)
};
sql('UPDATE large SET t = t || 1', 'DELETE FROM large WHERE id % 3 = 0');
is(run_python($pages), 'True True', 'pages of changes have a limit in bytes');
equals('large', 'pages of changes contain all changes');

# --- psql fails -------------------------------------------------------------------

my $failure = q{
popen, count = copy_table.subprocess.Popen, 0
def failing(*arguments, **options):
    global count
    process, count = popen(*arguments, **options), count + 1
    if count == 1:
        process.stdin.write(b"STATEMENT;\n")
    return process
copy_table.subprocess.Popen = failing
copy_table.main(sys.argv[2], "large", sys.argv[3], "--once")
};
copies('DROP TABLE large');
like(run_python($failure =~ s/STATEMENT/SELECT 1 \/ 0/r), qr/division by zero.*\bStop: psql could not read the source\z/s, 'an error of psql ends the program');
is(copies(q{SELECT to_regclass('large') IS NULL}), 't', 'a table that psql could not read is not copied');
like(run_python($failure =~ s/STATEMENT/SELECT pg_terminate_backend(pg_backend_pid())/r), qr/psql has lost the connection to the source\z/, 'the program goes on if psql loses its connection');
equals('large', 'a copy that was interrupted is complete');

# --- the position is from before the rows -----------------------------------------

# Change rows after the program has taken the position, before and after it reads the rows.
my $order = q{
load, changes = copy_table.Copy.load, psycopg.connect(sys.argv[4], autocommit=True)
def changed_meanwhile(self, table):
    changes.execute("UPDATE meanwhile SET n = n + 1 WHERE id = 1; INSERT INTO meanwhile SELECT max(id) + 1, 0 FROM meanwhile; DELETE FROM meanwhile WHERE id = (SELECT min(id) FROM meanwhile WHERE id > 10)")
    load(self, table)
    changes.execute("UPDATE meanwhile SET n = n + 1 WHERE id = 2; INSERT INTO meanwhile SELECT max(id) + 1, 0 FROM meanwhile; DELETE FROM meanwhile WHERE id = (SELECT min(id) FROM meanwhile WHERE id > 10)")
copy_table.Copy.load = changed_meanwhile
copy_table.main(sys.argv[2], "meanwhile", sys.argv[3], "OPTION")
};
sql('CREATE TABLE meanwhile (id int PRIMARY KEY, n int)', 'INSERT INTO meanwhile SELECT n, 0 FROM generate_series(1, 50) AS n');
track('meanwhile');
is(run_python($order =~ s/OPTION/--once/r), '', 'rows change while a new copy reads them');
equals('meanwhile', 'changes during the first copy are not lost');
sql(q{SELECT changes_reset('meanwhile')});
like(run_python($order =~ s/OPTION/--once/r), qr/compared/, 'rows change while the program reads them after a reset');
equals('meanwhile', 'changes after a reset are not lost');
like(run_python($order =~ s/OPTION/--check/r), qr/compared/, 'rows change during a check');
is(run_copy('meanwhile', '--once'), '', 'the program reads on');
equals('meanwhile', 'changes during a check are not lost');

# Another process applies a page and a later one while this process is between reading and applying the first.
my $overtaken = q{
import subprocess
fetch, overtake = copy_table.Copy.fetch, True
def slow(self):
    global overtake
    page = fetch(self)
    if overtake:
        overtake = False
        with psycopg.connect(sys.argv[4], autocommit=True) as changes:
            changes.execute("UPDATE meanwhile SET n = -1 WHERE id = 1")
        subprocess.run([sys.executable, sys.argv[1] + "/copy_table.py", sys.argv[2], "meanwhile", sys.argv[3], "--once"], check=True)
    return page
copy_table.Copy.fetch = slow
copy_table.main(sys.argv[2], "meanwhile", sys.argv[3], "--once")
};
sql('UPDATE meanwhile SET n = n + 1 WHERE id = 1');
like(run_python($overtaken), qr/\bStop: another process keeps the copy meanwhile\z/, 'a process that has been overtaken stops');
equals('meanwhile', 'an overtaken process does not replace newer rows');
is(copies('SELECT n FROM meanwhile WHERE id = 1'), '-1', 'the copy has the newer row');

# With --once, the program waits for a transaction that holds back changes from before.
my $holder = $primary->background_psql('postgres');
$holder->query_safe('BEGIN; SELECT uuidv7_ordered()');
sql('INSERT INTO meanwhile VALUES (-7, 7)');
my $held = '';
my $once = IPC::Run::start(command('meanwhile', '--once'), '<', \undef, '>&', \$held);
$primary->poll_query_until('postgres', q{SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'CALL changes_wait%' AND state = 'active')}) or die 'the program does not wait';
$holder->query_safe('COMMIT');
$once->finish;
is($held, '', 'the program ends when the transaction has ended');
equals('meanwhile', 'a change that was held back is copied');
$holder->quit;

# --- the table is rewritten while the program waits for its lock ------------------

# Between a page and the rows, another session waits for the lock of the table, and the program behind it.
my $queued = q{
import threading, time
load = copy_table.Copy.load
def execute(statement):
    return psycopg.connect(sys.argv[4], autocommit=True).execute(statement)
def wait_for(sessions):
    while execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted").fetchone()[0] < sessions:
        time.sleep(0.01)
def rewritten(self, table):
    copy_table.Copy.load = load
    gate = psycopg.connect(sys.argv[4])
    gate.execute("LOCK TABLE rewritten IN ACCESS SHARE MODE")
    threading.Thread(target=execute, args=["REWRITE"]).start()
    wait_for(1)
    threading.Thread(target=lambda: (wait_for(2), gate.commit())).start()
    load(self, table)
copy_table.Copy.load = rewritten
try:
    copy_table.main(sys.argv[2], "rewritten", sys.argv[3], "OPTION")
except copy_table.Stop as stop:
    print(stop)
};
my $changed = 'the columns or the key of postgres.public.rewritten have changed: drop the copy';
my $parts = 'PARTITION BY LIST (id); CREATE TABLE leaf PARTITION OF rewritten DEFAULT';
sql('CREATE ACCESS METHOD other_heap TYPE TABLE HANDLER heap_tableam_handler');
foreach my $case (
	[ '', 'ALTER TABLE rewritten ADD u uuid DEFAULT gen_random_uuid()', $changed ],
	[ '', 'ALTER TABLE rewritten ALTER v TYPE text USING v || 1' ],
	[ $parts, 'ALTER TABLE leaf SET ACCESS METHOD other_heap' ],
	sql('SHOW server_version_num') >= 190000 ? ([ '', 'REPACK (CONCURRENTLY) rewritten' ], [ $parts, 'REPACK (CONCURRENTLY) leaf' ]) : ())
{
	my ($definition, $rewrite, $stops) = @$case;

	foreach my $option ('--once', '--check')
	{
		sql('DROP TABLE IF EXISTS rewritten', "CREATE TABLE rewritten (id int PRIMARY KEY, v text) $definition", q{INSERT INTO rewritten SELECT n, 'old' FROM generate_series(1, 100) AS n});
		copies('DROP TABLE IF EXISTS rewritten');
		track('rewritten');
		run_copy('rewritten', '--once') if $option eq '--check';
		my $printed = run_python($queued =~ s/REWRITE/$rewrite/r =~ s/OPTION/$option/r);
		if ($stops) { is($printed, $stops, "$rewrite before the rows are read: $option stops") }
		else { like($printed, qr/^(|.*compared, \d+ rows corrected, 0 rows removed)$/, "$rewrite before the rows are read: $option"); equals('rewritten', "the copy equals the table") }
	}
}

# --- ALTER TABLE ------------------------------------------------------------------

# --once copies all changes after each kind of ALTER TABLE, or stops if the columns have changed.
sql('CREATE TABLE altered (id int PRIMARY KEY, v int, t text)', 'INSERT INTO altered SELECT n, n, n FROM generate_series(1, 100) AS n');
track('altered');
run_copy('altered', '--once');
my @change = ('INSERT INTO altered (id, v, t) SELECT max(id) + 1, 1, max(id) + 1 FROM altered', 'UPDATE altered SET v = v + 1 WHERE id % 3 = 0', 'DELETE FROM altered WHERE id = (SELECT min(id) FROM altered)');
foreach (
	(map { [ $_, qr/^(|.*: compared, \d+ rows corrected, \d+ rows removed)$/ ] } 'ALTER v SET DEFAULT 7', 'ALTER v DROP DEFAULT', 'ALTER v SET NOT NULL', 'ALTER v DROP NOT NULL', 'ALTER v SET STATISTICS 10', 'ALTER t SET STORAGE EXTERNAL',
		'ALTER t SET COMPRESSION pglz', 'ALTER v SET (n_distinct = 5)', 'SET (fillfactor = 70)', 'ADD CHECK (v > 0) NOT VALID', 'VALIDATE CONSTRAINT altered_v_check', 'DROP CONSTRAINT altered_v_check', 'ADD UNIQUE (t)',
		'CLUSTER ON altered_pkey', 'REPLICA IDENTITY FULL', 'RENAME CONSTRAINT altered_pkey TO other_pkey', 'SET ACCESS METHOD other_heap', 'ALTER v TYPE int USING -v', 'ALTER t TYPE text COLLATE "C"', 'RESET (fillfactor)'),
	(map { [ $_, qr/ have changed: drop the copy$/ ] } 'ADD w int', 'ALTER w TYPE bigint', 'RENAME w TO x', 'DROP x', 'ADD u uuid DEFAULT gen_random_uuid()', 'ADD g int GENERATED ALWAYS AS (v + 1) STORED', 'DROP g', 'DROP CONSTRAINT other_pkey, ADD PRIMARY KEY (v, id)'))
{
	my ($alter, $printed) = @$_;

	sql(@change, "ALTER TABLE altered $alter", @change);
	my $out = run_copy('altered', '--once');
	like($out, $printed, "$alter, and --once");
	if ($out =~ /drop the copy/) { copies('DROP TABLE altered'); run_copy('altered', '--once') }
	equals('altered', "$alter: the copy equals the table");
}

# --- what is refused --------------------------------------------------------------

sql('CREATE TABLE word (id int PRIMARY KEY, n int)', 'CREATE TABLE untracked (id int PRIMARY KEY)', 'GRANT SELECT ON untracked TO reader', 'CREATE TABLE shop.odd (id int PRIMARY KEY)');
track('word');
like(run_copy('shop.price', '--once'), qr/^table "shop.price" does not exist/, 'a domain is refused');
is(run_copy('untracked', '--once') =~ s/\n.*//sr, 'changes of table untracked are not tracked', 'a table that is not tracked is refused');
is(run_copy('nothing', '--once'), 'table "nothing" does not exist, or has no primary key', 'a missing table is refused');
is(run_copy('shop.odd', '--once'), 'table odd is a copy of postgres.public.odd', 'a copy of another table is refused');
copies('CREATE TABLE word (id int)');
is(run_copy('word', '--once'), 'table word is no copy', 'a table that is no copy is refused');
copies('ALTER TABLE item ADD FOREIGN KEY (kind, id) REFERENCES item');
is(run_copy('shop.item', '--once'), 'table item must have no foreign keys and no triggers', 'a copy with a foreign key is refused');
copies('DROP TABLE word');
is(run_copy('word', '--once'), '', 'the copy is created when the other table is gone');
sql('ALTER TABLE word ADD m int', 'INSERT INTO word VALUES (1, 2, 3)');
is(run_copy('word', '--once'), 'the columns or the key of postgres.public.word have changed: drop the copy', 'the program stops if a column was added');
copies('DROP TABLE word');
is(run_copy('word', '--once'), '', 'the copy is created again with the column');
copies('CREATE FUNCTION changes_nothing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$', 'CREATE TRIGGER uuid9562_changes_1 AFTER INSERT ON word EXECUTE FUNCTION changes_nothing()');
sql('INSERT INTO word SELECT max(id) + 1, 2, 2 FROM word');
is(run_copy('word', '--once'), '', 'a copy can have the triggers of changes_track()');
equals('word', 'the new copy has the column');
is(sql(q{SELECT count(*) FROM changes_readers WHERE source = 'word'::regclass}), '1', 'the reader of the dropped copy is removed');

$primary->stop;
$other->stop;
done_testing();
