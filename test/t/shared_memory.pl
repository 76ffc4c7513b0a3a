# Without preloading, a server of PostgreSQL 17 or later creates the shared memory of the
# ordered generators when they are first used, and earlier versions raise an error.  Session
# generators, such as uuidv7(), do not need shared memory.
use ServerTest;
use World;

my $quiet = "dynamic_shared_memory_type = mmap\nautovacuum = off\ncheckpoint_timeout = '1 d'\nbgwriter_lru_maxpages = 0\nwal_level = minimal\nmax_wal_senders = 0\nuuid9562.node_id = 7\n";
my $world = World->new('bare', "session_preload_libraries = 'uuid9562'\n$quiet") or plan skip_all => World::REASON;
my $node = $world->node;
my $version = $node->pg_version;
my $mark = $node->data_dir . '/global/9562';
my ($status, $out, $err);

sub sql { return $node->safe_psql('postgres', join ";\n", @_) }

# Run statements, and store their output and errors with SQLSTATE.
sub try
{
	($status, $out, $err) = $node->psql('postgres', "\\set VERBOSITY verbose\n" . join(";\n", @_), on_error_stop => 0);
	return;
}

# --- servers that do not use ordered generators -------------------------------------

# Return the number of the extension's allocations in static shared memory, the number of
# dynamic segments, and the WAL position.
sub state_of
{
	return sql(q{SELECT count(*) FILTER (WHERE name ~ 'uuid9562'), (SELECT count(*) FROM pg_ls_dir('pg_dynshmem')), pg_current_wal_insert_lsn() FROM pg_shmem_allocations});
}
# remove dead rows, since scanning a page with dead rows can write WAL
sql('VACUUM FREEZE');
state_of();
my $before = state_of();
my $all = q{SELECT count(public.uuidv1()), count(public.uuidv4()), count(public.uuidv6()), count(public.uuidv7()), count(public.uuidv7_next()), count(public.uuidv7('1 day')),
	count(public.uuidv8()), count(public.uuidv8_node()), count(public.uuidv8_node(3)), count(public.uuidv7_at(now())) FROM generate_series(1, 1000)};
is(sql('BEGIN', $all, 'SAVEPOINT s', $all, 'ROLLBACK TO s', 'COMMIT'), join('|', (1000) x 10) . "\n" . join('|', (1000) x 10),
	'session generators return values');
ok(!-e $mark, 'session generators create no file');
is(state_of(), $before, 'session generators create no shared memory and write no WAL');
like($before, qr/^0\|/, 'there is no shared memory');

# --- another version of the library --------------------------------------------------

# Build another version of the library from edited files, and return its path.  Rename
# uuid9562_ordered_init(): on PostgreSQL 15, all functions of a library are visible to other
# libraries, so the installed library would call the function of the other version.
sub build_other
{
	my (%changes) = @_;
	my $copy = PostgreSQL::Test::Utils::tempdir() . '/uuid9562';

	system_or_bail('cp', '-a', "$FindBin::Bin/../uuid9562", $copy);
	system_or_bail('make', '-s', '-C', $copy, 'with_llvm=no', 'clean');
	system_or_bail('perl', '-pi', '-e', $changes{$_}, "$copy/src/$_") foreach sort keys %changes;
	system_or_bail('make', '-s', '-C', $copy, 'with_llvm=no', 'COPT=-Duuid9562_ordered_init=other_init', 'uuid9562.so');
	return "$copy/uuid9562";
}
my $other_layout = 's/\bSHARED_LAYOUT\b/(SHARED_LAYOUT + 1)/g';
my $layout_error = qr/uuid9562 shared memory has layout \d+ instead of \d+\n.*DETAIL:  Another version of the library created it, or its initialization failed\.\n.*HINT:  Restart the server\./;

# Let the other library define no settings, since only one of two libraries can define them.
my $other = build_other('uuid9562.c' => 's/^\tuuid9562_define_settings.*//', 'ordered/shared_memory.c' => $other_layout);
$node->stop;
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$other, uuid9562'");
ok(!$node->start(fail_ok => 1), 'a server does not start if it preloads two versions of the library');
like(slurp_file($node->logfile), qr/FATAL:  $layout_error/, 'the server log reports another layout');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$world->start;

# --- without preloading -------------------------------------------------------------

if ($version < 17)
{
	foreach my $function ('uuidv7_ordered', 'uuidv7_horizon', 'uuid_generator_stats', 'uuid_generator_reset')
	{
		try("SELECT public.$function()");
		like($err, qr/ERROR:  55000: uuid9562 shared memory is not available\nHINT:  Add "uuid9562" to "shared_preload_libraries" and restart the server\./, "$function() is an error without preloading");
	}
	try(q{SELECT public.uuid_generator_advance('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')});
	like($err, qr/ERROR:  55000: uuid9562 shared memory is not available/, 'uuid_generator_advance() is an error without preloading');
	is(sql('SELECT public.uuidv7() IS NOT NULL'), 't', 'uuidv7() works without preloading');
	ok(!-e $mark, 'functions that raise an error create no file');
	sql(q{ALTER SYSTEM SET shared_preload_libraries = 'uuid9562'});
	$node->stop;
	$world->start;
	like(sql('SELECT public.uuidv7_ordered()'), qr/^[0-9a-f-]{36}$/, 'uuidv7_ordered() works with preloading');
	$node->stop;
	done_testing();
	exit;
}

sql('SELECT public.uuidv7_ordered()');
isnt(state_of() =~ s/\|[^|]*$//r, $before =~ s/\|[^|]*$//r, 'an ordered function creates shared memory');
ok(-f $mark, 'an ordered function creates the file');

# The first call of a session confirms changes.
sql('CREATE EXTENSION uuid9562_changes', 'CREATE TABLE item (id int PRIMARY KEY)', q{SELECT changes_track('item')}, q{SELECT changes_done('r', change_position) FROM changes_read('r', NULL::item)}, 'INSERT INTO item VALUES (1)');
my $position = sql(q{SELECT change_position FROM changes_read('r', NULL::item)});
sql("SELECT changes_done('r', '$position')");
is(sql(q{SELECT count(*) FROM changes_read('r', NULL::item)}), 0, 'a session that has not used shared memory confirms a page');

# A session that loads the library late does not know with which row type an earlier statement was parsed.
foreach my $preloads (1, 0)
{
	local $ENV{PGOPTIONS} = $preloads ? '' : '-c session_preload_libraries=';

	sql('INSERT INTO item VALUES (2 + ' . $preloads . ')');
	try(q{PREPARE page AS SELECT count(*) FROM changes_read('r', NULL::item)}, 'EXECUTE page', 'EXECUTE page');
	like($err, $preloads ? qr/^$/ : qr/^psql:<stdin>:\d+: ERROR:  40001: statement was prepared before the library uuid9562 was loaded\nDETAIL:  The row type of table item can have changed since then\.\n/,
		'the first prepared call ' . ($preloads ? 'succeeds in a session that has preloaded the library' : 'fails in a session that loads the library late'));
	like($out, $preloads ? qr/^1\n1$/ : qr/^2$/, 'the next one succeeds');
}
sql('DROP EXTENSION uuid9562_changes CASCADE');

# --- no room for shared memory ------------------------------------------------------

sql('ALTER SYSTEM SET dynamic_shared_memory_type = posix');
$node->stop;
$world->start;
$world->turn('full');
try('SELECT public.uuidv4() IS NOT NULL', 'SELECT public.uuidv7() IS NOT NULL');
is($out, "t\nt", 'connections and session generators work without room for shared memory');
try('SELECT public.uuidv7_ordered()');
is($out, '', 'an ordered function returns no value without room for shared memory');
like($err, qr/ERROR:  53\w{3}: could not resize shared memory segment.*No space left on device\nCONTEXT:  while attaching to uuid9562 shared memory/s, 'the error is about shared memory');
my $session = $node->background_psql('postgres', on_error_stop => 0);
foreach my $attempt (1 .. 2)
{
	$session->{stderr} = '';
	$session->query('SELECT public.uuidv7_ordered()');
	like($session->{stderr}, qr/could not resize shared memory segment/, "a session cannot attach, attempt $attempt");
}
$world->turn('normal');
$session->{stderr} = '';
my $id = qr/^[0-9a-f-]{36}\s*$/;
like($session->query_safe('SELECT public.uuidv7_ordered()'), $id, 'the session attaches when there is room');
my $first = $session->query_safe('BEGIN; SELECT public.uuidv7_ordered()') =~ s/\s//gr;
sql('SELECT public.uuidv7_ordered()') foreach 1 .. 3;
cmp_ok(sql('SELECT public.uuidv7_horizon()'), 'le', $first, 'the transaction of that session holds the horizon');
$session->query_safe('COMMIT');
cmp_ok(sql('SELECT public.uuidv7_horizon()'), 'gt', $first, 'the end of that transaction releases the horizon');
$session->quit;

# --- a library that was replaced ----------------------------------------------------

# A session loads another version of the library instead of the installed one.
my %other = (
	layout => [ $other_layout, qr/ERROR:  55000: $layout_error/ ],
	size => [ 's/return add_size\(offsetof/return 8192 + add_size(offsetof/', qr/ERROR:  XX000: requested DSM segment size does not match.*?\nHINT:  If the library was updated, restart the server\.\nCONTEXT:  while attaching to uuid9562 shared memory/ ]);
foreach my $what (sort keys %other)
{
	my ($change, $error) = @{ $other{$what} };
	my $library = build_other('ordered/shared_memory.c' => $change);
	my @functions = qw(uuidv4 uuidv7 uuidv7_ordered uuidv7_horizon);
	my $value = sql('SELECT public.uuidv7_ordered()');
	{
		local $ENV{PGOPTIONS} = "-c session_preload_libraries=$library";

		sql('DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other', map { "CREATE FUNCTION other.$_() RETURNS uuid LANGUAGE c VOLATILE AS '$library', 'uuid9562_$_'" } @functions);
		try('SELECT other.uuidv4() IS NOT NULL', 'SELECT other.uuidv7() IS NOT NULL');
		is("$out$err", "t\nt", "a session with a library of another $what connects and generates");
		try('SELECT other.uuidv7_ordered()', 'SELECT other.uuidv7_ordered()', 'SELECT other.uuidv7_horizon()', 'SELECT other.uuidv7() IS NOT NULL');
		is($out, 't', "the session cannot generate ordered values with another $what");
		is(scalar(() = $err =~ /$error/g), 3, "the errors report another $what") or diag($err);
	}
	cmp_ok(sql('SELECT public.uuidv7_ordered()'), 'gt', $value, "sessions with the installed library continue after a session with another $what");
}
is(scalar(() = slurp_file($node->logfile) =~ /PANIC|TRAP|was terminated by signal/g), 0, 'no process crashed');

$node->stop;
done_testing();
