/*
 * purge.c
 *		changes_purge(), and what it shares with the purge worker.
 *
 * Entries are deleted as they are written: no trigger and no rule is executed.  One session at a
 * time purges a table, and others do not wait for it.
 */
#include "changes/changes.h"

#include "miscadmin.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ordered/ordered.h"

PG_FUNCTION_INFO_V1(uuid9562_changes_purge);

/*
 * Find out up to which ID no reader needs entries.  Return false if there is nothing to purge, or
 * if a transaction in progress has read a page that resets a copy, since nobody knows yet which
 * entries its reader needs.
 *
 * Transactions that read such a page later need only entries above this ID, so the lock is released
 * at once, although the deletion comes later.
 */
static bool
find_purgeable(const char *function, Oid source, int64 reader_expiry, int64 keep,
			   UuidReaderId *after, Purged *purged)
{
	char	   *reader;

	if (!uuid9562_try_lock_entries(source))
		return false;
	PushActiveSnapshot(GetLatestSnapshot());
	*after = uuid9562_purged(function, source);
	purged->branch = uuid9562_snapshot_branch(function);
	purged->id = uuid_reader_id_min(uuid9562_inclusive_horizon(function), uuid9562_id_before(keep));
	purged->id = uuid_reader_id_min(purged->id,
									uuid9562_kept_by_readers(source, reader_expiry, &reader));
	uuid9562_record_snapshot_branch(function);
	PopActiveSnapshot();
	uuid9562_unlock_entries(source);
	return uuid_reader_id_less(*after, purged->id);
}

/*
 * Delete entries of a table that no reader needs and that are older than "keep" microseconds, at
 * most "limit" of them.  Return their number, which is 0 if another session purges the table.
 */
int64
uuid9562_purge(const char *function, Oid source, int64 reader_expiry, int64 keep, int64 limit)
{
	UuidReaderId after;
	Purged		purged;
	int64		deleted;

	if (!uuid9562_lock_purge(source) ||
		!find_purgeable(function, source, reader_expiry, keep, &after, &purged))
		return 0;
	deleted = uuid9562_delete_entries(source, after, &purged.id, limit);
	if (deleted > 0)
		uuid9562_store_purged(source, purged);
	return deleted;
}

/*
 * changes_purge(source regclass, keep interval, max_entries integer) returns bigint
 *
 * Delete entries that all readers have confirmed.  Without max_entries, delete all of them.
 */
Datum
uuid9562_changes_purge(PG_FUNCTION_ARGS)
{
	TrackingTrigger trigger;
	Interval   *keep;
	Oid			source;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 PG_ARGISNULL(0) ? errmsg("table must not be null") : errmsg("keep must not be null")));
	if (!PG_ARGISNULL(2) && PG_GETARG_INT32(2) < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value %d is out of range for max_entries", PG_GETARG_INT32(2))));
	source = PG_GETARG_OID(0);
	keep = PG_GETARG_INTERVAL_P(1);
	PreventCommandDuringRecovery("changes_purge()");
	PreventCommandIfReadOnly("changes_purge()");
	uuid9562_check_owner(source);
	trigger = uuid9562_find_trigger(source);
	PG_RETURN_INT64(uuid9562_purge("changes_purge", source, trigger.reader_expiry,
								   uuid9562_interval_micros(keep),
								   PG_ARGISNULL(2) ? PG_INT64_MAX : PG_GETARG_INT32(2)));
}
