/*
 * support.c
 *		Planner support of uuidv7_within(), of the operators <@ and @>, and of uuid_is_v7().
 *
 * The planner itself cannot use an index for "id <@ period".  But it can use an index
 * for comparisons of a column with a value.  It also prunes partitions and matches partial
 * indexes and constraints by comparisons.  So this file rewrites the condition to
 *
 *		uuid_is_v7(id) AND id >= lower bound AND id <= upper bound
 *
 * with the comparison operators of PostgreSQL.  uuid_is_v7 makes the condition exact,
 * since UUIDs of other versions can be between the bounds.  See comparisons.c for the bounds.
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
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_support);

/* Return the ID and the period of a call, whose arguments can be in either order. */
static WithinCall
within_call(PlannerInfo *root, Oid funcid, List *args)
{
	WithinCall	call = {root, funcid, linitial(args), lsecond(args), NIL};

	if (exprType(call.id) != UUIDOID)
	{
		call.id = lsecond(args);
		call.period = linitial(args);
	}
	/* if the type of the period is a domain, change it to tstzrange */
	if (exprType(call.period) != TSTZRANGEOID)
		call.period = applyRelabelType(call.period, TSTZRANGEOID, -1, InvalidOid,
									   COERCE_IMPLICIT_CAST, -1, false);
	return call;
}

/* Check whether a function is uuidv7_within() or that of an operator, but not uuid_is_v7(). */
static bool
is_within_function(Oid funcid, void *support)
{
	return get_func_support(funcid) == *(Oid *) support && get_func_nargs(funcid) == 2;
}

static bool
has_within_call(Node *node, void *support)
{
	if (node == NULL)
		return false;
	return check_functions_in_node(node, is_within_function, support) ||
		expression_tree_walker(node, has_within_call, support);
}

/*
 * Return the grouped expressions that could_change_grouping() must check.
 *
 * Since PostgreSQL 18, there are none without grouping sets.  The parser replaces each occurrence
 * of a grouped expression by a Var of the RTE_GROUP, so the rewrite removes no occurrence.  (The
 * planner replaces the Var by the expression later.  It simplifies that again only in a part of
 * HAVING that becomes a part of WHERE, where rows are not grouped yet.)  The rewrite can create an
 * occurrence, but without grouping sets this has the grouped value in all rows of a group.
 */
static List *
grouped_expressions(Query *query)
{
	ListCell   *cell;

	if (!HAVE_RTE_GROUP)
		return get_sortgrouplist_exprs(query->groupClause, query->targetList);
	foreach(cell, query->groupingSets == NIL ? NIL : query->rtable)
	{
		if (rte_group_exprs(lfirst_node(RangeTblEntry, cell)) != NIL)
			return rte_group_exprs(lfirst_node(RangeTblEntry, cell));
	}
	return NIL;
}

/*
 * Check by its type whether the rewrite could remove or create an occurrence of a grouped
 * expression; see could_change_grouping().  The rewrite removes periods (tstzrange), and creates
 * conditions (boolean) and bounds (uuid).  It neither removes nor creates a Var.  Without grouping
 * sets, a created occurrence has the grouped value anyway, so only a removed one does harm.
 */
static bool
is_affected_by_rewrite(const Query *query, const Node *grouped)
{
	Oid			type = getBaseType(exprType(grouped));

	return !IsA(grouped, Var) &&
		(type == TSTZRANGEOID ||
		 (query->groupingSets != NIL && (type == BOOLOID || type == UUIDOID)));
}

/*
 * Check whether the rewrite of a call could change the result of GROUP BY.
 *
 * PostgreSQL finds the occurrences of a grouped expression by comparing trees.  It replaces them by
 * the grouped value, which is NULL in grouping sets without the expression.  So the rewrite must
 * neither remove nor create an occurrence.
 *
 * Two kinds of grouped expressions prevent the rewrite.  The first kind has the type of an
 * expression that the rewrite removes or creates.  The second kind contains a call of a function
 * with this planner support.  The rewrite changes the grouped expression and its occurrences
 * alike, but PostgreSQL then moves the NOT of NOT (id <@ period) into the comparisons, so this
 * occurrence of the call vanishes.  And id <@ period and period @> id, which are different trees,
 * become equal.
 *
 * Up to PostgreSQL 18, root can be that of the parent (see the top of this file).  If the grouping
 * of the parent prevents the rewrite, this does no harm: PostgreSQL simplifies the clause again for
 * the sublink itself, and the rewrite happens there.
 */
static bool
could_change_grouping(PlannerInfo *root, Oid funcid)
{
	Oid			support = get_func_support(funcid);
	ListCell   *cell;

	/* a standalone expression, such as a default, has no query */
	if (root == NULL || root->parse == NULL || root->parse->groupClause == NIL)
		return false;
	foreach(cell, grouped_expressions(root->parse))
	{
		if (is_affected_by_rewrite(root->parse, lfirst(cell)) ||
			has_within_call(lfirst(cell), &support))
			return true;
	}
	return false;
}

/*
 * Check whether an expression costs too much to be evaluated several times.  The limit is the one
 * that inline_function() applies to an argument that the inlined function uses several times.
 */
static bool
is_expensive(Node *expression)
{
	QualCost	cost;

	cost_qual_eval_node(&cost, expression, NULL);
	return cost.startup + cost.per_tuple > 10 * cpu_operator_cost;
}

/*
 * Rewrite "id is within period", or "period contains id", to comparisons with bounds.  Return NULL
 * to leave the call as it is.
 *
 * Leave it if the ID is volatile or expensive, because each of the conditions evaluates the ID.
 * Also leave it if the ID has no column of this query, because then no index can be used.
 */
static Node *
rewrite_within(SupportRequestSimplify *request)
{
	FuncExpr   *fcall = request->fcall;
	WithinCall	call = within_call(request->root, fcall->funcid, fcall->args);
	Expr	   *condition;

	if (contain_volatile_functions(call.id) || expression_returns_set(call.id) ||
		contain_subplans(call.id) || !contain_var_clause(call.id) || !uuid9562_is_small(call.id) ||
		is_expensive(call.id) || !uuid9562_may_execute(&call, call.funcid) ||
		could_change_grouping(request->root, call.funcid) ||
		!uuid9562_make_comparisons(&call))
		return NULL;

	condition = uuid9562_make_call(&call, "uuid_is_v7", BOOLOID, list_make1(call.id));
	if (condition == NULL)
		return NULL;
	if (!uuid9562_is_never_null(call.period))
	{
		NullTest   *is_null = makeNode(NullTest);

		is_null->arg = (Expr *) copyObject(call.period);
		is_null->nulltesttype = IS_NULL;
		is_null->location = -1;
		condition = make_orclause(list_make2(condition, is_null));
	}

	/* put the version condition first: selectivity.c relies on that */
	return (Node *) make_ands_explicit(lcons(condition, call.comparisons));
}

/*
 * For a call that is not rewritten, return index conditions that compare the ID with the bounds.
 * Return NIL if the period can differ between rows of the scan.  The executor rechecks the call.
 */
static List *
within_as_index_condition(SupportRequestIndexCondition *request)
{
	Node	   *node = request->node;
	List	   *args = is_opclause(node) ? ((OpExpr *) node)->args : ((FuncExpr *) node)->args;
	WithinCall	call = within_call(request->root, request->funcid, args);

	if (list_nth(args, request->indexarg) != call.id ||
		!op_in_opfamily(uuid9562_operator(BTGreaterEqualStrategyNumber), request->opfamily) ||
		!is_pseudo_constant_for_index(request->root, call.period, request->index) ||
		!uuid9562_make_comparisons(&call))
		return NIL;
	request->lossy = true;
	return call.comparisons;
}

/*
 * If an earlier condition of the table is the same call of uuid_is_v7(), as in a query with several
 * periods, return "id IS NOT NULL", and NIL otherwise.  The scan checks the earlier condition, so
 * it need not check this call.  Fewer filters keep planning fast: create_indexscan_plan() compares
 * every filter with every index condition.
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

		if (condition == (const Expr *) call)	/* no equal call is earlier */
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

/*
 * uuidv7_support(internal) returns internal
 *
 * Support the planner for uuid_is_v7(), which has one argument, and for uuidv7_within() and the
 * functions of the operators, which have two.
 */
Datum
uuid9562_uuidv7_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	CHECK_FOR_INTERRUPTS();
	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *estimate = (SupportRequestSelectivity *) request;

		if (list_length(estimate->args) == 1 && !estimate->is_join)
		{
			uuid9562_estimate_is_v7(estimate);
			PG_RETURN_POINTER(request);
		}
	}
	else if (IsA(request, SupportRequestSimplify))
	{
		SupportRequestSimplify *simplify = (SupportRequestSimplify *) request;

		if (list_length(simplify->fcall->args) == 2)
			PG_RETURN_POINTER(rewrite_within(simplify));
	}
	else if (IsA(request, SupportRequestIndexCondition))
	{
		SupportRequestIndexCondition *match = (SupportRequestIndexCondition *) request;

		PG_RETURN_POINTER(get_func_nargs(match->funcid) == 2 ? within_as_index_condition(match) :
						  repeated_call_as_index_condition(match));
	}
	PG_RETURN_POINTER(NULL);
}
