/*
 * read.c
 *		changes_read(): a page of changed rows of a tracked table.
 *
 * The steps are: check the arguments and the privileges, lock the table and the reader, take a
 * new snapshot, compare the table with its remembered states, find out where to continue, read
 * entries, fetch their rows, and remember the page.
 *
 * If the caller passes a position, the target compares positions.  Then no page is remembered,
 * and the reader's row only prevents that entries are purged.
 */
#include "changes/changes.h"

#include "access/table.h"
#include "access/xact.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "ordered/ordered.h"
#include "runtime/runtime.h"

PG_FUNCTION_INFO_V1(uuid9562_changes_read);
PG_FUNCTION_INFO_V1(uuid9562_changes_entries);

#define FUNCTION		"changes_read"
#define SEEN_MAX		USECS_PER_HOUR	/* how old "seen" can be after empty
										 * pages */
#define RECORD_MAX		USECS_PER_MINUTE	/* how old a position that the
											 * target stores can be in the
											 * reader's row */

/* The result of the function */
typedef struct PageResult
{
	ReturnSetInfo *set;
	UuidPagePosition position;	/* of the next row */
} PageResult;

/* --- remembering ------------------------------------------------------------------ */

/*
 * Check whether a time is old enough to be stored again.  A reader must be seen several times
 * before it expires.
 */
static bool
is_older(TimestampTz time, int64 microseconds, int64 reader_expiry)
{
	return uuid_reader_later(time, Min(microseconds, reader_expiry / 10),
							 1) <= GetCurrentTimestamp();
}

/* Store the reader after a page.  An empty page writes nothing, unless the reader must be seen. */
static bool
remember_confirmed(const PageRequest *request, ReaderState *reader, const Source *source,
				   const UuidPagePosition *page)
{
	if (page != NULL)
		uuid_reader_add_page(&reader->machine, &page->position, page->files != 0,
							 GetCurrentTimestamp(), request->lease);
	if (!reader->machine.changed && !is_older(reader->seen, SEEN_MAX, source->reader_expiry))
		return false;
	reader->seen = GetCurrentTimestamp();
	reader->is_outside = false;
	uuid9562_store_reader(reader);
	return true;
}

/*
 * Record that a target has stored a position, at most once a minute, so that entries before it
 * can be purged.  Record a reset, an earlier position and a new reader at once.
 */
static void
record_position(const PageRequest *request, const Source *source, const PageStart *start)
{
	ReaderState reader;
	const bool	accepts_reset = request->has_position && request->given.files != 0 &&
		!start->is_reset;

	uuid9562_load_reader(&reader, request->reader, request->relid);
	if (XactReadOnly ||
		(reader.exists && reader.is_outside && !start->is_reset &&
		 uuid9562_has_identity(source, reader.identity) &&
		 (!accepts_reset || reader.accepted_reset == request->given.position.number) &&
		 !uuid_reader_id_less(start->after, reader.machine.confirmed) &&
		 !is_older(reader.seen, RECORD_MAX, source->reader_expiry)))
		return;
	uuid9562_lock_and_load_reader(&reader, request->reader, request->relid);
	reader.identity = request->has_position &&
		!start->is_reset ? request->given.identity : source->identities[0];
	reader.is_outside = true;
	reader.machine.page_count = 0;
	reader.machine.confirmed = start->is_reset ? start->horizon : start->after;
	reader.accepted_reset = accepts_reset ? request->given.position.number : 0;
	reader.seen = GetCurrentTimestamp();
	uuid9562_store_reader(&reader);
	uuid9562_note_purge(true);
}

/* --- result ----------------------------------------------------------------------- */

static void
put_row(PageResult *result, const char *change_type, Datum data, bool has_data)
{
	char		position[UUID_PAGE_POSITION_LENGTH + 1];
	Datum		values[3];
	bool		nulls[3] = {false, !has_data, false};

	uuid_page_position_write(&result->position, position);
	values[0] = CStringGetTextDatum(change_type);
	values[1] = data;
	values[2] = CStringGetTextDatum(position);
	tuplestore_putvalues(result->set->setResult, result->set->setDesc, values, nulls);
}

/*
 * Set the place of a page.  The active snapshot is that of its rows, so that WAL is flushed up to
 * all that they contain.
 */
static void
set_place(void *arg)
{
	UuidPagePosition *position = &((PageResult *) arg)->position;
	const Place place = uuid9562_flushed_place(FUNCTION);

	/* after a reset of the generator, entries can have IDs before the horizon */
	if (place.branch != position->position.branch)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("the generator of ordered IDs was reset while changes were read"),
				 errhint("Call changes_read() again.")));
	position->timeline = place.timeline;
	position->lsn = place.lsn;
}

/* Add a changed row to the result; a RowReceiver. */
static void
put_change(void *arg, bool is_delete, Datum data, UuidReaderId end)
{
	PageResult *result = arg;

	result->position.position.end = end;
	put_row(result, is_delete ? "delete" : "upsert", data, true);
}

static uint64
draw_number(void)
{
	uint64		number;

	do
		number = random_bits();
	while (number == UUID_READER_NO_NUMBER);
	return number;
}

/* Read the entries of a page.  Return whether the reader must copy the table instead. */
static bool
read_entries(const PageRequest *request, const Source *source, const PageStart *start,
			 ChangesPage *page)
{
	if (start->is_reset)
		return true;
	uuid9562_read_page(source, start->after, start->horizon, request->limit, page);

	/*
	 * Entries can have been purged since the start was found, if the reader
	 * had expired.  An empty page would say that the copy has the rows of new
	 * partitions, whose keys this transaction logs when it commits.
	 */
	return page->is_reset ||
		uuid_reader_is_lost(start->after, uuid9562_purged(FUNCTION, request->relid)) ||
		(page->count == 0 && start->has_added_rows);
}

/*
 * Return the rows of a page that begins at a position.  Return false if it is empty, and
 * otherwise set the position of the page.
 */
static bool
put_page(const PageRequest *request, const ReaderState *reader, const Source *source, Relation rel,
		 const PageStart *start, PageResult *result)
{
	UuidPagePosition *position = &result->position;
	ChangesPage page = {0};
	const bool	is_reset = read_entries(request, source, start, &page);

	if (is_reset)
		page.end = start->horizon;
	else if (page.count == 0)
		return false;
	position->database = MyDatabaseId;
	if (!request->is_outside)
		position->identity = reader->identity;
	else
		position->identity = start->is_reset ? source->identities[0] : request->given.identity;
	position->files = is_reset ? source->files : 0;
	position->position.number = draw_number();
	position->position.horizon = start->horizon;
	position->position.end = page.end;
	if (is_reset)
	{
		set_place(result);
		put_row(result, "reset", (Datum) 0, false);
	}
	else
		uuid9562_fetch_rows(rel, source, &page, set_place, put_change, result);
	position->position.end = page.end;
	return true;
}

/*
 * Read a page with the latest snapshot.  Return false if it is empty.
 */
static bool
read_page(const PageRequest *request, ReaderState *reader, Relation rel, PageStart *start,
		  Source **source, PageResult *result)
{
	UuidReaderPosition *position = &result->position.position;
	const bool	has_added_rows = start->has_added_rows;
	bool		has_rows;

	PushActiveSnapshot(GetLatestSnapshot());
	position->branch = uuid9562_snapshot_branch(FUNCTION);
	*source = uuid9562_verify_source(rel, position->branch);
	uuid9562_check_own_changes(*source);
	*start = uuid9562_start_page(request, reader, *source);
	start->has_added_rows = has_added_rows || (*source)->has_added_rows;
	if (start->is_reset)
	{
		/* nobody knows yet that this reader needs entries from now on */
		uuid9562_lock_entries_shared(request->relid);
		uuid9562_restart_page(start, request->relid);
		position->branch = uuid9562_snapshot_branch(FUNCTION);
	}
	has_rows = put_page(request, reader, *source, rel, start, result);
	PopActiveSnapshot();
	return has_rows;
}

/*
 * Check whether a page, or the copy after it, can have rows that the compared state of the table
 * does not tell about: those of a partition that was attached, or of a type that was altered, while
 * the page waited for a lock.
 */
static bool
has_changed_since(Source *source, Relation rel, PageStart *start)
{
	const uint64 hash = source->hash;

	AcceptInvalidationMessages();
	if (source->valid)
		return false;
	PushActiveSnapshot(GetLatestSnapshot());
	(void) uuid9562_verify_source(rel, uuid9562_snapshot_branch(FUNCTION));
	PopActiveSnapshot();
	start->has_added_rows |= source->has_added_rows;
	return source->hash != hash;
}

/*-
 * changes_read(reader text, source anyelement, page integer, after text, lease interval,
 *				OUT change_type text, OUT data anyelement, OUT change_position text)
 *		returns SETOF record
 */
Datum
uuid9562_changes_read(PG_FUNCTION_ARGS)
{
	PageRequest request;
	ReaderState *reader = palloc(sizeof(ReaderState));
	PageResult	result = {.set = (ReturnSetInfo *) fcinfo->resultinfo};
	PageStart	start = {0};
	Source	   *source;
	Relation	rel;
	bool		has_rows;

	uuid9562_read_request(fcinfo, &request);
	uuid9562_check_transaction();
	InitMaterializedSRF(fcinfo, 0);
	rel = uuid9562_open_source(request.relid);
	uuid9562_check_row_type(rel);
	if (request.is_outside)
	{
		uuid9562_load_reader(reader, request.reader, request.relid);
		uuid9562_check_reader_role(reader);
	}
	else
	{
		PreventCommandIfReadOnly(FUNCTION "()");
		uuid9562_lock_and_load_reader(reader, request.reader, request.relid);
	}
	has_rows = read_page(&request, reader, rel, &start, &source, &result);
	while (has_changed_since(source, rel, &start))
	{
		CHECK_FOR_INTERRUPTS();
		tuplestore_clear(result.set->setResult);
		uuid9562_load_reader(reader, request.reader, request.relid);
		has_rows = read_page(&request, reader, rel, &start, &source, &result);
	}

	if (request.is_outside)
		record_position(&request, source, &start);
	else
	{
		const UuidPagePosition *page = has_rows ? &result.position : NULL;

		uuid9562_remember_page(request.reader, request.relid, page);
		if (!remember_confirmed(&request, reader, source, page))
			uuid9562_unlock_reader(request.reader, request.relid);
	}
	table_close(rel, NoLock);
	return (Datum) 0;
}

/* --- entries ---------------------------------------------------------------------- */

/* Add an entry to the result of changes_entries(). */
static void
put_entry(void *arg, const UuidReaderId *id, Datum data, bool has_data)
{
	ReturnSetInfo *set = arg;
	Datum		values[2] = {reader_id_datum(id), data};
	bool		nulls[2] = {false, !has_data};

	tuplestore_putvalues(set->setResult, set->setDesc, values, nulls);
}

/*
 * changes_entries(source anyelement, OUT change_id uuid, OUT data anyelement) returns SETOF record
 *
 * Return the entries of a table that are in the log, with the key of each as a row of the table.
 */
Datum
uuid9562_changes_entries(PG_FUNCTION_ARGS)
{
	const Oid	type = get_fn_expr_argtype(fcinfo->flinfo, 0);
	Relation	rel = uuid9562_open_source(uuid9562_row_type_relation(type));
	TableTriggers triggers;
	Key			key;

	InitMaterializedSRF(fcinfo, 0);
	uuid9562_check_row_type(rel);
	uuid9562_scan_triggers(RelationGetRelid(rel), RelationGetRelid(rel), &triggers);
	if (triggers.roots == 0)
		uuid9562_not_tracked(RelationGetRelid(rel));
	uuid9562_primary_key(RelationGetRelid(rel), &key);
	uuid9562_each_entry(rel, &key, put_entry, fcinfo->resultinfo);
	table_close(rel, NoLock);
	return (Datum) 0;
}
