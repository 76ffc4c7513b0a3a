# The messages of PostgreSQL that the manual quotes are those that this server prints.
#
# Each statement below fails with a message of doc/errors.md, and each message of this page has a
# statement, or is in the library of the extension.  In a quoted message, "..." stands for any text.  A
# variant after "also with" or "also for" occurs in the message.  The other pages quote only such messages,
# too.  Names of functions that PostgreSQL has too, with another meaning from some version on, are on the
# pages that list them.
use ServerTest;

my %page = map { $_ => slurp_file("$FindBin::Bin/doc/$_.md") } qw(errors failover installing migrating partitions uuid9562);
my $node = new_server('messages', "timezone = 'UTC'");
my ($version) = $node->safe_psql('postgres', 'SHOW server_version_num') =~ /^(\d+)\d{4}$/;

# a server with shared memory and checksums, for tracked tables and ordered IDs
my $preloaded = new_server('preloaded', "shared_preload_libraries = 'uuid9562'", extra => ['--data-checksums']);

# Return the first error of statements in a session.  The messages that were printed, and the SQLSTATE of
# the last one, are kept.
my ($sqlstate, %printed);
sub error_of
{
	my ($database, $statements, $server) = @_;
	my ($status, $out, $err) = ($server // $node)->psql('' . $database, "\\set VERBOSITY verbose\n$statements", on_error_stop => 1);

	($sqlstate, my $error) = $err =~ /(?:ERROR|FATAL):  (\w{5}): (.*)/ or return "no error: $out$err";
	$printed{$error} = 1;
	return $error;
}

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(shop bare);
$node->safe_psql('shop', q{
	CREATE EXTENSION uuid9562;
	CREATE EXTENSION uuid9562_changes;
	CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), words text, short varchar);
	INSERT INTO orders VALUES (DEFAULT, uuidv7_next()::text, '');
	CREATE TABLE visit (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
	CREATE TABLE visit_2026_03 PARTITION OF visit FOR VALUES FROM (uuidv7_floor('2026-03-01 00:00+00')) TO (uuidv7_floor('2026-04-01 00:00+00'));
	CREATE TABLE page (id uuid PRIMARY KEY) PARTITION BY RANGE (id);
	CREATE TABLE page_rest PARTITION OF page DEFAULT;
	INSERT INTO page VALUES (uuidv7_at('2026-03-15'))});
$node->safe_psql('bare', 'CREATE TABLE orders (id uuid PRIMARY KEY)');

# Statements that fail, by database
my %failing = (
	shop => [
		(map { "SELECT FROM orders WHERE id $_" } '>= now()', '> now()', '<@ now()', '<@ daterange(NULL, NULL)', '<@ tsrange(NULL, NULL)',
			'<@ tstzmultirange()', '<@ current_date', '<@ (now(), now())', q{<@ interval '1 day'}, '<@ words', '<@ short',
			q{@> '[2026-03-01,2026-03-02)'}, '@> tstzrange(NULL, NULL)', q{= '2026-03-01'}, '= words', '> words', q{> 'uuidv7:1'}),
		(map { "SELECT FROM orders WHERE $_ <@ id" } q{'[2026-03-01,2026-03-02)'}, 'tstzrange(NULL, NULL)'),
		(map { "SELECT FROM orders WHERE words $_" } '<@ tstzrange(NULL, NULL)', q{<@ '[2026-03-01,2026-03-02)'}),
		(map { "SELECT $_ FROM orders" } 'uuidv7_timestamp(words)', q{uuidv7_encrypt(words, 'orders')}, q{id + interval '1 day'}, 'now() - id',
			q{date_trunc('day', id)}, q{to_char(id, 'YYYY')}, 'age(id)', 'extract(year FROM id)', 'id::timestamptz', 'id::date',
			'tstzrange(words, words)', 'tstzrange(short, short)', q{tstzrange(interval '1 day', interval '2 days')}, 'tstzrange(now())',
			q{tstzrange('2026-03-02', '2026-03-01')}, 'uuidv7_after(id)', 'uuidv7_position(id)', 'uuidv7_encrypt(id)', 'uuidv7_at(1)', 'uuidv7_at(1::bigint)',
			q{id <@ '2026-03-01'}, q{id <@ '019ca6b1-dc00-7000-8000-000000000000'}),
		'CREATE INDEX ON orders ((uuidv7_timestamp(id)::date))',
		'ALTER TABLE orders ADD day date GENERATED ALWAYS AS (uuidv7_timestamp(id)::date) STORED',
		"CREATE TABLE visit_2026_04 PARTITION OF visit FOR VALUES FROM (timestamptz '2026-04-01') TO (timestamptz '2026-05-01')",
		"CREATE TABLE visit_2026_03b PARTITION OF visit FOR VALUES FROM (uuidv7_floor('2026-03-31 18:30+00')) TO (uuidv7_floor('2026-04-30 18:30+00'))",
		'INSERT INTO visit VALUES (uuidv7_next())',
		"CREATE TABLE page_2026_03 PARTITION OF page FOR VALUES FROM (uuidv7_floor('2026-03-01 00:00+00')) TO (uuidv7_floor('2026-04-01 00:00+00'))",
		"LOAD 'pg_stat_statements, uuid9562'",
		'PREPARE p AS SELECT * FROM orders; ALTER TABLE orders ADD n int; EXECUTE p',
		'CREATE PUBLICATION march FOR TABLE orders WHERE (id <@ tstzrange(NULL, NULL))',
		$version >= 18 ? ('ALTER TABLE orders ADD made timestamptz GENERATED ALWAYS AS (uuidv7_timestamp(id)) VIRTUAL') : (),
	],
	bare => [
		'SELECT uuidv7_next()', 'SELECT id <@ tstzrange(NULL, NULL) FROM orders', q{SELECT id <@ '[2026-03-01,2026-03-02)' FROM orders},
		"CREATE EXTENSION uuid9562 VERSION '0.1'", 'CREATE EXTENSION uuid9562_changes',
		'CREATE SCHEMA uuid9562_changes; CREATE EXTENSION uuid9562_changes CASCADE', q{SELECT changes_track('orders')},
		$version < 20 ? 'SELECT max(id) FROM orders' : (),
	]);

# PostgreSQL's own name for a file that is missing; the name of this extension is installed here.
my %renamed = ('CREATE EXTENSION uuid9563' => 'shop', q{CREATE FUNCTION f() RETURNS int LANGUAGE c AS '$libdir/uuid9563', 'f'} => 'shop', q{LOAD 'uuid9563'} => 'shop');

# Return the regular expression of a message with "...".
sub regex_of { return join '.*', map { quotemeta } split(/\.{3}(?!\.)/, $_[0], -1) }

# Read the lists: messages with "...", their SQLSTATEs, and variants.  In each item, <br> ends each
# message, and what to do comes last.
my ($lists) = $page{errors} =~ /^(## Common errors\n.*)/ms;
my (@messages, @variants);
foreach my $item (map { split /^- /m } split /^## .*/m, $lists)
{
	foreach my $part ($item =~ s/\s+/ /gr =~ /(.*?)<br> /g)
	{
		my ($message, @also) = $part =~ s/ \((.*)\)$//r =~ /`([^`]+)`/g;
		my ($code) = $part =~ /\((?:WARNING, )?([A-Z\d]{5})\b[^()]*(?:\(\))?[^()]*\)$/;

		# "with" names a part of the detail
		@also = () if $part =~ /` with `/;
		push @messages, { text => $message, regex => regex_of($message), code => $code, count => 0 };
		push @variants, map { { of => $messages[-1], text => $_, count => 0 } } @also;
	}
}
cmp_ok(scalar(@messages), '>', 80, 'the page has messages');
cmp_ok(scalar(grep { defined $_->{code} } @messages), '>', 30, 'and SQLSTATEs');

# Return the messages in which a variant replaces some words, everywhere.  If it is a function, the
# arguments can differ, so they are written as "...".
sub with_variant
{
	my ($variant) = @_;
	my $message = $variant->{of}{text};
	my @token = split /([ (),"]+)/, $message;
	my %result;

	return $message =~ s/^function \S+\(.*?\)/function $variant->{text}(...)/r if $message =~ /^function/ && $variant->{text} =~ /^\w*[_.]\w+$|^age$/;
	foreach my $from (0 .. $#token)
	{
		foreach my $to ($from .. $#token)
		{
			my $words = join '', @token[ $from .. $to ];
			$result{ $message =~ s/\Q$words\E/$variant->{text}/gr } = 1 if $words =~ /^\S.*\S$|^\S+$/;
		}
	}
	return keys %result;
}

# Return whether a message is in the list, and count it there.
sub is_quoted
{
	my ($error) = @_;
	my $found = 0;

	foreach my $message (@messages)
	{
		next if $error !~ /^$message->{regex}(?:$|:| on line)/;
		is($sqlstate, $message->{code}, "the page has the SQLSTATE of $message->{text}") if defined $message->{code};
		$message->{count}++;
		$found = 1;
	}
	foreach my $variant (@variants)
	{
		next unless grep { $error eq $_ || index($error, "$_: ") == 0 } with_variant($variant);
		$variant->{count}++;
		$found = 1;
	}
	return $found;
}

foreach my $database (sort keys %failing)
{
	foreach my $statement (@{ $failing{$database} })
	{
		my $error = error_of($database, $statement);
		my $shown = $error =~ s/^function \S+?\K\(.*?\)/(...)/r;
		ok(is_quoted($error) || is_quoted($shown) || index($page{migrating}, "`$error`") >= 0, "the manual quotes the message of: $statement") or diag($error);
	}
}
foreach my $statement (sort keys %renamed)
{
	my $error = error_of($renamed{$statement}, $statement) =~ s/uuid9563/uuid9562/gr;
	my ($quote) = $error =~ /^(could not access file "[^"]*")/;

	ok(index($page{failover} =~ s/\s+/ /gr, "`$quote`") >= 0, 'failover.md quotes it too') if $statement =~ /^CREATE FUNCTION/;
	ok(is_quoted($error), "the manual quotes the message of: $statement") or diag($error);
}

# --- functions, settings, changes and ordered IDs ------------------------------------------------

$node->safe_psql('postgres', 'CREATE ROLE app LOGIN');
$node->safe_psql('shop', q{GRANT CREATE ON SCHEMA public TO app; GRANT SELECT ON orders TO app; CREATE TABLE made (id uuid GENERATED ALWAYS AS (nil_uuid()) STORED)});
my $customer = q{CREATE TABLE customer (id int PRIMARY KEY); SELECT changes_track('customer'); BEGIN; SELECT change_type FROM changes_read('a', NULL::customer); SELECT changes_done('a'); COMMIT};
$preloaded->safe_psql('postgres', 'CREATE ROLE app; CREATE DATABASE shop');
$preloaded->safe_psql('shop', "SET client_min_messages = warning; CREATE EXTENSION uuid9562_changes CASCADE; $customer; CREATE VIEW shown AS SELECT 1 AS id; SELECT uuidv7_ordered()");
my $guard = 'CREATE TRIGGER guard AFTER INSERT OR UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION uuidv7_guard_trigger(%s); INSERT INTO %1$s DEFAULT VALUES';
my $big = q{SET work_mem = '64kB'; BEGIN; INSERT INTO customer SELECT generate_series(1, 20000)};
foreach my $case (
	[ q{SELECT uuidv5(uuid_namespace('dns'), E'\xff')} ], [ q{SELECT uuid_from_typeid('user_01fwhe4ydgfk1shh6w1g60eecf', 'order')} ],
	(map { [ "SET ROLE app; SELECT $_(id, 'orders') FROM orders" ] } 'uuidv7_encrypt', 'uuidv7_decrypt'),
	[ 'SHOW uuid9562.max_ahead' ], [ 'SET ROLE app; ALTER ROLE app SET uuid9562.max_ahead = 1' ],
	(map { [ "SELECT uuidv7_next(); SET uuid9562.$_ = ''" ] } 'max_ahead', 'key_file'),
	[ q{SELECT changes_track('shown')}, $preloaded ], (map { [ "DROP EXTENSION $_", $preloaded ] } 'uuid9562', 'uuid9562_changes'),
	(map { [ "SELECT changes_$_" ] } 'track(NULL)', q{purge('orders', NULL)}, 'untrack(1::regclass)', 'track(1::regclass)'),
	[ q{SELECT changes_purge('customer')}, $preloaded, 'app' ],
	(map { [ $_, $preloaded ] } q{SELECT changes_read('', NULL::customer)}, q{SELECT changes_read('a', NULL::customer, lease => NULL)}, q{CALL changes_wait('a', 'customer', NULL)},
		q{SELECT changes_purge('customer', max_entries => 0)}, q{SELECT changes_done('b')}, q{SELECT changes_forget('b', 'customer')}, q{BEGIN READ ONLY; SELECT changes_done('a')},
		q{CREATE TABLE visit (id int PRIMARY KEY); SELECT changes_track('visit'); SELECT change_position AS visit FROM changes_read('v', NULL::visit) \gset
			SELECT changes_done('a', :'visit')}, q{SELECT change_position AS visit FROM changes_read('v', NULL::visit) \gset
			SELECT changes_read('a', NULL::customer, after => :'visit')}),
	[ q{SELECT changes_read('a', 'customer')}, $preloaded ], [ q{SELECT data.id FROM changes_read('a', NULL::customer)}, $preloaded ],
	(map { [ "SELECT $_ FROM changes_read(source => NULL::customer, reader => 'c')", $preloaded ] } '*', '(data).id'),
	[ q{BEGIN READ ONLY; SELECT changes_read('b', NULL::customer)}, $preloaded ],
	[ "$big; COPY (SELECT) TO PROGRAM 'cat && truncate -s 0 base/pgsql_tmp/*'; COMMIT", $preloaded ],
	[ sprintf $guard, 'orders', 'words' ], [ sprintf $guard, 'made', 'id' ],
	$version < 17 ? [ 'SELECT uuidv7_ordered()' ] : (),
	[ 'BEGIN READ ONLY; SELECT uuidv7_ordered()', $preloaded ],
	[ q{PREPARE p AS SELECT change_type FROM changes_read('a', NULL::customer); EXECUTE p; DROP TABLE customer; EXECUTE p}, $preloaded ])
{
	my ($statement, $server, $role) = @$case;
	my $error = error_of('shop', $role ? "SET SESSION AUTHORIZATION $role; $statement" : $statement, $server);
	ok(is_quoted($error), "the manual quotes the message of: $statement") or diag($error);
}

# Replace bytes of the generator state while the server is stopped, and return what it then logs.
my $state = $preloaded->data_dir . '/global/9562';
sub logged
{
	my ($offset, $bytes) = @_;
	my $from = -s $preloaded->logfile;

	$preloaded->stop;
	open my $file, '+<:raw', $state or die;
	seek $file, $offset, 0;
	print $file $bytes;
	close $file;
	$preloaded->start;
	$preloaded->psql('shop', 'SELECT uuidv7_ordered()');
	return slurp_file($preloaded->logfile, $from) =~ /(?:WARNING|ERROR):  (\w{5}: (?!page verification).*)/g;
}
$preloaded->append_conf('postgresql.conf', q{log_error_verbosity = verbose});
foreach my $damage ([ 8, "\0\0" ], [ 52, 'x' x 8 ])
{
	my @logged = logged(@$damage);
	cmp_ok(scalar(@logged), '>', 0, 'damage is logged');
	foreach my $logged (@logged)
	{
		($sqlstate, my $error) = $logged =~ /^(\w{5}): (.*)/;
		$printed{$error} = 1;
		ok(is_quoted($error), 'the manual quotes the message of damage') or diag($error);
	}
}
chmod 0, $state or die;
ok(is_quoted(error_of('shop', 'SELECT uuidv7_ordered()', $preloaded)), 'the manual quotes the message of a file that cannot be opened');
$preloaded->stop;

# Two functions that calls without arguments fit: statements that call uuidv7() fail, but defaults work.
foreach my $default ('timestamptz DEFAULT clock_timestamp()', 'timestamptz DEFAULT now()')
{
	foreach my $first ('ours', 'other')
	{
		my @create = ('CREATE EXTENSION uuid9562', "CREATE OR REPLACE FUNCTION uuidv7($default) RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'");

		$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS taken');
		$node->safe_psql('postgres', 'CREATE DATABASE taken');
		$node->safe_psql('taken', join ';', $first eq 'ours' ? @create : reverse @create);
		my $error = error_of('taken', $version < 18 ? 'SELECT uuidv7()' : 'SELECT public.uuidv7()') =~ s/public\.//r;
		ok(index($page{installing} =~ s/\s+/ /gr, "`$error`") >= 0, "installing.md quotes the message, $first first") or diag($error);
		ok(is_quoted($error), "errors.md quotes it too, $first first");
		$printed{$error} = 1;
	}
}

# Messages that no statement provokes are in the library.  Some are PostgreSQL's, and shared_memory.pl
# provokes two of them.
my $bindir = $node->config_data('--bindir');
my $program = slurp_file("$bindir/postgres");
my $library = slurp_file($node->config_data('--pkglibdir') . '/uuid9562.so');
my $cores = qr/^(?:incompatible|could not load) library|^requested DSM segment|^could not resize shared memory/;
sub in_code
{
	my ($text) = @_;
	my $regex = regex_of($text =~ s/"(?:global\/[^"]*|uuidv7_guard_trigger)"/"%s"/r =~ s/\w+\(\)/%s()/r) =~ s/\.\*/[^\\0]*/gr;

	return ($text =~ $cores ? $program : $library) =~ /$regex/;
}
foreach my $message (grep { !$_->{count} } @messages)
{
	my $text = $message->{text};

	next if $text eq 'openssl/evp.h: No such file or directory';
	next if $text eq 'generation expression uses user-defined function' && $version < 18;
	# PostgreSQL 18 and later print the variant without $libdir
	next if $text eq 'could not access file "$libdir/uuid9562"' && $version >= 18;
	next if $text eq 'function max(uuid) does not exist' && $version >= 20;
	next if $text =~ /^requested DSM segment/ && $version < 17;
	ok(in_code($text), "a statement or the library has the message: $text");
}
ok($_->{count} || (grep { in_code($_) } grep { /during recovery/ } with_variant($_)), "a statement has the variant of $_->{of}{text}: $_->{text}") foreach @variants;

# --- CREATE EXTENSION where the names exist ---------------------------------------------

foreach my $function ('uuidv7()', 'uuidv4()', 'uuid_extract_version(uuid)', 'uuidv7_next()', 'uuidv7_at(timestamptz)')
{
	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS taken');
	$node->safe_psql('postgres', 'CREATE DATABASE taken');
	$node->safe_psql('taken', "CREATE FUNCTION public.$function RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'") if $function !~ /version/;
	$node->safe_psql('taken', "CREATE FUNCTION public.$function RETURNS smallint LANGUAGE sql AS 'SELECT 7::smallint'") if $function =~ /version/;
	my $error = error_of('taken', 'CREATE EXTENSION uuid9562');
	my $shown = $error =~ s/function "\w+"/function "..."/r =~ s/function (?!uuidv7\(\)|")\w+\(\w*\)/function uuidv7()/r;
	ok(index($page{installing} =~ s/\s+/ /gr, "`$shown`") >= 0, "installing.md quotes the message if $function exists") or diag($error);
}

# A migration that creates uuidv7() after the extension: its owner replaces the function, others fail.
my $replace = q{CREATE OR REPLACE FUNCTION uuidv7() RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'};
my ($status, $out, $err) = $node->psql('shop', $replace, extra_params => [ '-U', 'app' ]);
$printed{$1} = 1 if $err =~ /ERROR:  (.*)/;
like($err, qr/ERROR:  must be owner of function uuidv7$/m, 'a role that does not own the extension cannot replace uuidv7()');
is($node->safe_psql('shop', "$replace; SELECT prolang = (SELECT oid FROM pg_language WHERE lanname = 'sql'), uuid_extract_version(public.uuidv7()), uuid_is_v7(uuidv7_next())
	FROM pg_proc WHERE oid = 'public.uuidv7()'::regprocedure"), 't|4|t', 'its owner replaces it, and uuidv7_next() stays');
like($page{installing} =~ s/\s+/ /gr, qr/`must be owner of function uuidv7`/, 'installing.md quotes the message');
$node->safe_psql('shop', 'DROP EXTENSION uuid9562 CASCADE; CREATE EXTENSION uuid9562; CREATE EXTENSION uuid9562_changes');
is($node->safe_psql('shop', 'SELECT uuid_is_v7(public.uuidv7())'), 't', 'creating the extension again restores uuidv7()');

# --- messages on other pages ---------------------------------------------------------------

# Messages have one of these words, and do not begin like a statement.
my $sign = qr/\b(?:could not|cannot|does not|must (?:be|not)|not be|denied|already exists|not exist|is not|invalid|failed|would|exceeds?|no partition|violates|out of range|not unique|mismatch|ahead of|canceling|not available|unrecognized|unknown)\b/;
my @pages = map { "$FindBin::Bin/$_" } 'README.md', map { s/.*\///r =~ s/^/doc\//r } glob "$FindBin::Bin/doc/*.md";
my %quoted;
foreach my $path (grep { !/errors\.md$/ } @pages)
{
	my $text = slurp_file($path) =~ s/^```.*?^```$//gmsr =~ s/\s+/ /gr;
	my ($name) = $path =~ /([^\/]+)$/;
	$quoted{$_}{$name} = 1 foreach grep { /$sign/ && !/^(?:[A-Z]+ |uuid)/ } $text =~ /`([^`]+)`/g;
}
cmp_ok(scalar(keys %quoted), '>', 10, 'other pages quote messages');
foreach my $quote (sort keys %quoted)
{
	next if $quote eq 'could not access file "$libdir/uuid9562"' && $version >= 18;
	my $regex = regex_of($quote =~ s/uuid9562(?="$)/.../r);
	ok((grep { /^$regex/ } keys %printed) || in_code($quote), join(', ', sort keys %{ $quoted{$quote} }) . " quotes a message: $quote");
}

# --- names whose meaning changes with a version of PostgreSQL ---------------------------

my @names = split /\n/, $node->safe_psql('shop', q{
	SELECT DISTINCT p.proname FROM pg_depend AS d JOIN pg_extension AS e ON d.refobjid = e.oid AND e.extname = 'uuid9562' AND d.deptype = 'e'
		JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
		JOIN pg_proc AS c ON c.proname = p.proname AND c.proargtypes = p.proargtypes AND c.pronamespace = 'pg_catalog'::regnamespace ORDER BY 1});
cmp_ok(scalar(@names), '==', $version >= 20 ? 6 : $version >= 18 ? 4 : $version >= 17 ? 2 : 0, "PostgreSQL $version has names of the extension");
foreach my $name (@names)
{
	like($page{uuid9562}, qr/`$name\b/, "uuid9562.md lists $name");
}
$node->stop;
done_testing();
