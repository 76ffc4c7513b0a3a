/*
 * ordered.h
 *		What src/ordered offers to src/changes.
 */
#ifndef UUID9562_ORDERED_H
#define UUID9562_ORDERED_H

#include "compat.h"

#include "port/atomics.h"
#include "storage/condition_variable.h"

#include "core/generator.h"

/*
 * Part of the shared memory that src/changes uses.
 *
 * A worker is found by a hash of the OID of its database.  Databases with the same hash share the
 * entry, so one of them can lack a worker for some time.
 */
#define GUEST_WORKERS	256

typedef struct GuestWorker
{
	pg_atomic_uint64 registered;	/* when a worker was registered that has
									 * not yet finished, or 0 */
	pg_atomic_uint64 requested; /* 1 if there is something to do for it since
								 * it has begun */
	pg_atomic_uint64 begun;		/* when the last worker began, or 0 */
} GuestWorker;

/* Processes that wait for a hash of a table, and those that wait until the horizon advances */
#define GUEST_QUEUES		64
#define GUEST_HORIZON_QUEUE	GUEST_QUEUES

typedef struct GuestQueue
{
	pg_atomic_uint32 waiters;	/* number of processes */
	ConditionVariable condition;
} GuestQueue;

typedef struct GuestMemory
{
	GuestQueue	queues[GUEST_QUEUES + 1];
	GuestWorker workers[GUEST_WORKERS];
} GuestMemory;

extern GuestMemory *uuid9562_guest_memory(void);

/*
 * Called after a transaction with ordered IDs has cleared its slot, so that it does not hold the
 * horizon
 */
extern void (*uuid9562_finish_hook) (void);

extern bool uuid9562_is_held_by_prepared(void);
extern void uuid9562_prepare_ordered(void);
extern UuidPayload uuid9562_next_ordered(void);
extern bool uuid9562_has_generated(void);
extern uint64 uuid9562_snapshot_branch(const char *function);
extern UuidPayload uuid9562_snapshot_horizon(const char *function);
extern void uuid9562_record_snapshot_branch(const char *function);
extern uint64 uuid9562_published_branch(void);
extern void uuid9562_branch_end(uint64 current, uint64 name, uint8 *end);
extern bool uuid9562_branch_ended_before(const char *function, uint64 name, const uint8 *id);

#endif							/* UUID9562_ORDERED_H */
