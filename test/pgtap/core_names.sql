-- PostgreSQL 17 and later have functions with the same names as functions of the extension.
-- With the default search_path, such a name without a schema means PostgreSQL's function.
-- Functions that read a UUID return the same results as PostgreSQL's, except that the
-- extension reads the timestamps of more UUID versions.

BEGIN;
SELECT plan(7);

SELECT '1ec9414c-232a-6b00-b3c8-9f6bdeced846' AS v6,
	   current_setting('server_version_num')::int >= 170000 AS in_core,
	   current_setting('server_version_num')::int >= 190000 AS encodes,
	   -- PostgreSQL 17 reads the timestamp of UUID version 1, and PostgreSQL 18 also that
	   -- of version 7
	   CASE WHEN current_setting('server_version_num')::int < 180000 THEN '{6,7}' ELSE '{6}' END AS ours_only \gset

-- Only the extension's function reads version 6.
SELECT isnt(public.uuid_extract_timestamp(:'v6'), NULL, 'the qualified name means the extension''s function');
SELECT is(uuid_extract_timestamp(:'v6') IS NULL, :'in_core'::boolean, 'the unqualified name means core''s function if core has it');
SET LOCAL search_path = public, pg_catalog;
SELECT isnt(uuid_extract_timestamp(:'v6'), NULL, 'with pg_catalog last in search_path, the unqualified name means the extension''s function');
RESET search_path;

CREATE TEMP TABLE samples AS SELECT md5(n::text)::uuid AS id FROM generate_series(1, 200000) AS n;
-- give half of the samples the variant of RFC 9562 and a version from 0 to 9
UPDATE samples SET id = overlay(overlay(id::text PLACING to_hex(get_byte(uuid_send(id), 0) % 10) FROM 15) PLACING '8' FROM 20)::uuid
WHERE get_byte(uuid_send(id), 1) < 128;
\if :in_core
SELECT is(count(*), 0::bigint, 'version: the same as core''s for 200,000 UUIDs')
FROM samples WHERE public.uuid_extract_version(id) IS DISTINCT FROM pg_catalog.uuid_extract_version(id);
SELECT is(count(*), 0::bigint, 'timestamp: the same as core''s, except for the versions that core does not read')
FROM samples WHERE public.uuid_extract_timestamp(id) IS DISTINCT FROM pg_catalog.uuid_extract_timestamp(id)
			   AND coalesce(public.uuid_extract_version(id) <> ALL (:'ours_only'::int[]), true);
\else
SELECT skip('no such functions in core before PostgreSQL 17', 2);
\endif

\if :encodes
SELECT is(count(id), 0::bigint, format || ': the same as core''s encode(), without padding; its texts are read')
FROM unnest('{base32hex,base64url}'::text[]) AS format
	 LEFT JOIN samples ON public.uuid_encode(id, format) <> rtrim(encode(id::bytea, format), '=')
					   OR public.uuid_decode(encode(id::bytea, format), format) <> id
GROUP BY format;
\else
SELECT skip('no base32hex and base64url in core before PostgreSQL 19', 2);
\endif

SELECT * FROM finish();
ROLLBACK;
