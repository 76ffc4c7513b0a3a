/*
 * rewrite.c
 *		Planner support of the _within functions and of the operators <@ and @>.
 *
 * The planner itself cannot use an index for "id <@ period".  But it can use an index
 * for comparisons of a column with a value.  It also prunes partitions and matches partial
 * indexes and constraints by comparisons.  So this file rewrites the condition to
 *
 *		uuid_is_v7(id) AND id >= lower bound AND id <= upper bound
 *
 * with the comparison operators of PostgreSQL.  uuid_is_v7 makes the condition exact,
 * since UUIDs of other versions can be between the bounds.  See bounds.c for the bounds.
 *
 * The result for a NULL period is NULL.  So if the period may be NULL, the first
 * condition is "uuid_is_v7(id) OR period IS NULL".  Without "period IS NULL", the result
 * for a v4 ID and a NULL period would be false.
 *
 * If a call is not rewritten, the planner later requests index conditions for it.  The
 * support function returns the comparisons, and the executor rechecks the call.
 *
 * In a SupportRequestSimplify, the PlannerInfo may be that of an outer query: up to
 * PostgreSQL 18, convert_EXISTS_to_ANY simplifies the WHERE clause of a sublink with
 * the parent's PlannerInfo.  So the rewrite does not look up a varno in a range table.
 */
#include "period/period.h"

#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

/* Make "id >= bound", or the comparison for another btree strategy. */
static Expr *
make_comparison(const Node *id, int strategy, Expr *bound)
{
	Expr	   *comparison = make_opclause(uuid9562_operator(strategy), BOOLOID, false,
										   (Expr *) copyObject((Node *) id), bound,
										   InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) comparison);
	return comparison;
}

/* Make the comparisons of the ID with the bounds that are not NULL. */
static List *
make_comparisons(const WithinCall *call, Expr *lower, Expr *upper)
{
	List	   *comparisons = NIL;

	if (lower != NULL)
		comparisons = lappend(comparisons, make_comparison(call->id, BTGreaterEqualStrategyNumber, lower));
	if (upper != NULL)
		comparisons = lappend(comparisons, make_comparison(call->id, BTLessEqualStrategyNumber, upper));
	return comparisons;
}

/* Check whether a function has the given support function. */
static bool
is_supported_by(Oid funcid, void *support)
{
	return get_func_support(funcid) == *(Oid *) support;
}

static bool
has_call_supported_by(Node *node, void *support)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_supported_by, support) ||
		expression_tree_walker(node, has_call_supported_by, support);
}

/* Return the expressions by which a query groups. */
static List *
grouped_expressions(Query *query)
{
#ifdef HAVE_RTE_GROUP
	ListCell   *cell;

	foreach(cell, query->rtable)
	{
		if (lfirst_node(RangeTblEntry, cell)->rtekind == RTE_GROUP)
			return lfirst_node(RangeTblEntry, cell)->groupexprs;
	}
	return NIL;
#else
	return get_sortgrouplist_exprs(query->groupClause, query->targetList);
#endif
}

/*
 * Check by the type of a grouped expression whether the rewrite could affect it.  The
 * rewrite can remove a period (tstzrange).  It also creates conditions (boolean) and bounds
 * (uuid), which must not be equal to a grouped expression if there are grouping sets.
 */
static bool
is_like_rewritten(const Query *query, const Node *expression)
{
	Oid			type = getBaseType(exprType(expression));

	return !IsA(expression, Var) &&
		(type == TSTZRANGEOID || (query->groupingSets != NIL && (type == BOOLOID || type == UUIDOID)));
}

/*
 * Check whether rewriting a call could change what the query groups by.
 *
 * PostgreSQL recognizes a grouped expression by its tree.  It replaces each equal tree by
 * the grouped value, which is NULL in grouping sets without the expression.  So the
 * rewrite must not destroy the tree of a grouped expression, nor create an equal tree.
 *
 * A grouped call prevents the rewrite: when PostgreSQL simplifies a NOT above the
 * comparisons, it could change their tree, and the trees of two different calls could
 * become equal.  is_like_rewritten() finds the other grouped expressions that prevent
 * the rewrite.
 *
 * PostgreSQL may simplify the WHERE clause of a sublink with the parent's PlannerInfo (see
 * the file header).  It then simplifies the clause again with the sublink's PlannerInfo.
 * So the rewrite still happens if the parent's grouping prevents it the first time.
 */
static bool
meets_grouping(PlannerInfo *root, Oid funcid)
{
	Query	   *query = root != NULL ? root->parse : NULL;
	Oid			support;
	ListCell   *cell;

	/* a standalone expression, such as a default, has no query */
	if (query == NULL || query->groupClause == NIL)
		return false;
	support = get_func_support(funcid);
	foreach(cell, grouped_expressions(query))
	{
		Node	   *expression = lfirst(cell);

		if (has_call_supported_by(expression, &support) ||
			is_like_rewritten(query, expression))
			return true;
	}
	return false;
}

/*
 * Rewrite "id is within period", or "period contains id", to comparisons with bounds.
 * Return NULL to leave the call as it is.
 */
static Node *
rewrite_within(SupportRequestSimplify *request, const UuidKind *kind)
{
	WithinCall	call = uuid9562_within_call(request->fcall->funcid, request->fcall->args, kind);
	Expr	   *condition;
	Expr	   *lower;
	Expr	   *upper;
	List	   *conditions;

	/*
	 * The ID occurs in every condition, so each evaluation must give the same
	 * value. If the ID has no column of this query, no index can be used.
	 */
	if (contain_volatile_functions(call.id) || expression_returns_set(call.id) ||
		contain_subplans(call.id) || !contain_var_clause(call.id) || !uuid9562_is_small(call.id) ||
		meets_grouping(request->root, call.funcid) ||
		!uuid9562_make_bounds(&call, &lower, &upper))
		return NULL;

	condition = uuid9562_make_call(&call, psprintf("uuid_is_v%d", kind->version), BOOLOID, list_make1(call.id));
	if (condition == NULL)
		return NULL;
	/* a constant cannot be NULL here, since the function is strict */
	if (!IsA(call.period, Const) && !uuid9562_is_constructed(call.period))
	{
		NullTest   *is_null = makeNode(NullTest);

		is_null->arg = (Expr *) copyObject(call.period);
		is_null->nulltesttype = IS_NULL;
		is_null->location = -1;
		condition = make_orclause(list_make2(condition, is_null));
	}

	/* put the version condition first: selectivity.c relies on that */
	conditions = lcons(condition, make_comparisons(&call, lower, upper));
	return (Node *) make_ands_explicit(conditions);
}

/*
 * For a call that is not rewritten, return the comparisons with the bounds as conditions
 * of an index on the ID.  Return NIL if the period can differ between rows of the scan.
 * The executor rechecks the call.
 */
static List *
within_as_index_condition(SupportRequestIndexCondition *request, const UuidKind *kind)
{
	List	   *args = is_opclause(request->node) ? ((OpExpr *) request->node)->args : ((FuncExpr *) request->node)->args;
	WithinCall	call = uuid9562_within_call(request->funcid, args, kind);
	Expr	   *lower;
	Expr	   *upper;

	if (list_nth(args, request->indexarg) != call.id ||
		!op_in_opfamily(uuid9562_operator(BTGreaterEqualStrategyNumber), request->opfamily) ||
		!is_pseudo_constant_for_index(request->root, call.period, request->index) ||
		!uuid9562_make_bounds(&call, &lower, &upper))
		return NIL;
	request->lossy = true;
	return make_comparisons(&call, lower, upper);
}

static Datum
within_support(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(rewrite_within((SupportRequestSimplify *) request, kind));
	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(within_as_index_condition((SupportRequestIndexCondition *) request, kind));
	PG_RETURN_POINTER(NULL);
}

/* uuidv7_within_support also supports the functions of the operators <@ and @>. */
SQL_FUNCTION(uuid9562_uuidv6_within_support, within_support, UUID_V6)
SQL_FUNCTION(uuid9562_uuidv7_within_support, within_support, UUID_V7)
SQL_FUNCTION(uuid9562_uuidv8_node_within_support, within_support, UUID_V8_NODE)
