/*
 * ordered.c
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
 * In recovery WAL cannot be written, and there is no mark.  All limits are zero
 * then, and zero means no limit.  After a promotion zero means no room: the first
 * session that asks for a value, whichever it is, reads the mark, goes on above it
 * and raises the limit.
 */
#include "instance/ordered.h"

#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/wait_event.h"

#include "instance/transaction_slot.h"
#include "instance/high_water_mark.h"

/* How far the mark is moved ahead, and after how much of that it is moved on. */
#define MARK_STEP_SECONDS	2
#define MARK_NEAR_SECONDS	1
/* How long a session that waits for the mark sleeps at most before it looks. */
#define MARK_LOOK_MSECS		1000
/* How long nobody tries again when it could not be moved, while there is room. */
#define MARK_RETRY_USECS	(USECS_PER_SEC / 4)

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
	uint32		wait_event = WaitEventExtensionNew(MARK_WAIT_EVENT);
#else
	uint32		wait_event = PG_WAIT_LWLOCK | uuid9562_shared->tranche;
#endif

	while (!(locked = LWLockConditionalAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE)) &&
		   (shared == NULL || limit_of(shared) == limit))
	{
		/* a session that ended with the lock has woken nobody */
		ConditionVariableTimedSleep(&uuid9562_shared->mark_unlocked, MARK_LOOK_MSECS, wait_event);
	}
	ConditionVariableCancelSleep();
	return locked;
}

static void
unlock_mark(void)
{
	LWLockRelease(&uuid9562_shared->mark_lock);
	ConditionVariableBroadcast(&uuid9562_shared->mark_unlocked);
}

/* Do that with the mark, whose lock the caller holds. */
static ErrorData *
try_mark(void (*action) (Mark *), Mark *mark)
{
	ErrorData  *error = uuid9562_try_mark(action, mark);

	/* which was lost with the error */
	if (error != NULL)
		LWLockAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE);
	uuid9562_shared->failed_at = error != NULL ? GetCurrentTimestamp() : 0;
	if (error == NULL && action != uuid9562_load_mark)
		pg_atomic_fetch_add_u64(&uuid9562_shared->mark_writes, 1);
	else if (error != NULL && error->sqlerrcode == ERRCODE_DATA_CORRUPTED)
		pg_atomic_write_u64(&uuid9562_shared->damaged_marks, 1);
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

	if (uuid9562_shared->loaded)
		return NULL;
	error = try_mark(uuid9562_load_mark, &mark);
	if (error != NULL)
		return error;
	for (int i = 0; i < UUID_KIND_COUNT; i++)
		lift_generator(&uuid9562_shared->generators[i].generator, uuid_generator_from(mark.limits[i]));
	uuid9562_hold_start();
	pg_write_barrier();
	uuid9562_shared->loaded = true;
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
		SharedGenerator *each = &uuid9562_shared->generators[i].generator;
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
		SharedGenerator *each = &uuid9562_shared->generators[i].generator;

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
	SharedGenerator *shared = &uuid9562_shared->generators[kind->number].generator;
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
	int64		elapsed = GetCurrentTimestamp() - uuid9562_shared->failed_at;

	return elapsed >= 0 && elapsed < MARK_RETRY_USECS;
}

/* A generator has come near its limit: move the mark, unless somebody does. */
static void
approach_mark(const UuidKind *kind, uint64 limit)
{
	ErrorData  *error = NULL;

	if (!LWLockConditionalAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE))
		return;
	if (limit_of(&uuid9562_shared->generators[kind->number].generator) == limit && !failed_just_now())
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
	SharedGenerator *shared = &uuid9562_shared->generators[kind->number].generator;
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
	HoldSlot   *slot;
	bool		recovery = false;
	UuidPayload payload;
	UuidNext	next;
	uint64		limit;
	uint64		near;

	if (unlikely(uuid9562_shared == NULL))
		(void) uuid9562_instance();
	shared = &uuid9562_shared->generators[kind->number].generator;
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
	lift_generator(&uuid9562_shared->generators[kind->number].generator, payload);
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
		SpinLockAcquire(&uuid9562_shared->generators[i].generator.lock);
		uuid9562_shared->generators[i].generator.limit = 0;
		SpinLockRelease(&uuid9562_shared->generators[i].generator.lock);
	}
	recovery = !XLogInsertAllowed();
	error = recovery ? NULL : try_mark(uuid9562_replace_mark, &none);
	for (int i = 0; i < UUID_KIND_COUNT && error == NULL; i++)
	{
		SharedGenerator *each = &uuid9562_shared->generators[i].generator;

		SpinLockAcquire(&each->lock);
		memset(&each->state.previous, 0, sizeof(UuidPayload));
		each->reported = 0;
		SpinLockRelease(&each->lock);
	}
	/* a reset that failed has forgotten nothing */
	if (error == NULL)
	{
		if (!recovery && !uuid9562_shared->loaded)
			uuid9562_hold_start();
		pg_write_barrier();
		uuid9562_shared->loaded = !recovery;
	}
	unlock_mark();
	report_error(error, ERROR);
}
