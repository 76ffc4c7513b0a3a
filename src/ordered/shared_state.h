/*
 * shared_state.h
 *		The shared memory of ordered UUIDs, and the functions that the files of this folder
 *		share.
 */
#ifndef UUID9562_SHARED_STATE_H
#define UUID9562_SHARED_STATE_H

#include "compat.h"

#include "access/transam.h"
#include "access/twophase.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/spin.h"
#include "utils/snapshot.h"

#include "core/position.h"
#include "core/transaction_history.h"

/* A generator returns only values with times before its reserved_until, which is 0 at first. */
typedef struct HighWaterMark
{
	uint64		reserved_until[UUID_ORDERED_COUNT];
	UuidBranches branches;
} HighWaterMark;

/* What has been computed for a snapshot */
typedef struct CachedHorizon
{
	uint64		branch;			/* branch captured for positions, or 0 */
	bool		recorded;		/* is the branch in the high-water mark? */
	bool		known[UUID_ORDERED_COUNT];	/* is the horizon computed? */
	UuidPayload horizon[UUID_ORDERED_COUNT];
} CachedHorizon;

typedef struct OrderedGenerator
{
	slock_t		lock;			/* protects all fields below */
	UuidPayload previous;		/* the next value is greater; zeros at first */
	uint64		reserved_until; /* values must have earlier times */
	uint64		extend_at;		/* from this time on, extend the reservation */
	uint64		generated;		/* number of values since startup */
	uint64		ahead_of_clock; /* of these, values later than the clock */
	uint64		reported;		/* time of the last value that raised a
								 * warning */
} OrderedGenerator;

/*
 * The smallest values of the transactions of a process, or of a prepared transaction.
 * A process writes its own slot, and the slots of the transactions that it prepares.
 */
typedef struct TransactionSlot
{
	/*
	 * Time of the smallest value of the transaction in progress, or
	 * UUID_NO_TIME.  Values are recorded under the generator's lock.
	 */
	pg_atomic_uint64 first[UUID_ORDERED_COUNT];
	pg_atomic_uint64 changecount;	/* odd during a change; 0 at first */
	UuidHistory history;
} TransactionSlot;

/* Different processes write the generators and slots, so pad each to whole cache lines. */
typedef union PaddedGenerator
{
	OrderedGenerator generator;
	char		pad[TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(OrderedGenerator))];
} PaddedGenerator;

typedef union PaddedSlot
{
	TransactionSlot slot;
	char		pad[TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(TransactionSlot))];
} PaddedSlot;

/* Increase this number with every change of SharedState. */
#define SHARED_LAYOUT	15

typedef struct SharedState
{
	uint32		layout;			/* SHARED_LAYOUT; must be first */
	int			tranche;
	LWLock		mark_lock;		/* protects the high-water mark, loaded,
								 * first_known_xid and recorded */
	bool		loaded;			/* has the mark been read or reset since
								 * startup or promotion? */
	uint64		first_known_xid;	/* see transaction_slot.c */
	pg_atomic_uint64 mark_writes;
	pg_atomic_uint64 branch;	/* name of the current branch */
	bool		recorded;		/* is the current branch in the mark? */
	PaddedGenerator generators[UUID_ORDERED_COUNT];
	PaddedSlot	slots[FLEXIBLE_ARRAY_MEMBER];	/* by PGPROC number */
} SharedState;

/* shared_memory.c: the shared memory; NULL until this process has attached to it */
extern SharedState *uuid9562_shared;
extern void uuid9562_ordered_init(void);
extern void uuid9562_attach_shared(void);

/* high_water_mark.c */
extern void uuid9562_read_mark(HighWaterMark *mark, bool repair);
pg_noreturn extern void uuid9562_report_corruption(void);
extern XLogRecPtr uuid9562_write_mark(const HighWaterMark *mark);

/* next_value.c */
extern int64 uuid9562_seconds_ahead(const UuidKind *kind, uint64 time, uint64 now);
extern void uuid9562_refuse_citus(const char *function);

/* reservation.c */
extern void uuid9562_extend(const UuidKind *kind, UuidPayload payload, bool nowait);
extern void uuid9562_prepare_generators(void);
extern void uuid9562_advance_generator(const UuidKind *kind, UuidPayload payload);
extern void uuid9562_reset_generators(void);
extern XLogRecPtr uuid9562_record_branch(uint64 name, uint64 *target);
extern OrderedGenerator uuid9562_generator_state(const UuidKind *kind);

/* horizon.c and horizon_cache.c */
extern CachedHorizon *uuid9562_snapshot_state(const char *function);
extern UuidPayload uuid9562_horizon(const UuidKind *kind, CachedHorizon *cached);
extern int	uuid9562_find_holder(const UuidKind *kind, uint64 *time);
extern CachedHorizon *uuid9562_cached_horizon(Snapshot snapshot);

/* transaction_slot.c: the slot of this process; NULL before its first ordered value */
extern TransactionSlot *uuid9562_own_slot;

extern void uuid9562_take_slot(void);
extern uint64 uuid9562_find_first_known_xid(void);

/*
 * Return a transaction ID with its epoch.  "next" is the next transaction ID to be
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

/* Return the number of slots: one for each PGPROC. */
static inline int
slot_count(void)
{
	return FIRST_PREPARED_XACT_PROC_NUMBER + max_prepared_xacts;
}

static inline TransactionSlot *
slot_of(const PGPROC *proc)
{
	return &uuid9562_shared->slots[GetNumberFromPGProc(proc)].slot;
}

static inline OrderedGenerator *
generator_of(const UuidKind *kind)
{
	return &uuid9562_shared->generators[kind->number].generator;
}

#endif							/* UUID9562_SHARED_STATE_H */
