/*
 * log.c
 *		Writes entries to the log when a transaction commits or is prepared.
 *
 * A transaction locks the log when it first changes a row of a tracked table, because
 * statement_timeout limits a wait in a statement, but not one in COMMIT.  A superuser could have
 * locked the table.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "executor/tuptable.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "ordered/ordered.h"
#include "value/value.h"

#define PENDING_MAX		100		/* number of entries that are written together */

static Oid	locked;				/* the log, if the transaction has locked it */

/* The log while entries are written */
static struct
{
	Relation	rel;
	CatalogIndexState indexes;
	MemoryContext context;		/* for the pending entries */
	int			pending;
	TupleTableSlot *slots[PENDING_MAX];
}			open_log;

/*
 * Before the first entry of a transaction is collected, lock the log until the transaction ends,
 * even if the subtransaction in progress rolls back.  Load what generates ordered IDs.
 */
void
uuid9562_prepare_log(void)
{
	ResourceOwner owner = CurrentResourceOwner;
	Oid			log;

	if (OidIsValid(locked))
		return;
	uuid9562_prepare_ordered();
	log = uuid9562_own_table("log");
	if (!OidIsValid(log))
		uuid9562_no_own_table("log");
	CurrentResourceOwner = TopTransactionResourceOwner;
	LockRelationOid(log, RowExclusiveLock);
	CurrentResourceOwner = owner;
	locked = log;				/* only now, since waiting can be canceled */
}

/*
 * Open the log.  Return false if the transaction has dropped it.  Do so before the first ID is
 * generated, because from then on the transaction holds the horizon.
 */
bool
uuid9562_open_log(void)
{
	const Oid	log = uuid9562_own_table("log");

	/* a subtransaction that was rolled back can have created another log */
	if (log != locked)
		locked = InvalidOid;
	if (OidIsValid(log))
		uuid9562_prepare_log();
	open_log.rel = uuid9562_try_open_own("log", NoLock);
	if (open_log.rel == NULL)
		return false;
	open_log.indexes = uuid9562_open_own_indexes(open_log.rel);
	open_log.context = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 log entries",
											 ALLOCSET_DEFAULT_SIZES);
	open_log.pending = 0;
	memset(open_log.slots, 0, sizeof(open_log.slots));
	return true;
}

static void
insert_into_index(Relation index, IndexInfo *info, TupleTableSlot *slot)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	if (!info->ii_ReadyForInserts)
		return;
	FormIndexDatum(info, slot, NULL, values, nulls);
	index_insert(index, values, nulls, &slot->tts_tid, open_log.rel,
				 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, info);
}

/*
 * Write the pending entries.  CatalogTuplesMultiInsertWithInfo() would be slower, because it
 * creates a slot for each entry.  It would also be wrong: if heap_multi_insert() inserts a
 * compressed copy of a tuple, it sets the TID of the slot, but CatalogIndexInsert() uses t_self.
 */
static void
write_pending(void)
{
	MemoryContext caller = MemoryContextSwitchTo(open_log.context);

	table_multi_insert(open_log.rel, open_log.slots, open_log.pending, GetCurrentCommandId(true),
					   0, NULL);
	for (int i = 0; i < open_log.pending; i++)
	{
		for (int j = 0; j < open_log.indexes->ri_NumIndices; j++)
			insert_into_index(open_log.indexes->ri_IndexRelationDescs[j],
							  open_log.indexes->ri_IndexRelationInfo[j], open_log.slots[i]);
		ExecClearTuple(open_log.slots[i]);
	}
	open_log.pending = 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(open_log.context);
}

/*
 * Write an entry for a key of a tracked table, with the next ordered ID.  Without bytes, any row
 * can have changed.  The memory context of the caller lasts until uuid9562_close_log().
 */
void
uuid9562_write_entry(Oid source, KeyBytes key)
{
	TupleDesc	desc = RelationGetDescr(open_log.rel);
	MemoryContext caller;
	Datum		values[LOG_COLUMNS];
	bool		nulls[LOG_COLUMNS] = {false};
	UuidReaderId id;

	if (open_log.slots[open_log.pending] == NULL)
		open_log.slots[open_log.pending] = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	caller = MemoryContextSwitchTo(open_log.context);
	uuid_layout_pack(id.bytes, UUID_V7->version, uuid9562_next_ordered());
	values[LOG_SOURCE - 1] = ObjectIdGetDatum(source);
	values[LOG_ID - 1] = reader_id_datum(&id);
	values[LOG_KEY - 1] = (Datum) 0;
	nulls[LOG_KEY - 1] = key.length == 0;
	if (key.length > 0)
	{
		bytea	   *value = palloc(VARHDRSZ + key.length);

		SET_VARSIZE(value, VARHDRSZ + key.length);
		memcpy(VARDATA(value), key.bytes, key.length);
		values[LOG_KEY - 1] = PointerGetDatum(value);
	}
	ExecStoreHeapTuple(heap_form_tuple(desc, values, nulls), open_log.slots[open_log.pending++],
					   true);
	MemoryContextSwitchTo(caller);
	if (open_log.pending == PENDING_MAX)
		write_pending();
}

/* Write the pending entries, and close the log. */
void
uuid9562_close_log(void)
{
	if (open_log.pending > 0)
		write_pending();
	for (int i = 0; i < PENDING_MAX && open_log.slots[i] != NULL; i++)
		ExecDropSingleTupleTableSlot(open_log.slots[i]);
	CatalogCloseIndexes(open_log.indexes);
	relation_close(open_log.rel, NoLock);
	MemoryContextDelete(open_log.context);
}

/* Forget the lock at the end of the transaction. */
void
uuid9562_forget_log(void)
{
	locked = InvalidOid;
}
