/*
 * is_version_support.c
 *		Planner support of uuid_is_v6, uuid_is_v7 and uuid_is_v8.
 *
 * The support functions estimate how many rows of a table have the version; see selectivity.c.
 * They also give an index scan the condition "id IS NOT NULL" instead of the call if it need not
 * check the version of each row.  This is so if a CHECK constraint excludes other versions, or if
 * the query has the same condition twice.
 *
 * An estimate evaluates all bounds that the table's conditions compare with the ID.  A query with n
 * periods has n calls of uuid_is_v7 and 2n bounds.  This file remembers the last estimate, because
 * the time for planning would otherwise grow with the square of n.
 */
#include "period/period.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

/*
 * The estimated selectivity of a call of uuid_is_v7 or a similar function, in the memory context of
 * the table's RelOptInfo.  It is valid as long as the table has the same baserestrictinfo.
 */
typedef struct Estimate
{
	RelOptInfo *rel;
	int			conditions;		/* length of baserestrictinfo; only grows */
	Oid			funcid;
	List	   *args;
	double		selectivity;
	MemoryContextCallback forget;
} Estimate;

static Estimate *last_estimate = NULL;

static void
forget_estimate(void *estimate)
{
	if (last_estimate == estimate)
		last_estimate = NULL;
}

/* Remember an estimate until the planner frees the memory of the table's RelOptInfo. */
static void
remember_estimate(RelOptInfo *rel, Oid funcid, List *args, double selectivity)
{
	MemoryContext context = GetMemoryChunkContext(rel);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Estimate   *estimate = palloc0(sizeof(Estimate));

	estimate->rel = rel;
	estimate->conditions = list_length(rel->baserestrictinfo);
	estimate->funcid = funcid;
	estimate->args = copyObject(args);
	estimate->selectivity = selectivity;
	estimate->forget.func = forget_estimate;
	estimate->forget.arg = estimate;
	MemoryContextRegisterResetCallback(context, &estimate->forget);
	last_estimate = estimate;
	MemoryContextSwitchTo(caller);
}

/* Check whether the last estimate is for the same call and the same conditions. */
static bool
is_remembered(const RelOptInfo *rel, Oid funcid, List *args)
{
	return last_estimate != NULL && last_estimate->rel == rel &&
		last_estimate->conditions == list_length(rel->baserestrictinfo) &&
		last_estimate->funcid == funcid && equal(last_estimate->args, args);
}

/*
 * Several conditions of a table can be equal calls, for example in a query with several periods.
 * Count their effect once: set the selectivity of one condition to the estimate, and the
 * selectivity of the others to 1.  If PostgreSQL is estimating one of these conditions, choose that
 * one, because PostgreSQL then stores the returned estimate in it.  If the call is only a part of
 * the estimated condition, choose the first equal condition.
 */
static void
count_once(const RelOptInfo *rel, Oid funcid, List *args, double selectivity)
{
	RestrictInfo *counted = NULL;
	List	   *same = NIL;
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);
		FuncExpr   *call = (FuncExpr *) condition->clause;

		if (!IsA(call, FuncExpr) || call->funcid != funcid || !equal(call->args, args))
			continue;
		same = lappend(same, condition);
		/* the same list, and not only an equal one, is of the estimated call */
		if (counted == NULL || call->args == args)
			counted = condition;
	}
	foreach(cell, same)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);

		if (condition->norm_selec < 0)
			condition->norm_selec = condition == counted ? selectivity : 1;
	}
}

/*
 * Return the selectivity of a call.  Estimate it in a temporary memory context, since the planner
 * frees its own memory only at the end, and a table can have many partitions and many conditions.
 */
static double
version_selectivity(PlannerInfo *root, Oid funcid, List *args, const UuidKind *kind)
{
	VariableStatData variable;
	double		selectivity = UNKNOWN_SHARE;

	examine_variable(root, linitial(args), 0, &variable);
	if (variable.rel != NULL && IS_SIMPLE_REL(variable.rel))
	{
		if (is_remembered(variable.rel, funcid, args))
			selectivity = last_estimate->selectivity;
		else
		{
			MemoryContext temporary = AllocSetContextCreate(CurrentMemoryContext,
															"uuid9562 row estimate",
															ALLOCSET_SMALL_SIZES);
			MemoryContext caller = MemoryContextSwitchTo(temporary);

			selectivity = uuid9562_version_share(root, &variable, linitial(args), kind);
			count_once(variable.rel, funcid, args, selectivity);
			MemoryContextSwitchTo(caller);
			MemoryContextDelete(temporary);
			remember_estimate(variable.rel, funcid, args, selectivity);
		}
	}
	ReleaseVariableStats(variable);
	return selectivity;
}

/*
 * Check whether all rows that the current transaction can see satisfy a CHECK constraint.
 *
 * ALTER TABLE checks only the rows that are visible when it adds or validates the constraint.  An
 * older snapshot can also see rows that have been deleted since.  Such a snapshot sees the
 * transaction that last changed the row of pg_constraint as in progress.  So rely on the constraint
 * only if that transaction precedes TransactionXmin, as for an index with indcheckxmin.
 *
 * PostgreSQL discards a transient plan if TransactionXmin has changed.  So mark the plan as
 * transient if the constraint is too new, so that a later plan can rely on it.  Also mark a plan
 * that relies on the constraint if any session may have a snapshot that is too old for it, since
 * SET TRANSACTION SNAPSHOT can import that snapshot.  GlobalVisCheckRemovableXid() gets no
 * relation, because for a temporary table it would ignore other sessions.
 *
 * The relation cache can differ from the row of pg_constraint, so also check convalidated here.
 */
static bool
holds_for_all_snapshots(PlannerInfo *root, Oid table, const char *constraint)
{
	Oid			oid = get_relation_constraint_oid(table, constraint, true);
	HeapTuple	row = SearchSysCache1(CONSTROID, ObjectIdGetDatum(oid));
	TransactionId changed;
	bool		validated;
	bool		too_new;

	if (!HeapTupleIsValid(row))
		return false;			/* GCOV_EXCL_LINE: dropped just before */
	validated = ((Form_pg_constraint) GETSTRUCT(row))->convalidated;
	changed = HeapTupleHeaderGetXmin(row->t_data);
	ReleaseSysCache(row);

	too_new = !TransactionIdPrecedes(changed, TransactionXmin);
	if (validated && TransactionIdIsNormal(changed) &&
		(too_new || !GlobalVisCheckRemovableXid(NULL, changed)))
		root->glob->transientPlan = true;
	return validated && !too_new;
}

/*
 * Check whether a CHECK constraint guarantees that a call returns true or NULL for each row of the
 * table or partition.  If ALTER TABLE drops the constraint, plans that rely on it become invalid.
 */
static bool
is_checked(PlannerInfo *root, Index relid, FuncExpr *call)
{
	RangeTblEntry *table = planner_rt_fetch(relid, root);
	Relation	relation;
	TupleConstr *constraints;
	bool		found = false;

	if (table->relkind != RELKIND_RELATION)
		return false;

	relation = table_open(table->relid, NoLock);
	constraints = relation->rd_att->constr;
	if (constraints != NULL && constraints->num_check > 0)
	{
		FuncExpr   *checked = copyObject(call);
		char	   *mark = psprintf(":funcid %u ", call->funcid);

		/* in a constraint, the varno of its table is 1 */
		ChangeVarNodes((Node *) checked, relid, 1, 0);

		for (int i = 0; i < constraints->num_check && !found; i++)
		{
			ConstrCheck *check = &constraints->check[i];

			/* parse only a constraint that calls the function */
			found = check->ccvalid && strstr(check->ccbin, mark) != NULL &&
				list_member(make_ands_implicit(stringToNode(check->ccbin)), checked) &&
				holds_for_all_snapshots(root, table->relid, check->ccname);
		}
	}
	table_close(relation, NoLock);
	return found;
}

/*
 * Check whether an earlier condition of the table is the same call, for example in a query with
 * several periods.  Each scan checks that condition, so it need not check this call.  Fewer filters
 * keep planning fast: create_indexscan_plan() compares every filter with every index condition.
 */
static bool
is_repeated(const RelOptInfo *rel, const FuncExpr *call)
{
	ListCell   *cell;

	foreach(cell, rel->baserestrictinfo)
	{
		const Expr *condition = lfirst_node(RestrictInfo, cell)->clause;

		if (equal(condition, call))
			return condition != (const Expr *) call;
	}
	return false;
}

/* Return "id IS NOT NULL", or NIL if the scan must check the version. */
static List *
version_as_index_condition(SupportRequestIndexCondition *request)
{
	FuncExpr   *call = (FuncExpr *) request->node;
	NullTest   *not_null;

	if (!IsA(call, FuncExpr) ||
		request->opfamily != uuid9562_btree_family() ||
		!(is_repeated(request->index->rel, call) ||
		  is_checked(request->root, request->index->rel->relid, call)))
		return NIL;

	not_null = makeNode(NullTest);
	not_null->arg = copyObject((Expr *) linitial(call->args));
	not_null->nulltesttype = IS_NOT_NULL;
	not_null->location = -1;
	request->lossy = false;
	return list_make1(not_null);
}

static Datum
is_version_support(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	CHECK_FOR_INTERRUPTS();
	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *selectivity = (SupportRequestSelectivity *) request;

		if (selectivity->is_join)
			PG_RETURN_POINTER(NULL);
		selectivity->selectivity = version_selectivity(selectivity->root, selectivity->funcid,
													   selectivity->args, kind);
		PG_RETURN_POINTER(request);
	}
	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(version_as_index_condition((SupportRequestIndexCondition *) request));
	PG_RETURN_POINTER(NULL);
}

SQL_FUNCTION(uuid9562_uuid_is_v6_support, is_version_support, UUID_V6)
SQL_FUNCTION(uuid9562_uuid_is_v7_support, is_version_support, UUID_V7)
/* uuid_is_v8() also accepts IDs of uuidv8(); add_recent_rows() handles them */
SQL_FUNCTION(uuid9562_uuid_is_v8_support, is_version_support, UUID_V8_NODE)
