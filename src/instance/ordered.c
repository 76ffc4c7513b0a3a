/*
 * ordered.c
 *		Generators whose values increase across all sessions of the server:
 *		uuidv6_ordered(), uuidv7_ordered() and uuidv8_node_ordered() (RFC 9562, 6.3).
 *
 * Each generator has a spinlock.  A session reads the clock and random bits before it
 * acquires the spinlock, and holds the spinlock for a few nanoseconds.
 *
 * The high-water mark is stored on disk.  It reserves values for each generator: those
 * with times before reserved_until.  A generator returns only reserved values.  When less
 * than one second of a reservation is left, a session extends the reservation to two
 * seconds.  Meanwhile, other sessions use the remaining reserved values, or wait if there
 * are none.  After every startup, a generator returns only values after the reservation.
 *
 * If an error is raised under mark_lock, the lock is released before the error is
 * reported, since sending the report can wait for the client.
 */
#include "instance/instance.h"

#include "access/parallel.h"
#include "access/xact.h"

#include "runtime/runtime.h"
#include "settings.h"
#include "value/value.h"

/* Reserve two seconds, and extend the reservation when one second of it is left. */
#define RESERVED_SECONDS	2
#define EXTEND_SECONDS		1

const UuidKind *const uuid9562_ordered_kinds[UUID_ORDERED_COUNT] = {UUID_V6, UUID_V7, UUID_V8_NODE};

/* --- the high-water mark ------------------------------------------------------- */

typedef void (*MarkAction) (const UuidKind *kind, UuidPayload payload);

/*
 * Attach to shared memory, run an action under mark_lock, and release the lock even if
 * the action raises an error.  With nowait, do nothing if the lock is not free.
 */
static void
with_mark_lock(MarkAction action, const UuidKind *kind, UuidPayload payload, bool nowait)
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
		action(kind, payload);
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
	uuid_generator_advance(&generator->previous, payload);
	SpinLockRelease(&generator->lock);
}

/*
 * Reserve the values with times before reserved_until.  A session that generates a value
 * whose time is extend_at or later extends the reservation.
 */
static void
set_reserved(int number, uint64 reserved_until, uint64 extend_at)
{
	OrderedGenerator *generator = &uuid9562_shared->generators[number].generator;

	SpinLockAcquire(&generator->lock);
	generator->reserved_until = reserved_until;
	generator->extend_at = extend_at;
	SpinLockRelease(&generator->lock);
}

/* Return a copy of the state of a generator. */
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

/* Record that the mark has been read or reset.  The first call sets first_known_xid. */
static void
set_loaded(void)
{
	if (uuid9562_shared->loaded)
		return;
	uuid9562_shared->first_known_xid = uuid9562_find_first_known_xid();
	pg_write_barrier();
	uuid9562_shared->loaded = true;
}

/* Read the mark, and advance the generators to it. */
static HighWaterMark
load_mark(void)
{
	HighWaterMark mark = uuid9562_read_mark();

	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		const UuidKind *kind = uuid9562_ordered_kinds[i];

		/* this can be so after startup, or after a failed write or reset */
		if (mark.reserved_until[i] > uuid9562_generator_state(kind).reserved_until)
			advance(kind, uuid_generator_from(mark.reserved_until[i]));
	}
	set_loaded();
	return mark;
}

static void
load(const UuidKind *kind, UuidPayload payload)
{
	(void) load_mark();
}

/*
 * Reserve values until two seconds after a generator's previous value or the payload,
 * whichever is later.  One write of the mark serves all generators.  So also reserve
 * values of the other generators in use, until two seconds after their previous values.
 */
static void
extend(const UuidKind *kind, UuidPayload payload)
{
	HighWaterMark mark = load_mark();
	uint64		extend_at[UUID_ORDERED_COUNT] = {0};

	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		const UuidClock clock = uuid9562_ordered_kinds[i]->clock;
		OrderedGenerator state = uuid9562_generator_state(uuid9562_ordered_kinds[i]);
		uint64		from = state.previous.time;

		if (i == kind->ordered)
			from = Max(from, payload.time);
		else if (state.reserved_until == 0)
			continue;
		extend_at[i] = uuid_clock_later(clock, from, EXTEND_SECONDS);
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
extend_if_due(const UuidKind *kind, UuidPayload now)
{
	OrderedGenerator state = uuid9562_generator_state(kind);

	if (Max(state.previous.time, now.time) >= state.extend_at)
		extend(kind, now);
}

/* Reserve values after a payload, and make a generator continue after it. */
static void
advance_and_extend(const UuidKind *kind, UuidPayload payload)
{
	/* extend first: a crash must not lower a horizon above the payload */
	extend(kind, payload);
	advance(kind, payload);
}

/* Restart all generators at the current time. */
static void
reset(const UuidKind *kind, UuidPayload payload)
{
	const HighWaterMark none = {{0}};

	/* no session can generate a value until the reservation is extended again */
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
		set_reserved(i, 0, 0);
	uuid9562_write_mark(&none);

	/* after a successful write, forget the previous values */
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		OrderedGenerator *generator = &uuid9562_shared->generators[i].generator;

		SpinLockAcquire(&generator->lock);
		memset(&generator->previous, 0, sizeof(UuidPayload));
		generator->reported = 0;
		SpinLockRelease(&generator->lock);
	}
	set_loaded();
}

/* --- for the horizon and for administration ------------------------------------ */

static const UuidPayload no_payload = {0, 0};

/* Attach to shared memory.  At the first use after startup, read the mark. */
void
uuid9562_prepare_generators(void)
{
	bool		loaded;

	uuid9562_attach_shared();
	loaded = uuid9562_shared->loaded;
	pg_read_barrier();
	if (!loaded)
		with_mark_lock(load, NULL, no_payload, false);
}

/* Make a generator continue after a payload, even if the server crashes. */
void
uuid9562_advance_generator(const UuidKind *kind, UuidPayload payload)
{
	with_mark_lock(advance_and_extend, kind, payload, false);
}

/* Restart all generators at the current time.  New values can be less than earlier ones. */
void
uuid9562_reset_generators(void)
{
	with_mark_lock(reset, NULL, no_payload, false);
}

/* Return by how many seconds a time is later than now, rounded toward zero. */
int64
uuid9562_seconds_ahead(const UuidKind *kind, uint64 time, uint64 now)
{
	return (uuid_clock_unix_micros(kind->clock, time) - uuid_clock_unix_micros(kind->clock, now)) / USECS_PER_SEC;
}

/* --- generating ---------------------------------------------------------------- */

/*
 * Count a value that is ahead of the clock.  Warn if it is more than max_ahead seconds
 * ahead.  Warn again only if a value is more than max_ahead later than the reported one.
 *
 * Read the clock again, since the caller's reading can be outdated: other sessions may
 * have generated values since then.
 */
static void
check_clock(const UuidKind *kind, uint64 time)
{
	OrderedGenerator *generator = generator_of(kind);
	uint64		now = clock_ticks(kind);
	int64		ahead = uuid9562_seconds_ahead(kind, time, now);
	bool		warn;

	if (!uuid_generator_is_behind(kind->clock, time, now))
		return;
	SpinLockAcquire(&generator->lock);
	generator->ahead_of_clock++;
	warn = ahead > uuid9562_max_ahead &&
		(generator->reported == 0 || time > uuid_clock_later(kind->clock, generator->reported, uuid9562_max_ahead));
	if (warn)
		generator->reported = time;
	SpinLockRelease(&generator->lock);
	if (warn)
		ereport(WARNING,
				(errmsg("ordered UUIDs are %lld seconds ahead of the system clock", (long long) ahead),
				 errdetail("%s_ordered() continues from the last value generated by this server until the clock catches up.",
						   kind->name),
				 errhint("Check the system clock. If it was wrong and has been corrected, a superuser can call "
						 "uuid_generator_reset() to restart the generators at the current time; "
						 "new values will then sort before existing ones.")));
}

/*
 * Generate the next value.  Return false if it is not reserved; *payload is set in
 * either case.
 */
static inline bool
step(const UuidKind *kind, uint64 now, UuidRandom random, UuidPayload *payload, uint64 *extend_at)
{
	OrderedGenerator *generator = generator_of(kind);
	UuidNext	next;
	bool		reserved;

	SpinLockAcquire(&generator->lock);
	*payload = generator->previous;
	*extend_at = generator->extend_at;
	next = uuid_generator_next(payload, now, random, UUID_METHOD_FRACTION);
	reserved = next != UUID_NEXT_EXHAUSTED && payload->time < generator->reserved_until;
	if (likely(reserved))
	{
		/* step (1) of horizon.c: record the value before the lock is released */
		record_value(kind, payload->time);
		generator->previous = *payload;
		generator->generated++;
	}
	SpinLockRelease(&generator->lock);
	if (unlikely(next == UUID_NEXT_EXHAUSTED))
		uuid9562_time_exhausted(kind, "Check the system clock of the server, then call uuid_generator_reset() as a superuser.");
	return reserved;
}

/* Report why this transaction or process cannot generate ordered values. */
pg_noreturn static pg_noinline void
refuse(const UuidKind *kind)
{
	char	   *command = psprintf("%s_ordered()", kind->name);

	PreventCommandIfReadOnly(command);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
			 errmsg("cannot execute %s in a parallel worker", command),
			 errhint("Mark functions that call it PARALLEL RESTRICTED.")));
}

/* Return the next payload of an ordered generator. */
static UuidPayload
next_ordered(const UuidKind *kind)
{
	UuidPayload now = {0, 0};
	UuidRandom	random;
	UuidPayload payload;
	uint64		extend_at;

	if (unlikely(XactReadOnly || IsParallelWorker()))
		refuse(kind);
	if (unlikely(uuid9562_own_slot == NULL))
	{
		uuid9562_attach_shared();
		uuid9562_take_slot();
	}
	now.time = clock_ticks(kind);
	random = random_for(UUID_METHOD_FRACTION);

	/* a concurrent reset can make the payload obsolete, so extend from now */
	while (unlikely(!step(kind, now.time, random, &payload, &extend_at)))
		with_mark_lock(extend_if_due, kind, now, false);
	if (unlikely(uuid_generator_is_behind(kind->clock, payload.time, now.time)))
		check_clock(kind, payload.time);
	if (unlikely(payload.time >= extend_at))
		with_mark_lock(extend_if_due, kind, now, true);
	return payload;
}

/*
 * uuidv6_ordered() returns uuid
 * uuidv7_ordered() returns uuid
 * uuidv8_node_ordered() returns uuid
 *
 * Generate a UUID as uuidv6(), uuidv7() with method fraction, or uuidv8_node() does.  It
 * is greater than all values that the same ordered function has generated on this server
 * since the last reset (RFC 9562, 6.2 and 6.3).
 */
static pg_attribute_always_inline Datum
ordered_uuid(FunctionCallInfo fcinfo, const UuidKind *kind, UuidStamp stamp)
{
	return return_uuid(kind->version, uuid_layout_stamp(next_ordered(kind), stamp));
}

SQL_FUNCTION(uuid9562_uuidv6_ordered, ordered_uuid, UUID_V6, uuid9562_node_stamp)
SQL_FUNCTION(uuid9562_uuidv7_ordered, ordered_uuid, UUID_V7, uuid_no_stamp)
SQL_FUNCTION(uuid9562_uuidv8_node_ordered, ordered_uuid, UUID_V8_NODE,
			 uuid_layout_node_id_stamp(uuid9562_own_node_id()))
