/*
 * selectivity.c
 *		Row estimates of "is within a period".
 *
 * PostgreSQL assumes that a uuid is in the middle of its histogram bin.  If both bounds of
 * a period are in one bin, such as the bounds of an hour in a table with IDs of one year,
 * PostgreSQL estimates one row.  The time of a UUID determines its place in the bin, so
 * this file interpolates.
 *
 * The comparisons that rewrite.c makes use PostgreSQL's operators, so PostgreSQL estimates
 * their selectivity.  PostgreSQL multiplies it by the selectivity of uuid_is_v7, which
 * cannot exceed 1 and so cannot correct a low estimate.  But the planner caches each
 * selectivity in norm_selec of the RestrictInfo.  The planner estimates uuid_is_v7 first,
 * since rewrite.c puts it before the comparisons.  So the support function of uuid_is_v7
 * sets norm_selec of the comparisons, unless PostgreSQL has already set it.
 */
#include "period/period.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#define UNKNOWN_SHARE	0.5		/* share of the version if it is unknown */
#define DENSITY_BINS	4		/* bins averaged at an end of the histogram */
#define SAMPLED_ROW		(1.0 / 300) /* in bins, of 300 sampled rows each */

static const uint8 nil[UUID_LEN] = {0};
static const uint8 max[UUID_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

/* A UUID and the number of histogram bins below it. */
typedef struct Boundary
{
	const uint8 *uuid;
	double		all;			/* bins of rows of any version */
	double		of_version;		/* bins of rows of the version */
} Boundary;

/* The statistics of a column of UUIDs. */
typedef struct UuidStatistics
{
	VariableStatData variable;
	AttStatsSlot histogram;
	AttStatsSlot common;		/* most common values */
	const UuidKind *kind;		/* its version is "the version" below */
	Boundary   *boundaries;		/* nil, histogram of the version, now, max */
	int			count;
	int			last;			/* last boundary of the version; 0 if none */
	double		bin;			/* a bin's share of all rows; 0 if no
								 * histogram */
	double		nulls;			/* share of all rows */
	double		newer;			/* bins of rows added since ANALYZE */
	uint8		now[UUID_LEN];	/* smallest UUID of the current time */
} UuidStatistics;

/* The bound of one side of a period, and the comparisons with the bound. */
typedef struct Side
{
	const uint8 *bound;
	List	   *comparisons;
} Side;

/* Return the difference of two UUIDs as 128-bit numbers.  It is 0 only if they are equal. */
static double
uuid_distance(const uint8 *low, const uint8 *high)
{
	uint64		low_half = uuid_layout_load64(low + 8);
	uint64		high_half = uuid_layout_load64(high + 8);
	uint64		borrow = high_half < low_half;

	return (double) (uuid_layout_load64(high) - uuid_layout_load64(low) - borrow) * 18446744073709551616.0 +	/* 2^64 */
		(double) (high_half - low_half);
}

/*
 * Estimate how many bins fit between two UUIDs, by the density of the version's first
 * bins or, with as_last, of its last bins.  If the version has no bin, return 0.5.
 */
static double
bins_between(const UuidStatistics *statistics, bool as_last, const uint8 *low, const uint8 *high)
{
	int			bins = Min(DENSITY_BINS, statistics->last - 1);
	const Boundary *from = &statistics->boundaries[as_last ? statistics->last - bins : 1];

	if (memcmp(low, high, UUID_LEN) >= 0)
		return 0;
	return bins > 0 ? bins * uuid_distance(low, high) / uuid_distance(from[0].uuid, from[bins].uuid) : 0.5;
}

/* Set statistics->now to the smallest UUID of a kind at the current time. */
static void
set_now(UuidStatistics *statistics, const UuidKind *kind)
{
	UuidPayload now = {0, 0};

	/* if the field cannot hold the time, now remains zero */
	(void) uuid_clock_micros_ticks(kind->clock, timestamptz_to_unix_micros(GetCurrentTimestamp()), &now.time);
	uuid_layout_pack(statistics->now, kind->version, now);
}

/* Return the growth of a table since VACUUM or ANALYZE: new pages per old page. */
static double
table_growth(PlannerInfo *root, const RelOptInfo *rel)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(planner_rt_fetch(rel->relid, root)->relid));
	double		pages = 0;

	if (HeapTupleIsValid(tuple))
	{
		pages = ((Form_pg_class) GETSTRUCT(tuple))->relpages;
		ReleaseSysCache(tuple);
	}
	return pages > 0 && rel->pages > pages ? rel->pages / pages - 1 : 0;
}

static void
add_boundary(UuidStatistics *statistics, const uint8 *uuid, double all, double of_version)
{
	Boundary   *boundary = &statistics->boundaries[statistics->count++];

	boundary->uuid = uuid;
	boundary->all = all;
	boundary->of_version = of_version;
}

/*
 * Take the boundaries that have the version from PostgreSQL's histogram.  Each of these
 * except the first ends a bin of rows of the version.  Each boundary of another version
 * counts as one bin of other rows.  Assume that the rows added since ANALYZE are between
 * the last boundary of the version and now.  If a boundary of another version follows it,
 * the bin between the two can contain rows of the version up to now.  Estimate these rows
 * by the density of the last bins, but as at most one bin.
 */
static void
split_histogram(PlannerInfo *root, UuidStatistics *statistics)
{
	int			nvalues = statistics->histogram.nvalues;
	Boundary   *last;
	double		all = 0;
	double		of_version = 0;
	double		after_last = 0;

	statistics->boundaries = palloc((nvalues + 3) * sizeof(Boundary));
	add_boundary(statistics, nil, 0, 0);
	for (int i = 0; i < nvalues; i++)
	{
		const uint8 *uuid = DatumGetUUIDP(statistics->histogram.values[i])->data;
		bool		is_of_version = uuid_layout_version(uuid) == statistics->kind->version;

		if (!is_of_version || statistics->count > 1)
			all++;
		if (is_of_version && statistics->count > 1)
			of_version++;
		if (is_of_version)
			add_boundary(statistics, uuid, all, of_version);
	}
	statistics->last = statistics->count - 1;
	last = &statistics->boundaries[statistics->last];

	set_now(statistics, statistics->kind);
	/* UUIDs of uuidv8() have greater time fields: use the time of uuidv8() */
	if (statistics->kind->number == UUID_KIND_V8_NODE && memcmp(last->uuid, statistics->now, UUID_LEN) > 0)
		set_now(statistics, UUID_V8);
	if (statistics->last > 0 && memcmp(last->uuid, statistics->now, UUID_LEN) < 0)
	{
		after_last = statistics->newer = table_growth(root, statistics->variable.rel) * (nvalues - 1);
		if (all > last->all)
			after_last += Min(bins_between(statistics, true, last->uuid, statistics->now), 1);
		add_boundary(statistics, statistics->now, last->all + after_last, of_version + after_last);
	}
	add_boundary(statistics, max, all + after_last, of_version + after_last);
}

/* Return the share of rows below a UUID.  With of_version, count only rows of the version. */
static double
share_below(const UuidStatistics *statistics, const uint8 *uuid, bool of_version)
{
	const Boundary *low = statistics->boundaries;
	const Boundary *high = low + Max(statistics->count, 1) - 1;
	double		common = 0;
	double		part;

	for (int i = 0; i < Min(statistics->common.nvalues, statistics->common.nnumbers); i++)
	{
		const uint8 *value = DatumGetUUIDP(statistics->common.values[i])->data;

		if (memcmp(value, uuid, UUID_LEN) < 0 &&
			(!of_version || uuid_layout_version(value) == statistics->kind->version))
			common += statistics->common.numbers[i];
	}
	if (statistics->count == 0)
		return common;
	while (high - low > 1)
	{
		const Boundary *middle = low + (high - low) / 2;

		if (memcmp(middle->uuid, uuid, UUID_LEN) <= 0)
			low = middle;
		else
			high = middle;
	}
	part = uuid_distance(low->uuid, uuid) / uuid_distance(low->uuid, high->uuid);
	return common + statistics->bin * (of_version ? low->of_version + part * (high->of_version - low->of_version) :
									   low->all + part * (high->all - low->all));
}

/* Load the statistics of an expression.  Return false if none can be used. */
static bool
open_statistics(PlannerInfo *root, Node *id, const UuidKind *kind, UuidStatistics *statistics)
{
	HeapTuple	tuple;

	memset(statistics, 0, sizeof(UuidStatistics));
	statistics->kind = kind;
	examine_variable(root, id, 0, &statistics->variable);
	tuple = statistics->variable.statsTuple;
	if (!HeapTupleIsValid(tuple) ||
		statistics->variable.rel == NULL || !IS_SIMPLE_REL(statistics->variable.rel) ||
		!statistic_proc_security_check(&statistics->variable, F_UUID_LT))
	{
		ReleaseVariableStats(statistics->variable);
		return false;
	}

	statistics->nulls = ((Form_pg_statistic) GETSTRUCT(tuple))->stanullfrac;
	get_attstatsslot(&statistics->common, tuple, STATISTIC_KIND_MCV, uuid9562_operator(BTEqualStrategyNumber),
					 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
	if (get_attstatsslot(&statistics->histogram, tuple, STATISTIC_KIND_HISTOGRAM,
						 uuid9562_operator(BTLessStrategyNumber), ATTSTATSSLOT_VALUES))
	{
		split_histogram(root, statistics);
		/* since bin is still 0, share_below() counts only common values */
		statistics->bin = (1 - statistics->nulls - share_below(statistics, max, false)) /
			Max(statistics->boundaries[statistics->count - 1].all, 1);
	}
	return true;
}

/*
 * Free the statistics.  Otherwise they would use memory until the end of planning, for
 * each partition of a table.
 */
static void
close_statistics(UuidStatistics *statistics)
{
	if (statistics->boundaries != NULL)
		pfree(statistics->boundaries);
	free_attstatsslot(&statistics->histogram);
	free_attstatsslot(&statistics->common);
	ReleaseVariableStats(statistics->variable);
}

/*
 * Set the selectivity of the comparisons of one side of a period: the share of rows above
 * its lower bound, or below its upper bound.  If that share is less than one sampled row,
 * extrapolate by the density of the nearest bins.  For a lower bound before now, the result
 * is at most one bin.  Otherwise it is at most the rows added since ANALYZE plus one sampled
 * row.  In both cases it does not exceed PostgreSQL's own estimate, which can use the
 * smallest or the greatest entry of an index.
 */
static void
set_side_selectivity(PlannerInfo *root, const UuidStatistics *statistics, const Side *lower, const Side *upper, bool above)
{
	const Side *side = above ? lower : upper;
	double		share = share_below(statistics, side->bound, false);
	ListCell   *cell;

	if (side->comparisons == NIL || statistics->bin == 0)
		return;
	if (above)
		share = share_below(statistics, max, false) - share;
	if (share < SAMPLED_ROW * statistics->bin)
	{
		bool		since = above && memcmp(lower->bound, statistics->now, UUID_LEN) < 0;
		const uint8 *end = since && memcmp(upper->bound, statistics->now, UUID_LEN) > 0 ? statistics->now : upper->bound;
		double		bins = Min(bins_between(statistics, above, lower->bound, end),
							   since ? 1 : statistics->newer + SAMPLED_ROW);
		Node	   *comparison = (Node *) linitial_node(RestrictInfo, side->comparisons)->clause;

		share = Min(bins * statistics->bin, clause_selectivity(root, comparison, 0, JOIN_INNER, NULL));
	}
	foreach(cell, side->comparisons)
	{
		if (lfirst_node(RestrictInfo, cell)->norm_selec < 0)
			lfirst_node(RestrictInfo, cell)->norm_selec = share;
	}
}

/* Add a comparison to its side of the period, if the compared value is known. */
static void
add_comparison(PlannerInfo *root, RestrictInfo *condition, Side *lower, Side *upper)
{
	OpExpr	   *comparison = (OpExpr *) condition->clause;
	int			strategy = get_op_opfamily_strategy(comparison->opno, uuid9562_btree_family());
	bool		is_lower = strategy > BTEqualStrategyNumber;
	Side	   *side = is_lower ? lower : upper;
	Const	   *bound;

	if (strategy == InvalidStrategy || strategy == BTEqualStrategyNumber)
		return;
	bound = (Const *) estimate_expression_value(root, lsecond(comparison->args));
	/* a superuser can add operators with other types to the family */
	if (!IsA(bound, Const) || bound->constisnull || bound->consttype != UUIDOID)
		return;
	side->comparisons = lappend(side->comparisons, condition);
	if ((memcmp(DatumGetUUIDP(bound->constvalue), side->bound, UUID_LEN) > 0) == is_lower)
		side->bound = DatumGetUUIDP(bound->constvalue)->data;
}

/*
 * Return the selectivity of a call of uuid_is_v6, uuid_is_v7 or uuid_is_v8: the share of
 * the version among the rows that satisfy the comparisons of the ID with known values.
 */
double
uuid9562_version_selectivity(PlannerInfo *root, Oid funcid, List *args, const UuidKind *kind)
{
	UuidStatistics statistics;
	Side		lower = {nil, NIL};
	Side		upper = {max, NIL};
	double		all;
	double		of_version;
	double		selectivity = 1;
	RestrictInfo *asked = NULL;
	RestrictInfo *again = NULL;
	ListCell   *cell;

	if (!open_statistics(root, linitial(args), kind, &statistics))
		return UNKNOWN_SHARE;

	foreach(cell, statistics.variable.rel->baserestrictinfo)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);
		FuncExpr   *call = (FuncExpr *) condition->clause;

		if (is_opclause(call) && equal(linitial(((OpExpr *) call)->args), linitial(args)))
			add_comparison(root, condition, &lower, &upper);
		else if (IsA(call, FuncExpr) && call->funcid == funcid && equal(call->args, args))
			*(call->args == args ? &asked : &again) = condition;
	}
	/* a view and its query can have the same call: count it once */
	if (asked != NULL && again != NULL && again->norm_selec < 0)
		again->norm_selec = 1;
	set_side_selectivity(root, &statistics, &lower, &upper, true);
	set_side_selectivity(root, &statistics, &lower, &upper, false);
	all = share_below(&statistics, upper.bound, false) - share_below(&statistics, lower.bound, false);
	of_version = share_below(&statistics, upper.bound, true) - share_below(&statistics, lower.bound, true);
	if (lower.comparisons == NIL && upper.comparisons == NIL)
		selectivity = of_version + (1 - statistics.nulls - all) * UNKNOWN_SHARE;
	else if (all > 0)
		selectivity = of_version / all;
	CLAMP_PROBABILITY(selectivity);
	close_statistics(&statistics);
	return selectivity;
}
