/*
 * reservation.c
 *		The reservations and branches of the ordered generator.
 *
 * The high-water mark on disk reserves the values with times before reserved_until, and the
 * generator returns only reserved values.  When half of the reservation has passed, a session
 * writes an extension to the mark.  Other sessions use it as soon as its WAL record is flushed.
 * After a startup, the generator skips all values that were reserved before.
 *
 * A slow disk must not stop the sessions that need a value.  So an extension allows for the time
 * that the last flush took.  If another process is flushing WAL, sessions leave the extension to it
 * or to a later flush, and look again soon.  If the reservation ends before, values continue in its
 * last quarter of a second, so their times are earlier than the clock.  All sessions wait only at
 * the first use after startup or a reset, or if a value would be more than MAX_LATE_SECONDS late.
 *
 * Each reset, and the first use of an ordered function after startup or promotion, begins a new
 * branch (see core/position.h).  First, the floors of older branches are lowered to the start of
 * the branch and flushed, and the generator is set to this start.  Then the branch's name is
 * published in shared memory.  So if a session reads the name and then computes a horizon, the
 * horizon is on this branch or a later one.  The mark gets an entry for a branch before its first
 * position or replay target is returned, or at the reset that ends it.  So restarts without
 * readers add no entries.
 */
#include "ordered/shared_state.h"

#include "access/xlog.h"
#include "utils/wait_event.h"

#include "runtime/runtime.h"

/* How late a value can be.  A reservation is at most twice as long. */
#define MAX_LATE_SECONDS	30
/* After this time, a session looks again whether an extension has been flushed. */
#define LOOK_TICKS			(TICKS_PER_SECOND / 100)
/* The last and longest sleep of a session without a reserved value, while others flush WAL */
#define FLUSH_SLEEP_MS		16
/* How often a session that waits for mark_lock tries again, if nobody wakes it */
#define RETRY_MS			1000

/*
 * Attach to shared memory, and acquire mark_lock.  Another session can hold it during a flush, so
 * wait for the condition variable, because a query cannot be canceled in LWLockAcquire().
 *
 * The caller releases the lock in PG_FINALLY(), since PostgreSQL itself releases locks only after
 * it has sent the error to the client.  Otherwise all other sessions would wait until a slow client
 * has read the error.
 */
static void
lock_mark(void)
{
	LWLock	   *lock;

	uuid9562_attach_shared();
	lock = &uuid9562_shared->mark_lock;
	while (!LWLockConditionalAcquire(lock, LW_EXCLUSIVE))
		ConditionVariableTimedSleep(&uuid9562_shared->mark_released, RETRY_MS,
									PG_WAIT_LWLOCK | lock->tranche);
	ConditionVariableCancelSleep();
}

/* Release mark_lock, and wake the sessions that wait for it. */
static void
unlock_mark(void)
{
	/* an error sets this count to 0, but LWLockRelease() decrements it */
	if (InterruptHoldoffCount == 0)
		HOLD_INTERRUPTS();
	LWLockRelease(&uuid9562_shared->mark_lock);
	ConditionVariableBroadcast(&uuid9562_shared->mark_released);
}

/* Run a block of code with mark_lock, and release it even after an error. */
#define BEGIN_CHANGE_OF_MARK() \
	lock_mark(); \
	PG_TRY()
#define END_CHANGE_OF_MARK() \
	PG_FINALLY(); \
	{ \
		unlock_mark(); \
	} \
	PG_END_TRY()

/* Make the generator continue after a payload, unless its previous value is greater. */
static void
raise_previous(UuidPayload payload)
{
	OrderedGenerator *generator = ordered_generator();

	SpinLockAcquire(&generator->lock);
	uuid_payload_advance(&generator->state.previous, payload);
	SpinLockRelease(&generator->lock);
}

/*
 * Let sessions generate values with times before reserved_until.  From extend_at on, they also
 * extend the reservation.  Until the clock reaches late_until, values can be late.
 */
static void
set_reserved(uint64 reserved_until, uint64 extend_at, uint64 late_until)
{
	OrderedGenerator *generator = ordered_generator();

	/* what the callers have read before does not change meanwhile */
	Assert(LWLockHeldByMeInMode(&uuid9562_shared->mark_lock, LW_EXCLUSIVE));
	SpinLockAcquire(&generator->lock);
	generator->state.reserved_until = reserved_until;
	generator->state.extend_at = extend_at;
	generator->state.late_until = late_until;
	SpinLockRelease(&generator->lock);
}

GeneratorState
uuid9562_generator_state(void)
{
	OrderedGenerator *generator = ordered_generator();
	GeneratorState state;

	SpinLockAcquire(&generator->lock);
	state = generator->state;
	SpinLockRelease(&generator->lock);
	return state;
}

/* Return a random name for a branch, which is not 0. */
static uint64
new_branch_name(void)
{
	return random_bits() | 1;
}

/* Publish the name of a new branch.  The generator is already at the start of the branch. */
static void
publish_branch(uint64 name)
{
	Assert(LWLockHeldByMeInMode(&uuid9562_shared->mark_lock, LW_EXCLUSIVE));
	Assert(name != 0);
	/* a reset keeps it, since the slots have all values since the first use */
	if (!uuid9562_shared->loaded)
		uuid9562_shared->first_known_xid = uuid9562_find_first_known_xid();
	/* after the generator's state; pairs with uuid9562_snapshot_state() */
	pg_write_barrier();
	pg_atomic_write_u64(&uuid9562_shared->branch, name);
	/* before "loaded"; pairs with uuid9562_ensure_branch() */
	pg_write_barrier();
	uuid9562_shared->loaded = true;
}

/*
 * Read the mark, and make the generator continue at the end of the mark, unless the generator's
 * reservation or extension reaches this end.  They do not reach it at the first use after startup,
 * or after a reset that failed.  At the first use, a branch begins at the end of the mark, so lower
 * the floors of the older branches in *mark.  Return true if a floor has changed.
 */
static bool
load_mark(HighWaterMark *mark)
{
	const uint64 covered = Max(uuid9562_generator_state().reserved_until,
							   uuid9562_shared->extension.reserved_until);

	Assert(LWLockHeldByMeInMode(&uuid9562_shared->mark_lock, LW_EXCLUSIVE));
	uuid9562_read_mark(mark, false);
	if (mark->reserved_until > covered)
		raise_previous(uuid_payload_before(mark->reserved_until));
	return !uuid9562_shared->loaded &&
		uuid_branches_lower(&mark->branches, mark->reserved_until);
}

/* Measure how long the extension has been waiting for its flush, and return the clock's time. */
static uint64
measure_flush(void)
{
	Extension  *extension = &uuid9562_shared->extension;
	const uint64 now = clock_ticks(UUID_V7);

	extension->flush_ticks = now > extension->written_at ? now - extension->written_at : 0;
	return now;
}

/*
 * Write an extension to the mark and to WAL.  The extension begins at the generator's previous
 * value or the given time, whichever is later.  Each half of it takes one second and the whole
 * seconds of the last flush, but at most MAX_LATE_SECONDS, so that the next extension can be
 * flushed in the second half.  With "allow_late", values can be late until this one is flushed.
 *
 * The caller has mark_lock.  At the first use after startup, also begin a branch, as
 * uuid9562_ensure_branch() does.
 */
static void
write_extension(uint64 time, bool allow_late)
{
	Extension  *extension = &uuid9562_shared->extension;
	const uint64 flush_seconds = extension->flush_ticks / TICKS_PER_SECOND;
	const uint32 half_seconds = Min(1 + flush_seconds, MAX_LATE_SECONDS);
	GeneratorState state;
	HighWaterMark mark;
	XLogRecPtr	lsn;

	extension->written_at = clock_ticks(UUID_V7);
	(void) load_mark(&mark);
	/* after load_mark(), which can have raised the previous value */
	state = uuid9562_generator_state();
	time = Max(time, state.previous.time);
	/* never lower the mark, since other sessions can be using the range */
	mark.reserved_until = Max(mark.reserved_until, uuid_clock_v7_later(time, 2 * half_seconds));
	lsn = uuid9562_write_mark(&mark);
	pg_atomic_fetch_add_u64(&uuid9562_shared->mark_writes, 1);
	extension->flush_ticks = 0;
	if (!uuid9562_shared->loaded)
	{
		XLogFlush(lsn);			/* the floors, before the branch is published */
		measure_flush();
		publish_branch(new_branch_name());
	}
	extension->lsn = lsn;
	extension->reserved_until = mark.reserved_until;
	extension->extend_at = uuid_clock_v7_later(time, half_seconds);
	/* let the next session that generates a value call use_extension() */
	set_reserved(state.reserved_until, extension->written_at,
				 allow_late ? uuid_clock_v7_later(state.reserved_until, MAX_LATE_SECONDS) :
				 state.late_until);
}

/* Check whether another process is flushing WAL. */
static bool
wal_is_being_flushed(void)
{
	if (!LWLockConditionalAcquire(WALWriteLock, LW_SHARED))
		return true;
	LWLockRelease(WALWriteLock);
	return false;
}

/*
 * Without mark_lock, wait a little for another process to flush WAL up to a position.  The
 * condition variable only makes the sleep cancelable: no process wakes others after a flush.
 */
static void
wait_for_flush(XLogRecPtr lsn)
{
	for (long ms = 1; ms <= FLUSH_SLEEP_MS && GetFlushRecPtr(NULL) < lsn; ms *= 4)
		ConditionVariableTimedSleep(&uuid9562_shared->mark_released, ms, WAIT_EVENT_WAL_SYNC);
	ConditionVariableCancelSleep();
}

/*
 * Flush the extension if necessary, and use it.  But if another process is flushing WAL, leave the
 * extension to that process or to a later call, and let values be late meanwhile.
 */
static void
use_extension(void)
{
	Extension  *extension = &uuid9562_shared->extension;
	const GeneratorState state = uuid9562_generator_state();
	uint64		now = clock_ticks(UUID_V7);

	Assert(LWLockHeldByMeInMode(&uuid9562_shared->mark_lock, LW_EXCLUSIVE));
	if (GetFlushRecPtr(NULL) < extension->lsn)
	{
		if (wal_is_being_flushed())
		{
			/* look again soon, and at each late value */
			set_reserved(state.reserved_until, Min(now + LOOK_TICKS, late_from(&state)),
						 uuid_clock_v7_later(state.reserved_until, MAX_LATE_SECONDS));
			/* let the WAL writer flush the extension if nobody else does */
			XLogSetAsyncXactLSN(extension->lsn);
			measure_flush();
			return;
		}
		XLogFlush(extension->lsn);
		now = measure_flush();
	}
	extension->lsn = InvalidXLogRecPtr;
	set_reserved(extension->reserved_until, extension->extend_at, 0);
	/* if the flush was slow, the new reservation can already be nearly over */
	if (now >= extension->extend_at)
		write_extension(now, true);
}

/*
 * Check whether the generator can return a late value while the clock has the given time.  A late
 * value is at most one tick after the previous one, and the reservation must contain this tick.
 */
static bool
can_be_late(uint64 time)
{
	GeneratorState state = uuid9562_generator_state();

	return time < state.late_until && state.previous.time + 1 < state.reserved_until;
}

/*
 * Return the mark's entry for a branch.  If the current branch never had an entry, add one.
 *
 * Raise an error if the branch had an entry that is now missing.  The entry of an older branch is
 * removed after too many resets.  If the entry of the current branch is missing, the mark is
 * corrupted.  A new entry would number the replay targets from 1 again, so that a standby could
 * mistake a new target for an earlier target that it has replayed.
 */
static UuidBranch *
find_or_add_entry(HighWaterMark *mark, uint64 name)
{
	UuidBranch *entry = uuid_branches_find(&mark->branches, name);

	if (entry != NULL)
		return entry;
	if (name != pg_atomic_read_u64(&uuid9562_shared->branch))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the generator has been reset too often since the snapshot was taken"),
				 errhint("Retry in a new transaction.")));
	if (name == pg_atomic_read_u64(&uuid9562_shared->recorded_branch))
		uuid9562_report_corruption();
	return uuid_branches_add(&mark->branches, name);
}

/* --- for the other files --------------------------------------------------------- */

/*
 * Attach to shared memory, and make sure that there is a branch: begin one at the first use after
 * startup.  Readers call this; for a session that generates values, write_extension() does it.
 */
void
uuid9562_ensure_branch(void)
{
	HighWaterMark mark;

	uuid9562_attach_shared();
	if (uuid9562_shared->loaded)
	{
		/* pairs with publish_branch()'s second barrier */
		pg_read_barrier();
		return;
	}
	BEGIN_CHANGE_OF_MARK();
	{
		if (load_mark(&mark))
			XLogFlush(uuid9562_write_mark(&mark));
		if (!uuid9562_shared->loaded)
			publish_branch(new_branch_name());
	}
	END_CHANGE_OF_MARK();
}

/*
 * Write an extension if the previous value or the given time has reached extend_at, and use it.  If
 * a value is needed for the given time, and another process is flushing WAL, return the position
 * up to which WAL must be flushed instead, so that the caller can wait without mark_lock.
 */
static XLogRecPtr
try_to_extend(uint64 time, bool needed, bool wait)
{
	/* another session may have extended the reservation */
	const Extension *extension = &uuid9562_shared->extension;
	const GeneratorState state = uuid9562_generator_state();
	const bool	still_needed = needed && !can_be_late(time) &&
		Max(time, state.previous.time + 1) >= state.reserved_until;

	if (extension->lsn == InvalidXLogRecPtr && Max(time, state.previous.time) >= state.extend_at)
		write_extension(time, !still_needed);
	if (extension->lsn == InvalidXLogRecPtr)
		return InvalidXLogRecPtr;
	if (wait && still_needed && GetFlushRecPtr(NULL) < extension->lsn && wal_is_being_flushed())
		return extension->lsn;
	use_extension();
	return InvalidXLogRecPtr;
}

/* Do so with mark_lock.  Return at once if another session has it, unless a value is needed. */
static XLogRecPtr
lock_and_extend(uint64 time, bool needed, bool wait)
{
	volatile XLogRecPtr lsn = InvalidXLogRecPtr;

	if (!LWLockConditionalAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE))
	{
		if (!needed || can_be_late(time))
			return InvalidXLogRecPtr;
		lock_mark();
	}
	PG_TRY();
	{
		lsn = try_to_extend(time, needed, wait);
	}
	END_CHANGE_OF_MARK();
	return lsn;
}

/*
 * Extend the reservation if the previous value or the given time has reached extend_at.  With
 * "needed", no value is reserved for the given time, so wait if another session is changing the
 * mark, and once if another process is flushing WAL.  The caller then tries again to generate a
 * value.
 */
void
uuid9562_extend_reservation(uint64 time, bool needed)
{
	const XLogRecPtr lsn = lock_and_extend(time, needed, true);

	if (lsn == InvalidXLogRecPtr)
		return;
	wait_for_flush(lsn);
	(void) lock_and_extend(time, needed, false);
}

/* Make the generator continue after a payload, even if the server crashes. */
void
uuid9562_advance_generator(UuidPayload payload)
{
	BEGIN_CHANGE_OF_MARK();
	{
		/*
		 * Write the mark first.  Once the generator has advanced, a horizon
		 * can be as late as the payload, and after a crash the generator must
		 * not return values below that horizon.
		 */
		write_extension(payload.time, false);
		XLogFlush(uuid9562_shared->extension.lsn);
		use_extension();
		raise_previous(payload);
	}
	END_CHANGE_OF_MARK();
}

/*
 * Restart the generator at the current time, on a new branch.  New values can be less than earlier
 * ones.
 */
void
uuid9562_reset_generator(void)
{
	HighWaterMark mark;

	BEGIN_CHANGE_OF_MARK();
	{
		OrderedGenerator *generator = ordered_generator();
		const uint64 name = new_branch_name();	/* can fail: do it first */
		const uint64 old = pg_atomic_read_u64(&uuid9562_shared->branch);

		uuid9562_read_mark(&mark, true);
		/* keep 0, with which uuidv7_horizon() reports that there is no value */
		if (mark.reserved_until != 0)
			mark.reserved_until = clock_ticks(UUID_V7);

		/* keep the old branch: a snapshot may have captured it */
		if (old != pg_atomic_read_u64(&uuid9562_shared->recorded_branch))
			(void) find_or_add_entry(&mark, old);
		/* the older branches end where the new one begins */
		uuid_branches_lower(&mark.branches, mark.reserved_until);

		/* stop using the old range before the mark no longer covers it */
		memset(&uuid9562_shared->extension, 0, sizeof(Extension));
		set_reserved(0, 0, 0);
		XLogFlush(uuid9562_write_mark(&mark));

		/* after a successful write, forget the previous value */
		SpinLockAcquire(&generator->lock);
		generator->state.previous = uuid_payload_before(mark.reserved_until);
		generator->state.reported = 0;
		SpinLockRelease(&generator->lock);
		publish_branch(name);
	}
	END_CHANGE_OF_MARK();
}

/*
 * Make sure that the mark on disk has an entry for a branch, before a position on it is returned.
 * If target is not NULL, also create a replay target on the branch: set *target to its number, and
 * return the end of its WAL record.
 */
XLogRecPtr
uuid9562_record_branch(uint64 name, uint64_t *target)
{
	HighWaterMark mark;
	UuidBranch *entry;
	volatile XLogRecPtr lsn = InvalidXLogRecPtr;

	/* usually the mark on disk has the entry, so that no lock is necessary */
	uuid9562_read_mark(&mark, false);
	if (target == NULL && pg_atomic_read_u64(&uuid9562_shared->recorded_branch) == name &&
		uuid_branches_find(&mark.branches, name) != NULL)
		return InvalidXLogRecPtr;
	BEGIN_CHANGE_OF_MARK();
	{
		uuid9562_read_mark(&mark, false);
		entry = find_or_add_entry(&mark, name);
		if (target != NULL)
			*target = ++entry->targets;
		lsn = uuid9562_write_mark(&mark);
	}
	END_CHANGE_OF_MARK();
	/* flush without the lock, so that the generator does not wait */
	XLogFlush(lsn);
	pg_atomic_write_u64(&uuid9562_shared->recorded_branch, name);
	return lsn;
}
