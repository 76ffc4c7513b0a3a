# The file with the keys of public IDs: which files are refused and why, what a line may
# look like, which database a key belongs to, and what a reload changes.  No key may
# appear in a message, a log line or a view.
use ServerTest;
use Digest::SHA qw(sha256_hex);
use POSIX qw(mkfifo);
use World;

my $world = World->new('key_file', "log_min_messages = debug2\nlog_statement = all\nlog_error_verbosity = verbose\n") or plan skip_all => World::REASON;
my $node = $world->node;
# the data directory is a symbolic link
$node->stop;
rename $node->data_dir, $node->data_dir . '.real' or die $!;
symlink $node->data_dir . '.real', $node->data_dir or die $!;
$world->start;
$node->safe_psql('postgres', "CREATE ROLE web LOGIN;
	GRANT EXECUTE ON FUNCTION public.uuidv7_encrypt(uuid, text), public.uuidv7_decrypt(uuid, text) TO web;
	CREATE DATABASE other; CREATE DATABASE \"a \"\"b\"\" = c\"; CREATE DATABASE \"#1\"");
$node->safe_psql($_, 'CREATE EXTENSION uuid9562') foreach 'other', 'a "b" = c', '#1';

my $folder = PostgreSQL::Test::Utils::tempdir();
my $file = "$folder/keys";
my $id = '01a2027b-d9c0-771c-9de0-6b9bb85af70d';
my $counting = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
my %public_id = ($counting => 'acc73dab-7dd9-46b8-87a5-8553c1e38c18');
my @keys = map { sha256_hex("$$ $_") } 1 .. 4;
my $printed = '';	# everything that clients have received

sub write_keys
{
	my ($content, $mode) = @_;

	unlink $file;
	PostgreSQL::Test::Utils::append_to_file("$file.new", $content);
	chmod defined $mode ? $mode : 0600, "$file.new";
	rename "$file.new", $file or die $!;
}

# Call a function in a new session, and return the output and the errors.  If a database is
# given, connect to it as a superuser.  Otherwise, connect to database postgres as role web.
sub call
{
	my ($name, $database, $function) = @_;
	my ($status, $out, $err) = $node->psql($database || 'postgres', "\\set VERBOSITY verbose\nSELECT public." . ($function || 'uuidv7_encrypt') . "('$id', '$name')",
		extra_params => $database ? [] : [ '-U', 'web' ], timeout => $PostgreSQL::Test::Utils::timeout_default);

	$printed .= "$out\n$err\n";
	return ($out, $err);
}

sub is_refused
{
	my ($error, $name) = @_;
	my ($out, $err) = call('orders');

	is($out, '', "$name: no value");
	like($err, $error, "$name: the expected error");
}

# --- the setting ----------------------------------------------------------------

is_refused(qr/ERROR:  42704: key "orders" does not exist\nDETAIL:  Parameter "uuid9562.key_file" is not set.\nHINT:  Set it to the absolute path/, 'no key file');
write_keys("postgres orders = $keys[0]\n");
foreach my $set ("SET uuid9562.key_file = '$file'", "LOAD 'uuid9562'; SET uuid9562.key_file = '$file'", "LOAD 'uuid9562'; ALTER DATABASE postgres SET uuid9562.key_file = '$file'")
{
	my ($status, $out, $err) = $node->psql('postgres', "$set; SELECT public.uuidv7_encrypt('$id', 'orders')", on_error_stop => 0);
	is($out, '', "$set: no value");
	like($err, qr/parameter "uuid9562.key_file" cannot be changed now.*Parameter "uuid9562.key_file" is not set/s, "$set: the setting is refused");
}
{
	local $ENV{PGOPTIONS} = "-c uuid9562.key_file=$file";
	my ($status, $out, $err) = $node->psql('postgres', "SELECT public.uuidv7_encrypt('$id', 'orders')");
	like($err, qr/WARNING:  parameter "uuid9562.key_file" cannot be changed now.*Parameter "uuid9562.key_file" is not set/s, 'a connection option is refused');
}
$node->safe_psql('postgres', "ALTER ROLE web SET uuid9562.key_file = '$file'");
is_refused(qr/WARNING: .*cannot be changed now.*Parameter "uuid9562.key_file" is not set/s, 'ALTER ROLE ... SET before the library is loaded');
$node->safe_psql('postgres', 'ALTER ROLE web RESET ALL');

my $generation = 0;

# Reload the configuration, and wait until new sessions and the given sessions have it.
sub reload
{
	my @sessions = @_;
	my $deadline = time + $PostgreSQL::Test::Utils::timeout_default;

	$generation++;
	$node->append_conf('postgresql.conf', "test.generation = $generation");
	$node->reload;
	$node->poll_query_until('postgres', "SELECT current_setting('test.generation') = '$generation'") or die 'no reload';
	foreach my $session (@sessions)
	{
		while ($session->query("SELECT current_setting('test.generation')") ne $generation)
		{
			die 'no reload in a session' if time > $deadline;
			select undef, undef, undef, 0.05;
		}
	}
}

$node->append_conf('postgresql.conf', "uuid9562.key_file = '$file'");
reload();
my ($out, $err) = call('orders');
like($out, qr/^[0-9a-f-]{14}4[0-9a-f-]{21}$/, 'a path in postgresql.conf takes effect at a reload') or diag($err);
$public_id{ $keys[0] } = $out;
(my $status, $out, $err) = $node->psql('postgres', 'SELECT public.nil_uuid(); SHOW uuid9562.key_file', extra_params => [ '-U', 'web' ]);
like($err, qr/ERROR:  (?:must be superuser|permission denied).* to examine "uuid9562.key_file"/, 'only superusers and members of pg_read_all_settings see the path');

$node->safe_psql('postgres', "ALTER DATABASE postgres SET uuid9562.key_file = '$file'");
is_refused(qr/WARNING: .*cannot be changed now.*Parameter "uuid9562.key_file" is not set/s, 'without preloading, ALTER DATABASE ... SET disables the keys of postgresql.conf');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET ALL');

# --- refused files --------------------------------------------------------------

unlink $file;
my $refused = qr/ERROR:  F0000: could not load key file "\Q$file\E"\nDETAIL: /;
is_refused(qr/$refused The operating system reports: No such file or directory\.\nHINT:  Write each key as "database key_name = ", 64 hexadecimal/, 'a missing file');
symlink "$folder/missing", $file;
is_refused(qr/$refused The operating system reports: No such file or directory\.\n/, 'a broken symbolic link');
unlink $file;
mkdir $file;
is_refused(qr/$refused The file is not a regular file that only the database user or root can access\.\n/, 'a directory');
rmdir $file;
mkfifo($file, 0600) or die $!;
is_refused(qr/$refused The file is not a regular file that only the database user or root can access\.\n/, 'a FIFO');
# The extension must check the file that it opens, and not wait until a FIFO has a writer.
write_keys("postgres orders = $keys[0]\n");
mkfifo("$file.swap", 0600) or die $!;
is_refused(qr/$refused The file is not a regular file that only the database user or root can access\.\n/, 'a FIFO that replaces the file just before it is opened');
ok(-p $file, 'the FIFO has replaced the file');
foreach my $mode (0640, 0604, 0620, 0602, 0644, 0610)
{
	write_keys("postgres orders = $keys[0]\n", $mode);
	is_refused(qr/$refused The file is not a regular file that only the database user or root can access\.\n/, sprintf 'permissions 0%o', $mode);
}
write_keys("postgres orders = $keys[0]\n");
link $file, "$file.other" or die $!;
is_refused(qr/$refused The file has another name, which can be inside the data directory\.\n/, 'a file with a hard link');
unlink "$file.other" or die $!;
write_keys("postgres orders = $keys[0]\n", 0000);
is_refused(qr/$refused The operating system reports: Permission denied\.\n/, 'permissions 0000');

SKIP:
{
	my ($foreign) = grep { -f && !-l && (stat)[4] != 0 && (stat)[4] != $> } glob '/var/cache/*/* /var/lib/*/* /var/log/* /var/mail/* /run/*';
	skip 'no file of another user', 2 unless $foreign;
	unlink $file;
	symlink $foreign, $file;
	is_refused(qr/$refused (?:The file is not a regular file that only the database user or root can access|The operating system reports: Permission denied)\.\n/, 'a file of another user');
}
SKIP:
{
	my ($public) = grep { -f && (stat)[4] == 0 && (stat)[2] & 04 } '/etc/passwd';
	skip 'no file of root', 2 unless $public;
	unlink $file;
	symlink $public, $file;
	is_refused(qr/$refused The file is not a regular file that only the database user or root can access\.\n/, 'a file of root that everybody can read');
}

# as for private keys of TLS, a file of root may be readable for its group
$world->turn("root's");
write_keys("postgres orders = $keys[0]\n", 0640);
is((call('orders'))[0], $public_id{ $keys[0] }, 'a file of root that its group may read');
foreach my $mode (0620, 0610, 0604, 0602)
{
	write_keys("postgres orders = $keys[0]\n", $mode | 0440);
	is_refused(qr/$refused The file is not a regular file that only the database user or root can access\.\n/, sprintf 'permissions 0%o of a file of root', $mode | 0440);
}
$world->turn('normal');

# a key file inside the data directory: by its own path, by a link to the file, and by a
# link to the directory
my $inside = $node->data_dir . '.real/keys';
unlink $file;
write_keys("postgres orders = $keys[0]\n");
rename $file, $inside or die $!;
symlink $inside, $file or die $!;
is_refused(qr/$refused The file is inside the data directory\.\n/, 'a link into the data directory');
unlink $file;
symlink $node->data_dir, "$folder/data";
foreach my $path ('keys', "$folder/data/keys", $inside, "$folder/../" . ($folder =~ s{.*/}{}r) . '/data/keys')
{
	$node->append_conf('postgresql.conf', "uuid9562.key_file = '$path'");
	reload();
	my $reason = $path eq 'keys' ? 'The path is not absolute.' : 'The file is inside the data directory.';
	is_refused(qr/ERROR:  F0000: could not load key file "\Q$path\E"\nDETAIL:  \Q$reason\E\n/, "$path, in the data directory");
}
unlink $inside;
my $beside = $node->data_dir . '.real.keys';
write_keys("postgres orders = $keys[0]\n");
rename $file, $beside or die $!;
$node->append_conf('postgresql.conf', "uuid9562.key_file = '$beside'");
reload();
is((call('orders'))[0], $public_id{ $keys[0] }, 'a file whose path begins like that of the data directory is accepted');
unlink $beside;
$node->append_conf('postgresql.conf', "uuid9562.key_file = '$file'");
reload();

# --- contents -------------------------------------------------------------------

# test/core/key_lines.c tests which files and lines are valid.
my $good = "postgres good = $counting\n";
my $half = substr $keys[0], 0, 32;
foreach my $case (
	[ '65 digits', "\n# keys\n${good}postgres orders = $keys[0]0\n", 'Line 4 has a syntax error.' ],
	[ 'a bad line of another database', "${good}other orders = $half\n", 'Line 2 has a syntax error.' ],
	[ 'a database name of 64 bytes', 'd' x 64 . " orders = $keys[0]\n$good", 'Line 1 has a syntax error.' ],
	[ 'a key name twice', "postgres orders = $keys[0]\nother orders = $keys[1]\npostgres orders = $keys[1]\n", 'Line 3 repeats a key name of the same database.' ],
	[ '10 MB', $good x (10 * 1024 * 1024 / length $good), 'The file is larger than 1 MB.' ],
	[ '1 MB and a byte', '#' x (1024 * 1024) . "\n", 'The file is larger than 1 MB.' ])
{
	my ($name, $content, $reason) = @$case;
	write_keys($content);
	is_refused(qr/$refused $reason\n/, $name);
}

# Test that the key $key_name is found in a file with the given content.
sub finds
{
	my ($name, $content, $key_name, $database) = @_;
	write_keys($content);
	my ($out, $err) = call($key_name, $database);
	is($out, $public_id{$counting}, "$name: the key is found") or diag($err);
}
finds('a long name', "postgres " . 'x' x 1000 . " = $counting\n", 'x' x 1000);
finds('other characters', "postgres \"=#'\t\x01 = $counting\n", "\"=#''\t\x01");
finds('bytes beyond ASCII', "postgres \xc3\xa9t\xc3\xa9 = $counting\n", "\xc3\xa9t\xc3\xa9");
finds('a database name with spaces and quotes', "a \"b\" = c orders = $counting\n", 'orders', 'a "b" = c');
finds('a database name of 63 bytes', 'd' x 63 . " orders = $keys[0]\n$good", 'good');
finds('1 MB', '#' x (1024 * 1024 - length "\n$good") . "\n$good", 'good');
finds('many keys', join('', map { "postgres key_$_ = " . ($_ == 5000 ? $counting : $keys[0]) . "\n" } 1 .. 10000), 'key_5000');
foreach my $name ('order', 'orders ', 'ordersx', 'Orders', '', 'x' x 200)
{
	write_keys("postgres orders = $counting\n");
	my ($out, $err) = call($name);
	is($out, '', "\"$name\" is not the name of the key");
	like($err, qr/ERROR:  42704: key "\Q$name\E" does not exist\nDETAIL:  This session has not loaded this key for the current database.\nHINT:  Add the key to the file that "uuid9562.key_file" names, in a line that begins with the name of this database,/, "\"$name\": the expected error");
}

# --- databases ------------------------------------------------------------------

write_keys("postgres orders = $counting\nother parts = $keys[1]\nall every = $keys[2]\n* every = $keys[2]\n");
is((call('orders'))[0], $public_id{$counting}, 'a key of this database');
foreach my $case ([ 'postgres', 'parts' ], [ 'other', 'orders' ], [ 'postgres', 'every' ], [ 'other', 'every' ], [ 'postgres', 'other parts' ])
{
	my ($database, $name) = @$case;
	like((call($name, $database))[1], qr/ERROR:  42704: key "$name" does not exist/, "database $database has no key $name");
}
like((call('parts', 'other'))[0], qr/^[0-9a-f]{8}-/, 'database other has a key of its own');
write_keys("#1 orders = $counting\n");
like((call('orders', '#1'))[1], qr/ERROR:  42704: key "orders" does not exist/, 'a line that begins with # is a comment even if a database has this name');
write_keys("postgres orders = $counting\nother orders = $keys[1]\n");
isnt((call('orders', 'other'))[0], $public_id{$counting}, 'a name has another key in another database');

# After a superuser has deleted the database's row in pg_database, the database has no name.
($status, $out, $err) = $node->psql('postgres', "BEGIN; DELETE FROM pg_database WHERE datname = 'postgres'; SELECT public.uuidv7_encrypt('$id', 'orders')");
is($out, '', 'a database without a name has no keys');
like($err, qr/ERROR:  key "orders" does not exist/, 'the error in a database without a name is that the key does not exist');

# --- vectors --------------------------------------------------------------------

is($node->safe_psql('postgres', q{
	SELECT id, public.uuidv7_encrypt(id, 'orders'), public.uuidv7_decrypt(public.uuidv7_encrypt(id, 'orders'), 'orders') = id
	FROM unnest('{00000000-0000-7000-8000-000000000000,ffffffff-ffff-7fff-bfff-ffffffffffff,01a2027b-d9c0-771c-9de0-6b9bb85af70d}'::uuid[]) AS id}),
	"00000000-0000-7000-8000-000000000000|eba6ee56-1adc-4af6-b28d-a6cfbb1a3bde|t
ffffffff-ffff-7fff-bfff-ffffffffffff|f00c6b93-3b61-417b-8076-1fbf64f89a89|t
01a2027b-d9c0-771c-9de0-6b9bb85af70d|acc73dab-7dd9-46b8-87a5-8553c1e38c18|t", 'public IDs are the test vectors of the manual');

# --- reload ---------------------------------------------------------------------

my $session = $node->background_psql('postgres', on_error_stop => 0);
my $late = $node->background_psql('postgres', on_error_stop => 0);
$session->query("PREPARE encrypt(uuid) AS SELECT public.uuidv7_encrypt(\$1, 'orders'); PREPARE constant AS SELECT public.uuidv7_encrypt('$id', 'orders');
	SET plan_cache_mode = force_generic_plan");
my $encrypt = "EXECUTE encrypt('$id'); EXECUTE constant";

# Run a query in a session; return its output and its messages.
sub ask
{
	my ($session, $query) = @_;
	$session->{stderr} = '';
	my $out = $session->query($query);
	my $err = $session->{stderr} // '';
	$printed .= "$out\n$err\n";
	return ($out, $err);
}
is((ask($session, $encrypt))[0], "$public_id{$counting}\n$public_id{$counting}", 'a session uses the key of the file');
my $contexts = q{SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'uuid9562 keys'};
my ($kept) = ask($session, $contexts);
write_keys("postgres orders = $keys[0]\n");
is((ask($session, $encrypt))[0], "$public_id{$counting}\n$public_id{$counting}", 'a session keeps its key until a reload');
reload($session, $late);
is((ask($session, $encrypt))[0], "$public_id{$keys[0]}\n$public_id{$keys[0]}", 'prepared generic plans use the new key after a reload');

foreach my $case (
	[ 'a malformed line', sub { write_keys("\n\npostgres orders = $half\n") }, 'Line 3 has a syntax error.' ],
	[ 'an unfinished line', sub { write_keys("postgres orders = $keys[1]") }, 'The file does not end with a newline.' ],
	[ 'permissions for the group', sub { write_keys("postgres orders = $keys[1]\n", 0640) }, 'The file is not a regular file' ],
	[ 'permissions for nobody', sub { write_keys("postgres orders = $keys[1]\n", 0) }, 'The operating system reports: Permission denied.' ],
	[ 'no file', sub { unlink $file }, 'The operating system reports: No such file' ])
{
	my ($name, $change, $error) = @$case;
	my $offset = -s $node->logfile;

	$change->();
	reload($session, $late);
	is((ask($session, $encrypt))[0], "$public_id{$keys[0]}\n$public_id{$keys[0]}", "$name: a session that has keys keeps them");
	ok($node->wait_for_log(qr/LOG:  F0000: could not reload key file "\Q$file\E"; this session keeps its keys\n.*DETAIL:  $error/, $offset), "$name: it logs the error");
	ask($session, $encrypt);
	is(() = slurp_file($node->logfile, $offset) =~ /LOG:  F0000: could not reload/g, 1, "$name: it logs the error once");
	like((ask($late, "SELECT public.uuidv7_encrypt('$id', 'orders')"))[1], qr/ERROR:  could not load key file "\Q$file\E"\nDETAIL:  $error/, "$name: a session without keys raises the error");
}
write_keys("postgres orders = $counting\n");
reload($session, $late);
is((ask($session, $encrypt))[0], "$public_id{$counting}\n$public_id{$counting}", 'a good file is used again after the next reload');
is((ask($late, "SELECT public.uuidv7_encrypt('$id', 'orders')"))[0], $public_id{$counting}, 'a session without keys uses the good file too');

is((ask($session, $contexts))[0], $kept, 'a reload frees the old keys');

# a session whose key file has no key for its database
write_keys("other orders = $counting\n");
reload($session, $late);
like((ask($session, $encrypt))[1], qr/ERROR:  key "orders" does not exist/, 'a key that is gone from the file is not used after a reload');
write_keys("postgres orders = $half\n");
reload($session, $late);
like((ask($session, $encrypt))[1], qr/ERROR:  could not load key file "\Q$file\E"\nDETAIL:  Line 1 has a syntax error\.\n/, 'a session whose file had no key for its database raises the error');
write_keys("postgres orders = $keys[0]\n");
like((ask($session, $encrypt))[0], qr/^$public_id{$keys[0]}/, 'a session whose file had a syntax error uses the corrected file without another reload');

# two keys of one database, as during a rotation
write_keys("postgres orders = $keys[0]\npostgres orders_2 = $counting\n");
reload($session);
is((ask($session, "SELECT public.uuidv7_encrypt('$id', 'orders'), public.uuidv7_encrypt('$id', 'orders_2'), public.uuidv7_encrypt('$id', 'orders')"))[0],
	"$public_id{$keys[0]}|$public_id{$counting}|$public_id{$keys[0]}", 'a session uses two keys');

# errors and rollbacks do not affect the keys of a session
is((ask($session, "BEGIN; SELECT public.uuidv7_encrypt('$id', 'none'); ROLLBACK; SELECT public.uuidv7_encrypt('$id', 'orders')"))[0], $public_id{ $keys[0] },
	'a session can use its keys after an error');
write_keys("postgres orders = $counting\n");
reload($session);
is((ask($session, "BEGIN; SAVEPOINT s; SELECT public.uuidv7_encrypt('$id', 'orders'); ROLLBACK TO s; SELECT 1/0; ROLLBACK; SELECT public.uuidv7_encrypt('$id', 'orders')"))[0],
	"$public_id{$counting}\n$public_id{$counting}", 'keys remain after a rollback of the transaction that has read them');

# A cancel request that arrives before the keys are loaded stops the loading.  The signal
# arrives at once, since the session sends it to itself.
write_keys("postgres orders = $keys[0]\n");
reload($session);
like((ask($session, "SELECT pg_cancel_backend(pg_backend_pid()), public.uuidv7_encrypt('$id', 'orders')"))[1], qr/ERROR:  canceling statement due to user request/, 'a call can be canceled');
write_keys("postgres orders = $counting\n");
is((ask($session, $encrypt))[0], "$public_id{$counting}\n$public_id{$counting}", 'the canceled call has not loaded keys, so the next call does');

$node->append_conf('postgresql.conf', "uuid9562.key_file = ''");
reload($session);
like((ask($session, $encrypt))[1], qr/ERROR:  key "orders" does not exist\nDETAIL:  Parameter "uuid9562.key_file" is not set/, 'without the setting, a session has no keys');
$node->append_conf('postgresql.conf', "uuid9562.key_file = '$file'");
reload($session);

# --- parallel workers -----------------------------------------------------------

$node->safe_psql('postgres', q{
	CREATE TABLE ids AS SELECT public.uuidv7() AS id FROM generate_series(1, 10000);
	CREATE FUNCTION mislabeled(id uuid) RETURNS uuid LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$BEGIN RETURN public.uuidv7_encrypt(id, 'orders'); END$$;
	ANALYZE ids});
my $parallel = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET parallel_leader_participation = off';
($status, $out, $err) = $node->psql('postgres', "$parallel; SELECT count(mislabeled(id)) FROM ids");
like($err, qr/ERROR:  cannot use keys of public IDs in a parallel worker\nHINT:  Mark functions/, 'a function that is wrongly marked PARALLEL SAFE raises an error in a worker');
is($node->safe_psql('postgres', "$parallel; SELECT count(public.uuidv7_encrypt(id, 'orders')) FROM ids"), '10000', 'a parallel plan calls the function in the leader');

# --- secrets --------------------------------------------------------------------

# Return all sequences of ten digits of a key that occur in a text.
sub secrets_in
{
	my ($text) = @_;
	$text = lc $text;
	return [ grep { index($text, $_) >= 0 } map { my $key = $_; map { substr $key, $_, 10 } 0 .. 54 } $counting, @keys ];
}
is_deeply(secrets_in("\U$counting"), secrets_in($counting), 'the search for parts of keys finds a key');
is_deeply(secrets_in($printed), [], 'no client has received a part of a key');
is_deeply(secrets_in(slurp_file($node->logfile)), [], 'no log line has a part of a key');
my @views = split /\n/, $node->safe_psql('postgres', q{
	SELECT oid::regclass FROM pg_class WHERE relkind IN ('r', 'v') AND relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
		AND has_table_privilege('web', oid, 'SELECT') ORDER BY 1});
cmp_ok(scalar(@views), '>', 100, 'there are catalogs and views');
($status, $out, $err) = $node->psql('postgres', "SELECT public.uuidv7_encrypt('$id', 'orders') IS NULL;\n" . join('', map { "SELECT a::text FROM $_ AS a;\n" } @views),
	extra_params => [ '-U', 'web' ], on_error_stop => 0);
like($out, qr/\(postgres,/, 'the web role reads catalogs and views');
is_deeply(secrets_in($out), [], 'no catalog or view has a part of a key');
unlike($out, qr/\Q$file\E/, 'no catalog or view has the path of the file');

$session->quit;
$late->quit;
$node->stop;
done_testing();
