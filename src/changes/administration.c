/*
 * administration.c
 *		What owners do with the readers of a table, and the functions of the views.
 */
#include "changes/changes.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "ordered/ordered.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_changes_reset);
PG_FUNCTION_INFO_V1(uuid9562_changes_forget);
PG_FUNCTION_INFO_V1(uuid9562_forget_table);
PG_FUNCTION_INFO_V1(uuid9562_table_info);
PG_FUNCTION_INFO_V1(uuid9562_entries_after);

#define COUNT_MAX	100000		/* entries that the views count */

/* --- readers and tables ----------------------------------------------------------- */

/*
 * changes_reset(source regclass)
 *
 * Let all readers of a table copy it.
 */
Datum
uuid9562_changes_reset(PG_FUNCTION_ARGS)
{
	const Oid	source = PG_GETARG_OID(0);

	PreventCommandIfReadOnly("changes_reset()");
	uuid9562_check_owner(source);
	(void) uuid9562_find_trigger(source);
	uuid9562_forget_states(source, true);
	PG_RETURN_VOID();
}

/*
 * changes_forget(reader text, source regclass)
 *
 * Remove a reader.
 */
Datum
uuid9562_changes_forget(PG_FUNCTION_ARGS)
{
	const char *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	const Oid	source = PG_GETARG_OID(1);
	ReaderState *reader = palloc(sizeof(ReaderState));

	PreventCommandIfReadOnly("changes_forget()");
	uuid9562_lock_and_load_reader(reader, name, source);
	if (!reader->exists)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("reader \"%s\" of table %s does not exist", name,
						uuid9562_table_name(source))));
	uuid9562_remove_reader(name, source);
	PG_RETURN_VOID();
}

/*
 * forget_table(source regclass, remove_readers boolean)
 *
 * Remove the readers and the remembered states of a table; called by changes_untrack().  Its
 * entries stay, and are below the horizon of all later readers.  First take the lock that dropping
 * a trigger requires, since a session that reads locks the table before its reader.
 *
 * Without "remove_readers", only remove the states that can be removed at once, so that the views
 * show it; called by changes_track(), whose new trigger makes the others invalid.
 */
Datum
uuid9562_forget_table(PG_FUNCTION_ARGS)
{
	const Oid	source = PG_GETARG_OID(0);
	const bool	remove_readers = PG_GETARG_BOOL(1);

	uuid9562_check_owner(source);
	if (remove_readers)
	{
		LockRelationOid(source, AccessExclusiveLock);
		uuid9562_remove_readers(source, true);
	}
	uuid9562_forget_states(source, remove_readers);
	PG_RETURN_VOID();
}

/* --- views ------------------------------------------------------------------------ */

static bool
may_read(Oid source)
{
	return get_rel_name(source) != NULL &&
		(pg_class_aclcheck(source, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		 object_ownercheck(RelationRelationId, source, GetUserId()));
}

/*
 * Return up to which ID entries can have been deleted of those that readers can need.  A view must
 * not fail, so without a running generator, suppose that it was not reset.
 */
static UuidReaderId
purged_for_views(Oid source)
{
	const Purged purged = uuid9562_load_purged(source);
	const uint64 current = uuid9562_published_branch();

	return current == 0 ? purged.id : uuid9562_purged_for_readers(current, purged);
}

static Datum
operations_datum(int16 type)
{
	Datum		names[3];
	int			count = 0;

	if (type & TRIGGER_TYPE_INSERT)
		names[count++] = CStringGetTextDatum("insert");
	if (type & TRIGGER_TYPE_UPDATE)
		names[count++] = CStringGetTextDatum("update");
	if (type & TRIGGER_TYPE_DELETE)
		names[count++] = CStringGetTextDatum("delete");
	return PointerGetDatum(construct_array_builtin(names, count, TEXTOID));
}

static Datum
relations_datum(List *relids)
{
	Datum	   *elements = palloc(Max(1, list_length(relids)) * sizeof(Datum));
	int			count = 0;
	ListCell   *cell;

	foreach(cell, relids)
	{
		if (get_rel_relkind(lfirst_oid(cell)) == RELKIND_RELATION)
			elements[count++] = ObjectIdGetDatum(lfirst_oid(cell));
	}
	return PointerGetDatum(construct_array(elements, count, REGCLASSOID, sizeof(Oid), true,
										   TYPALIGN_INT));
}

/*
 * table_info(source oid, wait boolean, OUT operations text[], OUT dropped_partitions text, OUT
 *		reader_expiry bigint, OUT problem text, OUT without_truncate_trigger regclass[],
 *		OUT purged uuid, OUT kept_by text, OUT key_problem text)
 *
 * If "wait" is false, do not wait for locks, and hold none afterwards.
 */
Datum
uuid9562_table_info(PG_FUNCTION_ARGS)
{
	enum
	{
		OPERATIONS, DROPPED_PARTITIONS, EXPIRY, PROBLEM, WITHOUT_TRUNCATE, PURGED, KEPT_BY,
		KEY_PROBLEM, COLUMNS
	};
	const Oid	source = PG_GETARG_OID(0);
	const bool	wait = PG_GETARG_BOOL(1);
	bool		is_locked;
	Relation	rel = NULL;
	TableTriggers triggers;
	CurrentState current = {0};
	UuidReaderId purged;
	UuidReaderId first;
	Datum		values[COLUMNS];
	bool		nulls[COLUMNS] = {false};
	char	   *reader;

	uuid9562_scan_triggers(source, source, &triggers);
	if (!may_read(source))
		PG_RETURN_NULL();
	is_locked = !wait && ConditionalLockRelationOid(source, AccessShareLock);
	if (wait || is_locked)
		rel = try_relation_open(source, wait ? AccessShareLock : NoLock);
	if (rel != NULL)
	{
		uuid9562_compute_state(rel, &current, wait);
		relation_close(rel, NoLock);
		uuid9562_unlock_state(&current);
	}
	else
		current.problem = "the table is locked";
	if (is_locked)
		UnlockRelationOid(source, AccessShareLock);
	current.trigger = triggers.root;
	purged = purged_for_views(source);
	uuid9562_kept_by_readers(source, Max(1, current.trigger.reader_expiry), &reader);
	values[OPERATIONS] = operations_datum(current.trigger.type);
	values[DROPPED_PARTITIONS] =
		CStringGetTextDatum(current.trigger.ignores_dropped_partitions ? "ignore" : "reset");
	values[EXPIRY] = Int64GetDatum(current.trigger.reader_expiry);
	nulls[PROBLEM] = current.problem == NULL;
	values[PROBLEM] = nulls[PROBLEM] ? (Datum) 0 : CStringGetTextDatum(current.problem);
	values[WITHOUT_TRUNCATE] = relations_datum(current.without_truncate);
	values[PURGED] = reader_id_datum(&purged);
	nulls[PURGED] = uuid_reader_id_equal(purged, uuid_reader_nothing);
	nulls[KEPT_BY] = reader == NULL || uuid9562_count_entries(source, purged, 1, &first) == 0;
	values[KEPT_BY] = nulls[KEPT_BY] ? (Datum) 0 : CStringGetTextDatum(reader);
	nulls[KEY_PROBLEM] = current.key_problem == NULL;
	values[KEY_PROBLEM] = nulls[KEY_PROBLEM] ? (Datum) 0 : CStringGetTextDatum(current.key_problem);
	PG_RETURN_DATUM(row_datum(fcinfo, values, nulls));
}

/*
 * entries_after(source oid, after uuid, OUT entries bigint, OUT first uuid, OUT is_purged boolean)
 *
 * Count the entries that a reader has not confirmed, for a caller who may read the table, or all
 * entries if "after" is NULL.  "is_purged" says that there were others.
 */
Datum
uuid9562_entries_after(PG_FUNCTION_ARGS)
{
	const Oid	source = PG_GETARG_OID(0);
	const UuidReaderId purged = purged_for_views(source);
	UuidReaderId after = purged;
	UuidReaderId first = uuid_reader_nothing;
	Datum		values[3];
	bool		nulls[3] = {true, true, false};

	if (!PG_ARGISNULL(1))
		memcpy(after.bytes, PG_GETARG_UUID_P(1)->data, UUID_BYTES);
	if (may_read(source))
	{
		values[0] = Int64GetDatum(uuid9562_count_entries(source, after, COUNT_MAX, &first));
		values[1] = reader_id_datum(&first);
		nulls[0] = false;
		nulls[1] = uuid_reader_id_equal(first, uuid_reader_nothing);
	}
	values[2] = BoolGetDatum(PG_ARGISNULL(1) || uuid_reader_id_less(after, purged));
	PG_RETURN_DATUM(row_datum(fcinfo, values, nulls));
}
