/*
 * catalog.c
 *		The table changes_catalog, which has a row for each tracked table.
 *
 * The trigger needs the logs of its table for each row, so a session caches them.  A change of
 * changes_catalog comes with an invalidation of the relation cache for the tracked table and its
 * partitions, and so do attaching and detaching a partition, and renaming, retyping and dropping a
 * column.
 */
#include "changes/changes.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

static HTAB *tables;			/* of TableLogs */
static uint64 invalidations;	/* grows if a table can need verifying again */

/* Relation cache callback: forget what is cached for a table, or for all tables. */
static void
forget_logs_of_table(Datum arg, Oid relid)
{
	TableLogs  *logs;
	HASH_SEQ_STATUS status;

	invalidations++;
	if (OidIsValid(relid))
	{
		logs = hash_search(tables, &relid, HASH_FIND, NULL);
		if (logs != NULL)
			logs->valid = false;
		return;
	}
	hash_seq_init(&status, tables);
	while ((logs = hash_seq_search(&status)) != NULL)
		logs->valid = false;
}

/* Syscache callback: a value of an enum that a table uses can have been renamed. */
static void
forget_enums(Datum arg, SysCacheIdentifier cacheid, uint32 hashvalue)
{
	invalidations++;
}

/* Return the OID of changes_catalog, or raise an error if the extension has been dropped. */
Oid
uuid9562_changes_catalog(void)
{
	Oid			schema = get_namespace_oid("uuid9562_changes", true);
	Oid			catalog = OidIsValid(schema) ?
		get_relname_relid("changes_catalog", schema) : InvalidOid;

	if (!OidIsValid(catalog))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", "changes_catalog")));
	return catalog;
}

/* Return the index of a table's primary key, or InvalidOid. */
Oid
uuid9562_primary_key(Relation rel)
{
	/* RelationGetPrimaryKeyIndex() has other arguments in some versions */
	list_free(RelationGetIndexList(rel));	/* this sets rd_pkindex */
	return rel->rd_pkindex;
}

/*
 * Set the columns of a key: translate the numbers of columns of the tracked table to those of
 * table "relid", which is the tracked table or a partition.  Columns of a partition have the same
 * names, but can have other numbers.  If a column is missing, the number of columns stays 0, so
 * entries stand for all rows.
 */
static void
set_columns(LogKey *key, Oid relid, Oid tracked, ArrayType *numbers)
{
	Datum	   *datums;
	int			count;

	key->count = 0;
	if (array_contains_nulls(numbers))
		return;
	deconstruct_array(numbers, INT2OID, sizeof(int16), true, TYPALIGN_SHORT, &datums, NULL, &count);
	if (count > INDEX_MAX_KEYS)
		return;
	for (int i = 0; i < count; i++)
	{
		char	   *name = get_attname(tracked, DatumGetInt16(datums[i]), true);

		key->columns[i] = name == NULL ? InvalidAttrNumber : get_attnum(relid, name);
		if (key->columns[i] <= 0)
			return;
		key->types[i] = getBaseType(get_atttype(relid, key->columns[i]));
	}
	key->count = count;
}

/* If "tracked" has a row in changes_catalog, append its log to the logs of a table. */
static void
append_tracked_log(TableLogs *logs, Relation catalog, Oid tracked)
{
	TupleDesc	desc = RelationGetDescr(catalog);
	ScanKeyData scan_key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&scan_key, CATALOG_SOURCE, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(tracked));
	scan = systable_beginscan(catalog, uuid9562_primary_key(catalog), true, NULL, 1, &scan_key);
	row = systable_getnext(scan);
	if (HeapTupleIsValid(row))
	{
		LogKey		key = {.catalog = RelationGetRelid(catalog)};
		bool		isnull;		/* not checked: the columns are NOT NULL */

		key.log = DatumGetObjectId(heap_getattr(row, CATALOG_LOG, desc, &isnull));
		set_columns(&key, logs->relid, tracked,
					DatumGetArrayTypeP(heap_getattr(row, CATALOG_KEY, desc, &isnull)));
		logs->keys = repalloc(logs->keys, (logs->count + 1) * sizeof(LogKey));
		logs->keys[logs->count++] = key;
	}
	systable_endscan(scan);
}

/* Return the cache entry of a table.  If its "valid" is false, the caller must read the logs. */
static TableLogs *
cached_logs(Oid relid)
{
	TableLogs  *logs;
	bool		found;

	if (tables == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(Oid),.entrysize = sizeof(TableLogs),.hcxt = CacheMemoryContext
		};

		tables = hash_create("uuid9562 logs of tables", 64, &control,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		CacheRegisterRelcacheCallback(forget_logs_of_table, (Datum) 0);
		CacheRegisterSyscacheCallback(ENUMOID, forget_enums, (Datum) 0);
	}
	logs = hash_search(tables, &relid, HASH_ENTER, &found);
	if (!found)
	{
		logs->valid = false;
		logs->verified = 0;
		logs->compared = false;
		logs->keys = NULL;
	}
	if (logs->keys == NULL)		/* also if an earlier allocation failed */
		logs->keys = MemoryContextAlloc(CacheMemoryContext, sizeof(LogKey));
	return logs;
}

/* Return the logs for the changes of a table: its own, and those of its partitioned tables. */
TableLogs *
uuid9562_logs_of_table(Oid relid)
{
	TableLogs  *logs = cached_logs(relid);
	const uint64 before = invalidations;
	Relation	catalog;
	List	   *tracked;
	ListCell   *cell;

	if (logs->valid)
		return logs;
	logs->count = 0;
	tracked = get_rel_relispartition(relid) ? get_partition_ancestors(relid) : NIL;
	tracked = lcons_oid(relid, tracked);
	catalog = table_open(uuid9562_changes_catalog(), AccessShareLock);
	foreach(cell, tracked)
		append_tracked_log(logs, catalog, lfirst_oid(cell));
	table_close(catalog, AccessShareLock);

	/* the rows are valid now, but maybe not after an invalidation meanwhile */
	logs->valid = invalidations == before;
	return logs;
}

/* Let the session verify all tables again: a rollback or PREPARE took away what it compared. */
void
uuid9562_forget_verified(void)
{
	invalidations++;
}

/*
 * Receive pending invalidations, and return a number that increases with each.  It is never 0,
 * because changes_verified() returns 0 for a verified table.  The caller has called
 * uuid9562_logs_of_table(), which registers the callbacks that count them.
 */
int64
uuid9562_count_invalidations(void)
{
	Assert(tables != NULL);
	AcceptInvalidationMessages();
	return (int64) invalidations + 1;
}

/*
 * Execute a command with the parameter $1 as the owner of changes_catalog.  The command contains
 * %s once, for the schema of changes_catalog, and no other %.  It must qualify all names and
 * operators, because it runs with the caller's search path.  After an error, the end of the
 * transaction or subtransaction restores the role.
 */
void
uuid9562_execute_as_owner(Relation catalog, const char *command, Oid type, Datum value)
{
	const char *schema = quote_identifier(get_namespace_name(RelationGetNamespace(catalog)));
	Oid			user;
	int			context;
	int			result;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(catalog->rd_rel->relowner, context | SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	result = SPI_execute_with_args(psprintf(command, schema), 1, &type, &value, NULL, false, 0);
	if (result < 0)
		elog(ERROR, "SPI_execute_with_args failed: %s", SPI_result_code_string(result));
	SPI_finish();
	SetUserIdAndSecContext(user, context);
}

/*
 * Record in changes_missing that a log lacks entries, so that changes_notice() lets readers copy
 * the table.
 */
void
uuid9562_record_missing(Oid catalog, Oid log)
{
	Relation	rel = try_table_open(catalog, RowExclusiveLock);

	if (rel == NULL)
		return;					/* the transaction has dropped the extension */
	uuid9562_execute_as_owner(rel, "INSERT INTO %s.changes_missing VALUES ($1) "
							  "ON CONFLICT DO NOTHING", REGCLASSOID, ObjectIdGetDatum(log));
	table_close(rel, NoLock);
}
