/*
 * reservation.c
 *		The reservations and branches of the ordered generator.
 *
 * The high-water mark on disk reserves the values with times before reserved_until, and the
 * generator returns only reserved values.  A reservation covers two seconds.  A session that
 * generates a value after the first second extends the reservation.  Meanwhile, other sessions use
 * the remaining values, or wait if there are none.  After every startup, the generator returns only
 * values after the reservation.
 *
 * The first use of an ordered function after startup or promotion, and each reset, begins a new
 * branch (see core/position.h).  The name of the branch is published in shared memory last, when
 * the lowered floors of older branches have been flushed and the generator continues at the start
 * of the branch.  So if a session has read the name, the horizons that it then computes are on this
 * branch or a later one.  The mark gets an entry for a branch when the branch's first position or
 * replay target is returned, so that restarts of a server without readers add no entries.
 */
#include "ordered/shared_state.h"

#include "runtime/runtime.h"

/*
 * The length of a reservation, and the time after which a session extends it.  Both are counted
 * from the generator's previous value or the time that the session needs, whichever is later.
 */
#define RESERVED_SECONDS		2
#define EXTEND_AFTER_SECONDS	1

/*
 * Attach to shared memory, and acquire mark_lock.  The caller releases it in PG_FINALLY(), since
 * PostgreSQL itself releases locks only after it has sent the error to the client.  Until a slow
 * client has read the error, all other sessions would wait for the lock.
 */
static void
lock_mark(void)
{
	uuid9562_attach_shared();
	LWLockAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE);
}

/* Release mark_lock.  An error has let interrupts resume, which releasing a lock does too. */
static void
unlock_mark(void)
{
	if (InterruptHoldoffCount == 0)
		HOLD_INTERRUPTS();
	LWLockRelease(&uuid9562_shared->mark_lock);
}

/* Make the generator continue after a payload, unless its previous value is greater. */
static void
advance_generator(UuidPayload payload)
{
	OrderedGenerator *generator = ordered_generator();

	SpinLockAcquire(&generator->lock);
	uuid_payload_advance(&generator->state.previous, payload);
	SpinLockRelease(&generator->lock);
}

/*
 * Let sessions generate values with times before reserved_until.  A session that generates a value
 * whose time is extend_at or later extends the reservation.
 */
static void
set_reserved(uint64 reserved_until, uint64 extend_at)
{
	OrderedGenerator *generator = ordered_generator();

	SpinLockAcquire(&generator->lock);
	generator->state.reserved_until = reserved_until;
	generator->state.extend_at = extend_at;
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

/* Return a random name for a new branch.  It is not 0. */
static uint64
new_name(void)
{
	return random_bits() | 1;
}

/*
 * Publish the name of a new branch to uuid9562_snapshot_state().  For the first branch after
 * startup, also set first_known_xid and loaded.  Once loaded is true,
 * uuid9562_prepare_generator() does not read the mark.
 */
static void
publish_branch(uint64 name)
{
	if (!uuid9562_shared->loaded)
		uuid9562_shared->first_known_xid = uuid9562_find_first_known_xid();
	pg_write_barrier();
	pg_atomic_write_u64(&uuid9562_shared->branch, name);
	uuid9562_shared->recorded = false;
	pg_write_barrier();
	uuid9562_shared->loaded = true;
}

/*
 * Read the mark, and advance the generator to it.  At the first use after startup, begin a new
 * branch at the mark.
 */
static void
load_mark(HighWaterMark *mark)
{
	uuid9562_read_mark(mark, false);
	if (!uuid9562_shared->loaded && uuid_branches_lower(&mark->branches, mark->reserved_until))
		uuid9562_write_mark(mark);

	/* can be true after startup, a reset, or a failed write */
	if (mark->reserved_until > uuid9562_generator_state().reserved_until)
		advance_generator(uuid_generator_from(mark->reserved_until));
	if (!uuid9562_shared->loaded)
		publish_branch(new_name());
}

/*
 * Extend the reservation to two seconds after the generator's previous value or the given time,
 * whichever is later.
 */
static void
reserve_after(uint64 time)
{
	HighWaterMark mark;
	uint64		from;

	load_mark(&mark);
	from = Max(uuid9562_generator_state().previous.time, time);
	/* never lower the mark, since other sessions can be using the range */
	mark.reserved_until = Max(mark.reserved_until,
							  uuid_clock_later(UUID_CLOCK_V7, from, RESERVED_SECONDS));
	uuid9562_write_mark(&mark);
	pg_atomic_fetch_add_u64(&uuid9562_shared->mark_writes, 1);
	set_reserved(mark.reserved_until, uuid_clock_later(UUID_CLOCK_V7, from, EXTEND_AFTER_SECONDS));
}

/*
 * Return the mark's entry for a branch, and add it if the branch is current and not recorded yet.
 * If a recorded branch has no entry, report corruption: a new entry would number the replay targets
 * from 1 again, and a standby could mistake a new target for an earlier one that it has replayed.
 */
static UuidBranch *
entry_of(HighWaterMark *mark, uint64 name)
{
	UuidBranch *entry = uuid_branches_find(&mark->branches, name);

	if (entry != NULL)
		return entry;
	if (name != pg_atomic_read_u64(&uuid9562_shared->branch))
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the generator has been reset too often since the snapshot was taken"),
				 errhint("Compute the position in a new transaction.")));
	if (uuid9562_shared->recorded)
		uuid9562_report_corruption();
	return uuid_branches_add(&mark->branches, name);
}

/* Restart the generator at the current time, on a new branch. */
static void
begin_at_clock(void)
{
	OrderedGenerator *generator = ordered_generator();
	uint64		name = new_name();
	HighWaterMark mark;

	uuid9562_read_mark(&mark, true);
	if (mark.reserved_until != 0)
		mark.reserved_until = clock_ticks(UUID_V7);

	/* a snapshot may have captured the old branch for a later position */
	if (uuid9562_shared->loaded && !uuid9562_shared->recorded)
		entry_of(&mark, pg_atomic_read_u64(&uuid9562_shared->branch));
	uuid_branches_lower(&mark.branches, mark.reserved_until);

	/* no session can generate a value until the reservation is extended again */
	set_reserved(0, 0);
	uuid9562_write_mark(&mark);

	/* after a successful write, forget the previous value */
	SpinLockAcquire(&generator->lock);
	generator->state.previous = uuid_generator_from(mark.reserved_until);
	generator->state.reported = 0;
	SpinLockRelease(&generator->lock);
	publish_branch(name);
}

/* --- for the other files --------------------------------------------------------- */

/* Attach to shared memory.  At the first use after startup, read the mark. */
void
uuid9562_prepare_generator(void)
{
	HighWaterMark mark;

	uuid9562_attach_shared();
	if (uuid9562_shared->loaded)
	{
		pg_read_barrier();
		return;
	}
	lock_mark();
	PG_TRY();
	{
		load_mark(&mark);
	}
	PG_FINALLY();
	{
		unlock_mark();
	}
	PG_END_TRY();
}

/*
 * Extend the reservation if the previous value or the given time has reached extend_at.  With
 * nowait, do nothing if another session is changing the mark.
 */
void
uuid9562_extend_reservation(uint64 time, bool nowait)
{
	GeneratorState state;

	if (!nowait)
		lock_mark();
	else if (!LWLockConditionalAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE))
		return;
	PG_TRY();
	{
		/* another session may have extended the reservation */
		state = uuid9562_generator_state();
		if (Max(state.previous.time, time) >= state.extend_at)
			reserve_after(time);
	}
	PG_FINALLY();
	{
		unlock_mark();
	}
	PG_END_TRY();
}

/* Make the generator continue after a payload, even if the server crashes. */
void
uuid9562_advance_generator(UuidPayload payload)
{
	lock_mark();
	PG_TRY();
	{
		/*
		 * Write the mark first.  Once the generator has advanced, a horizon
		 * can be as late as the payload, and after a crash the generator must
		 * not return values below that horizon.
		 */
		reserve_after(payload.time);
		advance_generator(payload);
	}
	PG_FINALLY();
	{
		unlock_mark();
	}
	PG_END_TRY();
}

/* Restart the generator at the current time.  New values can be less than earlier ones. */
void
uuid9562_reset_generator(void)
{
	lock_mark();
	PG_TRY();
	{
		begin_at_clock();
	}
	PG_FINALLY();
	{
		unlock_mark();
	}
	PG_END_TRY();
}

/*
 * Make sure that the mark has an entry for a branch, before a position on it is returned.  If
 * target is not NULL, also create a replay target on the branch: set *target to its number, and
 * return the end of its WAL record.
 */
XLogRecPtr
uuid9562_record_branch(uint64 name, uint64 *target)
{
	HighWaterMark mark;
	UuidBranch *entry;
	volatile XLogRecPtr lsn = InvalidXLogRecPtr;

	lock_mark();
	PG_TRY();
	{
		uuid9562_read_mark(&mark, false);
		if (target != NULL || uuid_branches_find(&mark.branches, name) == NULL)
		{
			entry = entry_of(&mark, name);
			if (target != NULL)
				*target = ++entry->targets;
			lsn = uuid9562_write_mark(&mark);
			uuid9562_shared->recorded |= name == pg_atomic_read_u64(&uuid9562_shared->branch);
		}
	}
	PG_FINALLY();
	{
		unlock_mark();
	}
	PG_END_TRY();
	return lsn;
}
