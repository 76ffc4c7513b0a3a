/*
 * confirm.c
 *		changes_done(), and the pages that the transaction in progress has read.
 */
#include "changes/changes.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ordered/ordered.h"

PG_FUNCTION_INFO_V1(uuid9562_changes_done);

#define FUNCTION	"changes_done"

/* --- pages of this transaction ---------------------------------------------------- */

/*
 * Of PageRead, in TopTransactionContext, in the order of the subtransactions: those of a
 * subtransaction come after those of its parent.
 */
static List *pages;

/* Return the page that a subtransaction has read, or NULL. */
static PageRead *
find_read(const char *reader, Oid source, SubTransactionId subtransaction)
{
	ListCell   *cell;

	foreach(cell, pages)
	{
		PageRead   *page = lfirst(cell);

		if (page->source == source && page->subtransaction == subtransaction &&
			strcmp(page->reader, reader) == 0)
			return page;
	}
	return NULL;
}

/*
 * Remember a page, so that changes_done() can confirm it without a position.  NULL stands for an
 * empty page.  If a subtransaction rolls back, the page that it has read is forgotten, but no
 * earlier one.
 */
void
uuid9562_remember_page(const char *reader, Oid source, const UuidPagePosition *position)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	PageRead   *page = find_read(reader, source, GetCurrentSubTransactionId());

	if (page == NULL)
	{
		page = palloc0(sizeof(PageRead));
		page->reader = pstrdup(reader);
		page->source = source;
		page->subtransaction = GetCurrentSubTransactionId();
		pages = lappend(pages, page);
	}
	page->is_done = position == NULL;
	page->done_by = InvalidSubTransactionId;
	if (position != NULL)
		page->position = *position;
	MemoryContextSwitchTo(caller);
}

/* Return the last page that a reader has read of each table in this transaction. */
static List *
pages_read(const char *reader)
{
	List	   *last = NIL;
	ListCell   *cell;
	ListCell   *other;

	foreach(cell, pages)
	{
		PageRead   *page = lfirst(cell);

		if (strcmp(page->reader, reader) != 0)
			continue;
		foreach(other, last)
		{
			if (((PageRead *) lfirst(other))->source == page->source)
				last = foreach_delete_current(last, other);
		}
		last = lappend(last, page);
	}
	return last;
}

/* Forget the pages of a transaction that ends, whose memory is freed. */
void
uuid9562_forget_pages(void)
{
	pages = NIL;
}

/*
 * Give the pages of a subtransaction that commits to its parent, or forget those of one that rolls
 * back.
 */
void
uuid9562_end_reading(bool is_commit, SubTransactionId ended, SubTransactionId parent)
{
	ListCell   *cell;

	foreach(cell, pages)
	{
		PageRead   *page = lfirst(cell);
		PageRead   *of_parent;

		if (page->done_by == ended)
		{
			page->is_done &= is_commit;
			page->done_by = parent;
		}
		if (page->subtransaction != ended)
			continue;
		if (!is_commit)
		{
			pages = foreach_delete_current(pages, cell);
			continue;
		}
		of_parent = find_read(page->reader, page->source, parent);
		page->subtransaction = parent;
		if (of_parent != NULL)
		{
			*of_parent = *page;
			pages = foreach_delete_current(pages, cell);
		}
	}
}

/* --- confirmation ----------------------------------------------------------------- */

pg_noreturn static void
report_unknown_reader(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_OBJECT),
			 errmsg("reader \"%s\" does not exist", name)));
}

/*
 * Return the page that the transaction has read as a reader, or NULL if there is nothing to
 * confirm.
 */
static PageRead *
find_page(const char *name)
{
	List	   *read = pages_read(name);

	if (list_length(read) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_PARAMETER),
				 errmsg("transaction has read more than one table as reader \"%s\"", name),
				 errhint("Pass the position of the last change that has been applied.")));
	if (read == NIL && !uuid9562_reader_exists(name))
		report_unknown_reader(name);
	if (read == NIL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this transaction has not read a page of reader \"%s\"", name),
				 errdetail("Another transaction can have read the last page."),
				 errhint("Call changes_read() and changes_done() in one transaction, or pass the position of the last change that has been applied.")));
	return ((PageRead *) linitial(read))->is_done ? NULL : linitial(read);
}

/* Lock and load the reader of a position. */
static void
load_reader_of(ReaderState *reader, const char *name, Oid source)
{
	if (get_rel_name(source) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", source)));
	uuid9562_lock_and_load_reader(reader, name, source);
	if (!reader->exists && !uuid9562_reader_exists(name))
		report_unknown_reader(name);
	if (!reader->exists)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("reader \"%s\" has not read table %s", name, uuid9562_table_name(source))));
}

/* Warn that a page was not confirmed, but is delivered again in part. */
static void
warn_unless_confirmed(const ReaderState *reader, UuidReaderResult result)
{
	if (result == UUID_READER_CONFIRMED)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_WARNING),
			 errmsg("page of reader \"%s\" of table %s cannot be confirmed", reader->name,
					uuid9562_table_name(reader->source)),
			 result == UUID_READER_LOST ?
			 errdetail("The table was altered or rewritten, the server was restarted, or log entries were purged after the page was read. The next page is \"reset\".") :
			 errdetail("It was confirmed before, or its read was rolled back. Changes that were made after it was read are delivered again."),
			 result == UUID_READER_LOST ? 0 :
			 errhint("Commit the transaction that reads a page before you apply the page elsewhere.")));
}

/* Confirm a page up to a position. */
static void
confirm(ReaderState *reader, const UuidPagePosition *given)
{
	const Place place = {given->position.branch, given->timeline, given->lsn};
	const UuidReaderId before = reader->machine.confirmed;
	UuidReaderPosition position = given->position;
	UuidReaderResult result;

	/* another identity has other entries */
	if (!uuid_reader_id_equal(given->identity, reader->identity) ||
		(given->files != 0 && !uuid9562_reset_counts(FUNCTION, given)) ||
		uuid9562_branch_ended_before(FUNCTION, position.branch, position.horizon.bytes))
		position.horizon = uuid_reader_nothing;
	uuid9562_lose_pages(FUNCTION, &reader->machine);
	result = uuid_reader_done(&reader->machine, &position,
							  uuid9562_purged(FUNCTION, reader->source), GetCurrentTimestamp());
	if (!uuid_reader_id_equal(before, reader->machine.confirmed) && result == UUID_READER_CONFIRMED)
		reader->place = place;
	if (given->files != 0 && result == UUID_READER_CONFIRMED)
		reader->accepted_reset = position.number;
	if (reader->machine.changed)
	{
		reader->seen = GetCurrentTimestamp();
		uuid9562_store_reader(reader);
		uuid9562_note_purge(true);
	}
	warn_unless_confirmed(reader, result);
}

/*
 * changes_done(reader text, "position" text DEFAULT NULL)
 *
 * Confirm that a reader has applied the changes of a page up to a position.  Without a position,
 * confirm the page that this transaction has read.
 */
Datum
uuid9562_changes_done(PG_FUNCTION_ARGS)
{
	const char *name = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0));
	ReaderState *reader = palloc(sizeof(ReaderState));
	PageRead   *page = NULL;
	UuidPagePosition position;

	uuid9562_check_reader_name(name);
	PreventCommandDuringRecovery(FUNCTION "()");
	PreventCommandIfReadOnly(FUNCTION "()");
	if (PG_ARGISNULL(1))
	{
		page = find_page(name);
		if (page == NULL)
			PG_RETURN_VOID();
		position = page->position;
	}
	else
		uuid9562_read_position(&position, PG_GETARG_TEXT_PP(1));
	if (position.database != MyDatabaseId)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("position is that of a page of another database"),
				 errhint("Confirm a page in the database in which it was read.")));
	load_reader_of(reader, name, uuid9562_identity_source(position.identity));
	if (reader->is_outside)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("reader \"%s\" passes its position to changes_read()", name),
				 errhint("Let the target store the position, and pass it as \"after\".")));
	/* confirm() compares the branch of the generator that a snapshot captures */
	PushActiveSnapshot(GetLatestSnapshot());
	confirm(reader, &position);
	PopActiveSnapshot();
	if (page != NULL)
	{
		page->is_done = true;
		page->done_by = GetCurrentSubTransactionId();
	}
	PG_RETURN_VOID();
}
