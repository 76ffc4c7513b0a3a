/*
 * log.c
 *		The logs that the transaction in progress writes to.
 *
 * A transaction locks a log when it first changes a row of its table, because statement_timeout
 * limits a wait in a statement, but not one in COMMIT.  When the transaction commits, it writes the
 * entries directly to the log and its indexes.  This runs no code of the log's owner with the
 * rights of those who change the table: no trigger, no constraint and no expression.  If the owner
 * has changed the log so that this is not possible, the transaction writes nothing, and readers get
 * an error from changes_read().
 */
#include "changes/changes.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"

#include "ordered/ordered.h"
#include "value/value.h"

/* Number of entries that are written together */
#define PENDING_MAX		100

struct ChangesLog
{
	Oid			relid;
	SubTransactionId locked_in; /* the lock belongs to this subtransaction */
	TupleDesc	desc;			/* NULL if the table is not a log */

	/* while entries are written: */
	Relation	rel;			/* NULL if there is no log to write to */
	HeapTuple	all_rows;		/* for a log whose columns have changed */
	bool		all_rows_written;
	int			index_count;
	Relation   *indexes;
	IndexInfo **index_infos;
	MemoryContext context;		/* for writing the pending entries */
	int			pending_count;
	HeapTupleData pending[PENDING_MAX];
	TupleTableSlot *slots[PENDING_MAX];
};

static List *logs;				/* of ChangesLog, in TopTransactionContext */

/*
 * Check whether an index of a log can be updated by index_insert() alone, without running code of
 * the log's owner, and accepts every entry with a new ID.
 */
static bool
is_plain_index(Relation index)
{
	const FormData_pg_index *form = index->rd_index;

	return index->rd_rel->relam == BTREE_AM_OID &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indexprs, NULL) &&
		heap_attisnull(index->rd_indextuple, Anum_pg_index_indpred, NULL) &&
		!form->indisexclusion &&
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

/*
 * Return the log of a target, and set *number to its number.  At the first use in a transaction,
 * lock the log.  Return NULL if it has been dropped or is not a log.
 */
ChangesLog *
uuid9562_use_log(const ChangesTarget *target, int *number)
{
	ChangesLog *log = NULL;

	for (*number = 0; *number < list_length(logs); (*number)++)
	{
		log = list_nth(logs, *number);
		if (log->relid == target->log)
			break;
	}
	if (*number == list_length(logs))
	{
		MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);

		log = palloc0(sizeof(ChangesLog));
		log->relid = target->log;
		logs = lappend(logs, log);
		MemoryContextSwitchTo(caller);
	}
	if (log->locked_in == InvalidSubTransactionId)
	{
		Relation	rel = try_relation_open(target->log, RowExclusiveLock);
		MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);

		/* the log was used before if that subtransaction has rolled back */
		if (log->desc != NULL)
			FreeTupleDesc(log->desc);
		log->desc = NULL;
		if (rel != NULL)
		{
			if (uuid9562_is_log(rel))
				log->desc = CreateTupleDescCopy(RelationGetDescr(rel));
			relation_close(rel, NoLock);
		}
		MemoryContextSwitchTo(caller);
		if (log->desc != NULL)
			uuid9562_prepare_ordered();
		log->locked_in = GetCurrentSubTransactionId();
	}
	return log->desc != NULL ? log : NULL;
}

/* Check whether the columns of a log are those of a target's key. */
static bool
has_key(const ChangesLog *log, const ChangesTarget *target)
{
	if (log->desc->natts != target->key_count + 1)
		return false;
	for (int i = 0; i < target->key_count; i++)
	{
		if (TupleDescAttr(log->desc, i + 1)->atttypid != target->types[i])
			return false;
	}
	return true;
}

/* Form an entry with a key, or for all rows if values is NULL.  The ID is all zeros. */
static HeapTuple
form_entry(TupleDesc desc, Datum *values, bool *nulls)
{
	static const pg_uuid_t zeros;
	Datum		no_values[INDEX_MAX_KEYS + 1] = {0};
	bool		all_nulls[INDEX_MAX_KEYS + 1];

	if (values == NULL)
	{
		values = no_values;
		nulls = all_nulls;
		memset(nulls, true, sizeof(all_nulls));
	}
	values[0] = UUIDPGetDatum(&zeros);
	nulls[0] = false;
	return heap_form_tuple(desc, values, nulls);
}

/*
 * Form the entry for the key of a row.  If the row is NULL or does not have the key of the log,
 * form the entry for all rows.
 */
HeapTuple
uuid9562_form_entry(const ChangesLog *log, const ChangesTarget *target, HeapTuple row,
					TupleDesc desc)
{
	Datum		values[INDEX_MAX_KEYS + 1];
	bool		nulls[INDEX_MAX_KEYS + 1];

	if (row == NULL || !has_key(log, target))
		return form_entry(log->desc, NULL, NULL);
	for (int i = 1; i <= target->key_count; i++)
	{
		values[i] = heap_getattr(row, target->key[i - 1], desc, &nulls[i]);
		if (!nulls[i] && TupleDescAttr(log->desc, i)->attlen == -1)
			values[i] = PointerGetDatum(PG_DETOAST_DATUM_PACKED(values[i]));
	}
	return form_entry(log->desc, values, nulls);
}

/* Check whether two descriptors have columns of the same types. */
static bool
same_types(TupleDesc a, TupleDesc b)
{
	if (a->natts != b->natts)
		return false;
	for (int i = 0; i < a->natts; i++)
	{
		if (TupleDescAttr(a, i)->atttypid != TupleDescAttr(b, i)->atttypid)
			return false;
	}
	return true;
}

/* Open a log and its indexes, unless the transaction has dropped it or made it unusable as log. */
static void
open_log(ChangesLog *log)
{
	List	   *indexes;
	ListCell   *cell;

	Assert(log->rel == NULL);
	if (log->locked_in != InvalidSubTransactionId && log->desc != NULL)
		log->rel = try_relation_open(log->relid, RowExclusiveLock);
	if (log->rel == NULL)
		return;
	if (!uuid9562_is_log(log->rel))
	{
		relation_close(log->rel, NoLock);
		log->rel = NULL;
		return;
	}
	log->all_rows = same_types(log->desc, RelationGetDescr(log->rel)) ? NULL :
		form_entry(RelationGetDescr(log->rel), NULL, NULL);
	log->all_rows_written = false;
	indexes = RelationGetIndexList(log->rel);
	log->index_count = 0;
	log->indexes = palloc((list_length(indexes) + 1) * sizeof(Relation));
	log->index_infos = palloc((list_length(indexes) + 1) * sizeof(IndexInfo *));
	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), RowExclusiveLock);

		log->index_infos[log->index_count] = BuildIndexInfo(index);
		log->indexes[log->index_count++] = index;
	}
	memset(log->slots, 0, sizeof(log->slots));
	log->pending_count = 0;
	log->context = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 entries of a log",
										 ALLOCSET_DEFAULT_SIZES);
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

/* Write the pending entries of a log. */
static void
write_pending(ChangesLog *log)
{
	MemoryContext caller = MemoryContextSwitchTo(log->context);

	table_multi_insert(log->rel, log->slots, log->pending_count, GetCurrentCommandId(true), 0,
					   NULL);
	for (int i = 0; i < log->pending_count; i++)
	{
		for (int j = 0; j < log->index_count; j++)
		{
			Datum		values[INDEX_MAX_KEYS];
			bool		nulls[INDEX_MAX_KEYS];

			if (!log->index_infos[j]->ii_ReadyForInserts)
				continue;
			FormIndexDatum(log->index_infos[j], log->slots[i], NULL, values, nulls);
			index_insert(log->indexes[j], values, nulls, &log->slots[i]->tts_tid, log->rel,
						 log->indexes[j]->rd_index->indisunique ?
						 UNIQUE_CHECK_YES : UNIQUE_CHECK_NO,
						 false, log->index_infos[j]);
		}
		ExecClearTuple(log->slots[i]);
	}
	log->pending_count = 0;
	MemoryContextSwitchTo(caller);
	MemoryContextReset(log->context);
}

/*
 * Write an entry to the log with a number, with the next ordered ID.  The entry must not change
 * before uuid9562_write_pending_entries() is called.
 */
void
uuid9562_write_entry(int number, HeapTupleHeader entry, uint32 length)
{
	ChangesLog *log = list_nth(logs, number);
	HeapTuple	tuple = &log->pending[log->pending_count];
	TupleTableSlot **slot = &log->slots[log->pending_count];

	if (log->rel == NULL)
		return;
	if (log->all_rows != NULL)
	{
		if (log->all_rows_written)
			return;
		log->all_rows_written = true;
		entry = log->all_rows->t_data;
		length = log->all_rows->t_len;
	}
	uuid_layout_pack((uint8 *) entry + entry->t_hoff, UUID_V7->version, uuid9562_next_ordered());
	tuple->t_len = length;
	tuple->t_data = entry;
	tuple->t_tableOid = log->relid;
	ItemPointerSetInvalid(&tuple->t_self);
	if (*slot == NULL)
		*slot = MakeSingleTupleTableSlot(RelationGetDescr(log->rel), &TTSOpsHeapTuple);
	ExecForceStoreHeapTuple(tuple, *slot, false);
	log->pending_count++;
	if (log->pending_count == PENDING_MAX)
		write_pending(log);
}

/* Write the entries of all logs that are still pending. */
void
uuid9562_write_pending_entries(void)
{
	ListCell   *cell;

	foreach(cell, logs)
	{
		ChangesLog *log = lfirst(cell);

		if (log->rel != NULL && log->pending_count > 0)
			write_pending(log);
	}
}

/* Close all logs, but keep their locks until the transaction ends. */
void
uuid9562_close_logs(void)
{
	ListCell   *cell;

	foreach(cell, logs)
	{
		ChangesLog *log = lfirst(cell);

		if (log->rel == NULL)
			continue;
		Assert(log->pending_count == 0);
		for (int i = 0; i < PENDING_MAX && log->slots[i] != NULL; i++)
			ExecDropSingleTupleTableSlot(log->slots[i]);
		for (int i = 0; i < log->index_count; i++)
			index_close(log->indexes[i], NoLock);
		relation_close(log->rel, NoLock);
		log->rel = NULL;
		MemoryContextDelete(log->context);
	}
}

/* Forget all logs at the end of the transaction, which frees their memory. */
void
uuid9562_forget_logs(void)
{
	logs = NIL;
}

/*
 * At the end of a subtransaction, its locks pass to the parent, or are released.  If they are
 * released, the log can be altered before it is used again.  The subtransaction's entries are
 * dropped, and there are no earlier ones, because the first entry took the lock.
 */
void
uuid9562_end_subtransaction_of_logs(bool committed, SubTransactionId ended, SubTransactionId parent)
{
	ListCell   *cell;

	foreach(cell, logs)
	{
		ChangesLog *log = lfirst(cell);

		if (log->locked_in >= ended)
			log->locked_in = committed ? parent : InvalidSubTransactionId;
	}
}
