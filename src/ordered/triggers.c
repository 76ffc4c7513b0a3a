/*
 * triggers.c
 *		uuidv7_guard_trigger(), which makes a table safe to read incrementally.
 *
 * horizon.c shows that no horizon passes the smallest value of a transaction before the transaction
 * has finished.  So a reader misses no row if the ID of each row is at least the smallest value of
 * the inserting transaction.
 *
 * The guard accepts only IDs from the smallest to the greatest value of the transaction.  Smaller
 * IDs are not safe.  Greater IDs are safe, but can stay above the horizon for years, hidden from
 * readers.  An ID between both values is safe even if it is from another session.
 */
#include "ordered/shared_state.h"

#include "access/htup_details.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_guard_trigger);

#define GUARD	"uuidv7_guard_trigger"

/*
 * Return the number of the column that the argument of a trigger function names.  Look it up in the
 * catalog, because the relation's descriptor keeps the names of a RENAME COLUMN that a
 * subtransaction has rolled back during the statement.
 */
static int
find_column(const TriggerData *data)
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
						 data->tg_trigger->tgname, GUARD)));
	attribute = TupleDescAttr(data->tg_relation->rd_att, attnum - 1);
	if (attribute->atttypid != UUIDOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" is not of type uuid",
						column, RelationGetRelationName(data->tg_relation))));
	if (attribute->attgenerated != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_GENERATED_ALWAYS),
				 errmsg("function \"%s\" cannot be used with generated column \"%s\"", GUARD, column)));
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
				 errmsg("function \"%s\" cannot be used with inheritance", GUARD),
				 errdetail("Table \"%s\" inherits from another table, or other tables inherit from it.",
						   RelationGetRelationName(relation)),
				 errhint("Use a partitioned table instead, because its partitions inherit the trigger.")));
}

/* Raise an error unless a trigger calls the guard that fires for each ID that could be set. */
static void
check_trigger(FunctionCallInfo fcinfo)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	const int16 type = TRIGGER_TYPE_ROW | TRIGGER_TYPE_AFTER |
		TRIGGER_TYPE_INSERT | TRIGGER_TYPE_UPDATE;

	/* a list of columns would miss an ID that a BEFORE trigger has changed */
	if (CALLED_AS_TRIGGER(fcinfo) && data->tg_trigger->tgtype == type &&
		data->tg_trigger->tgnattr == 0 && data->tg_trigger->tgqual == NULL &&
		data->tg_trigger->tgnargs == 1)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			 errmsg("function \"%s\" must be called by a trigger AFTER INSERT OR UPDATE FOR EACH ROW with one argument",
					GUARD),
			 errdetail("The trigger must not have a list of columns or a WHEN condition."),
			 errhint("Create the trigger with \"AFTER INSERT OR UPDATE ON ... FOR EACH ROW EXECUTE FUNCTION %s('column')\".",
					 GUARD)));
}

/*
 * Return the number of the guarded column, which can differ between partitions.  Check the trigger
 * and the table at its first row in a statement.  Each trigger of each partition has its own
 * FmgrInfo, which remembers the number.
 */
static int
guarded_column(FunctionCallInfo fcinfo)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;

	if (fcinfo->flinfo->fn_extra == NULL)
	{
		refuse_inheritance(data->tg_relation);
		fcinfo->flinfo->fn_extra = (void *) (intptr_t) find_column(data);
	}
	return (int) (intptr_t) fcinfo->flinfo->fn_extra;
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
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	Relation	relation;
	int			attnum;
	bool		isnull;
	bool		was_null;
	Datum		value;
	Datum		old;

	check_trigger(fcinfo);
	relation = data->tg_relation;
	attnum = guarded_column(fcinfo);
	if (TRIGGER_FIRED_BY_UPDATE(data->tg_event))
	{
		value = heap_getattr(data->tg_newtuple, attnum, relation->rd_att, &isnull);
		old = heap_getattr(data->tg_trigtuple, attnum, relation->rd_att, &was_null);
		if (isnull == was_null && (isnull || datumIsEqual(old, value, false, UUID_LEN)))
			return PointerGetDatum(NULL);
	}
	else
		value = heap_getattr(data->tg_trigtuple, attnum, relation->rd_att, &isnull);

	if (unlikely(isnull || !uuid9562_is_own(DatumGetUUIDP(value)->data)))
		ereport(ERROR,
				(errcode(ERRCODE_CHECK_VIOLATION),
				 isnull ? errmsg("null value in column \"%s\" of relation \"%s\" was not generated by this transaction",
								 data->tg_trigger->tgargs[0], RelationGetRelationName(relation)) :
				 errmsg("ID %s in column \"%s\" of relation \"%s\" was not generated by this transaction",
						uuid_string(DatumGetUUIDP(value)),
						data->tg_trigger->tgargs[0], RelationGetRelationName(relation)),
				 errdetail("Readers can miss the row, because only an ID of uuidv7_ordered() in the same transaction holds back the horizon."),
				 errhint("Omit the column in INSERT, and check that its default is uuidv7_ordered(). "
						 "In an UPDATE that changes the ID or moves the row to another partition, set the column to DEFAULT."),
				 errtablecol(relation, attnum)));
	return PointerGetDatum(NULL);
}
