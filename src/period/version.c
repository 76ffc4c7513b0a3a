/*
 * version.c
 *		Planner support of uuid_is_v6, uuid_is_v7 and uuid_is_v8.
 *
 * How many rows of a table are of the version (see estimate.c), and whether an
 * index can say so: where a CHECK constraint keeps other versions out, "id is of the version"
 * and "id is not NULL" say the same, and scans of an index on the id need not
 * ask each row for its version.
 */
#include "value/value.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"

#include "period/selectivity.h"

/*
 * Does a CHECK constraint of the table already say what a call says?  The
 * planner asks for each table that has rows in the plan, and a plan is made
 * anew after any ALTER TABLE.  As with PostgreSQL's own use of constraints, a
 * snapshot older than the constraint may hold rows that violate it.
 */
static bool
is_checked(PlannerInfo *root, Index relid, FuncExpr *call)
{
	RangeTblEntry *table = planner_rt_fetch(relid, root);
	Relation	relation;
	TupleConstr *constraints;
	bool		found = false;

	if (table->rtekind != RTE_RELATION || table->relkind != RELKIND_RELATION)
		return false;

	relation = table_open(table->relid, NoLock);
	constraints = relation->rd_att->constr;
	if (constraints != NULL && constraints->num_check > 0)
	{
		FuncExpr   *checked = copyObject(call);
		char	   *mark = psprintf(":funcid %u ", call->funcid);

		/* a constraint calls its own table 1 */
		ChangeVarNodes((Node *) checked, relid, 1, 0);

		for (int i = 0; i < constraints->num_check && !found; i++)
		{
			ConstrCheck *check = &constraints->check[i];

#if PG_VERSION_NUM >= 180000
			if (!check->ccenforced)
				continue;
#endif
			/* most constraints are not worth reading */
			if (check->ccvalid && strstr(check->ccbin, mark) != NULL)
				found = list_member(make_ands_implicit(stringToNode(check->ccbin)), checked);
		}
	}
	table_close(relation, NoLock);
	return found;
}

/* The condition of an index; NIL where no constraint keeps other versions out. */
static List *
version_as_index_condition(SupportRequestIndexCondition *request)
{
	FuncExpr   *call = (FuncExpr *) request->node;
	NullTest   *not_null;

	if (!IsA(call, FuncExpr) ||
		request->opfamily != uuid9562_btree_family() ||
		!is_checked(request->root, request->index->rel->relid, call))
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

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *selectivity = (SupportRequestSelectivity *) request;

		if (selectivity->is_join)
			PG_RETURN_POINTER(NULL);
		selectivity->selectivity = uuid9562_version_selectivity(selectivity->root, selectivity->funcid,
																selectivity->args, kind);
		PG_RETURN_POINTER(request);
	}
	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(version_as_index_condition((SupportRequestIndexCondition *) request));
	PG_RETURN_POINTER(NULL);
}

/*
 * uuid_is_v6_support(internal) returns internal
 * uuid_is_v7_support(internal) returns internal
 * uuid_is_v8_support(internal) returns internal
 */
KIND_FUNCTION(uuid9562_uuid_is_v6_support, UUID_V6, is_version_support)
KIND_FUNCTION(uuid9562_uuid_is_v7_support, UUID_V7, is_version_support)
KIND_FUNCTION(uuid9562_uuid_is_v8_support, UUID_V8_NODE, is_version_support)
