/*
 * period.h
 *		The UUIDs of a time and of a period.
 */
#ifndef UUID9562_PERIOD_H
#define UUID9562_PERIOD_H

#include "value/value.h"

#include "utils/rangetypes.h"
#include "utils/typcache.h"

/* The smallest and the greatest UUID in a period. */
typedef struct UuidBounds
{
	pg_uuid_t	lower;
	pg_uuid_t	upper;
	bool		has_lower;		/* does it exclude any UUID of the kind? */
	bool		has_upper;
} UuidBounds;

extern UuidBounds uuid9562_period_bounds(const UuidKind *kind, TypeCacheEntry *typcache,
										 const RangeType *period);

/* The bounds of one side, for any time. */
extern pg_uuid_t uuid9562_lower_bound(const UuidKind *kind, TimestampTz time, bool inclusive);
extern pg_uuid_t uuid9562_upper_bound(const UuidKind *kind, TimestampTz time, bool inclusive);

#endif							/* UUID9562_PERIOD_H */
