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

/* A transaction that holds back a horizon. */
typedef struct HorizonHolder
{
	uint64		time;			/* of its first value */
	int			slot;			/* number of its PGPROC */
	TransactionId xid;			/* if it is prepared */
} HorizonHolder;

extern CachedHorizon *uuid9562_cached_horizon(Snapshot snapshot);
extern bool uuid9562_find_holder(const UuidKind *kind, HorizonHolder *holder);

#endif							/* UUID9562_HORIZON_H */
