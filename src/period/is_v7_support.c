/*
 * is_v7_support.c
 *		Planner support of uuid_is_v7(): row estimates, for which see selectivity.c, and repeated
 *		conditions.
 */
#include "period/period.h"

#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_is_v7_support);

/*
 * If an earlier condition of the table is the same call, as in a query with several periods, return
 * "id IS NOT NULL", and NIL otherwise.  The scan checks the earlier condition, so it need not check
 * this call.  Fewer filters keep planning fast: create_indexscan_plan() compares every filter with
 * every index condition.
 */
static List *
repeated_call_as_index_condition(SupportRequestIndexCondition *request)
{
	FuncExpr   *call = (FuncExpr *) request->node;
	NullTest   *not_null;
	ListCell   *cell;

	if (!IsA(call, FuncExpr) || request->opfamily != uuid9562_btree_family())
		return NIL;
	foreach(cell, request->index->rel->baserestrictinfo)
	{
		const Expr *condition = lfirst_node(RestrictInfo, cell)->clause;

		/* this call comes first */
		if (condition == (const Expr *) call)
			return NIL;
		if (equal(condition, call))
			break;
	}
	if (cell == NULL)
		return NIL;
	not_null = makeNode(NullTest);
	not_null->arg = copyObject((Expr *) linitial(call->args));
	not_null->nulltesttype = IS_NOT_NULL;
	not_null->location = -1;
	request->lossy = false;
	return list_make1(not_null);
}

Datum
uuid9562_uuid_is_v7_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	CHECK_FOR_INTERRUPTS();
	if (IsA(request, SupportRequestSelectivity) &&
		!((SupportRequestSelectivity *) request)->is_join)
	{
		uuid9562_estimate_is_v7((SupportRequestSelectivity *) request);
		PG_RETURN_POINTER(request);
	}
	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(repeated_call_as_index_condition((SupportRequestIndexCondition *)
														   request));
	PG_RETURN_POINTER(NULL);
}
