# changes_read() and its kin behave the same with the extension uuid9562_changes and with
# managed/uuid9562_changes.sql.  Each group of tests runs with both.
use ServerTest;
use Sessions;

my $node = new_server('changes_behavior', "shared_preload_libraries = 'uuid9562'\nuuid9562.purge_worker = off\nautovacuum = off\nmax_prepared_transactions = 2\n", extra => [ '--encoding', 'UTF8' ]);
use_server($node);
sql('CREATE ROLE owner LOGIN; CREATE ROLE other LOGIN; CREATE ROLE guest LOGIN; CREATE ROLE auditor LOGIN; GRANT pg_read_all_data TO auditor');

my $superuser = sql('SELECT current_user');
my $database;
my $is_file;

# Run statements as a role.  Return the output, with the first lines of messages and their SQLSTATE.
sub as
{
	my ($role, @statements) = @_;
	my ($status, $out, $err) = $node->psql($database, "\\set VERBOSITY sqlstate\n" . join(";\n", 'SET lock_timeout = 20000', @statements), on_error_stop => 0, extra_params => [ '-U', $role ]);

	return join "\n", grep { length } $out =~ s/\n+$//r, map { s/^psql:[^ ]* //r =~ s/^.*?(ERROR|WARNING)/$1/r } grep { /ERROR|WARNING/ } split /\n/, $err;
}

sub run { return as('owner', @_) }

# What a call of changes_read() returns: the types and rows.
sub call
{
	my ($table, %options) = @_;
	my $arguments = join ', ', "'" . ($options{reader} // 'r') . "'", "NULL::$table", map { "$_ => $options{$_}" } grep { defined $options{$_} } qw(page after lease);

	return "SELECT concat_ws(' ', change_type, data) FROM changes_read($arguments)";
}

sub page { my ($table, %options) = @_; return as($options{role} // 'owner', call($table, %options)) }

# Read a page and confirm it in one transaction.
sub apply
{
	my ($table, %options) = @_;
	my $reader = $options{reader} // 'r';

	return as($options{role} // 'owner', 'BEGIN', call($table, %options), "DO 'BEGIN PERFORM changes_done(''$reader''); END'", 'COMMIT');
}

# The position of the last change of a page.
sub position
{
	my ($table, %options) = @_;

	return as($options{role} // 'owner', call($table, %options) =~ s/concat_ws\(' ', change_type, data\)/change_position/r) =~ s/.*\n//sr;
}

sub done { my ($position, %options) = @_; return as($options{role} // 'owner', "SELECT changes_done('" . ($options{reader} // 'r') . "', '$position')") }

# Create and track a table, of which a reader has a copy.
sub create
{
	my ($table, $columns, %options) = @_;

	run("CREATE TABLE $table ($columns)" . ($options{partitions} // ''), @{ $options{before} // [] }, "SELECT changes_track('$table'" . ($options{track} // '') . ')');
	is(apply($table), 'reset', "the first page of $table is a reset");
	return;
}

sub session_as { my ($role) = @_; return $node->background_psql($database, on_error_stop => 0, extra_params => [ '-U', $role ]) }

# What a session returns, or its message.
sub ask
{
	my ($session, $statement) = @_;

	$session->{stderr} = '';
	my $out = $session->query($statement);
	my ($message) = $session->{stderr} =~ /(ERROR:.*)/;
	$session->{stderr} = '';
	return $message // $out;
}

sub reading
{
	create('item', 'id int PRIMARY KEY, v text');
	is(page('item'), '', 'then a page is empty');
	run(q{INSERT INTO item VALUES (1, 'a'), (2, 'b'), (3, 'c')}, q{UPDATE item SET id = 4 WHERE id = 3}, 'DELETE FROM item WHERE id = 2');
	is(page('item'), "upsert (1,a)\ndelete (3,)\nupsert (4,c)\ndelete (2,)", 'a page has each changed row once, with its content');
	is(apply('item', page => 2), "upsert (1,a)\nupsert (2,)" =~ s/upsert \(2,\)/delete (2,)/r, 'a page ends after its number of entries');
	is(apply('item'), "delete (3,)\nupsert (4,c)\ndelete (2,)", 'and the next page continues');
	is(apply('item'), '', 'until all are confirmed');
	run('TRUNCATE item');
	is(apply('item'), 'reset', 'TRUNCATE is a reset');
	is(run(q{SELECT changes_reset('item')}), '', 'changes_reset() resets');
	my $rewritten = position('item');
	run('VACUUM FULL item');
	is(done($rewritten), 'WARNING:  01000', 'a reset cannot be confirmed if the table was rewritten meanwhile');
	is(apply('item'), 'reset', 'all readers');
	run(q{SELECT changes_track('item')});
	is(page('item'), '', 'changes_track() with the same options changes nothing');
	run(q{SELECT changes_track('item', reader_expiry => '1 day')});
	is(apply('item'), 'reset', 'with other options, readers get a reset');
	is(run(q{SELECT operations, dropped_partitions, reader_expiry, problem FROM changes_tables}), '{insert,update,delete}|reset|1 day|', 'the view shows the options');
	run(q{SELECT changes_track('item', operations => '{delete,insert}')}, q{INSERT INTO item VALUES (1, 'a')});
	is(apply('item'), 'reset', 'other operations are a reset');
	run(q{UPDATE item SET v = 'b'}, q{INSERT INTO item VALUES (2, 'c')});
	is(apply('item'), 'upsert (2,c)', 'then only these operations are logged');
	is(run(q{SELECT operations FROM changes_tables}), '{insert,delete}', 'the view shows the operations');
	run(q{ALTER TABLE item DISABLE TRIGGER ALL}, q{ALTER TABLE item ENABLE TRIGGER ALL});
	is(page('item'), 'ERROR:  55000', 'a trigger that is not ENABLE ALWAYS is an error');
	like(run('SELECT problem FROM changes_tables'), qr/lacks the trigger/, 'which the view shows');
	run(q{SELECT changes_track('item')});
	is(apply('item'), 'reset', 'changes_track() mends it');
	is(run(q{SELECT changes_forget('r', 'item')}, q{SELECT reader FROM changes_readers}), '', 'a reader can be forgotten');
	is(page('item'), 'reset', 'and comes again');
	is(run(q{SELECT changes_untrack('item')}, q{SELECT reader FROM changes_readers}, q{SELECT source FROM changes_tables}), '', 'changes_untrack() removes the readers');
	is(page('item'), 'ERROR:  55000', 'a table that is not tracked cannot be read');
	is(run("SELECT changes_$_('item')"), 'ERROR:  55000', "changes_$_() of a table that is not tracked") foreach 'untrack', 'purge', 'reset';
	is(run(q{SELECT changes_done('nobody')}), 'ERROR:  42704', 'an unknown reader cannot confirm');
	return;
}

sub outside
{
	create('item', 'id int PRIMARY KEY, v text');
	my $rewritten = position('item', reader => 'o', after => 'NULL');
	run('VACUUM FULL item');
	page('item');
	is(page('item', reader => 'o', after => "'$rewritten'"), 'reset', 'the table must be copied again if it was rewritten meanwhile, even if another reader has noticed this');
	run(q{SELECT changes_forget('o', 'item')});
	is(page('item', reader => 'o', after => "'$rewritten'"), 'reset', 'and again, if the program dies after it has got this reset') foreach 1, 2;
	my $reset = position('item', reader => 'o', after => "'$rewritten'");
	run(q{INSERT INTO item VALUES (1, 'a'), (2, 'b')});
	is(page('item', reader => 'o', after => "'$reset'"), "upsert (1,a)\nupsert (2,b)", 'a target that stores positions gets changes');
	is(run(q{SELECT changes_purge('item', '-1 h')}), '0', 'entries after a reset are kept for it');
	my $position = position('item', reader => 'o', after => "'$reset'");
	is(page('item', reader => 'o', after => "'$position'"), '', 'and continues at the next');
	is(page('item', reader => 'o', after => "'$reset'"), "upsert (1,a)\nupsert (2,b)", 'an older position returns the changes again');
	is(run(q{SELECT changes_done('o', '} . $position . q{')}), 'ERROR:  55000', 'changes_done() is refused');
	is(page('item', reader => 'o', after => 'NULL'), 'reset', 'a new target gets a reset');
	is(page('item', after => 'NULL'), 'ERROR:  55000', 'the name of a reader whose position is in the database is refused');
	is(page('item', reader => 'o', after => "'garbage'"), 'ERROR:  22P02', 'a position that is no position is refused');
	is(page('item', reader => 'o', after => "'" . ($position =~ s/(.{20})[0-9a-f]/$1x/r) . "'"), 'ERROR:  22P02', 'and one that is damaged');
	run('CREATE TABLE second (id int PRIMARY KEY)', q{SELECT changes_track('second')});
	is(page('second', reader => 'o', after => "'$position'"), 'ERROR:  22023', 'and one of another table');
	is(run('BEGIN READ ONLY', call('item', reader => 'o', after => "'$reset'"), 'COMMIT'), "upsert (1,a)\nupsert (2,b)", 'a READ ONLY transaction reads');
	run(q{SELECT changes_reset('item')});
	is(page('item', reader => 'o', after => "'$position'"), 'reset', 'a position before a reset is a reset');
	return;
}

# --- privileges -------------------------------------------------------------------

sub domains
{
	run(q{CREATE FUNCTION spy(text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN IF current_user <> ''owner'' THEN RAISE ''spy''; END IF; RETURN true; END'});
	run(q{CREATE DOMAIN code AS text CHECK (spy(VALUE))}, q{CREATE DOMAIN filled AS text NOT NULL});
	create('item', 'id code PRIMARY KEY, v filled');
	run(q{INSERT INTO item VALUES ('a', 'x'), ('b', 'y')}, q{DELETE FROM item WHERE id = 'b'});
	is(page('item'), "upsert (a,x)\ndelete (b,)", 'keys of a domain are read, with NULL in a column that cannot be NULL');
	if ($is_file)
	{
		is(page('item', role => $superuser), 'ERROR:  P0001', 'without C, the CHECK of a domain runs as the reader');
		return;
	}
	is(page('item', role => $superuser), "upsert (a,x)\ndelete (b,)", 'a CHECK of a domain does not run as the reader');
	run(q{ALTER DOMAIN code ADD CHECK (VALUE <> 'b')});
	is(page('item'), "upsert (a,x)\ndelete (b,)", 'a deleted key can violate a CHECK that was added later');
	return;
}

sub operators
{
	my $trap = q{LANGUAGE plpgsql AS 'BEGIN RAISE ''trap''; END'};
	my $plants = '';
	my $i = 0;

	as($superuser, 'CREATE SCHEMA shared', 'GRANT CREATE, USAGE ON SCHEMA shared TO other, owner', 'CREATE EXTENSION citext SCHEMA shared');
	as('owner', q{CREATE TYPE shared.color AS ENUM ('red', 'green')}, q{CREATE DOMAIN shared.name AS varchar(20)});
	foreach my $pair (map { my $left = $_; map { [ $left, $_ ] } 'shared.citext', 'shared.color', 'shared.name', 'text', 'varchar', 'anyelement', 'anyenum' } 'shared.citext', 'shared.color', 'shared.name', 'text', 'varchar')
	{
		next if "@$pair" eq 'shared.citext shared.citext';
		$i++;
		$plants .= "CREATE FUNCTION shared.trap_$i(@{[ join ', ', @$pair ]}) RETURNS boolean $trap; CREATE OPERATOR shared.= (LEFTARG = $pair->[0], RIGHTARG = $pair->[1], FUNCTION = shared.trap_$i);";
	}
	unlike(as('other', "SET client_min_messages = error; $plants SELECT count(*) FROM pg_operator WHERE oprowner = 'other'::regrole"), qr/^0$/m, 'a role creates operators in the schema of the types');
	as('owner', "CREATE FUNCTION shared.$_->[1](shared.color) RETURNS $_->[0] $trap", "CREATE CAST (shared.color AS $_->[0]) WITH FUNCTION shared.$_->[1](shared.color) AS ASSIGNMENT",
		"CREATE FUNCTION shared.from_$_->[1]($_->[0]) RETURNS shared.color $trap", "CREATE CAST ($_->[0] AS shared.color) WITH FUNCTION shared.from_$_->[1]($_->[0]) AS ASSIGNMENT") foreach [ 'text', 'as_text' ], [ 'jsonb', 'as_json' ];
	create('item', 'a shared.citext, b shared.color, c shared.name, v text, PRIMARY KEY (a, b, c)');
	run(q{INSERT INTO item VALUES ('x', 'red', 'n', 'v'), ('y', 'green', 'n', 'v')}, q{DELETE FROM item WHERE a = 'y'});
	is(as($superuser, 'SET search_path = shared, public, uuid9562_changes', call('item')), "upsert (x,red,n,v)\ndelete (y,green,n,)", 'no operator and no cast of another role is called');
	return;
}

sub tables
{
	create('item', 'id int PRIMARY KEY, v text');
	run(q{INSERT INTO item VALUES (1, 'a')}, 'GRANT SELECT ON item TO guest');
	my @tables = split /\n/, $node->safe_psql($database, q{SELECT oid::regclass FROM pg_class WHERE relnamespace = 'uuid9562_changes'::regnamespace AND relkind = 'r' ORDER BY 1});

	cmp_ok(scalar @tables, '>', 2, 'there are tables');
	is(join(' ', map { as('auditor', "SELECT count(*) FROM $_") } @tables), join(' ', (0) x @tables), 'pg_read_all_data sees no row');
	as($superuser, map { "DELETE FROM $_" } @tables);
	is(page('item'), 'upsert (1,a)', 'a superuser deletes nothing');
	is(join(' ', map { as($superuser, "TRUNCATE $_") } @tables), join(' ', ('ERROR:  0A000') x @tables), 'and truncates nothing');
	is(apply('item'), 'upsert (1,a)', 'and readers continue');

	# names of readers
	is(page('item', role => 'guest'), 'ERROR:  42501', 'a role cannot read as the reader of another role');
	my $position = position('item', reader => 'mine', role => 'guest');
	is(done($position, reader => 'mine', role => 'other'), 'ERROR:  42501', 'or confirm for it');
	is(as('other', q{SELECT changes_forget('mine', 'item')}), 'ERROR:  42501', 'or forget it');
	is(done($position, reader => 'mine'), '', "but the table's owner can");
	is(page('item', role => 'other', reader => 'x'), 'ERROR:  42501', 'a role without SELECT on the table cannot read');
	is(page('item', role => $superuser, reader => 'mine'), '', 'a superuser reads as any reader');
	is(as('other', "SELECT changes_$_('item')"), 'ERROR:  42501', "only the owner calls changes_$_()") foreach 'track', 'untrack', 'reset', 'purge';
	is(as('guest', 'SELECT reader, source FROM changes_readers ORDER BY 1'), "mine|item\nr|item", 'all roles see the readers');

	# another owner
	as($superuser, 'ALTER TABLE item OWNER TO other', 'GRANT SELECT ON item TO owner');
	as('other', q{UPDATE item SET v = 'b'});
	is(apply('item'), 'upsert (1,b)', 'changes arrive after ALTER TABLE ... OWNER TO');
	is(as('owner', "SELECT changes_$_('item')"), 'ERROR:  42501', "the old owner cannot call changes_$_() any more") foreach 'reset', 'purge';
	is(as('other', q{SELECT changes_reset('item')}), '', 'which the new owner has');
	is(page('item'), 'reset', 'and readers get the reset');
	as('other', 'ALTER TABLE item ENABLE ROW LEVEL SECURITY');
	is(page('item'), 'ERROR:  42501', 'a role from which row-level security hides rows cannot read');
	return;
}

# --- wrong or lost rows -------------------------------------------------------------

sub programs
{
	create('item', 'id int PRIMARY KEY, v text');
	run(q{INSERT INTO item VALUES (1, 'a')});
	my $first = position('item');
	run(q{INSERT INTO item VALUES (2, 'b')});
	my $second = position('item');
	is(run(q{SELECT changes_done('r')}), 'ERROR:  55000', 'another transaction cannot confirm a page without its position');
	is(done($first), '', 'the first of two programs confirms its page');
	is(page('item'), 'upsert (2,b)', 'which is not the page of the second');
	is(done($second), '', 'the second confirms, too');
	is(apply('item'), 'upsert (2,b)', 'and what the first can have undone is delivered again');

	# a program that is overtaken
	run(q{UPDATE item SET v = '2' WHERE id = 1});
	my $overtaken = position('item');
	run(q{UPDATE item SET v = '3' WHERE id = 1});
	is(apply('item'), 'upsert (1,3)', 'a program reads and confirms a newer version');
	is(done($overtaken), '', 'the other program has applied the older one later');
	is(apply('item'), 'upsert (1,3)', 'so the newer one is delivered again');
	is(done($overtaken), 'WARNING:  01000', 'confirming again is a warning');
	is(apply('item'), 'upsert (1,3)', 'and delivers it again');
	is(done('changes.'), 'ERROR:  22P02', 'a position that is no position');

	# a confirmation that arrives again must not pass what another program can have undone
	apply('item') while page('item') ne '';
	run(q{UPDATE item SET v = 'older' WHERE id = 1});
	my $older = position('item');
	run(q{UPDATE item SET v = 'newer' WHERE id = 1});
	my $newer = position('item');
	done($newer);
	is(done($older), '', 'a program that has read before confirms after one that has read later');
	is(done($newer), 'WARNING:  01000', 'whose confirmation arrives again');
	is(apply('item'), 'upsert (1,newer)', 'the newer content is delivered again');

	# a program that dies
	run(q{UPDATE item SET v = '4' WHERE id = 1});
	position('item', lease => "'1 microsecond'");
	run(q{UPDATE item SET v = '5' WHERE id = 1});
	is(apply('item'), 'upsert (1,5)', 'another program confirms');
	run(q{UPDATE item SET v = '6' WHERE id = 1});
	position('item', lease => "'1 microsecond'");
	run(q{UPDATE item SET v = '7' WHERE id = 1});
	my $long = position('item', lease => "'30 days'");
	run(q{UPDATE item SET v = '8' WHERE id = 2});
	is(done($long), '', 'a page that is confirmed after the lease of an older page has ended');
	is(apply('item'), 'upsert (2,8)', 'confirms its changes, since that program has ended');

	# a read that is rolled back
	run(q{UPDATE item SET v = '9' WHERE id = 1});
	my ($rolled_back) = run('BEGIN', call('item') =~ s/concat_ws.*data\)/change_position/r, 'ROLLBACK');
	is(done($rolled_back), 'WARNING:  01000', 'a page whose transaction was rolled back is unknown');
	is(apply('item'), 'upsert (1,9)', 'and is delivered again');
	is(apply('item'), '', 'once');

	# row by row
	run(q{UPDATE item SET v = 'x' WHERE id = 1}, q{UPDATE item SET v = 'x' WHERE id = 2});
	my ($row, $end) = split /\n/, run(call('item') =~ s/concat_ws.*data\)/change_position/r);
	is(done($row), '', 'a row can be confirmed');
	is(page('item'), 'upsert (2,x)', 'and the next ones are delivered again');
	is(done($end), '', 'and later the page');
	is(page('item'), '', 'as a whole');

	# without position, in one transaction
	is(run('BEGIN', call('item'), q{SELECT changes_done('r')}, 'COMMIT'), '', 'after an empty page, changes_done() does nothing');
	run(q{UPDATE item SET v = 'y' WHERE id = 1});
	is(run('BEGIN', call('item'), q{SELECT changes_done('r')}, q{SELECT changes_done('r')}, 'COMMIT'), 'upsert (1,y)', 'changes_done() confirms once');
	run('CREATE TABLE second (id int PRIMARY KEY)', q{SELECT changes_track('second')}, q{UPDATE item SET v = 'z' WHERE id = 1});
	is(run('BEGIN', call('item'), call('second'), q{SELECT changes_done('r')}), "upsert (1,z)\nreset\nERROR:  42P08", 'a transaction that has read two tables as one reader must name the position');
	is(run('BEGIN', 'SAVEPOINT s', call('item'), 'ROLLBACK TO s', q{SELECT changes_done('r')}), "upsert (1,z)\nERROR:  55000", 'a page that was rolled back to a savepoint is not confirmed');
	return;
}

sub equal_keys
{
	as($superuser, 'CREATE EXTENSION IF NOT EXISTS citext');
	create('person', 'name citext PRIMARY KEY, v int');
	run(q{INSERT INTO person VALUES ('Ann', 1)});
	is(apply('person'), 'upsert (Ann,1)', 'a row with a key of citext');
	run(q{UPDATE person SET name = 'ann'});
	my @changes = split /\n/, apply('person');
	is("@changes[0, 1]", 'delete (Ann,) upsert (ann,1)', 'an equal key replaces it: delete, then upsert');
	is($changes[-1], 'upsert (ann,1)', 'the last change is the row that exists');
	run(q{UPDATE person SET name = 'ANN'});
	done(run(q{SELECT change_position FROM changes_read('r', NULL::person) WHERE change_type = 'delete'}));
	like(page('person'), qr/upsert \(ANN,1\)$/, 'if only the deletion is confirmed, the row is delivered again');
	create('price', 'n numeric PRIMARY KEY, v int');
	run('INSERT INTO price VALUES (1.0, 1)');
	apply('price');
	run('BEGIN', 'DELETE FROM price', 'INSERT INTO price VALUES (1.00, 2)', 'COMMIT');
	@changes = split /\n/, apply('price');
	is("@changes[0, 1]", 'delete (1.0,) upsert (1.00,2)', 'and so with numeric');
	return;
}

sub types
{
	my $columns = q{a bool, b "char", c bpchar(5), d varchar(9) COLLATE "C", e timestamptz, f interval, g bytea, h money, i float8, j int[], k jsonb, l bit(4), m regclass, n date, o timetz, p inet, q numrange, r uuid, s name, t cidr};
	my $key = join ', ', $columns =~ /(?:^|, )(\w)/g;
	my $value = q{true, 'x', 'ab', 'Ab', '2020-02-01 12:00+00', '1 mon 2 days 03:04:05.5', '\x00ff', '1234.5', '0.1', '{1,2}', '{"a": 1.0}', '1010', 'pg_class', '2020-02-01', '12:00+02', '10.0.0.1/8', '[1.0,2.00)', '019a0000-0000-7000-8000-000000000000', 'N', '10.0.0.0/8'};

	create('wide', "$columns, v text, PRIMARY KEY ($key)");
	run(q{SET DateStyle = 'SQL, DMY'}, q{SET TimeZone = 'Asia/Tokyo'}, q{SET IntervalStyle = sql_standard}, q{SET extra_float_digits = -5}, q{SET bytea_output = escape}, 'SET quote_all_identifiers = on',
		"INSERT INTO wide VALUES ($value, 'kept')", "INSERT INTO wide VALUES ($value, 'gone')" =~ s/true/false/r, q{DELETE FROM wide WHERE v = 'gone'});
	is(run(q{SELECT change_type, (data).v, } . join(' AND ', map { "(data).$_ IS NOT NULL" } split /, /, $key) . q{, (data).e, (data).h FROM changes_read('r', NULL::wide)}) =~ s/[+]00|[^\w|\n .:-]//gr,
		"upsert|kept|t|2020-02-01 12:00:00|1234.50\ndelete||t|2020-02-01 12:00:00|1234.50", 'keys of all kinds of types are read, whatever the settings of the session are');
	return;
}

sub alterations
{
	create('item', 'id int PRIMARY KEY, v text, w text, x text');
	run(q{INSERT INTO item VALUES (1, 'v', 'w', 'x')});
	apply('item');
	my $session = session_as('owner');
	my $prepared = session_as('owner');
	my $select = q{SELECT (data).v || (data).w FROM changes_read('r', NULL::item)};

	in($prepared, "PREPARE page AS $select");
	foreach my $alteration (q{ALTER v SET DEFAULT 'd'}, 'ALTER v SET NOT NULL', 'ALTER v SET STATISTICS 50', 'SET (fillfactor = 90)', 'DROP x')
	{
		run("ALTER TABLE item $alteration", q{UPDATE item SET w = w});
		like(page('item'), qr/^upsert/, "ALTER TABLE item $alteration: a new session reads the changes");
		my @tries = map { ask($session, $select) } 1 .. 2;
		is($tries[1], 'vw', 'and so does a session that has read before');
		like($tries[0], $alteration =~ /DROP/ ? qr/^(vw|ERROR:  row type of table .* has changed)$/ : qr/^vw$/, 'at once, unless the row type has changed');
	}
	apply('item');

	# columns exchange their names; a stale plan would mix them up
	run('ALTER TABLE item RENAME v TO z', 'ALTER TABLE item RENAME w TO v', 'ALTER TABLE item RENAME z TO w');
	is(apply('item'), 'reset', 'RENAME is a reset');
	run(q{UPDATE item SET v = 'first', w = 'second'});
	foreach ([ $session, $select, 'a session' ], [ $prepared, 'EXECUTE page', 'a prepared statement' ])
	{
		my ($where, $statement, $who) = @$_;

		my @tries = map { ask($where, $statement) } 1 .. 2;
		unlike("@tries", qr/secondfirst/, "$who never mixes up columns");
		is($tries[1], 'firstsecond', "$who gets the row, at the latest in the next call");
	}
	apply('item');
	run(q{ALTER TABLE item ADD y int});
	is(apply('item'), 'reset', 'ADD COLUMN is a reset');
	run(q{ALTER TABLE item ALTER w TYPE varchar(20)});
	is(apply('item'), 'reset', 'another type is a reset');
	run('ALTER TABLE item DROP CONSTRAINT item_pkey', 'ALTER TABLE item ADD PRIMARY KEY (id, v)', q{UPDATE item SET w = 'k'});
	is(apply('item'), 'reset', 'another key is a reset');
	run(q{UPDATE item SET w = 'l'});
	is(apply('item'), 'upsert (1,l,first,)', 'and then changes are read');
	run('ALTER TABLE item DROP CONSTRAINT item_pkey');
	is(page('item'), 'ERROR:  55000', 'a table without a primary key cannot be read');
	is(run(q{UPDATE item SET w = 'm'}), '', 'but written');
	leave($session, $prepared);
	return;
}

sub own_changes
{
	create('item', 'id int PRIMARY KEY, v text');
	create('second', 'id int PRIMARY KEY');
	my $position = position('item', reader => 'o', after => 'NULL');
	foreach my $after (undef, "'$position'")
	{
		my %options = (reader => $after ? 'o' : 'r', after => $after);

		foreach my $statement (q{INSERT INTO item VALUES (1, 'a')}, 'TRUNCATE item', 'CLUSTER item USING item_pkey', 'ALTER TABLE item ALTER id TYPE bigint',
			$is_file ? () : 'CREATE TABLE later (id int PRIMARY KEY); LOCK TABLE item IN ROW EXCLUSIVE MODE')
		{
			is(run('BEGIN', $statement, call('item', %options)), 'ERROR:  55000', "a transaction cannot read a table after $statement" . ($after ? ', with a position' : ''));
		}
		is(run('BEGIN', 'SAVEPOINT s', q{INSERT INTO item VALUES (1, 'a')}, 'RELEASE s', call('item', %options)), 'ERROR:  55000', 'nor after a change in a subtransaction');
		is(run('BEGIN', 'SAVEPOINT s', q{INSERT INTO item VALUES (1, 'a')}, 'ROLLBACK TO s', call('item', %options), 'COMMIT'), '', 'but after one that was rolled back');
		is(run('BEGIN', 'INSERT INTO second VALUES (1)', call('item', %options), 'ROLLBACK'), '', 'and if it has changed another table');
	}
	is(run('BEGIN', 'CREATE TABLE third (id int PRIMARY KEY)', q{SELECT changes_track('third')}, call('third')), 'ERROR:  55000', 'nor a table that it has created');
	is(run("BEGIN ISOLATION LEVEL $_", call('item')), 'ERROR:  25001', "$_ is refused") foreach 'REPEATABLE READ', 'SERIALIZABLE';
	run(q{INSERT INTO item VALUES (5, 'e')});
	is(run('BEGIN ISOLATION LEVEL READ UNCOMMITTED', call('item'), q{SELECT changes_done('r')}, 'COMMIT'), 'upsert (5,e)', 'READ UNCOMMITTED is READ COMMITTED');
	my $last = do { run(q{INSERT INTO item VALUES (6, 'f')}); position('item') };
	is(run('BEGIN ISOLATION LEVEL REPEATABLE READ', "SELECT changes_done('r', '$last')", 'COMMIT'), '', 'changes_done() works in REPEATABLE READ');
	is(page('item'), '', 'and confirms');
	return;
}

sub partitions
{
	create('m', 'id int PRIMARY KEY, v text', partitions => ' PARTITION BY RANGE (id)', before => [ 'CREATE TABLE m1 PARTITION OF m FOR VALUES FROM (0) TO (10)' ], track => q{, dropped_partitions => 'ignore'});
	run(q{INSERT INTO m VALUES (1, 'a')}, 'CREATE TABLE m2 PARTITION OF m FOR VALUES FROM (10) TO (20)', q{INSERT INTO m VALUES (11, 'b')});
	is(apply('m'), "upsert (1,a)\nupsert (11,b)", 'rows of a new partition arrive');
	my $finish = sub { for (1 .. 5) { return if apply('m') eq '' } };	# the rows of a partition can arrive twice
	$finish->();
	run('DROP TABLE m1');
	# the extension logs the keys of a new partition once more, whoever has written its rows
	like(apply('m'), $is_file ? qr/^$/ : qr/^(upsert \(11,b\))?$/, 'a dropped partition can be ignored');
	run('CREATE TABLE m3 (id int PRIMARY KEY, v text)', q{INSERT INTO m3 VALUES (21, 'c')}, 'ALTER TABLE m ATTACH PARTITION m3 FOR VALUES FROM (20) TO (30)');
	like(apply('m'), $is_file ? qr/^reset$/ : qr/^(reset|upsert \(21,c\))$/, 'rows of an attached partition are not missed');
	$finish->();
	run('BEGIN', 'CREATE TABLE m4 (id int NOT NULL, v text)', q{INSERT INTO m4 SELECT n, 'd' FROM generate_series(30, 39) AS n}, 'ALTER TABLE m ATTACH PARTITION m4 FOR VALUES FROM (30) TO (40)', 'COMMIT');
	like(join("\n", apply('m'), $is_file ? () : apply('m')), qr/^(reset|(reset\n|upsert \(21,c\)\n)?upsert \(30,d\)\n.*)$/s, 'nor if it was created in the same transaction');
	$finish->();
	run('ALTER TABLE m DETACH PARTITION m2', 'DELETE FROM m2', 'ALTER TABLE m ATTACH PARTITION m2 FOR VALUES FROM (10) TO (20)');
	is(apply('m'), 'reset', 'a partition that was detached and attached again is a reset, even if it is empty now') unless $is_file;
	run('ALTER TABLE m DETACH PARTITION m4', 'CREATE TABLE m5 (id int PRIMARY KEY, v text)', q{INSERT INTO m5 VALUES (31, 'e')}, 'ALTER TABLE m ATTACH PARTITION m5 FOR VALUES FROM (30) TO (35)');
	is(apply('m'), 'reset', 'a partition that was swapped is a reset');
	run('TRUNCATE m3');
	is(apply('m'), 'reset', 'TRUNCATE of a partition is a reset');
	run('TRUNCATE m4');
	is(apply('m'), '', 'but not of a detached one');
	run(q{SELECT changes_track('m', dropped_partitions => 'reset')});
	apply('m');
	run('DROP TABLE m3');
	is(apply('m'), 'reset', 'a dropped partition is a reset');
	is(run(q{SELECT changes_track('m5')}), 'ERROR:  42809', 'a partition cannot be tracked');
	run('ALTER TABLE m5 DISABLE TRIGGER ALL');
	is(page('m'), 'ERROR:  55000', 'a partition without its trigger is an error');
	return;
}

# --- waits ----------------------------------------------------------------------

sub waits
{
	create('item', 'id int PRIMARY KEY, v text');
	apply('item', reader => 'second');
	run(q{INSERT INTO item VALUES (1, 'a')});
	my $position = position('item');
	my $session = session_as('owner');

	in($session, 'BEGIN', "SELECT changes_done('r', '$position')");
	is(apply('item', reader => 'second'), 'upsert (1,a)', 'while a transaction confirms, another reader reads and confirms');
	is(run(q{SELECT changes_track('item')}), '', 'changes_track() does not wait');
	is(run(q{SELECT changes_purge('item', '0')}), '0', 'nor changes_purge(), which deletes nothing');
	in($session, 'COMMIT');
	is(run(q{SELECT changes_purge('item', '0') > 0}), 't', 'until both readers have confirmed');
	is(page('item') . page('item', reader => 'second'), '', 'and both continue');
	in($session, 'BEGIN', call('item'));
	is(run(q{UPDATE item SET v = 'b'}), '', 'a writer does not wait for a reader');
	is(run('SET lock_timeout = 200', call('item', reader => 'third')), 'reset', 'nor another new reader');
	in($session, 'COMMIT');

	# advisory locks of a guest
	my $guest = session_as('guest');
	in($guest, 'BEGIN');
	in($guest, q{SELECT count(pg_advisory_xact_lock(hashtextextended('uuid9562 ' || what, n))) FROM unnest('{changes_read,changes_publish,changes_catalog}'::text[]) AS what, generate_series(0, 20) AS n});
	in($guest, 'SELECT count(pg_advisory_xact_lock(n)) FROM generate_series(-300, 300) AS n');
	is(run('SET lock_timeout = 2000', call('item')), 'upsert (1,b)', 'advisory locks of a guest stop no reader');
	in($guest, 'COMMIT');

	# the first calls of a reader at the same time
	in($session, 'BEGIN');
	is(in($session, call('item', reader => 'new')), 'reset', 'a session reads as a new reader, and goes on');
	my $asynchronous = session_as('owner');
	$asynchronous->query_until(qr/go/, "\\echo go\n" . call('item', reader => 'new') . ";\n");
	$node->poll_query_until($database, q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event_type = 'Lock'}) or die 'the second session does not wait';
	in($session, 'COMMIT');
	is(in($asynchronous, q{SELECT 'well'}) =~ s/.*\n//sr, 'well', 'another session that reads as the same reader waits for it');
	is(run(q{SELECT pages_out FROM changes_readers WHERE reader = 'new'}), 2, 'and both have a page');

	# waiting
	apply('item');
	run(q{SELECT changes_forget(reader, source) FROM changes_readers WHERE reader <> 'r'});
	like(run('BEGIN', q{CALL changes_wait('r', 'item', '1 s')}), qr/^ERROR:/, 'changes_wait() cannot be called in a transaction block');
	is(run(q{CALL changes_wait('r', 'item', '10 ms')}), '', 'changes_wait() ends at the timeout');
	$asynchronous->query_until(qr/wait/, "\\echo wait\nCALL changes_wait('r', 'item', '60 s');\nSELECT 'woken';\n");
	run(q{INSERT INTO item VALUES (2, 'woken')});
	is(in($asynchronous, q{SELECT 'ended'}) =~ s/.*(woken).*/$1/sr, 'woken', 'and when a change waits');
	is(apply('item'), 'upsert (2,woken)', 'which is then read');
	leave($session, $guest, $asynchronous);
	return;
}

sub odds
{
	create('item', 'id int PRIMARY KEY, v text');
	is(page('item', reader => 'x' x 201), 'ERROR:  22023', 'a name of 201 bytes is refused');
	is(run("SELECT $_"), 'ERROR:  22023', "and one of 3 MB in $_") foreach q{changes_read(repeat('x', 3000000), NULL::item)}, q{changes_done(repeat('x', 3000000))};
	is(page('item', reader => ''), 'ERROR:  22023', 'and an empty one');
	is(page('item', reader => 'x' x 200), 'reset', 'one of 200 bytes is a reader');
	is(page('item', lease => "'$_'"), 'ERROR:  22023', "a lease of $_ is refused") foreach '0', '-1 s', '31 days';
	is(page('item', lease => 'NULL'), 'ERROR:  22004', 'and NULL');
	is(page('item', page => 0), 'ERROR:  22023', 'and a page of no entries');
	is(run(q{SELECT * FROM changes_read('r', 1)}), 'ERROR:  42804', 'a type that is no row type is refused');

	# tables that are gone
	run(q{INSERT INTO item VALUES (1, 'a')}, 'DROP TABLE item', 'CREATE SCHEMA IF NOT EXISTS elsewhere', 'CREATE TABLE elsewhere.item (id int PRIMARY KEY)');
	is(run(q{SELECT changes_track('elsewhere.item')}), '', 'a table with the name of a dropped one is tracked');
	is(apply('elsewhere.item'), 'reset', 'and read');
	is(run('SELECT count(*) FROM changes_tables', 'SELECT count(*) FROM changes_readers'), "1\n1", 'the views do not show the dropped table');
	is(run(q{SELECT changes_purge('elsewhere.item', '0')}), '0', 'purging works');
	run('ALTER TABLE elsewhere.item RENAME TO renamed', 'ALTER TABLE elsewhere.renamed SET SCHEMA public', 'INSERT INTO renamed VALUES (1)');
	is(apply('renamed'), 'upsert (1)', 'a table that was renamed and moved is read');

	# prepared transactions
	run('BEGIN', 'INSERT INTO renamed VALUES (2)', q{PREPARE TRANSACTION 'p'});
	is(apply('renamed'), '', 'a prepared transaction is not read');
	run(q{COMMIT PREPARED 'p'});
	is(apply('renamed'), 'upsert (2)', 'until it is committed');

	# purging: positions of before are a reset
	my $old = position('renamed', reader => 'o', after => 'NULL');
	run('INSERT INTO renamed VALUES (3)');
	run(q{SELECT changes_forget('o', 'renamed')});
	apply('renamed');
	is(run(q{SELECT changes_purge('renamed', '0') > 0}), 't', 'entries are purged');
	is(page('renamed', reader => 'o', after => "'$old'"), 'reset', 'a position before them is a reset');
	run(q{SELECT changes_forget('o', 'renamed')});
	is(apply('renamed'), '', 'a reader that has confirmed them continues');
	run('INSERT INTO renamed VALUES (4)', 'INSERT INTO renamed VALUES (5)');
	is(run(q{SELECT changes_purge('renamed', '0')}), '0', 'entries that a reader needs are kept');
	is(run(q{SELECT kept_by FROM changes_tables}), 'r', 'as the view shows');
	is(apply('renamed'), "upsert (4)\nupsert (5)", 'and read');
	is(run(q{SELECT changes_purge('renamed', '0', 1)}), '1', 'purging ends after the given number');
	is(apply('renamed'), '', 'and readers continue');
	return;
}

my %groups = (
	reading => \&reading, outside => \&outside, domains => \&domains, operators => \&operators, tables => \&tables, programs => \&programs, 'equal keys' => \&equal_keys,
	types => \&types, alterations => \&alterations, 'own changes' => \&own_changes, partitions => \&partitions, waits => \&waits, odds => \&odds);

foreach my $installation ('file', 'extension')
{
	$is_file = $installation eq 'file';
	foreach my $group (grep { !$ENV{GROUP} || $_ eq $ENV{GROUP} } sort keys %groups)
	{
		subtest "$group, $installation" => sub {
			$database = "${installation}_" . $group =~ tr/ /_/r;
			sql("CREATE DATABASE $database");
			sql("ALTER DATABASE $database SET search_path = public, uuid9562_changes");
			$node->safe_psql($database, 'GRANT CREATE ON SCHEMA public TO owner; GRANT CREATE ON DATABASE ' . $database . ' TO owner');
			$node->safe_psql($database, $is_file ? "\\i $FindBin::Bin/managed/uuid9562_changes.sql" : 'CREATE EXTENSION uuid9562_changes CASCADE');
			$groups{$group}->();
		};
	}
}
$node->stop;
done_testing();
