/*
 * comparisons.c
 *		The comparisons of an ID with the bounds of a period.
 *
 * They replace "id <@ period" in a plan.  The bounds are the smallest and the greatest UUID
 * in the period.  The form of the period determines their expressions:
 *
 *		a constant			constants; no bound for an unbounded side; NULL if the period is NULL
 *		tstzrange(a, b)		uuidv7_lower_bound(a, true), uuidv7_upper_bound(b, false), or
 *							constants if a or b is a constant
 *		any other period	uuidv7_lower_bound(period), uuidv7_upper_bound(period)
 *
 * So each argument of tstzrange is evaluated once.  If an argument is NULL, the period is
 * unbounded on this side, and the bound excludes no UUID of version 7.
 */
#include "period/period.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#define MAX_COPIED_NODES	50

/*
 * Check whether the current role may execute a function.  A rewrite must neither call a function
 * that the role may not execute, nor remove a call that the role may not execute.
 *
 * An expression that is not part of a query can be the condition of an index.  PostgreSQL
 * caches it for all roles, so its form must not depend on the role: return true for it.
 */
bool
uuid9562_may_execute(const WithinCall *call, Oid function)
{
	return call->root == NULL ||
		object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
}

/*
 * Make an expression that calls a function of this extension, given by its name.  Look up
 * the function in the schema of call->funcid, since the extension can be in any schema.
 * Return NULL if the role may not execute the function, or if the schema does not contain it,
 * which is possible before ALTER EXTENSION UPDATE.
 */
Expr *
uuid9562_make_call(const WithinCall *call, const char *name, Oid result_type, List *args)
{
	Oid			types[2];
	int			count = 0;
	HeapTuple	tuple;
	Expr	   *made = NULL;
	ListCell   *cell;

	Assert(list_length(args) <= (int) lengthof(types));
	foreach(cell, args)
		types[count++] = exprType(lfirst(cell));
	tuple = SearchSysCache3(PROCNAMEARGSNSP,
							CStringGetDatum(name),
							PointerGetDatum(buildoidvector(types, count)),
							ObjectIdGetDatum(get_func_namespace(call->funcid)));
	if (HeapTupleIsValid(tuple))
	{
		Form_pg_proc function = (Form_pg_proc) GETSTRUCT(tuple);

		/* trust only a C function, since only superusers can create one */
		if (function->prolang == ClanguageId && uuid9562_may_execute(call, function->oid))
			made = (Expr *) makeFuncExpr(function->oid, result_type, copyObject(args),
										 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		ReleaseSysCache(tuple);
	}
	return made;
}

/* Check whether the period is a call of tstzrange, which never returns NULL. */
static bool
is_tstzrange_call(const Node *period)
{
	return IsA(period, FuncExpr) &&
		(((const FuncExpr *) period)->funcid == F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ ||
		 ((const FuncExpr *) period)->funcid == F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ_TEXT);
}

/* Check whether a period is known to be never NULL, for example coalesce(period, 'empty'). */
bool
uuid9562_is_never_null(const Node *period)
{
	ListCell   *cell;

	if (IsA(period, RelabelType))
		return uuid9562_is_never_null((const Node *) ((const RelabelType *) period)->arg);
	if (IsA(period, CoalesceExpr))
	{
		foreach(cell, ((const CoalesceExpr *) period)->args)
		{
			if (uuid9562_is_never_null(lfirst(cell)))
				return true;
		}
	}
	return is_tstzrange_call(period) ||
		(IsA(period, Const) && !((const Const *) period)->constisnull);
}

/*
 * Return the third argument of a tstzrange call, or its default "[)".  It tells which bounds are
 * inclusive.  Return NULL if the argument is not a constant that tstzrange accepts.
 */
static const char *
get_bound_flags(const FuncExpr *constructor)
{
	const char *flags = "[)";

	if (list_length(constructor->args) == 3)
	{
		const Const *third = lthird(constructor->args);

		if (!IsA(third, Const) || third->constisnull)
			return NULL;
		flags = TextDatumGetCString(third->constvalue);
	}
	return strlen(flags) == 2 && strchr("[(", flags[0]) && strchr("])", flags[1]) ? flags : NULL;
}

/* Add "id >= bound" or "id <= bound".  Return false if uuid9562_make_call() returned no bound. */
static bool
add_comparison(WithinCall *call, bool is_lower, Expr *bound)
{
	int			strategy = is_lower ? BTGreaterEqualStrategyNumber : BTLessEqualStrategyNumber;
	Expr	   *comparison;

	if (bound == NULL)
		return false;
	comparison = make_opclause(uuid9562_operator(strategy), BOOLOID, false,
							   (Expr *) copyObject(call->id), bound, InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) comparison);
	call->comparisons = lappend(call->comparisons, comparison);
	return true;
}

static bool
add_constant_comparison(WithinCall *call, bool is_lower, Datum bound)
{
	Const	   *constant = makeConst(UUIDOID, -1, InvalidOid, UUID_LEN, bound, false, false);

	return add_comparison(call, is_lower, (Expr *) constant);
}

/* Add the comparison with a bound that uuidv7_lower_bound() or uuidv7_upper_bound() returns. */
static bool
add_call_comparison(WithinCall *call, bool is_lower, List *args)
{
	const char *name = is_lower ? "uuidv7_lower_bound" : "uuidv7_upper_bound";

	return add_comparison(call, is_lower, uuid9562_make_call(call, name, UUIDOID, args));
}

/* Add the comparisons with both bounds of a period.  A null pointer means an empty period. */
static bool
add_period_comparisons(WithinCall *call, const RangeType *period)
{
	TypeCacheEntry *range = lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO);
	UuidBounds	bounds = uuid9562_period_bounds(range, period ? period : make_empty_range(range));

	return (!bounds.has_lower || add_constant_comparison(call, true, bounds.lower)) &&
		(!bounds.has_upper || add_constant_comparison(call, false, bounds.upper));
}

/* Add the comparison for an argument of tstzrange, unless it is a constant NULL. */
static bool
add_side_comparison(WithinCall *call, bool is_lower, Node *time, bool inclusive)
{
	const Const *constant = (const Const *) time;
	Datum		bound;

	if (!IsA(time, Const))
		return add_call_comparison(call, is_lower,
								   list_make2(time, makeBoolConst(inclusive, false)));
	if (constant->constisnull)
		return true;

	/*
	 * If no UUID of version 7 meets this side, the period contains none.  Do
	 * not compare with "bound", which has another variant then: see
	 * uuid9562_period_bounds() on TimescaleDB.
	 */
	if (!uuid9562_side_bound(is_lower, DatumGetTimestampTz(constant->constvalue), inclusive,
							 &bound))
		return add_period_comparisons(call, NULL);
	return add_constant_comparison(call, is_lower, bound);
}

/* Count the nodes down from *nodes_left.  Return true if the expression has more nodes. */
static bool
exceeds_size(Node *node, void *nodes_left)
{
	if (node == NULL)
		return false;
	return --* (int *) nodes_left < 0 || expression_tree_walker(node, exceeds_size, nodes_left);
}

/*
 * Check whether an expression is small enough to be copied into several conditions.  Without this
 * limit, the plan of nested calls would grow exponentially.
 */
bool
uuid9562_is_small(Node *expression)
{
	int			nodes_left = MAX_COPIED_NODES;

	return !exceeds_size(expression, &nodes_left);
}

/*
 * Check whether the ID and the period have columns of the same table.  Ignore PlaceHolderVars,
 * since a missed table only makes the plan slower.
 */
static bool
have_common_table(Node *id, Node *period)
{
	List	   *id_vars = pull_vars_of_level(id, 0);
	List	   *period_vars = pull_vars_of_level(period, 0);
	ListCell   *a;
	ListCell   *b;

	foreach(a, id_vars)
	{
		foreach(b, period_vars)
		{
			if (IsA(lfirst(a), Var) && IsA(lfirst(b), Var) &&
				((Var *) lfirst(a))->varno == ((Var *) lfirst(b))->varno)
				return true;
		}
	}
	return false;
}

/*
 * Set call->comparisons to the comparisons of the ID with the bounds of the period.  Return false
 * if they cannot or should not replace the call.
 *
 * Exclude every period that is volatile or returns a set.  A period that is neither a constant nor
 * a tstzrange() call is copied into both bounds.  Exclude it if it has a subquery, because the two
 * copies can have different results (LIMIT without ORDER BY).  Also exclude it if it has columns of
 * the ID's table: an index cannot use its bounds, and they cost more than the call.
 */
bool
uuid9562_make_comparisons(WithinCall *call)
{
	const char *flags;

	call->comparisons = NIL;
	if (contain_volatile_functions(call->period) || expression_returns_set(call->period))
		return false;

	if (IsA(call->period, Const))
	{
		const Const *period = (Const *) call->period;

		/* a NULL of a pulled-up UNION ALL; PostgreSQL folds all others */
		if (period->constisnull)
			return add_comparison(call, true, (Expr *) makeNullConst(UUIDOID, -1, InvalidOid));
		return add_period_comparisons(call, DatumGetRangeTypeP(period->constvalue));
	}

	if (is_tstzrange_call(call->period) &&
		(flags = get_bound_flags((FuncExpr *) call->period)) != NULL)
	{
		List	   *times = ((FuncExpr *) call->period)->args;

		return add_side_comparison(call, true, linitial(times), flags[0] == '[') &&
			add_side_comparison(call, false, lsecond(times), flags[1] == ']');
	}

	return !contain_subplans(call->period) && uuid9562_is_small(call->period) &&
		!have_common_table(call->id, call->period) &&
		add_call_comparison(call, true, list_make1(call->period)) &&
		add_call_comparison(call, false, list_make1(call->period));
}
