-- Name-based UUIDs: versions 3, 5 and 8.
\pset format unaligned
\pset tuples_only

-- a UUID consists of the first 16 bytes of the hash of namespace and name, with version
-- and variant replaced; the same name as text and as bytea gives the same UUID
SELECT algorithm, made, made = of_text AS same_of_text,
	   encode(overlay(overlay(uuid_send(made) PLACING '\x00' FROM 7) PLACING '\x00' FROM 9), 'hex') =
	   encode(overlay(overlay(substr(hash, 1, 16) PLACING '\x00' FROM 7) PLACING '\x00' FROM 9), 'hex') AS is_the_hash
FROM (SELECT public.uuid_namespace('url'), 'https://www.example.com/', 'https://www.example.com/'::bytea) AS given (namespace, text, name),
	 LATERAL (VALUES
		('md5', public.uuidv3(namespace, name), public.uuidv3(namespace, text), decode(md5(uuid_send(namespace) || name), 'hex')),
		('sha224', public.uuidv8_name(namespace, name, 'sha224'), public.uuidv8_name(namespace, text, 'SHA224'), sha224(uuid_send(namespace) || name)),
		('sha256', public.uuidv8_name(namespace, name), public.uuidv8_name(namespace, text), sha256(uuid_send(namespace) || name)),
		('sha384', public.uuidv8_name(namespace, name, 'sha384'), public.uuidv8_name(namespace, text, 'Sha384'), sha384(uuid_send(namespace) || name)),
		('sha512', public.uuidv8_name(namespace, name, 'sha512'), public.uuidv8_name(namespace, text, 'sha512'), sha512(uuid_send(namespace) || name))
	 ) AS hashes (algorithm, made, of_text, hash);

-- any UUID can be a namespace, and any bytes can be a name: no bytes at all, and bytes
-- that are zero
SELECT public.uuidv5(public.nil_uuid(), '') AS v5, public.uuidv3(public.nil_uuid(), ''::bytea) AS v3, public.uuidv8_name(public.nil_uuid(), '') AS v8;
SELECT public.uuidv5(public.max_uuid(), '\x00'::bytea), public.uuidv5(public.max_uuid(), '\x0000'::bytea);

-- a name of ten million bytes, and the name of a namespace in upper case
SELECT public.uuidv8_name(dns, name) = public.uuidv8_custom(sha256(uuid_send(dns) || name::bytea)) AS v8,
	   public.uuidv3(dns, name), public.uuidv5(dns, name)
FROM public.uuid_namespace('DNS') AS dns, repeat('0123456789', 1000000) AS name;
