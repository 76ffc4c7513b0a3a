# A text name is hashed as UTF-8 in databases of every encoding, so a name has the same
# UUID everywhere (RFC 9562, 6.5).  An error of a text form shows the beginning of the text,
# and does not cut a character.
use ServerTest;

my $node = new_server('encoding', '', extra => [ '--encoding=UTF8', '--locale=C' ]);

# "Gruesse" with u-umlaut and sharp s, in UTF-8, and its UUIDs of versions 3, 5 and 8 in the
# namespace DNS, computed by another implementation
my $name = "Gr\xc3\xbc\xc3\x9fe";
my $expected = "49008d63-dc19-37bb-8371-d0a3a0c8dcd5\nd608d6cd-4cee-54a1-8e24-8ca9de8ac858\n6d99c892-7310-8a1b-8a3d-842a73d58173";

# in SQL_ASCII, the server does not convert the client's bytes, so the name stays in UTF-8
foreach my $encoding (qw(UTF8 LATIN1 WIN1252 SQL_ASCII))
{
	$node->safe_psql('postgres', "CREATE DATABASE \L$encoding\E ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	is( $node->safe_psql(lc $encoding, join ';', 'CREATE EXTENSION uuid9562', q{SET client_encoding = 'UTF8'},
			map { "SELECT public.$_(public.uuid_namespace('dns'), '$name')" } qw(uuidv3 uuidv5 uuidv8_name)),
		$expected, "the same name gives the same UUIDs in every encoding: $encoding");
}
isnt( $node->safe_psql('latin1',
		"SET client_encoding = 'UTF8'; SELECT public.uuidv5(public.uuid_namespace('dns'), convert_to('$name', 'LATIN1'))"),
	(split /\n/, $expected)[1], 'a bytea name is not converted to UTF-8');
my ($status, $out, $err) = $node->psql('sql_ascii', q{SELECT public.uuidv5(public.nil_uuid(), chr(252))});
like($err, qr/invalid byte sequence for encoding "UTF8": 0xfc/, 'in SQL_ASCII a name that is not valid UTF-8 is an error');

$node->safe_psql('postgres', q{CREATE DATABASE euc_jp ENCODING 'EUC_JP' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'});
$node->safe_psql('euc_jp', 'CREATE EXTENSION uuid9562');

# The text is an "a" and many copies of a character, which has one to four bytes.  A message
# shows at most 100 bytes of the text, and does not cut a character.
foreach (
	[ 'UTF8', "\xc3\xa9", 49 ],	# 2 bytes
	[ 'UTF8', "\xe2\x82\xac", 33 ],	# 3 bytes
	[ 'UTF8', "\xf0\x9f\x98\x80", 24 ],	# 4 bytes
	[ 'LATIN1', "\xc3\xa9", 99 ],	# 1 byte
	[ 'EUC_JP', "\xe3\x81\x82", 49 ],	# 2 bytes
	[ 'EUC_JP', "\xe4\xb8\x82", 33 ]	# 3 bytes
  )
{
	my ($encoding, $character, $shown) = @$_;

	foreach my $call ("uuid_decode(given, 'ulid')", "uuid_decode('1', given)", "uuid_to_typeid(public.nil_uuid(), given)", "uuid_from_typeid(given, '')")
	{
		($status, $out, $err) = $node->psql(lc $encoding,
			"SET client_encoding = 'UTF8'; SELECT public.$call FROM (SELECT 'a' || repeat('$character', 200) AS given) AS a");
		like($err, qr/^psql:.*ERROR:  [\w\s-]+: "a(?:$character){$shown}"$/m,
			"$encoding, $call: the message shows $shown characters of " . length($character) . ' bytes in UTF-8');
	}
}

# in SQL_ASCII each byte is a character, also in text that is not valid in any encoding
($status, $out, $err) = $node->psql('sql_ascii', q{SET client_encoding = 'SQL_ASCII'; SELECT public.uuid_decode(repeat(chr(255), 200), 'base58')});
like($err, qr/UUID: "\xff{100}"$/m, 'in SQL_ASCII the message shows 100 bytes');

$node->stop;
done_testing();
