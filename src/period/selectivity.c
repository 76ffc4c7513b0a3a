/*
 * selectivity.c
 *		Row estimates of "is within a period".
 *
 * If both bounds of a period are in one bin of PostgreSQL's histogram, such as the bounds of an
 * hour in a table with IDs of one year, PostgreSQL estimates one row.  So this file estimates the
 * rows with histogram.c, and gives the result to the planner.
 *
 * The comparisons from support.c use PostgreSQL's operators, so PostgreSQL itself estimates
 * their selectivity.  An estimate for uuid_is_v7 is a factor of at most 1, so it cannot correct a
 * low estimate.  No interface of PostgreSQL changes the estimate of a single comparison:
 * get_relation_stats_hook replaces the statistics for all conditions, and convert_to_scalar() does
 * not support uuid.  But the planner caches the selectivity of each condition in norm_selec of its
 * RestrictInfo.  It estimates uuid_is_v7 first, since support.c puts that before the
 * comparisons.  So the support function of uuid_is_v7 sets norm_selec of all comparisons of the ID,
 * and of all other calls of uuid_is_v7, in the table's conditions and inside their ORs, unless
 * PostgreSQL has already set it.
 *
 * This relies on two functions of PostgreSQL, and planner_uses() asserts both in each plan:
 * clause_selectivity() returns norm_selec if it is set, and clauselist_selectivity() combines both
 * sides of a period into the rows between them.  If a later version did otherwise, only estimates
 * would be poor.
 */
#include "period/histogram.h"

#include <math.h>

#include "access/stratnum.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#define UNKNOWN_SHARE	0.5		/* assumed share of v7 */
#define SAMPLED_ROW		(1.0 / 300) /* in bins; a bin is 300 sampled rows */

/* The bound of one side of a period, and the comparisons with the bound */
typedef struct Side
{
	const uint8 *bound;
	List	   *comparisons;
} Side;

/*
 * Estimate the share of rows in a period that begins after the histogram (with after) or ends
 * before it (otherwise).  Use the density of the nearest bins.  If the period begins after the
 * histogram but before now, count the rows up to now, but at most one bin, as add_recent_rows()
 * does.  Any other period can contain only rows added since ANALYZE: count at most these and one
 * sampled row.
 */
static double
extrapolated_share(const Statistics *statistics, const Side *lower, const Side *upper, bool after)
{
	const uint8 *end = upper->bound;
	double		most_bins = statistics->newer + SAMPLED_ROW;

	if (after && memcmp(lower->bound, statistics->now, UUID_LEN) < 0)
	{
		most_bins = 1;
		if (memcmp(end, statistics->now, UUID_LEN) > 0)
			end = statistics->now;
	}
	return statistics->bin * Min(uuid9562_bins_between(statistics, after, lower->bound, end),
								 most_bins);
}

/*
 * Set the selectivity of the comparisons with one bound of a period.  It is the share of rows above
 * the lower bound (with above) or below the upper bound (otherwise).  If the histogram gives less
 * than one sampled row, extrapolate.  But do not exceed PostgreSQL's own estimate, which can use
 * the smallest or the greatest entry of an index.
 */
static void
set_side_selectivity(const Statistics *statistics, const Side *lower, const Side *upper, bool above)
{
	const Side *side = above ? lower : upper;
	double		selectivity;
	ListCell   *cell;

	if (side->comparisons == NIL || statistics->bin == 0)
		return;
	selectivity = uuid9562_share_below(statistics, side->bound).all;
	if (above)
		selectivity = uuid9562_share_below(statistics, uuid9562_max).all - selectivity;
	if (selectivity < SAMPLED_ROW * statistics->bin)
	{
		Expr	   *comparison = linitial_node(RestrictInfo, side->comparisons)->clause;

		selectivity = Min(extrapolated_share(statistics, lower, upper, above),
						  clause_selectivity(statistics->request->root, (Node *) comparison, 0,
											 JOIN_INNER, NULL));
	}
	foreach(cell, side->comparisons)
		lfirst_node(RestrictInfo, cell)->norm_selec = selectivity;
}

/*
 * Add a condition to its side of the period if it compares the ID with a known value.  Ignore it if
 * its selectivity is set, by an earlier call for the same ID or by PostgreSQL, because
 * estimate_expression_value() would evaluate its bound again.
 */
static void
add_to_side(const Statistics *statistics, RestrictInfo *condition, Side *lower, Side *upper)
{
	OpExpr	   *comparison = (OpExpr *) condition->clause;
	int			strategy;
	Side	   *side;
	Const	   *bound;

	CHECK_FOR_INTERRUPTS();
	if (condition->norm_selec >= 0 || !is_opclause(comparison) ||
		!equal(linitial(comparison->args), linitial(statistics->request->args)))
		return;
	strategy = get_op_opfamily_strategy(comparison->opno, uuid9562_btree_family());
	if (strategy == InvalidStrategy || strategy == BTEqualStrategyNumber)
		return;
	bound = (Const *) estimate_expression_value(statistics->request->root,
												lsecond(comparison->args));
	/* a superuser can add operators with other types to the family */
	if (!IsA(bound, Const) || bound->constisnull || bound->consttype != UUIDOID)
		return;
	side = strategy > BTEqualStrategyNumber ? lower : upper;
	side->comparisons = lappend(side->comparisons, condition);
	/* keep the greatest lower bound and the smallest upper bound */
	if ((memcmp(DatumGetUUIDP(bound->constvalue), side->bound, UUID_LEN) > 0) == (side == lower))
		side->bound = DatumGetUUIDP(bound->constvalue)->data;
}

#ifdef USE_ASSERT_CHECKING
/* Check whether the planner uses what set_side_selectivity() has set; see above. */
static bool
planner_uses(const Statistics *statistics, const Side *lower, const Side *upper)
{
	PlannerInfo *root = statistics->request->root;
	List	   *sides[] = {lower->comparisons, upper->comparisons};
	RestrictInfo *chosen[2];
	double		between;

	for (int i = 0; i < 2; i++)
	{
		if (sides[i] == NIL || statistics->bin == 0)
			return true;
		chosen[i] = linitial_node(RestrictInfo, sides[i]);
		if (clause_selectivity(root, (Node *) chosen[i], 0, JOIN_INNER, NULL) !=
			chosen[i]->norm_selec)
			return false;
	}
	between = chosen[0]->norm_selec + chosen[1]->norm_selec - 1 + statistics->nulls;
	/* the planner replaces what is not positive, or looks like its default */
	return between <= 0 || chosen[0]->norm_selec == DEFAULT_INEQ_SEL ||
		chosen[1]->norm_selec == DEFAULT_INEQ_SEL ||
		fabs(clauselist_selectivity_ext(root, list_make2(chosen[0], chosen[1]), 0, JOIN_INNER,
										NULL, false) - between) < 1e-9;
}
#endif

/* Return the rows between two bounds. */
static Share
rows_between(const Statistics *statistics, const Side *lower, const Side *upper)
{
	Share		low = uuid9562_share_below(statistics, lower->bound);
	Share		rows = uuid9562_share_below(statistics, upper->bound);

	rows.all = Max(rows.all - low.all, 0);
	rows.of_v7 = Max(rows.of_v7 - low.of_v7, 0);
	/* without a bound, add the NULLs and the rows missing in the statistics */
	if (lower->bound == uuid9562_nil && upper->bound == uuid9562_max)
	{
		rows.of_v7 += (1 - statistics->nulls - rows.all) * UNKNOWN_SHARE;
		rows.all = 1;
	}
	return rows;
}

/*
 * Return the share of v7 in some rows.  It is 1 where the statistics have no rows, because
 * comparisons are then extrapolated from bins of v7 alone.
 */
static double
v7_share(Share rows)
{
	double		share = rows.all > 0 ? rows.of_v7 / rows.all : 1;

	CLAMP_PROBABILITY(share);	/* after rounding */
	return share;
}

/* Check whether a condition is the same call of uuid_is_v7() as the one being estimated. */
static bool
is_v7_condition(const Statistics *statistics, const RestrictInfo *condition)
{
	const FuncExpr *call = (const FuncExpr *) condition->clause;

	return IsA(call, FuncExpr) && call->funcid == statistics->request->funcid &&
		equal(call->args, statistics->request->args);
}

/*
 * Set the selectivity of conditions that are combined by AND, as far as they compare the ID with
 * values known to the planner, or check its version.  If they are inside an OR, lower and upper are
 * the bounds that the conditions outside it give.  Return the rows between all bounds.
 *
 * PostgreSQL moves what the arguments of an OR have in common out of it, so the bounds that belong
 * to a call can be inside an OR beside it.  A query with several periods can also repeat the call:
 * count its effect once, and set the selectivity of the repetitions to 1.
 */
static Share
estimate_conditions(const Statistics *statistics, List *conditions, Side lower, Side upper)
{
	Share		rows;
	double		selectivity;
	ListCell   *cell;
	ListCell   *argument;

	lower.comparisons = upper.comparisons = NIL;
	foreach(cell, conditions)
		add_to_side(statistics, lfirst_node(RestrictInfo, cell), &lower, &upper);
	set_side_selectivity(statistics, &lower, &upper, true);
	set_side_selectivity(statistics, &lower, &upper, false);
	Assert(planner_uses(statistics, &lower, &upper));
	rows = rows_between(statistics, &lower, &upper);

	foreach(cell, conditions)
	{
		BoolExpr   *or = (BoolExpr *) lfirst_node(RestrictInfo, cell)->orclause;
		Share		sum = {0, 0};

		if (or == NULL)
			continue;
		foreach(argument, or->args)
		{
			List	   *anded = is_andclause(lfirst(argument)) ?
				((BoolExpr *) lfirst(argument))->args : list_make1(lfirst(argument));
			Share		more = estimate_conditions(statistics, anded, lower, upper);

			sum.all += more.all;
			sum.of_v7 += more.of_v7;
		}
		if (sum.all < rows.all)
			rows = sum;
	}

	selectivity = v7_share(rows);
	foreach(cell, conditions)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);

		if (condition->norm_selec >= 0 || !is_v7_condition(statistics, condition))
			continue;
		condition->norm_selec = selectivity;
		/* compare pointers, since a query can contain the same call twice */
		if (((FuncExpr *) condition->clause)->args == statistics->request->args)
			statistics->request->selectivity = selectivity;
		selectivity = 1;
	}
	return rows;
}

/*
 * Estimate a call of uuid_is_v7.  At the first call, also set the selectivity of all conditions of
 * the table on the same ID.  PostgreSQL then requests estimates only for calls that are not among
 * these conditions, such as the predicate of an index.  They get the selectivity of an equal one.
 */
static void
estimate_call(Statistics *statistics, HeapTuple tuple)
{
	List	   *conditions = statistics->rel->baserestrictinfo;
	const Side	lower = {uuid9562_nil, NIL};
	const Side	upper = {uuid9562_max, NIL};
	Share		rows;
	ListCell   *cell;

	foreach(cell, conditions)
	{
		const RestrictInfo *condition = lfirst_node(RestrictInfo, cell);

		if (condition->norm_selec >= 0 && is_v7_condition(statistics, condition))
		{
			statistics->request->selectivity = condition->norm_selec;
			return;
		}
	}
	uuid9562_load_statistics(statistics, tuple);
	/* estimate_conditions() sets this if the call is among the conditions */
	statistics->request->selectivity = -1;
	rows = estimate_conditions(statistics, conditions, lower, upper);
	if (statistics->request->selectivity < 0)
		statistics->request->selectivity = v7_share(rows);
}

/*
 * Set the selectivity of a call of uuid_is_v7.  Use a temporary memory context, since the planner
 * frees its own memory only at the end, and a table can have many partitions and conditions.
 */
void
uuid9562_estimate_is_v7(SupportRequestSelectivity *request)
{
	MemoryContext temporary = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 row estimate",
													ALLOCSET_SMALL_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(temporary);
	VariableStatData variable;
	Statistics	statistics = {.request = request};

	request->selectivity = UNKNOWN_SHARE;
	examine_variable(request->root, linitial(request->args), 0, &variable);
	statistics.rel = variable.rel;
	if (variable.rel != NULL && IS_SIMPLE_REL(variable.rel) &&
		HeapTupleIsValid(variable.statsTuple) &&
		statistic_proc_security_check(&variable, F_UUID_LT))
		estimate_call(&statistics, variable.statsTuple);
	ReleaseVariableStats(variable);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(temporary);
}
