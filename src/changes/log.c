/*
 * log.c
 *		The logs that the transaction in progress writes to, and which tables can be logs.
 *
 * A transaction locks a log when it first changes a row of its table, because statement_timeout
 * limits a wait in a statement, but not one in COMMIT.  When the transaction commits, it writes the
 * entries directly to the log and its indexes.  This runs no code of the log's owner with the
 * rights of those who change the table: no trigger, no constraint and no expression.
 *
 * If the owner has changed the log so that this is not possible, readers get an error from
 * changes_read().  A transaction that has entries for such a log records in changes_missing that
 * they are missing, so that readers copy the table when the log can be used again.
 */
#include "changes/changes.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "executor/tuptable.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "ordered/ordered.h"
#include "value/value.h"

#define PENDING_MAX		100		/* number of entries that are written together */

/* A log that the transaction in progress has locked */
typedef struct Log
{
	Oid			relid;
	Oid			catalog;		/* the changes_catalog that contains it */
	TupleDesc	desc;			/* when first usable; NULL before */

	/* while entries are written: */
	Relation	rel;			/* NULL if the log cannot be written */
	bool		ignores_entries;	/* was the log dropped, or is it recorded
									 * as lacking entries? */
	bool		is_altered;		/* does "desc" not fit any more? */
	bool		has_entry;		/* has an entry been written? */
	CatalogIndexState indexes;
	MemoryContext context;		/* for the pending entries */
	int			pending;
	TupleTableSlot *slots[PENDING_MAX];
} Log;

static List *logs;				/* of Log, in TopTransactionContext */

/*
 * Check whether an index of a log can be updated without running code of the log's owner, and
 * accepts every entry with a new ID.
 */
static bool
is_plain_index(Relation index)
{
	const FormData_pg_index *form = index->rd_index;

	return index->rd_rel->relam == BTREE_AM_OID &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) &&
		!form->indisexclusion && form->indimmediate &&
		(!form->indisunique || (form->indnatts == 1 && form->indkey.values[0] == 1));
}

/*
 * Check whether a table can be used as log: a plain table that is no partition, whose first column
 * is a UUID, whose other columns can be NULL, and whose constraints and indexes do not prevent an
 * entry from being inserted.
 */
bool
uuid9562_is_log(Relation log)
{
	const FormData_pg_class *form = log->rd_rel;
	TupleDesc	desc = RelationGetDescr(log);
	bool		plain = form->relkind == RELKIND_RELATION && form->relam == HEAP_TABLE_AM_OID &&
		form->relpersistence == RELPERSISTENCE_PERMANENT && !form->relispartition &&
		desc->natts > 1 && desc->natts <= INDEX_MAX_KEYS + 1 &&
		TupleDescAttr(desc, 0)->atttypid == UUIDOID &&
		(desc->constr == NULL || desc->constr->num_check == 0);
	ListCell   *cell;

	for (int i = 0; plain && i < desc->natts; i++)
	{
		const FormData_pg_attribute *column = TupleDescAttr(desc, i);

		plain = !column->attisdropped && column->attgenerated == '\0' &&
			column->attnotnull == (i == 0);
	}
	if (!plain)
		return false;
	foreach(cell, RelationGetIndexList(log))
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);

		plain &= is_plain_index(index);
		index_close(index, AccessShareLock);
	}
	return plain;
}

/* Lock a log until the transaction ends, even if the subtransaction in progress rolls back. */
static Log *
lock_log(const LogKey *key)
{
	ResourceOwner owner = CurrentResourceOwner;
	MemoryContext caller;
	Log		   *log;

	CurrentResourceOwner = TopTransactionResourceOwner;
	LockRelationOid(key->log, RowExclusiveLock);
	CurrentResourceOwner = owner;

	caller = MemoryContextSwitchTo(TopTransactionContext);
	log = palloc0(sizeof(Log));
	log->relid = key->log;
	log->catalog = key->catalog;
	logs = lappend(logs, log);
	MemoryContextSwitchTo(caller);
	return log;
}

/* Return the number of a log in this transaction, and lock the log at its first use. */
int
uuid9562_use_log(const LogKey *key)
{
	Log		   *log = NULL;
	Relation	rel;
	MemoryContext caller;
	int			number;

	for (number = 0; number < list_length(logs); number++)
	{
		log = list_nth(logs, number);
		if (log->relid == key->log)
			break;
	}
	if (number == list_length(logs))
		log = lock_log(key);
	/* try again while unusable: the transaction can alter or restore the log */
	if (log->desc == NULL && (rel = try_relation_open(log->relid, NoLock)) != NULL)
	{
		if (uuid9562_is_log(rel))
		{
			uuid9562_prepare_ordered();
			caller = MemoryContextSwitchTo(TopTransactionContext);
			log->desc = CreateTupleDescCopy(RelationGetDescr(rel));
			MemoryContextSwitchTo(caller);
		}
		relation_close(rel, NoLock);
	}
	return number;
}

/* Check whether the columns of a log are those of a key. */
static bool
has_key(const Log *log, const LogKey *key)
{
	if (log->desc == NULL || log->desc->natts != key->count + 1)
		return false;
	for (int i = 0; i < key->count; i++)
	{
		if (TupleDescAttr(log->desc, i + 1)->atttypid != key->types[i])
			return false;
	}
	return true;
}

static bool
same_types(TupleDesc a, TupleDesc b)
{
	if (a == NULL || a->natts != b->natts)
		return false;
	for (int i = 0; i < a->natts; i++)
	{
		if (TupleDescAttr(a, i)->atttypid != TupleDescAttr(b, i)->atttypid)
			return false;
	}
	return true;
}

/*
 * Form the entry for the key of a row.  The ID of the entry is all zeros.  If the row is NULL or
 * does not have the key of the log, return NULL, which stands for all rows.
 */
HeapTuple
uuid9562_form_entry(int number, const LogKey *key, HeapTuple row, TupleDesc desc)
{
	static const pg_uuid_t zeros;
	const Log  *log = list_nth(logs, number);
	Datum		values[INDEX_MAX_KEYS + 1] = {UUIDPGetDatum(&zeros)};
	bool		nulls[INDEX_MAX_KEYS + 1] = {false};

	if (row == NULL || !has_key(log, key))
		return NULL;
	for (int i = 1; i <= key->count; i++)
	{
		values[i] = heap_getattr(row, key->columns[i - 1], desc, &nulls[i]);
		/* so that equal keys have equal bytes, whether compressed or not */
		if (!nulls[i] && TupleDescAttr(log->desc, i)->attlen == -1)
			values[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[i]));
	}
	return heap_form_tuple(log->desc, values, nulls);
}

/* Open a log and its indexes, unless the transaction has dropped it or made it unusable as log. */
static void
open_log(Log *log)
{
	log->rel = try_relation_open(log->relid, NoLock);
	log->ignores_entries = log->rel == NULL;
	if (log->rel != NULL && !uuid9562_is_log(log->rel))
	{
		relation_close(log->rel, NoLock);
		log->rel = NULL;
	}
	if (log->rel == NULL)
		return;
	log->is_altered = !same_types(log->desc, RelationGetDescr(log->rel));
	log->has_entry = false;
	log->indexes = CatalogOpenIndexes(log->rel);
	log->context = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 entries of a log",
										 ALLOCSET_DEFAULT_SIZES);
	log->pending = 0;
	memset(log->slots, 0, sizeof(log->slots));
}

/*
 * Open all logs.  Do so before the first ID is generated, because from then on the transaction
 * holds the horizon.
 */
void
uuid9562_open_logs(void)
{
	ListCell   *cell;

	foreach(cell, logs)
		open_log(lfirst(cell));
}

static void
insert_into_index(Relation index, IndexInfo *info, Relation rel, TupleTableSlot *slot)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		nulls[INDEX_MAX_KEYS];

	if (!info->ii_ReadyForInserts)
		return;
	FormIndexDatum(info, slot, NULL, values, nulls);
	index_insert(index, values, nulls, &slot->tts_tid, rel,
				 index->rd_index->indisunique ? UNIQUE_CHECK_YES : UNIQUE_CHECK_NO, false, info);
}

/*
 * Write the pending entries of a log.  CatalogTuplesMultiInsertWithInfo() would be slower, because
 * it creates a slot for each entry.  It would also be wrong: if heap_multi_insert() inserts a
 * compressed copy of a tuple, it sets the TID of the slot, but CatalogIndexInsert() uses t_self.
 */
static void
write_pending(Log *log)
{
	MemoryContext caller = MemoryContextSwitchTo(log->context);

	table_multi_insert(log->rel, log->slots, log->pending, GetCurrentCommandId(true), 0, NULL);
	for (int i = 0; i < log->pending; i++)
	{
		for (int j = 0; j < log->indexes->ri_NumIndices; j++)
			insert_into_index(log->indexes->ri_IndexRelationDescs[j],
							  log->indexes->ri_IndexRelationInfo[j], log->rel, log->slots[i]);
		ExecClearTuple(log->slots[i]);
	}
	log->pending = 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(log->context);
}

/* Form an entry that stands for all rows: its key is NULL, and its ID is still zeros. */
static HeapTuple
form_entry_for_all_rows(TupleDesc desc)
{
	static const pg_uuid_t zeros;
	Datum		values[INDEX_MAX_KEYS + 1] = {UUIDPGetDatum(&zeros)};
	bool		nulls[INDEX_MAX_KEYS + 1];

	memset(nulls, true, sizeof(nulls));
	nulls[0] = false;
	return heap_form_tuple(desc, values, nulls);
}

/*
 * Write an entry, with the next ordered ID, to the log with the given number.  If the length is 0,
 * the entry stands for all rows.
 */
void
uuid9562_write_entry(int number, HeapTupleHeader entry, uint32 length)
{
	Log		   *log = list_nth(logs, number);
	HeapTupleData data = {.t_len = length,.t_tableOid = log->relid,.t_data = entry};
	MemoryContext caller;
	HeapTuple	tuple;
	TupleDesc	desc;

	if (log->rel == NULL)
	{
		if (!log->ignores_entries)
			uuid9562_record_missing(log->catalog, log->relid);
		log->ignores_entries = true;
		return;
	}
	/* each entry of an altered log stands for all rows, so one is enough */
	if (log->is_altered && log->has_entry)
		return;
	log->has_entry = true;

	desc = RelationGetDescr(log->rel);
	if (log->slots[log->pending] == NULL)
		log->slots[log->pending] = MakeSingleTupleTableSlot(desc, &TTSOpsHeapTuple);
	caller = MemoryContextSwitchTo(log->context);
	ItemPointerSetInvalid(&data.t_self);
	tuple = length == 0 || log->is_altered ? form_entry_for_all_rows(desc) : heap_copytuple(&data);
	/* the ID is the first column, and never NULL */
	uuid_layout_pack((uint8 *) tuple->t_data + tuple->t_data->t_hoff, UUID_V7->version,
					 uuid9562_next_ordered());
	ExecStoreHeapTuple(tuple, log->slots[log->pending++], true);
	MemoryContextSwitchTo(caller);
	if (log->pending == PENDING_MAX)
		write_pending(log);
}

/* Write the pending entries of all logs, and close the logs. */
void
uuid9562_close_logs(void)
{
	ListCell   *cell;

	foreach(cell, logs)
	{
		Log		   *log = lfirst(cell);

		if (log->rel == NULL)
			continue;
		if (log->pending > 0)
			write_pending(log);
		for (int i = 0; i < PENDING_MAX && log->slots[i] != NULL; i++)
			ExecDropSingleTupleTableSlot(log->slots[i]);
		CatalogCloseIndexes(log->indexes);
		relation_close(log->rel, NoLock);
		MemoryContextDelete(log->context);
	}
}

/* Forget all logs at the end of the transaction, which frees their memory. */
void
uuid9562_forget_logs(void)
{
	logs = NIL;
}
