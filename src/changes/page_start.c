/*
 * page_start.c
 *		Where a page begins: after what the reader has confirmed, or with a reset.
 */
#include "changes/changes.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "core/kind.h"
#include "ordered/ordered.h"

#define FUNCTION	"changes_read"

/* Return the greatest ID whose entries the active snapshot sees. */
UuidReaderId
uuid9562_inclusive_horizon(const char *function)
{
	UuidReaderId id;

	uuid_layout_pack(id.bytes, UUID_V7->version, uuid9562_snapshot_horizon(function));
	return uuid_reader_id_before(id);
}

/*
 * Lose the content of pages that are out if the generator of ordered IDs was reset to a time before
 * their horizons, because the horizons of later changes can be less.
 */
void
uuid9562_lose_pages(const char *function, UuidReader *machine)
{
	for (int i = 0; i < machine->page_count; i++)
	{
		UuidReaderPage *page = &machine->pages[i];

		if (uuid9562_branch_ended_before(function, page->branch, page->horizon.bytes))
			uuid_reader_lower(machine, &page->horizon, uuid_reader_nothing);
	}
}

/*
 * Return the ID that the reader has confirmed, or nothing if it needs a reset.  If the timeline
 * has changed, the target can have applied changes that this server lacks.
 */
static UuidReaderId
start_at_confirmed(ReaderState *reader, const Source *source, UuidReaderId purged)
{
	UuidReader *machine = &reader->machine;
	const bool	is_known = uuid9562_has_identity(source, reader->identity);

	if (!is_known)
		reader->identity = source->identities[0];
	if (!is_known || reader->is_outside ||
		(!uuid_reader_id_equal(machine->confirmed, uuid_reader_nothing) &&
		 (reader->place.timeline != GetWALInsertionTimeLine() ||
		  uuid9562_place_is_lost(FUNCTION, &reader->place, machine->confirmed))))
		uuid_reader_lose(machine);
	uuid9562_lose_pages(FUNCTION, machine);
	return uuid_reader_start(machine, purged, GetCurrentTimestamp());
}

/*
 * Check whether the copy of a table counts that was made after a reset.  A crash or promotion can
 * have lost copied rows.  If the table was rewritten, a statement that took its snapshot before
 * it waited for the lock of the table, such as COPY, can have seen no rows.
 */
bool
uuid9562_reset_counts(const char *function, const UuidPagePosition *position)
{
	const Place place = {position->position.branch, position->timeline, position->lsn};

	return uuid9562_place_is_current(function, &place) &&
		position->files == uuid9562_hash_files(uuid9562_identity_source(position->identity));
}

/* Check whether changes after a given position can be missing. */
static bool
position_is_lost(const PageRequest *request, const ReaderState *reader, const Source *source,
				 UuidReaderId purged)
{
	const UuidPagePosition *given = &request->given;
	const Place place = {given->position.branch, given->timeline, given->lsn};
	const Oid	other = uuid9562_identity_source(given->identity);

	if (given->database == MyDatabaseId && other != request->relid && get_rel_name(other) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("position of table %s cannot be used for table %s", uuid9562_table_name(other), uuid9562_table_name(request->relid))));
	if (given->database != MyDatabaseId || !uuid9562_has_identity(source, given->identity) ||
		uuid_reader_is_lost(given->position.end, purged) ||
		uuid9562_place_is_lost(FUNCTION, &place, given->position.end))
		return true;
	return given->files != 0 && reader->accepted_reset != given->position.number &&
		!uuid9562_reset_counts(FUNCTION, given);
}

/* Return the ID of the position that the target has stored, or nothing if it needs a reset. */
static UuidReaderId
start_at_position(const PageRequest *request, const ReaderState *reader, const Source *source,
				  UuidReaderId purged)
{
	if (!request->has_position && reader->exists && !reader->is_outside &&
		!uuid_reader_id_equal(reader->machine.confirmed, uuid_reader_nothing))
		/* another target can have read the table as this reader */
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("position of reader \"%s\" of table %s is stored in the database", request->reader, uuid9562_table_name(request->relid)),
				 errhint("Omit \"after\" to continue at this position.  For a new target, choose another name, or call changes_forget().")));
	return request->has_position && !position_is_lost(request, reader, source, purged) ?
		request->given.position.end : uuid_reader_nothing;
}

/*
 * Find out where a page begins.  The active snapshot tells its horizon.
 */
PageStart
uuid9562_start_page(const PageRequest *request, ReaderState *reader, const Source *source)
{
	PageStart	start = {.horizon = uuid9562_inclusive_horizon(FUNCTION)};
	const UuidReaderId purged = uuid9562_purged(FUNCTION, request->relid);

	start.after = request->is_outside ? start_at_position(request, reader, source, purged) :
		start_at_confirmed(reader, source, purged);
	start.is_reset = uuid_reader_id_equal(start.after, uuid_reader_nothing);
	return start;
}

/*
 * Replace the active snapshot by a new one for a page that resets a copy.  It sees what was purged
 * before, also if the horizon has gone back a little since (ordered/horizon.c).
 */
void
uuid9562_restart_page(PageStart *start, Oid source)
{
	const Purged purged = uuid9562_load_purged(source);
	UuidReaderId id;

	PopActiveSnapshot();
	PushActiveSnapshot(GetLatestSnapshot());
	start->horizon = uuid9562_inclusive_horizon(FUNCTION);
	id = uuid9562_purged_for_readers(uuid9562_snapshot_branch(FUNCTION), purged);
	if (uuid_reader_id_less(start->horizon, id))
		start->horizon = id;
}
