# A text name is hashed as UTF-8 whatever the encoding of the database, so one
# name gives one UUID everywhere (RFC 9562, 6.5).
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('encoding');
$node->init(extra => [ '--encoding=UTF8', '--locale=C' ]);
$node->start;

# "Gruesse" with u-umlaut and sharp s, as the client writes it in UTF-8
my $name = "Gr\xc3\xbc\xc3\x9fe";
# made by another implementation, of the UTF-8 octets in the namespace DNS
my %expected = (
	uuidv3 => '49008d63-dc19-37bb-8371-d0a3a0c8dcd5',
	uuidv5 => 'd608d6cd-4cee-54a1-8e24-8ca9de8ac858',
	uuidv8_name => '6d99c892-7310-8a1b-8a3d-842a73d58173');

# a database in SQL_ASCII takes the octets of the client as they are
foreach my $encoding (qw(UTF8 LATIN1 LATIN9 WIN1252 SQL_ASCII))
{
	my $database = lc $encoding;

	$node->safe_psql('postgres',
		"CREATE DATABASE $database ENCODING '$encoding' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
	$node->safe_psql($database, 'CREATE EXTENSION uuid9562');
	foreach my $function (sort keys %expected)
	{
		is( $node->safe_psql($database,
				"SET client_encoding = 'UTF8'; SELECT public.$function(public.uuid_namespace('dns'), '$name')"),
			$expected{$function}, "$function of a name in a database in $encoding");
	}
}

# The octets of the name in the database's encoding, as bytea, are another name.
isnt( $node->safe_psql('latin1',
		"SET client_encoding = 'UTF8'; SELECT public.uuidv5(public.uuid_namespace('dns'), convert_to('$name', 'LATIN1'))"),
	$expected{uuidv5}, 'a bytea name is hashed as it is');

# Octets that are no UTF-8 have no UTF-8 form: an error, not another UUID.
my ($status, $out, $err) =
  $node->psql('sql_ascii', q{SELECT public.uuidv5(public.nil_uuid(), chr(252))});
isnt($status, 0, 'in SQL_ASCII a name that is no UTF-8 is refused');
like($err, qr/invalid byte sequence for encoding "UTF8": 0xfc/, 'and the octet is named');

$node->stop;
done_testing();
