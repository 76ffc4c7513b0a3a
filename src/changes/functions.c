/*
 * functions.c
 *		The functions of the log of changes that need C: changes_log_trigger(),
 *		changes_log_rows(), changes_is_log(), changes_verified(), changes_register(),
 *		changes_delete(), changes_place(), changes_is_lost().
 *
 * The install script has the functions that users call.  They are written in PL/pgSQL, and run with
 * the rights of their caller.
 */
#include "changes/changes.h"

#include "access/genam.h"
#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/timeline.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xlogrecovery.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ordered/ordered.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_changes_log_trigger);
PG_FUNCTION_INFO_V1(uuid9562_changes_log_rows);
PG_FUNCTION_INFO_V1(uuid9562_changes_is_log);
PG_FUNCTION_INFO_V1(uuid9562_changes_verified);
PG_FUNCTION_INFO_V1(uuid9562_changes_register);
PG_FUNCTION_INFO_V1(uuid9562_changes_delete);
PG_FUNCTION_INFO_V1(uuid9562_changes_place);
PG_FUNCTION_INFO_V1(uuid9562_changes_is_lost);

/* --- entries ------------------------------------------------------------------------ */

/*
 * changes_log_trigger() returns trigger
 *
 * AFTER INSERT OR UPDATE OR DELETE FOR EACH ROW: collect the keys of the old and the new row.
 * AFTER TRUNCATE: collect that any row can have changed.
 * AFTER DELETE FOR EACH STATEMENT, on a log: record that the log lacks entries.
 */
Datum
uuid9562_changes_log_trigger(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	const TableLogs *logs;
	bool		truncate;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "changes_log_trigger")));
	if (TRIGGER_FIRED_AFTER(data->tg_event) && TRIGGER_FIRED_FOR_STATEMENT(data->tg_event) &&
		TRIGGER_FIRED_BY_DELETE(data->tg_event))
	{
		uuid9562_record_missing(uuid9562_changes_catalog(), RelationGetRelid(data->tg_relation));
		return PointerGetDatum(NULL);
	}
	truncate = TRIGGER_FIRED_BY_TRUNCATE(data->tg_event);
	if (!TRIGGER_FIRED_AFTER(data->tg_event) ||
		(!TRIGGER_FIRED_FOR_ROW(data->tg_event) && !truncate))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be fired AFTER ROW or AFTER TRUNCATE", "changes_log_trigger"),
				 errhint("Create the trigger with changes_track().")));

	logs = uuid9562_logs_of_table(RelationGetRelid(data->tg_relation));
	if (logs->count > 0)
		uuid9562_collect(logs, truncate ? NULL : data->tg_trigtuple,
						 TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple : NULL,
						 RelationGetDescr(data->tg_relation));
	return PointerGetDatum(NULL);
}

/*
 * changes_log_rows(relation regclass)
 *
 * Collect the keys of all rows of a table or partition that the statement's snapshot sees.
 */
Datum
uuid9562_changes_log_rows(PG_FUNCTION_ARGS)
{
	Relation	rel = table_open(PG_GETARG_OID(0), AccessShareLock);
	const TableLogs *logs = uuid9562_logs_of_table(RelationGetRelid(rel));
	MemoryContext context;
	MemoryContext caller;
	TupleTableSlot *slot;
	TableScanDesc scan;

	if (rel->rd_rel->relkind != RELKIND_RELATION)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table with rows of its own", RelationGetRelationName(rel))));
	context = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 keys of a row",
									ALLOCSET_DEFAULT_SIZES);
	slot = table_slot_create(rel, NULL);
	scan = begin_table_scan(rel, GetActiveSnapshot());
	caller = MemoryContextSwitchTo(context);
	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		should_free;	/* not needed: the context is reset */

		uuid9562_collect(logs, ExecFetchSlotHeapTuple(slot, false, &should_free), NULL,
						 RelationGetDescr(rel));
		MemoryContextReset(context);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(rel, NoLock);
	PG_RETURN_VOID();
}

/*
 * changes_is_log(relation regclass) returns boolean
 *
 * Check whether a relation exists and can be used as log.
 */
Datum
uuid9562_changes_is_log(PG_FUNCTION_ARGS)
{
	Relation	rel = try_relation_open(PG_GETARG_OID(0), AccessShareLock);
	bool		is_log = rel != NULL && uuid9562_is_log(rel);

	if (rel != NULL)
		relation_close(rel, AccessShareLock);
	PG_RETURN_BOOL(is_log);
}

/*
 * Remember the name and the columns of a table.  If they differ from those of the previous call, or
 * if this is the first call and the table was altered after the session began, discard all plans,
 * and return true.
 *
 * The memory survives ROLLBACK and DISCARD: prepared statements survive the former, and a pooler
 * can use the latter after each transaction.
 */
static bool
discard_stale_plans(TableLogs *logs, const char *columns, TimestampTz altered)
{
	const uint64 hash = hash_bytes_extended((const unsigned char *) columns, strlen(columns), 0);

	/* a time after the current one is from before the clock was set back */
	const bool	is_stale = logs->compared ? logs->columns != hash :
		altered >= MyStartTimestamp && altered <= GetCurrentTimestamp();

	if (is_stale)
		ResetPlanCache();
	logs->compared = true;
	logs->columns = hash;
	return is_stale;
}

/*
 * changes_verified(source regclass, invalidations bigint, columns text, altered timestamptz)
 * returns bigint
 *
 * With 0 invalidations, return 0 if this session has verified a table since the last invalidation
 * of the relation cache, and otherwise the number of invalidations.  With this number, note that
 * the session has verified the table in between, and which name and columns the table has.  If
 * plans were discarded because they can be older than these columns, return -1.
 */
Datum
uuid9562_changes_verified(PG_FUNCTION_ARGS)
{
	TableLogs  *logs = uuid9562_logs_of_table(PG_GETARG_OID(0));
	int64		count = uuid9562_count_invalidations();

	if (PG_GETARG_INT64(1) != 0)
	{
		char	   *columns = text_to_cstring(PG_GETARG_TEXT_PP(2));

		logs->verified = PG_GETARG_INT64(1);
		if (discard_stale_plans(logs, columns, PG_GETARG_TIMESTAMPTZ(3)))
			PG_RETURN_INT64(-1);
	}
	PG_RETURN_INT64(logs->verified == count ? 0 : count);
}

/* --- with the rights of other roles ------------------------------------------------- */

static void
check_owner(Oid relid)
{
	char	   *name = get_rel_name(relid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
}

/*
 * changes_register(entry changes_catalog)
 *
 * Replace the row of changes_catalog for a table.  If its log is NULL, remove the row, and the
 * readers of the table.  The caller must own the table and the log.
 */
Datum
uuid9562_changes_register(PG_FUNCTION_ARGS)
{
	HeapTupleHeader entry = PG_GETARG_HEAPTUPLEHEADER(0);
	bool		no_source;
	bool		no_log;
	Datum		source = GetAttributeByNum(entry, CATALOG_SOURCE, &no_source);
	Datum		log = GetAttributeByNum(entry, CATALOG_LOG, &no_log);
	Relation	catalog = table_open(uuid9562_changes_catalog(), RowExclusiveLock);
	ListCell   *cell;

	if (no_source)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("table must not be null")));
	check_owner(DatumGetObjectId(source));
	if (!no_log)
		check_owner(DatumGetObjectId(log));

	uuid9562_execute_as_owner(catalog, "DELETE FROM %s.changes_catalog "
							  "WHERE source OPERATOR(pg_catalog.=) $1", REGCLASSOID, source);
	if (no_log)
		uuid9562_execute_as_owner(catalog, "DELETE FROM %s.changes_reader "
								  "WHERE source OPERATOR(pg_catalog.=) $1", REGCLASSOID, source);
	else
		uuid9562_execute_as_owner(catalog, "INSERT INTO %s.changes_catalog SELECT ($1).*",
								  catalog->rd_rel->reltype, PG_GETARG_DATUM(0));
	table_close(catalog, NoLock);

	/* let all sessions forget the logs that they have cached; see catalog.c */
	foreach(cell, find_all_inheritors(DatumGetObjectId(source), AccessShareLock, NULL))
		CacheInvalidateRelcacheByRelid(lfirst_oid(cell));
	PG_RETURN_VOID();
}

/*
 * Delete the entries of a log with IDs greater than "after" and up to *last, but not more than
 * max_entries of them.  Set *last to the ID up to which they have been deleted, and return their
 * number.  If the log cannot be scanned by its primary key, delete all these entries, because the
 * scan then returns them in no order.
 */
static int64
delete_entries(Relation log, const pg_uuid_t *after, pg_uuid_t *last, int32 max_entries)
{
	Oid			index = uuid9562_primary_key(log);

	/* systable_beginscan() ignores the index if it ignores system indexes */
	bool		ordered = OidIsValid(index) && !IgnoreSystemIndexes;
	int64		deleted = 0;
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	entry;

	ScanKeyInit(&keys[0], 1, BTGreaterStrategyNumber, F_UUID_GT, UUIDPGetDatum(after));
	ScanKeyInit(&keys[1], 1, BTLessEqualStrategyNumber, F_UUID_LE, UUIDPGetDatum(last));
	scan = systable_beginscan(log, index, ordered, GetActiveSnapshot(), 2, keys);
	while ((entry = systable_getnext(scan)) != NULL)
	{
		TM_FailureData failure;
		bool		isnull;

		/* not TM_Ok if the owner of the log has deleted the entry meanwhile */
		if (delete_tuple(log, &entry->t_self, GetCurrentCommandId(true), &failure) == TM_Ok)
			deleted++;
		if (ordered && deleted == max_entries)
		{
			*last = *DatumGetUUIDP(heap_getattr(entry, 1, RelationGetDescr(log), &isnull));
			break;
		}
		CHECK_FOR_INTERRUPTS();
	}
	systable_endscan(scan);
	return deleted;
}

/*
 * changes_delete(log regclass, after uuid, last uuid, max_entries integer, OUT deleted bigint,
 * 	OUT up_to uuid)
 *
 * Delete the entries of a log after "after" and up to "last", at most max_entries of them, which
 * is not less than 1.  up_to is the ID up to which none is left.  If the table cannot be used as
 * log, delete nothing.  As when entries are written, no trigger is executed, so this does not
 * record that the log lacks entries.
 *
 * This checks no privileges, because only changes_purge() can execute it.
 */
Datum
uuid9562_changes_delete(PG_FUNCTION_ARGS)
{
	Relation	log = try_relation_open(PG_GETARG_OID(0), RowExclusiveLock);
	pg_uuid_t	last = *PG_GETARG_UUID_P(2);
	int64		deleted = 0;
	Datum		values[2];
	bool		nulls[2] = {false, false};

	if (log != NULL && uuid9562_is_log(log))
		deleted = delete_entries(log, PG_GETARG_UUID_P(1), &last, PG_GETARG_INT32(3));
	if (log != NULL)
		relation_close(log, NoLock);
	values[0] = Int64GetDatum(deleted);
	values[1] = UUIDPGetDatum(&last);
	PG_RETURN_DATUM(row_datum(fcinfo, values, nulls));
}

/* --- WAL ---------------------------------------------------------------------------- */

/*
 * Return the end of the last WAL record that has been inserted.  GetXLogInsertRecPtr() returns the
 * start of the next record, which is after the header of a page if the last record ended at the end
 * of the page before.
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
 * changes_place(flush boolean, OUT server text, OUT branch text, OUT timeline bigint,
 *		OUT lsn pg_lsn)
 *
 * Return where the statement's snapshot is: the system identifier of the server and the OID of the
 * database, the branch of ordered IDs, the timeline, and the end of WAL.  With "flush", flush WAL
 * up to there, so that a crash of this server cannot lose what the snapshot sees, and record the
 * branch.
 */
Datum
uuid9562_changes_place(PG_FUNCTION_ARGS)
{
	bool		flush = PG_GETARG_BOOL(0);
	uint64		branch = uuid9562_snapshot_branch(flush);
	XLogRecPtr	end = end_of_inserted_wal();
	Datum		values[4];
	bool		nulls[4] = {false, false, false, false};

	if (flush)
		XLogFlush(end);
	values[0] = CStringGetTextDatum(psprintf(UINT64_FORMAT "/%u", GetSystemIdentifier(),
											 MyDatabaseId));
	values[1] = CStringGetTextDatum(psprintf("%016llx", (unsigned long long) branch));
	values[2] = Int64GetDatum(GetWALInsertionTimeLine());
	values[3] = LSNGetDatum(end);
	PG_RETURN_DATUM(row_datum(fcinfo, values, nulls));
}

/*
 * Check whether the history of this server lacks a place on a timeline.  A server that was restored
 * from a backup can be on the same timeline, and have written other WAL at the place.  So if the
 * place is of an earlier branch, it must be before the end of the last recovery.
 */
static bool
wal_is_lost(uint64 branch, int64 timeline, XLogRecPtr place)
{
	TimeLineID	current = GetWALInsertionTimeLine();
	XLogRecPtr	recovered = GetXLogReplayRecPtr(NULL);
	ListCell   *cell;

	if (timeline == current)
		return place > GetXLogInsertRecPtr() ||
			(!XLogRecPtrIsInvalid(recovered) && place > recovered &&
			 branch != uuid9562_snapshot_branch(false));
	foreach(cell, readTimeLineHistory(current))
	{
		const TimeLineHistoryEntry *entry = lfirst(cell);

		if (entry->tli == timeline)
			return entry->end < place;
	}
	return true;
}

/*
 * changes_is_lost(branch text, id uuid, timeline bigint, lsn pg_lsn) returns boolean
 *
 * Check whether this server can lack changes that a reader has read: entries up to an ID of a
 * branch, which were in WAL up to a place on a timeline.  This is so if the server left the
 * timeline before that place, for example because a failover lost transactions, or if the generator
 * of ordered IDs was reset to a time before the ID.
 */
Datum
uuid9562_changes_is_lost(PG_FUNCTION_ARGS)
{
	uint64		branch = strtou64(text_to_cstring(PG_GETARG_TEXT_PP(0)), NULL, 16);

	PG_RETURN_BOOL(uuid9562_branch_ended_before(branch, PG_GETARG_UUID_P(1)->data) ||
				   wal_is_lost(branch, PG_GETARG_INT64(2), PG_GETARG_LSN(3)));
}
