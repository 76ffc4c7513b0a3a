/*
 * transaction_slot.h
 *		What holds the horizon, in shared memory.
 */
#ifndef UUID9562_HOLD_H
#define UUID9562_HOLD_H

#include "value/value.h"

#include "access/transam.h"
#include "port/atomics.h"

#include "core/transaction_history.h"

/*
 * What a process, or a prepared transaction, holds.  Only that process writes it,
 * and for a prepared transaction the one that prepares it.
 */
typedef struct HoldSlot
{
	/*
	 * The time, plus one, of the least value made in the open transaction; 0
	 * for none.  Set under the lock of the generator.
	 */
	pg_atomic_uint64 open[UUID_HORIZON_COUNT];
	pg_atomic_uint64 changes;	/* of what follows; odd while it is changed */
	UuidHistory ended;
	int			pid;			/* of a process with a callback for it */
} HoldSlot;

extern bool uuid9562_preloaded; /* so all processes know the slots */

extern Size uuid9562_hold_size(void);
extern void uuid9562_hold_create(void *memory);
extern void uuid9562_hold_attach(void *memory);
extern void uuid9562_hold_init(void);
extern void uuid9562_hold_start(void);
pg_noreturn extern void uuid9562_refuse_worker(void);
extern int	uuid9562_first_prepared_slot(void);
extern int	uuid9562_slot_count(void);
extern HoldSlot *uuid9562_slot(int number);
extern HoldSlot *uuid9562_find_own_slot(void);

/* Where this process holds the horizon; NULL before it has done so. */
extern HoldSlot *uuid9562_own_slot;

/* The same, found. */
static inline HoldSlot *
own_slot(void)
{
	return likely(uuid9562_own_slot != NULL) ? uuid9562_own_slot : uuid9562_find_own_slot();
}

/*
 * A value of that time is about to be handed out, under the lock of its generator.
 * The first one of a transaction is the least, unless a reset came between.
 */
static inline void
hold_horizon(HoldSlot *slot, const UuidKind *kind, uint64 time)
{
	if (kind->horizon != NO_HORIZON && pg_atomic_read_u64(&slot->open[kind->horizon]) - 1 > time)
		pg_atomic_write_u64(&slot->open[kind->horizon], time + 1);
}

/* The same transaction number with its epoch; next is the next one to be assigned. */
static inline uint64
uuid9562_full_xid(TransactionId xid, FullTransactionId next)
{
	uint32		epoch = EpochFromFullTransactionId(next);

	/* one of the epoch before */
	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return U64FromFullTransactionId(FullTransactionIdFromEpochAndXid(epoch, xid));
}

#endif							/* UUID9562_HOLD_H */
