# The program three_calls.py works with the C extension, and unchanged with the files of the folder managed,
# which an ordinary role installs on a server without the extension's library.  Readers of a logical
# subscriber get its changes.  If a database moves from one form to the other, readers copy the table and
# lose nothing.
use ServerTest;

my $python = '/usr/bin/python3';
plan skip_all => 'Psycopg 3 is not installed' if system("$python -c 'import psycopg' 2>/dev/null") != 0;

my %node;
foreach my $form ('with C', 'without C')
{
	my $library = $form eq 'with C' ? 'uuid9562' : '';
	my $conf = "autovacuum_naptime = 1s\nmax_connections = 40\nshared_preload_libraries = '$library'\n";
	my $node = $node{$form} = new_server('calls_' . ($library || 'sql'), $conf, allows_streaming => 'logical', extra => [ '--encoding', 'UTF8' ]);

	$node->safe_psql('postgres', 'CREATE ROLE app LOGIN; CREATE ROLE clerk LOGIN; CREATE DATABASE shop OWNER app');
	install($form, $node);
}

sub sql { my ($node, @statements) = @_; return $node->safe_psql('shop', join(";\n", @statements), extra_params => [ '-U', 'app' ]) }

# Install one of the forms in the schemas uuid9562 and uuid9562_changes.
sub install
{
	my ($form, $node) = @_;

	if ($form eq 'with C')
	{
		$node->safe_psql('shop', 'CREATE SCHEMA uuid9562; GRANT USAGE ON SCHEMA uuid9562 TO PUBLIC; CREATE EXTENSION uuid9562 SCHEMA uuid9562; CREATE EXTENSION uuid9562_changes SCHEMA uuid9562');
	}
	else
	{
		sql($node, map { "\\i $FindBin::Bin/managed/$_.sql" } "uuid9562", "uuid9562_changes");
	}
	$node->safe_psql('shop', 'ALTER DATABASE shop SET search_path = public, uuid9562, uuid9562_changes; GRANT CREATE ON SCHEMA public TO app');
	return;
}

foreach my $form (sort keys %node)
{
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'timeout', '300', $python, "$FindBin::Bin/three_calls.py", $node{$form}->connstr('shop') . ' user=app' ], '>', \$out, '2>', \$err);
	is($err, '', "$form: the program ends without an exception");
	is(join("\n", $out =~ /^(not ok .*(?:\n# .*)*)/mg), '', "$form: everything is ok");
	cmp_ok(scalar(() = $out =~ /^ok /mg), '>=', 100, "$form: the program has tested what it should");
}

# --- a logical subscriber -----------------------------------------------------------

my ($with, $without) = @node{ 'with C', 'without C' };

# Return what a reader gets, and confirm it.
sub changes
{
	my ($node, $reader, $table) = @_;

	return sql($node, "SELECT string_agg(concat_ws(' ', change_type, data), ', ') FROM changes_read('$reader', NULL::$table)", "SELECT changes_done('$reader')") =~ s/\n$//r;
}

sql($with, q{CREATE TABLE goods (id int PRIMARY KEY, name text)}, q{INSERT INTO goods VALUES (1, 'a'), (2, 'b')});
sql($without, 'CREATE TABLE goods (id int PRIMARY KEY, name text)');
$with->safe_psql('shop', 'CREATE PUBLICATION goods_feed FOR TABLE goods');
sql($without, q{SELECT changes_track('goods')});
is(changes($without, 'r', 'goods'), 'reset', 'a reader of the subscriber begins');
$without->safe_psql('shop', "CREATE SUBSCRIPTION goods_feed CONNECTION '" . $with->connstr . " dbname=shop' PUBLICATION goods_feed");
$without->wait_for_subscription_sync($with, 'goods_feed');
is(changes($without, 'r', 'goods'), 'upsert (1,a), upsert (2,b)', 'the rows that the subscription copies arrive');
sql($with, q{UPDATE goods SET name = 'c' WHERE id = 1}, 'DELETE FROM goods WHERE id = 2');
$with->wait_for_catchup('goods_feed');
is(changes($without, 'r', 'goods'), 'upsert (1,c), delete (2,)', 'UPDATE and DELETE of the publisher arrive');
$without->safe_psql('shop', 'DROP SUBSCRIPTION goods_feed');

# Only the role that installed the file tracks tables, since its rights are used to write logs.
$without->safe_psql('shop', 'GRANT CREATE ON SCHEMA public TO clerk; SET ROLE clerk; CREATE TABLE own (id int PRIMARY KEY)');
my $refused = qr/ERROR:  cannot track table public.own: role app must own it and call changes_track\(\)/;
like(($without->psql('shop', q{SELECT changes_track('own')}, extra_params => [ '-U', $_ ]))[2], $refused, "the table of another role cannot be tracked by $_")
  foreach 'clerk', $without->safe_psql('shop', 'SELECT current_user');

# --- what is different without C ----------------------------------------------------

# A session that has read a page holds back new changes of other readers until its transaction ends.
is(changes($without, 's', 'goods'), 'reset', 'another reader begins');
sql($without, q{INSERT INTO goods VALUES (3, 'c')});
my $session = $without->background_psql('shop', extra_params => [ '-U', 'app' ]);
my $position = $session->query_safe(q{BEGIN; SELECT change_position FROM changes_read('r', NULL::goods)});
is(sql($without, q{SELECT count(*) FROM changes_read('s', NULL::goods)}), '0', 'a reader waits for a transaction that has read the page first');
$session->query_safe('ROLLBACK');
is(changes($without, 's', 'goods'), 'upsert (3,c)', 'then it reads the page');
is(sql($without, "SELECT change_type FROM changes_read('outside', NULL::goods, after => '$position')"), 'reset', 'the position of a page that was rolled back is not accepted');
is(changes($without, 'r', 'goods'), 'upsert (3,c)', 'the page is read again');
$session->quit;

# IDs continue after the greatest one if the clock is behind.
sql($without, q{INSERT INTO goods VALUES (4, 'd')}, q{SELECT changes_read('r', NULL::goods)},
	q{UPDATE changes.goods SET change_id = uuidv7_at(now() + interval '1 hour') WHERE id = 4});
is(changes($without, 'r', 'goods'), 'upsert (4,d)', 'an ID is ahead of the clock');
sql($without, 'DELETE FROM goods WHERE id = 4');
is(changes($without, 'r', 'goods'), 'delete (4,)', 'the next one is greater');
sql($without, q{DELETE FROM changes_reader WHERE reader <> 'r'}, q{SELECT changes_purge('goods', '-8800 years')}, 'DELETE FROM goods WHERE id = 3');
is(changes($without, 'r', 'goods'), 'delete (3,)', 'also if all entries have been purged');

# A trigger of the log by another role would run with the rights of the role that installed the file.
sql($without, 'CREATE FUNCTION spy(uuid) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE \'executed as %\', current_user; END$$',
	q{CREATE TRIGGER spy AFTER INSERT ON changes.goods FOR EACH ROW WHEN (spy(NEW.change_id)) EXECUTE FUNCTION uuid9562_changes.changes_log_trigger()}, q{INSERT INTO goods VALUES (7, 'g')}, 'DELETE FROM goods WHERE id = 7',
	'DROP TRIGGER spy ON changes.goods');
is(changes($without, 'r', 'goods'), 'reset', 'a log with a trigger of others is not written');

# A purge up to the distant future does not hide later entries.
sql($without, 'CREATE TABLE later (id int PRIMARY KEY)', q{SELECT changes_track('later')}, 'INSERT INTO later VALUES (1)',
	q{SELECT changes_publish('later')}, q{SELECT changes_purge('later', '-8800 years')});
is(changes($without, 'n', 'later'), 'reset', 'a table whose entries have been purged is copied');
sql($without, 'INSERT INTO later VALUES (2)');
is(changes($without, 'n', 'later'), 'upsert (2)', 'then its changes are read');
sql($without, q{SELECT changes_untrack('later')}, 'DROP TABLE later');

# A promotion can have lost transactions.
$without->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('calls_standby');
$standby->init_from_backup($without, 'backup', has_streaming => 1);
$standby->start;
$without->wait_for_catchup($standby);
$standby->promote;
is(changes($standby, 'r', 'goods'), 'reset', 'a reader copies the table after a promotion');
sql($standby, q{INSERT INTO goods VALUES (3, 'e')});
is(changes($standby, 'r', 'goods'), 'upsert (3,e)', 'and then gets its changes');
$standby->stop;

# If a log gets another owner, that owner's triggers are not executed, and no change is lost.
$without->safe_psql('shop', q{ALTER TABLE changes.goods OWNER TO clerk; GRANT USAGE, CREATE ON SCHEMA changes TO clerk; SET ROLE clerk;
	CREATE FUNCTION changes.trap() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''trap''; END';
	CREATE TRIGGER trap BEFORE INSERT ON changes.goods FOR EACH ROW EXECUTE FUNCTION changes.trap()});
is(sql($without, q{INSERT INTO goods VALUES (8, 'not logged'), (9, 'not logged') RETURNING id}), "8\n9", 'nothing is written to a log of another role');
like(($without->psql('shop', q{SELECT changes_read('r', NULL::goods)}))[2], qr/changes of table public.goods are not logged/, 'readers get an error');
$without->safe_psql('shop', q{DROP TRIGGER trap ON changes.goods; ALTER TABLE changes.goods OWNER TO app});
is(changes($without, 'r', 'goods'), 'reset', 'a reader copies the table when the log has its owner again');
sql($without, 'DELETE FROM goods WHERE id > 7');
is(changes($without, 'r', 'goods'), 'delete (8,), delete (9,)', 'then changes arrive again');
sql($without, q{CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'});
foreach ([ 'trigger', 'TRIGGER nothing BEFORE INSERT ON changes.goods FOR EACH ROW EXECUTE FUNCTION nothing()' ], [ 'rule', 'RULE nothing AS ON INSERT TO changes.goods DO INSTEAD NOTHING' ])
{
	my ($kind, $definition) = @$_;

	sql($without, "CREATE $definition", q{INSERT INTO goods VALUES (8, 'not logged')});
	like(($without->psql('shop', q{SELECT changes_read('r', NULL::goods)}))[2], qr/changes of table public.goods are not logged/, "readers get an error if the log has a $kind");
	sql($without, "DROP $kind nothing ON changes.goods");
	is(changes($without, 'r', 'goods'), 'reset', "a reader copies the table when the $kind has been dropped");
	sql($without, 'DELETE FROM goods WHERE id > 7');
	is(changes($without, 'r', 'goods'), 'delete (8,)', 'then changes arrive');
}

# --- dump and restore ---------------------------------------------------------------

$without->safe_psql('postgres', 'CREATE DATABASE restored OWNER app');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump.sql';
$without->command_ok([ 'pg_dump', '-f', $dump, '-d', $without->connstr('shop') ], 'the database is dumped');
$without->safe_psql('restored', "\\i $dump");
is($without->safe_psql('restored', q{SET search_path = public, uuid9562, uuid9562_changes; INSERT INTO goods VALUES (9, 'restored'); SELECT change_type FROM changes_read('r', NULL::goods)}), 'reset',
	'a reader of a restored database copies the table');

# --- from one form to the other -----------------------------------------------------

# $outside is the position of a reader that stores it outside the database.
my $rename = 'ALTER SCHEMA uuid9562 RENAME TO old; ALTER SCHEMA uuid9562_changes RENAME TO old_changes';
my $outside = sql($without, q{SELECT max(change_position) FROM changes_read('outside', NULL::goods)});
$without->append_conf('postgresql.conf', "shared_preload_libraries = 'uuid9562'\n");
$without->restart;
foreach my $form ('with C', 'without C')
{
	sql($without, q{INSERT INTO goods VALUES (3, 'not read') ON CONFLICT (id) DO UPDATE SET name = 'not read again'}, q{SELECT changes_untrack('goods')});
	$without->safe_psql('shop', $form eq 'with C' ? $rename : 'DROP EXTENSION uuid9562 CASCADE; DROP SCHEMA uuid9562');
	install($form, $without);
	$without->safe_psql('shop', 'DROP SCHEMA old, old_changes CASCADE') if $form eq 'with C';
	sql($without, q{UPDATE goods SET name = 'between' WHERE id = 1}, q{SELECT changes_track('goods')});
	is(sql($without, "SELECT change_type FROM changes_read('outside', NULL::goods, after => '$outside')"), 'reset', "move to the form $form: a reader with a position copies the table");
	is(changes($without, 'r', 'goods'), 'reset', "move to the form $form: a reader without a position copies the table");
	sql($without, q{UPDATE goods SET name = 'after' WHERE id = 1});
	is(changes($without, 'r', 'goods'), 'upsert (1,after)', "move to the form $form: then changes arrive");
	$outside = sql($without, q{SELECT max(change_position) FROM changes_read('outside', NULL::goods)});
}

# changes that were not logged because the schema had another name
$without->safe_psql('shop', 'ALTER SCHEMA uuid9562_changes RENAME TO old');
sql($without, q{INSERT INTO goods VALUES (5, 'not logged')});
$without->safe_psql('shop', 'ALTER SCHEMA old RENAME TO uuid9562_changes');
is(changes($without, 'r', 'goods'), 'reset', 'a reader copies the table after the schema had another name');

# forgotten: the table is still tracked when the schemas of the files are dropped
$without->safe_psql('shop', $rename);
install('with C', $without);
sql($without, q{INSERT INTO goods VALUES (4, 'written meanwhile')});
$without->safe_psql('shop', 'SET client_min_messages = warning; DROP SCHEMA old, old_changes CASCADE');
is(sql($without, q{SELECT changes_track('goods')}), 'changes.goods', 'a table whose tracking was forgotten is tracked again');
is(changes($without, 'r', 'goods'), 'reset', 'its reader copies the table');
sql($without, 'DELETE FROM goods WHERE id = 4');
is(changes($without, 'r', 'goods'), 'delete (4,)', 'then changes arrive');
$_->stop foreach $with, $without;
done_testing();
