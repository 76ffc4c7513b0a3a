-- Conversion between v1 and v6, and to and from text; custom bits of version 8 (RFC 9562, 5.8).
\pset format unaligned
\pset tuples_only

SELECT v1, public.uuidv1_to_v6(v1) AS v6, public.uuidv6_to_v1(public.uuidv1_to_v6(v1)) = v1 AS same
FROM unnest('{00000000-0000-1000-8000-000000000000,
			  ffffffff-ffff-1fff-bfff-ffffffffffff,
			  12345678-9abc-1def-8123-456789abcdef}'::uuid[]) AS v1;

-- the text forms of the UUIDs in RFC 9562, computed in Python: in both directions, with names
-- of formats in upper and lower case
CREATE TEMP TABLE vectors (id, base32hex, ulid, base58, base58flickr, base62, base64url, typeid) AS VALUES
	('f81d4fae-7dec-11d0-a765-00a0c91e6bf6'::uuid, 'V0EKVBJTTG8T19R502GCI7JBUO', '7R3N7TWZFC278AES80M34HWTZP',
	 'Xe22UfxT3rxcKJEAfL5373', 'wD22tEXs3RXBjieaEk5373', '7YBUWgZR1mKSqGyj9tVViw', '-B1Prn3sEdCnZQCgyR5r9g', 'order_7r3n7twzfc278aes80m34hwtzp'),
	('00000000-0000-0000-0000-000000000000'::uuid, '00000000000000000000000000', '00000000000000000000000000',
	 '1111111111111111111111', '1111111111111111111111', '0000000000000000000000', 'AAAAAAAAAAAAAAAAAAAAAA', 'order_00000000000000000000000000'),
	('ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid, 'VVVVVVVVVVVVVVVVVVVVVVVVVS', '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
	 'YcVfxkQb6JRzqk5kF2tNLv', 'xBuEXKpA6iqZQK5Kf2TnkV', '7n42DGM5Tflk9n8mt7Fhc7', '_____________________w', 'order_7zzzzzzzzzzzzzzzzzzzzzzzzz'),
	('c232ab00-9414-11ec-b3c8-9f6bdeced846'::uuid, 'O8PAM04K2G8UPCU8JTLTTJMO8O', '626ANG150M27PB7J4ZDFFCXP26',
	 'Qys2KsgsAKw9ZKupo76FCh', 'pYS2jSFSajW9yjUPN76fcG', '5uRfL2yjhnArtoQfhtK5hO', 'wjKrAJQUEeyzyJ9r3s7YRg', 'order_626ang150m27pb7j4zdffcxp26'),
	('5df41881-3aed-3515-88a7-2f4a814cf09e'::uuid, 'BNQ1H09QTKQHB2575T582J7GJO', '2XYGC82EQD6MARH9SF9A0MSW4Y',
	 'CbuPE286MB6RsDazcU7sUy', 'cAUoe286mb6qSdzZBt7StY', '2rHpz41xnmmjQ14tXiiRby', 'XfQYgTrtNRWIpy9KgUzwng', 'order_2xygc82eqd6marh9sf9a0msw4y'),
	('919108f7-52d1-4320-9bac-f847db4148a8'::uuid, 'I68GHTQIQ51I16TCV13TMGA8L0', '4HJ44FEMPH8CG9QB7R8ZDM2J58',
	 'JyZVoFVQxQNmw2bsgr7D1R', 'iYyuNfupXpnLW2ASFR7d1q', '4QgAS76dLuYGIOevxRNdwe', 'kZEI91LRQyCbrPhH20FIqA', 'order_4hj44femph8cg9qb7r8zdm2j58'),
	('2ed6657d-e927-568b-95e1-2665a8aea6a2'::uuid, '5RB6AVF94TB8N5F14PIQHBL6K8', '1ETSJQVT97AT5SBR96CPMAX9N2',
	 '6nTLogGvw2vmQjtATLqvLq', '6MskNFgVW2VLpJTaskQVkQ', '1QNcqF4CaKvmx4AGQoiDGE', 'LtZlfeknVouV4SZlqK6mog', 'order_1etsjqvt97at5sbr96cpmax9n2'),
	('1ec9414c-232a-6b00-b3c8-9f6bdeced846'::uuid, '3R4K2J1359LG1CU8JTLTTJMO8O', '0YS50MR8SADC0B7J4ZDFFCXP26',
	 '4oVbpzb8BpnTH1mg11dmWd', '4NuAPZA8bPMsh1LF11CLvC', '0w5k6WVHfQxDwORhbnJw5G', 'HslBTCMqawCzyJ9r3s7YRg', 'order_0ys50mr8sadc0b7j4zdffcxp26'),
	('017f22e2-79b0-7cc3-98c4-dc0c0c07398f'::uuid, '05VI5OJPM1UC7664RG60O1PPHS', '01FWHE4YDGFK1SHH6W1G60EECF',
	 '1BihbxwwQ4NZZpKRH9JDCz', '1bHGAXWWp4nyyPjqh9idcZ', '02p5oQZoHTv0zeY5yG21K3', 'AX8i4nmwfMOYxNwMDAc5jw', 'order_01fwhe4ydgfk1shh6w1g60eecf'),
	('2489e9ad-2ee2-8e00-8ec9-32d5f69181c0'::uuid, '4I4UJB9ESA7013M96BAVD4C1O0', '14H7MTTBQ2HR08XJ9JTQV930E0',
	 '5WhDz2zW6g9mHu7EP9hoVq', '5vGdZ2Zv6F9LhU7eo9GNuQ', '16wkVN3MiuTu3Tvke980Yq', 'JInprS7ijgCOyTLV9pGBwA', 'order_14h7mttbq2hr08xj9jtqv930e0'),
	('5c146b14-3c52-8afd-938a-375d0df1fbf6'::uuid, 'BGA6M51SAA5FR4SA6TEGRSFRUO', '2W2HNH8F2JHBYS72HQBM6Z3YZP',
	 'CNV2iY4mKiTS1uw8RxapEH', 'cnu2Hx4LjHsr1UW8qXzPeh', '2nkclVMgXgfuAgu1a26Hri', 'XBRrFDxSiv2TijddDfH79g', 'order_2w2hnh8f2jhbys72hqbm6z3yzp');
CREATE TEMP TABLE forms AS
SELECT id, format, text FROM vectors, LATERAL (VALUES ('urn', 'urn:uuid:' || id), ('base32hex', base32hex), ('ulid', ulid),
	('base58', base58), ('base58flickr', base58flickr), ('base62', base62), ('base64url', base64url), ('typeid', substr(typeid, 7))) AS a (format, text);
SELECT count(*), bool_and(public.uuid_encode(id, format) = text AND public.uuid_encode(id, upper(format)) = text) AS written,
	   bool_and(public.uuid_decode(text, format) = id AND public.uuid_decode(text, initcap(format)) = id) AS read FROM forms;
SELECT count(*), bool_and(public.uuid_to_typeid(id, 'order') = typeid) AS written,
	   bool_and(public.uuid_from_typeid(typeid, 'order') = id) AS read FROM vectors;

-- other texts that are read: upper and lower case, padding, missing leading zeros, I, L and O in
-- a ULID, and TypeIDs with any prefix
SELECT format, text, public.uuid_decode(text, format) FROM (VALUES
	('urn', 'URN:UUID:F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'), ('urn', 'Urn:uuid:f81d4fae-7DEC-11d0-a765-00a0c91e6bf6'),
	('base32hex', 'v0ekvbjttg8t19r502gci7jbuo'), ('base32hex', 'V0EKVBJTTG8T19R502GCI7JBUO======'),
	('base64url', '-B1Prn3sEdCnZQCgyR5r9g=='),
	('ulid', '01fwhe4ydgfk1shh6w1g60eecf'), ('ulid', 'oLFWHE4YDGFKiSHH6WIG6OEECF'),
	('base58', 'BihbxwwQ4NZZpKRH9JDCz'), ('base58', '1BihbxwwQ4NZZpKRH9JDCz'), ('base58', '2'),
	('base58flickr', 'bHGAXWWp4nyyPjqh9idcZ'), ('base58flickr', '2'),
	('base62', '2p5oQZoHTv0zeY5yG21K3'), ('base62', '0'),
	('typeid', '01fwhe4ydgfk1shh6w1g60eecf'), ('typeid', 'order_line_01fwhe4ydgfk1shh6w1g60eecf'),
	('typeid', repeat('z', 63) || '_01fwhe4ydgfk1shh6w1g60eecf')) AS a (format, text);

-- with the collation C, all forms but base58flickr and base64url sort as the UUIDs do
CREATE TEMP TABLE random AS
SELECT DISTINCT CASE n % 3 WHEN 0 THEN md5(n::text)::uuid ELSE overlay(md5(n::text) PLACING repeat('0', n % 30) FROM 1)::uuid END AS id
FROM generate_series(1, 100000) AS n;
SELECT format, bool_and(text > before COLLATE "C") AS sorted, bool_and(public.uuid_decode(text, format) = id) AS same
FROM (SELECT format, id, text, lag(text) OVER (PARTITION BY format ORDER BY id) AS before
	  FROM (SELECT id, format, public.uuid_encode(id, format) AS text
			FROM random, unnest('{urn,base32hex,ulid,base58,base58flickr,base62,base64url,typeid}'::text[]) AS format) AS a) AS b
GROUP BY format ORDER BY format;
SELECT bool_and(text > before COLLATE "C") AS sorted, bool_and(public.uuid_from_typeid(text, 'a_b') = id) AS same
FROM (SELECT id, text, lag(text) OVER (ORDER BY id) AS before
	  FROM (SELECT id, public.uuid_to_typeid(id, 'a_b') AS text FROM random) AS a) AS b;

-- texts from a table: short ones, whose header has one byte, and compressed and external ones
CREATE TEMP TABLE stored (how text, text text, format text);
ALTER TABLE stored ALTER text SET STORAGE EXTERNAL;
INSERT INTO stored SELECT 'short', text, format FROM forms WHERE id = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
INSERT INTO stored VALUES ('external', repeat('1', 100000), 'base58');
ALTER TABLE stored ALTER text SET STORAGE MAIN, ALTER format SET STORAGE MAIN;
INSERT INTO stored VALUES ('compressed', repeat('1', 100000), 'base58'), ('compressed format', '1', repeat('base58', 10000));
SELECT how, format, public.uuid_decode(text, format) FROM stored WHERE how = 'short' ORDER BY format;
\set VERBOSITY terse
SELECT public.uuid_decode(text, format) FROM stored WHERE how = 'external';
SELECT public.uuid_decode(text, format) FROM stored WHERE how = 'compressed';
SELECT public.uuid_decode(text, format) FROM stored WHERE how = 'compressed format';
SELECT public.uuid_from_typeid(text, 'a') FROM stored WHERE how = 'external';
\set VERBOSITY default

-- prefixes of a TypeID: none, of one character, of 63 characters, and with two adjacent "_"
SELECT prefix, public.uuid_to_typeid(id, prefix) AS typeid, public.uuid_from_typeid(public.uuid_to_typeid(id, prefix), prefix) = id AS same
FROM unnest(ARRAY['', 'a', repeat('abc', 21), 'a__b']) AS prefix, (VALUES ('01890a5d-ac96-774b-bcce-b302099a8057'::uuid)) AS ids (id);

-- all custom bits zero, and all one; with more than 16 bytes, only the first 16 are used
SELECT public.uuidv8_custom(bytes)
FROM unnest('{\\x00000000000000000000000000000000,\\xffffffffffffffffffffffffffffffff,\\x000102030405060708090a0b0c0d0e0f1011}'::bytea[]) AS bytes;
