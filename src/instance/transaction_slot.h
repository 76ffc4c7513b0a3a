/*
 * transaction_slot.h
 *		The smallest ordered value of each transaction, in shared memory.
 */
#ifndef UUID9562_TRANSACTION_SLOT_H
#define UUID9562_TRANSACTION_SLOT_H

#include "instance/instance.h"

#include "access/transam.h"

/* The slot of this process; NULL before its first ordered value. */
extern TransactionSlot *uuid9562_own_slot;

extern void uuid9562_take_slot(void);
extern uint64 uuid9562_find_first_known_xid(void);

/*
 * Record in the slot of this process that a value of that time is generated.  The
 * caller holds the generator's lock.  The first value of a transaction is the
 * smallest one, unless the generators were reset in between.
 */
static inline void
record_value(const UuidKind *kind, uint64 time)
{
	pg_atomic_uint64 *first = &uuid9562_own_slot->first[kind->ordered];

	/* zero, for none, wraps to the greatest number */
	if (pg_atomic_read_u64(first) - 1 > time)
		pg_atomic_write_u64(first, time + 1);
}

/*
 * Return a transaction ID with its epoch.  next is the next transaction ID to be
 * assigned, and xid is at most 2^31 transactions older.
 */
static inline uint64
full_xid(TransactionId xid, FullTransactionId next)
{
	uint32		epoch = EpochFromFullTransactionId(next);

	if (xid > XidFromFullTransactionId(next))
		epoch--;
	return U64FromFullTransactionId(FullTransactionIdFromEpochAndXid(epoch, xid));
}

#endif							/* UUID9562_TRANSACTION_SLOT_H */
