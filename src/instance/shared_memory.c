/*
 * shared_memory.c
 *		The memory that all sessions of the instance share.
 *
 * It is reserved as the server starts where the library is in
 * shared_preload_libraries.  Where it is not, PostgreSQL 17 and later have a
 * registry that can be asked at any time; before, there is none.
 */
#include "instance/shared_memory.h"

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#include "instance/transaction_slot.h"

/*
 * The same in all versions of the library, so that a session with an older one and
 * a session with a newer one do not find two instances: they ask for different
 * sizes, and the later one is refused.
 */
#define SHARED_NAME			"uuid9562 1"
/*
 * The shared state; NULL where there is none, and on PostgreSQL 17 and later
 * before this session has asked for it.
 */
InstanceState *uuid9562_shared;

static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

static Size
shared_size(void)
{
	return add_size(CACHELINEALIGN(sizeof(InstanceState)), uuid9562_hold_size());
}

/* The slots of hold.c come after the shared state. */
static void *
slots_of(InstanceState *shared)
{
	return (char *) shared + CACHELINEALIGN(sizeof(InstanceState));
}

static void
init_shared(InstanceState *shared)
{
	memset(shared, 0, shared_size());
	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		SpinLockInit(&shared->generators[i].generator.lock);
		/* where there is no limit, nothing comes near it */
		shared->generators[i].generator.near = PG_UINT64_MAX;
	}
	pg_atomic_init_u64(&shared->mark_writes, 0);
	pg_atomic_init_u64(&shared->damaged_marks, 0);
	ConditionVariableInit(&shared->mark_unlocked);
#if PG_VERSION_NUM >= 190000
	shared->tranche = LWLockNewTrancheId(MARK_WAIT_EVENT);
#else
	shared->tranche = LWLockNewTrancheId();
#endif
	LWLockInitialize(&shared->mark_lock, shared->tranche);
	uuid9562_hold_create(slots_of(shared));
}

/* This process has found the shared state. */
static void
attach_shared(void)
{
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(uuid9562_shared->tranche, MARK_WAIT_EVENT);
#endif
	uuid9562_hold_attach(slots_of(uuid9562_shared));
}

#if PG_VERSION_NUM >= 190000
static void
init_segment(void *segment, void *arg)
{
	init_shared(segment);
}
#elif PG_VERSION_NUM >= 170000
static void
init_segment(void *segment)
{
	init_shared(segment);
}
#endif

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
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	uuid9562_shared = ShmemInitStruct(SHARED_NAME, shared_size(), &found);
	if (!found)
		init_shared(uuid9562_shared);
	LWLockRelease(AddinShmemInitLock);
	uuid9562_preloaded = true;
	attach_shared();
}

#if PG_VERSION_NUM >= 170000
static void
explain_refusal(void *arg)
{
	errcontext("uuid9562 asking for its shared memory, which after an update of the library takes a restart of the server");
}

/* Find the shared state where the library was not preloaded. */
static void
find_shared(void)
{
	ErrorContextCallback context = {error_context_stack, explain_refusal, NULL};
	bool		found;

	error_context_stack = &context;
	uuid9562_shared = GetNamedDSMSegment(SHARED_NAME, shared_size(), init_segment, &found
#if PG_VERSION_NUM >= 190000
										 ,NULL
#endif
		);
	error_context_stack = context.previous;
	attach_shared();
}
#endif

/* Called by _PG_init. */
void
uuid9562_shared_init(void)
{
	if (process_shared_preload_libraries_in_progress)
	{
		previous_request_hook = shmem_request_hook;
		shmem_request_hook = request_shared;
		previous_startup_hook = shmem_startup_hook;
		shmem_startup_hook = start_shared;
	}
#if PG_VERSION_NUM >= 170000
	else if (IsUnderPostmaster)
	{
		const char *scope = GetConfigOption("uuid9562.monotonic_scope", true, false);

		if (scope != NULL && pg_strcasecmp(scope, "instance") == 0)
		{
			/* a setting does not reach a worker that loads the library itself */
			if (IsParallelWorker() && !InitializingParallelWorker)
				uuid9562_refuse_worker();
			/* also where none but the workers will make values */
			find_shared();
		}
	}
#endif
}

/* Is there shared memory for the instance's generators? */
bool
uuid9562_shared_available(void)
{
#if PG_VERSION_NUM >= 170000
	return true;
#else
	return uuid9562_shared != NULL;
#endif
}

/* The shared state; an error where there is none. */
InstanceState *
uuid9562_instance(void)
{
#if PG_VERSION_NUM >= 170000
	if (uuid9562_shared == NULL)
		find_shared();
#endif
	if (uuid9562_shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg(NO_SHARED_MEMORY_MESSAGE),
				 errhint(NO_SHARED_MEMORY_HINT)));
	return uuid9562_shared;
}
