/*
 * reader.c
 *		The rows of readers, and how far each table is purged.
 *
 * core/reader.h decides what the rows say.  A reader is locked by an object lock of the table of
 * readers, whose object is a hash of the reader's name and table.  A lock of the row would assign a
 * transaction ID and write WAL.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "ordered/ordered.h"
#include "value/value.h"

#define OUTSIDE_MARGIN	(10 * USECS_PER_MINUTE) /* time for which entries are
												 * kept for targets that store
												 * positions */

StaticAssertDecl(READER_PAGES == READER_COLUMNS, "the last column");

/* Numbers of a page in the column "pages"; an ID has two */
enum
{
	PAGE_NUMBER,
	PAGE_END,
	PAGE_HORIZON = PAGE_END + 2,
	PAGE_BRANCH = PAGE_HORIZON + 2,
	PAGE_CAP,
	PAGE_READ_AT = PAGE_CAP + 2,
	PAGE_LEASE_END,
	PAGE_IS_RESET,
	PAGE_EXPIRED,
	PAGE_NUMBERS
};

StaticAssertDecl(PAGE_NUMBERS == 12, "the view changes_readers divides by it");

/* --- locks ------------------------------------------------------------------------ */

/*
 * Hash a reader for its lock.  The seed is a secret of the server, so that nobody can choose a
 * name whose lock makes another reader wait.
 */
static uint64
hash_reader(const char *name, Oid source)
{
	uint64		seed;

	memcpy(&seed, GetMockAuthenticationNonce(), sizeof(seed));
	return hash_bytes_uint32_extended(source, hash_bytes_extended((const unsigned char *) name,
																  (int) strlen(name), seed));
}

/*
 * Lock a reader until the transaction ends.  If "wait" is false, return whether this was
 * possible.  See uuid9562_lock_and_load_reader().
 */
bool
uuid9562_lock_reader(const char *name, Oid source, bool wait)
{
	const Oid	table = uuid9562_own_table("reader");
	const uint64 hash = hash_reader(name, source);

	if (!wait)
		return ConditionalLockDatabaseObject(table, (Oid) hash, (uint16) (hash >> 32),
											 ExclusiveLock);
	LockDatabaseObject(table, (Oid) hash, (uint16) (hash >> 32), ExclusiveLock);
	return true;
}

/* Release the lock of a reader that the transaction has not changed. */
void
uuid9562_unlock_reader(const char *name, Oid source)
{
	const uint64 hash = hash_reader(name, source);

	UnlockDatabaseObject(uuid9562_own_table("reader"), (Oid) hash, (uint16) (hash >> 32),
						 ExclusiveLock);
}

/* --- rows ------------------------------------------------------------------------- */

static void
read_pages(UuidReader *machine, ArrayType *array)
{
	const uint64 *numbers = array_elements(array);

	machine->page_count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) / PAGE_NUMBERS;
	if (machine->page_count > UUID_READER_PAGES_MAX)
		elog(ERROR, "a reader has %d pages", machine->page_count);
	for (int i = 0; i < machine->page_count; i++, numbers += PAGE_NUMBERS)
		machine->pages[i] = (UuidReaderPage)
	{
		.number = numbers[PAGE_NUMBER],
			.end = uuid_reader_id_from_words(&numbers[PAGE_END]),
			.horizon = uuid_reader_id_from_words(&numbers[PAGE_HORIZON]),
			.branch = numbers[PAGE_BRANCH],
			.cap = uuid_reader_id_from_words(&numbers[PAGE_CAP]),
			.read_at = (int64) numbers[PAGE_READ_AT],
			.lease_end = (int64) numbers[PAGE_LEASE_END],
			.is_reset = numbers[PAGE_IS_RESET] != 0,
			.expired = numbers[PAGE_EXPIRED] != 0,
	};
}

static Datum
pages_datum(const UuidReader *machine)
{
	uint64		numbers[PAGE_NUMBERS];
	Datum		elements[UUID_READER_PAGES_MAX * PAGE_NUMBERS];
	int			count = 0;

	for (int i = 0; i < machine->page_count; i++)
	{
		const UuidReaderPage *page = &machine->pages[i];

		numbers[PAGE_NUMBER] = page->number;
		uuid_reader_id_to_words(&numbers[PAGE_END], page->end);
		uuid_reader_id_to_words(&numbers[PAGE_HORIZON], page->horizon);
		numbers[PAGE_BRANCH] = page->branch;
		uuid_reader_id_to_words(&numbers[PAGE_CAP], page->cap);
		numbers[PAGE_READ_AT] = (uint64) page->read_at;
		numbers[PAGE_LEASE_END] = (uint64) page->lease_end;
		numbers[PAGE_IS_RESET] = page->is_reset;
		numbers[PAGE_EXPIRED] = page->expired;
		for (int j = 0; j < PAGE_NUMBERS; j++)
			elements[count++] = Int64GetDatum((int64) numbers[j]);
	}
	return PointerGetDatum(construct_array_builtin(elements, count, INT8OID));
}

/* Read a row of the table of readers. */
static void
read_row(ReaderState *reader, HeapTuple row, TupleDesc desc)
{
	Datum		values[READER_COLUMNS];
	bool		nulls[READER_COLUMNS];

	heap_deform_tuple(row, desc, values, nulls);
	memset(reader, 0, sizeof(ReaderState));
	reader->exists = true;
	reader->name = TextDatumGetCString(values[READER_NAME - 1]);
	reader->source = DatumGetObjectId(values[READER_SOURCE - 1]);
	reader->owner = DatumGetObjectId(values[READER_OWNER - 1]);
	memcpy(reader->identity.bytes, DatumGetPointer(values[READER_IDENTITY - 1]), UUID_BYTES);
	if (!nulls[READER_CONFIRMED - 1])
		memcpy(reader->machine.confirmed.bytes, DatumGetPointer(values[READER_CONFIRMED - 1]),
			   UUID_BYTES);
	reader->accepted_reset = (uint64) DatumGetInt64(values[READER_ACCEPTED_RESET - 1]);
	reader->place.branch = (uint64) DatumGetInt64(values[READER_BRANCH - 1]);
	reader->place.timeline = (uint32) DatumGetInt64(values[READER_TIMELINE - 1]);
	reader->place.lsn = (XLogRecPtr) DatumGetInt64(values[READER_LSN - 1]);
	reader->seen = DatumGetTimestampTz(values[READER_SEEN - 1]);
	reader->is_outside = DatumGetBool(values[READER_IS_OUTSIDE - 1]);
	read_pages(&reader->machine, DatumGetArrayTypeP(values[READER_PAGES - 1]));
}

static OwnScan
scan_reader(const char *name, Oid source, LOCKMODE mode)
{
	ScanKeyData keys[2];

	ScanKeyInit(&keys[0], READER_NAME, BTEqualStrategyNumber, F_TEXTEQ, CStringGetTextDatum(name));
	ScanKeyInit(&keys[1], READER_SOURCE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(source));
	return uuid9562_scan_own("reader", mode, OidIsValid(source) ? 2 : 1, keys);
}

/* Load the row of a reader.  If there is none, set the values of a new reader. */
void
uuid9562_load_reader(ReaderState *reader, const char *name, Oid source)
{
	OwnScan		scan = scan_reader(name, source, AccessShareLock);
	HeapTuple	row = uuid9562_next_own(&scan, ForwardScanDirection);

	if (HeapTupleIsValid(row))
		read_row(reader, row, RelationGetDescr(scan.rel));
	else
	{
		memset(reader, 0, sizeof(ReaderState));
		reader->name = pstrdup(name);
		reader->source = source;
		reader->owner = GetUserId();
	}
	uuid9562_end_own(&scan);
}

bool
uuid9562_reader_exists(const char *name)
{
	OwnScan		scan = scan_reader(name, InvalidOid, AccessShareLock);
	const bool	exists = HeapTupleIsValid(uuid9562_next_own(&scan, ForwardScanDirection));

	uuid9562_end_own(&scan);
	return exists;
}

/* Read the next reader of a table in a scan of all readers.  Return false after the last one. */
static bool
next_reader_of(OwnScan *scan, Oid source, ReaderState *reader)
{
	HeapTuple	row;

	while (HeapTupleIsValid(row = uuid9562_next_own(scan, ForwardScanDirection)))
	{
		bool		isnull;

		CHECK_FOR_INTERRUPTS();
		if (DatumGetObjectId(heap_getattr(row, READER_SOURCE, RelationGetDescr(scan->rel),
										  &isnull)) != source)
			continue;
		read_row(reader, row, RelationGetDescr(scan->rel));
		return true;
	}
	return false;
}

/* Remove a reader that the caller has locked. */
void
uuid9562_remove_reader(const char *name, Oid source)
{
	OwnScan		scan = scan_reader(name, source, RowExclusiveLock);
	HeapTuple	row;

	while (HeapTupleIsValid(row = uuid9562_next_own(&scan, ForwardScanDirection)))
		uuid9562_delete_own(scan.rel, row, true);
	uuid9562_end_own(&scan);
	CommandCounterIncrement();
}

/* Store a reader that the caller has locked. */
void
uuid9562_store_reader(const ReaderState *reader)
{
	const bool	is_unknown = uuid_reader_id_equal(reader->machine.confirmed, uuid_reader_nothing);
	Relation	rel;
	Datum		values[READER_COLUMNS];
	bool		nulls[READER_COLUMNS] = {false};

	if (reader->exists)
		uuid9562_remove_reader(reader->name, reader->source);
	values[READER_NAME - 1] = CStringGetTextDatum(reader->name);
	values[READER_SOURCE - 1] = ObjectIdGetDatum(reader->source);
	values[READER_OWNER - 1] = ObjectIdGetDatum(reader->owner);
	values[READER_IDENTITY - 1] = reader_id_datum(&reader->identity);
	values[READER_CONFIRMED - 1] = reader_id_datum(&reader->machine.confirmed);
	nulls[READER_CONFIRMED - 1] = is_unknown;
	values[READER_ACCEPTED_RESET - 1] = Int64GetDatum((int64) reader->accepted_reset);
	values[READER_BRANCH - 1] = Int64GetDatum((int64) reader->place.branch);
	values[READER_TIMELINE - 1] = Int64GetDatum((int64) reader->place.timeline);
	values[READER_LSN - 1] = Int64GetDatum((int64) reader->place.lsn);
	values[READER_SEEN - 1] = TimestampTzGetDatum(reader->seen);
	values[READER_IS_OUTSIDE - 1] = BoolGetDatum(reader->is_outside);
	values[READER_PAGES - 1] = pages_datum(&reader->machine);
	rel = uuid9562_open_own("reader", RowExclusiveLock);
	uuid9562_insert_own(rel, values, nulls);
	table_close(rel, NoLock);
	CommandCounterIncrement();
}

/*
 * Remove all readers of a table.  If "wait" is false, keep those that other sessions have locked.
 *
 * Readers that other sessions are about to commit stay; a caller who cannot have that has locked
 * the table.  If a reader was stored again while its lock was waited for, uuid9562_remove_reader()
 * finds the new row, because it looks it up again.
 */
void
uuid9562_remove_readers(Oid source, bool wait)
{
	OwnScan		scan = uuid9562_scan_own("reader", RowExclusiveLock, 0, NULL);
	ReaderState *reader = palloc(sizeof(ReaderState));

	while (next_reader_of(&scan, source, reader))
	{
		if (uuid9562_lock_reader(reader->name, source, wait))
			uuid9562_remove_reader(reader->name, source);
	}
	uuid9562_end_own(&scan);
}

/* --- purging ---------------------------------------------------------------------- */

static OwnScan
scan_purged(Oid source, LOCKMODE mode)
{
	ScanKeyData key;

	ScanKeyInit(&key, PURGED_SOURCE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(source));
	return uuid9562_scan_own("purged", mode, 1, &key);
}

/* Load the ID up to which entries of a table can have been deleted. */
Purged
uuid9562_load_purged(Oid source)
{
	OwnScan		scan = scan_purged(source, AccessShareLock);
	HeapTuple	row = uuid9562_next_own(&scan, ForwardScanDirection);
	Purged		purged = {uuid_reader_nothing, 0};

	if (HeapTupleIsValid(row))
	{
		Datum		values[PURGED_COLUMNS];
		bool		nulls[PURGED_COLUMNS];

		heap_deform_tuple(row, RelationGetDescr(scan.rel), values, nulls);
		memcpy(purged.id.bytes, DatumGetPointer(values[PURGED_ID - 1]), UUID_BYTES);
		purged.branch = (uint64) DatumGetInt64(values[PURGED_BRANCH - 1]);
	}
	uuid9562_end_own(&scan);
	return purged;
}

/*
 * Return up to which ID entries can have been deleted of those that readers on the current branch
 * can need.  If the generator was reset to an earlier time since, these readers need all entries
 * after the reset, and no others.
 */
UuidReaderId
uuid9562_purged_for_readers(uint64 current, Purged purged)
{
	UuidReaderId end;

	if (uuid_reader_id_equal(purged.id, uuid_reader_nothing))
		return purged.id;
	uuid9562_branch_end(current, purged.branch, end.bytes);
	if (uuid_reader_id_less(purged.id, end))
		return purged.id;
	return uuid_reader_id_equal(end, uuid_reader_nothing) ? end : uuid_reader_id_before(end);
}

/* Return the same for a table, and the branch of the active snapshot. */
UuidReaderId
uuid9562_purged(const char *function, Oid source)
{
	return uuid9562_purged_for_readers(uuid9562_snapshot_branch(function),
									   uuid9562_load_purged(source));
}

/*
 * Set the ID up to which entries of a table have been deleted.  A caller who has deleted entries
 * has also called uuid9562_lock_purge().
 */
void
uuid9562_store_purged(Oid source, Purged purged)
{
	OwnScan		scan = scan_purged(source, RowExclusiveLock);
	Datum		values[PURGED_COLUMNS] = {
		ObjectIdGetDatum(source), reader_id_datum(&purged.id), Int64GetDatum((int64) purged.branch)
	};
	bool		nulls[PURGED_COLUMNS] = {false};
	HeapTuple	row;

	while (HeapTupleIsValid(row = uuid9562_next_own(&scan, ForwardScanDirection)))
		uuid9562_delete_own(scan.rel, row, true);
	if (!uuid_reader_id_equal(purged.id, uuid_reader_nothing))
		uuid9562_insert_own(scan.rel, values, nulls);
	uuid9562_end_own(&scan);
	CommandCounterIncrement();
}

/* Return the ID before the entries of the last microseconds. */
UuidReaderId
uuid9562_id_before(int64 microseconds)
{
	const int64 unix_micros = timestamptz_to_unix_micros(GetCurrentTimestamp()) - microseconds;
	UuidPayload first = {0, 0};
	UuidReaderId id = uuid_reader_nothing;

	if (uuid_clock_micros_ticks(UUID_V7->clock, unix_micros, &first.time))
		uuid_layout_pack(id.bytes, UUID_V7->version, first);
	return id;
}

/*
 * Return the ID up to which no reader needs the entries of a table, and the name of the reader
 * that needs the next ones, or NULL.  Readers that have expired need none.  A target that stores
 * a position can lose its last transactions, and continue at an earlier position, so it needs the
 * last entries.
 */
UuidReaderId
uuid9562_kept_by_readers(Oid source, int64 reader_expiry, char **name)
{
	const TimestampTz now = GetCurrentTimestamp();
	OwnScan		scan = uuid9562_scan_own("reader", AccessShareLock, 0, NULL);
	ReaderState *reader = palloc(sizeof(ReaderState));
	UuidReaderId keep = uuid_reader_everything;

	*name = NULL;
	while (next_reader_of(&scan, source, reader))
	{
		UuidReaderId needed = uuid_reader_keep(&reader->machine, now, reader_expiry);

		if (reader->is_outside)
			needed = uuid_reader_id_min(needed, uuid9562_id_before(OUTSIDE_MARGIN));
		if (uuid_reader_later(reader->seen, reader_expiry, 1) < now ||
			!uuid_reader_id_less(needed, keep))
			continue;
		keep = needed;
		*name = reader->name;
	}
	uuid9562_end_own(&scan);
	return keep;
}
