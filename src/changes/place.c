/*
 * place.c
 *		Where this server is in its history, and whether it lacks what was read.
 */
#include "changes/changes.h"

#include "access/timeline.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"

#include "ordered/ordered.h"

/*
 * Return the end of the last WAL record that has been inserted, since XLogFlush() raises an error
 * for a later position.  GetXLogInsertRecPtr() returns the start of the next record, which is after
 * the header of a page if the last record ended at the end of the page before.
 */
static XLogRecPtr
end_of_inserted_wal(void)
{
	XLogRecPtr	next = GetXLogInsertRecPtr();

	if (XLogSegmentOffset(next, wal_segment_size) == SizeOfXLogLongPHD)
		return next - SizeOfXLogLongPHD;
	if (next % XLOG_BLCKSZ == SizeOfXLogShortPHD)
		return next - SizeOfXLogShortPHD;
	return next;
}

/*
 * Return where the active snapshot is.  Flush WAL up to there, so that a crash of this server
 * cannot lose what the snapshot sees, and record the branch of ordered IDs.
 */
Place
uuid9562_flushed_place(const char *function)
{
	Place		place = {
		.branch = uuid9562_snapshot_branch(function),
		.timeline = GetWALInsertionTimeLine(),
		.lsn = end_of_inserted_wal()
	};

	uuid9562_record_snapshot_branch(function);
	XLogFlush(place.lsn);
	return place;
}

/* Check whether the server has run since a place was read, without a crash or promotion. */
bool
uuid9562_place_is_current(const char *function, const Place *place)
{
	return place->timeline == GetWALInsertionTimeLine() &&
		place->branch == uuid9562_snapshot_branch(function);
}

/*
 * Check whether the history of this server lacks a place on a timeline.  A server that was restored
 * from a backup can be on the same timeline, and have written other WAL at the place.  So if the
 * place is of an earlier branch, it must be before the end of the last recovery.
 */
static bool
wal_is_lost(const char *function, const Place *place)
{
	TimeLineID	current = GetWALInsertionTimeLine();
	XLogRecPtr	recovered = GetXLogReplayRecPtr(NULL);
	ListCell   *cell;

	if (place->timeline == current)
		return place->lsn > GetXLogInsertRecPtr() ||
			(!XLogRecPtrIsInvalid(recovered) && place->lsn > recovered &&
			 place->branch != uuid9562_snapshot_branch(function));
	foreach(cell, readTimeLineHistory(current))
	{
		const TimeLineHistoryEntry *entry = lfirst(cell);

		if (entry->tli == place->timeline)
			return entry->end < place->lsn;
	}
	return true;
}

/*
 * Check whether this server can lack changes that a reader has read: entries up to an ID, which
 * were in WAL up to a place.  This is so if the server left the timeline before that place, for
 * example because a failover lost transactions, or if the generator of ordered IDs was reset to a
 * time before the ID.
 */
bool
uuid9562_place_is_lost(const char *function, const Place *place, UuidReaderId id)
{
	return uuid9562_branch_ended_before(function, place->branch, id.bytes) ||
		wal_is_lost(function, place);
}
