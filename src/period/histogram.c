/*
 * histogram.c
 *		How many rows of a column are below a UUID, by PostgreSQL's statistics.
 *
 * PostgreSQL assumes that a uuid is in the middle of its histogram bin.  The time of a UUID
 * determines its place in the bin, so this file interpolates.
 *
 * A column can contain several versions, and UUIDs of any of them can be the boundaries of bins in
 * PostgreSQL's histogram.  So this file also estimates how many of the rows have version 7.  It
 * counts rows in bins first, and uuid9562_load_statistics() converts them to a share of all rows.
 */
#include "period/histogram.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "parser/parsetree.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* Part of a bin between two UUIDs, if the density is unknown: it can be anything from 0 to 1 */
#define UNKNOWN_BINS	0.5

#define DENSITY_BINS	4		/* bins averaged at an end of the histogram */

const uint8 uuid9562_nil[UUID_LEN] = {0};
const uint8 uuid9562_max[UUID_LEN] = {
	0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
};

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
 * first bins of v7 or, with at_end, of its last bins.  The result is infinite if all boundaries of
 * these bins are equal.
 */
double
uuid9562_bins_between(const Statistics *statistics, bool at_end, const uint8 *low,
					  const uint8 *high)
{
	/* boundaries 1 to n of v7 have n - 1 bins between them */
	int			bins = Min(DENSITY_BINS, statistics->last - 1);
	const Boundary *first = &statistics->boundaries[at_end ? statistics->last - bins : 1];

	if (memcmp(low, high, UUID_LEN) >= 0)
		return 0;
	if (bins <= 0)
		return UNKNOWN_BINS;
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
 * Set "now" and "newer".  If a boundary of another version follows, the bin before that boundary
 * can also contain v7 rows.  Estimate their number up to now from the density of the last bins of
 * v7, and count one bin at most.
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
			after_last += Min(uuid9562_bins_between(statistics, true, last->uuid,
													statistics->now), 1);
		add_boundary(statistics, statistics->now, last->below.all + after_last,
					 of_v7 + after_last);
	}
	add_boundary(statistics, uuid9562_max, all + added, of_v7 + after_last);
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
	add_boundary(statistics, uuid9562_nil, 0, 0);
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
Share
uuid9562_share_below(const Statistics *statistics, const uint8 *uuid)
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
void
uuid9562_load_statistics(Statistics *statistics, HeapTuple tuple)
{
	double		rest;

	statistics->nulls = ((Form_pg_statistic) GETSTRUCT(tuple))->stanullfrac;
	get_attstatsslot(&statistics->common, tuple, STATISTIC_KIND_MCV,
					 uuid9562_operator(BTEqualStrategyNumber),
					 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
	if (get_attstatsslot(&statistics->histogram, tuple, STATISTIC_KIND_HISTOGRAM,
						 uuid9562_operator(BTLessStrategyNumber), ATTSTATSSLOT_VALUES))
	{
		split_histogram(statistics);

		/*
		 * While bin is 0, uuid9562_share_below() counts only the common
		 * values.  The sum of imported statistics can exceed 1.
		 */
		rest = 1 - statistics->nulls - uuid9562_share_below(statistics, uuid9562_max).all;
		statistics->bin = Max(rest, 0) /
			Max(statistics->boundaries[statistics->count - 1].below.all, 1);
		for (int i = 0; i < statistics->count; i++)
		{
			statistics->boundaries[i].below.all *= statistics->bin;
			statistics->boundaries[i].below.of_v7 *= statistics->bin;
		}
	}
}
