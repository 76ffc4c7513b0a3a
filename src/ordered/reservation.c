/*
 * reservation.c
 *		The reservations and branches of the ordered generators.
 *
 * The high-water mark on disk reserves the values with times before reserved_until, and a
 * generator returns only reserved values.  A reservation covers two seconds.  A session that
 * generates a value after the first second extends the reservation.  Meanwhile, other
 * sessions use the remaining values, or wait if there are none.  After every startup, a
 * generator returns only values after the reservation.
 *
 * The first use of an ordered function after startup or promotion, and each reset, begins a
 * new branch (see core/position.h).  Its name is published in shared memory last: after the
 * lowered floors of older branches are flushed, and after the generators continue at its start.
 * So a session that has read the name computes horizons of this branch or a later one.  The mark
 * gets an entry for a branch when the branch's first position or replay target is returned, so
 * that restarts of a server without readers add no entries.
 *
 * If an error is raised under mark_lock, the lock is released before the error is
 * reported, since sending the report can wait for the client.
 */
#include "ordered/shared_state.h"

#include "runtime/runtime.h"

/*
 * The length of a reservation, and the time after which a session extends it.  Both begin
 * at the generator's previous value or the time that the session needs, whichever is later.
 */
#define RESERVED_SECONDS		2
#define EXTEND_AFTER_SECONDS	1

/* The arguments and results of a change of the mark */
typedef struct MarkChange
{
	const UuidKind *kind;		/* reserve values of this kind */
	UuidPayload payload;		/* reserve values after this payload */
	uint64		branch;			/* add an entry for this branch */
	uint64	   *target;			/* number of its new replay target, or NULL */
	XLogRecPtr	lsn;			/* end of the WAL record of the change */
} MarkChange;

/*
 * Attach to shared memory, run an action under mark_lock, and release the lock even if
 * the action raises an error.  With nowait, do nothing if the lock is not free.
 */
static void
with_mark_lock(void (*action) (MarkChange *change), MarkChange *change, bool nowait)
{
	LWLock	   *lock;

	uuid9562_attach_shared();
	lock = &uuid9562_shared->mark_lock;
	if (!nowait)
		LWLockAcquire(lock, LW_EXCLUSIVE);
	else if (!LWLockConditionalAcquire(lock, LW_EXCLUSIVE))
		return;
	PG_TRY();
	{
		action(change);
	}
	PG_CATCH();
	{
		HOLD_INTERRUPTS();		/* match the upcoming RESUME_INTERRUPTS */
		LWLockRelease(lock);
		PG_RE_THROW();
	}
	PG_END_TRY();
	LWLockRelease(lock);
}

/* Make a generator continue after a payload, unless its previous value is greater. */
static void
advance(const UuidKind *kind, UuidPayload payload)
{
	OrderedGenerator *generator = generator_of(kind);

	SpinLockAcquire(&generator->lock);
	uuid_payload_advance(&generator->previous, payload);
	SpinLockRelease(&generator->lock);
}

/*
 * Reserve the values with times before reserved_until.  A session that generates a value
 * whose time is extend_at or later extends the reservation.
 */
static void
set_reserved(int number, uint64 reserved_until, uint64 extend_at)
{
	OrderedGenerator *generator = generator_of(&uuid_kinds[number]);

	SpinLockAcquire(&generator->lock);
	generator->reserved_until = reserved_until;
	generator->extend_at = extend_at;
	SpinLockRelease(&generator->lock);
}

OrderedGenerator
uuid9562_generator_state(const UuidKind *kind)
{
	OrderedGenerator *generator = generator_of(kind);
	OrderedGenerator state;

	SpinLockAcquire(&generator->lock);
	state = *generator;
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
 * uuid9562_prepare_generators() does not read the mark.
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
 * Read the mark, and advance the generators to it.  At the first use after startup, begin a new
 * branch at the mark.
 */
static void
load_mark(HighWaterMark *mark)
{
	uuid9562_read_mark(mark, false);
	if (!uuid9562_shared->loaded && uuid_branches_lower(&mark->branches, mark->reserved_until))
		uuid9562_write_mark(mark);
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		const UuidKind *kind = &uuid_kinds[i];

		/* can be true after startup, a reset, or a failed write */
		if (mark->reserved_until[i] > uuid9562_generator_state(kind).reserved_until)
			advance(kind, uuid_generator_from(mark->reserved_until[i]));
	}
	if (!uuid9562_shared->loaded)
		publish_branch(new_name());
}

static void
load(MarkChange *unused)
{
	HighWaterMark mark;

	load_mark(&mark);
}

/*
 * Reserve values until two seconds after a generator's previous value or the payload,
 * whichever is later.  Since one write of the mark serves all generators, also reserve
 * values of the other generators in use, until two seconds after their previous values.
 */
static void
extend(const UuidKind *kind, UuidPayload payload)
{
	HighWaterMark mark;
	uint64		extend_at[UUID_ORDERED_COUNT] = {0};

	load_mark(&mark);
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		const UuidClock clock = uuid_kinds[i].clock;
		OrderedGenerator state = uuid9562_generator_state(&uuid_kinds[i]);
		uint64		from = state.previous.time;

		if (i == kind->number)
			from = Max(from, payload.time);
		else if (state.reserved_until == 0)
			continue;
		extend_at[i] = uuid_clock_later(clock, from, EXTEND_AFTER_SECONDS);
		/* never lower the mark, since other sessions can be using the range */
		mark.reserved_until[i] = Max(mark.reserved_until[i], uuid_clock_later(clock, from, RESERVED_SECONDS));
	}
	uuid9562_write_mark(&mark);
	pg_atomic_fetch_add_u64(&uuid9562_shared->mark_writes, 1);

	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		if (extend_at[i] != 0)
			set_reserved(i, mark.reserved_until[i], extend_at[i]);
	}
}

/* Extend a generator's reservation, unless another session has already done so. */
static void
extend_if_due(MarkChange *wanted)
{
	OrderedGenerator state = uuid9562_generator_state(wanted->kind);

	if (Max(state.previous.time, wanted->payload.time) >= state.extend_at)
		extend(wanted->kind, wanted->payload);
}

/* Reserve values after a payload, and make a generator continue after it. */
static void
advance_and_extend(MarkChange *wanted)
{
	/*
	 * Write the mark first.  Once the generator has advanced, a horizon can
	 * be as late as the payload, and after a crash the generator must not
	 * return values below that horizon.
	 */
	extend(wanted->kind, wanted->payload);
	advance(wanted->kind, wanted->payload);
}

/*
 * Return the mark's entry for a branch, and add it if the branch is current and not recorded yet.
 * Report corruption if a recorded entry is missing: a second one would count replay targets from
 * the beginning, and a standby could take a new target for an earlier one.
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
				 errmsg("the generators have been reset too often since the snapshot was taken"),
				 errhint("Compute the position in a new transaction.")));
	if (uuid9562_shared->recorded)
		uuid9562_report_corruption();
	return uuid_branches_add(&mark->branches, name);
}

/* Restart all generators at the current time, on a new branch. */
static void
reset(MarkChange *unused)
{
	uint64		name = new_name();
	HighWaterMark mark;

	uuid9562_read_mark(&mark, true);
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		if (mark.reserved_until[i] != 0)
			mark.reserved_until[i] = clock_ticks(&uuid_kinds[i]);
	}

	/* a snapshot may have captured the old branch for a later position */
	if (uuid9562_shared->loaded && !uuid9562_shared->recorded)
		entry_of(&mark, pg_atomic_read_u64(&uuid9562_shared->branch));
	uuid_branches_lower(&mark.branches, mark.reserved_until);

	/* no session can generate a value until the reservation is extended again */
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
		set_reserved(i, 0, 0);
	uuid9562_write_mark(&mark);

	/* after a successful write, forget the previous values */
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		OrderedGenerator *generator = generator_of(&uuid_kinds[i]);

		SpinLockAcquire(&generator->lock);
		generator->previous = uuid_generator_from(mark.reserved_until[i]);
		generator->reported = 0;
		SpinLockRelease(&generator->lock);
	}
	publish_branch(name);
}

/*
 * Add an entry for a branch to the mark, unless the branch has one.  If a replay target is
 * wanted, increment the number of targets.
 */
static void
record_branch(MarkChange *wanted)
{
	HighWaterMark mark;
	UuidBranch *entry;

	uuid9562_read_mark(&mark, false);
	if (wanted->target == NULL && uuid_branches_find(&mark.branches, wanted->branch) != NULL)
		return;
	entry = entry_of(&mark, wanted->branch);
	if (wanted->target != NULL)
		*wanted->target = ++entry->targets;
	wanted->lsn = uuid9562_write_mark(&mark);
	uuid9562_shared->recorded |= wanted->branch == pg_atomic_read_u64(&uuid9562_shared->branch);
}

/* --- for the other files --------------------------------------------------------- */

/* Attach to shared memory.  At the first use after startup, read the mark. */
void
uuid9562_prepare_generators(void)
{
	bool		loaded;

	uuid9562_attach_shared();
	loaded = uuid9562_shared->loaded;
	pg_read_barrier();
	if (!loaded)
		with_mark_lock(load, NULL, false);
}

/* Make a generator continue after a payload, even if the server crashes. */
void
uuid9562_advance_generator(const UuidKind *kind, UuidPayload payload)
{
	MarkChange	wanted = {.kind = kind,.payload = payload};

	with_mark_lock(advance_and_extend, &wanted, false);
}

/* Restart all generators at the current time.  New values can be less than earlier ones. */
void
uuid9562_reset_generators(void)
{
	with_mark_lock(reset, NULL, false);
}

/*
 * Make sure that the mark has an entry for a branch, before a position on it is returned.
 * Unless target is NULL, set *target to the number of a new replay target on the branch, and
 * return the end of the target's WAL record.
 */
XLogRecPtr
uuid9562_record_branch(uint64 name, uint64 *target)
{
	MarkChange	wanted = {.branch = name,.target = target};

	with_mark_lock(record_branch, &wanted, false);
	return wanted.lsn;
}

/*
 * Extend a generator's reservation if the previous value or the payload has reached
 * extend_at.  With nowait, do nothing if another session is changing the mark.
 */
void
uuid9562_extend(const UuidKind *kind, UuidPayload payload, bool nowait)
{
	MarkChange	wanted = {.kind = kind,.payload = payload};

	with_mark_lock(extend_if_due, &wanted, nowait);
}
