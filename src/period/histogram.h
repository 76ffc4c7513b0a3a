/*
 * histogram.h
 *		How many rows of a column are below a UUID.
 */
#ifndef UUID9562_HISTOGRAM_H
#define UUID9562_HISTOGRAM_H

#include "period/period.h"

#include "access/htup.h"
#include "nodes/supportnodes.h"
#include "utils/selfuncs.h"

/* A number of rows, as a share of all rows of the table */
typedef struct Share
{
	double		all;
	double		of_v7;
} Share;

/*
 * A UUID, and the rows of the histogram below it, as a share of all rows.  The boundaries are the
 * nil UUID, the v7 UUIDs of the histogram, the smallest v7 UUID of the current time, and the max
 * UUID.
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

extern const uint8 uuid9562_nil[UUID_LEN];
extern const uint8 uuid9562_max[UUID_LEN];

extern void uuid9562_load_statistics(Statistics *statistics, HeapTuple tuple);
extern Share uuid9562_share_below(const Statistics *statistics, const uint8 *uuid);
extern double uuid9562_bins_between(const Statistics *statistics, bool at_end, const uint8 *low,
									const uint8 *high);

#endif							/* UUID9562_HISTOGRAM_H */
