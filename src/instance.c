/*
 * instance.c
 *		The generators that all sessions of the instance share (RFC 9562, 6.3).
 *
 * Each generator is stepped under a spinlock of its own: a few nanoseconds,
 * with clock and random bits at hand before.  That is about as fast as a
 * compare-and-swap, which has no holder to lose the processor but could count
 * nothing, and faster than an LWLock, also with more sessions than cores.
 *
 * What outlives the server is the mark (mark.c).  Each generator has a limit,
 * and no value of the limit's time or later is handed out.  A limit is zero
 * until the mark stands at it.  The mark is moved on two seconds at a time, when
 * less than one is left, by whichever session finds it so, while the others go
 * on; only where nothing is left do they wait.  So it is written once a second
 * at most for each generator in use, and for all of them together while they are
 * used without a pause.  A start goes on from the mark, as after a crash.
 *
 * Whoever moves the mark holds its LWLock, and may be held up by a disk.  Nobody
 * else waits for that lock: they sleep where they can be cancelled, until it is
 * unlocked.  Nothing is reported while it is held, since a report may wait for a
 * client that does not read.
 *
 * In recovery WAL cannot be written, and there is no mark.  A standby's
 * generators step without a limit while theirs is zero, which a raised one ends.
 * So the first value after a promotion, of whichever session, finds no room,
 * reads the mark and goes on above it.
 *
 * Shared memory is reserved as the server starts where the library is in
 * shared_preload_libraries.  Where it is not, PostgreSQL 17 and later have a
 * registry that can be asked at any time; before, there is none.
 */
#include "instance.h"

#include "access/parallel.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/wait_event.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#include "horizon.h"
#include "mark.h"

/* How far the mark is moved ahead, and after how much of that it is moved on. */
#define MARK_STEP_SECONDS	2
#define MARK_NEAR_SECONDS	1
/* How long nobody tries again when it could not be moved, while there is room. */
#define MARK_RETRY_USECS	(USECS_PER_SEC / 4)

/*
 * The same in all versions of the library, so that a session with an older one and
 * a session with a newer one do not find two instances: they ask for different
 * sizes, and the later one is refused.
 */
#define SHARED_NAME			"uuid9562 1"
/* What pg_stat_activity says of a session that waits for the mark. */
#define WAIT_EVENT_NAME		"Uuid9562Mark"

int			uuid9562_max_ahead;
bool		uuid9562_preloaded;

/*
 * The shared state; NULL where there is none, and on PostgreSQL 17 and later
 * before this session has asked for it.
 */
static InstanceState *instance;

static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

/* --- shared memory ---------------------------------------------------------- */

static Size
shared_size(void)
{
	return add_size(CACHELINEALIGN(sizeof(InstanceState)), uuid9562_horizon_size());
}

/* The slots of the horizon come after the shared state. */
static void *
horizon_of(InstanceState *shared)
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
	shared->tranche = LWLockNewTrancheId(WAIT_EVENT_NAME);
#else
	shared->tranche = LWLockNewTrancheId();
#endif
	LWLockInitialize(&shared->mark_lock, shared->tranche);
	uuid9562_horizon_create(horizon_of(shared));
}

/* This process has found the shared state. */
static void
attach(void)
{
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(instance->tranche, WAIT_EVENT_NAME);
#endif
	uuid9562_horizon_attach(horizon_of(instance));
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
	instance = ShmemInitStruct(SHARED_NAME, shared_size(), &found);
	if (!found)
		init_shared(instance);
	LWLockRelease(AddinShmemInitLock);
	uuid9562_preloaded = true;
	attach();
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
	instance = GetNamedDSMSegment(SHARED_NAME, shared_size(), init_segment, &found
#if PG_VERSION_NUM >= 190000
								  ,NULL
#endif
		);
	error_context_stack = context.previous;
	attach();
}
#endif

/* Called by _PG_init. */
void
uuid9562_instance_init(void)
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
uuid9562_instance_available(void)
{
#if PG_VERSION_NUM >= 170000
	return true;
#else
	return instance != NULL;
#endif
}

/* The shared state; an error where there is none. */
InstanceState *
uuid9562_instance(void)
{
#if PG_VERSION_NUM >= 170000
	if (instance == NULL)
		find_shared();
#endif
	if (instance == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg(NO_SHARED_MEMORY_MESSAGE),
				 errhint(NO_SHARED_MEMORY_HINT)));
	return instance;
}

/* --- the mark --------------------------------------------------------------- */

/* The limit of a generator. */
static uint64
limit_of(SharedGenerator *shared)
{
	uint64		limit;

	SpinLockAcquire(&shared->lock);
	limit = shared->limit;
	SpinLockRelease(&shared->lock);
	return limit;
}

/* Let a generator go on after that payload, if it has not come so far. */
static void
lift_generator(SharedGenerator *shared, UuidPayload payload)
{
	SpinLockAcquire(&shared->lock);
	uuid_generator_lift(&shared->state.previous, payload);
	SpinLockRelease(&shared->lock);
}

/*
 * Take the mark's lock, unless the limit of a generator, where one is named, has
 * become another meanwhile.
 */
static bool
lock_mark(SharedGenerator *shared, uint64 limit)
{
	bool		locked;
#if PG_VERSION_NUM >= 170000
	uint32		wait_event = WaitEventExtensionNew(WAIT_EVENT_NAME);
#else
	uint32		wait_event = PG_WAIT_LWLOCK | instance->tranche;
#endif

	while (!(locked = LWLockConditionalAcquire(&instance->mark_lock, LW_EXCLUSIVE)) &&
		   (shared == NULL || limit_of(shared) == limit))
		ConditionVariableSleep(&instance->mark_unlocked, wait_event);
	ConditionVariableCancelSleep();
	return locked;
}

static void
unlock_mark(void)
{
	LWLockRelease(&instance->mark_lock);
	ConditionVariableBroadcast(&instance->mark_unlocked);
}

/* Do that with the mark, whose lock the caller holds. */
static ErrorData *
try_mark(void (*action) (Mark *), Mark *mark)
{
	ErrorData  *error = uuid9562_try_mark(action, mark);

	instance->failed_at = error != NULL ? GetCurrentTimestamp() : 0;
	if (error == NULL && action != uuid9562_load_mark)
		pg_atomic_fetch_add_u64(&instance->mark_writes, 1);
	else if (error != NULL && error->sqlerrcode == ERRCODE_DATA_CORRUPTED)
		pg_atomic_write_u64(&instance->damaged_marks, 1);
	return error;
}

/* Report an error that was met under the mark's lock, at that level. */
static void
report_error(ErrorData *error, int elevel)
{
	if (error == NULL)
		return;
	error->elevel = elevel;
	ThrowErrorData(error);
	FreeErrorData(error);
}

/*
 * Let no generator go on below the mark.  Once after a start or a promotion,
 * before any limit is raised.  The caller holds the mark's lock.
 */
static ErrorData *
load_mark(void)
{
	Mark		mark;
	ErrorData  *error;

	if (instance->loaded)
		return NULL;
	error = try_mark(uuid9562_load_mark, &mark);
	if (error != NULL)
		return error;
	for (int i = 0; i < UUID_KIND_COUNT; i++)
		lift_generator(&instance->generators[i].generator, uuid_generator_from(mark.limits[i]));
	uuid9562_horizon_start();
	pg_write_barrier();
	instance->loaded = true;
	return NULL;
}

/*
 * Move the mark of a generator ahead of its last value and of the time of the
 * clock, then let values be handed out below it.  On the way, the marks
 * of those that go on at the same pace, by their own last values, so that one
 * whose times are ahead does not take the others along.  The caller holds the
 * mark's lock.
 */
static ErrorData *
move_mark(const UuidKind *kind, uint64 now)
{
	Mark		mark = {{0}};
	uint64		nears[UUID_KIND_COUNT];
	ErrorData  *error = load_mark();

	if (error != NULL)
		return error;
	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		SharedGenerator *each = &instance->generators[i].generator;
		const UuidClock clock = uuid_kinds[i].clock;
		uint64		from;
		uint64		limit;

		SpinLockAcquire(&each->lock);
		from = each->state.previous.time;
		limit = each->limit;
		SpinLockRelease(&each->lock);

		if (i == kind->number)
			from = Max(from, now);
		else if (limit == 0)
			continue;
		/* never back: others hand out values meanwhile */
		mark.limits[i] = Max(limit, uuid_clock_later(clock, from, MARK_STEP_SECONDS));
		nears[i] = uuid_clock_later(clock, from, MARK_NEAR_SECONDS);
	}
	error = try_mark(uuid9562_raise_mark, &mark);
	if (error != NULL)
		return error;

	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		SharedGenerator *each = &instance->generators[i].generator;

		if (mark.limits[i] == 0)
			continue;
		SpinLockAcquire(&each->lock);
		each->limit = mark.limits[i];
		each->near = nears[i];
		SpinLockRelease(&each->lock);
	}
	return NULL;
}

/* See to it that the mark has been read.  Not in recovery. */
void
uuid9562_instance_load(void)
{
	bool		loaded = uuid9562_instance()->loaded;
	ErrorData  *error;

	pg_read_barrier();
	if (loaded)
		return;
	lock_mark(NULL, 0);
	error = load_mark();
	unlock_mark();
	report_error(error, ERROR);
}

/*
 * A generator has come to its limit: go on when somebody has moved the mark ahead
 * of its last value and of the time of the clock.  Nobody can hand out more until
 * then.
 */
static void
await_mark(const UuidKind *kind, uint64 limit, uint64 now)
{
	SharedGenerator *shared = &instance->generators[kind->number].generator;
	ErrorData  *error = NULL;

	if (lock_mark(shared, limit))
	{
		if (limit_of(shared) == limit)
			error = move_mark(kind, now);
		unlock_mark();
	}
	report_error(error, ERROR);
	CHECK_FOR_INTERRUPTS();
}

/* Could the mark not be moved a moment ago?  No, where the clock went back. */
static bool
failed_just_now(void)
{
	int64		elapsed = GetCurrentTimestamp() - instance->failed_at;

	return elapsed >= 0 && elapsed < MARK_RETRY_USECS;
}

/* A generator has come near its limit: move the mark, unless somebody does. */
static void
approach_mark(const UuidKind *kind, uint64 limit)
{
	ErrorData  *error = NULL;

	if (!LWLockConditionalAcquire(&instance->mark_lock, LW_EXCLUSIVE))
		return;
	if (limit_of(&instance->generators[kind->number].generator) == limit && !failed_just_now())
		error = move_mark(kind, 0);
	unlock_mark();
	/* there is still room, and a value at hand */
	report_error(error, LOG);
}

/* --- generating ------------------------------------------------------------- */

/*
 * The clock is behind a value: report it when it is far behind, once until the
 * clock has caught up and is behind a later value.
 */
static void
report_ahead(const UuidKind *kind, uint64 time, uint64 now)
{
	SharedGenerator *shared = &instance->generators[kind->number].generator;
	int64		ahead = seconds_ahead(kind, time, now);
	bool		known;

	if (ahead <= uuid9562_max_ahead)
		return;
	SpinLockAcquire(&shared->lock);
	known = shared->reported != 0 && time <= uuid_clock_later(kind->clock, shared->reported, uuid9562_max_ahead);
	if (!known)
		shared->reported = time;
	SpinLockRelease(&shared->lock);
	if (!known)
		ereport(WARNING,
				(errmsg("UUIDs of uuid9562.monotonic_scope = instance are %lld seconds ahead of the clock",
						(long long) ahead),
				 errdetail("Those of %s() continue from the last ones that this instance has made, until the clock has caught up.",
						   kind->name),
				 errhint("Check the clock of the server. If it was wrong before and is right now, "
						 "a superuser can call uuid_generator_reset() to give up their order and begin at the clock.")));
}

/*
 * The next payload of a generator of the instance, for a caller who has the time
 * of the clock and random bits at hand.  Errors: no shared memory, a mark that
 * cannot be read or written, the end of the time field.
 */
UuidPayload
uuid9562_instance_next(const UuidKind *kind, UuidMethod method, uint64 now, UuidRandom random)
{
	SharedGenerator *shared;
	HorizonSlot *slot;
	bool		recovery = false;
	UuidPayload payload;
	UuidNext	next;
	uint64		limit;
	uint64		near;

	if (unlikely(instance == NULL))
		(void) uuid9562_instance();
	shared = &instance->generators[kind->number].generator;
	slot = own_slot();

	for (;;)
	{
		SpinLockAcquire(&shared->lock);
		payload = shared->state.previous;
		limit = shared->limit;
		near = shared->near;
		next = uuid_generator_next(&payload, now, random, method);
		if (likely(next != UUID_NEXT_EXHAUSTED && (payload.time < limit || (recovery && limit == 0))))
		{
			hold_horizon(slot, kind, payload.time);
			generator_hand_out(&shared->state, payload, next, now, kind->clock);
			SpinLockRelease(&shared->lock);
			break;
		}
		SpinLockRelease(&shared->lock);

		if (next == UUID_NEXT_EXHAUSTED)
			uuid9562_time_exhausted(kind);
		/* asked once a turn; a server that may write WAL always may */
		recovery = !XLogInsertAllowed();
		if (!recovery)
			await_mark(kind, limit, now);
	}

	/*
	 * Others may have made values since we read the clock, or may have read
	 * it later.  Only a fresh reading, against our own value and the last
	 * one, tells whether it went back.
	 */
	if (unlikely(uuid_generator_is_behind(kind->clock, payload.time, now)))
	{
		now = clock_ticks(kind);
		if (uuid_generator_is_behind(kind->clock, payload.time, now))
		{
			SpinLockAcquire(&shared->lock);
			if (clock_went_back(&shared->state, now, kind->clock))
				count_clock_back(&shared->state, kind->clock);
			SpinLockRelease(&shared->lock);
			report_ahead(kind, payload.time, now);
		}
	}

	if (unlikely(payload.time >= near))
		approach_mark(kind, limit);
	return payload;
}

/* --- for administrators ----------------------------------------------------- */

/* Let a generator go on after that payload, also after a crash. */
void
uuid9562_instance_advance(const UuidKind *kind, UuidPayload payload)
{
	ErrorData  *error = NULL;

	(void) uuid9562_instance();
	lock_mark(NULL, 0);
	lift_generator(&instance->generators[kind->number].generator, payload);
	if (XLogInsertAllowed())
		error = move_mark(kind, 0);
	unlock_mark();
	report_error(error, ERROR);
}

/* Forget the last values, in the mark and then here: the clock decides again. */
void
uuid9562_instance_reset(void)
{
	Mark		none = {{0}};
	bool		recovery;
	ErrorData  *error;

	(void) uuid9562_instance();
	lock_mark(NULL, 0);
	/* none is handed out until the mark is moved again */
	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		SpinLockAcquire(&instance->generators[i].generator.lock);
		instance->generators[i].generator.limit = 0;
		SpinLockRelease(&instance->generators[i].generator.lock);
	}
	recovery = !XLogInsertAllowed();
	error = recovery ? NULL : try_mark(uuid9562_replace_mark, &none);
	for (int i = 0; i < UUID_KIND_COUNT && error == NULL; i++)
	{
		SharedGenerator *each = &instance->generators[i].generator;

		SpinLockAcquire(&each->lock);
		memset(&each->state.previous, 0, sizeof(UuidPayload));
		each->reported = 0;
		SpinLockRelease(&each->lock);
	}
	if (!recovery && !instance->loaded)
		uuid9562_horizon_start();
	instance->loaded = !recovery && error == NULL;
	unlock_mark();
	report_error(error, ERROR);
}
