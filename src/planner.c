/*
 * planner.c
 *		What the planner asks of "is within".
 *
 * The planner knows nothing of id <@ period.  It knows all about comparisons
 * of a column with a value: how to use an index, which partitions to skip,
 * when a partial index or a constraint applies.  So within is rewritten to
 *
 *		uuid_is_v7(id) AND id >= lowest AND id <= highest
 *
 * with the comparison operators of PostgreSQL.  Bounds of a constant period
 * are constants, any other's are uuidv7_lowest(period) and
 * uuidv7_highest(period).  Between the bounds of a period only UUIDs of other
 * versions are not within it, so uuid_is_v7 makes the condition exact.
 *
 * NULL keeps its meaning: when the period may be NULL, the first condition is
 * "uuid_is_v7(id) OR period IS NULL", so that the whole is NULL and not false
 * for a v4 id.  A period is evaluated there only for ids of other versions.
 */
#include "uuid9562.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "estimate.h"
#include "period.h"

#if PG_VERSION_NUM < 160000
#define object_aclcheck(classid, objectid, roleid, mode) \
	pg_proc_aclcheck(objectid, roleid, mode)
#endif

PG_FUNCTION_INFO_V1(uuid9562_uuidv6_within_support);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_within_support);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_within_support);

/* --- rewriting within ------------------------------------------------------- */

/* May this user call the function? */
static bool
may_execute(Oid function)
{
	return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

/*
 * The function of this extension with that name and one argument, found in
 * the schema of another one of its functions, since the extension can be
 * moved.  InvalidOid when it is not there, or not for this user.
 */
static Oid
sibling(Oid funcid, const char *name, Oid argument)
{
	oidvector  *arguments = buildoidvector(&argument, 1);
	HeapTuple	tuple;
	Oid			found = InvalidOid;

	tuple = SearchSysCache3(PROCNAMEARGSNSP,
							CStringGetDatum(name),
							PointerGetDatum(arguments),
							ObjectIdGetDatum(get_func_namespace(funcid)));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc function = (Form_pg_proc) GETSTRUCT(tuple);

		/* C: no one but a superuser can have put another in its place */
		if (function->prolang == ClanguageId)
			found = function->oid;
		ReleaseSysCache(tuple);
	}
	return OidIsValid(found) && may_execute(found) ? found : InvalidOid;
}

/* name(argument) */
static Expr *
call(Oid function, Oid result, const void *argument)
{
	return (Expr *) makeFuncExpr(function, result, list_make1(copyObjectImpl(argument)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

/* id >= bound, or by another strategy */
static Expr *
compare(const Node *id, int strategy, Expr *bound)
{
	Expr	   *comparison = make_opclause(uuid9562_operator(strategy), BOOLOID, false,
										   copyObject((Expr *) id), bound,
										   InvalidOid, InvalidOid);

	set_opfuncid((OpExpr *) comparison);
	return comparison;
}

static Expr *
uuid_constant(const pg_uuid_t *uuid)
{
	pg_uuid_t  *copy = new_uuid();

	*copy = *uuid;
	return (Expr *) makeConst(UUIDOID, -1, InvalidOid, UUID_LEN, UUIDPGetDatum(copy),
							  false, false);
}

/*
 * May an expression stand in the result three times?  Not when it gives
 * another value each time; a subquery may too, without being volatile (LIMIT
 * without ORDER BY).
 */
static bool
can_be_repeated(Node *expression)
{
	return !contain_volatile_functions(expression) &&
		!expression_returns_set(expression) &&
		!contain_subplans(expression);
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

/*
 * Can comparisons of the id with bounds of the period use an index?  Not when
 * the id comes from no table's row, and not when both come from the same one.
 */
static bool
can_use_index(PlannerInfo *root, Node *id, Node *period)
{
	return !has_special_var(id, NULL) &&
		!has_special_var(period, NULL) &&
		contain_var_clause(id) &&
		!bms_overlap(pull_varnos(root, id), pull_varnos(root, period));
}

/* Is it known that the period is not NULL?  Its constructors never are. */
static bool
is_not_null(const Node *period)
{
	if (IsA(period, FuncExpr))
	{
		switch (((const FuncExpr *) period)->funcid)
		{
			case F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ:
			case F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ_TEXT:
				return true;
		}
	}
	return IsA(period, Const);	/* the function is strict */
}

/* The period as tstzrange: the operators take a domain over it. */
static Node *
without_domain(Node *period)
{
	while (IsA(period, RelabelType) && exprType(period) != TSTZRANGEOID)
		period = (Node *) ((RelabelType *) period)->arg;
	if (exprType(period) != TSTZRANGEOID)
		period = applyRelabelType(period, TSTZRANGEOID, -1, InvalidOid,
								  COERCE_IMPLICIT_CAST, -1, false);
	return period;
}

#if PG_VERSION_NUM < 180000
/* Is there that very call, by an operator too? */
static bool
has_call(Node *node, SupportRequestSimplify *request)
{
	Oid			function = InvalidOid;
	List	   *args = NIL;

	if (node == NULL)
		return false;
	if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		args = ((FuncExpr *) node)->args;
	}
	else if (IsA(node, OpExpr))
	{
		function = get_opcode(((OpExpr *) node)->opno);
		args = ((OpExpr *) node)->args;
	}
	if (function == request->fcall->funcid)
	{
		ListCell   *cell;

		foreach(cell, args)
		{
			/* with names they may be in another order; it can be that call */
			if (IsA(lfirst(cell), NamedArgExpr))
				return true;
		}
		/* those of the request are simplified */
		if (equal(eval_const_expressions(request->root, (Node *) args), request->fcall->args))
			return true;
	}
	return expression_tree_walker(node, has_call, request);
}

/*
 * Does the query group by that call?  PostgreSQL 17 and earlier know a grouped
 * expression by its tree.  NOT and AND would take a rewritten one apart, and its
 * parts would be evaluated for some row of the group, also where grouping sets
 * have NULL in its place.
 */
static bool
is_grouped_by(SupportRequestSimplify *request)
{
	Query	   *query = request->root != NULL ? request->root->parse : NULL;
	ListCell   *cell;

	if (query == NULL || query->groupClause == NIL)
		return false;
	foreach(cell, query->targetList)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (entry->ressortgroupref != 0 && has_call((Node *) entry->expr, request))
			return true;
	}
	return false;
}
#endif

/*
 * "id is within period", or "period contains id", as comparisons with bounds;
 * NULL to leave it as it is.
 */
static Node *
rewrite_within(SupportRequestSimplify *request, const UuidKind *kind)
{
	Oid			within = request->fcall->funcid;
	bool		id_first = exprType(linitial(request->fcall->args)) == UUIDOID;
	Node	   *id = list_nth(request->fcall->args, id_first ? 0 : 1);
	Node	   *period = list_nth(request->fcall->args, id_first ? 1 : 0);
	Oid			is_version;
	Expr	   *condition;
	List	   *conditions;

	/* who may not call it shall be told so, when it is called */
	if (!may_execute(within) ||
		!can_be_repeated(id) || !can_be_repeated(period) ||
		!can_use_index(request->root, id, period))
		return NULL;
#if PG_VERSION_NUM < 180000
	if (is_grouped_by(request))
		return NULL;
#endif
	period = without_domain(period);

	is_version = sibling(within, psprintf("uuid_is_v%d", kind->version), UUIDOID);
	if (!OidIsValid(is_version))
		return NULL;
	condition = call(is_version, BOOLOID, id);
	if (!is_not_null(period))
	{
		NullTest   *is_null = makeNode(NullTest);

		is_null->arg = copyObject((Expr *) period);
		is_null->nulltesttype = IS_NULL;
		is_null->location = -1;
		condition = make_orclause(list_make2(condition, is_null));
	}
	/* first, for the row estimates; see estimate.c */
	conditions = list_make1(condition);

	if (IsA(period, Const))
	{
		RangeType  *range = DatumGetRangeTypeP(((Const *) period)->constvalue);
		UuidBounds	bounds = uuid9562_period_bounds(kind,
													lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO),
													range);

		/* on an unbounded side the version says all */
		if (bounds.begins)
			conditions = lappend(conditions, compare(id, BTGreaterEqualStrategyNumber,
													 uuid_constant(&bounds.lowest)));
		if (bounds.ends)
			conditions = lappend(conditions, compare(id, BTLessEqualStrategyNumber,
													 uuid_constant(&bounds.highest)));
	}
	else
	{
		Oid			lowest = sibling(within, psprintf("%s_lowest", kind->name), TSTZRANGEOID);
		Oid			highest = sibling(within, psprintf("%s_highest", kind->name), TSTZRANGEOID);

		if (!OidIsValid(lowest) || !OidIsValid(highest))
			return NULL;
		conditions = lappend(conditions, compare(id, BTGreaterEqualStrategyNumber,
												 call(lowest, UUIDOID, period)));
		conditions = lappend(conditions, compare(id, BTLessEqualStrategyNumber,
												 call(highest, UUIDOID, period)));
	}

	return (Node *) (list_length(conditions) > 1 ? make_andclause(conditions) : linitial(conditions));
}

static Datum
within_support(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(rewrite_within((SupportRequestSimplify *) request, kind));
	PG_RETURN_POINTER(NULL);
}

/* uuidv6_within_support(internal) returns internal: of uuidv6_within. */
Datum
uuid9562_uuidv6_within_support(PG_FUNCTION_ARGS)
{
	return within_support(fcinfo, UUID_V6);
}

/*
 * uuidv7_within_support(internal) returns internal
 *
 * Of uuidv7_within and the functions of the operators.
 */
Datum
uuid9562_uuidv7_within_support(PG_FUNCTION_ARGS)
{
	return within_support(fcinfo, UUID_V7);
}

/* uuidv8_node_within_support(internal) returns internal: of uuidv8_node_within. */
Datum
uuid9562_uuidv8_node_within_support(PG_FUNCTION_ARGS)
{
	return within_support(fcinfo, UUID_V8_NODE);
}
