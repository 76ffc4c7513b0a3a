/*
 * version.c
 *		Planner support of uuid_is_v6, uuid_is_v7 and uuid_is_v8.
 *
 * The support functions estimate how many rows of a table have the version; see
 * selectivity.c.  They also provide an index condition.  If a CHECK constraint excludes
 * other versions, the index condition "id IS NOT NULL" replaces the call, and an index
 * scan does not have to check the version of each row.
 */
#include "period/period.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/rel.h"

/*
 * Check whether a CHECK constraint guarantees that a call returns true or NULL for each
 * row of the table or partition.  If ALTER TABLE drops the constraint, plans that rely on
 * it become invalid.  As with PostgreSQL's own use of constraints, a snapshot older than
 * the constraint may see rows that violate it.
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

		/* in a constraint, the varno of its table is 1 */
		ChangeVarNodes((Node *) checked, relid, 1, 0);

		for (int i = 0; i < constraints->num_check && !found; i++)
		{
			ConstrCheck *check = &constraints->check[i];

#ifdef HAVE_NOT_ENFORCED
			if (!check->ccenforced)
				continue;
#endif
			/* parse only a constraint that calls the function */
			if (check->ccvalid && strstr(check->ccbin, mark) != NULL)
				found = list_member(make_ands_implicit(stringToNode(check->ccbin)), checked);
		}
	}
	table_close(relation, NoLock);
	return found;
}

/* Return "id IS NOT NULL", or NIL if no constraint excludes other versions. */
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

SQL_FUNCTION(uuid9562_uuid_is_v6_support, is_version_support, UUID_V6)
SQL_FUNCTION(uuid9562_uuid_is_v7_support, is_version_support, UUID_V7)
SQL_FUNCTION(uuid9562_uuid_is_v8_support, is_version_support, UUID_V8_NODE)
