# What doc/migrating.md says about IDs of other generators, and about functions of other extensions, and what
# doc/upgrading.md writes instead of periods.
#
# The functions of the page convert 10,000 IDs of each kind to the UUIDs that this test computes,
# twice, with the extension, and 2,000 with managed/uuid9562.sql.  Each function that the page names as a
# replacement returns what the replaced function returns, and its condition uses the index.  The
# transaction that makes a table a partition fails if the new table lacks something of this table.
use ServerTest;

use constant ROWS => 10000;

my $page = slurp_file("$FindBin::Bin/doc/migrating.md");
my $node = new_server('migrating', "timezone = 'Asia/Kolkata'\nfsync = off");

my $seed = time;
srand $seed;
note("seed: $seed");

# --- IDs of other generators --------------------------------------------------------

sub random_hex { return join '', map { sprintf '%02x', int rand 256 } 1 .. $_[0] }

# Return the v7 UUID with milliseconds and 72 bits, to which zero bits are appended.
sub v7
{
	my ($ms, $bits) = @_;
	my $kept = '00' . substr $bits . '0' x 72, 0, 72;
	my $digits = sprintf('%012x7', $ms) . substr(unpack('H4', pack 'B16', '0000' . substr $kept, 0, 12), 1) . unpack 'H16', pack 'B64', '10' . substr $kept, 12;

	return $digits =~ s/^(.{8})(.{4})(.{4})(.{4})/$1-$2-$3-$4-/r;
}

# Return hexadecimal digits as a number in base 32, with zero bits before or after it.
sub base32
{
	my ($hex, $alphabet, $before, $after) = @_;
	my $bits = '0' x $before . unpack('B*', pack 'H*', $hex) . '0' x $after;

	return join '', map { substr $alphabet, oct "0b$_", 1 } $bits =~ /.{5}/g;
}

# Return the fields of a row: for each kind of ID, the ID and its UUID.
my @kinds = qw(twitter discord instagram mastodon sonyflake-1 sonyflake-2 objectid xid ulid);
sub row
{
	my $ms = 1420070400000 + int rand 5e11;
	my $number = sub { my ($time, $epoch, $unit, $shift) = @_; my $rest = int rand 1 << $shift; ((int($time / $unit) - $epoch / $unit) << $shift | $rest, v7(int($time / $unit) * $unit, sprintf "%0${shift}b", $rest)) };
	my @numbers = (map { $number->($ms, @$_) } [ 1288834974657, 1, 22 ], [ 1420070400000, 1, 22 ], [ 1314220021721, 1, 23 ], [ 0, 1, 16 ], [ 1409529600000, 10, 24 ]);
	my ($seconds, $rest, $random) = (sprintf('%08x', $ms / 1000), random_hex(8), random_hex(10));
	my $random_bits = unpack 'B80', pack 'H20', $random;

	return (@numbers, $number->(1735689600000 + int rand 2e11, 1735689600000, 10, 24),
		"$seconds$rest", v7(hex($seconds) * 1000, unpack 'B64', pack 'H16', $rest),
		base32("$seconds$rest", '0123456789abcdefghijklmnopqrstuv', 0, 4), v7(hex($seconds) * 1000, unpack 'B64', pack 'H16', $rest),
		base32(sprintf('%012x', $ms) . $random, '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 2, 0), v7($ms, substr($random_bits, 0, 40) . substr $random_bits, -32));
}

# The calls of the page, and those of its list.  test/t/other_ids.pl tests the calls on IDs that other systems
# have written, byte orders, and texts that are refused.
my $functions = "\\i $FindBin::Bin/examples/migrate_key/other_ids.sql\n";
my %in_list = $page =~ /^- ([^:]*):\s+(`.*)$/mg;
sub code { my ($name) = @_; my ($code) = $in_list{$name} =~ /`([^`]*\([^`]*)`/; return $code }
like($page, qr/`$_`/, "the page has $_") foreach @kinds;

my @rows = map { join "\t", row() } 1 .. ROWS;
foreach my $database ('extension', 'managed')
{
	my $rows = $database eq 'extension' ? ROWS : 2000;
	my $copied = join "\n", @rows[ 0 .. $rows - 1 ];
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, $database eq 'extension' ? 'CREATE EXTENSION uuid9562' :
		  "ALTER DATABASE managed SET search_path = public, uuid9562; \\i $FindBin::Bin/managed/uuid9562.sql");
	$node->safe_psql($database, $functions);
	$node->safe_psql($database, 'CREATE TABLE other (' . join(', ', map { ("\"$_\" " . (/id$/ ? 'text' : 'bigint'), "\"${_}_uuid\" uuid") } @kinds) . ");\nCOPY other FROM STDIN;\n$copied\n\\.\n");
	foreach my $kind (@kinds)
	{
		my $call = "uuid_from_id(\"$kind\"::text, '$kind')";
		$node->safe_psql($database, "CREATE TABLE first AS SELECT \"$kind\" AS id, $call AS made FROM other; CREATE TABLE second AS SELECT \"$kind\" AS id, $call AS made FROM other");
		is($node->safe_psql($database, "SELECT count(*) FROM other JOIN first ON made = \"${kind}_uuid\" AND first.id = other.\"$kind\""), $rows,
			"$database: each $kind becomes the expected UUID");
		is($node->safe_psql($database, 'SELECT count(*) FROM (TABLE first EXCEPT TABLE second) AS changed'), '0', "$database: each $kind becomes the same UUID again");
		$node->safe_psql($database, 'DROP TABLE first, second');
	}
}

# Values that a library could not have written raise an error.
sub refusal { my ($status, $out, $err) = $node->psql('extension', "SELECT $_[0]"); return $err =~ /^(?:psql.*?)?ERROR:  (.*)/m ? $1 : $out }
foreach my $order (qw(dotnet java mysql))
{
	like(refusal("uuid_from_$order('\\x33221100554477668899aabbccddee$_')"), qr/invalid input syntax for type uuid/, "$order: other than 16 bytes are refused")
	  foreach '', 'ff00', 'ff' . '00' x 16;
}

# A time without time zone becomes the same ID in each session.
my ($in_utc) = $page =~ /^For other IDs \(write `(created_at [^`]+)` for a `timestamp`\):$/m;
my @timed = map { my $name = $_; code($name) } grep { /with a time$/ } sort keys %in_list;
push @timed, $page =~ /`(uuidv7_from\(created_at, [^`]*)` *\.$/mg;
cmp_ok(scalar(@timed), '>=', 3, 'the page has IDs with a time');
foreach my $call (@timed)
{
	my $type = $call =~ /int8send/ ? 'bigint' : $call =~ /uuid_send/ ? 'uuid' : 'text';
	my $id = { bigint => 1, uuid => "'c5d7e4f2-6c1f-4a3e-9d2b-0f6b1a2c3d4e'", text => "'x'" }->{$type};
	my $value = $call =~ s/\bcreated_at\b/$in_utc/r;
	my @made = map { $node->safe_psql('extension', "SET timezone = '$_'; SELECT uuidv7_timestamp(made) = '2026-03-05 12:34:56.789+00', made
		FROM (SELECT $value AS made FROM (VALUES (timestamp '2026-03-05 12:34:56.789', $id\::$type)) AS old (created_at, id)) AS new") } 'UTC', 'Asia/Kolkata', 'America/New_York';
	is_deeply(\@made, [ ($made[0]) x 3 ], "each session computes the same ID by $value");
	like($made[0], qr/^t\|/, 'with the time in UTC');
}

# Texts that other libraries write with the digits of a form, and that are decoded without an error
my $text_forms = slurp_file("$FindBin::Bin/doc/text-forms.md") =~ s/\s+/ /gr;
like($text_forms, qr/can return a wrong UUID if the text has another alphabet, as in Python's shortuuid, another byte order, or zero bits at its end, as in crockford-base32\./, 'text-forms.md has these libraries');
my $hex = '017f22e279b07cc398c4dc0c0c07398f';
my $appended = base32($hex, '0123456789ABCDEFGHJKMNPQRSTVWXYZ', 0, 2);
is($node->safe_psql('extension', "SELECT uuid_decode('$appended', 'ulid') <> '$hex'"), 't', 'a ULID with zero bits at its end is another UUID');
my $short = '';
my @digits = split //, '23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
use bigint;
for (my $number = hex "0x$hex"; $number > 0; $number = $number / 57) { $short = $digits[ $number % 57 ] . $short }
no bigint;
$short = '2' x (22 - length $short) . $short;
is($node->safe_psql('extension', "SELECT uuid_decode('$short', '$_') <> '$hex'"), 't', "a text of shortuuid is another UUID in $_") foreach 'base58', 'base62';

# --- functions of other extensions ----------------------------------------------------

# Return what the page writes instead of a call: "- `CALL`... by `NEW`".
my $sentences = ($page =~ s/\s+/ /gr);
sub replacement
{
	my ($call, $before) = @_;
	my ($new) = $sentences =~ /- ${\($before \/\/ '')}`\Q$call\E`.*? by `([^`]+)`/;

	ok(defined $new, "the page replaces $call");
	return $new;
}

# The functions of pg_uuidv7, as its documentation describes them
$node->safe_psql('extension', q{
	CREATE TABLE event (id uuid PRIMARY KEY);
	INSERT INTO event SELECT uuidv7_at('2026-03-01 00:00+00'::timestamptz + n * interval '1 minute') FROM generate_series(0, 20000) AS n;
	VACUUM ANALYZE event;
	CREATE FUNCTION uuid_timestamptz_to_v7(timestamptz, zero bool = false) RETURNS uuid STABLE STRICT PARALLEL SAFE LANGUAGE plpgsql AS $$
	BEGIN
		RETURN lpad(to_hex(floor(extract(epoch FROM $1) * 1000)::bigint), 12, '0')
			|| CASE WHEN zero THEN '70008000000000000000' ELSE '7' || right(translate(overlay(gen_random_uuid()::text PLACING '8' FROM 20), '-', ''), 19) END;
	END$$;
	CREATE FUNCTION uuid_timestamp_to_v7(timestamp, zero bool = false) RETURNS uuid STABLE STRICT PARALLEL SAFE
	RETURN uuid_timestamptz_to_v7($1 AT TIME ZONE 'UTC', zero);
	CREATE FUNCTION uuid_v7_to_timestamptz(uuid) RETURNS timestamptz STABLE STRICT PARALLEL SAFE
	RETURN to_timestamp(('x' || left(translate($1::text, '-', ''), 12))::bit(48)::bigint / 1000.0);
	CREATE FUNCTION uuid_v7_to_timestamp(uuid) RETURNS timestamp STABLE STRICT PARALLEL SAFE RETURN uuid_v7_to_timestamptz($1) AT TIME ZONE 'UTC'});

my $time = "timestamptz '2026-03-05 12:34:56.789+00'";
my $local = "timestamp '2026-03-05 12:34:56.789'";
foreach my $call ('uuid_v7_to_timestamptz(id)', 'uuid_v7_to_timestamp(id)')
{
	my $new = replacement($call);
	is($node->safe_psql('extension', "SELECT count(*) FILTER (WHERE $call = $new), pg_typeof(min($call)) = pg_typeof(min($new)) FROM event"), '20001|t', "$new returns the same as $call");
}
my ($new_bound, $old_bound) = map { s/\btime\b/$time/r } replacement('uuid_timestamptz_to_v7(time, true)'), 'uuid_timestamptz_to_v7(time, true)';
is($node->safe_psql('extension', "SELECT $old_bound = $new_bound"), 't', "$new_bound returns the same as $old_bound");
my ($in_time_zone) = $sentences =~ /`uuid_timestamp_to_v7` by the same functions, with `([^`]+)`/;
my $from_local = $in_time_zone =~ s/\btime\b/$local/r;
is($node->safe_psql('extension', "SELECT uuid_timestamp_to_v7($local, true) = uuidv7_floor($from_local)"), 't', 'a timestamp without time zone is read as UTC');

sub plan_of { return $node->safe_psql('extension', "SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT id FROM event $_[0]") }
my $condition = replacement('uuid_timestamptz_to_v7(time)', 'in a condition, ');
my $elsewhere = replacement('uuid_timestamptz_to_v7(time)', 'elsewhere, ');
foreach my $given ($time, $from_local)
{
	my $new = $condition =~ s/\btime\b/$given/r;
	like(plan_of("WHERE id >= $new"), qr/Index Cond: \(id >= /, "a condition with $new uses the index");
	is($node->safe_psql('extension', "SELECT count(*) FROM event WHERE id >= $new"),
		$node->safe_psql('extension', "SELECT count(*) FROM event WHERE uuid_v7_to_timestamptz(id) >= $given"), "a condition with $new finds the rows from that time on");
}
unlike(plan_of('WHERE id >= ' . $elsewhere =~ s/\btime\b/$time/r), qr/Index Cond/, 'a condition with uuidv7_at() uses no index');
is($node->safe_psql('extension', 'SELECT uuidv7_timestamp(' . $elsewhere =~ s/\btime\b/$time/r . ") = $time"), 't', 'uuidv7_at() has the given time');

# upgrading.md replaces periods by a function, which finds the same rows, also within a millisecond.
my ($first_of) = slurp_file("$FindBin::Bin/doc/upgrading.md") =~ /^(CREATE FUNCTION first_of\(.*?;)$/ms;
$node->safe_psql('extension', $first_of);
is($node->safe_psql('extension', q{
	WITH bound AS (SELECT '2026-03-05 12:00+00'::timestamptz + n * interval '250 microseconds' AS bound FROM generate_series(0, 40) AS n),
		id AS (SELECT id FROM generate_series(-1, 11) AS n, LATERAL (SELECT '2026-03-05 12:00+00'::timestamptz + n * interval '1 millisecond' AS ms) AS at,
			unnest(ARRAY[uuidv7_floor(ms), uuidv7_at(ms + interval '600 microseconds'), uuidv7_ceil(ms)]) AS id)
	SELECT count(*), count(*) FILTER (WHERE (id <@ tstzrange(a.bound, b.bound)) <> (id >= first_of(a.bound) AND id < first_of(b.bound)))
	FROM bound AS a JOIN bound AS b ON a.bound <= b.bound, id}), 41 * 42 / 2 * 39 . '|0', 'first_of() finds the same rows as a period');

# The replacements of created_at
my ($between) = $sentences =~ /`created_at >= a AND created_at < b` by `([^`]+)`/;
my $parameters = $between =~ s/\b([ab])\b/{ a => '$1', b => '$2' }->{$1}/ger;
like(slurp_file("$FindBin::Bin/doc/time.md") =~ s/\s+/ /gr, qr/If a NULL parameter must match nothing, write `\Q$parameters\E`/, 'doc/time.md has the same condition');
is($node->safe_psql('extension', "DELETE FROM event WHERE " . $between =~ s/\ba\b/$$_[0]/r =~ s/\bb\b/$$_[1]/r . ' RETURNING id'), '', "no row is deleted if a bound of created_at is NULL: @$_")
  foreach [ 'NULL', 'now()' ], [ "'2026-01-01'", 'NULL' ], [ ('NULL') x 2 ];
$between =~ s/\ba\b/$time/;
$between =~ s/\bb\b/$time + interval '1 hour'/;
like(plan_of("WHERE $between"), qr/Index Cond: \(\(id >= .*\) AND \(id < /, 'a period of created_at becomes an index condition');
is($node->safe_psql('extension', "SELECT count(*) FROM event WHERE $between"), '60', 'and finds the rows of the period');
like($sentences, qr/replace: - `ORDER BY created_at` by `ORDER BY id`/, 'the page replaces ORDER BY');
unlike(plan_of('ORDER BY id LIMIT 10'), qr/Sort/, 'ORDER BY id uses the index');

# --- partition an existing table --------------------------------------------------------

my ($tables) = $page =~ /^(CREATE TABLE hit .*?)^```$/ms;
my ($constraint) = $page =~ /^(ALTER TABLE hit ADD CONSTRAINT .*?)^```$/ms;
my ($transaction) = $page =~ /^(BEGIN;\nSET LOCAL lock_timeout.*?)^\\i examples/ms;
my ($commit) = $page =~ m{^\\i (examples/\S+partition\S+)$}m;
$commit = slurp_file("$FindBin::Bin/$commit");
$node->safe_psql('extension', $tables . $constraint . 'CREATE ROLE reader');

# Run the transaction with an object that uses the table, and with a statement that moves it to the new
# table.  Return the error with its detail.
my $keeps_identity = $node->pg_version < 17;	# the columns of partitions can have sequences
sub error_of_partitioning
{
	my ($create, $move) = @_;
	my $attach = $create =~ /IDENTITY/ && !$keeps_identity ? 'ALTER TABLE hit_until_2026_11 ALTER n DROP IDENTITY; ' : '';
	my ($status, $out, $err) = $node->psql('extension', $transaction =~ s/^ALTER TABLE hit ATTACH/$attach$&/mr =~ s/^BEGIN;/BEGIN; $create;/r =~ s/^\\set table/$move;\n$&/mr . $commit =~ s/^COMMIT;$/ROLLBACK;/mr);

	return $err =~ /ERROR:  (.*)\n(?:DETAIL:  (.*)\n)?/ ? join ': ', grep { defined } $1, $2 : $err;
}
sub count_hits { return "CREATE $_[0]FUNCTION hits() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM hit; END" }
my $identity = 'ALTER TABLE hit ADD n int GENERATED ALWAYS AS IDENTITY';
my %trigger = map { ($_, "TRIGGER unchanged $_ ON") } '', 'BEFORE UPDATE';
foreach my $case (
	[ 'rule _RETURN on view hit_id', 'CREATE VIEW hit_id AS SELECT id FROM hit', 'CREATE OR REPLACE VIEW hit_id AS SELECT id FROM hit' ],
	[ 'function hits()', count_hits(''), count_hits('OR REPLACE ') ],
	[ 'trigger unchanged on table hit_until_2026_11', "CREATE $trigger{'BEFORE UPDATE'} hit FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
		"DROP $trigger{''} hit_until_2026_11; CREATE $trigger{'BEFORE UPDATE'} hit FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()" ],
	[ 'policy mine on table hit_until_2026_11', 'CREATE POLICY mine ON hit', 'DROP POLICY mine ON hit_until_2026_11; CREATE POLICY mine ON hit' ],
	[ 'publication of table hit_until_2026_11 in publication hits', 'SET LOCAL client_min_messages = error; CREATE PUBLICATION hits FOR TABLE hit',
		'ALTER PUBLICATION hits DROP TABLE hit_until_2026_11; ALTER PUBLICATION hits ADD TABLE hit' ],
	[ 'privilege SELECT of reader', 'GRANT SELECT ON hit TO reader', 'GRANT SELECT, INSERT ON hit TO reader WITH GRANT OPTION' ],
	[ 'privilege SELECT of PUBLIC on column url', 'GRANT SELECT (url) ON hit TO PUBLIC', 'GRANT ALL (url) ON hit TO PUBLIC' ],
	[ 'sequence hit_n_seq', 'ALTER TABLE hit ADD n serial', 'ALTER SEQUENCE hit_n_seq OWNED BY hit.n' ],
	[ 'value of the sequence of column n', $identity, 'ALTER TABLE hit ALTER n RESTART WITH 7002' ],
	[ 'function title(hit_until_2026_11)', 'CREATE FUNCTION title(hit) RETURNS text LANGUAGE sql AS $$SELECT $1.url$$', 'DROP FUNCTION title' ],
	[ 'column visits of table visitor', 'CREATE TABLE visitor (visits hit[])', 'DROP TABLE visitor' ])
{
	my ($object, $create, $move) = @$case;

	is(error_of_partitioning($create, ''), "the new table lacks what the old table has: $object", "a table does not become a partition while the new table lacks this: $object");
	is(error_of_partitioning($create, $move), '', 'if the new table has it, the table becomes a partition');
}
like(error_of_partitioning($identity, q{SELECT setval(pg_get_serial_sequence('hit', 'n'), 7000)}), qr/: value of the sequence/, 'a smaller value of the sequence is refused') if $keeps_identity;
is(error_of_partitioning($_, ''), '', "nothing is missing after: $_") foreach 'GRANT SELECT ON hit TO reader; REVOKE SELECT ON hit FROM reader',
  $keeps_identity ? 'ALTER TABLE hit ADD n int NOT NULL DEFAULT 0; ALTER TABLE hit ALTER n DROP DEFAULT, ALTER n ADD GENERATED ALWAYS AS IDENTITY' : ();
is($node->safe_psql('extension', q{SELECT relkind FROM pg_class WHERE relname = 'hit'}), 'r', 'after an error, the table is as it was');
$node->safe_psql('extension', 'ALTER TABLE hit ADD CONSTRAINT has_url CHECK (url <> $$$$)');
$node->safe_psql('extension', $transaction . $commit);
is($node->safe_psql('extension', q{SELECT relkind, (SELECT string_agg(conname, ' ') FROM pg_constraint WHERE conrelid = hit.oid AND contype = 'c') FROM pg_class AS hit WHERE relname = 'hit'}),
	'p|has_url', 'the committed table has partitions and the CHECK constraints');

# The functions of uuid-ossp
SKIP:
{
	skip 'uuid-ossp is not installed', 9
	  unless $node->safe_psql('extension', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'uuid-ossp'});
	$node->safe_psql('extension', 'CREATE SCHEMA ossp; CREATE EXTENSION "uuid-ossp" SCHEMA ossp');
	foreach my $call ('uuid_nil()')
	{
		my $new = replacement($call);
		is($node->safe_psql('extension', "SELECT ossp.$call = $new"), 't', "$new returns the same as $call");
	}
	foreach my $namespace (qw(dns url oid x500))
	{
		is($node->safe_psql('extension', "SELECT ossp.uuid_ns_$namespace() = uuid_namespace('$namespace')"), 't', "the namespace $namespace is the same");
	}
	foreach my $version (3, 5)
	{
		is($node->safe_psql('extension', "SELECT bool_and(ossp.uuid_generate_v$version(ossp.uuid_ns_dns(), n::text) = uuidv$version(uuid_namespace('dns'), n::text)) FROM generate_series(1, 1000) AS n"),
			't', "uuidv$version() returns the same as uuid_generate_v$version()");
	}
	like($sentences, qr/`uuid_generate_v3\(\.\.\.\)` by `uuidv3\(\.\.\.\)`, and `uuid_generate_v5\(\.\.\.\)` by `uuidv5\(\.\.\.\)`/, 'the page replaces the functions of names');
	like($sentences, qr/`uuid_ns_dns\(\)`, `_url\(\)`, `_oid\(\)`, `_x500\(\)` by `uuid_namespace\('dns'\)`/, 'the page replaces the functions of namespaces');
}
$node->stop;
done_testing();
