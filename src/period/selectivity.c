/*
 * selectivity.c
 *		How many rows of a table are within a period.
 *
 * PostgreSQL takes any uuid to stand in the middle of its histogram bin, so
 * it estimates two bounds in one bin, say an hour of a year, at one row.  A
 * time is somewhere in particular between two others, and we know where.
 *
 * The planner asks the operator of a comparison for its selectivity, and the
 * operators are PostgreSQL's.  uuid_is_v7, which we are asked about, cannot
 * make up for them: no selectivity is greater than 1.  But the planner keeps
 * each answer in the RestrictInfo of its condition, as norm_selec.  It asks
 * about uuid_is_v7 before the bounds that planner.c puts after it, so the
 * answers about the bounds are left there.  One that is there already stays:
 * where the planner asks in another order, PostgreSQL's own estimates stand.
 */
#include "period/selectivity.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#define UNKNOWN_SHARE	0.5		/* of the version, where nothing is known */
#define DENSITY_BINS	4		/* tell how dense values beside them are */
#define SAMPLED_ROW		(1.0 / 300) /* of a bin, in ANALYZE's sample */

static const uint8 nil[UUID_LEN] = {0};
static const uint8 max[UUID_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

/* A UUID, and the bins of rows below it: of any version, and of the one asked about. */
typedef struct Boundary
{
	const uint8 *uuid;
	double		all;
	double		of_version;
} Boundary;

/* What the statistics say of a column of UUIDs. */
typedef struct UuidStatistics
{
	VariableStatData variable;
	AttStatsSlot histogram;
	AttStatsSlot common;		/* most common values */
	const UuidKind *kind;		/* whose version is asked about */
	Boundary   *boundaries;		/* nil, those of the version, now, max */
	int			count;
	int			last;			/* of the version; the first is 1 */
	double		bin;			/* share of all rows; 0 without a histogram */
	double		nulls;			/* share of all rows */
	double		newer;			/* bins of rows that came since */
	uint8		now[UUID_LEN];	/* the least UUID of the version and this time */
} UuidStatistics;

/* One side of a period, and the comparisons that set it. */
typedef struct Side
{
	const uint8 *bound;
	List	   *comparisons;
} Side;

/* How far a UUID is above a lesser one, as 128-bit numbers. */
static double
uuid_distance(const uint8 *low, const uint8 *high)
{
	return (double) (uuid_layout_load64(high) - uuid_layout_load64(low)) * 18446744073709551616.0 + /* 2^64 */
		((double) uuid_layout_load64(high + 8) - (double) uuid_layout_load64(low + 8));
}

/* The bins that fill the space between two UUIDs as the first ones of the version do, or the last. */
static double
bins_between(const UuidStatistics *statistics, bool as_last, const uint8 *low, const uint8 *high)
{
	int			bins = Min(DENSITY_BINS, statistics->last - 1);
	const Boundary *from = &statistics->boundaries[as_last ? statistics->last - bins : 1];

	if (memcmp(low, high, UUID_LEN) >= 0)
		return 0;
	return bins > 0 ? bins * uuid_distance(low, high) / uuid_distance(from[0].uuid, from[bins].uuid) : 0.5;
}

/* The least UUID of this time, by the clock of a kind. */
static void
set_now(UuidStatistics *statistics, const UuidKind *kind)
{
	UuidPayload now = {0, 0};

	/* a clock before the field is taken for its beginning */
	(void) uuid_clock_micros_ticks(kind->clock, timestamptz_to_unix_micros(GetCurrentTimestamp()), &now.time);
	uuid_layout_pack(statistics->now, kind->version, now);
}

/* How much a table has grown since it was last vacuumed or analysed: new pages for each old one. */
static double
table_growth(PlannerInfo *root, const RelOptInfo *rel)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(root->simple_rte_array[rel->relid]->relid));
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
 * Of PostgreSQL's histogram, take the boundaries of the version.  Each stands for
 * a bin of rows of its own version, between it and the one before; boundaries of
 * other versions stand for rows around them.  After the last one, up to now, come
 * the rows that are newer than the statistics, and where other values lie above,
 * up to a bin as dense as those before.
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
	/* uuid_is_v8 is asked of keys of uuidv8() too, whose clock is far above */
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

/* The share of the rows that is below a UUID, or only of those of the version. */
static double
share_below(const UuidStatistics *statistics, const uint8 *uuid, bool of_version)
{
	const Boundary *low = statistics->boundaries;
	const Boundary *high = low + Max(statistics->count, 1) - 1;
	double		common = 0;
	double		part;

	for (int i = 0; i < statistics->common.nnumbers; i++)
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

/* Load the statistics of an expression; false when there are none to see. */
static bool
open_statistics(PlannerInfo *root, Node *id, const UuidKind *kind, UuidStatistics *statistics)
{
	HeapTuple	tuple;

	memset(statistics, 0, sizeof(UuidStatistics));
	statistics->kind = kind;
	examine_variable(root, id, 0, &statistics->variable);
	tuple = statistics->variable.statsTuple;
	if (!HeapTupleIsValid(tuple) || !statistic_proc_security_check(&statistics->variable, F_UUID_LT))
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
		/* as long as a bin has no share, those below are the common values */
		statistics->bin = (1 - statistics->nulls - share_below(statistics, max, false)) /
			Max(statistics->boundaries[statistics->count - 1].all, 1);
	}
	return true;
}

/*
 * Answer for the comparisons of one side of a period: the rows above its lowest
 * UUID, or below its highest.  Where the statistics end, PostgreSQL looks whether
 * the index goes on.  Then rows are as dense as at that end, up to now; before the
 * histogram and after now, no more than came since or escaped the sample.
 */
static void
answer_for_side(PlannerInfo *root, const UuidStatistics *statistics, const Side *lower, const Side *upper, bool above)
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

/*
 * The selectivity of a call of uuid_is_v6, uuid_is_v7 or uuid_is_v8: the share of
 * the version in the period that comparisons of the id with known values set.
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
		OpExpr	   *comparison = (OpExpr *) condition->clause;

		if (is_opclause(comparison) && equal(linitial(comparison->args), linitial(args)))
		{
			int			strategy = get_op_opfamily_strategy(comparison->opno, uuid9562_btree_family());
			bool		is_lower = strategy > BTEqualStrategyNumber;
			Side	   *side = is_lower ? &lower : &upper;
			Const	   *bound;

			if (strategy == InvalidStrategy || strategy == BTEqualStrategyNumber)
				continue;
			bound = (Const *) estimate_expression_value(root, lsecond(comparison->args));
			if (!IsA(bound, Const) || bound->constisnull)
				continue;
			side->comparisons = lappend(side->comparisons, condition);
			if ((memcmp(DatumGetUUIDP(bound->constvalue), side->bound, UUID_LEN) > 0) == is_lower)
				side->bound = DatumGetUUIDP(bound->constvalue)->data;
		}
		else if (IsA(call, FuncExpr) && call->funcid == funcid && equal(call->args, args))
			*(call->args == args ? &asked : &again) = condition;
	}
	/* said twice, as by a view; an arm of an OR says nothing of the others */
	if (asked != NULL && again != NULL && again->norm_selec < 0)
		again->norm_selec = 1;
	answer_for_side(root, &statistics, &lower, &upper, true);
	answer_for_side(root, &statistics, &lower, &upper, false);
	all = share_below(&statistics, upper.bound, false) - share_below(&statistics, lower.bound, false);
	of_version = share_below(&statistics, upper.bound, true) - share_below(&statistics, lower.bound, true);
	if (lower.comparisons == NIL && upper.comparisons == NIL)
		selectivity = of_version + (1 - statistics.nulls - all) * UNKNOWN_SHARE;
	else if (all > 0)
		selectivity = of_version / all;
	CLAMP_PROBABILITY(selectivity);
	free_attstatsslot(&statistics.histogram);
	free_attstatsslot(&statistics.common);
	ReleaseVariableStats(statistics.variable);
	return selectivity;
}
