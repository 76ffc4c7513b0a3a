# Dumps and copies of databases: a tracked table that comes with its trigger is tracked, whoever restores it,
# its readers get "reset" and then its changes, and nothing else is touched.
use ServerTest;
use File::Path qw(rmtree);
use Rooms;

my $node = new_server('dump', "timezone = 'UTC'\nshared_preload_libraries = 'uuid9562'\nautovacuum = off\n");
my $folder = PostgreSQL::Test::Utils::tempdir();
my $superuser = $node->safe_psql('postgres', 'SELECT current_user');

# --- whole databases -------------------------------------------------------------

foreach my $room (Rooms::create($node))
{
	my $name = $room->{name};
	my $members = Rooms::members($node, $room);
	my $restored = { %$room, name => "restored_$name" };

	$node->safe_psql('postgres', qq{CREATE DATABASE $restored->{name} OWNER "$room->{role}"});
	$node->command_ok([ 'pg_dump', '-U', $room->{role}, '--format=custom', "--file=$folder/$name", $name ], "$name: the dump succeeds");
	$node->command_ok([ 'pg_restore', '-U', $room->{role}, "--dbname=$restored->{name}", "$folder/$name" ], "$name: the dump is restored");
	is(Rooms::members($node, $restored), $members, "$name: the extensions have the same objects");
	Rooms::works($node, $restored, $name);
}

# --- parts of a database ----------------------------------------------------------

# The table of the role clerk is dumped and restored in different ways, beside a live table.
sub in_database { my ($database, @statements) = @_; return $node->safe_psql($database, join(";\n", @statements)) }
sub page { my ($table, $reader) = @_; return "SELECT concat_ws(' ', change_type, data) FROM changes_read('" . ($reader // 'r') . "', NULL::$table)" }
sub apply { my ($table) = @_; return ('BEGIN', page($table), "SELECT changes_done('r')", 'COMMIT') }

in_database('postgres', 'CREATE ROLE clerk LOGIN', 'CREATE ROLE heir', 'CREATE ROLE auditor', 'GRANT clerk TO lessee');
in_database('postgres', "CREATE DATABASE $_ OWNER lessee") foreach 'shop', 'target';
in_database('shop', 'CREATE EXTENSION uuid9562_changes CASCADE', 'CREATE SCHEMA own AUTHORIZATION clerk', 'SET ROLE clerk', 'CREATE TABLE own.t (id int PRIMARY KEY, v text)', q{SELECT changes_track('own.t', '{insert,update}', reader_expiry => '1 day')},
	q{INSERT INTO own.t VALUES (1, 'a')}, 'RESET ROLE', 'CREATE TABLE other (id int PRIMARY KEY) PARTITION BY RANGE (id)', 'CREATE TABLE other_1 PARTITION OF other DEFAULT', q{SELECT changes_track('other')},
	apply('own.t'), apply('other'), q{UPDATE own.t SET v = 'b'}, 'GRANT SELECT ON other, other_1 TO lessee');

# Create the target: a database with the extension in a schema, and a live table.
sub create_target
{
	my ($schema) = @_;

	in_database('postgres', $_) foreach 'DROP DATABASE target', 'CREATE DATABASE target OWNER lessee', 'ALTER DATABASE target SET search_path = public, ids';
	in_database('target', "CREATE SCHEMA $schema", "CREATE EXTENSION uuid9562_changes SCHEMA $schema CASCADE") if $schema eq 'ids';
	in_database('target', "CREATE EXTENSION uuid9562_changes CASCADE") if $schema eq 'public';
	in_database('target', 'CREATE TABLE live (id int PRIMARY KEY)', q{SELECT changes_track('live')}, apply('live'), 'INSERT INTO live VALUES (7)') if $schema;
	in_database('target', 'CREATE SCHEMA IF NOT EXISTS own AUTHORIZATION clerk');
	return;
}

sub is_tracked
{
	my ($name, $live) = @_;

	is(in_database('target', q{SELECT operations, reader_expiry, problem FROM changes_tables WHERE source = 'own.t'::regclass}, apply('own.t'), q{INSERT INTO own.t VALUES (2, 'c')}, page('own.t')),
		"{insert,update}|1 day|\nreset\n\nupsert (2,c)", "$name: readers get \"reset\" and then changes");
	is(in_database('target', page('live')), 'upsert (7)', "$name: the reader of another table continues") if $live;
	return;
}

my $file = "$folder/part";
foreach my $case (
	[ 'whole, plain text', '', $superuser ], [ 'whole, custom format', '', $superuser, '-Fc' ], [ 'whole, two jobs', '', $superuser, '-Fd', '-j2' ], [ 'whole, without owners', '', $superuser, '-Fc', '-O' ],
	[ 'without another tracked table', '', $superuser, '-Fc', '-T', 'other*' ], [ 'whole, by the owner of the database', '', 'lessee', '-Fc', '-O' ],
	(map { my $schema = $_; map { [ "one table, extension in $schema, by $_", $schema, $_, '-Fc', '-t', 'own.t', $_ eq 'lessee' ? '-O' : () ] } $superuser, 'clerk', 'lessee' } 'public', 'ids'),
	[ 'one schema, plain text', 'public', 'clerk', '-n', 'own', '-O' ])
{
	my ($name, $schema, $role, @options) = @$case;

	create_target($schema);
	in_database('target', 'DROP SCHEMA own') if !$schema || $options[0] eq '-n';
	in_database('target', 'GRANT CREATE ON DATABASE target TO clerk');
	$node->command_ok([ 'pg_dump', '-U', $role, @options, '-f', $file, 'shop' ], "$name: the dump succeeds");
	$node->command_ok([ @options && $options[0] =~ /^-F/ ? ('pg_restore', '-U', $role, '-d', 'target', $options[0] eq '-Fd' ? '-j2' : (), grep({ $_ eq '-O' } @options), $file) : ('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-U', $role, '-f', $file, 'target') ],
		"$name: it is restored");
	unlike(slurp_file($file), qr/COPY uuid9562_changes/, "$name: it has no row of the extension") if $name =~ /plain/;
	is_tracked($name, $schema);
	is(in_database('target', q{SELECT count(*) FROM changes_tables}), $schema || "@options" =~ /-t|-T/ ? ($schema ? 2 : 1) : 2, "$name: nothing else is tracked");
	is(in_database('target', apply('other'), 'INSERT INTO other_1 VALUES (3)', apply('other'), 'TRUNCATE other_1', page('other')), "reset\n\nupsert (3)\n\nreset", "$name: so is a partitioned table") if $name =~ /^whole/;
	rmtree($file);
}

# over a live database, whose extension another table needs
create_target('public');
$node->command_ok([ 'pg_dump', '-Fc', '-f', $file, 'shop' ], 'a dump of the database');
foreach my $round (1, 2)
{
	$node->command_fails_like([ 'pg_restore', '--clean', '--if-exists', '-d', 'target', $file ], qr/cannot drop extension uuid9562_changes because other objects depend on it/, "it is restored over a live database, round $round");
	is_tracked("over a live database, round $round", 1);
}
unlink $file;

# over a live table
create_target('public');
$node->command_ok([ 'pg_dump', '-Fc', '-t', 'own.t', '-f', $file, 'shop' ], 'a dump of a table');
$node->command_ok([ 'pg_restore', '-d', 'target', $file ], 'it is restored');
in_database('target', apply('own.t'), q{UPDATE own.t SET v = 'newer'});
$node->command_ok([ 'pg_restore', '--clean', '--if-exists', '-d', 'target', $file ], 'and restored again, over the live table');
is_tracked('over a live table', 1);

# data without triggers
in_database('target', 'DELETE FROM own.t');
$node->command_ok([ 'pg_restore', '--data-only', '--disable-triggers', '-d', 'target', $file ], 'its data is restored without triggers');
my (undef, undef, $err) = $node->psql('target', page('own.t'));
like($err, qr/ERROR:  changes of table own\.t are not logged\nDETAIL: .* ENABLE ALWAYS\.\nHINT:  Call changes_track\('own\.t'\)/, 'the reader is told to call changes_track()');
is(in_database('target', q{SELECT changes_track('own.t')}, apply('own.t'), page('live')), "\nreset\n\nupsert (7)", 'which repairs the table');

# without the extension
create_target('');
$node->command_fails_like([ 'pg_restore', '-d', 'target', $file ], qr/schema "uuid9562_changes" does not exist/, 'without the extension, the trigger is not restored');
is(in_database('target', 'TABLE own.t'), '1|b', 'but the table is');

# --- copies of a database ------------------------------------------------------------------

my $outside = in_database('shop', q{SELECT change_position FROM changes_read('outside', NULL::own.t, after => NULL)});
in_database('shop', 'INSERT INTO other VALUES (1)');
in_database('template1', 'CREATE DATABASE copied TEMPLATE shop');
is(in_database('copied', page('own.t'), page('other'), "SELECT change_type FROM changes_read('outside', NULL::own.t, after => '$outside')"), "reset\nreset\nreset", 'in a database created from a template, all readers get "reset"');
my $elsewhere = in_database('copied', q{SELECT change_position FROM changes_read('outside', NULL::own.t, after => NULL)});
is(in_database('shop', "SELECT change_type FROM changes_read('outside', NULL::own.t, after => '$elsewhere')", page('other')), "reset\nupsert (1)", 'a position of another database means "reset", and the template is untouched');

# --- owners ---------------------------------------------------------------------------------

in_database('shop', apply('own.t'), 'GRANT SELECT ON own.t TO auditor', 'GRANT USAGE ON SCHEMA own TO auditor', 'SET ROLE auditor', page('own.t', 'hers'));
is(in_database('shop', 'REASSIGN OWNED BY clerk TO heir', q{UPDATE own.t SET v = 'd'}, apply('own.t')), "upsert (1,d)\n", 'changes arrive after REASSIGN OWNED');
in_database('shop', 'DROP OWNED BY auditor', 'DROP ROLE auditor', q{UPDATE own.t SET v = 'e'});
is(in_database('shop', apply('own.t')), "upsert (1,e)\n", 'and after the role of another reader was dropped');
like(in_database('shop', q{SELECT owner FROM changes_readers WHERE reader = 'hers'}), qr/^\d+$/, 'whose reader is shown');
is(in_database('shop', 'SET ROLE heir', q{SELECT changes_forget('hers', 'own.t')}, 'RESET ROLE', 'DROP OWNED BY heir', q{SELECT source, problem FROM changes_tables}), "\nother|", 'the owner of the table removes it, and DROP OWNED removes the table');

$node->stop;
done_testing();
