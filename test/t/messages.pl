# The messages of PostgreSQL that the manual quotes are those that this server prints.
#
# Each statement below fails with a message of the first list of doc/errors.md, and each message of
# this list has a statement.  In a quoted message, "..." stands for any text.  A variant after "or with"
# occurs in the message.  Names of functions that PostgreSQL has too, with another meaning from some
# version on, are on the pages that list them.
use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my %page = map { $_ => slurp_file("$FindBin::Bin/doc/$_.md") } qw(errors failover installing migrating partitions uuid9562);
my $node = PostgreSQL::Test::Cluster->new('messages');
$node->init;
$node->append_conf('postgresql.conf', "timezone = 'UTC'");
$node->start;
my ($version) = $node->safe_psql('postgres', 'SHOW server_version_num') =~ /^(\d+)\d{4}$/;

# Return the first error of statements in a session.
sub error_of
{
	my ($database, $statements) = @_;
	my ($status, $out, $err) = $node->psql('' . $database, $statements, on_error_stop => 1);

	return $err =~ /(?:ERROR|FATAL):  (.*)/ ? $1 : "no error: $out$err";
}

$node->safe_psql('postgres', "CREATE DATABASE $_") foreach qw(shop bare);
$node->safe_psql('shop', q{
	CREATE EXTENSION uuid9562;
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
		"CREATE EXTENSION uuid9562 VERSION '0.1'",
		$version < 20 ? 'SELECT max(id) FROM orders' : (),
	]);

# PostgreSQL's own name for a file that is missing; the name of this extension is installed here.
my %renamed = ('CREATE EXTENSION uuid9563' => 'shop', q{CREATE FUNCTION f() RETURNS int LANGUAGE c AS '$libdir/uuid9563', 'f'} => 'shop', q{LOAD 'uuid9563'} => 'shop');

# Read the first list: messages with "...", and variants.  In each item, <br> ends each message, and what
# to do comes last.
my ($list) = $page{errors} =~ /^## Common errors\n(.*?)^## /ms;
my (@messages, @variants);
foreach my $item (split /^- /m, $list)
{
	foreach my $part ($item =~ s/\s+/ /gr =~ /(.*?)<br> /g)
	{
		my ($message, @also) = $part =~ /`([^`]+)`/g;

		# "with" names a part of the detail
		@also = () if $part =~ /` with `/;
		push @messages, { text => $message, regex => join('.*', map { quotemeta } split(/\.\.\./, $message, -1)), count => 0 };
		push @variants, map { { of => $messages[-1], text => $_, count => 0 } } @also;
	}
}
cmp_ok(scalar(@messages), '>', 30, 'the page has messages');

# Return the messages in which a variant replaces some words, everywhere.  If it is a function, the
# arguments can differ, so they are written as "...".
sub with_variant
{
	my ($variant) = @_;
	my $message = $variant->{of}{text};
	my @token = split /([ (),]+)/, $message;
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

# Messages that no statement provokes: of a compiler, and of a library for another server.  The
# server has the words of the latter.
my $bindir = $node->config_data('--bindir');
my $program = slurp_file("$bindir/postgres");
foreach my $message (grep { !$_->{count} } @messages)
{
	my $text = $message->{text};

	next if $text eq 'openssl/evp.h: No such file or directory';
	next if $text eq 'generation expression uses user-defined function' && $version < 18;
	# PostgreSQL 18 and later print the variant without $libdir
	next if $text eq 'could not access file "$libdir/uuid9562"' && $version >= 18;
	next if $text eq 'function max(uuid) does not exist' && $version >= 20;
	ok($text =~ /^(?:incompatible|could not load) library/ && index($program, $text =~ s/\.\.\./%s/r) >= 0, "a statement has the message: $text");
}
ok($_->{count}, "a statement has the variant of $_->{of}{text}: $_->{text}") foreach @variants;

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
$node->safe_psql('postgres', 'CREATE ROLE app LOGIN');
$node->safe_psql('shop', 'GRANT CREATE ON SCHEMA public TO app');
my $replace = q{CREATE OR REPLACE FUNCTION uuidv7() RETURNS uuid LANGUAGE sql AS 'SELECT gen_random_uuid()'};
my ($status, $out, $err) = $node->psql('shop', $replace, extra_params => [ '-U', 'app' ]);
like($err, qr/ERROR:  must be owner of function uuidv7$/m, 'a role that does not own the extension cannot replace uuidv7()');
is($node->safe_psql('shop', "$replace; SELECT prolang = (SELECT oid FROM pg_language WHERE lanname = 'sql'), uuid_extract_version(public.uuidv7()), uuid_is_v7(uuidv7_next())
	FROM pg_proc WHERE oid = 'public.uuidv7()'::regprocedure"), 't|4|t', 'its owner replaces it, and uuidv7_next() stays');
like($page{installing} =~ s/\s+/ /gr, qr/`must be owner of function uuidv7`/, 'installing.md quotes the message');
$node->safe_psql('shop', 'DROP EXTENSION uuid9562 CASCADE; CREATE EXTENSION uuid9562');
is($node->safe_psql('shop', 'SELECT uuid_is_v7(public.uuidv7())'), 't', 'creating the extension again restores uuidv7()');

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
