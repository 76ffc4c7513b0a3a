/*
 * next_value.c
 *		uuidv7_ordered(), whose values increase across all sessions of the server (RFC 9562,
 *		6.3).
 *
 * A spinlock protects the generator.  A session reads the clock and random bits before it
 * acquires the spinlock, and holds the spinlock for a few nanoseconds.  The generator returns
 * only values that reservation.c has reserved.
 */
#include "ordered/shared_state.h"

#include "access/parallel.h"
#include "access/xact.h"

#include "runtime/runtime.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_ordered);

/*
 * Record the time of a new value in the slot of this process, if it is the smallest value
 * of the transaction.  Later values are smaller than the first one only if the generator
 * was reset during the transaction.  The caller holds the generator's lock.
 */
static inline void
record_value(uint64 time)
{
	pg_atomic_uint64 *first = &uuid9562_own_slot->first;

	if (time < pg_atomic_read_u64(first))
		pg_atomic_write_u64(first, time);
}

/*
 * Generate the next value.  Return false if the caller must first call
 * uuid9562_extend_reservation(): if no value is reserved or, without allow_late, if the value would
 * be late (see LATE_TICKS).  In any case, set *extend_at to the extend_at of the generator.
 */
static inline bool
generate_reserved(uint64 now, bool allow_late, UuidRandom random, UuidPayload *payload,
				  uint64 *extend_at)
{
	OrderedGenerator *generator = ordered_generator();
	GeneratorState *state = &generator->state;
	UuidNext	next;
	bool		usable = true;

	SpinLockAcquire(&generator->lock);
	*payload = state->previous;
	*extend_at = state->extend_at;
	if (unlikely(now < state->late_until && now >= late_from(state)))
	{
		/*
		 * before the first late value, the caller tries to flush; late values
		 * stay behind the clock
		 */
		usable = allow_late;
		now = late_from(state);
	}
	next = uuid_generator_next(payload, now, random, UUID_METHOD_FRACTION);
	usable = usable && next != UUID_NEXT_EXHAUSTED && payload->time < state->reserved_until;
	if (likely(usable))
	{
		/* step (1) of horizon.c: record the value before the lock is released */
		record_value(payload->time);
		state->previous = *payload;
		state->generated++;
	}
	SpinLockRelease(&generator->lock);
	if (unlikely(next == UUID_NEXT_EXHAUSTED))
		uuid9562_time_exhausted(UUID_V7,
								"Check the system clock of the server, then call uuid_generator_reset() as a superuser.");
	return usable;
}

/* Raise the error of a read-only transaction or a parallel worker. */
pg_noreturn static pg_noinline void
refuse_transaction(void)
{
	PreventCommandIfReadOnly("uuidv7_ordered()");
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
			 errmsg("cannot execute %s() in a parallel worker", "uuidv7_ordered"),
			 errhint("Mark functions that call it PARALLEL RESTRICTED.")));
}

/*
 * Make this process ready to generate values.  src/changes calls this before COMMIT generates IDs,
 * so that missing shared memory or a connection of Citus is an error of the statement.
 */
void
uuid9562_prepare_ordered(void)
{
	if (likely(uuid9562_own_slot != NULL))
		return;
	uuid9562_refuse_citus("uuidv7_ordered", true);
	uuid9562_attach_shared();
	uuid9562_take_slot();
}

/* Generate the next value of the server, and record it as a value of this transaction. */
UuidPayload
uuid9562_next_ordered(void)
{
	uint64		now;
	UuidRandom	random;
	UuidPayload payload;
	uint64		extend_at;
	bool		allow_late = false;

	if (unlikely(XactReadOnly || IsParallelWorker()))
		refuse_transaction();
	if (unlikely(uuid9562_own_slot == NULL))	/* only in the first call */
		uuid9562_prepare_ordered();
	now = clock_ticks(UUID_V7);
	random = random_for(UUID_METHOD_FRACTION);
	while (unlikely(!generate_reserved(now, allow_late, random, &payload, &extend_at)))
	{
		if (allow_late)			/* not at the first try */
			CHECK_FOR_INTERRUPTS();
		uuid9562_extend_reservation(now, true);
		allow_late = true;
	}
	if (uuid_payload_less(payload, uuid9562_own_values.first))
		uuid9562_own_values.first = payload;
	uuid_payload_advance(&uuid9562_own_values.last, payload);
	if (unlikely(uuid_clock_v7_is_behind(now, payload.time)))
		uuid9562_warn_about_clock(payload.time);
	/* pass the clock: if a reset came since, the payload's time is too great */
	if (unlikely(payload.time >= extend_at))
		uuid9562_extend_reservation(now, false);
	return payload;
}

/* Check whether an ordered ID has been generated on this server, which a horizon requires. */
bool
uuid9562_has_generated(void)
{
	return uuid9562_generator_state().previous.time != 0;
}

/*
 * uuidv7_ordered() returns uuid
 *
 * Generate a UUID in the same way as uuidv7() with method "fraction".  It is greater than all
 * values that this function has generated on this server since the last reset (RFC 9562, 6.2 and
 * 6.3).
 */
Datum
uuid9562_uuidv7_ordered(PG_FUNCTION_ARGS)
{
	return uuid_datum(UUID_V7->version, uuid9562_next_ordered());
}
