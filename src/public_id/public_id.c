/*
 * public_id.c
 *		Public IDs: v7 UUIDs encrypted as v4 UUIDs, which do not show a time.
 */
#include "value/value.h"

#ifdef USE_OPENSSL
#include <openssl/evp.h>
#endif

#include "utils/fmgrprotos.h"

#include "core/feistel.h"
#include "public_id/key_file.h"

/* Encrypt a block in place.  uuid_feistel() uses this function for decryption too. */
static bool
encrypt_block(void *aes, uint8 *block)
{
#ifdef USE_OPENSSL
	int			length;

	return EVP_EncryptUpdate(aes, block, &length, block, 16) == 1;
#else
	return false;
#endif
}

/* Encrypt or decrypt the first argument with the key that the second argument names. */
static Datum
permute(FunctionCallInfo fcinfo, bool encrypt)
{
	pg_uuid_t  *given = PG_GETARG_UUID_P(0);
	pg_uuid_t  *uuid = new_uuid();
	void	   *key;

	/* do not show an ID that cannot be encrypted: it may be confidential */
	if (unlikely(uuid_layout_version(given->data) != (encrypt ? 7 : 4)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 encrypt ? errmsg("cannot encrypt UUID that is not version 7") :
				 errmsg("invalid public ID: \"%s\"", uuid_string(given)),
				 encrypt ? errhint("Test the ID with uuid_is_v7() first.") :
				 errdetail("A public ID is a version 4 UUID.")));
	key = uuid9562_find_key(PG_GETARG_TEXT_PP(1));
	if (unlikely(!uuid_feistel(encrypt_block, key, encrypt, uuid->data, given->data)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute AES-256")));
	PG_RETURN_UUID_P(uuid);
}

/* uuidv7_encrypt(id uuid, key_name text) returns uuid */
SQL_FUNCTION(uuid9562_uuidv7_encrypt, permute, true)

/* uuidv7_decrypt(public_id uuid, key_name text) returns uuid */
SQL_FUNCTION(uuid9562_uuidv7_decrypt, permute, false)
