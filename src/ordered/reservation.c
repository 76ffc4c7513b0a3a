/*
 * reservation.c
 *		The reservations and branches of the ordered generator.
 *
 * The high-water mark on disk reserves the values with times before reserved_until, and the
 * generator returns only reserved values.  A reservation covers two seconds.  A session that
 * generates a value after the first second extends the reservation.  Meanwhile, other sessions use
 * the remaining values, or wait if there are none.  After a startup, the generator skips all values
 * that were reserved before.
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

#include "runtime/runtime.h"

/* Length of a reservation, and time after which a session extends it; see reserve_after() */
#define RESERVED_SECONDS		2
#define EXTEND_AFTER_SECONDS	1

/*
 * Attach to shared memory, and acquire mark_lock.  The caller releases it in PG_FINALLY(), since
 * PostgreSQL itself releases locks only after it has sent the error to the client.  Otherwise all
 * other sessions would wait until a slow client has read the error.
 */
static void
lock_mark(void)
{
	uuid9562_attach_shared();
	LWLockAcquire(&uuid9562_shared->mark_lock, LW_EXCLUSIVE);
}

/* Release mark_lock. */
static void
unlock_mark(void)
{
	/* an error sets the count to 0, but LWLockRelease() decrements it */
	if (InterruptHoldoffCount == 0)
		HOLD_INTERRUPTS();
	LWLockRelease(&uuid9562_shared->mark_lock);
}

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
 * Let sessions generate values with times before reserved_until.  From extend_at on, a session that
 * generates a value also extends the reservation.
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

/*
 * Publish the name of a new branch.  The generator is already at the start of the branch.  The
 * barriers pair with those of uuid9562_snapshot_state() and uuid9562_prepare_generator().
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

	/* the mark is ahead since startup, a reset or a failed write */
	if (mark->reserved_until > uuid9562_generator_state().reserved_until)
		raise_previous(uuid_payload_before(mark->reserved_until));
	if (!uuid9562_shared->loaded)
		publish_branch(random_bits() | 1);	/* not 0 */
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
							  uuid_clock_v7_later(from, RESERVED_SECONDS));
	uuid9562_write_mark(&mark);
	pg_atomic_fetch_add_u64(&uuid9562_shared->mark_writes, 1);
	set_reserved(mark.reserved_until, uuid_clock_v7_later(from, EXTEND_AFTER_SECONDS));
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
	if (uuid9562_shared->recorded)
		uuid9562_report_corruption();
	return uuid_branches_add(&mark->branches, name);
}

/* --- for the other files --------------------------------------------------------- */

/* Attach to shared memory.  At the first use after startup, begin a branch. */
void
uuid9562_prepare_generator(void)
{
	HighWaterMark mark;

	uuid9562_attach_shared();
	if (uuid9562_shared->loaded)
	{
		/* pairs with publish_branch() */
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
		raise_previous(payload);
	}
	PG_FINALLY();
	{
		unlock_mark();
	}
	PG_END_TRY();
}

/*
 * Restart the generator at the current time, on a new branch.  New values can be less than earlier
 * ones.
 */
void
uuid9562_reset_generator(void)
{
	OrderedGenerator *generator;
	HighWaterMark mark;
	uint64		name;

	lock_mark();
	generator = ordered_generator();
	PG_TRY();
	{
		name = random_bits() | 1;	/* not 0 */
		uuid9562_read_mark(&mark, true);
		/* keep 0, with which uuidv7_horizon() reports that there is no value */
		if (mark.reserved_until != 0)
			mark.reserved_until = clock_ticks(UUID_V7);

		/* keep the old branch: a snapshot may have captured it */
		if (uuid9562_shared->loaded && !uuid9562_shared->recorded)
			(void) find_or_add_entry(&mark, pg_atomic_read_u64(&uuid9562_shared->branch));
		/* the older branches end where the new one begins */
		uuid_branches_lower(&mark.branches, mark.reserved_until);

		/* the new mark does not cover the old range: stop using it first */
		set_reserved(0, 0);
		uuid9562_write_mark(&mark);

		/* after a successful write, forget the previous value */
		SpinLockAcquire(&generator->lock);
		generator->state.previous = uuid_payload_before(mark.reserved_until);
		generator->state.reported = 0;
		SpinLockRelease(&generator->lock);
		publish_branch(name);
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
			entry = find_or_add_entry(&mark, name);
			if (target != NULL)
				*target = ++entry->targets;
			lsn = uuid9562_write_mark(&mark);
			/* it is about the current branch, which can be another one */
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
