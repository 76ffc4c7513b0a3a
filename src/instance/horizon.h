/*
 * horizon.h
 *		The ID below which no further values can become visible.
 */
#ifndef UUID9562_HORIZON_H
#define UUID9562_HORIZON_H

#include "instance/shared_memory.h"

#include "utils/snapshot.h"

/* The horizon of each kind for one snapshot, as far as it is known. */
typedef struct CachedHorizon
{
	bool		known[UUID_ORDERED_COUNT];
	UuidPayload horizon[UUID_ORDERED_COUNT];
} CachedHorizon;

extern CachedHorizon *uuid9562_cached_horizon(Snapshot snapshot);
extern int	uuid9562_find_holder(const UuidKind *kind, uint64 *time);

#endif							/* UUID9562_HORIZON_H */
