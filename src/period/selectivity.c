/*
 * selectivity.c
 *		Row estimates of "is within a period".
 *
 * PostgreSQL assumes that a uuid is in the middle of its histogram bin.  If both bounds of
 * a period are in one bin, such as the bounds of an hour in a table with IDs of one year,
 * PostgreSQL estimates one row.  The time of a UUID determines its place in the bin, so
 * this file interpolates.
 *
 * A column can contain several versions, and UUIDs of any of them can be the boundaries of
 * bins in PostgreSQL's histogram.  So this file also estimates how many of the rows in a
 * period have version 7.
 *
 * The comparisons from support.c use PostgreSQL's operators, so PostgreSQL itself estimates
 * their selectivity.  An estimate for uuid_is_v7 is a factor of at most 1, so it cannot correct a
 * low estimate.  No interface of PostgreSQL changes the estimate of a single comparison:
 * get_relation_stats_hook replaces the statistics for all conditions, and convert_to_scalar() does
 * not support uuid.  But the planner caches the selectivity of each condition in norm_selec of its
 * RestrictInfo.  It estimates uuid_is_v7 first, since support.c puts that before the
 * comparisons.  So the support function of uuid_is_v7 sets norm_selec of all comparisons of the ID,
 * and of all other calls of uuid_is_v7, in the table's conditions and inside their ORs, unless
 * PostgreSQL has already set it.  Then clauselist_selectivity() combines both sides of a period.
 */
#include "period/period.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#define UNKNOWN_SHARE	0.5		/* assumed share of v7 */
#define SAMPLED_ROW		(1.0 / 300) /* in bins; a bin is 300 sampled rows */
#define DENSITY_BINS	4		/* bins averaged at an end of the histogram */

static const uint8 nil_uuid[UUID_LEN] = {0};
static const uint8 max_uuid[UUID_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

/* A number of rows, as a share of all rows of the table */
typedef struct Share
{
	double		all;
	double		of_v7;
} Share;

/*
 * A UUID, and the rows of the histogram below it.  split_histogram() counts these rows in bins, and
 * load_statistics() converts them to a share of all rows.  The boundaries are the nil UUID, the v7
 * UUIDs of the histogram, the smallest v7 UUID of the current time, and the max UUID.
 */
typedef struct Boundary
{
	const uint8 *uuid;
	Share		below;
} Boundary;

/* The statistics of a column of UUIDs */
typedef struct Statistics
{
	SupportRequestSelectivity *request;
	RelOptInfo *rel;
	AttStatsSlot histogram;
	AttStatsSlot common;		/* most common values */
	Boundary   *boundaries;
	int			count;			/* of boundaries */
	int			last;			/* last one of the histogram; 0 if none */
	double		bin;			/* share of rows in a bin; 0: no histogram */
	double		nulls;			/* share of NULLs in all rows */
	double		newer;			/* bins of v7 added since ANALYZE */
	const uint8 *now;			/* smallest v7 UUID of the current time */
} Statistics;

/* The bound of one side of a period, and the comparisons with the bound */
typedef struct Side
{
	const uint8 *bound;
	List	   *comparisons;
} Side;

/* Return the difference of two UUIDs as 128-bit numbers.  It is 0 only if they are equal. */
static double
uuid_distance(const uint8 *from, const uint8 *to)
{
	uint64		from_low = uuid_layout_load64(from + 8);
	uint64		to_low = uuid_layout_load64(to + 8);
	uint64		borrow = to_low < from_low;

	Assert(memcmp(from, to, UUID_LEN) <= 0);
	return ldexp((double) (uuid_layout_load64(to) - uuid_layout_load64(from) - borrow), 64) +
		(double) (to_low - from_low);
}

/*
 * Estimate the number of v7 rows between two UUIDs, measured in bins.  Assume the density of the
 * first bins of v7 or, with at_end, of its last bins.  If v7 has no bin, return 0.5.
 */
static double
bins_between(const Statistics *statistics, bool at_end, const uint8 *low, const uint8 *high)
{
	/* boundaries 1 to n of v7 have n - 1 bins between them */
	int			bins = Min(DENSITY_BINS, statistics->last - 1);
	const Boundary *first = &statistics->boundaries[at_end ? statistics->last - bins : 1];

	if (memcmp(low, high, UUID_LEN) >= 0)
		return 0;
	if (bins <= 0)
		return 0.5;
	return bins * uuid_distance(low, high) / uuid_distance(first[0].uuid, first[bins].uuid);
}

/* Return the growth of a table since VACUUM or ANALYZE: new pages per old page. */
static double
table_growth(const Statistics *statistics)
{
	Oid			table = planner_rt_fetch(statistics->rel->relid,
										 statistics->request->root)->relid;
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	double		pages = 0;

	if (HeapTupleIsValid(tuple))
	{
		pages = ((Form_pg_class) GETSTRUCT(tuple))->relpages;
		ReleaseSysCache(tuple);
	}
	return pages > 0 && statistics->rel->pages > pages ? statistics->rel->pages / pages - 1 : 0;
}

static void
add_boundary(Statistics *statistics, const uint8 *uuid, double all, double of_v7)
{
	Boundary   *boundary = &statistics->boundaries[statistics->count++];

	boundary->uuid = uuid;
	boundary->below.all = all;
	boundary->below.of_v7 = of_v7;
}

/*
 * Add boundaries for the rows after the last boundary of v7.  The histogram has "all" bins, and
 * "of_v7" of them are bins of v7.  Assume that v7 has the same share of the rows added since
 * ANALYZE, and that its new rows are between its last boundary and now.
 *
 * If a boundary of another version follows, the bin before that boundary can also contain v7 rows.
 * Estimate their number up to now from the density of the last bins of v7, and count one bin at
 * most.
 */
static void
add_recent_rows(Statistics *statistics, double all, double of_v7)
{
	Boundary   *last = &statistics->boundaries[statistics->last];
	Datum		now;
	double		after_last = 0; /* bins of v7 rows after the last boundary */
	double		added = 0;		/* bins of rows added since ANALYZE */

	/* if the clock is out of range, only the estimate is poor */
	(void) uuid9562_side_bound(true, GetCurrentTimestamp(), true, &now);
	statistics->now = DatumGetUUIDP(now)->data;
	if (statistics->last > 0 && memcmp(last->uuid, statistics->now, UUID_LEN) < 0)
	{
		added = table_growth(statistics) * (statistics->histogram.nvalues - 1);
		after_last = statistics->newer = added * of_v7 / Max(all, 1);
		if (all > last->below.all)	/* a boundary of another version follows */
			after_last += Min(bins_between(statistics, true, last->uuid, statistics->now), 1);
		add_boundary(statistics, statistics->now, last->below.all + after_last,
					 of_v7 + after_last);
	}
	add_boundary(statistics, max_uuid, all + added, of_v7 + after_last);
}

/*
 * Find the boundaries of v7 in PostgreSQL's histogram.  Each of these except the first ends a bin
 * of v7 rows.  Each boundary of another version counts as one bin of other rows.
 */
static void
split_histogram(Statistics *statistics)
{
	double		of_v7 = 0;
	double		others = 0;

	/* three more: the nil UUID, that of now, and the max UUID */
	statistics->boundaries = palloc((statistics->histogram.nvalues + 3) * sizeof(Boundary));
	add_boundary(statistics, nil_uuid, 0, 0);
	for (int i = 0; i < statistics->histogram.nvalues; i++)
	{
		const uint8 *uuid = DatumGetUUIDP(statistics->histogram.values[i])->data;

		if (uuid_layout_version(uuid) != 7)
			others++;
		else
		{
			if (statistics->last > 0)
				of_v7++;
			add_boundary(statistics, uuid, of_v7 + others, of_v7);
			statistics->last = statistics->count - 1;
		}
	}
	add_recent_rows(statistics, of_v7 + others, of_v7);
}

/* Return the rows of the histogram below a UUID: interpolate between two boundaries. */
static Share
histogram_below(const Statistics *statistics, const uint8 *uuid)
{
	const Boundary *low = statistics->boundaries;
	const Boundary *high = low + statistics->count - 1;
	Share		below;
	double		part;

	Assert(statistics->count >= 2);
	while (high - low > 1)
	{
		const Boundary *middle = low + (high - low) / 2;

		if (memcmp(middle->uuid, uuid, UUID_LEN) <= 0)
			low = middle;
		else
			high = middle;
	}
	part = uuid_distance(low->uuid, uuid) / uuid_distance(low->uuid, high->uuid);
	below.all = low->below.all + part * (high->below.all - low->below.all);
	below.of_v7 = low->below.of_v7 + part * (high->below.of_v7 - low->below.of_v7);
	return below;
}

/* Return the rows below a UUID: those of the histogram, and the most common values. */
static Share
share_below(const Statistics *statistics, const uint8 *uuid)
{
	Share		share = {0, 0};

	if (statistics->bin > 0)
		share = histogram_below(statistics, uuid);
	for (int i = 0; i < Min(statistics->common.nvalues, statistics->common.nnumbers); i++)
	{
		const uint8 *value = DatumGetUUIDP(statistics->common.values[i])->data;

		if (memcmp(value, uuid, UUID_LEN) >= 0)
			continue;
		share.all += statistics->common.numbers[i];
		if (uuid_layout_version(value) == 7)
			share.of_v7 += statistics->common.numbers[i];
	}
	return share;
}

/* Fill in all statistics except the request and the table, which the caller has set. */
static void
load_statistics(Statistics *statistics, HeapTuple tuple)
{
	statistics->nulls = ((Form_pg_statistic) GETSTRUCT(tuple))->stanullfrac;
	get_attstatsslot(&statistics->common, tuple, STATISTIC_KIND_MCV,
					 uuid9562_operator(BTEqualStrategyNumber),
					 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
	if (get_attstatsslot(&statistics->histogram, tuple, STATISTIC_KIND_HISTOGRAM,
						 uuid9562_operator(BTLessStrategyNumber), ATTSTATSSLOT_VALUES))
	{
		split_histogram(statistics);

		/*
		 * While bin is 0, share_below() counts only the common values.  The
		 * sum of imported statistics can exceed 1.
		 */
		statistics->bin = Max(1 - statistics->nulls - share_below(statistics, max_uuid).all, 0) /
			Max(statistics->boundaries[statistics->count - 1].below.all, 1);
		for (int i = 0; i < statistics->count; i++)
		{
			statistics->boundaries[i].below.all *= statistics->bin;
			statistics->boundaries[i].below.of_v7 *= statistics->bin;
		}
	}
}

/*
 * Estimate the share of rows in a period that begins after the histogram (with above) or ends
 * before it (otherwise).  Use the density of the nearest bins.  If the period begins after the
 * histogram but before now, count the rows up to now, but at most one bin, as add_recent_rows()
 * does.  Any other period can contain only rows added since ANALYZE: count at most these and one
 * sampled row.
 */
static double
extrapolated_share(const Statistics *statistics, const Side *lower, const Side *upper, bool above)
{
	const uint8 *end = upper->bound;
	double		most_bins = statistics->newer + SAMPLED_ROW;

	if (above && memcmp(lower->bound, statistics->now, UUID_LEN) < 0)
	{
		most_bins = 1;
		if (memcmp(end, statistics->now, UUID_LEN) > 0)
			end = statistics->now;
	}
	return statistics->bin * Min(bins_between(statistics, above, lower->bound, end), most_bins);
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
	selectivity = share_below(statistics, side->bound).all;
	if (above)
		selectivity = share_below(statistics, max_uuid).all - selectivity;
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

/* Return the rows between two bounds. */
static Share
rows_between(const Statistics *statistics, const Side *lower, const Side *upper)
{
	Share		low = share_below(statistics, lower->bound);
	Share		rows = share_below(statistics, upper->bound);

	rows.all = Max(rows.all - low.all, 0);
	rows.of_v7 = Max(rows.of_v7 - low.of_v7, 0);
	/* without a bound, add the NULLs and the rows missing in the statistics */
	if (lower->bound == nil_uuid && upper->bound == max_uuid)
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
	const Side	lower = {nil_uuid, NIL};
	const Side	upper = {max_uuid, NIL};
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
	load_statistics(statistics, tuple);
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
