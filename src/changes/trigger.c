/*
 * trigger.c
 *		log_trigger(), the trigger of tracked tables, and what it says about a table.
 *
 * A row trigger of a partitioned table has a clone on each partition.  The table of the trigger
 * that is no clone is the tracked table, or source.  A session caches it for each trigger,
 * together with the columns of the key, since the trigger needs both for each row.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/indexing.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "common/hashfn.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(uuid9562_log_trigger);
PG_FUNCTION_INFO_V1(uuid9562_guard_trigger);

#define EXPIRY_MAX	(INT64CONST(36525) * USECS_PER_DAY) /* 100 years */
#define ARGUMENTS	2			/* dropped_partitions, and reader_expiry in
								 * microseconds */

/* --- triggers of a table ---------------------------------------------------------- */

/* Return the OID of log_trigger(), or InvalidOid if the extension has been dropped. */
static Oid
log_trigger_function(void)
{
	Oid			schema = uuid9562_own_schema();
	oidvector  *no_arguments = buildoidvector(NULL, 0);

	return !OidIsValid(schema) ? InvalidOid :
		GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum("log_trigger"),
						PointerGetDatum(no_arguments), ObjectIdGetDatum(schema));
}

/* Return the table of the trigger of which a trigger is a clone, or the table of the trigger. */
static Oid
source_of_trigger(Relation catalog, Oid trigger)
{
	Oid			source = InvalidOid;

	while (OidIsValid(trigger))
	{
		ScanKeyData key;
		SysScanDesc scan;
		HeapTuple	row;

		ScanKeyInit(&key, Anum_pg_trigger_oid, BTEqualStrategyNumber, F_OIDEQ,
					ObjectIdGetDatum(trigger));
		scan = systable_beginscan(catalog, TriggerOidIndexId, true, NULL, 1, &key);
		row = systable_getnext(scan);
		trigger = InvalidOid;
		if (HeapTupleIsValid(row))
		{
			source = ((Form_pg_trigger) GETSTRUCT(row))->tgrelid;
			trigger = ((Form_pg_trigger) GETSTRUCT(row))->tgparentid;
		}
		systable_endscan(scan);
	}
	return source;
}

/* Read the arguments of a row trigger, which its table's owner can have changed. */
static void
read_arguments(TrackingTrigger *trigger, HeapTuple row, TupleDesc desc)
{
	bool		isnull;
	bytea	   *arguments = DatumGetByteaPP(heap_getattr(row, Anum_pg_trigger_tgargs, desc,
														 &isnull));
	const char *dropped = VARDATA_ANY(arguments);
	const char *expiry;
	char	   *end;

	if (((Form_pg_trigger) GETSTRUCT(row))->tgnargs != ARGUMENTS)
		return;
	expiry = dropped + strlen(dropped) + 1; /* each ends with a NUL */
	errno = 0;
	trigger->reader_expiry = strtoi64(expiry, &end, 10);
	trigger->ignores_dropped_partitions = strcmp(dropped, "ignore") == 0;
	trigger->has_arguments = (trigger->ignores_dropped_partitions ||
							  strcmp(dropped, "reset") == 0) &&
		errno == 0 && end != expiry && *end == '\0' &&
		trigger->reader_expiry > 0 && trigger->reader_expiry <= EXPIRY_MAX;
	if (!trigger->has_arguments)
		trigger->reader_expiry = 0;
}

static void
add_trigger(TableTriggers *triggers, Relation catalog, HeapTuple row, Oid source)
{
	Form_pg_trigger form = (Form_pg_trigger) GETSTRUCT(row);
	TransactionId xmin = row_version(row);
	uint64		hash = hash_combine64(form->oid, xmin);
	Oid			logs_for;
	bool		usable = form->tgenabled == TRIGGER_FIRES_ALWAYS && form->tgattr.dim1 == 0 &&
		heap_attisnull(row, Anum_pg_trigger_tgqual, RelationGetDescr(catalog));

	if (TRIGGER_FOR_TRUNCATE(form->tgtype) && !TRIGGER_FOR_ROW(form->tgtype))
	{
		triggers->has_truncate |= usable;
		triggers->truncate_hash = hash_combine64(triggers->truncate_hash, usable ? hash : 0);
	}
	if (!TRIGGER_FOR_ROW(form->tgtype))
		return;
	logs_for = OidIsValid(form->tgparentid) ? source_of_trigger(catalog, form->oid) : form->tgrelid;
	triggers->sources = list_append_unique_oid(triggers->sources, logs_for);
	if (usable && logs_for == source)
	{
		triggers->events |= form->tgtype;
		triggers->row_hash = hash_combine64(triggers->row_hash, hash);
	}
	if (OidIsValid(form->tgparentid))
		return;
	triggers->roots++;
	triggers->root = (TrackingTrigger)
	{
		.oid = form->oid,.xmin = xmin,.type = form->tgtype,.is_usable = usable
	};
	read_arguments(&triggers->root, row, RelationGetDescr(catalog));
}

/*
 * Look for triggers of log_trigger(), whatever their names, on a table or partition.  A partition
 * can have triggers that log for several tracked tables: itself, and those of which it is a part.
 */
void
uuid9562_scan_triggers(Oid relid, Oid source, TableTriggers *triggers)
{
	Oid			function = log_trigger_function();
	Relation	catalog = table_open(TriggerRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	memset(triggers, 0, sizeof(TableTriggers));
	ScanKeyInit(&key, Anum_pg_trigger_tgrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	scan = systable_beginscan(catalog, TriggerRelidNameIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		if (OidIsValid(function) && ((Form_pg_trigger) GETSTRUCT(row))->tgfoid == function)
			add_trigger(triggers, catalog, row, source);
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* --- targets of row triggers ------------------------------------------------------ */

/* The tracked table for which a row trigger logs, and the columns with the key */
typedef struct Target
{
	Oid			trigger;		/* must be first */
	bool		valid;			/* if false, find it again */
	Oid			relid;			/* table of the trigger */
	Oid			source;
	Key			key;
} Target;

static HTAB *targets;			/* of Target */
static uint64 invalidations;	/* number of calls of the next function */

/* Forget the targets of a table, or all of them; called by the callback of the relation cache. */
void
uuid9562_trigger_invalidated(Oid relid)
{
	HASH_SEQ_STATUS status;
	Target	   *target;

	invalidations++;
	if (targets == NULL)
		return;
	hash_seq_init(&status, targets);
	while ((target = hash_seq_search(&status)) != NULL)
	{
		if (!OidIsValid(relid) || relid == target->relid || relid == target->source)
			target->valid = false;
	}
}

static const Target *
find_target(const TriggerData *data)
{
	const Oid	trigger = data->tg_trigger->tgoid;
	Target	   *target;
	bool		found;

	if (targets == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(Oid),.entrysize = sizeof(Target),.hcxt = CacheMemoryContext
		};

		targets = hash_create("uuid9562 triggers", 64, &control,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	target = hash_search(targets, &trigger, HASH_ENTER, &found);
	if (!found)
		target->valid = false;
	if (!target->valid)
	{
		const uint64 before = invalidations;
		Relation	catalog = table_open(TriggerRelationId, AccessShareLock);

		target->relid = RelationGetRelid(data->tg_relation);
		target->source = source_of_trigger(catalog, trigger);
		table_close(catalog, AccessShareLock);
		uuid9562_primary_key(target->source, &target->key);
		uuid9562_map_key(&target->key, target->source, target->relid);
		/* only now, since all of this can raise an error */
		target->valid = before == invalidations;
	}
	return target;
}

/*
 * log_trigger() returns trigger
 *
 * AFTER INSERT OR UPDATE OR DELETE FOR EACH ROW: collect the keys of the old and the new row.
 * AFTER TRUNCATE: collect that any row can have changed.
 */
Datum
uuid9562_log_trigger(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	const KeyBytes all_rows = {0, NULL};
	const Target *target;
	KeyBytes	key;
	KeyBytes	new_key;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "log_trigger")));
	if (!TRIGGER_FIRED_AFTER(data->tg_event) ||
		(!TRIGGER_FIRED_FOR_ROW(data->tg_event) && !TRIGGER_FIRED_BY_TRUNCATE(data->tg_event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" must be fired AFTER ROW or AFTER TRUNCATE", "log_trigger"),
				 errhint("Create the trigger with changes_track().")));
	if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
	{
		TableTriggers triggers;
		ListCell   *cell;

		uuid9562_scan_triggers(RelationGetRelid(data->tg_relation), InvalidOid, &triggers);
		foreach(cell, triggers.sources)
			uuid9562_collect(lfirst_oid(cell), all_rows, NULL);
		return PointerGetDatum(NULL);
	}
	target = find_target(data);
	key = uuid9562_form_key(&target->key, data->tg_trigtuple, RelationGetDescr(data->tg_relation));
	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		new_key = uuid9562_form_key(&target->key, data->tg_newtuple,
									RelationGetDescr(data->tg_relation));
	uuid9562_collect(target->source, key, TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? &new_key :
					 NULL);
	return PointerGetDatum(NULL);
}

/* --- new partitions --------------------------------------------------------------- */

/* Rows of a partition, as they are now */
typedef struct RowScan
{
	Relation	rel;
	Snapshot	snapshot;
	TupleTableSlot *slot;
	TableScanDesc scan;
} RowScan;

static RowScan
begin_rows(Oid relid)
{
	RowScan		rows;

	rows.rel = table_open(relid, AccessShareLock);
	rows.snapshot = RegisterSnapshot(GetLatestSnapshot());
	rows.slot = table_slot_create(rows.rel, NULL);
	rows.scan = begin_table_scan(rows.rel, rows.snapshot);
	return rows;
}

static bool
next_row(RowScan *rows)
{
	CHECK_FOR_INTERRUPTS();
	return table_scan_getnextslot(rows->scan, ForwardScanDirection, rows->slot);
}

static void
end_rows(RowScan *rows)
{
	table_endscan(rows->scan);
	ExecDropSingleTupleTableSlot(rows->slot);
	UnregisterSnapshot(rows->snapshot);
	table_close(rows->rel, NoLock);
}

/* Count the rows of a partition, up to a limit. */
int64
uuid9562_count_rows(Oid relid, int64 limit)
{
	RowScan		rows = begin_rows(relid);
	int64		count = 0;

	while (count < limit && next_row(&rows))
		count++;
	end_rows(&rows);
	return count;
}

/* Collect the keys of all rows of a partition of a tracked table. */
void
uuid9562_collect_rows(Oid source, Oid relid)
{
	RowScan		rows = begin_rows(relid);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "uuid9562 keys of a partition",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller;
	Key			key;

	uuid9562_primary_key(source, &key);
	uuid9562_map_key(&key, source, relid);
	caller = MemoryContextSwitchTo(context);
	while (next_row(&rows))
	{
		bool		should_free;	/* not needed: the context is reset */

		uuid9562_collect(source, uuid9562_form_key(&key,
												   ExecFetchSlotHeapTuple(rows.slot, false,
																		  &should_free),
												   RelationGetDescr(rows.rel)), NULL);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	end_rows(&rows);
}

/* --- tables of the extension ------------------------------------------------------ */

/*
 * guard_trigger() returns trigger
 *
 * BEFORE INSERT OR UPDATE OR DELETE FOR EACH ROW: discard the change.  Only C changes the tables
 * of the extension, and fires no triggers.  So a logical subscriber ignores the rows of its
 * publisher. BEFORE TRUNCATE: raise an error.
 */
Datum
uuid9562_guard_trigger(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager", "guard_trigger")));
	if (TRIGGER_FIRED_BY_TRUNCATE(data->tg_event))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot truncate table \"%s\"", RelationGetRelationName(data->tg_relation)),
				 errhint("To delete entries of the log, call changes_purge(). To let all readers copy a table, call changes_reset().")));
	return PointerGetDatum(NULL);
}
