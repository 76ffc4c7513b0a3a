/*
 * instance.c
 *		The generators that all sessions of the instance share (RFC 9562, 6.3).
 *
 * Each generator is stepped under a spinlock of its own: a few nanoseconds,
 * with clock and random bits at hand before.  That is about as fast as a
 * compare-and-swap, which has no holder to lose the processor but could count
 * nothing, and faster than an LWLock, also with more sessions than cores.
 *
 * What outlives the server is a mark in the data directory (mark.c).  No value
 * at or after the mark is ever handed out, so whoever starts from it is ahead of
 * all that was.  It is moved on two seconds at a time, when less than one is
 * left, by whichever session finds it so, under an LWLock that the others do not
 * wait for; only where nothing is left do they.  So it is written once a second
 * at most for each generator in use, and for all of them together while they are
 * used without a pause.
 *
 * Each generator has a mark of its own in the file, which follows its own values
 * alone, so that one whose times are ahead does not take the others along.  The
 * last session to leave writes the last values in their place, unless the file
 * was written within a second.  They hold until somebody moves the mark again,
 * which is before the next value.
 *
 * We report nothing while the LWLock is held: a report may wait for a client that
 * does not read, and everybody would wait with it.
 *
 * PostgreSQL 17 and later have a registry of shared memory that can be asked
 * for at any time; before, it is reserved as the server starts, which takes
 * shared_preload_libraries.
 */
#include "instance.h"

#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/varlena.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#include "mark.h"

/* How far the mark is moved ahead, and after how much of that it is moved on. */
#define MARK_STEP_SECONDS	2
#define MARK_NEAR_SECONDS	1
/* How long nobody tries again when it could not be moved, while there is room. */
#define MARK_RETRY_USECS	(USECS_PER_SEC / 4)

/* With the number of the layout of InstanceState. */
#define SHARED_NAME			"uuid9562 1"

typedef struct SharedGenerator
{
	slock_t		lock;
	GeneratorState state;
	uint64		limit;			/* only values of a lesser time are handed out */
	uint64		near;			/* from this time on the mark is moved on */
} SharedGenerator;

/* Each in cache lines of its own. */
typedef union PaddedGenerator
{
	SharedGenerator generator;
	char		pad[TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(SharedGenerator))];
} PaddedGenerator;

typedef struct InstanceState
{
	PaddedGenerator generators[UUID_KIND_COUNT];
	LWLock		mark_lock;		/* for what follows, and the file */
	int			tranche;
	pg_atomic_uint32 sessions;	/* that may generate */
	bool		loaded;			/* was the file read? */
	bool		written_ahead;	/* is what the file says not exact? */
	TimestampTz written_at;
	TimestampTz failed_at;		/* 0 if the last write did not */
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
	for (int i = 0; i < UUID_KIND_COUNT; i++)
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

/*
 * How to get it.  A statement that sets shared_preload_libraries must name what
 * is in it already, which only who may see that is told.
 */
char *
uuid9562_preload_hint(void)
{
	StringInfoData hint;

	initStringInfo(&hint);
	appendStringInfoString(&hint, "Add uuid9562 to shared_preload_libraries");
	if (IsTransactionState() && has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_SETTINGS))
	{
		List	   *libraries = NIL;
		ListCell   *cell;

		(void) SplitDirectoriesString(pstrdup(shared_preload_libraries_string), ',', &libraries);
		appendStringInfoString(&hint, ", as with \"ALTER SYSTEM SET shared_preload_libraries = ");
		foreach(cell, libraries)
			appendStringInfo(&hint, "%s, ", quote_literal_cstr(lfirst(cell)));
		appendStringInfoString(&hint, "'uuid9562';\",");
	}
	appendStringInfoString(&hint, " and restart the server, or set uuid9562.monotonic_scope to session.");
	return hint.data;
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

/* What is to be told when the lock of the mark is no longer held. */
typedef struct MarkNews
{
	bool		damaged;
	int64		ahead;			/* seconds, where the start is too far ahead */
	MarkFailure failure;
} MarkNews;

/* Tell it, a failure at that level. */
static void
report_news(const MarkNews *news, int elevel)
{
	if (news->damaged)
		uuid9562_report_damaged_mark();
	if (news->ahead > 0)
		ereport(WARNING,
				(errmsg("UUIDs of uuid9562.monotonic_scope = instance are %lld seconds ahead of the clock",
						(long long) news->ahead),
				 errdetail("They continue from the last ones that this instance has made, until the clock has caught up."),
				 errhint("Check the clock of the server. If it was wrong before and is right now, "
						 "a superuser can call uuid_generator_reset() to give up their order and begin at the clock.")));
	if (news->failure.what != NULL)
		uuid9562_report_failed_mark(&news->failure, elevel);
}

/* By how many seconds is a time field of a generator ahead of the clock? */
static int64
seconds_ahead(const UuidKind *kind, uint64 time)
{
	int64		sec;
	uint32		nsec;
	uint64_t	ticks;

	if (!read_system_clock(&sec, &nsec) ||
		!uuid_clock_ticks(kind->clock, sec, nsec, &ticks))
		return 0;
	return (uuid_clock_unix_micros(kind->clock, time) - uuid_clock_unix_micros(kind->clock, ticks)) / USECS_PER_SEC;
}

/*
 * Start where the file says, once after each start of the server.  The caller
 * holds the mark's lock.
 */
static bool
load_mark(InstanceState *shared, MarkNews *news)
{
	Mark		mark;
	int64		ahead = 0;

	switch (uuid9562_read_mark(&mark, &news->failure))
	{
		case MARK_FAILED:
			return false;
		case MARK_MISSING:
			break;
		case MARK_DAMAGED:
			news->damaged = true;
			shared->damaged++;
			break;
		case MARK_FOUND:
			for (int i = 0; i < UUID_KIND_COUNT; i++)
			{
				SharedGenerator *each = &shared->generators[i].generator;

				SpinLockAcquire(&each->lock);
				each->state.previous = mark.from[i];
				SpinLockRelease(&each->lock);
				ahead = Max(ahead, seconds_ahead(&uuid_kinds[i], mark.from[i].time));
			}
			break;
	}
	shared->loaded = true;
	if (ahead > uuid9562_max_ahead)
		news->ahead = ahead;
	return true;
}

/* Is that less than so many microseconds ago?  Not where the clock went back. */
static bool
just_now(TimestampTz then, int64 usecs)
{
	int64		elapsed = GetCurrentTimestamp() - then;

	return elapsed >= 0 && elapsed < usecs;
}

/* Write the mark, and count it.  The caller holds the mark's lock. */
static bool
write_mark(InstanceState *shared, const Mark *mark, bool ahead, MarkNews *news)
{
	TimestampTz now = GetCurrentTimestamp();

	if (!uuid9562_write_mark(mark, &news->failure))
	{
		shared->failed_at = now;
		return false;
	}
	shared->failed_at = 0;
	shared->writes++;
	shared->written_at = now;
	shared->written_ahead = ahead;
	return true;
}

/*
 * Move the mark of a generator ahead of its last value and of the time of the
 * clock, then let values be handed out below it.  On the way, the marks
 * of those that go on at the same pace, by their own last values.  The caller
 * holds the mark's lock.
 */
static bool
move_mark(InstanceState *shared, const UuidKind *kind, uint64 now, MarkNews *news)
{
	Mark		mark;
	uint64		limits[UUID_KIND_COUNT];
	uint64		nears[UUID_KIND_COUNT];

	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		SharedGenerator *each = &shared->generators[i].generator;
		const UuidClock clock = uuid_kinds[i].clock;
		UuidPayload previous;
		uint64		from;
		uint64		limit;

		SpinLockAcquire(&each->lock);
		previous = each->state.previous;
		limits[i] = each->limit;
		nears[i] = each->near;
		SpinLockRelease(&each->lock);

		/* where none was handed out since the file was exact, it stays so */
		if (limits[i] == 0 && i != kind->number)
		{
			mark.from[i] = previous;
			continue;
		}
		from = i == kind->number ? Max(previous.time, now) : previous.time;
		limit = uuid_clock_later(clock, from, MARK_STEP_SECONDS);
		/* never back: others hand out values meanwhile */
		if (limit > limits[i])
		{
			limits[i] = limit;
			nears[i] = limit > UUID_TIME_MAX ? limit : uuid_clock_later(clock, from, MARK_NEAR_SECONDS);
		}
		mark.from[i] = uuid_generator_from(limits[i]);
	}
	if (!write_mark(shared, &mark, true, news))
		return false;

	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		SharedGenerator *each = &shared->generators[i].generator;

		SpinLockAcquire(&each->lock);
		each->limit = limits[i];
		each->near = nears[i];
		SpinLockRelease(&each->lock);
	}
	return true;
}

/*
 * Take the last values down, or forget them, and write them in the place of the
 * mark, so that the next value has to move it again.  The caller holds the
 * mark's lock.
 */
static bool
write_last(InstanceState *shared, bool forget, MarkNews *news)
{
	Mark		mark;

	memset(&mark, 0, sizeof(mark));
	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		SharedGenerator *each = &shared->generators[i].generator;

		SpinLockAcquire(&each->lock);
		each->limit = 0;
		if (!forget)
			mark.from[i] = each->state.previous;
		SpinLockRelease(&each->lock);
	}
	return write_mark(shared, &mark, false, news);
}

/*
 * A session ends.  The last one writes the last values, unless the file was
 * written just now.
 */
static void
leave(int code, Datum arg)
{
	InstanceState *shared = instance;
	MarkNews	news = {0};

	if (shared == NULL)
		return;
	instance = NULL;
	if (pg_atomic_sub_fetch_u32(&shared->sessions, 1) > 0)
		return;

	/* an error under the lock may have led here without a transaction's end */
	if (LWLockHeldByMe(&shared->mark_lock))
		LWLockRelease(&shared->mark_lock);
	LWLockAcquire(&shared->mark_lock, LW_EXCLUSIVE);
	if (pg_atomic_read_u32(&shared->sessions) == 0 && shared->written_ahead &&
		!just_now(shared->written_at, USECS_PER_SEC))
		(void) write_last(shared, false, &news);
	LWLockRelease(&shared->mark_lock);
	report_news(&news, LOG);
}

static void
join(void)
{
	InstanceState *shared = find_shared();

	if (shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg(NO_SHARED_MEMORY_MESSAGE),
				 errhint("%s", uuid9562_preload_hint())));
	before_shmem_exit(leave, 0);
	pg_atomic_add_fetch_u32(&shared->sessions, 1);
	instance = shared;
}

/* --- generating ------------------------------------------------------------- */

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

/*
 * A generator has come to its limit: go on when somebody has moved the mark ahead
 * of its last value and of the time of the clock.  Nobody can hand out more until
 * then.  The last value is looked at anew, since a reset may have forgotten it.
 */
static void
await_mark(const UuidKind *kind, uint64 limit, uint64 now)
{
	MarkNews	news = {0};

	LWLockAcquire(&instance->mark_lock, LW_EXCLUSIVE);
	if ((instance->loaded || load_mark(instance, &news)) &&
		limit_of(&instance->generators[kind->number].generator) <= limit)
		(void) move_mark(instance, kind, now, &news);
	LWLockRelease(&instance->mark_lock);
	report_news(&news, ERROR);
	CHECK_FOR_INTERRUPTS();
}

/* A generator has come near its limit: move the mark, unless somebody does. */
static void
approach_mark(const UuidKind *kind, uint64 limit)
{
	MarkNews	news = {0};

	if (!LWLockConditionalAcquire(&instance->mark_lock, LW_EXCLUSIVE))
		return;
	if (limit_of(&instance->generators[kind->number].generator) == limit &&
		!just_now(instance->failed_at, MARK_RETRY_USECS))
		(void) move_mark(instance, kind, 0, &news);
	LWLockRelease(&instance->mark_lock);
	/* there is still room */
	report_news(&news, LOG);
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
	UuidPayload payload;
	UuidNext	next;
	uint64		limit;
	uint64		near;

	if (unlikely(instance == NULL))
		join();
	shared = &instance->generators[kind->number].generator;

	for (;;)
	{
		SpinLockAcquire(&shared->lock);
		payload = shared->state.previous;
		limit = shared->limit;
		near = shared->near;
		next = uuid_generator_next(&payload, now, random, method);
		if (likely(next != UUID_NEXT_EXHAUSTED && payload.time < limit))
		{
			generator_hand_out(&shared->state, payload, next, now, kind->clock);
			SpinLockRelease(&shared->lock);
			break;
		}
		SpinLockRelease(&shared->lock);

		if (next == UUID_NEXT_EXHAUSTED)
			uuid9562_time_exhausted(kind);
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
		}
	}

	if (unlikely(payload.time >= near))
		approach_mark(kind, limit);
	return payload;
}

/* --- for administrators ----------------------------------------------------- */

/* What the instance has counted since the server started; false without it. */
bool
uuid9562_instance_statistics(InstanceStatistics *statistics)
{
	InstanceState *shared = instance != NULL ? instance : find_shared();

	if (shared == NULL)
		return false;
	for (int i = 0; i < UUID_KIND_COUNT; i++)
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
	MarkNews	news = {0};

	if (instance == NULL)
		join();
	LWLockAcquire(&instance->mark_lock, LW_EXCLUSIVE);
	if (write_last(instance, true, &news))
	{
		for (int i = 0; i < UUID_KIND_COUNT; i++)
		{
			SharedGenerator *each = &instance->generators[i].generator;

			SpinLockAcquire(&each->lock);
			memset(&each->state.previous, 0, sizeof(UuidPayload));
			SpinLockRelease(&each->lock);
		}
		instance->loaded = true;
	}
	LWLockRelease(&instance->mark_lock);
	report_news(&news, ERROR);
}
