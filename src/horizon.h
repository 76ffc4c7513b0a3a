/*
 * horizon.h
 *		The transactions that hold the horizon, in shared memory.
 */
#ifndef UUID9562_HORIZON_H
#define UUID9562_HORIZON_H

#include "uuid9562.h"

#include "port/atomics.h"

#include "core/ended.h"

/*
 * What a process, or a prepared transaction, holds.  Only that process writes it,
 * and for a prepared transaction the one that prepares it.
 */
typedef struct HorizonSlot
{
	/*
	 * The time, plus one, of the least value made in the open transaction; 0
	 * for none.  Set under the lock of the generator.
	 */
	pg_atomic_uint64 open[UUID_HORIZON_COUNT];
	pg_atomic_uint64 changes;	/* of what follows; odd while it is changed */
	UuidEndedRing ended;
	int			pid;			/* of a process with a callback for it */
} HorizonSlot;

extern Size uuid9562_horizon_size(void);
extern void uuid9562_horizon_create(void *memory);
extern void uuid9562_horizon_attach(void *memory);
extern void uuid9562_horizon_init(void);
extern void uuid9562_horizon_start(void);
pg_noreturn extern void uuid9562_refuse_worker(void);
extern HorizonSlot *uuid9562_find_own_slot(void);
extern bool uuid9562_horizon_holder(const UuidKind *kind, TimestampTz *since, int *pid);

/* Where this process holds the horizon; NULL before it has done so. */
extern HorizonSlot *uuid9562_own_slot;

/* The same, found. */
static inline HorizonSlot *
own_slot(void)
{
	return likely(uuid9562_own_slot != NULL) ? uuid9562_own_slot : uuid9562_find_own_slot();
}

/*
 * A value of that time is about to be handed out, under the lock of its generator.
 * The first one of a transaction is the least, unless a reset came between.
 */
static inline void
hold_horizon(HorizonSlot *slot, const UuidKind *kind, uint64 time)
{
	if (kind->horizon != NO_HORIZON && pg_atomic_read_u64(&slot->open[kind->horizon]) - 1 > time)
		pg_atomic_write_u64(&slot->open[kind->horizon], time + 1);
}

#endif							/* UUID9562_HORIZON_H */
