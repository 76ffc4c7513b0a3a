/*
 * tables.c
 *		The tables of the extension, which only C writes.
 *
 * C inserts and deletes rows, but never updates them.  Then logical replication sends no change of
 * a row to subscribers, since the tables have no replica identity.
 *
 * Each table has one index, and is read in its order.  CatalogTupleInsert() inserts into any table
 * that has no expressions in its indexes.
 */
#include "changes/changes.h"

#include "access/heapam.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#define SCHEMA	"uuid9562_changes"

Oid
uuid9562_own_schema(void)
{
	return get_namespace_oid(SCHEMA, true);
}

/* Return the OID of a table of the extension, or InvalidOid if the extension has been dropped. */
Oid
uuid9562_own_table(const char *name)
{
	Oid			schema = uuid9562_own_schema();

	return OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
}

/*
 * Open the index of a table of the extension: the primary key, or the valid index of the first
 * column.  A REINDEX CONCURRENTLY that was canceled leaves an invalid index, and a superuser can
 * create others.
 */
static Relation
open_own_index(Relation rel)
{
	List	   *indexes = RelationGetIndexList(rel);
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		const FormData_pg_index *form = index->rd_index;

		if (form->indisvalid && (form->indisprimary ||
								 (!OidIsValid(rel->rd_pkindex) && form->indnkeyatts == 1 &&
								  form->indkey.values[0] == 1)))
			return index;
		index_close(index, AccessShareLock);
	}
	elog(ERROR, "table \"%s\" has no valid index", RelationGetRelationName(rel));
	return NULL;
}

/* Begin to read the rows that have the given keys, as they are now. */
OwnScan
uuid9562_scan_own(const char *name, LOCKMODE mode, int key_count, ScanKey keys)
{
	Oid			relid = uuid9562_own_table(name);
	OwnScan		scan;

	/* the extension can be dropped between the look-up and the lock */
	scan.rel = OidIsValid(relid) ? try_table_open(relid, mode) : NULL;
	if (scan.rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s.%s\" does not exist", SCHEMA, name),
				 errhint("Execute CREATE EXTENSION uuid9562_changes CASCADE.")));
	scan.index = open_own_index(scan.rel);
	scan.snapshot = RegisterSnapshot(GetLatestSnapshot());
	scan.scan = systable_beginscan_ordered(scan.rel, scan.index, scan.snapshot, key_count, keys);
	return scan;
}

HeapTuple
uuid9562_next_own(OwnScan *scan, ScanDirection direction)
{
	return systable_getnext_ordered(scan->scan, direction);
}

/* End a scan, but keep the lock of the table. */
void
uuid9562_end_own(OwnScan *scan)
{
	systable_endscan_ordered(scan->scan);
	UnregisterSnapshot(scan->snapshot);
	index_close(scan->index, AccessShareLock);
	table_close(scan->rel, NoLock);
}

/* Insert a row. */
void
uuid9562_insert_own(Relation rel, Datum *values, bool *nulls)
{
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);

	CatalogTupleInsert(rel, tuple);
	heap_freetuple(tuple);
}

/*
 * Delete a row.  Return false if another transaction has deleted the row.  If "wait" is false, also
 * return false if another transaction is about to delete the row.
 */
bool
uuid9562_delete_own(Relation rel, HeapTuple tuple, bool wait)
{
	TM_FailureData failure;
	TM_Result	result = delete_tuple(rel, &tuple->t_self, GetCurrentCommandId(true), wait,
									  &failure);

	Assert(result != TM_SelfModified && result != TM_Invisible);
	return result == TM_Ok;
}

/* Return the name of a table, for messages. */
char *
uuid9562_table_name(Oid relid)
{
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid)));
}
