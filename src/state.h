/*
 * state.h
 *		What the generators keep between calls, and the world they read: the
 *		clock and the random source.
 *
 * Inline, since this is the hot path of every generator: 8 random octets from
 * the pool (16 with method counter), one clock reading, one step of the core's
 * generator.  In instance scope the step is taken in shared memory, in
 * instance.c.
 */
#ifndef UUID9562_STATE_H
#define UUID9562_STATE_H

#include "uuid9562.h"

#include <time.h>

#include "miscadmin.h"

#include "core/entropy.h"
#include "core/generator.h"

/* The generators: each keeps its own values increasing. */
typedef enum Generator
{
	GENERATOR_V1,
	GENERATOR_V6,
	GENERATOR_V7,
	GENERATOR_V8,
	GENERATOR_V8_NODE
} Generator;

#define GENERATOR_COUNT (GENERATOR_V8_NODE + 1)

/*
 * The version in whose time field a generator reads the clock.  A constant
 * where the generator is one.
 */
static inline int
time_version(Generator generator)
{
	switch (generator)
	{
		case GENERATOR_V1:
			return 1;
		case GENERATOR_V6:
			return 6;
		case GENERATOR_V7:
		case GENERATOR_V8_NODE:
			return 7;
		case GENERATOR_V8:
			break;
	}
	return 8;
}

/* A generator.  Zeroed means that it has made nothing yet. */
typedef struct GeneratorState
{
	UuidPayload previous;
	uint64		generated;		/* values made */
	uint64		clock_backwards;	/* times the clock was found behind */
	uint64		ran_ahead;		/* ticks taken ahead of the clock */
	uint64		off_clock;		/* the last time counted as one of these */
} GeneratorState;

/*
 * Of this session, that is, of this process.  Not transactional: a rollback
 * does not rewind it.
 */
typedef struct SessionState
{
	GeneratorState generators[GENERATOR_COUNT];
	UuidEntropy entropy;
} SessionState;

/* Whose values each new one exceeds: uuid9562.monotonic_scope. */
enum Scope
{
	SCOPE_SESSION,
	SCOPE_INSTANCE
};

extern int	uuid9562_monotonic_scope;	/* enum Scope */

extern SessionState uuid9562_session;

pg_noreturn extern void uuid9562_random_failed(void);
pg_noreturn extern void uuid9562_clock_failed(void);
pg_noreturn extern void uuid9562_clock_out_of_range(int version);
pg_noreturn extern void uuid9562_time_exhausted(int version);

/* 64 random bits from PostgreSQL's secure source; an error when it fails. */
static inline uint64
random_bits(void)
{
	uint64_t	bits;

	if (unlikely(!uuid_entropy_take(&uuid9562_session.entropy, MyProcPid,
									pg_strong_random, &bits)))
		uuid9562_random_failed();
	return bits;
}

/* The system clock in the time field of that version; an error outside it. */
static inline uint64
clock_ticks(int version)
{
	struct timespec now;
	uint64_t	ticks;

	if (unlikely(clock_gettime(CLOCK_REALTIME, &now) != 0))
		uuid9562_clock_failed();
	if (unlikely(!uuid_clock_ticks(version, now.tv_sec, now.tv_nsec, &ticks)))
		uuid9562_clock_out_of_range(version);
	return ticks;
}

/* A generator hands out its next value. */
static inline void
generator_hand_out(GeneratorState *state, UuidPayload payload, UuidNext next, uint64 now, int version)
{
	state->previous = payload;
	state->generated++;
	if (unlikely(next == UUID_NEXT_AHEAD))
	{
		state->ran_ahead++;
		if (uuid_generator_is_behind(version, payload.time, now))
			state->off_clock = uuid_generator_clock_part(version, payload.time);
	}
}

/*
 * Is this reading of the clock behind the value just made, and was that not
 * known?
 */
static inline bool
clock_went_back(const GeneratorState *state, uint64 now, int version)
{
	return uuid_generator_is_behind(version, state->previous.time, now) &&
		uuid_generator_clock_part(version, state->previous.time) != state->off_clock;
}

static inline void
count_clock_back(GeneratorState *state, int version)
{
	state->clock_backwards++;
	state->off_clock = uuid_generator_clock_part(version, state->previous.time);
}

/* What chance a value of that method needs. */
static inline UuidRandom
random_for(UuidMethod method)
{
	UuidRandom	random;

	random.tail = random_bits();
	random.seed = method == UUID_METHOD_COUNTER ? random_bits() : 0;
	return random;
}

extern UuidPayload uuid9562_instance_next(Generator generator, UuidMethod method,
										  uint64 now, UuidRandom random);

/*
 * The next payload of a generator, greater than its previous one in the scope
 * (RFC 9562, 6.2 and 6.3).
 *
 * Inlined in each caller, where the generator is a constant.  The clock comes
 * first: the processor can go on with all the rest while its reading is on the
 * way.
 */
static pg_attribute_always_inline UuidPayload
next_payload(Generator generator, UuidMethod method)
{
	const int	version = time_version(generator);
	GeneratorState *state = &uuid9562_session.generators[generator];
	uint64		now = clock_ticks(version);
	UuidRandom	random = random_for(method);
	UuidPayload payload;
	UuidNext	next;

	if (uuid9562_monotonic_scope == SCOPE_INSTANCE)
		return uuid9562_instance_next(generator, method, now, random);
	payload = state->previous;
	next = uuid_generator_next(&payload, now, random, method);
	if (unlikely(next == UUID_NEXT_EXHAUSTED))
		uuid9562_time_exhausted(version);
	generator_hand_out(state, payload, next, now, version);
	if (unlikely(clock_went_back(state, now, version)))
		count_clock_back(state, version);
	return payload;
}

/*
 * The next payload of this session's generator without a look at the clock: at
 * the time of the previous one, as far as its counter goes.  False when that is
 * full.
 */
static pg_attribute_always_inline bool
next_payload_of_tick(Generator generator, UuidMethod method, UuidPayload *payload)
{
	GeneratorState *state = &uuid9562_session.generators[generator];

	*payload = state->previous;
	if (uuid_generator_next(payload, payload->time, random_for(method), method) != UUID_NEXT_STEPPED)
		return false;
	generator_hand_out(state, *payload, UUID_NEXT_STEPPED, payload->time, time_version(generator));
	return true;
}

#endif							/* UUID9562_STATE_H */
