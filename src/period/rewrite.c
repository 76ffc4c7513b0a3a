/*
 * rewrite.c
 *		Planner support of uuidv7_within, <@ and @>, and of the other kinds'.
 *
 * The planner knows nothing of id <@ period.  It knows all about comparisons
 * of a column with a value: how to use an index, which partitions to skip,
 * when a partial index or a constraint applies.  So within is rewritten to
 *
 *		uuid_is_v7(id) AND id >= lowest AND id <= highest
 *
 * with the comparison operators of PostgreSQL.  Between the bounds of a period
 * only UUIDs of other versions are not within it, so uuid_is_v7 makes the
 * condition exact.  What the bounds are depends on the period; see bounds.c.
 *
 * NULL keeps its meaning: when the period may be NULL, the first condition is
 * "uuid_is_v7(id) OR period IS NULL", so that the whole is NULL and not false
 * for a v4 id.  A period is evaluated there only for ids of other versions.
 *
 * A call that cannot be rewritten so still gets the comparisons as conditions
 * of an index, which PostgreSQL asks for later, and is itself evaluated for the
 * rows that the index finds.
 */
#include "value/value.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

#include "period/bounds.h"
#include "period/selectivity.h"

/* id >= bound, or by another strategy */
static Expr *
make_comparison(const Node *id, int strategy, Expr *bound)
{
	Expr	   *comparison = make_opclause(uuid9562_operator(strategy), BOOLOID, false,
										   (Expr *) copyObject((Node *) id), bound,
										   InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) comparison);
	return comparison;
}

/* The comparisons of the id with those of the two bounds that there are. */
static List *
make_comparisons(const WithinCall *call, Expr *lowest, Expr *highest)
{
	List	   *comparisons = NIL;

	if (lowest != NULL)
		comparisons = lappend(comparisons, make_comparison(call->id, BTGreaterEqualStrategyNumber, lowest));
	if (highest != NULL)
		comparisons = lappend(comparisons, make_comparison(call->id, BTLessEqualStrategyNumber, highest));
	return comparisons;
}

/* Is there a Var that is of no table, such as OLD and NEW of a trigger's WHEN? */
static bool
has_special_var(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var) && IS_SPECIAL_VARNO(((Var *) node)->varno))
		return true;
	return expression_tree_walker(node, has_special_var, context);
}

/* The query that is planned; NULL for an expression that is planned by itself. */
static Query *
planned_query(PlannerInfo *root)
{
	return root != NULL ? root->parse : NULL;
}

/* Do two expressions use columns of the same table? */
static bool
share_a_table(PlannerInfo *root, Node *one, Node *other)
{
	Query	   *query = planned_query(root);
	Relids		shared = bms_intersect(pull_varnos(root, one), pull_varnos(root, other));
	int			relid = -1;

	while ((relid = bms_next_member(shared, relid)) >= 0)
	{
		/* an outer join that may make both NULL is no table, from 16 on */
		if (query == NULL || rt_fetch(relid, query->rtable)->rtekind != RTE_JOIN)
			return true;
	}
	return false;
}

/*
 * Can comparisons of the id with bounds of the period use an index?  Not when
 * the id comes from no table's row, and not when both come from the same one.
 */
static bool
can_use_index(PlannerInfo *root, const WithinCall *call)
{
	return !has_special_var(call->id, NULL) &&
		!has_special_var(call->period, NULL) &&
		contain_var_clause(call->id) &&
		!share_a_table(root, call->id, call->period);
}

/* Does the function have that support function? */
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

/* Is there a column of UUIDs or of periods? */
static bool
has_id_or_period(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Var))
	{
		Oid			type = getBaseType(((Var *) node)->vartype);

		return type == UUIDOID || type == TSTZRANGEOID;
	}
	return expression_tree_walker(node, has_id_or_period, context);
}

/* The expressions by which a query groups. */
static List *
grouped_expressions(Query *query)
{
#if PG_VERSION_NUM >= 180000
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
 * Would a rewritten call meet what the query groups by?
 *
 * PostgreSQL knows a grouped expression by its tree, and puts its value, which
 * is NULL in some of the grouping sets, wherever it finds that tree.  So it must
 * find it where it was written, and nowhere else: two calls must not become the
 * same tree, NOT must not take one apart, and no part of one may be the tree of
 * another expression.  What a part can be is a boolean or a uuid.
 */
static bool
meets_grouping(PlannerInfo *root, Oid funcid)
{
	Query	   *query = planned_query(root);
	Oid			support;
	ListCell   *cell;

	if (query == NULL || query->groupClause == NIL)
		return false;
	support = get_func_support(funcid);
	foreach(cell, grouped_expressions(query))
	{
		Node	   *expression = lfirst(cell);
		Oid			type = exprType(expression);

		if (has_call_supported_by(expression, &support))
			return true;
		if (query->groupingSets != NIL && !IsA(expression, Var) &&
			(type == UUIDOID || (type == BOOLOID && has_id_or_period(expression, NULL))))
			return true;
	}
	return false;
}

/*
 * "id is within period", or "period contains id", as comparisons with bounds;
 * NULL to leave it as it is.
 */
static Node *
rewrite_within(SupportRequestSimplify *request, const UuidKind *kind)
{
	WithinCall	call = uuid9562_within_call(request->fcall->funcid, request->fcall->args, kind);
	Oid			is_version;
	Expr	   *condition;
	Expr	   *lowest;
	Expr	   *highest;
	List	   *conditions;

	/* the id stands in every condition */
	if (contain_volatile_functions(call.id) || expression_returns_set(call.id) ||
		contain_subplans(call.id) ||
		!can_use_index(request->root, &call) ||
		meets_grouping(request->root, call.funcid) ||
		!uuid9562_make_bounds(&call, &lowest, &highest))
		return NULL;

	is_version = uuid9562_sibling_function(call.funcid, psprintf("uuid_is_v%d", kind->version), UUIDOID);
	if (!OidIsValid(is_version))
		return NULL;
	condition = uuid9562_make_call(is_version, BOOLOID, call.id);
	/* a constant is not NULL, since the function is strict */
	if (!IsA(call.period, Const) && !uuid9562_is_constructed(call.period))
	{
		NullTest   *is_null = makeNode(NullTest);

		is_null->arg = (Expr *) copyObject(call.period);
		is_null->nulltesttype = IS_NULL;
		is_null->location = -1;
		condition = make_orclause(list_make2(condition, is_null));
	}

	/* the version first, for the row estimates; see estimate.c */
	conditions = lcons(condition, make_comparisons(&call, lowest, highest));
	return (Node *) (list_length(conditions) > 1 ? make_andclause(conditions) : linitial(conditions));
}

/*
 * The same comparisons for a call that was left as it is: for an index of the
 * id, with a period that is the same for all of its rows.  The call remains as
 * a filter.
 */
static List *
within_as_index_condition(SupportRequestIndexCondition *request, const UuidKind *kind)
{
	List	   *args = is_opclause(request->node) ? ((OpExpr *) request->node)->args : ((FuncExpr *) request->node)->args;
	WithinCall	call = uuid9562_within_call(request->funcid, args, kind);
	Expr	   *lowest;
	Expr	   *highest;

	if (list_nth(args, request->indexarg) != call.id ||
		!op_in_opfamily(uuid9562_operator(BTGreaterEqualStrategyNumber), request->opfamily) ||
		!is_pseudo_constant_for_index(request->root, call.period, request->index) ||
		!uuid9562_make_bounds(&call, &lowest, &highest))
		return NIL;
	request->lossy = true;
	return make_comparisons(&call, lowest, highest);
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

/*
 * uuidv6_within_support(internal) returns internal
 * uuidv7_within_support(internal) returns internal
 * uuidv8_node_within_support(internal) returns internal
 *
 * Of the functions with that name; uuidv7's also of those of the operators.
 */
KIND_FUNCTION(uuid9562_uuidv6_within_support, UUID_V6, within_support)
KIND_FUNCTION(uuid9562_uuidv7_within_support, UUID_V7, within_support)
KIND_FUNCTION(uuid9562_uuidv8_node_within_support, UUID_V8_NODE, within_support)
