/*
 * public_id.c
 *		Public IDs: v7 UUIDs encrypted as v4 UUIDs, which do not show a time.
 *
 * A session loads the key file at the first use of a key, and again at the first
 * use after a reload of the configuration.  The session keeps only the keys of its own
 * database, as contexts of OpenSSL.  OpenSSL erases a key when its context is freed.  No
 * result, message or log line contains a part of a key.
 */
#include "value/value.h"

#include <fcntl.h>
#include <unistd.h>
#ifdef USE_OPENSSL
#include <openssl/evp.h>
#endif

#include "access/parallel.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "core/feistel.h"
#include "core/text.h"
#include "settings.h"

#ifdef USE_OPENSSL
#define MAX_BYTES		(1024 * 1024)
#define DIGITS_OF_16	"xxxxxxxxxxxxxxxx"

typedef struct Key
{
	struct Key *next;
	char	   *name;
	EVP_CIPHER_CTX *aes;
	MemoryContextCallback free_aes;
} Key;

/* The contents of the key file.  They are erased after the keys are loaded. */
typedef struct Contents
{
	size_t		length;
	uint8		key[32];		/* of the current line */
	char		bytes[MAX_BYTES + 1];
} Contents;

static MemoryContext keys_context;	/* NULL before the first load_keys() */
static Key *keys;
static TimestampTz keys_reload_time;	/* PgReloadTime at last load_keys() */

/* Read the key file.  Return NULL, or the reason why the file cannot be used. */
static const char *
read_file(Contents *contents)
{
	char		path[PATH_MAX];
	char		data_directory[PATH_MAX];
	ssize_t		count;
	int			fd;

	/* resolve symbolic links before comparing the paths */
	if (realpath(uuid9562_key_file, path) == NULL || realpath(DataDir, data_directory) == NULL)
		return strerror(errno);
	canonicalize_path(path);
	canonicalize_path(data_directory);
	if (path_is_prefix_of_path(data_directory, path))
		return "it is inside the data directory";
	if (!check_ssl_key_file_permissions(path, false))
		return "it is not a regular file that only the database user or root can access";

	fd = OpenTransientFile(path, O_RDONLY | PG_BINARY);
	if (fd < 0)
		return strerror(errno);
	while ((count = read(fd, contents->bytes + contents->length, sizeof(contents->bytes) - contents->length)) > 0)
		contents->length += count;
	CloseTransientFile(fd);
	if (count < 0)
		return "it cannot be read";
	if (contents->length > MAX_BYTES)
		return "it is larger than 1 MB";
	if (contents->length == 0 || contents->bytes[contents->length - 1] != '\n')
		return "it does not end with a newline";
	return NULL;
}

/* Split "database key_name = digits" from its end, since database names can contain spaces. */
static bool
parse_line(char *line, char **name, uint8 *key)
{
	char	   *equals = strrchr(line, '=');

	if (equals == NULL || equals == line || memcmp(equals - 1, " = ", 3) != 0 ||
		!uuid_text_read(DIGITS_OF_16 DIGITS_OF_16 DIGITS_OF_16 DIGITS_OF_16, equals + 2, key))
		return false;
	equals[-1] = '\0';
	*name = strrchr(line, ' ');
	if (*name == NULL || *name + 1 == equals - 1 || *line == ' ' || (*name)[-1] == ' ')
		return false;
	*(*name)++ = '\0';
	return true;
}

/* Return the key with the given name, or NULL if there is none. */
static Key *
find_in(Key *list, const char *name, size_t length)
{
	while (list != NULL && (strncmp(list->name, name, length) != 0 || list->name[length] != '\0'))
		list = list->next;
	return list;
}

static void
free_aes(void *aes)
{
	EVP_CIPHER_CTX_free(aes);
}

/* Return a new key, in the current memory context. */
static Key *
new_key(const char *name, const uint8 *bytes)
{
	Key		   *key = palloc(sizeof(Key));

	key->name = pstrdup(name);
	key->aes = EVP_CIPHER_CTX_new();
	key->free_aes.func = free_aes;
	key->free_aes.arg = key->aes;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &key->free_aes);
	if (key->aes == NULL || EVP_EncryptInit_ex(key->aes, EVP_aes_256_ecb(), NULL, bytes, NULL) != 1 ||
		EVP_CIPHER_CTX_set_padding(key->aes, 0) != 1)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not initialize AES-256")));
	return key;
}

/* Add this database's keys to a list.  Return NULL, or the reason why a line is invalid. */
static const char *
parse_file(Contents *contents, Key **list)
{
	char	   *database = get_database_name(MyDatabaseId);
	char	   *end = contents->bytes + contents->length;
	char	   *newline;
	int			number = 1;

	for (char *line = contents->bytes; line < end; line = newline + 1, number++)
	{
		char	   *name;
		Key		   *key;

		newline = memchr(line, '\n', end - line);
		*newline = '\0';
		if (*line == '#' || line == newline)
			continue;
		if (line + strlen(line) != newline || !parse_line(line, &name, contents->key))
			return psprintf("syntax error in line %d", number);
		if (database == NULL || strcmp(line, database) != 0)
			continue;
		if (find_in(*list, name, strlen(name)) != NULL)
			return psprintf("duplicate key name in line %d", number);
		key = new_key(name, contents->key);
		key->next = *list;
		*list = key;
	}
	return NULL;
}

/*
 * Load the keys of this session.  If that fails, a session that has keys keeps
 * them and logs the reason; any other session raises an error.
 */
static void
load_keys(void)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context = AllocSetContextCreate(caller, "uuid9562 keys", ALLOCSET_DEFAULT_SIZES);
	Contents   *contents = palloc(sizeof(Contents));
	const char *reason = NULL;
	Key		   *list = NULL;

	if (IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot use keys of public IDs in a parallel worker"),
				 errhint("Mark functions that call uuidv7_encrypt() or uuidv7_decrypt() PARALLEL RESTRICTED.")));
	contents->length = 0;
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		reason = uuid9562_key_file[0] == '\0' ? NULL : read_file(contents);
		if (reason == NULL)
			reason = parse_file(contents, &list);
	}
	PG_FINALLY();
	{
		explicit_bzero(contents, offsetof(Contents, bytes) + contents->length);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	if (reason != NULL)
		ereport(keys != NULL ? LOG : ERROR,
				(errcode(ERRCODE_CONFIG_FILE_ERROR),
				 errmsg("could not load key file \"%s\": %s", uuid9562_key_file, reason),
				 keys != NULL ? errdetail("This session continues to use the keys that it loaded before.") : 0,
				 errhint("Write each key as \"database key_name = \" and 64 hexadecimal digits, end each line with a newline, "
						 "and let only the operating system user of the server access the file.")));
	else
	{
		MemoryContextSetParent(context, TopMemoryContext);
		if (keys_context != NULL)
			MemoryContextDelete(keys_context);
		keys_context = context;
		keys = list;
	}
	keys_reload_time = PgReloadTime;
}

/* Return the OpenSSL context of a key.  Raise an error if the key does not exist. */
static void *
find_key(const text *name)
{
	Key		   *key;

	if (unlikely(keys_context == NULL || keys_reload_time != PgReloadTime))
		load_keys();
	key = find_in(keys, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
	if (unlikely(key == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", text_to_cstring(name)),
				 uuid9562_key_file[0] == '\0' ? errdetail("Parameter \"uuid9562.key_file\" is not set.") :
				 errdetail("This session has not loaded this key for the current database."),
				 uuid9562_key_file[0] == '\0' ? errhint("Set it to the absolute path of a key file, and reload the configuration.") :
				 errhint("Add the key to the file that \"uuid9562.key_file\" names, and reload the configuration.  "
						 "If the file has the key, see the server log.")));
	return key->aes;
}

/* Encrypt a block of 16 bytes in place, as a UuidBlockCipher. */
static bool
encrypt_block(void *aes, uint8 *block)
{
	int			length;

	return EVP_EncryptUpdate(aes, block, &length, block, 16) == 1;
}
#else
static void *
find_key(const text *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("public IDs are not supported by this build"),
			 errdetail("Public IDs require a PostgreSQL server that is built with OpenSSL.")));
}
#define encrypt_block	NULL
#endif

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
				 errmsg("invalid public ID: \"%s\"", DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(given)))),
				 encrypt ? errhint("Test the ID with uuid_is_v7() first.") :
				 errhint("A public ID is a version 4 UUID.")));
	key = find_key(PG_GETARG_TEXT_PP(1));
	if (unlikely(!uuid_feistel(encrypt_block, key, encrypt, uuid->data, given->data)))
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not compute AES-256")));
	PG_RETURN_UUID_P(uuid);
}

/* uuidv7_encrypt(id uuid, key_name text) returns uuid */
SQL_FUNCTION(uuid9562_uuidv7_encrypt, permute, true)

/* uuidv7_decrypt(public_id uuid, key_name text) returns uuid */
SQL_FUNCTION(uuid9562_uuidv7_decrypt, permute, false)
