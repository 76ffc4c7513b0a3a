/*
 * name_based.c
 *		Name-based UUIDs (RFC 9562, 5.3, 5.5, 6.5 and appendix B.2).
 */
#include "value/value.h"

#include "common/cryptohash.h"
#include "common/md5.h"
#include "common/sha1.h"
#include "common/sha2.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

typedef struct HashAlgorithm
{
	const char *name;
	pg_cryptohash_type type;
	size_t		digest_bytes;	/* at least 16 */
} HashAlgorithm;

static const HashAlgorithm md5 = {"md5", PG_MD5, MD5_DIGEST_LENGTH};
static const HashAlgorithm sha1 = {"sha1", PG_SHA1, SHA1_DIGEST_LENGTH};

/* Algorithms of version 8.  MD5 and SHA-1 have their own versions, 3 and 5. */
static const HashAlgorithm v8_algorithms[] = {
	{"sha224", PG_SHA224, PG_SHA224_DIGEST_LENGTH},
	{"sha256", PG_SHA256, PG_SHA256_DIGEST_LENGTH},
	{"sha384", PG_SHA384, PG_SHA384_DIGEST_LENGTH},
	{"sha512", PG_SHA512, PG_SHA512_DIGEST_LENGTH},
};

/* Find an algorithm of version 8 by its name, which is not case-sensitive. */
static const HashAlgorithm *
v8_algorithm(text *name)
{
	char	   *wanted = text_to_cstring(name);

	for (size_t i = 0; i < lengthof(v8_algorithms); i++)
	{
		if (pg_strcasecmp(wanted, v8_algorithms[i].name) == 0)
			return &v8_algorithms[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized hash algorithm: \"%s\"", wanted),
			 errhint("Valid algorithms are \"sha224\", \"sha256\", \"sha384\", and \"sha512\". "
					 "To use another hash, compute it and pass it to uuidv8_custom(bytea).")));
}

/*
 * Hash the namespace, which is argument 0, followed by the name.  Return the first 16
 * bytes of the hash, with version and variant replaced.
 */
static Datum
named_uuid(FunctionCallInfo fcinfo, int version, const char *name, size_t name_bytes)
{
	const pg_uuid_t *namespace = PG_GETARG_UUID_P(0);
	const HashAlgorithm *algorithm = version == 3 ? &md5 : version == 5 ? &sha1 : v8_algorithm(PG_GETARG_TEXT_PP(2));
	uint8		digest[PG_SHA512_DIGEST_LENGTH];
	pg_uuid_t  *uuid;
	pg_cryptohash_ctx *context = pg_cryptohash_create(algorithm->type);

	if (context == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));
	if (pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, namespace->data, UUID_LEN) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) name, name_bytes) < 0 ||
		pg_cryptohash_final(context, digest, algorithm->digest_bytes) < 0)
	{
		/* the error string stays valid after the context is freed */
		const char *reason = pg_cryptohash_error(context);

		pg_cryptohash_free(context);
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute %s hash: %s", algorithm->name, reason)));
	}
	pg_cryptohash_free(context);

	uuid = new_uuid();
	uuid_layout_pack_bytes(uuid->data, version, digest);
	PG_RETURN_UUID_P(uuid);
}

/*
 * uuidv3(namespace uuid, name text) returns uuid
 * uuidv5(namespace uuid, name text) returns uuid
 * uuidv8_name(namespace uuid, name text, algorithm text) returns uuid
 *
 * Return the UUID of a name: version 3 with MD5, 5 with SHA-1, or 8 with an algorithm
 * of the SHA-2 family (RFC 9562, 5.3, 5.5 and appendix B.2).  Hash a text name as
 * UTF-8, regardless of the encoding of the database (6.5).
 */
static Datum
text_named_uuid(FunctionCallInfo fcinfo, int version)
{
	text	   *name = PG_GETARG_TEXT_PP(1);
	char	   *bytes = VARDATA_ANY(name);
	size_t		count = VARSIZE_ANY_EXHDR(name);
	char	   *utf8 = pg_server_to_any(bytes, (int) count, PG_UTF8);

	if (utf8 != bytes)
		count = strlen(utf8);
	return named_uuid(fcinfo, version, utf8, count);
}

SQL_FUNCTION(uuid9562_uuidv3_text, text_named_uuid, 3)
SQL_FUNCTION(uuid9562_uuidv5_text, text_named_uuid, 5)
SQL_FUNCTION(uuid9562_uuidv8_name_text, text_named_uuid, 8)

/* Return the UUID of a name of type bytea, whose bytes are hashed unchanged. */
static Datum
bytea_named_uuid(FunctionCallInfo fcinfo, int version)
{
	bytea	   *name = PG_GETARG_BYTEA_PP(1);

	return named_uuid(fcinfo, version, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
}

SQL_FUNCTION(uuid9562_uuidv3_bytea, bytea_named_uuid, 3)
SQL_FUNCTION(uuid9562_uuidv5_bytea, bytea_named_uuid, 5)
SQL_FUNCTION(uuid9562_uuidv8_name_bytea, bytea_named_uuid, 8)
