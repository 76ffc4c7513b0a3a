/*
 * source.c
 *		Which logs the changes of a table belong to.
 *
 * The table changes_catalog has a row for each tracked table.  A session caches what it has read,
 * for each table that fires the trigger.  A change of changes_catalog comes with an invalidation
 * of the relation cache for the tracked table and its partitions, and so do attaching and detaching
 * a partition, and renaming, retyping and dropping a column.
 */
#include "changes/changes.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/fmgroids.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

static HTAB *sources;
static uint64 invalidations;	/* number of calls of forget_source() */

/* Relation cache callback: forget what is cached for a table, or for all tables. */
static void
forget_source(Datum arg, Oid relid)
{
	ChangesSource *source;
	HASH_SEQ_STATUS status;

	invalidations++;
	if (OidIsValid(relid))
	{
		source = hash_search(sources, &relid, HASH_FIND, NULL);
		if (source != NULL)
			source->valid = false;
		return;
	}
	hash_seq_init(&status, sources);
	while ((source = hash_seq_search(&status)) != NULL)
		source->valid = false;
}

/* Return the OID of changes_catalog, which is in the schema of the extension's functions. */
Oid
uuid9562_changes_catalog(Oid function)
{
	Oid			catalog = get_relname_relid("changes_catalog", get_func_namespace(function));

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
	list_free(RelationGetIndexList(rel));	/* this sets rd_pkindex */
	return rel->rd_pkindex;
}

/*
 * Set the columns of a target's key, which are the columns of table "relid" that have the names of
 * the given columns of the tracked table.  The columns of a partition can have other numbers.
 */
static void
set_key(ChangesTarget *target, Oid relid, Oid tracked, ArrayType *numbers)
{
	Datum	   *datums;
	int			count;

	target->key_count = 0;
	if (array_contains_nulls(numbers))
		return;
	deconstruct_array(numbers, INT2OID, sizeof(int16), true, TYPALIGN_SHORT, &datums, NULL, &count);
	if (count > INDEX_MAX_KEYS)
		return;
	for (int i = 0; i < count; i++)
	{
		char	   *name = get_attname(tracked, DatumGetInt16(datums[i]), true);

		target->key[i] = name == NULL ? InvalidAttrNumber : get_attnum(relid, name);
		if (target->key[i] <= 0)
			return;
		target->types[i] = getBaseType(get_atttype(relid, target->key[i]));
	}
	target->key_count = count;
}

/* If "tracked" has a log, append it as target for the changes of the source. */
static void
add_target(ChangesSource *source, Relation catalog, Oid tracked)
{
	TupleDesc	desc = RelationGetDescr(catalog);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, CATALOG_SOURCE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(tracked));
	scan = systable_beginscan(catalog, uuid9562_primary_key(catalog), true, NULL, 1, &key);
	row = systable_getnext(scan);
	if (HeapTupleIsValid(row))
	{
		ChangesTarget target;
		bool		isnull;

		target.log = DatumGetObjectId(heap_getattr(row, CATALOG_LOG, desc, &isnull));
		set_key(&target, source->relid, tracked,
				DatumGetArrayTypeP(heap_getattr(row, CATALOG_KEY, desc, &isnull)));
		source->targets = repalloc(source->targets, (source->count + 1) * sizeof(ChangesTarget));
		source->targets[source->count++] = target;
	}
	systable_endscan(scan);
}

/*
 * Let the session verify all tables again, because it has rolled back or prepared what it compared
 * them with.
 */
void
uuid9562_forget_verified(void)
{
	invalidations++;
}

/* Receive pending invalidations of the relation cache, and count all so far, from 1. */
int64
uuid9562_count_invalidations(void)
{
	AcceptInvalidationMessages();
	return (int64) invalidations + 1;
}

/* Return the logs for the changes of a table.  "function" is any function of the extension. */
ChangesSource *
uuid9562_changes_source(Oid relid, Oid function)
{
	ChangesSource *source;
	Relation	catalog;
	List	   *tables;
	ListCell   *cell;
	uint64		before;
	bool		found;

	if (sources == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof(Oid),.entrysize = sizeof(ChangesSource),.hcxt = CacheMemoryContext
		};

		sources = hash_create("uuid9562 sources of changes", 64, &control,
							  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
		CacheRegisterRelcacheCallback(forget_source, (Datum) 0);
	}
	source = hash_search(sources, &relid, HASH_ENTER, &found);
	if (!found)
	{
		source->valid = false;
		source->verified = 0;
		source->targets = NULL;
	}
	if (source->targets == NULL)
		source->targets = MemoryContextAlloc(CacheMemoryContext, sizeof(ChangesTarget));
	if (source->valid)
		return source;

	before = invalidations;
	source->count = 0;
	tables = lcons_oid(relid, get_rel_relispartition(relid) ? get_partition_ancestors(relid) : NIL);
	catalog = table_open(uuid9562_changes_catalog(function), AccessShareLock);
	foreach(cell, tables)
		add_target(source, catalog, lfirst_oid(cell));
	table_close(catalog, AccessShareLock);

	/* the rows are current, but the next statement can need others */
	source->valid = invalidations == before;
	return source;
}
