/*
 * instance.c
 *		The generators that all sessions of the instance share (RFC 9562, 6.3).
 *
 * Each generator is stepped under a spinlock of its own: a few nanoseconds,
 * with clock and random bits at hand before.  What outlives the server is a
 * mark in the data directory (mark.c).  No value at or after the mark is ever
 * handed out, so whoever starts from it is ahead of all that was.  It is moved
 * on two seconds at a time, when less than one is left, by whichever session
 * finds it so, under an LWLock that the others do not wait for; only where
 * nothing is left do they.  So it is written once a second at most.
 *
 * Each generator has a mark of its own in the file, so that one whose times are
 * ahead does not take the others along.  The last session to leave writes the
 * last values in their place, unless the file was written within a second.
 * They hold until somebody moves the mark again, which is before the next value.
 *
 * PostgreSQL 17 and later have a registry of shared memory that can be asked
 * for at any time; before, it is reserved as the server starts, which takes
 * shared_preload_libraries.
 */
#include "instance.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#include "mark.h"

/* How far the mark is moved ahead, and how near to it that is done. */
#define MARK_STEP_SECONDS	2
#define MARK_NEAR_SECONDS	1

/* With the number of the layout of InstanceState. */
#define SHARED_NAME			"uuid9562 1"

typedef struct SharedGenerator
{
	slock_t		lock;
	GeneratorState state;
	uint64		limit;			/* only values of a lesser time are handed out */
} SharedGenerator;

/* Each in cache lines of its own. */
typedef union PaddedGenerator
{
	SharedGenerator generator;
	char		pad[TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(SharedGenerator))];
} PaddedGenerator;

typedef struct InstanceState
{
	PaddedGenerator generators[GENERATOR_COUNT];
	LWLock		mark_lock;		/* for what follows, and the file */
	int			tranche;
	pg_atomic_uint32 sessions;	/* that may generate */
	bool		loaded;			/* was the file read? */
	bool		written_ahead;	/* is what the file says not exact? */
	TimestampTz written_at;
	uint64		writes;
	uint64		damaged;
} InstanceState;

int			uuid9562_max_ahead;

/* Where this session may generate; NULL before it has done so. */
static InstanceState *instance;

#if PG_VERSION_NUM < 170000
static bool reserved;			/* as the server started */
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;
#endif

/* --- shared memory ---------------------------------------------------------- */

static void
init_shared(InstanceState *shared)
{
	memset(shared, 0, sizeof(InstanceState));
	for (int i = 0; i < GENERATOR_COUNT; i++)
		SpinLockInit(&shared->generators[i].generator.lock);
#if PG_VERSION_NUM >= 190000
	shared->tranche = LWLockNewTrancheId(SHARED_NAME);
#else
	shared->tranche = LWLockNewTrancheId();
#endif
	LWLockInitialize(&shared->mark_lock, shared->tranche);
	pg_atomic_init_u32(&shared->sessions, 0);
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
#else
static void
request_shared(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(MAXALIGN(sizeof(InstanceState)));
}

static void
start_shared(void)
{
	bool		found;
	InstanceState *shared;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct(SHARED_NAME, sizeof(InstanceState), &found);
	if (!found)
		init_shared(shared);
	LWLockRelease(AddinShmemInitLock);
}
#endif

/* Called by _PG_init. */
void
uuid9562_instance_init(void)
{
#if PG_VERSION_NUM < 170000
	if (process_shared_preload_libraries_in_progress)
	{
		reserved = true;
		previous_request_hook = shmem_request_hook;
		shmem_request_hook = request_shared;
		previous_startup_hook = shmem_startup_hook;
		shmem_startup_hook = start_shared;
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
	return reserved;
#endif
}

/* The shared state; NULL when there is none. */
static InstanceState *
find_shared(void)
{
	InstanceState *shared;
	bool		found;

#if PG_VERSION_NUM >= 190000
	shared = GetNamedDSMSegment(SHARED_NAME, sizeof(InstanceState), init_segment, &found, NULL);
#elif PG_VERSION_NUM >= 170000
	shared = GetNamedDSMSegment(SHARED_NAME, sizeof(InstanceState), init_segment, &found);
#else
	if (!uuid9562_instance_available())
		return NULL;
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct(SHARED_NAME, sizeof(InstanceState), &found);
	LWLockRelease(AddinShmemInitLock);
#endif
#if PG_VERSION_NUM < 190000
	LWLockRegisterTranche(shared->tranche, SHARED_NAME);
#endif
	return shared;
}

/* --- the mark --------------------------------------------------------------- */

/* The clock in the time field of each generator; 0 where it does not fit. */
static void
read_clock(uint64 now[GENERATOR_COUNT])
{
	struct timespec clock;

	if (clock_gettime(CLOCK_REALTIME, &clock) != 0)
		uuid9562_clock_failed();
	for (int i = 0; i < GENERATOR_COUNT; i++)
	{
		uint64_t	ticks = 0;

		(void) uuid_clock_ticks(time_version(i), clock.tv_sec, clock.tv_nsec, &ticks);
		now[i] = ticks;
	}
}

/*
 * Start where the file says, once after each start of the server.  Returns by
 * how many seconds that is too far ahead of the clock, or 0.  The caller holds
 * the mark's lock.
 */
static int64
load_mark(InstanceState *shared)
{
	Mark		mark;
	uint64		now[GENERATOR_COUNT];
	int64		ahead = 0;

	read_clock(now);
	switch (uuid9562_read_mark(&mark))
	{
		case MARK_MISSING:
			break;
		case MARK_DAMAGED:
			shared->damaged++;
			break;
		case MARK_FOUND:
			for (int i = 0; i < GENERATOR_COUNT; i++)
			{
				SharedGenerator *each = &shared->generators[i].generator;
				int64		micros = uuid_clock_unix_micros(time_version(i), mark.from[i].time) -
					uuid_clock_unix_micros(time_version(i), now[i]);

				SpinLockAcquire(&each->lock);
				each->state.previous = mark.from[i];
				SpinLockRelease(&each->lock);
				ahead = Max(ahead, micros / USECS_PER_SEC);
			}
			break;
	}
	shared->loaded = true;
	return ahead > uuid9562_max_ahead ? ahead : 0;
}

/* Report it; not under a lock, since the client may be slow to listen. */
static void
warn_ahead(int64 seconds)
{
	ereport(WARNING,
			(errmsg("UUIDs of uuid9562.monotonic_scope = instance are %lld seconds ahead of the clock",
					(long long) seconds),
			 errdetail("They continue from the last ones that this instance has made, until the clock has caught up."),
			 errhint("Check the clock of the server. If it was wrong before and is right now, "
					 "a superuser can call uuid_generator_reset() to give up their order and begin at the clock.")));
}

/* Write the mark, and count it.  The caller holds the mark's lock. */
static bool
write_mark(InstanceState *shared, const Mark *mark, bool ahead, int elevel)
{
	if (!uuid9562_write_mark(mark, elevel))
		return false;
	shared->writes++;
	shared->written_at = GetCurrentTimestamp();
	shared->written_ahead = ahead;
	return true;
}

/*
 * Move the mark of each generator ahead of the clock and of its last value,
 * and then let values be handed out below it.  The caller holds the mark's
 * lock.
 */
static void
move_mark(InstanceState *shared, int elevel)
{
	Mark		mark;
	uint64		now[GENERATOR_COUNT];
	uint64		reach[GENERATOR_COUNT];

	read_clock(now);
	for (int i = 0; i < GENERATOR_COUNT; i++)
	{
		SharedGenerator *each = &shared->generators[i].generator;
		uint64		limit;

		SpinLockAcquire(&each->lock);
		reach[i] = Max(now[i], each->state.previous.time);
		limit = each->limit;
		SpinLockRelease(&each->lock);
		/* never back: others hand out values meanwhile */
		reach[i] = Max(uuid_clock_later(time_version(i), reach[i], MARK_STEP_SECONDS), limit);
		mark.from[i] = uuid_generator_from(reach[i]);
	}
	if (!write_mark(shared, &mark, true, elevel))
		return;

	for (int i = 0; i < GENERATOR_COUNT; i++)
	{
		SharedGenerator *each = &shared->generators[i].generator;

		SpinLockAcquire(&each->lock);
		each->limit = reach[i];
		SpinLockRelease(&each->lock);
	}
}

/*
 * Take the last values down and write them in the place of the mark, so that
 * the next value has to move it again.  The caller holds the mark's lock.
 */
static bool
write_last(InstanceState *shared, bool forget, int elevel)
{
	Mark		mark;

	memset(&mark, 0, sizeof(mark));
	for (int i = 0; i < GENERATOR_COUNT; i++)
	{
		SharedGenerator *each = &shared->generators[i].generator;

		SpinLockAcquire(&each->lock);
		each->limit = 0;
		if (!forget)
			mark.from[i] = each->state.previous;
		SpinLockRelease(&each->lock);
	}
	return write_mark(shared, &mark, false, elevel);
}

/*
 * A session ends.  The last one writes the last values, unless the file was
 * written just now.
 */
static void
leave(int code, Datum arg)
{
	InstanceState *shared = instance;
	int64		elapsed;

	if (shared == NULL)
		return;
	instance = NULL;
	if (pg_atomic_sub_fetch_u32(&shared->sessions, 1) > 0)
		return;

	/* an error under the lock may have led here without a transaction's end */
	if (LWLockHeldByMe(&shared->mark_lock))
		LWLockRelease(&shared->mark_lock);
	LWLockAcquire(&shared->mark_lock, LW_EXCLUSIVE);
	elapsed = GetCurrentTimestamp() - shared->written_at;
	if (pg_atomic_read_u32(&shared->sessions) == 0 && shared->written_ahead &&
		(elapsed >= USECS_PER_SEC || elapsed < 0))
		(void) write_last(shared, false, LOG);
	LWLockRelease(&shared->mark_lock);
}

static void
join(void)
{
	InstanceState *shared = find_shared();

	if (shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg(NO_SHARED_MEMORY_MESSAGE),
				 errhint(NO_SHARED_MEMORY_HINT)));
	before_shmem_exit(leave, 0);
	pg_atomic_add_fetch_u32(&shared->sessions, 1);
	instance = shared;
}

/* --- generating ------------------------------------------------------------- */

/*
 * The next payload of a generator of the instance.  Errors: no shared memory,
 * a mark that cannot be read or written, the end of the time field.
 */
UuidPayload
uuid9562_instance_next(Generator generator, UuidMethod method)
{
	const int	version = time_version(generator);
	UuidRandom	random = random_for(method);
	uint64		now = clock_ticks(version);
	SharedGenerator *shared;
	GeneratorState next;
	UuidNext	outcome;
	uint64		limit;

	if (unlikely(instance == NULL))
		join();
	shared = &instance->generators[generator].generator;

	for (;;)
	{
		int64		ahead = 0;
		bool		moved;

		SpinLockAcquire(&shared->lock);
		next = shared->state;
		outcome = generator_step(&next, now, random, method);
		limit = shared->limit;
		if (likely(outcome != UUID_NEXT_EXHAUSTED && next.previous.time < limit))
			shared->state = next;
		SpinLockRelease(&shared->lock);

		if (likely(outcome != UUID_NEXT_EXHAUSTED && next.previous.time < limit))
			break;
		if (outcome == UUID_NEXT_EXHAUSTED)
			uuid9562_time_exhausted(version);

		/* nobody can hand out more until the mark is moved */
		LWLockAcquire(&instance->mark_lock, LW_EXCLUSIVE);
		if (!instance->loaded)
			ahead = load_mark(instance);
		SpinLockAcquire(&shared->lock);
		moved = shared->limit > limit;
		SpinLockRelease(&shared->lock);
		if (!moved)
			move_mark(instance, ERROR);
		LWLockRelease(&instance->mark_lock);
		if (ahead > 0)
			warn_ahead(ahead);

		CHECK_FOR_INTERRUPTS();
		now = clock_ticks(version);
	}

	/*
	 * Another session may have made a value between our reading of the clock
	 * and our turn.  Only a fresh reading tells whether the clock went back.
	 */
	if (outcome == UUID_NEXT_STEPPED && clock_went_back(&next, now, method))
	{
		now = clock_ticks(version);
		SpinLockAcquire(&shared->lock);
		if (clock_went_back(&shared->state, now, method))
			count_clock_back(&shared->state, method);
		SpinLockRelease(&shared->lock);
	}

	/* near the mark, whoever can moves it; if that fails, there is still room */
	if (unlikely(uuid_clock_later(version, next.previous.time, MARK_NEAR_SECONDS) >= limit) &&
		limit <= UUID_TIME_MAX &&
		LWLockConditionalAcquire(&instance->mark_lock, LW_EXCLUSIVE))
	{
		bool		still;

		SpinLockAcquire(&shared->lock);
		still = shared->limit == limit;
		SpinLockRelease(&shared->lock);
		if (still)
			move_mark(instance, LOG);
		LWLockRelease(&instance->mark_lock);
	}
	return next.previous;
}

/* --- for administrators ----------------------------------------------------- */

/* What the instance has counted since the server started; false without it. */
bool
uuid9562_instance_statistics(InstanceStatistics *statistics)
{
	InstanceState *shared = instance != NULL ? instance : find_shared();

	if (shared == NULL)
		return false;
	for (int i = 0; i < GENERATOR_COUNT; i++)
	{
		SharedGenerator *each = &shared->generators[i].generator;

		SpinLockAcquire(&each->lock);
		statistics->generators[i] = each->state;
		SpinLockRelease(&each->lock);
	}
	LWLockAcquire(&shared->mark_lock, LW_SHARED);
	statistics->mark_writes = shared->writes;
	statistics->damaged_marks = shared->damaged;
	LWLockRelease(&shared->mark_lock);
	return true;
}

/* Forget the last values, in the file and then here: the clock decides again. */
void
uuid9562_instance_reset(void)
{
	if (instance == NULL)
		join();
	LWLockAcquire(&instance->mark_lock, LW_EXCLUSIVE);
	(void) write_last(instance, true, ERROR);
	for (int i = 0; i < GENERATOR_COUNT; i++)
	{
		SharedGenerator *each = &instance->generators[i].generator;

		SpinLockAcquire(&each->lock);
		memset(&each->state.previous, 0, sizeof(UuidPayload));
		SpinLockRelease(&each->lock);
	}
	instance->loaded = true;
	LWLockRelease(&instance->mark_lock);
}
