/*
 * bounds.c
 *		The bounds of a period, as the planner writes them.
 *
 *		a constant			constants, and none for an unbounded side
 *		tstzrange(a, b)		uuidv7_lowest_from(a), uuidv7_highest_before(b)
 *		any other			uuidv7_lowest(period), uuidv7_highest(period)
 *
 * Each time of tstzrange stands in one bound only, and in the simplest call that
 * there is: a strict function of it, which executors that work on columns know how
 * to call too.  Where the time may be NULL, which is no bound, it is
 * GREATEST(uuidv7_lowest_from(a), the first of all) or LEAST(..., the last of all).
 */
#include "period/bounds.h"

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "period/period.h"

/*
 * The function of this extension with that name and one argument, found in
 * the schema of another one of its functions, since the extension can be
 * moved.  InvalidOid when it is not there, as before ALTER EXTENSION UPDATE.
 */
Oid
uuid9562_sibling_function(Oid funcid, const char *name, Oid argument)
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
	return found;
}

/* function(argument) */
Expr *
uuid9562_make_call(Oid function, Oid result, const Node *argument)
{
	return (Expr *) makeFuncExpr(function, result, list_make1(copyObject((Node *) argument)),
								 InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
}

static Expr *
make_uuid_constant(pg_uuid_t uuid)
{
	pg_uuid_t  *copy = new_uuid();

	*copy = uuid;
	return (Expr *) makeConst(UUIDOID, -1, InvalidOid, UUID_LEN, UUIDPGetDatum(copy),
							  false, false);
}

/* The call of a function with that oid and these arguments. */
WithinCall
uuid9562_within_call(Oid funcid, List *args, const UuidKind *kind)
{
	WithinCall	call = {funcid, kind, linitial(args), lsecond(args)};

	if (exprType(call.id) != UUIDOID)
	{
		call.id = lsecond(args);
		call.period = linitial(args);
	}
	/* the operators take a domain over tstzrange */
	while (IsA(call.period, RelabelType) && exprType(call.period) != TSTZRANGEOID)
		call.period = (Node *) ((RelabelType *) call.period)->arg;
	if (exprType(call.period) != TSTZRANGEOID)
		call.period = applyRelabelType(call.period, TSTZRANGEOID, -1, InvalidOid,
									   COERCE_IMPLICIT_CAST, -1, false);
	return call;
}

/* Is the period made by tstzrange?  Then it is not NULL. */
bool
uuid9562_is_constructed(const Node *period)
{
	return IsA(period, FuncExpr) &&
		(((const FuncExpr *) period)->funcid == F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ ||
		 ((const FuncExpr *) period)->funcid == F_TSTZRANGE_TIMESTAMPTZ_TIMESTAMPTZ_TEXT);
}

/*
 * Which of its two times does it include?  False when that is not known: when
 * its third argument is not one of the four texts.
 */
static bool
get_included(const FuncExpr *constructor, bool *includes_first, bool *includes_second)
{
	const char *included = "[)";

	if (list_length(constructor->args) == 3)
	{
		const Const *third = lthird(constructor->args);

		if (!IsA(third, Const) || third->constisnull)
			return false;
		included = TextDatumGetCString(third->constvalue);
	}
	*includes_first = included[0] == '[';
	*includes_second = included[0] != '\0' && included[1] == ']';
	return strcmp(included, "[)") == 0 || strcmp(included, "[]") == 0 ||
		strcmp(included, "(]") == 0 || strcmp(included, "()") == 0;
}

/*
 * Is it known that an expression is not NULL?  So it is of what people write with
 * now(): of these functions, when it is of their arguments.
 */
static bool
is_never_null(const Node *expression)
{
	Oid			function = InvalidOid;
	List	   *args = NIL;
	ListCell   *cell;

	if (IsA(expression, Const))
		return !((const Const *) expression)->constisnull;
	if (IsA(expression, SQLValueFunction))
		return ((const SQLValueFunction *) expression)->op != SVFOP_CURRENT_SCHEMA;
	if (IsA(expression, FuncExpr))
	{
		function = ((const FuncExpr *) expression)->funcid;
		args = ((const FuncExpr *) expression)->args;
	}
	else if (IsA(expression, OpExpr))
	{
		function = get_opcode(((const OpExpr *) expression)->opno);
		args = ((const OpExpr *) expression)->args;
	}

	switch (function)
	{
		case F_NOW:
		case F_STATEMENT_TIMESTAMP:
		case F_TRANSACTION_TIMESTAMP:
		case F_TIMESTAMPTZ_PL_INTERVAL:
		case F_TIMESTAMPTZ_MI_INTERVAL:
		case F_TIMESTAMP_PL_INTERVAL:
		case F_TIMESTAMP_MI_INTERVAL:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ:
		case F_DATE_TRUNC_TEXT_TIMESTAMPTZ_TEXT:
		case F_DATE_TRUNC_TEXT_TIMESTAMP:
		case F_TIMEZONE_TEXT_TIMESTAMPTZ:
		case F_TIMEZONE_TEXT_TIMESTAMP:
		case F_DATE_PLI:
		case F_DATE_MII:
		case F_TIMESTAMPTZ_DATE:
		case F_TIMESTAMPTZ_TIMESTAMP:
			break;
		default:
			return false;
	}
	foreach(cell, args)
	{
		if (!is_never_null(lfirst(cell)))
			return false;
	}
	return true;
}

/*
 * The bound, or where it is NULL the first or the last UUID of all.  COALESCE would
 * say the same, but PostgreSQL takes it to be leaky, and so a condition with a
 * parameter would not reach the index under row-level security.
 */
static Expr *
make_null_unbounded(const WithinCall *call, Expr *bound, bool is_lower)
{
	MinMaxExpr *extreme = makeNode(MinMaxExpr);
	pg_uuid_t	outermost = is_lower ?
		uuid9562_lower_bound(call->kind, DT_NOBEGIN, true) :
		uuid9562_upper_bound(call->kind, DT_NOEND, true);

	extreme->minmaxtype = UUIDOID;
	extreme->minmaxcollid = InvalidOid;
	extreme->inputcollid = InvalidOid;
	extreme->op = is_lower ? IS_GREATEST : IS_LEAST;
	extreme->args = list_make2(bound, make_uuid_constant(outermost));
	extreme->location = -1;
	return (Expr *) extreme;
}

/*
 * The bound of one side of a period, made of its time.  In *bound NULL where the
 * query has NULL, for no bound.  False when the extension lacks the function.
 */
static bool
make_side_bound(const WithinCall *call, const Node *time, bool is_lower, bool inclusive, Expr **bound)
{
	const char *name;
	Oid			function;

	*bound = NULL;
	if (IsA(time, Const))
	{
		const Const *constant = (const Const *) time;

		if (!constant->constisnull)
			*bound = make_uuid_constant((is_lower ? uuid9562_lower_bound : uuid9562_upper_bound)
										(call->kind, DatumGetTimestampTz(constant->constvalue), inclusive));
		return true;
	}

	if (is_lower)
		name = inclusive ? "lowest_from" : "lowest_after";
	else
		name = inclusive ? "highest_until" : "highest_before";
	function = uuid9562_sibling_function(call->funcid, psprintf("%s_%s", call->kind->name, name), TIMESTAMPTZOID);
	if (!OidIsValid(function))
		return false;
	*bound = uuid9562_make_call(function, UUIDOID, time);
	if (!is_never_null(time))
		*bound = make_null_unbounded(call, *bound, is_lower);
	return true;
}

/*
 * The bounds of the period of a call; NULL for a side without one.  False when
 * there is no way to write them.
 *
 * A period that is not taken apart stands in both of them, so it must give the
 * same each time.  A subquery may not, without being volatile (LIMIT without
 * ORDER BY), and should not run twice.
 */
bool
uuid9562_make_bounds(const WithinCall *call, Expr **lowest, Expr **highest)
{
	bool		includes_first;
	bool		includes_second;
	Oid			lowest_of_period;
	Oid			highest_of_period;

	*lowest = *highest = NULL;
	if (contain_volatile_functions(call->period) || expression_returns_set(call->period))
		return false;

	if (IsA(call->period, Const))
	{
		RangeType  *range = DatumGetRangeTypeP(((Const *) call->period)->constvalue);
		UuidBounds	bounds = uuid9562_period_bounds(call->kind,
													lookup_type_cache(TSTZRANGEOID, TYPECACHE_RANGE_INFO),
													range);

		if (bounds.begins)
			*lowest = make_uuid_constant(bounds.lowest);
		if (bounds.ends)
			*highest = make_uuid_constant(bounds.highest);
		return true;
	}

	if (uuid9562_is_constructed(call->period) &&
		get_included((FuncExpr *) call->period, &includes_first, &includes_second))
	{
		List	   *times = ((FuncExpr *) call->period)->args;

		if (make_side_bound(call, linitial(times), true, includes_first, lowest) &&
			make_side_bound(call, lsecond(times), false, includes_second, highest))
			return true;
	}

	if (contain_subplans(call->period))
		return false;
	lowest_of_period = uuid9562_sibling_function(call->funcid, psprintf("%s_lowest", call->kind->name), TSTZRANGEOID);
	highest_of_period = uuid9562_sibling_function(call->funcid, psprintf("%s_highest", call->kind->name), TSTZRANGEOID);
	if (!OidIsValid(lowest_of_period) || !OidIsValid(highest_of_period))
		return false;
	*lowest = uuid9562_make_call(lowest_of_period, UUIDOID, call->period);
	*highest = uuid9562_make_call(highest_of_period, UUIDOID, call->period);
	return true;
}
