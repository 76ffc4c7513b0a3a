# A text name is hashed as UTF-8 in databases of every encoding, so a name has the same
# UUID everywhere (RFC 9562, 6.5).
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('encoding');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;

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
		$expected, "uuidv3, uuidv5 and uuidv8_name of a name in a database in $encoding");
}
isnt( $node->safe_psql('latin1',
		"SET client_encoding = 'UTF8'; SELECT public.uuidv5(public.uuid_namespace('dns'), convert_to('$name', 'LATIN1'))"),
	(split /\n/, $expected)[1], 'a bytea name is not converted to UTF-8');
my ($status, $out, $err) = $node->psql('sql_ascii', q{SELECT public.uuidv5(public.nil_uuid(), chr(252))});
like($err, qr/invalid byte sequence for encoding "UTF8": 0xfc/, 'in SQL_ASCII a name that is not valid UTF-8 is an error');

$node->stop;
done_testing();
