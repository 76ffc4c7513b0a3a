/*
 * planner.c
 *		What the planner asks of "is within" and of "is of the version".
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
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "timerange.h"

#if PG_VERSION_NUM < 160000
#define object_aclcheck(classid, objectid, roleid, mode) \
	pg_proc_aclcheck(objectid, roleid, mode)
#endif

PG_FUNCTION_INFO_V1(uuid9562_uuidv6_within_support);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_within_support);
PG_FUNCTION_INFO_V1(uuid9562_uuid_is_v6_support);
PG_FUNCTION_INFO_V1(uuid9562_uuid_is_v7_support);

/* The comparison operators of uuid: PostgreSQL's, by btree strategy. */
static Oid
uuid_btree_family(void)
{
	return lookup_type_cache(UUIDOID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

static Oid
uuid_operator(int strategy)
{
	return get_opfamily_member(uuid_btree_family(), UUIDOID, UUIDOID, strategy);
}

/* --- rewriting within ------------------------------------------------------- */

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
	if (OidIsValid(found) &&
		object_aclcheck(ProcedureRelationId, found, GetUserId(), ACL_EXECUTE) != ACLCHECK_OK)
		found = InvalidOid;
	return found;
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
	Expr	   *comparison = make_opclause(uuid_operator(strategy), BOOLOID, false,
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

/*
 * Can comparisons of the id with bounds of the period use an index?  Not when
 * the id comes from no row, and not when both come from the same one.
 */
static bool
can_use_index(PlannerInfo *root, Node *id, Node *period)
{
	return contain_var_clause(id) &&
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

/*
 * "id is within period", or "period contains id", as comparisons with bounds;
 * NULL to leave it as it is.
 */
static Node *
rewrite_within(SupportRequestSimplify *request, int version)
{
	Oid			within = request->fcall->funcid;
	bool		id_first = exprType(linitial(request->fcall->args)) == UUIDOID;
	Node	   *id = list_nth(request->fcall->args, id_first ? 0 : 1);
	Node	   *period = list_nth(request->fcall->args, id_first ? 1 : 0);
	Oid			is_version;
	Expr	   *condition;
	List	   *conditions;

	if (!can_be_repeated(id) || !can_be_repeated(period) || !can_use_index(request->root, id, period))
		return NULL;
	period = without_domain(period);

	is_version = sibling(within, psprintf("uuid_is_v%d", version), UUIDOID);
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
	/* first, for improve_bounds */
	conditions = list_make1(condition);

	if (IsA(period, Const))
	{
		RangeType  *range = DatumGetRangeTypeP(((Const *) period)->constvalue);
		UuidBounds	bounds = uuid9562_period_bounds(version,
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
		Oid			lowest = sibling(within, psprintf("uuidv%d_lowest", version), TSTZRANGEOID);
		Oid			highest = sibling(within, psprintf("uuidv%d_highest", version), TSTZRANGEOID);

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
within_support(FunctionCallInfo fcinfo, int version)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSimplify))
		PG_RETURN_POINTER(rewrite_within((SupportRequestSimplify *) request, version));
	PG_RETURN_POINTER(NULL);
}

/* uuidv6_within_support(internal) returns internal: of uuidv6_within. */
Datum
uuid9562_uuidv6_within_support(PG_FUNCTION_ARGS)
{
	return within_support(fcinfo, 6);
}

/*
 * uuidv7_within_support(internal) returns internal
 *
 * Of uuidv7_within and the functions of the operators.
 */
Datum
uuid9562_uuidv7_within_support(PG_FUNCTION_ARGS)
{
	return within_support(fcinfo, 7);
}

/* --- row estimates ---------------------------------------------------------- */

/* What the statistics say of a column of UUIDs. */
typedef struct UuidStatistics
{
	VariableStatData variable;
	AttStatsSlot histogram;		/* at least two values */
} UuidStatistics;

/*
 * Load the statistics of an expression; false when there is no histogram for
 * this user to see.  To be closed when true.
 */
static bool
open_statistics(PlannerInfo *root, Node *id, UuidStatistics *statistics)
{
	examine_variable(root, id, 0, &statistics->variable);
	if (HeapTupleIsValid(statistics->variable.statsTuple) &&
		statistic_proc_security_check(&statistics->variable, F_UUID_LT) &&
		get_attstatsslot(&statistics->histogram, statistics->variable.statsTuple,
						 STATISTIC_KIND_HISTOGRAM, uuid_operator(BTLessStrategyNumber),
						 ATTSTATSSLOT_VALUES))
	{
		if (statistics->histogram.valuetype == UUIDOID && statistics->histogram.nvalues > 1)
			return true;
		free_attstatsslot(&statistics->histogram);
	}
	ReleaseVariableStats(statistics->variable);
	return false;
}

static void
close_statistics(UuidStatistics *statistics)
{
	free_attstatsslot(&statistics->histogram);
	ReleaseVariableStats(statistics->variable);
}

static const uint8 *
boundary(const UuidStatistics *statistics, int i)
{
	return DatumGetUUIDP(statistics->histogram.values[i])->data;
}

/*
 * The share of the values in the histogram that are below a UUID, with its
 * place inside a bin: 0 before the histogram, 1 after it.
 */
static double
share_below(const UuidStatistics *statistics, const uint8 *uuid)
{
	const int	last = statistics->histogram.nvalues - 1;
	int			low = 0;
	int			high = last;

	if (memcmp(uuid, boundary(statistics, low), UUID_LEN) <= 0)
		return 0;
	if (memcmp(uuid, boundary(statistics, high), UUID_LEN) >= 0)
		return 1;
	while (high - low > 1)
	{
		int			middle = low + (high - low) / 2;

		if (memcmp(boundary(statistics, middle), uuid, UUID_LEN) <= 0)
			low = middle;
		else
			high = middle;
	}
	return (low + uuid_layout_position(boundary(statistics, low), uuid, boundary(statistics, high))) / last;
}

/*
 * The selectivity of "id operator bound" for one of the four inequalities, as
 * PostgreSQL's scalarineqsel computes it, but with the place inside a bin.
 */
static double
inequality_selectivity(PlannerInfo *root, UuidStatistics *statistics, Oid operator,
					   int strategy, const pg_uuid_t *bound)
{
	bool		is_greater = strategy >= BTGreaterEqualStrategyNumber;
	bool		or_equal = strategy == BTGreaterEqualStrategyNumber || strategy == BTLessEqualStrategyNumber;
	Datum		value = UUIDPGetDatum(bound);
	FmgrInfo	compare;
	double		nulls;
	double		common;
	double		common_total;
	double		share;

	fmgr_info(get_opcode(operator), &compare);
	share = share_below(statistics, bound->data);
	if (is_greater)
		share = 1 - share;

	/* beyond the histogram, PostgreSQL looks for newer values in the index */
	if (share <= 0)
		share = ineq_histogram_selectivity(root, &statistics->variable, operator, &compare,
										   is_greater, or_equal, InvalidOid, value, UUIDOID);

	nulls = ((Form_pg_statistic) GETSTRUCT(statistics->variable.statsTuple))->stanullfrac;
	common = mcv_selectivity(&statistics->variable, &compare, InvalidOid, value, true, &common_total);
	share = common + share * (1 - nulls - common_total);
	CLAMP_PROBABILITY(share);
	return share;
}

/*
 * Is a condition a comparison of the id with a value that can be known when
 * planning?  Then that value, and which comparison; else NULL.
 */
static const pg_uuid_t *
known_bound(PlannerInfo *root, const OpExpr *condition, const Node *id, int *strategy)
{
	Node	   *bound;

	if (!is_opclause(condition) ||
		list_length(condition->args) != 2 ||
		!equal(linitial(condition->args), id))
		return NULL;
	*strategy = get_op_opfamily_strategy(condition->opno, uuid_btree_family());
	if (*strategy == InvalidStrategy || *strategy == BTEqualStrategyNumber)
		return NULL;
	bound = estimate_expression_value(root, lsecond(condition->args));
	if (!IsA(bound, Const) || ((Const *) bound)->constisnull || ((Const *) bound)->consttype != UUIDOID)
		return NULL;
	return DatumGetUUIDP(((Const *) bound)->constvalue);
}

/*
 * Improve the row estimate of the comparisons of an id with known values.
 *
 * PostgreSQL takes any uuid to stand in the middle of its histogram bin, so
 * it estimates two bounds in one bin, say an hour of a year, at one row.  A
 * time is somewhere in particular between two others, and we know where.
 *
 * There is no other place to say so: the selectivity of a comparison is asked
 * of its operator, and these are PostgreSQL's.  But the planner keeps each
 * answer in the RestrictInfo of the condition, and asks in the order of the
 * conditions; uuid_is_v7 comes first, and here we answer for the others.
 */
static void
improve_bounds(PlannerInfo *root, Node *id)
{
	int			relid;
	RelOptInfo *rel;
	UuidStatistics statistics;
	bool		opened = false;
	ListCell   *cell;

	if (!bms_get_singleton_member(pull_varnos(root, id), &relid) ||
		relid >= root->simple_rel_array_size)
		return;
	rel = root->simple_rel_array[relid];
	if (rel == NULL)
		return;

	foreach(cell, rel->baserestrictinfo)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);
		int			strategy;
		const pg_uuid_t *bound = known_bound(root, (OpExpr *) condition->clause, id, &strategy);

		if (bound == NULL)
			continue;
		if (!opened && !(opened = open_statistics(root, id, &statistics)))
			return;
		condition->norm_selec = inequality_selectivity(root, &statistics,
													   ((OpExpr *) condition->clause)->opno,
													   strategy, bound);
	}
	if (opened)
		close_statistics(&statistics);
}

/* --- sparing the version ---------------------------------------------------- */

/*
 * Does a CHECK constraint of the table already say what the condition says?
 * The condition is of that table only, and each table that has rows in the
 * plan is asked on its own.  A plan made with the constraint does not outlive
 * it: it is made anew after any ALTER TABLE.
 */
static bool
is_checked(PlannerInfo *root, Index relid, const Expr *condition)
{
	RangeTblEntry *table = planner_rt_fetch(relid, root);
	Relation	relation;
	TupleConstr *constraints;
	Expr	   *checked;
	bool		found = false;

	if (table->rtekind != RTE_RELATION || table->relkind != RELKIND_RELATION)
		return false;

	/* a constraint calls its own table 1 */
	checked = copyObject((Expr *) condition);
	ChangeVarNodes((Node *) checked, relid, 1, 0);

	relation = table_open(table->relid, NoLock);
	constraints = relation->rd_att->constr;
	for (int i = 0; constraints != NULL && i < constraints->num_check && !found; i++)
	{
		ConstrCheck *check = &constraints->check[i];
		Node	   *expression;

#if PG_VERSION_NUM >= 180000
		if (!check->ccenforced)
			continue;
#endif
		if (!check->ccvalid)
			continue;
		expression = eval_const_expressions(NULL, stringToNode(check->ccbin));
		found = list_member(make_ands_implicit((Expr *) expression), checked);
	}
	table_close(relation, NoLock);
	return found;
}

/*
 * Where a CHECK constraint keeps other versions out, scans of an index on the
 * id need not ask each row for its version: "id is not less than the first
 * UUID of the version" then says the same, and costs nothing beside the
 * bounds of a period.  NIL where there is no such constraint.
 */
static List *
version_as_index_condition(SupportRequestIndexCondition *request, int version)
{
	FuncExpr   *condition = (FuncExpr *) request->node;
	UuidPayload first = {0};
	pg_uuid_t	bound;

	if (!IsA(condition, FuncExpr) ||
		request->opfamily != uuid_btree_family() ||
		!is_checked(request->root, request->index->rel->relid, (Expr *) condition))
		return NIL;

	uuid_layout_pack(bound.data, version, first);
	request->lossy = false;
	return list_make1(compare(linitial(condition->args), BTGreaterEqualStrategyNumber,
							  uuid_constant(&bound)));
}

static Datum
is_version_support(FunctionCallInfo fcinfo, int version)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *selectivity = (SupportRequestSelectivity *) request;

		/*
		 * Ids between the bounds of a period are hardly ever of another
		 * version, so the estimate is that of the bounds.
		 */
		if (!selectivity->is_join)
			improve_bounds(selectivity->root, linitial(selectivity->args));
		selectivity->selectivity = 1;
		PG_RETURN_POINTER(request);
	}
	if (IsA(request, SupportRequestIndexCondition))
		PG_RETURN_POINTER(version_as_index_condition((SupportRequestIndexCondition *) request, version));
	PG_RETURN_POINTER(NULL);
}

/* uuid_is_v6_support(internal) returns internal: of uuid_is_v6. */
Datum
uuid9562_uuid_is_v6_support(PG_FUNCTION_ARGS)
{
	return is_version_support(fcinfo, 6);
}

/* uuid_is_v7_support(internal) returns internal: of uuid_is_v7. */
Datum
uuid9562_uuid_is_v7_support(PG_FUNCTION_ARGS)
{
	return is_version_support(fcinfo, 7);
}
