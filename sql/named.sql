-- Name-based UUIDs: versions 3, 5 and 8.

-- a literal name is text; text and bytea of the same octets are the same name
SELECT public.uuidv3(dns, 'example'::text) = public.uuidv3(dns, 'example'::bytea) AS v3,
	   public.uuidv5(dns, 'example'::text) = public.uuidv5(dns, 'example'::bytea) AS v5,
	   public.uuidv8_name(dns, 'example'::text) = public.uuidv8_name(dns, 'example'::bytea) AS v8
FROM public.uuid_namespace('dns') AS dns;

-- each is the hash that PostgreSQL computes of namespace and name, left 128
-- bits, with version and variant set over it
SELECT algorithm, made, version,
	   encode(overlay(overlay(uuid_send(made) PLACING '\x00' FROM 7) PLACING '\x00' FROM 9), 'hex') =
	   encode(overlay(overlay(substr(hash, 1, 16) PLACING '\x00' FROM 7) PLACING '\x00' FROM 9), 'hex') AS is_the_hash
FROM (SELECT public.uuid_namespace('url'), 'https://www.example.com/'::bytea) AS given (namespace, name),
	 LATERAL (VALUES
		('md5', public.uuidv3(namespace, name), decode(md5(uuid_send(namespace) || name), 'hex')),
		('sha224', public.uuidv8_name(namespace, name, 'sha224'), sha224(uuid_send(namespace) || name)),
		('sha256', public.uuidv8_name(namespace, name, 'sha256'), sha256(uuid_send(namespace) || name)),
		('sha384', public.uuidv8_name(namespace, name, 'sha384'), sha384(uuid_send(namespace) || name)),
		('sha512', public.uuidv8_name(namespace, name, 'sha512'), sha512(uuid_send(namespace) || name))
	 ) AS hashes (algorithm, made, hash),
	 LATERAL public.uuid_extract_version(made) AS version;

-- the algorithm's name is read in upper and lower case, and is sha256 unless given
SELECT public.uuidv8_name(dns, 'example') = public.uuidv8_name(dns, 'example', 'SHA256') AS text,
	   public.uuidv8_name(dns, 'example'::bytea) = public.uuidv8_name(dns, 'example'::bytea, 'Sha256') AS bytea
FROM public.uuid_namespace('dns') AS dns;

-- the namespace's name too
SELECT public.uuid_namespace('DNS') = public.uuid_namespace('dns') AS same;

-- any UUID is a namespace, any octets are a name: none at all, a zero octet
SELECT public.uuidv5(public.nil_uuid(), ''), public.uuidv5(public.nil_uuid(), ''::bytea);
SELECT public.uuidv3(public.nil_uuid(), ''), public.uuidv8_name(public.nil_uuid(), '');
SELECT public.uuidv5(public.max_uuid(), '\x00'::bytea), public.uuidv5(public.max_uuid(), '\x0000'::bytea);

-- ten million octets
SELECT public.uuidv8_name(dns, name) = public.uuidv8_custom(sha256(uuid_send(dns) || name::bytea)) AS v8,
	   public.uuidv3(dns, name), public.uuidv5(dns, name)
FROM public.uuid_namespace('dns') AS dns, repeat('0123456789', 1000000) AS name;

-- two names, two namespaces: two UUIDs
SELECT count(DISTINCT public.uuidv5(public.uuid_namespace(namespace), name))
FROM unnest('{dns,url,oid,x500}'::text[]) AS namespace, unnest('{a,b,c}'::text[]) AS name;
