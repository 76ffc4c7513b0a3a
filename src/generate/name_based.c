/*
 * name_based.c
 *		Name-based UUIDs (RFC 9562, 5.3, 5.5, 6.5 and appendix B.2).
 */
#include "value/value.h"

#include "common/cryptohash.h"
#include "common/sha2.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

typedef struct HashAlgorithm
{
	const char *name;
	pg_cryptohash_type type;
} HashAlgorithm;

static const HashAlgorithm md5 = {"md5", PG_MD5};
static const HashAlgorithm sha1 = {"sha1", PG_SHA1};

/* Algorithms of version 8.  MD5 and SHA-1 have their own versions, 3 and 5. */
static const HashAlgorithm v8_algorithms[] = {
	{"sha224", PG_SHA224},
	{"sha256", PG_SHA256},
	{"sha384", PG_SHA384},
	{"sha512", PG_SHA512},
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
					 "To use another hash, compute it and pass it to uuidv8_custom().")));
}

/*
 * uuidv3(namespace uuid, name text or bytea) returns uuid
 * uuidv5(namespace uuid, name text or bytea) returns uuid
 * uuidv8_name(namespace uuid, name text or bytea, algorithm text) returns uuid
 *
 * Hash the namespace followed by the name, with MD5 for version 3, with SHA-1 for version 5, and
 * with an algorithm of the SHA-2 family for version 8 (RFC 9562, 5.3, 5.5 and appendix B.2).
 * Return the first 16 bytes of the hash, with version and variant replaced.  Hash a text as UTF-8,
 * regardless of the encoding of the database (6.5).
 */
static Datum
named_uuid(FunctionCallInfo fcinfo, int version, bool is_text)
{
	const pg_uuid_t *namespace = PG_GETARG_UUID_P(0);
	bytea	   *name = PG_GETARG_BYTEA_PP(1);	/* or text */
	char	   *given = VARDATA_ANY(name);
	size_t		count = VARSIZE_ANY_EXHDR(name);
	char	   *bytes = is_text ? pg_server_to_any(given, (int) count, PG_UTF8) : given;
	const HashAlgorithm *algorithm = version == 3 ? &md5 : version == 5 ? &sha1 :
		v8_algorithm(PG_GETARG_TEXT_PP(2));
	uint8		digest[PG_SHA512_DIGEST_LENGTH];	/* the longest */
	pg_cryptohash_ctx *context = pg_cryptohash_create(algorithm->type);

	if (bytes != given)			/* converted, and so terminated by NUL */
		count = strlen(bytes);
	if (pg_cryptohash_init(context) < 0 ||
		pg_cryptohash_update(context, namespace->data, UUID_LEN) < 0 ||
		pg_cryptohash_update(context, (const uint8 *) bytes, count) < 0 ||
		pg_cryptohash_final(context, digest, sizeof(digest)) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute %s hash: %s", algorithm->name, pg_cryptohash_error(context))));
	pg_cryptohash_free(context);
	return uuid_datum(version, uuid_layout_unpack(digest, version));
}

SQL_FUNCTION(uuid9562_uuidv3_text, named_uuid, 3, true)
SQL_FUNCTION(uuid9562_uuidv5_text, named_uuid, 5, true)
SQL_FUNCTION(uuid9562_uuidv8_name_text, named_uuid, 8, true)
SQL_FUNCTION(uuid9562_uuidv3_bytea, named_uuid, 3, false)
SQL_FUNCTION(uuid9562_uuidv5_bytea, named_uuid, 5, false)
SQL_FUNCTION(uuid9562_uuidv8_name_bytea, named_uuid, 8, false)
