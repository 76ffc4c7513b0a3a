/*
 * key_file.c
 *		The file with the keys of public IDs.
 *
 * A session loads the key file at the first use of a key, and again at the first
 * use after a reload of the configuration.  The session keeps only the keys of its own
 * database, as contexts of OpenSSL.  OpenSSL erases a key when its context is freed.  No
 * result, message or log line contains a part of a key.
 */
#include "public_id/key_file.h"

#ifdef USE_OPENSSL
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <openssl/evp.h>

#include "access/parallel.h"
#include "commands/dbcommands.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "core/key_lines.h"
#include "settings.h"

#define MAX_BYTES		(1024 * 1024)

typedef struct KeyName
{
	const char *bytes;
	size_t		length;
} KeyName;

/* An entry of the hash table of keys. */
typedef struct Key
{
	KeyName		name;
	EVP_CIPHER_CTX *aes;
} Key;

/* The contents of the key file.  They are erased after the keys are loaded. */
typedef struct Contents
{
	size_t		length;
	uint8		key[UUID_KEY_BYTES];	/* of the current line */
	char		bytes[MAX_BYTES + 1];	/* one more, to detect a larger file */
} Contents;

static MemoryContext keys_context;	/* NULL until load_keys() has succeeded */
static HTAB *keys;
static TimestampTz keys_reload_time;	/* PgReloadTime at last load_keys() */

/* --- reading -------------------------------------------------------------------- */

/* Check the permissions of a regular file by PostgreSQL's rules for private keys of TLS. */
static bool
is_private(const struct stat *file)
{
	if (!S_ISREG(file->st_mode))
		return false;
#ifdef WIN32
	return true;				/* Windows has no such permissions */
#else
	if (file->st_uid == geteuid())
		return (file->st_mode & (S_IRWXG | S_IRWXO)) == 0;
	return file->st_uid == 0 && (file->st_mode & (S_IWGRP | S_IXGRP | S_IRWXO)) == 0;
#endif
}

/* Return errno as the reason why a key file cannot be used. */
static const char *
system_error(void)
{
	return psprintf("The operating system reports: %s.", strerror(errno));
}

/*
 * Read an open key file.  Return NULL, or the reason why it cannot be used.  Check the open file
 * instead of its path, so that the file that is read is the one that was checked.
 */
static const char *
read_contents(int fd, Contents *contents)
{
	struct stat file;
	ssize_t		count;

	if (fstat(fd, &file) != 0)
		return system_error();
	if (!is_private(&file))
		return "The file is not a regular file that only the database user or root can access.";
	/* read_file() has checked the folder of one name only */
	if (file.st_nlink > 1)
		return "The file has another name, which can be inside the data directory.";
	while ((count = read(fd, contents->bytes + contents->length,
						 sizeof(contents->bytes) - contents->length)) > 0)
		contents->length += count;
	if (count < 0)
		return system_error();
	if (contents->length > MAX_BYTES)
		return "The file is larger than 1 MB.";
	return NULL;
}

/*
 * Read the key file.  Return NULL, or the reason why it cannot be used.  Refuse a file in the data
 * directory, since base backups would contain it.
 */
static const char *
read_file(Contents *contents)
{
	char		path[PATH_MAX];
	char		data_directory[PATH_MAX];
	const char *reason;
	int			fd;

	if (!is_absolute_path(uuid9562_key_file))
		return "The path is not absolute.";
	/* resolve symbolic links before comparing the paths */
	if (realpath(uuid9562_key_file, path) == NULL || realpath(DataDir, data_directory) == NULL)
		return system_error();
	canonicalize_path(path);
	canonicalize_path(data_directory);
	if (path_is_prefix_of_path(data_directory, path))
		return "The file is inside the data directory.";

	/* O_NONBLOCK: do not wait for a writer if the file is a FIFO */
	fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | PG_BINARY);
	if (fd < 0)
		return system_error();
	reason = read_contents(fd, contents);
	CloseTransientFile(fd);
	return reason;
}

/* --- parsing -------------------------------------------------------------------- */

static uint32
hash_name(const void *key, Size size)
{
	const KeyName *name = key;

	return hash_bytes((const unsigned char *) name->bytes, (int) name->length);
}

static int
names_differ(const void *a, const void *b, Size size)
{
	const KeyName *x = a;
	const KeyName *y = b;

	return x->length != y->length || memcmp(x->bytes, y->bytes, x->length) != 0;
}

/* Return an empty hash table of keys, in a memory context. */
static HTAB *
new_table(MemoryContext context)
{
	HASHCTL		control = {
		.keysize = sizeof(KeyName),.entrysize = sizeof(Key),
		.hash = hash_name,.match = names_differ,.hcxt = context
	};

	return hash_create("uuid9562 keys", 16, &control,
					   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
}

static void
free_aes(void *aes)
{
	EVP_CIPHER_CTX_free(aes);
}

/* Return a new OpenSSL context with a key.  The current memory context frees it. */
static EVP_CIPHER_CTX *
new_aes(const uint8 *key)
{
	MemoryContextCallback *callback = palloc(sizeof(MemoryContextCallback));
	EVP_CIPHER_CTX *aes = EVP_CIPHER_CTX_new();

	callback->func = free_aes;
	callback->arg = aes;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, callback);
	if (aes == NULL || EVP_EncryptInit_ex(aes, EVP_aes_256_ecb(), NULL, key, NULL) != 1 ||
		EVP_CIPHER_CTX_set_padding(aes, 0) != 1)
		ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not initialize AES-256")));
	return aes;
}

/* Add the keys of this database to a table.  Return NULL, or the reason why the file is invalid. */
static const char *
parse_file(Contents *contents, HTAB *table)
{
	const char *database = get_database_name(MyDatabaseId);
	UuidKeyLines lines;
	UuidKeyLine found;
	const char *reason = uuid_key_lines_begin(&lines, contents->bytes, contents->length);

	if (reason != NULL)
		return reason;
	while ((found = uuid_key_lines_next(&lines, contents->key)) != UUID_KEY_LINE_NONE)
	{
		KeyName		name;
		bool		duplicate;
		Key		   *key;

		CHECK_FOR_INTERRUPTS();

		/*
		 * if a newline is missing, the name of the database contains the line
		 * before
		 */
		if (found == UUID_KEY_LINE_INVALID || strlen(lines.database) >= NAMEDATALEN)
			return psprintf("Line %d has a syntax error.", lines.number);
		if (database == NULL || strcmp(lines.database, database) != 0)
			continue;
		name.bytes = pstrdup(lines.name);
		name.length = strlen(lines.name);
		key = hash_search(table, &name, HASH_ENTER, &duplicate);
		if (duplicate)
			return psprintf("Line %d repeats a key name of the same database.", lines.number);
		key->aes = new_aes(contents->key);
	}
	return NULL;
}

/*
 * Read the key file, and add the keys of this database to a table.  Return NULL, or the reason why
 * the file cannot be used.
 */
static const char *
add_keys(HTAB *table)
{
	Contents   *contents = palloc(sizeof(Contents));
	const char *reason = NULL;

	contents->length = 0;
	PG_TRY();
	{
		reason = read_file(contents);
		if (reason == NULL)
			reason = parse_file(contents, table);
	}
	PG_FINALLY();
	{
		explicit_bzero(contents, offsetof(Contents, bytes) + contents->length);
	}
	PG_END_TRY();
	pfree(contents);
	return reason;
}

/* --- keeping -------------------------------------------------------------------- */

/*
 * Report why the key file cannot be used: in the log if the session keeps its keys, or else as an
 * error.
 */
static void
report_failure(bool keeps_keys, const char *reason)
{
	ereport(keeps_keys ? LOG : ERROR,
			(errcode(ERRCODE_CONFIG_FILE_ERROR),
			 keeps_keys ? errmsg("could not reload key file \"%s\"; this session keeps its keys", uuid9562_key_file) :
			 errmsg("could not load key file \"%s\"", uuid9562_key_file),
			 errdetail("%s", reason),
			 errhint("Write each key as \"database key_name = \", 64 hexadecimal digits and a newline, with single spaces and without quotes.  "
					 "The file must have permissions u=rw (0600) or less if owned by the database user, "
					 "or permissions u=rw,g=r (0640) or less if owned by root and a group of the database user.  "
					 "The database user must be able to enter its folder.")));
}

/*
 * Load the keys of this session.  If that fails, a session that has keys keeps them, so that
 * a mistake in the file does not make its queries fail.
 */
static void
load_keys(void)
{
	MemoryContext caller = CurrentMemoryContext;
	MemoryContext context;
	HTAB	   *table;
	const char *reason = NULL;

	/* each worker would read the file again, for each query */
	if (IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot use keys of public IDs in a parallel worker"),
				 errhint("Mark functions that call uuidv7_encrypt() or uuidv7_decrypt() PARALLEL RESTRICTED.")));
	context = AllocSetContextCreate(caller, "uuid9562 keys", ALLOCSET_DEFAULT_SIZES);
	table = new_table(context);
	MemoryContextSwitchTo(context);
	if (uuid9562_key_file[0] != '\0')
		reason = add_keys(table);
	MemoryContextSwitchTo(caller);

	if (reason == NULL)
	{
		MemoryContextSetParent(context, TopMemoryContext);
		if (keys_context != NULL)
			MemoryContextDelete(keys_context);
		keys_context = context;
		keys = table;
	}
	else
	{
		report_failure(keys != NULL && hash_get_num_entries(keys) > 0, reason);
		MemoryContextDelete(context);	/* erases the keys that were read */
	}

	/*
	 * also after a failure: a session that keeps its keys waits for the next
	 * reload
	 */
	keys_reload_time = PgReloadTime;
}

/* Return the OpenSSL context of a key of this database.  Raise an error if there is no such key. */
void *
uuid9562_find_key(const text *name)
{
	KeyName		wanted = {VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name)};
	Key		   *key;

	if (unlikely(keys_context == NULL || keys_reload_time != PgReloadTime))
		load_keys();
	Assert(keys_context != NULL && keys != NULL);
	key = hash_search(keys, &wanted, HASH_FIND, NULL);
	if (unlikely(key == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("key \"%s\" does not exist", text_to_cstring(name)),
				 uuid9562_key_file[0] == '\0' ? errdetail("Parameter \"uuid9562.key_file\" is not set.") :
				 errdetail("This session has not loaded this key for the current database."),
				 uuid9562_key_file[0] == '\0' ? errhint("Set it to the absolute path of a key file, and reload the configuration.") :
				 errhint("Add the key to the file that \"uuid9562.key_file\" names, in a line that begins with the name of this database, and reload the configuration.  "
						 "Names are case-sensitive.  If the file has the line, see the server log.")));
	return key->aes;
}
#else
void *
uuid9562_find_key(const text *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("public IDs are not supported by this build"),
			 errdetail("Public IDs require a PostgreSQL server that is built with OpenSSL.")));
}
#endif
