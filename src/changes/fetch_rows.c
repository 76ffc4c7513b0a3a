/*
 * fetch_rows.c
 *		The rows of keys, as a page returns them.
 *
 * A row is found by an index scan of the primary key, with the equality operators of its operator
 * families.  A query would look for operators by name and plan expressions of indexes, and so could
 * execute functions of other roles.  For the same reason, the partition of a key is found from the
 * bounds of the partitions.
 *
 * The rows are those of a snapshot that is taken after the entries were read.  So a row can be
 * newer than the horizon of the page, and then a later page has the entry of its newer change.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/tupconvert.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "partitioning/partbounds.h"
#include "partitioning/partdesc.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/partcache.h"
#include "utils/snapmgr.h"

/* A virtual generated column */
typedef struct VirtualColumn
{
	AttrNumber	number;
	ExprState  *expression;
} VirtualColumn;

/* The table or a partition, with a scan of its primary key */
typedef struct Leaf
{
	Oid			relid;			/* must be first */
	Relation	rel;
	Relation	index;
	IndexScanDesc scan;
	TupleTableSlot *slot;
	Key			key;			/* columns of this partition */
	bool		equal_is_same;	/* have equal keys the same bytes? */
	ScanKeyData scan_keys[INDEX_MAX_KEYS];
	AttrMap    *map;			/* to the columns of the table, or NULL */
} Leaf;

typedef struct Fetch
{
	Relation	rel;			/* the tracked table */
	const Source *source;
	HTAB	   *leaves;			/* of Leaf */
	MemoryContext page_context;
	MemoryContext row_context;	/* for one row */
	List	   *virtual_columns;	/* of VirtualColumn */
	EState	   *estate;			/* for virtual columns, or NULL */
	TupleTableSlot *slot;		/* a row of the table, for virtual columns */
} Fetch;

/* --- partitions ------------------------------------------------------------------- */

/*
 * Return the value of each column of a partition key, which are columns of the primary key.  The
 * given values are in the order of the primary key.
 */
static void
partition_key_values(const Fetch *fetch, Relation rel, PartitionKey key, const Datum *values,
					 Datum *result)
{
	Key			mapped = fetch->source->key;

	uuid9562_map_key(&mapped, RelationGetRelid(fetch->rel), RelationGetRelid(rel));
	for (int i = 0; i < key->partnatts; i++)
	{
		int			column = 0;

		while (column < mapped.count && mapped.columns[column] != key->partattrs[i])
			column++;
		if (column == mapped.count)
			elog(ERROR, "partition key of relation %u is not in its primary key",
				 RelationGetRelid(rel));
		result[i] = values[column];
	}
}

/* Return the index of the partition for a key, or -1 if there is none. */
static int
partition_index(const PartitionKey key, PartitionDesc desc, Datum *values)
{
	PartitionBoundInfo bound = desc->boundinfo;
	bool		nulls[PARTITION_MAX_KEYS] = {false};
	bool		equal = false;
	int			index = -1;
	int			offset;

	if (desc->nparts == 0)
		return -1;
	switch (key->strategy)
	{
		case PARTITION_STRATEGY_HASH:
			return bound->indexes[compute_partition_hash_value(key->partnatts, key->partsupfunc,
															   key->partcollation, values,
															   nulls) % bound->nindexes];
		case PARTITION_STRATEGY_LIST:
			offset = partition_list_bsearch(key->partsupfunc, key->partcollation, bound,
											values[0], &equal);
			if (offset >= 0 && equal)
				index = bound->indexes[offset];
			break;
		case PARTITION_STRATEGY_RANGE:
			offset = partition_range_datum_bsearch(key->partsupfunc, key->partcollation, bound,
												   key->partnatts, values, &equal);
			index = bound->indexes[offset + 1];
			break;
	}
	return index >= 0 ? index : bound->default_index;
}

/* Return the table with the rows of a key, or InvalidOid if no partition can have it. */
static Oid
find_leaf(const Fetch *fetch, const Datum *values)
{
	Oid			relid = RelationGetRelid(fetch->rel);

	while (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE)
	{
		Relation	rel = table_open(relid, AccessShareLock);
		PartitionKey key = RelationGetPartitionKey(rel);
		PartitionDesc desc = RelationGetPartitionDesc(rel, true);
		Datum		partition_values[PARTITION_MAX_KEYS];
		int			index;

		partition_key_values(fetch, rel, key, values, partition_values);
		index = partition_index(key, desc, partition_values);
		relid = index < 0 ? InvalidOid : desc->oids[index];
		table_close(rel, NoLock);
	}
	return relid;
}

/* --- virtual columns -------------------------------------------------------------- */

/*
 * Prepare the expressions of virtual generated columns.  A query on a partitioned table computes
 * them from the expressions of this table, whichever its partitions have.
 */
static void
prepare_virtual_columns(Fetch *fetch)
{
	TupleDesc	desc = RelationGetDescr(fetch->rel);

	for (int i = 1; i <= desc->natts; i++)
	{
		VirtualColumn *column;

		if (!is_virtual_column(TupleDescAttr(desc, i - 1)))
			continue;
		if (fetch->estate == NULL)
		{
			fetch->estate = CreateExecutorState();
			fetch->slot = MakeSingleTupleTableSlot(desc, &TTSOpsVirtual);
		}
		column = palloc(sizeof(VirtualColumn));
		column->number = i;
		column->expression = ExecPrepareExpr((Expr *) virtual_column_expression(fetch->rel, i),
											 fetch->estate);
		fetch->virtual_columns = lappend(fetch->virtual_columns, column);
	}
}

/*
 * Compute the virtual generated columns of a row of the table.  They can use tableoid, which is the
 * table or partition that has the row.
 */
static void
compute_virtual_columns(const Fetch *fetch, Oid relid, Datum *values, bool *nulls)
{
	TupleTableSlot *slot = fetch->slot;
	ExprContext *context;
	ListCell   *cell;

	if (fetch->virtual_columns == NIL)
		return;
	ExecClearTuple(slot);
	memcpy(slot->tts_values, values, RelationGetDescr(fetch->rel)->natts * sizeof(Datum));
	memcpy(slot->tts_isnull, nulls, RelationGetDescr(fetch->rel)->natts * sizeof(bool));
	ExecStoreVirtualTuple(slot);
	slot->tts_tableOid = relid;
	context = GetPerTupleExprContext(fetch->estate);
	ResetExprContext(context);
	context->ecxt_scantuple = slot;
	foreach(cell, fetch->virtual_columns)
	{
		const VirtualColumn *column = lfirst(cell);
		const int	index = column->number - 1;

		values[index] = ExecEvalExprSwitchContext(column->expression, context, &nulls[index]);
	}
}

/* --- scans ------------------------------------------------------------------------ */

static void
init_scan_keys(Leaf *leaf)
{
	for (int i = 0; i < leaf->key.count; i++)
	{
		const Oid	type = leaf->index->rd_opcintype[i];
		Oid			operator = get_opfamily_member(leaf->index->rd_opfamily[i], type, type,
												   BTEqualStrategyNumber);

		if (!OidIsValid(operator))
			elog(ERROR, "operator family %u has no equality operator", leaf->index->rd_opfamily[i]);
		ScanKeyEntryInitialize(&leaf->scan_keys[i], 0, (AttrNumber) (i + 1),
							   BTEqualStrategyNumber, type,
							   leaf->index->rd_indcollation[i], get_opcode(operator), (Datum) 0);
	}
}

/* Return the table or a partition, which is opened and locked at its first use. */
static Leaf *
open_leaf(Fetch *fetch, Oid relid)
{
	bool		found;
	Leaf	   *leaf = hash_search(fetch->leaves, &relid, HASH_ENTER, &found);
	Key			own;

	if (found)
		return leaf;
	memset((char *) leaf + sizeof(Oid), 0, sizeof(Leaf) - sizeof(Oid));
	leaf->rel = table_open(relid, AccessShareLock);
	uuid9562_primary_key(relid, &own);
	leaf->key = fetch->source->key;
	if (!uuid9562_map_key(&leaf->key, RelationGetRelid(fetch->rel), relid) ||
		own.count != leaf->key.count ||
		memcmp(own.columns, leaf->key.columns, own.count * sizeof(AttrNumber)) != 0)
		elog(ERROR, "primary key of relation %u is not that of its partitioned table", relid);
	leaf->index = index_open(own.index, AccessShareLock);
	leaf->equal_is_same = uuid9562_equal_keys_are_same(leaf->index);
	init_scan_keys(leaf);
	leaf->slot = table_slot_create(leaf->rel, NULL);
	if (relid != RelationGetRelid(fetch->rel))
		leaf->map = attrmap_by_name(RelationGetDescr(leaf->rel), RelationGetDescr(fetch->rel));
	return leaf;
}

static void
close_leaf(Leaf *leaf)
{
	if (leaf->scan != NULL)
		index_endscan(leaf->scan);
	ExecDropSingleTupleTableSlot(leaf->slot);
	index_close(leaf->index, NoLock);
	table_close(leaf->rel, NoLock);
}

/* --- rows ------------------------------------------------------------------------- */

/* Return the row in the slot of a table or partition as a value of the table's row type. */
static Datum
row_of_slot(const Fetch *fetch, Leaf *leaf)
{
	TupleDesc	desc = RelationGetDescr(fetch->rel);
	Datum	   *values = palloc(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc(desc->natts * sizeof(bool));

	slot_getallattrs(leaf->slot);
	for (int i = 0; i < desc->natts; i++)
	{
		const int	column = leaf->map != NULL ? leaf->map->attnums[i] : i + 1;

		nulls[i] = column == 0 || TupleDescAttr(desc, i)->attisdropped ||
			leaf->slot->tts_isnull[column - 1];
		values[i] = nulls[i] ? (Datum) 0 : leaf->slot->tts_values[column - 1];
	}
	compute_virtual_columns(fetch, leaf->relid, values, nulls);
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/*
 * Return a value of the table's row type that has only the key.  No domain checks the other
 * columns.
 */
Datum
uuid9562_row_of_key(Relation rel, const Key *key, const Datum *key_values)
{
	TupleDesc	desc = RelationGetDescr(rel);
	Datum	   *values = palloc0(desc->natts * sizeof(Datum));
	bool	   *nulls = palloc(desc->natts * sizeof(bool));

	memset(nulls, true, desc->natts * sizeof(bool));
	for (int i = 0; i < key->count; i++)
	{
		values[key->columns[i] - 1] = key_values[i];
		nulls[key->columns[i] - 1] = false;
	}
	return HeapTupleGetDatum(heap_form_tuple(desc, values, nulls));
}

/*
 * Find the row of a key.  Set *is_same to whether its key has the same bytes; otherwise the key
 * only equals that of the row.  Return false if there is no row.
 */
static bool
find_row(Fetch *fetch, Leaf *leaf, KeyBytes key, const Datum *values, bool *is_same)
{
	MemoryContext caller;
	bool		exists;
	bool		should_free;	/* not needed: the context is reset */

	/* the scan allocates memory when it is used, and keeps it */
	caller = MemoryContextSwitchTo(fetch->page_context);
	if (leaf->scan == NULL)
		leaf->scan = begin_index_scan(leaf->rel, leaf->index, GetActiveSnapshot(), leaf->key.count);
	for (int i = 0; i < leaf->key.count; i++)
		leaf->scan_keys[i].sk_argument = values[i];
	index_rescan(leaf->scan, leaf->scan_keys, leaf->key.count, NULL, 0);
	exists = index_getnext_slot(leaf->scan, ForwardScanDirection, leaf->slot);
	MemoryContextSwitchTo(caller);
	if (!exists)
		return false;
	*is_same = leaf->equal_is_same;
	if (!*is_same)
	{
		HeapTuple	row = ExecFetchSlotHeapTuple(leaf->slot, false, &should_free);

		*is_same = uuid9562_same_key(key, uuid9562_form_key(&leaf->key, row,
															RelationGetDescr(leaf->rel)));
	}
	return true;
}

/*
 * Pass on the change of a key.  If the key has been deleted, but the row of an equal key exists,
 * such as 'ann' for 'Ann', pass on both: a copy that regards the keys as equal needs the row in
 * the end.  The position of the first of both is just before that of the last entry of the key, so
 * if only this one is confirmed, the row is returned again.
 */
static void
fetch_row(Fetch *fetch, Leaf *leaf, const PageKey *changed, RowReceiver receive, void *arg)
{
	Datum		values[INDEX_MAX_KEYS];
	bool		is_same = false;
	bool		found;

	uuid9562_read_key(&fetch->source->key, changed->key, values);
	found = leaf != NULL && find_row(fetch, leaf, changed->key, values, &is_same);
	if (!is_same)
		receive(arg, true, uuid9562_row_of_key(fetch->rel, &fetch->source->key, values), found ?
				uuid_reader_id_before(changed->id) : changed->id);
	if (found)
		receive(arg, false, row_of_slot(fetch, leaf), changed->id);
}

/*
 * Open the table or partition of each key of a page.  NULL means that no partition can have the
 * key.
 */
static Leaf **
open_leaves(Fetch *fetch, const ChangesPage *page)
{
	Leaf	  **leaves = palloc_extended(page->count * sizeof(Leaf *), MCXT_ALLOC_HUGE);

	for (int i = 0; i < page->count; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(fetch->row_context);
		Datum		values[INDEX_MAX_KEYS];
		Oid			relid = RelationGetRelid(fetch->rel);

		if (fetch->rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		{
			uuid9562_read_key(&fetch->source->key, page->keys[i].key, values);
			relid = find_leaf(fetch, values);
		}
		MemoryContextSwitchTo(caller);
		MemoryContextReset(fetch->row_context);
		leaves[i] = OidIsValid(relid) ? open_leaf(fetch, relid) : NULL;
	}
	return leaves;
}

/*
 * Pass on the rows of a page, in the order of its keys.  The caller has locked the table.  Call
 * begin() when the active snapshot is that of the rows.
 *
 * Take a new snapshot after all partitions are locked: a statement that rewrites a partition
 * gives its rows a new xmin, and an older snapshot would see none of them.
 */
void
uuid9562_fetch_rows(Relation rel, const Source *source, const ChangesPage *page,
					void (*begin) (void *arg), RowReceiver receive, void *arg)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),.entrysize = sizeof(Leaf),.hcxt = CurrentMemoryContext
	};
	Fetch	   *fetch = palloc0(sizeof(Fetch));
	Leaf	  **leaves;
	HASH_SEQ_STATUS status;
	Leaf	   *leaf;

	fetch->rel = rel;
	fetch->source = source;
	fetch->page_context = CurrentMemoryContext;
	fetch->leaves = hash_create("uuid9562 partitions of a page", 16, &control,
								HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	fetch->row_context = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 row of a page",
											   ALLOCSET_DEFAULT_SIZES);
	leaves = open_leaves(fetch, page);
	prepare_virtual_columns(fetch);
	PushActiveSnapshot(GetLatestSnapshot());
	begin(arg);
	for (int i = 0; i < page->count; i++)
	{
		MemoryContext caller = MemoryContextSwitchTo(fetch->row_context);

		fetch_row(fetch, leaves[i], &page->keys[i], receive, arg);
		MemoryContextSwitchTo(caller);
		MemoryContextReset(fetch->row_context);
		CHECK_FOR_INTERRUPTS();
	}
	hash_seq_init(&status, fetch->leaves);
	while ((leaf = hash_seq_search(&status)) != NULL)
		close_leaf(leaf);
	PopActiveSnapshot();
	if (fetch->estate != NULL)
	{
		ExecDropSingleTupleTableSlot(fetch->slot);
		FreeExecutorState(fetch->estate);
	}
	MemoryContextDelete(fetch->row_context);
}
