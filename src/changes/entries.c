/*
 * entries.c
 *		Entries of the log, as a page has them: each key once, where it changed last.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

/* Begin to read the entries of a table after an ID, up to another one. */
static OwnScan
scan_entries(Oid source, const UuidReaderId *after, const UuidReaderId *last, LOCKMODE mode)
{
	ScanKeyData keys[3];

	ScanKeyInit(&keys[0], LOG_SOURCE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(source));
	ScanKeyInit(&keys[1], LOG_ID, BTGreaterStrategyNumber, F_UUID_GT, reader_id_datum(after));
	ScanKeyInit(&keys[2], LOG_ID, BTLessEqualStrategyNumber, F_UUID_LE, reader_id_datum(last));
	return uuid9562_scan_own("log", mode, 3, keys);
}

static UuidReaderId
entry_id(HeapTuple entry, TupleDesc desc)
{
	UuidReaderId id;
	bool		isnull;

	memcpy(id.bytes, DatumGetPointer(heap_getattr(entry, LOG_ID, desc, &isnull)), UUID_BYTES);
	return id;
}

static KeyBytes
entry_key(HeapTuple entry, TupleDesc desc)
{
	KeyBytes	key = {0, NULL};
	bool		isnull;
	Datum		value = heap_getattr(entry, LOG_KEY, desc, &isnull);

	if (!isnull)
	{
		bytea	   *bytes = DatumGetByteaPCopy(value);

		key.length = VARSIZE(bytes) - VARHDRSZ;
		key.bytes = VARDATA(bytes);
	}
	return key;
}

/* A key that the page has already, and where */
typedef struct KnownKey
{
	KeyBytes	key;
	int			place;
	uint32		hash;
	char		status;
} KnownKey;

#define SH_PREFIX				known_keys
#define SH_ELEMENT_TYPE			KnownKey
#define SH_KEY_TYPE				KeyBytes
#define SH_KEY					key
#define SH_HASH_KEY(table, key)	uuid9562_hash_key(key)
#define SH_EQUAL(table, a, b)	uuid9562_same_key(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, element)	(element)->hash
#define SH_SCOPE				static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Add an entry to a page.  If the page has its key, leave a gap where the key was. */
static void
add_key(ChangesPage *page, Size *size, known_keys_hash **known, PageKey key)
{
	KnownKey   *element;
	bool		found;

	if (*known == NULL)
		*known = known_keys_create(CurrentMemoryContext, 16, NULL);
	if ((Size) page->count == *size)
		page->keys = repalloc_huge(page->keys, (*size *= 2) * sizeof(PageKey));
	element = known_keys_insert(*known, key.key, &found);
	if (found)
		page->keys[element->place].key.length = 0;
	element->place = page->count;
	page->keys[page->count++] = key;
	page->end = key.id;
}

static void
close_gaps(ChangesPage *page)
{
	int			count = 0;

	for (int i = 0; i < page->count; i++)
	{
		if (page->keys[i].key.length > 0)
			page->keys[count++] = page->keys[i];
	}
	page->count = count;
}

/*
 * Read the entries after an ID, up to the horizon, at most "limit" of them.  The page ends before
 * an entry that stands for all rows, or for a key that the table had before.
 */
void
uuid9562_read_page(const Source *source, UuidReaderId after, UuidReaderId horizon, int64 limit,
				   ChangesPage *page)
{
	OwnScan		scan = scan_entries(source->relid, &after, &horizon, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(scan.rel);
	known_keys_hash *known = NULL;
	Size		size = 16;
	HeapTuple	entry;

	memset(page, 0, sizeof(ChangesPage));
	page->end = after;
	page->keys = palloc(size * sizeof(PageKey));
	while (page->count < limit && HeapTupleIsValid(entry =
												   uuid9562_next_own(&scan, ForwardScanDirection)))
	{
		const PageKey key = {entry_id(entry, desc), entry_key(entry, desc)};

		if (!uuid9562_read_key(&source->key, key.key, NULL))
		{
			page->is_reset = page->count == 0;
			break;
		}
		add_key(page, &size, &known, key);
		CHECK_FOR_INTERRUPTS();
	}
	uuid9562_end_own(&scan);
	close_gaps(page);
}

/*
 * Pass on all entries of a table.  Entries for all rows, or for a key that the table had before,
 * have no data.
 */
void
uuid9562_each_entry(Relation rel, const Key *key,
					void (*receive) (void *arg, const UuidReaderId *id, Datum data,
									 bool has_data), void *arg)
{
	OwnScan		scan = scan_entries(RelationGetRelid(rel), &uuid_reader_nothing,
									&uuid_reader_everything, AccessShareLock);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 entry",
												  ALLOCSET_DEFAULT_SIZES);
	HeapTuple	entry;

	while (HeapTupleIsValid(entry = uuid9562_next_own(&scan, ForwardScanDirection)))
	{
		MemoryContext caller = MemoryContextSwitchTo(context);
		const UuidReaderId id = entry_id(entry, RelationGetDescr(scan.rel));
		Datum		values[INDEX_MAX_KEYS];
		const bool	has_key = uuid9562_read_key(key,
												entry_key(entry, RelationGetDescr(scan.rel)),
												values);

		receive(arg, &id, has_key ? uuid9562_row_of_key(rel, key, values) : (Datum) 0, has_key);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(context);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(context);
	uuid9562_end_own(&scan);
}

/* Count the entries after an ID, up to a limit.  Set *first to the ID of the first one, if any. */
int64
uuid9562_count_entries(Oid source, UuidReaderId after, int64 limit, UuidReaderId *first)
{
	OwnScan		scan = scan_entries(source, &after, &uuid_reader_everything, AccessShareLock);
	HeapTuple	entry;
	int64		count = 0;

	while (count < limit && HeapTupleIsValid(entry =
											 uuid9562_next_own(&scan, ForwardScanDirection)))
	{
		if (count++ == 0)
			*first = entry_id(entry, RelationGetDescr(scan.rel));
		CHECK_FOR_INTERRUPTS();
	}
	uuid9562_end_own(&scan);
	return count;
}

/*
 * Delete the entries after an ID, up to *last, but at most "limit" of them.  Set *last to the ID
 * up to which they have been deleted.  Return their number.
 */
int64
uuid9562_delete_entries(Oid source, UuidReaderId after, UuidReaderId *last, int64 limit)
{
	OwnScan		scan = scan_entries(source, &after, last, RowExclusiveLock);
	HeapTuple	entry;
	int64		count = 0;

	while (HeapTupleIsValid(entry = uuid9562_next_own(&scan, ForwardScanDirection)))
	{
		uuid9562_delete_own(scan.rel, entry, false);
		if (++count == limit)
		{
			*last = entry_id(entry, RelationGetDescr(scan.rel));
			break;
		}
		CHECK_FOR_INTERRUPTS();
	}
	uuid9562_end_own(&scan);
	return count;
}
