/*
 * timerange.h
 *		The UUIDs of a period of time, for the planner.
 */
#ifndef UUID9562_TIMERANGE_H
#define UUID9562_TIMERANGE_H

#include "uuid9562.h"

#include "utils/rangetypes.h"
#include "utils/typcache.h"

/* The least and the greatest UUID that a period can hold. */
typedef struct UuidBounds
{
	pg_uuid_t	lowest;
	pg_uuid_t	highest;
	bool		begins;			/* does the lowest exclude any of the kind? */
	bool		ends;			/* does the highest? */
} UuidBounds;

extern UuidBounds uuid9562_period_bounds(const UuidKind *kind, TypeCacheEntry *typcache,
										 const RangeType *period);

#endif							/* UUID9562_TIMERANGE_H */
