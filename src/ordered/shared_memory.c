/*
 * shared_memory.c
 *		The shared memory of ordered UUIDs.
 *
 * If shared_preload_libraries names the library, the memory is part of the server's shared
 * memory.  Otherwise PostgreSQL 17 and later create the memory at first use, in the
 * registry of dynamic shared memory segments, and earlier versions raise an error.
 */
#include "ordered/shared_state.h"

#include "storage/ipc.h"
#include "storage/shmem.h"

#define SHARED_NAME			"uuid9562"
#define TRANCHE_NAME		"Uuid9562HighWaterMark"

SharedState *uuid9562_shared;

static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

static Size
shared_size(void)
{
	return add_size(offsetof(SharedState, slots), mul_size(slot_count(), sizeof(PaddedSlot)));
}

static void
init_shared(void *memory)
{
	SharedState *shared = memory;

	memset(shared, 0, shared_size());
	shared->tranche = new_lwlock_tranche(TRANCHE_NAME);
	LWLockInitialize(&shared->mark_lock, shared->tranche);
	pg_atomic_init_u64(&shared->mark_writes, 0);
	ConditionVariableInit(&shared->mark_released);
	pg_atomic_init_u64(&shared->branch, 0);
	pg_atomic_init_u64(&shared->recorded_branch, 0);
	SpinLockInit(&shared->padded_generator.generator.lock);
	for (int i = 0; i <= GUEST_HORIZON_QUEUE; i++)
	{
		pg_atomic_init_u32(&shared->guest.queues[i].waiters, 0);
		ConditionVariableInit(&shared->guest.queues[i].condition);
	}
	for (int i = 0; i < GUEST_WORKERS; i++)
	{
		pg_atomic_init_u64(&shared->guest.workers[i].registered, 0);
		pg_atomic_init_u64(&shared->guest.workers[i].requested, 0);
		pg_atomic_init_u64(&shared->guest.workers[i].begun, 0);
	}
	for (int i = 0; i < slot_count(); i++)
	{
		pg_atomic_init_u64(&shared->slots[i].slot.first, UUID_NO_TIME);
		pg_atomic_init_u64(&shared->slots[i].slot.changecount, 0);
	}
	/* set this last: use_shared() refuses the memory if initialization failed */
	shared->layout = SHARED_LAYOUT;
}

static void
use_shared(SharedState *shared)
{
	if (shared->layout != SHARED_LAYOUT)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("uuid9562 shared memory has layout %u instead of %u", shared->layout, SHARED_LAYOUT),
				 errdetail("Another version of the library created it, or its initialization failed."),
				 errhint("Restart the server.")));
	register_lwlock_tranche(shared->tranche, TRANCHE_NAME);
	uuid9562_shared = shared;
}

/* --- with shared_preload_libraries ------------------------------------------- */

static void
request_shared(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(shared_size());
}

static void
start_shared(void)
{
	SharedState *shared;
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct(SHARED_NAME, shared_size(), &found);
	if (!found)
		init_shared(shared);
	LWLockRelease(AddinShmemInitLock);
	use_shared(shared);
}

void
uuid9562_ordered_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request_shared;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = start_shared;
}

/* --- at first use ------------------------------------------------------------ */

/* Callback of GetNamedDSMSegment().  DSM_INIT_ARGS declares "segment". */
static void
init_segment(DSM_INIT_ARGS)
{
	init_shared(segment);
}

/* Error context callback for GetNamedDSMSegment() */
static void
add_context(void *arg)
{
	errcontext("while attaching to uuid9562 shared memory");
	/* PostgreSQL raises an internal error if the segment has another size */
	if (geterrcode() == ERRCODE_INTERNAL_ERROR)
		errhint("If the library was updated, restart the server.");
}

/* Attach to the shared memory.  Raise an error if there is none. */
void
uuid9562_attach_shared(void)
{
	ErrorContextCallback context = {error_context_stack, add_context, NULL};
	SharedState *shared;
	bool		found;

	if (uuid9562_shared != NULL)
		return;
	error_context_stack = &context;
	shared = named_dsm_segment(SHARED_NAME, shared_size(), init_segment, &found);
	if (shared != NULL)
		use_shared(shared);
	error_context_stack = context.previous;
	if (shared == NULL)
		ereport(ERROR,			/* before PostgreSQL 17 */
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("uuid9562 shared memory is not available"),
				 errhint("Add \"uuid9562\" to \"shared_preload_libraries\" and restart the server.")));
}

/* Return the part of the shared memory for src/changes, which must be attached. */
GuestMemory *
uuid9562_guest_memory(void)
{
	Assert(uuid9562_shared != NULL);
	return &uuid9562_shared->guest;
}
