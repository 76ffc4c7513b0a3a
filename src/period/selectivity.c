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
 * period have the version that the query asks for, called "the version" below.
 *
 * The comparisons from within_support.c use PostgreSQL's operators, so PostgreSQL itself estimates
 * their selectivity.  An estimate for uuid_is_v7 is a factor of at most 1, so it cannot correct a
 * low estimate.  No interface of PostgreSQL changes the estimate of a single comparison:
 * get_relation_stats_hook replaces the statistics for all conditions, and convert_to_scalar() does
 * not support uuid.  But the planner caches the selectivity of each condition in norm_selec of its
 * RestrictInfo.  It estimates uuid_is_v7 first, since within_support.c puts that before the
 * comparisons.  So the support function of uuid_is_v7 sets norm_selec of the comparisons, unless
 * PostgreSQL has already set it.  Then clauselist_selectivity() combines both sides of the period.
 */
#include "period/period.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/syscache.h"

#define SAMPLED_ROW		(1.0 / 300) /* in bins; a bin is 300 sampled rows */
#define DENSITY_BINS	4		/* bins averaged at an end of the histogram */

static const uint8 nil_uuid[UUID_LEN] = {0};
static const uint8 max_uuid[UUID_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

/* A number of rows: in bins of the histogram, or as a share of all rows */
typedef struct Rows
{
	double		all;
	double		of_version;
} Rows;

/*
 * A UUID, and the number of rows below it, measured in bins.  The boundaries are the nil UUID, the
 * UUIDs of the histogram that have the version, the smallest UUID of the current time, and the max
 * UUID.
 */
typedef struct Boundary
{
	const uint8 *uuid;
	Rows		below;
} Boundary;

/* The statistics of a column of UUIDs */
typedef struct Statistics
{
	RelOptInfo *rel;
	AttStatsSlot histogram;
	AttStatsSlot common;		/* most common values */
	const UuidKind *kind;		/* its version is "the version" */
	Boundary   *boundaries;
	int			count;
	int			last;			/* last boundary of the version; 0 if none */
	double		bin;			/* share of rows in a bin; 0: no histogram */
	double		nulls;			/* share of NULLs in all rows */
	double		newer;			/* bins of the version added since ANALYZE */
	uint8		now[UUID_LEN];	/* smallest UUID of the current time */
} Statistics;

/* The bound of one side of a period, and the comparisons with the bound */
typedef struct Side
{
	const uint8 *bound;
	List	   *comparisons;
} Side;

/* Return to - from as 128-bit numbers, if from <= to.  It is 0 only if they are equal. */
static double
uuid_distance(const uint8 *from, const uint8 *to)
{
	uint64		from_low = uuid_layout_load64(from + 8);
	uint64		to_low = uuid_layout_load64(to + 8);
	uint64		borrow = to_low < from_low;

	return ldexp((double) (uuid_layout_load64(to) - uuid_layout_load64(from) - borrow), 64) +
		(double) (to_low - from_low);
}

/*
 * Estimate the number of the version's rows between two UUIDs, measured in bins.  Assume the
 * density of the version's first bins or, with at_end, of its last bins.  If the version has no
 * bin, return 0.5.
 */
static double
bins_between(const Statistics *statistics, bool at_end, const uint8 *low, const uint8 *high)
{
	/* n boundaries of the version have n - 1 bins between them */
	int			bins = Min(DENSITY_BINS, statistics->last - 1);
	const Boundary *from = &statistics->boundaries[at_end ? statistics->last - bins : 1];

	if (memcmp(low, high, UUID_LEN) >= 0)
		return 0;
	if (bins <= 0)
		return 0.5;
	return bins * uuid_distance(low, high) / uuid_distance(from[0].uuid, from[bins].uuid);
}

/* Set statistics->now to the smallest UUID of the current time, in the layout of a kind. */
static void
set_now(Statistics *statistics, const UuidKind *kind)
{
	UuidPayload now = {0, 0};
	int64		micros = timestamptz_to_unix_micros(GetCurrentTimestamp());

	/* if the clock is out of range, only the estimate is poor */
	(void) uuid_clock_micros_ticks(kind->clock, micros, &now.time);
	uuid_layout_pack(statistics->now, kind->version, now);
}

/* Return the growth of a table since VACUUM or ANALYZE: new pages per old page. */
static double
table_growth(PlannerInfo *root, const RelOptInfo *rel)
{
	Oid			table = planner_rt_fetch(rel->relid, root)->relid;
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
	double		pages = 0;

	if (HeapTupleIsValid(tuple))
	{
		pages = ((Form_pg_class) GETSTRUCT(tuple))->relpages;
		ReleaseSysCache(tuple);
	}
	return pages > 0 && rel->pages > pages ? rel->pages / pages - 1 : 0;
}

static void
add_boundary(Statistics *statistics, const uint8 *uuid, double all, double of_version)
{
	Boundary   *boundary = &statistics->boundaries[statistics->count++];

	boundary->uuid = uuid;
	boundary->below.all = all;
	boundary->below.of_version = of_version;
}

/*
 * Add boundaries for the rows after the version's last boundary.  The histogram has "all" bins, and
 * "of_version" of them are bins of the version.  Assume that the version has the same share of the
 * rows added since ANALYZE, and that its new rows are between its last boundary and now.
 *
 * If a boundary of another version follows, the bin before that boundary can also contain rows of
 * the version.  Estimate their number up to now from the density of the version's last bins, and
 * count one bin at most.
 */
static void
add_recent_rows(PlannerInfo *root, Statistics *statistics, double all, double of_version)
{
	Boundary   *last = &statistics->boundaries[statistics->last];
	double		after_last = 0;
	double		added = 0;		/* bins of rows added since ANALYZE */

	set_now(statistics, statistics->kind);
	/* last is later than now only if it is from uuidv8(): use its clock */
	if (statistics->kind->number == UUID_KIND_V8_NODE &&
		memcmp(last->uuid, statistics->now, UUID_LEN) > 0)
		set_now(statistics, UUID_V8);
	if (statistics->last > 0 && memcmp(last->uuid, statistics->now, UUID_LEN) < 0)
	{
		added = table_growth(root, statistics->rel) * (statistics->histogram.nvalues - 1);
		after_last = statistics->newer = added * of_version / Max(all, 1);
		if (all > last->below.all)	/* a boundary of another version follows */
			after_last += Min(bins_between(statistics, true, last->uuid, statistics->now), 1);
		add_boundary(statistics, statistics->now, last->below.all + after_last,
					 of_version + after_last);
	}
	add_boundary(statistics, max_uuid, all + added, of_version + after_last);
}

/*
 * In PostgreSQL's histogram, find the boundaries that have the version.  Each of these
 * except the first ends a bin of rows of the version.  Each boundary of another version
 * counts as one bin of other rows.
 */
static void
split_histogram(PlannerInfo *root, Statistics *statistics)
{
	double		of_version = 0;
	double		others = 0;

	statistics->boundaries = palloc((statistics->histogram.nvalues + 3) * sizeof(Boundary));
	add_boundary(statistics, nil_uuid, 0, 0);
	for (int i = 0; i < statistics->histogram.nvalues; i++)
	{
		const uint8 *uuid = DatumGetUUIDP(statistics->histogram.values[i])->data;

		if (uuid_layout_version(uuid) != statistics->kind->version)
			others++;
		else
		{
			if (statistics->last > 0)
				of_version++;
			add_boundary(statistics, uuid, of_version + others, of_version);
			statistics->last = statistics->count - 1;
		}
	}
	add_recent_rows(root, statistics, of_version + others, of_version);
}

/* Return the rows below a UUID, as shares of all rows. */
static Rows
share_below(const Statistics *statistics, const uint8 *uuid)
{
	const Boundary *low = statistics->boundaries;
	const Boundary *high;
	Rows		share = {0, 0};
	double		part;

	for (int i = 0; i < Min(statistics->common.nvalues, statistics->common.nnumbers); i++)
	{
		const uint8 *value = DatumGetUUIDP(statistics->common.values[i])->data;

		if (memcmp(value, uuid, UUID_LEN) >= 0)
			continue;
		share.all += statistics->common.numbers[i];
		if (uuid_layout_version(value) == statistics->kind->version)
			share.of_version += statistics->common.numbers[i];
	}
	if (statistics->count == 0)
		return share;
	high = low + statistics->count - 1;
	while (high - low > 1)
	{
		const Boundary *middle = low + (high - low) / 2;

		if (memcmp(middle->uuid, uuid, UUID_LEN) <= 0)
			low = middle;
		else
			high = middle;
	}
	part = uuid_distance(low->uuid, uuid) / uuid_distance(low->uuid, high->uuid);
	share.all += statistics->bin * (low->below.all + part * (high->below.all - low->below.all));
	share.of_version += statistics->bin *
		(low->below.of_version + part * (high->below.of_version - low->below.of_version));
	return share;
}

/*
 * Fill in all statistics except the table and the kind, which the caller has set.  Their memory is
 * freed with the memory context of version_selectivity().
 */
static void
load_statistics(PlannerInfo *root, HeapTuple tuple, Statistics *statistics)
{
	statistics->nulls = ((Form_pg_statistic) GETSTRUCT(tuple))->stanullfrac;
	get_attstatsslot(&statistics->common, tuple, STATISTIC_KIND_MCV,
					 uuid9562_operator(BTEqualStrategyNumber),
					 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
	if (get_attstatsslot(&statistics->histogram, tuple, STATISTIC_KIND_HISTOGRAM,
						 uuid9562_operator(BTLessStrategyNumber), ATTSTATSSLOT_VALUES))
	{
		split_histogram(root, statistics);
		/* while bin is 0, share_below() counts only the common values */
		statistics->bin = (1 - statistics->nulls - share_below(statistics, max_uuid).all) /
			Max(statistics->boundaries[statistics->count - 1].below.all, 1);
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
set_side_selectivity(PlannerInfo *root, const Statistics *statistics, const Side *lower,
					 const Side *upper, bool above)
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
						  clause_selectivity(root, (Node *) comparison, 0, JOIN_INNER, NULL));
	}
	foreach(cell, side->comparisons)
	{
		if (lfirst_node(RestrictInfo, cell)->norm_selec < 0)
			lfirst_node(RestrictInfo, cell)->norm_selec = selectivity;
	}
}

/* Add a comparison to its side of the period, if the compared value is known. */
static void
add_to_side(PlannerInfo *root, RestrictInfo *condition, Side *lower, Side *upper)
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
 * Set the selectivity of all conditions that compare the ID with a value known to the planner.  Of
 * the rows that satisfy these conditions, return the share that has the version.
 */
double
uuid9562_version_share(PlannerInfo *root, const VariableStatData *variable, const Node *id,
					   const UuidKind *kind)
{
	Statistics	statistics = {.rel = variable->rel,.kind = kind};
	Side		lower = {nil_uuid, NIL};
	Side		upper = {max_uuid, NIL};
	Rows		low;
	Rows		high;
	double		share = 1;
	ListCell   *cell;

	if (!HeapTupleIsValid(variable->statsTuple) ||
		!statistic_proc_security_check((VariableStatData *) variable, F_UUID_LT))
		return UNKNOWN_SHARE;
	load_statistics(root, variable->statsTuple, &statistics);
	foreach(cell, variable->rel->baserestrictinfo)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);

		CHECK_FOR_INTERRUPTS();
		if (is_opclause(condition->clause) &&
			equal(linitial(((OpExpr *) condition->clause)->args), id))
			add_to_side(root, condition, &lower, &upper);
	}
	set_side_selectivity(root, &statistics, &lower, &upper, true);
	set_side_selectivity(root, &statistics, &lower, &upper, false);
	low = share_below(&statistics, lower.bound);
	high = share_below(&statistics, upper.bound);
	/* the version of rows that are not in the statistics is unknown */
	if (lower.comparisons == NIL && upper.comparisons == NIL)
		share = high.of_version - low.of_version +
			(1 - statistics.nulls - (high.all - low.all)) * UNKNOWN_SHARE;
	else if (high.all > low.all)
		share = (high.of_version - low.of_version) / (high.all - low.all);
	CLAMP_PROBABILITY(share);
	return share;
}
