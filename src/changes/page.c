/*
 * page.c
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

static int
compare_ids(const void *a, const void *b)
{
	return memcmp(((const PageKey *) a)->id.bytes, ((const PageKey *) b)->id.bytes, UUID_BYTES);
}

/* Compare keys by their bytes, and equal keys by ID, the last one first. */
static int
compare_keys(const void *a, const void *b)
{
	const KeyBytes *x = &((const PageKey *) a)->key;
	const KeyBytes *y = &((const PageKey *) b)->key;
	int			order;

	if (x->length != y->length)
		return x->length < y->length ? -1 : 1;
	order = memcmp(x->bytes, y->bytes, x->length);
	return order != 0 ? order : compare_ids(b, a);
}

static bool
same_key(const KeyBytes *a, const KeyBytes *b)
{
	return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Keep each key once, with its last ID, in the order of the IDs. */
static void
remove_repeated_keys(ChangesPage *page)
{
	int			count = 0;

	qsort(page->keys, page->count, sizeof(PageKey), compare_keys);
	for (int i = 0; i < page->count; i++)
	{
		if (i == 0 || !same_key(&page->keys[i].key, &page->keys[count - 1].key))
			page->keys[count++] = page->keys[i];
	}
	page->count = count;
	qsort(page->keys, page->count, sizeof(PageKey), compare_ids);
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
		if ((Size) page->count == size)
			page->keys = repalloc_huge(page->keys, (size *= 2) * sizeof(PageKey));
		page->keys[page->count++] = key;
		page->end = key.id;
		CHECK_FOR_INTERRUPTS();
	}
	uuid9562_end_own(&scan);
	remove_repeated_keys(page);
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

/* Count the entries after an ID, up to a limit.  Set *first to the ID of the first one. */
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
