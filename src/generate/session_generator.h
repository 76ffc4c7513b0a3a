/*
 * session_generator.h
 *		The next value of a generator: of the session, or of the instance.
 *
 * Inline, since this is the hot path of every generator: one clock reading, 8
 * random octets from the pool (16 with method counter), one step of the core's
 * generator.  In instance scope the step is taken in shared memory, in
 * instance.c.
 */
#ifndef UUID9562_NEXT_H
#define UUID9562_NEXT_H

#include "instance/ordered.h"
#include "runtime/runtime.h"
#include "settings.h"

/*
 * The next payload of a generator, greater than its previous one in the scope
 * (RFC 9562, 6.2 and 6.3).
 *
 * Inlined in each caller, where the kind is a constant.  The clock comes
 * first: the processor can go on with all the rest while its reading is on the
 * way.
 */
static pg_attribute_always_inline UuidPayload
next_payload(const UuidKind *kind, UuidMethod method)
{
	GeneratorState *state = &uuid9562_session.generators[kind->number];
	uint64		now = clock_ticks(kind);
	UuidRandom	random = random_for(method);
	UuidPayload payload;
	UuidNext	next;

	if (uuid9562_monotonic_scope == SCOPE_INSTANCE)
		return uuid9562_instance_next(kind, method, now, random);
	payload = state->previous;
	next = uuid_generator_next(&payload, now, random, method);
	if (unlikely(next == UUID_NEXT_EXHAUSTED))
		uuid9562_time_exhausted(kind);
	generator_hand_out(state, payload, next, now, kind->clock);
	if (unlikely(clock_went_back(state, now, kind->clock)))
		count_clock_back(state, kind->clock);
	return payload;
}

/*
 * The next payload of this session's generator without a look at the clock: at
 * the time of the previous one, as far as its counter goes.  False when that is
 * full.
 */
static pg_attribute_always_inline bool
next_payload_of_tick(const UuidKind *kind, UuidMethod method, UuidPayload *payload)
{
	GeneratorState *state = &uuid9562_session.generators[kind->number];

	*payload = state->previous;
	if (uuid_generator_next(payload, payload->time, random_for(method), method) != UUID_NEXT_STEPPED)
		return false;
	generator_hand_out(state, *payload, UUID_NEXT_STEPPED, payload->time, kind->clock);
	return true;
}

#endif							/* UUID9562_NEXT_H */
