/*
 * triggers.c
 *		Trigger functions that make a table safe to read incrementally:
 *		uuidv7_stamp_trigger() and uuidv7_guard_trigger().
 *
 * horizon.c shows that no horizon passes the smallest value of a transaction before the transaction
 * has finished.  So a reader misses no row if the ID of each row is at least the smallest value of
 * the inserting transaction.  The stamp sets a column to such an ID.
 *
 * The guard accepts only IDs from the smallest to the greatest value of the transaction.  Smaller
 * IDs are not safe.  Greater IDs are safe, but can stay above the horizon for years, hidden from
 * readers.  An ID between both values is safe even if it is from another session.
 */
#include "ordered/shared_state.h"

#include "access/htup_details.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_stamp_trigger);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_guard_trigger);

/* How a trigger function must be used */
typedef struct TriggerUse
{
	const char *function;
	const char *timing;
} TriggerUse;

static const TriggerUse stamp = {"uuidv7_stamp_trigger", "BEFORE"};
static const TriggerUse guard = {"uuidv7_guard_trigger", "AFTER"};

/* Report an incorrect use of a trigger function. */
pg_noreturn static pg_noinline void
wrong_use(const TriggerUse *use, const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("function \"%s\" %s", use->function, message),
			 errhint("Create the trigger with \"%s INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION %s('column')\".",
					 use->timing, use->function)));
}

/*
 * Return the number of the column that the argument of a trigger function names.  Look it up in the
 * catalog, because the relation's descriptor keeps the names of a RENAME COLUMN that a
 * subtransaction has rolled back during the statement.
 */
static int
find_column(const TriggerData *data, const TriggerUse *use)
{
	const char *column = data->tg_trigger->tgargs[0];
	int			attnum = get_attnum(RelationGetRelid(data->tg_relation), column);
	const FormData_pg_attribute *attribute;

	if (attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						column, RelationGetRelationName(data->tg_relation)),
				 errhint("Create the trigger \"%s\" again with the name of the column as argument of %s().",
						 data->tg_trigger->tgname, use->function)));
	attribute = TupleDescAttr(data->tg_relation->rd_att, attnum - 1);
	if (attribute->atttypid != UUIDOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is not of type uuid",
						column, RelationGetRelationName(data->tg_relation))));
	if (attribute->attgenerated != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("function \"%s\" cannot be used with generated column \"%s\"", use->function, column)));
	return attnum;
}

/*
 * Raise an error if a table has child tables by INHERITS, or is one.  Children do not inherit the
 * guard, and readers of the parent also read the rows of its children.
 */
static void
refuse_inheritance(Relation relation)
{
	const Oid	relid = RelationGetRelid(relation);

	if (relation->rd_rel->relispartition)
		return;
	if (has_superclass(relid) ||
		(relation->rd_rel->relhassubclass && find_inheritance_children(relid, NoLock) != NIL))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("function \"uuidv7_guard_trigger\" cannot be used with inheritance"),
				 errdetail("Table \"%s\" inherits from another table, or other tables inherit from it.",
						   RelationGetRelationName(relation)),
				 errhint("Use a partitioned table instead, because its partitions inherit the trigger.")));
}

/*
 * Check how a trigger function is called, and return its trigger data.  The argument of the trigger
 * is the name of a column.  Set *attnum to the number of this column, which can differ between
 * partitions.  Each trigger of each partition has its own FmgrInfo, which remembers the number.
 */
static const TriggerData *
check_use(FunctionCallInfo fcinfo, const TriggerUse *use, int *attnum)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		wrong_use(use, "was not called by trigger manager");
	if (!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		(use == &stamp ? !TRIGGER_FIRED_BEFORE(data->tg_event) :
		 !TRIGGER_FIRED_AFTER(data->tg_event)))
		wrong_use(use, psprintf("must be fired %s ROW", use->timing));
	if (!TRIGGER_FIRED_BY_INSERT(data->tg_event) && !TRIGGER_FIRED_BY_UPDATE(data->tg_event))
		wrong_use(use, "must be fired for INSERT or UPDATE");
	if (data->tg_trigger->tgnargs != 1)
		wrong_use(use, "must be called with one argument, the name of a column");
	if (fcinfo->flinfo->fn_extra == NULL && use == &guard)
		refuse_inheritance(data->tg_relation);
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = (void *) (intptr_t) find_column(data, use);
	*attnum = (int) (intptr_t) fcinfo->flinfo->fn_extra;
	return data;
}

/*
 * uuidv7_stamp_trigger(column) returns trigger
 *
 * BEFORE INSERT OR UPDATE: set the column to uuidv7_ordered(), whatever value the statement
 * sets.  Triggers whose names sort after this trigger's name can change the column again.
 */
Datum
uuid9562_uuidv7_stamp_trigger(PG_FUNCTION_ARGS)
{
	int			attnum;
	const TriggerData *data = check_use(fcinfo, &stamp, &attnum);
	HeapTuple	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple :
		data->tg_trigtuple;
	Datum		value = uuid_datum(7, uuid9562_next_ordered());
	bool		isnull = false;

	return PointerGetDatum(heap_modify_tuple_by_cols(row, data->tg_relation->rd_att, 1,
													 &attnum, &value, &isnull));
}

/*
 * uuidv7_guard_trigger(column) returns trigger
 *
 * AFTER INSERT OR UPDATE: raise an error if the column is NULL or has an ID that this transaction
 * has not generated.  Accept an UPDATE that does not change the column.
 *
 * If an UPDATE moves a row to another partition, PostgreSQL fires the INSERT triggers of that
 * partition.  The guard then refuses the row's old ID, so the UPDATE must also set a new ID.
 */
Datum
uuid9562_uuidv7_guard_trigger(PG_FUNCTION_ARGS)
{
	int			attnum;
	const TriggerData *data = check_use(fcinfo, &guard, &attnum);
	TupleDesc	tupdesc = data->tg_relation->rd_att;
	const char *column = data->tg_trigger->tgargs[0];
	bool		update = TRIGGER_FIRED_BY_UPDATE(data->tg_event);
	bool		isnull;
	Datum		value = heap_getattr(update ? data->tg_newtuple : data->tg_trigtuple,
									 attnum, tupdesc, &isnull);

	if (likely(!isnull && uuid9562_is_own(DatumGetUUIDP(value)->data)))
		return PointerGetDatum(NULL);
	if (update)
	{
		bool		was_null;
		Datum		old = heap_getattr(data->tg_trigtuple, attnum, tupdesc, &was_null);

		if (was_null ? isnull :
			!isnull && memcmp(DatumGetUUIDP(old)->data, DatumGetUUIDP(value)->data, UUID_LEN) == 0)
			return PointerGetDatum(NULL);
	}
	ereport(ERROR,
			(errcode(ERRCODE_CHECK_VIOLATION),
			 isnull ? errmsg("null value in column \"%s\" of relation \"%s\" was not generated by this transaction",
							 column, RelationGetRelationName(data->tg_relation)) :
			 errmsg("ID %s in column \"%s\" of relation \"%s\" was not generated by this transaction",
					DatumGetCString(DirectFunctionCall1(uuid_out, value)),
					column, RelationGetRelationName(data->tg_relation)),
			 errdetail("Readers can miss the row, because only an ID of uuidv7_ordered() in the same transaction holds back the horizon."),
			 errhint("Omit the column in INSERT, and check that its default is uuidv7_ordered(). "
					 "In an UPDATE that changes the ID or moves the row to another partition, set the column to DEFAULT."),
			 errtablecol(data->tg_relation, attnum)));
}
