/*
 * estimate.c
 *		How many rows of a table are within a period.
 *
 * PostgreSQL takes any uuid to stand in the middle of its histogram bin, so
 * it estimates two bounds in one bin, say an hour of a year, at one row.  A
 * time is somewhere in particular between two others, and we know where.
 *
 * There is no place of our own to say so: the selectivity of a comparison is
 * asked of its operator, and these are PostgreSQL's.  But the planner keeps
 * each answer in the RestrictInfo of the condition, and asks in the order of
 * the conditions.  uuid_is_v7 comes first, and when it is asked for its own
 * selectivity, it answers for the comparisons beside it as well.
 */
#include "estimate.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

/* The btree operator family of uuid: PostgreSQL's comparison operators. */
Oid
uuid9562_btree_family(void)
{
	return lookup_type_cache(UUIDOID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/* One of them, by its btree strategy. */
Oid
uuid9562_operator(int strategy)
{
	return get_opfamily_member(uuid9562_btree_family(), UUIDOID, UUIDOID, strategy);
}

/* What the statistics say of a column of UUIDs; either slot may be empty. */
typedef struct UuidStatistics
{
	VariableStatData variable;
	AttStatsSlot histogram;
	AttStatsSlot common;		/* most common values */
	double		nulls;			/* share of NULL in all rows */
	double		common_total;	/* share of the common values in all rows */
	const UuidKind *kind;		/* that is asked for */
	uint8		now[UUID_LEN];	/* the least UUID of the kind and this time */
	double		newer;			/* share of rows that came since */
	double	   *alternating;	/* see alternating_share(); may be NULL */
} UuidStatistics;

/* The share of the version where nothing is known. */
#define UNKNOWN_SHARE	0.5

static const uint8 *
boundary(const UuidStatistics *statistics, int i)
{
	return DatumGetUUIDP(statistics->histogram.values[i])->data;
}

/* Bins of the histogram, each with the same share of the rows. */
static int
bin_count(const UuidStatistics *statistics)
{
	return Max(statistics->histogram.nvalues - 1, 0);
}

static bool
is_of_version(const UuidStatistics *statistics, int i)
{
	return uuid_layout_version(boundary(statistics, i)) == statistics->kind->version;
}

/* Does a boundary lie where all times up to now do? */
static bool
is_past(const UuidStatistics *statistics, int i)
{
	return memcmp(boundary(statistics, i), statistics->now, UUID_LEN) <= 0;
}

/*
 * Where two generators fill one column at the same time, each boundary is of one
 * or of the other by chance, and says little of its bin.  So many of them around
 * the bin say enough.
 */
#define ALTERNATION_WINDOW	64
#define ALTERNATION_CHANGES 4
/* A run of one version that is less likely than this is no chance. */
#define ALTERNATION_RUN		0.0001

/*
 * The share of the version among the past boundaries around a bin; negative where
 * versions do not alternate there, but one came after the other.
 */
static double
alternating_share(const UuidStatistics *statistics, int bin)
{
	return statistics->alternating != NULL ? statistics->alternating[bin] : -1;
}

/* Those shares, for the bins that begin in the past; NULL where all are negative. */
static double *
alternating_shares(const UuidStatistics *statistics)
{
	int			bins = bin_count(statistics);
	int			past = 0;
	int			all_changes = 0;
	int		   *of_version;		/* among the boundaries up to each */
	int		   *changes;
	int		   *run_end;
	double	   *shares;

	if (bins == 0)
		return NULL;
	for (; past <= bins && is_past(statistics, past); past++)
		if (past > 0)
			all_changes += is_of_version(statistics, past) != is_of_version(statistics, past - 1);
	if (all_changes < ALTERNATION_CHANGES)
		return NULL;

	of_version = palloc(past * sizeof(int));
	changes = palloc(past * sizeof(int));
	run_end = palloc(past * sizeof(int));
	for (int i = 0; i < past; i++)
	{
		of_version[i] = is_of_version(statistics, i) + (i > 0 ? of_version[i - 1] : 0);
		changes[i] = i > 0 ? changes[i - 1] + (is_of_version(statistics, i) != is_of_version(statistics, i - 1)) : 0;
	}
	for (int i = past - 1; i >= 0; i--)
		run_end[i] = i < past - 1 && changes[i + 1] == changes[i] ? run_end[i + 1] : i;

	shares = palloc((bins + 1) * sizeof(double));
	for (int bin = 0, run_start = 0; bin <= bins; bin++)
	{
		int			last = Min(bin + ALTERNATION_WINDOW / 2, past - 1);
		int			first = Max(last - ALTERNATION_WINDOW + 1, 0);
		int			count = last - first + 1;
		int			run;
		int			of_version_in_run;
		int			found;
		double		share;
		double		share_of_rest;
		double		chance;

		shares[bin] = -1;
		if (bin >= past)
			continue;
		if (bin > 0 && changes[bin] != changes[bin - 1])
			run_start = bin;
		run = Min(run_end[bin], last) - Max(run_start, first) + 1;
		found = of_version[last] - (first > 0 ? of_version[first - 1] : 0);
		share = (double) found / count;

		/* a run is weighed by what is around it, not by itself */
		of_version_in_run = is_of_version(statistics, bin) ? run : 0;
		share_of_rest = run < count ? (double) (found - of_version_in_run) / (count - run) : share;
		chance = pow(of_version_in_run > 0 ? share_of_rest : 1 - share_of_rest, run);

		/* by chance there are 2 share (1 - share) changes at each boundary */
		if (changes[last] - changes[first] >= ALTERNATION_CHANGES &&
			changes[last] - changes[first] >= share * (1 - share) * (count - 1) &&
			chance >= ALTERNATION_RUN)
			shares[bin] = share;
	}
	pfree(of_version);
	pfree(changes);
	pfree(run_end);
	return shares;
}

/*
 * How much a table has grown since it was last vacuumed or analysed: the share
 * of its pages that are new.  The planner takes the rows in them to be like
 * the others; but ids of the version that came since are the greatest.
 */
static double
share_of_newer_rows(PlannerInfo *root, const RelOptInfo *rel, const UuidStatistics *statistics)
{
	RangeTblEntry *table;
	HeapTuple	tuple;
	double		pages = 0;

	if (rel == NULL || bin_count(statistics) == 0 ||
		!(is_of_version(statistics, bin_count(statistics)) ||
		  (is_past(statistics, bin_count(statistics)) && alternating_share(statistics, bin_count(statistics)) >= 0)))
		return 0;
	table = planner_rt_fetch(rel->relid, root);
	if (table->rtekind != RTE_RELATION)
		return 0;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table->relid));
	if (HeapTupleIsValid(tuple))
	{
		pages = ((Form_pg_class) GETSTRUCT(tuple))->relpages;
		ReleaseSysCache(tuple);
	}
	return pages > 0 && rel->pages > pages ? 1 - pages / rel->pages : 0;
}

/*
 * Load the statistics of an expression of a table, which may be NULL; false
 * when there are none to see.
 */
static bool
open_statistics(PlannerInfo *root, const RelOptInfo *rel, Node *id, const UuidKind *kind,
				UuidStatistics *statistics)
{
	UuidPayload now = {0, 0};
	HeapTuple	tuple;

	examine_variable(root, id, 0, &statistics->variable);
	tuple = statistics->variable.statsTuple;
	if (!HeapTupleIsValid(tuple) ||
		getBaseType(statistics->variable.atttype) != UUIDOID ||
		!statistic_proc_security_check(&statistics->variable, F_UUID_LT))
	{
		ReleaseVariableStats(statistics->variable);
		return false;
	}

	get_attstatsslot(&statistics->histogram, tuple, STATISTIC_KIND_HISTOGRAM,
					 uuid9562_operator(BTLessStrategyNumber), ATTSTATSSLOT_VALUES);
	get_attstatsslot(&statistics->common, tuple, STATISTIC_KIND_MCV, InvalidOid,
					 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
	statistics->nulls = ((Form_pg_statistic) GETSTRUCT(tuple))->stanullfrac;
	statistics->common_total = 0;
	for (int i = 0; i < statistics->common.nnumbers; i++)
		statistics->common_total += statistics->common.numbers[i];

	statistics->kind = kind;
	/* a clock before the field is taken for its beginning */
	(void) uuid_clock_micros_ticks(kind->clock, timestamptz_to_unix_micros(GetCurrentTimestamp()), &now.time);
	uuid_layout_pack(statistics->now, kind->version, now);
	statistics->alternating = alternating_shares(statistics);
	statistics->newer = share_of_newer_rows(root, rel, statistics);
	return true;
}

static void
close_statistics(UuidStatistics *statistics)
{
	if (statistics->alternating != NULL)
		pfree(statistics->alternating);
	free_attstatsslot(&statistics->histogram);
	free_attstatsslot(&statistics->common);
	ReleaseVariableStats(statistics->variable);
}

/* The bin that a UUID stands in: the first or the last when before or after. */
static int
bin_of(const UuidStatistics *statistics, const uint8 *uuid)
{
	int			low = 0;
	int			high = bin_count(statistics);

	while (high - low > 1)
	{
		int			middle = low + (high - low) / 2;

		if (memcmp(boundary(statistics, middle), uuid, UUID_LEN) <= 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* A part of the values of a bin, 0 to 1, and how much of it is of the version. */
typedef struct BinPart
{
	double		all;
	double		of_version;
} BinPart;

/*
 * In a column of several versions, one bin reaches from some of the newest
 * times to a random value far away.  Its values in order of time are as dense
 * as in the bins before, and end now.
 */
typedef struct NewestBin
{
	const uint8 *low;			/* where it begins */
	double		width;			/* of a bin of values in order only */
	double		in_order;		/* part of this bin, 0 to 1 */
	double		of_version;		/* part of these that is of the version */
} NewestBin;

/* Bins that tell how dense values are. */
#define DENSITY_BINS	4

/* The part of the bin that is in order of time and below a UUID that is in there. */
static double
in_order_below(const NewestBin *newest, const uint8 *uuid)
{
	double		way;

	if (memcmp(uuid, newest->low, UUID_LEN) <= 0)
		return 0;
	way = uuid_layout_distance(newest->low, uuid);
	return way < newest->width ? way / newest->width : 1;
}

static bool
is_newest_bin(const UuidStatistics *statistics, int bin, NewestBin *newest)
{
	double		alternating;
	int			before = 0;

	if (bin == 0 || is_of_version(statistics, bin + 1))
		return false;
	alternating = alternating_share(statistics, bin);
	if (alternating >= 0)
	{
		if (!is_past(statistics, bin) || is_past(statistics, bin + 1))
			return false;
		newest->of_version = alternating;
		before = Min(bin, DENSITY_BINS);
	}
	else
	{
		if (!is_of_version(statistics, bin))
			return false;
		newest->of_version = 1;
		while (before < DENSITY_BINS && bin - before > 0 && is_of_version(statistics, bin - before - 1))
			before++;
	}
	if (before == 0)
		return false;

	newest->low = boundary(statistics, bin);
	newest->width = uuid_layout_distance(boundary(statistics, bin - before), newest->low) / before;
	newest->in_order = in_order_below(newest, statistics->now);
	return true;
}

/* The whole bin: half of what it is between two values of two versions. */
static BinPart
whole_bin(const UuidStatistics *statistics, int bin)
{
	BinPart		part = {1, 0};
	NewestBin	newest;

	if (is_newest_bin(statistics, bin, &newest))
		part.of_version = newest.in_order * newest.of_version;
	else if (alternating_share(statistics, bin) >= 0 && is_past(statistics, bin + 1))
		part.of_version = alternating_share(statistics, bin);
	else
	{
		for (int i = bin; i <= bin + 1; i++)
			part.of_version += is_of_version(statistics, i) ? 0.5 : 0;
	}
	return part;
}

/* The part of a bin below a UUID, with the values spread evenly. */
static BinPart
part_below(const UuidStatistics *statistics, int bin, const uint8 *uuid)
{
	const uint8 *low = boundary(statistics, bin);
	const uint8 *high = boundary(statistics, bin + 1);
	BinPart		part = {0, 0};
	double		even;
	NewestBin	newest;

	if (memcmp(uuid, low, UUID_LEN) <= 0)
		return part;
	if (memcmp(uuid, high, UUID_LEN) >= 0)
		return whole_bin(statistics, bin);

	even = uuid_layout_position(low, uuid, high);
	if (is_newest_bin(statistics, bin, &newest))
	{
		double		in_order = Min(in_order_below(&newest, uuid), newest.in_order);

		part.of_version = in_order * newest.of_version;
		part.all = in_order + even * (1 - newest.in_order);
	}
	else
	{
		part.of_version = even * whole_bin(statistics, bin).of_version;
		part.all = even;
	}
	return part;
}

/*
 * The share of the values, but for NULL and the common ones, below a UUID.
 * Newer ones than the histogram knows are spread evenly from its end to now.
 */
static double
share_below(const UuidStatistics *statistics, const uint8 *uuid)
{
	int			bin = bin_of(statistics, uuid);
	const uint8 *last = boundary(statistics, bin_count(statistics));

	if (memcmp(uuid, last, UUID_LEN) <= 0)
		return (bin + part_below(statistics, bin, uuid).all) / bin_count(statistics) *
			(1 - statistics->newer);
	if (memcmp(uuid, statistics->now, UUID_LEN) >= 0)
		return 1;
	return 1 - statistics->newer * (1 - uuid_layout_position(last, uuid, statistics->now));
}

/*
 * The selectivity of "id operator bound" for one of the four inequalities, as
 * PostgreSQL's scalarineqsel computes it, but with the place inside a bin.
 * Negative when there is no histogram.
 */
static double
inequality_selectivity(PlannerInfo *root, UuidStatistics *statistics, Oid operator,
					   int strategy, const pg_uuid_t *bound)
{
	bool		is_greater = strategy >= BTGreaterEqualStrategyNumber;
	bool		or_equal = strategy == BTGreaterEqualStrategyNumber || strategy == BTLessEqualStrategyNumber;
	Datum		value = UUIDPGetDatum(bound);
	FmgrInfo	compare;
	double		common;
	double		common_total;
	double		share;

	if (bin_count(statistics) == 0)
		return -1;
	share = share_below(statistics, bound->data);
	if (is_greater)
		share = 1 - share;

	/* beyond all that is known, PostgreSQL looks at the end of the index */
	fmgr_info(get_opcode(operator), &compare);
	if (share <= 0)
		share = ineq_histogram_selectivity(root, &statistics->variable, operator, &compare,
										   is_greater, or_equal, InvalidOid, value, UUIDOID);

	common = mcv_selectivity(&statistics->variable, &compare, InvalidOid, value, true, &common_total);
	share = common + share * (1 - statistics->nulls - common_total);
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
	*strategy = get_op_opfamily_strategy(condition->opno, uuid9562_btree_family());
	if (*strategy == InvalidStrategy || *strategy == BTEqualStrategyNumber)
		return NULL;
	bound = estimate_expression_value(root, lsecond(condition->args));
	if (!IsA(bound, Const) || ((Const *) bound)->constisnull || ((Const *) bound)->consttype != UUIDOID)
		return NULL;
	return DatumGetUUIDP(((Const *) bound)->constvalue);
}

/* Is a condition the call with that very argument list? */
static bool
is_call_with(const Expr *condition, const List *args)
{
	return IsA(condition, FuncExpr) && ((const FuncExpr *) condition)->args == args;
}

/*
 * The conditions that a call of uuid_is_v7 is joined to by AND, itself
 * included: at the top, or in an arm of an OR.  In "uuid_is_v7(id) OR period
 * IS NULL" it counts as joined to what this is joined to.  NIL when it stands
 * elsewhere, such as under NOT.
 */
static List *
conditions_beside(List *conditions, const List *args)
{
	ListCell   *cell;

	foreach(cell, conditions)
	{
		RestrictInfo *condition = lfirst_node(RestrictInfo, cell);
		ListCell   *arm_cell;

		if (is_call_with(condition->clause, args))
			return conditions;
		if (condition->orclause == NULL)
			continue;
		foreach(arm_cell, ((BoolExpr *) condition->orclause)->args)
		{
			Node	   *arm = lfirst(arm_cell);
			List	   *found;

			if (IsA(arm, RestrictInfo) && is_call_with(((RestrictInfo *) arm)->clause, args))
				return conditions;
			if (is_andclause(arm) &&
				(found = conditions_beside(((BoolExpr *) arm)->args, args)) != NIL)
				return found;
		}
	}
	return NIL;
}

/* Does the same call stand among the conditions before it, as in a view's? */
static bool
is_repeated(const List *conditions, Oid funcid, const List *args)
{
	ListCell   *cell;

	foreach(cell, conditions)
	{
		const FuncExpr *call = (FuncExpr *) lfirst_node(RestrictInfo, cell)->clause;

		if (!IsA(call, FuncExpr) || call->funcid != funcid || !equal(call->args, args))
			continue;
		return call->args != args;
	}
	return false;
}

/*
 * The share of the version in the rows between two bounds; in all rows, NULL
 * among them, when there is no bound.
 */
static double
version_share(const UuidStatistics *statistics, const pg_uuid_t *lowest, const pg_uuid_t *highest)
{
	double		rows = 0;
	double		of_version = 0;

	for (int i = 0; i < statistics->common.nnumbers; i++)
	{
		const uint8 *value = DatumGetUUIDP(statistics->common.values[i])->data;

		if ((lowest != NULL && memcmp(value, lowest->data, UUID_LEN) < 0) ||
			(highest != NULL && memcmp(value, highest->data, UUID_LEN) > 0))
			continue;
		rows += statistics->common.numbers[i];
		if (uuid_layout_version(value) == statistics->kind->version)
			of_version += statistics->common.numbers[i];
	}

	if (bin_count(statistics) > 0)
	{
		int			first = lowest != NULL ? bin_of(statistics, lowest->data) : 0;
		int			last = highest != NULL ? bin_of(statistics, highest->data) : bin_count(statistics) - 1;
		double		rows_of_bin = (1 - statistics->nulls - statistics->common_total) / bin_count(statistics);

		for (int bin = first; bin <= last; bin++)
		{
			BinPart		from = {0, 0};
			BinPart		to;

			if (lowest != NULL && bin == first)
				from = part_below(statistics, bin, lowest->data);
			if (highest != NULL && bin == last)
				to = part_below(statistics, bin, highest->data);
			else
				to = whole_bin(statistics, bin);
			if (to.all > from.all)
			{
				rows += rows_of_bin * (to.all - from.all);
				of_version += rows_of_bin * (to.of_version - from.of_version);
			}
		}
	}

	if (lowest == NULL && highest == NULL)
	{
		double		unknown = 1 - statistics->nulls - rows;

		return of_version + Max(unknown, 0) * UNKNOWN_SHARE;
	}
	if (rows > 0)
		return of_version / rows;
	/* outside of what is known, or nothing is */
	if (bin_count(statistics) == 0)
		return UNKNOWN_SHARE;
	if (alternating_share(statistics, bin_count(statistics)) > 0)
		return alternating_share(statistics, bin_count(statistics));
	return 1;
}

/* What is asked in a walk through conditions on an id. */
typedef struct ConditionWalk
{
	PlannerInfo *root;
	const Node *id;
	UuidStatistics *statistics;
} ConditionWalk;

/* Bounds of an id that are known when planning; NULL for none. */
typedef struct KnownBounds
{
	const pg_uuid_t *lowest;
	const pg_uuid_t *highest;
} KnownBounds;

static KnownBounds bounds_of_all(ConditionWalk *walk, List *conditions);

/*
 * The bounds that a condition sets, with answers for the selectivity of each
 * comparison in it.  What the planner has asked for before stays as it was
 * counted.
 */
static KnownBounds
bounds_of(ConditionWalk *walk, RestrictInfo *condition)
{
	KnownBounds bounds = {NULL, NULL};
	const pg_uuid_t *bound;
	int			strategy;

	if (condition->orclause != NULL)
	{
		bool		first = true;
		ListCell   *cell;

		foreach(cell, ((BoolExpr *) condition->orclause)->args)
		{
			Node	   *arm = lfirst(cell);
			KnownBounds of_arm = bounds_of_all(walk, is_andclause(arm) ?
											   ((BoolExpr *) arm)->args : list_make1(arm));

			/* any arm may hold: the widest */
			if (first || (bounds.lowest != NULL &&
						  (of_arm.lowest == NULL || memcmp(of_arm.lowest, bounds.lowest, UUID_LEN) < 0)))
				bounds.lowest = of_arm.lowest;
			if (first || (bounds.highest != NULL &&
						  (of_arm.highest == NULL || memcmp(of_arm.highest, bounds.highest, UUID_LEN) > 0)))
				bounds.highest = of_arm.highest;
			first = false;
		}
		return bounds;
	}

	bound = known_bound(walk->root, (OpExpr *) condition->clause, walk->id, &strategy);
	if (bound == NULL)
		return bounds;
	if (condition->norm_selec < 0)
		condition->norm_selec = inequality_selectivity(walk->root, walk->statistics,
													   ((OpExpr *) condition->clause)->opno,
													   strategy, bound);
	if (strategy >= BTGreaterEqualStrategyNumber)
		bounds.lowest = bound;
	else
		bounds.highest = bound;
	return bounds;
}

/* The same for conditions that all must hold: the narrowest bounds. */
static KnownBounds
bounds_of_all(ConditionWalk *walk, List *conditions)
{
	KnownBounds bounds = {NULL, NULL};
	ListCell   *cell;

	foreach(cell, conditions)
	{
		KnownBounds of_one = bounds_of(walk, lfirst_node(RestrictInfo, cell));

		if (of_one.lowest != NULL &&
			(bounds.lowest == NULL || memcmp(of_one.lowest, bounds.lowest, UUID_LEN) > 0))
			bounds.lowest = of_one.lowest;
		if (of_one.highest != NULL &&
			(bounds.highest == NULL || memcmp(of_one.highest, bounds.highest, UUID_LEN) < 0))
			bounds.highest = of_one.highest;
	}
	return bounds;
}

/*
 * The selectivity of a call with those arguments of uuid_is_v6, uuid_is_v7 or
 * uuid_is_v8; with that of the comparisons of the id that stand beside it.
 */
double
uuid9562_version_selectivity(PlannerInfo *root, Oid funcid, List *args, const UuidKind *kind)
{
	UuidStatistics statistics;
	KnownBounds bounds = {NULL, NULL};
	RelOptInfo *rel = NULL;
	List	   *conditions = NIL;
	double		share;
	int			relid;

	if (bms_get_singleton_member(pull_varnos(root, linitial(args)), &relid) &&
		relid < root->simple_rel_array_size)
		rel = root->simple_rel_array[relid];
	if (rel != NULL)
		conditions = conditions_beside(rel->baserestrictinfo, args);
	if (is_repeated(conditions, funcid, args))
		return 1;

	if (!open_statistics(root, rel, linitial(args), kind, &statistics))
		return UNKNOWN_SHARE;
	if (conditions != NIL)
	{
		ConditionWalk walk = {root, linitial(args), &statistics};

		bounds = bounds_of_all(&walk, conditions);
	}
	share = version_share(&statistics, bounds.lowest, bounds.highest);
	close_statistics(&statistics);
	CLAMP_PROBABILITY(share);
	return share;
}
