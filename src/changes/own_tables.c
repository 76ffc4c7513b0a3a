/*
 * own_tables.c
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
#include "catalog/dependency.h"
#include "catalog/indexing.h"
#include "catalog/namespace.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#define SCHEMA	"uuid9562_changes"	/* also the name of the extension */

/* The tables: the column that has the OID of a tracked table, and the types of all columns */
static const struct
{
	const char *name;
	int			source;
	int			columns;
	Oid			types[READER_COLUMNS];
}			tables[] =

{
	{"log", LOG_SOURCE, LOG_COLUMNS, {OIDOID, UUIDOID, BYTEAOID}},
	{"state", STATE_SOURCE, STATE_COLUMNS, {
			OIDOID, UUIDOID, INT8OID, INT8OID, INT8OID, INT8ARRAYOID, INT8ARRAYOID, INT8ARRAYOID,
			INT8ARRAYOID, INT8ARRAYOID, TEXTARRAYOID
	}},
	{"reader", READER_SOURCE, READER_COLUMNS, {
			TEXTOID, OIDOID, OIDOID, UUIDOID, UUIDOID, INT8OID, INT8OID, INT8OID, INT8OID,
			TIMESTAMPTZOID, BOOLOID, INT8ARRAYOID
	}},
	{"purged", PURGED_SOURCE, PURGED_COLUMNS, {OIDOID, UUIDOID, INT8OID}}
};

static Oid	own_schema;			/* InvalidOid if it must be looked up */

/* Syscache callback: a schema can have been dropped or renamed. */
static void
forget_schema(Datum arg, SysCacheIdentifier cacheid, uint32 hashvalue)
{
	own_schema = InvalidOid;
}

void
uuid9562_tables_init(void)
{
	CacheRegisterSyscacheCallback(NAMESPACEOID, forget_schema, (Datum) 0);
}

/*
 * Return the schema of the extension, or InvalidOid if the extension has been dropped.  Then any
 * role that can create schemas can create one of this name, so the schema must belong to the
 * extension.
 */
Oid
uuid9562_own_schema(void)
{
	Oid			schema;
	Oid			extension;

	if (OidIsValid(own_schema))
		return own_schema;
	schema = get_namespace_oid(SCHEMA, true);
	extension = get_extension_oid(SCHEMA, true);
	if (!OidIsValid(schema) || !OidIsValid(extension) ||
		getExtensionOfObject(NamespaceRelationId, schema) != extension)
		return InvalidOid;
	/* the look-ups can have processed an invalidation */
	if (get_namespace_oid(SCHEMA, true) == schema)
		own_schema = schema;
	return schema;
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

/* Check whether a superuser has altered the columns of a table, or replaced the table. */
static bool
is_altered(Relation rel, const char *name)
{
	const int	columns = RelationGetNumberOfAttributes(rel);
	int			table = 0;

	while (strcmp(name, tables[table].name) != 0)
		table++;
	if (columns != tables[table].columns)
		return true;
	for (int i = 0; i < columns; i++)
	{
		if (TupleDescAttr(RelationGetDescr(rel), i)->atttypid != tables[table].types[i])
			return true;
	}
	return false;
}

static void
report_altered(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s.%s\" has been altered", SCHEMA, name),
			 errhint("Undo this, or drop and create the extension uuid9562_changes.")));
}

/* Open a table of the extension.  Return NULL if the extension has been dropped. */
Relation
uuid9562_try_open_own(const char *name, LOCKMODE mode)
{
	Oid			relid = uuid9562_own_table(name);
	Relation	rel = NULL;

	/* the table can be dropped before it is locked */
	if (OidIsValid(relid))
		rel = try_table_open(relid, mode);
	if (rel != NULL && is_altered(rel, name))
		report_altered(name);
	return rel;
}

void
uuid9562_no_own_table(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_TABLE),
			 errmsg("relation \"%s.%s\" does not exist", SCHEMA, name),
			 errhint("Execute CREATE EXTENSION uuid9562_changes CASCADE.")));
}

Relation
uuid9562_open_own(const char *name, LOCKMODE mode)
{
	Relation	rel = uuid9562_try_open_own(name, mode);

	if (rel == NULL)
		uuid9562_no_own_table(name);
	return rel;
}

/* Begin to read the rows that have the given keys, as they are now. */
OwnScan
uuid9562_scan_own(const char *name, LOCKMODE mode, int key_count, ScanKey keys)
{
	OwnScan		scan;

	scan.rel = uuid9562_open_own(name, mode);
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

/* Return the dropped tables whose OIDs the tables of the extension, except the log, still have. */
List *
uuid9562_gone_sources(void)
{
	List	   *gone = NIL;

	for (int table = 0; table < (int) lengthof(tables); table++)
	{
		OwnScan		scan;
		HeapTuple	row;

		if (strcmp(tables[table].name, "log") == 0)
			continue;
		scan = uuid9562_scan_own(tables[table].name, AccessShareLock, 0, NULL);
		while (HeapTupleIsValid(row = uuid9562_next_own(&scan, ForwardScanDirection)))
		{
			bool		isnull;
			Oid			source = DatumGetObjectId(heap_getattr(row, tables[table].source,
															   RelationGetDescr(scan.rel),
															   &isnull));

			if (get_rel_name(source) == NULL)
				gone = list_append_unique_oid(gone, source);
		}
		uuid9562_end_own(&scan);
	}
	return gone;
}

/*
 * Open the indexes of a table, to insert rows.  Raise an error if a superuser has created an index
 * with expressions or a condition, which only an executor could evaluate.
 */
CatalogIndexState
uuid9562_open_own_indexes(Relation rel)
{
	CatalogIndexState indexes = CatalogOpenIndexes(rel);

	for (int i = 0; i < indexes->ri_NumIndices; i++)
	{
		const IndexInfo *info = indexes->ri_IndexRelationInfo[i];

		if (info->ii_Expressions != NIL || info->ii_Predicate != NIL)
			report_altered(RelationGetRelationName(rel));
	}
	return indexes;
}

/* Insert a row. */
void
uuid9562_insert_own(Relation rel, Datum *values, bool *nulls)
{
	CatalogIndexState indexes = uuid9562_open_own_indexes(rel);
	HeapTuple	tuple = heap_form_tuple(RelationGetDescr(rel), values, nulls);

	CatalogTupleInsertWithInfo(rel, tuple, indexes);
	CatalogCloseIndexes(indexes);
	heap_freetuple(tuple);
}

/*
 * Delete a row.  Call CommandCounterIncrement() before the table is read again, since scans see
 * the rows that the current command has deleted.  Return TM_Ok, TM_Deleted if another transaction
 * has deleted the row or, if "wait" is false, TM_BeingModified if another transaction has deleted
 * the row and is in progress.
 */
TM_Result
uuid9562_delete_own(Relation rel, HeapTuple tuple, bool wait)
{
	TM_FailureData failure;
	TM_Result	result = delete_tuple(rel, &tuple->t_self, GetCurrentCommandId(true), wait,
									  &failure);

	Assert(result != TM_SelfModified && result != TM_Invisible);
	return result;
}

/* Return the name of a table, for messages. */
char *
uuid9562_table_name(Oid relid)
{
	return DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(relid)));
}
