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
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "storage/spin.h"
#include "utils/snapshot.h"

#include "core/position.h"
#include "core/transaction_history.h"
#include "ordered/ordered.h"

typedef struct HighWaterMark
{
	uint64		reserved_until; /* all values have earlier times; 0 at first */
	UuidBranches branches;
} HighWaterMark;

/* The branch, the horizon and the high-water mark of a snapshot */
typedef struct CachedHorizon
{
	uint64		branch;			/* branch captured for positions, or 0 */
	bool		recorded;		/* is the branch in the high-water mark? */
	bool		known;			/* is the horizon computed? */
	UuidPayload horizon;
	UuidBranches *branches;		/* those in the mark; NULL until they are read */
} CachedHorizon;

typedef struct GeneratorState
{
	UuidPayload previous;		/* the next value is greater; zeros at first */
	uint64		reserved_until; /* values must be earlier; 0 means no range */
	uint64		extend_at;		/* from this time on, call
								 * uuid9562_extend_reservation() */
	uint64		late_until;		/* if the clock is earlier, values can be
								 * late; 0 if no extension is being flushed */
	uint64		generated;		/* number of values since startup */
	uint64		ahead_of_clock; /* of these, values later than the clock */
	uint64		reported;		/* time of the last value that raised a
								 * warning */
} GeneratorState;

#define TICKS_PER_SECOND	(uuid_clock_units[UUID_CLOCK_V7].per_sec)

/*
 * The end of a reservation, a quarter of a second.  While an extension is being flushed, values get
 * these times even after the clock has passed them: they are late.  See reservation.c.
 */
#define LATE_TICKS			(TICKS_PER_SECOND / 4)

typedef struct OrderedGenerator
{
	slock_t		lock;			/* protects the state */
	GeneratorState state;
} OrderedGenerator;

/* A longer reservation, which is in WAL and in use as soon as WAL is flushed up to its record */
typedef struct Extension
{
	XLogRecPtr	lsn;			/* InvalidXLogRecPtr if there is no extension */
	uint64		written_at;		/* time of the clock when it was written */
	uint64		reserved_until;
	uint64		extend_at;
	uint64		flush_ticks;	/* how long its flush has taken until now */
} Extension;

/*
 * A slot contains the smallest value of each of its transactions.  Each process has a slot, and so
 * has each prepared transaction.  A process writes its own slot, and the slots of the transactions
 * that it prepares.
 */
typedef struct TransactionSlot
{
	/*
	 * Time of the smallest value of the transaction in progress, or
	 * UUID_NO_TIME.  Values are recorded under the generator's lock.
	 */
	pg_atomic_uint64 first;
	pg_atomic_uint64 changecount;	/* odd during a change; 0 at first */
	UuidHistory history;
} TransactionSlot;

/* Different processes write the generator and the slots, so pad each to whole cache lines. */
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
#define SHARED_LAYOUT	2

typedef struct SharedState
{
	uint32		layout;			/* SHARED_LAYOUT; must be first */
	int			tranche;
	LWLock		mark_lock;		/* protects the high-water mark and extension,
								 * and changes of loaded, branch and
								 * first_known_xid */
	ConditionVariable mark_released;	/* see lock_mark() */
	Extension	extension;
	bool		loaded;			/* has the mark been read or reset since
								 * startup or promotion? */
	uint64		first_known_xid;	/* see transaction_slot.c */
	pg_atomic_uint64 mark_writes;
	pg_atomic_uint64 branch;	/* name of the current branch, or 0 */
	pg_atomic_uint64 recorded_branch;	/* name of a branch that has an entry
										 * in the mark on disk, or 0 */
	PaddedGenerator padded_generator;
	GuestMemory guest;
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

/* The smallest and greatest v7 values of a transaction.  If it has none, last < first. */
typedef struct ValueRange
{
	UuidPayload first;
	UuidPayload last;
} ValueRange;

#define NO_VALUES	((ValueRange) {{UUID_TIME_MAX, UUID_TAIL_MAX}, {0, 0}})

/* clock_warning.c */
extern int64 uuid9562_seconds_ahead(uint64 time, uint64 now);
extern void uuid9562_warn_about_clock(uint64 time);

/* citus.c */
extern void uuid9562_refuse_citus(const char *function, bool is_generator);

/* reservation.c */
extern void uuid9562_extend_reservation(uint64 time, bool needed);
extern void uuid9562_ensure_branch(void);
extern void uuid9562_advance_generator(UuidPayload payload);
extern void uuid9562_reset_generator(void);
extern XLogRecPtr uuid9562_record_branch(uint64 name, uint64_t *target);
extern GeneratorState uuid9562_generator_state(void);

/* horizon.c and snapshot_horizons.c */
extern CachedHorizon *uuid9562_snapshot_state(const char *function);
extern UuidPayload uuid9562_horizon(CachedHorizon *cached);
extern int	uuid9562_find_holder(uint64 *time);
extern CachedHorizon *uuid9562_cached_horizon(Snapshot snapshot);

/* transaction_slot.c: the slot of this process; NULL before its first ordered value */
extern TransactionSlot *uuid9562_own_slot;
extern ValueRange uuid9562_own_values;
extern bool uuid9562_is_own(const uint8 *uuid);
extern void uuid9562_take_slot(void);
extern uint64 uuid9562_find_first_known_xid(void);

/*
 * Return a transaction ID with its epoch.  "next" is the next transaction ID to be
 * assigned, and xid is at most 2^31 transactions older.
 */
static inline uint64
full_xid(TransactionId xid, FullTransactionId next)
{
	return U64FromFullTransactionId(next) - (uint32) (XidFromFullTransactionId(next) - xid);
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
ordered_generator(void)
{
	return &uuid9562_shared->padded_generator.generator;
}

/* Return the time from which on values are late, or UUID_NO_TIME if no value is reserved. */
static inline uint64
late_from(const GeneratorState *state)
{
	return state->reserved_until > LATE_TICKS ? state->reserved_until - LATE_TICKS : UUID_NO_TIME;
}

#endif							/* UUID9562_SHARED_STATE_H */
