/*
 * session_generator.h
 *		The generators of this session.
 *
 * Each payload of a kind is greater than the previous payload of the kind in this
 * process (RFC 9562, 6.2).  A rollback does not rewind a generator.
 */
#ifndef UUID9562_SESSION_GENERATOR_H
#define UUID9562_SESSION_GENERATOR_H

#include "runtime/runtime.h"

/* The previous payload of each kind; all zeros before the first one. */
extern UuidPayload uuid9562_previous[UUID_KIND_COUNT];

/*
 * Generate the next payload of a kind.
 *
 * This function is inlined into each caller, where the kind is a constant.  The clock is
 * read first, so that the processor can fetch the random bits while it waits for the clock.
 */
static pg_attribute_always_inline UuidPayload
next_payload(const UuidKind *kind, UuidMethod method)
{
	uint64		now = clock_ticks(kind);
	UuidRandom	random = random_for(method);
	UuidPayload payload = uuid9562_previous[kind->number];

	if (unlikely(uuid_generator_next(&payload, now, random, method) == UUID_NEXT_EXHAUSTED))
		uuid9562_time_exhausted(kind, "Check the system clock of the server, then start a new session.");
	uuid9562_previous[kind->number] = payload;
	return payload;
}

/*
 * Generate the next payload at the time of the previous payload, without reading the
 * clock.  Return false if the counter is full.
 */
static pg_attribute_always_inline bool
next_payload_of_tick(const UuidKind *kind, UuidMethod method, UuidPayload *payload)
{
	*payload = uuid9562_previous[kind->number];
	if (uuid_generator_next(payload, payload->time, random_for(method), method) != UUID_NEXT_STEPPED)
		return false;
	uuid9562_previous[kind->number] = *payload;
	return true;
}

#endif							/* UUID9562_SESSION_GENERATOR_H */
