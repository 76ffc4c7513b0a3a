/*
 * bounds.c
 *		The bounds of a period as expressions of a plan.
 *
 * The comparisons that replace "id <@ period" compare the ID with the smallest and
 * the greatest UUID in the period.  The form of the period determines the expressions:
 *
 *		a constant			constants; no bound for an unbounded side
 *		tstzrange(a, b)		uuidv7_lower_bound(a, true), uuidv7_upper_bound(b, false)
 *		any other period	uuidv7_lower_bound(period), uuidv7_upper_bound(period)
 *
 * So each argument of tstzrange is evaluated once.  If an argument is NULL, the period is
 * unbounded on this side, and the bound excludes no UUID of the kind.
 */
#include "period/period.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#define MAX_COPIED_NODES	50

/*
 * Make an expression that calls a function of this extension, given by its name.  Look up
 * the function in the schema of call->funcid, since the extension can be in any schema.
 * Return NULL if the schema lacks the function, as it may before ALTER EXTENSION UPDATE.
 */
Expr *
uuid9562_make_call(const WithinCall *call, const char *name, Oid result, List *args)
{
	Oid			types[2];
	int			count = 0;
	HeapTuple	tuple;
	Expr	   *made = NULL;
	ListCell   *cell;

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
		if (function->prolang == ClanguageId)
			made = (Expr *) makeFuncExpr(function->oid, result, copyObject(args),
										 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		ReleaseSysCache(tuple);
	}
	return made;
}

static Expr *
make_uuid_constant(pg_uuid_t uuid)
{
	return (Expr *) makeConst(UUIDOID, -1, InvalidOid, UUID_LEN, return_copy(uuid), false, false);
}

/* Return the ID and the period of a call, which can have them in either order. */
WithinCall
uuid9562_within_call(Oid funcid, List *args, const UuidKind *kind)
{
	WithinCall	call = {funcid, kind, linitial(args), lsecond(args)};

	if (exprType(call.id) != UUIDOID)
	{
		call.id = lsecond(args);
		call.period = linitial(args);
	}
	/* the period can be of a domain, or cast to one: make it a tstzrange */
	while (IsA(call.period, RelabelType) && exprType(call.period) != TSTZRANGEOID)
		call.period = (Node *) ((RelabelType *) call.period)->arg;
	if (exprType(call.period) != TSTZRANGEOID)
		call.period = applyRelabelType(call.period, TSTZRANGEOID, -1, InvalidOid,
									   COERCE_IMPLICIT_CAST, -1, false);
	return call;
}

/* Check whether the period is a call of tstzrange, which never returns NULL. */
bool
uuid9562_is_constructed(const Node *period)
{
	return IsA(period, FuncExpr) &&
		(((const FuncExpr *) period)->funcid == F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ ||
		 ((const FuncExpr *) period)->funcid == F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ_TEXT);
}

/*
 * Find out which bounds of a call of tstzrange are inclusive.  Return false if the
 * third argument is not a constant that tstzrange accepts.
 */
static bool
get_inclusive(const FuncExpr *constructor, bool *lower_inclusive, bool *upper_inclusive)
{
	const char *flags = "[)";

	if (list_length(constructor->args) == 3)
	{
		const Const *third = lthird(constructor->args);

		if (!IsA(third, Const) || third->constisnull)
			return false;
		flags = TextDatumGetCString(third->constvalue);
	}
	*lower_inclusive = flags[0] == '[';
	*upper_inclusive = flags[0] != '\0' && flags[1] == ']';
	return strcmp(flags, "[)") == 0 || strcmp(flags, "[]") == 0 ||
		strcmp(flags, "(]") == 0 || strcmp(flags, "()") == 0;
}

static Expr *
make_bound_call(const WithinCall *call, bool is_lower, List *args)
{
	return uuid9562_make_call(call, psprintf("%s_%s_bound", call->kind->name, is_lower ? "lower" : "upper"),
							  UUIDOID, args);
}

/*
 * Make the bound of one side of a period from the time of the side.  Set *bound to NULL
 * if the time is a constant NULL.  Return false if the bound function does not exist.
 */
static bool
make_side_bound(const WithinCall *call, Node *time, bool is_lower, bool inclusive, Expr **bound)
{
	const Const *constant = (const Const *) time;

	if (!IsA(time, Const))
		*bound = make_bound_call(call, is_lower, list_make2(time, makeBoolConst(inclusive, false)));
	else if (constant->constisnull)
		*bound = NULL;
	else
		*bound = make_uuid_constant(uuid9562_side_bound(call->kind, is_lower,
														DatumGetTimestampTz(constant->constvalue), inclusive));
	return *bound != NULL || IsA(time, Const);
}

static bool
exceeds_size(Node *node, void *nodes_left)
{
	if (node == NULL)
		return false;
	return --* (int *) nodes_left < 0 || expression_tree_walker(node, exceeds_size, nodes_left);
}

/*
 * Check whether an expression is small enough to be copied into several conditions.
 * Without this limit, the plan of nested calls would grow exponentially.
 */
bool
uuid9562_is_small(Node *expression)
{
	int			nodes_left = MAX_COPIED_NODES;

	return !exceeds_size(expression, &nodes_left);
}

/* Check whether the ID and the period have columns of the same range table entry. */
static bool
is_same_row(const WithinCall *call)
{
	List	   *period_vars = pull_vars_of_level(call->period, 0);
	ListCell   *cell;
	ListCell   *other;

	foreach(cell, pull_vars_of_level(call->id, 0))
	{
		foreach(other, period_vars)
		{
			if (IsA(lfirst(cell), Var) && IsA(lfirst(other), Var) &&
				((Var *) lfirst(cell))->varno == ((Var *) lfirst(other))->varno)
				return true;
		}
	}
	return false;
}

/*
 * Set *lower and *upper to the bounds of a call's period, or to NULL for an unbounded
 * side.  Return false if comparisons with bounds should not replace the call.
 *
 * A period other than a constant or tstzrange() occurs in both bounds, so both
 * evaluations must give the same value.  Two evaluations of a subquery can differ, even if
 * it is not volatile (LIMIT without ORDER BY).  If the period has columns of the same row
 * as the ID, bounds do not enable the use of an index, and cost more than the call.
 */
bool
uuid9562_make_bounds(const WithinCall *call, Expr **lower, Expr **upper)
{
	bool		lower_inclusive;
	bool		upper_inclusive;

	*lower = *upper = NULL;
	if (contain_volatile_functions(call->period) || expression_returns_set(call->period))
		return false;

	if (IsA(call->period, Const))
	{
		RangeType  *range = DatumGetRangeTypeP(((Const *) call->period)->constvalue);
		UuidBounds	bounds = uuid9562_period_bounds(call->kind,
													lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO),
													range);

		if (bounds.has_lower)
			*lower = make_uuid_constant(bounds.lower);
		if (bounds.has_upper)
			*upper = make_uuid_constant(bounds.upper);
		return true;
	}

	if (uuid9562_is_constructed(call->period) &&
		get_inclusive((FuncExpr *) call->period, &lower_inclusive, &upper_inclusive))
	{
		List	   *times = ((FuncExpr *) call->period)->args;

		return make_side_bound(call, linitial(times), true, lower_inclusive, lower) &&
			make_side_bound(call, lsecond(times), false, upper_inclusive, upper);
	}

	if (contain_subplans(call->period) || !uuid9562_is_small(call->period) || is_same_row(call))
		return false;
	*lower = make_bound_call(call, true, list_make1(call->period));
	*upper = make_bound_call(call, false, list_make1(call->period));
	return *lower != NULL && *upper != NULL;
}
