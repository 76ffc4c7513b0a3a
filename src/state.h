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

/* How a generator stands to the clock. */
typedef enum Pace
{
	PACE_CLOCK,					/* its last value has the time of the clock */
	PACE_AHEAD,					/* it has taken a tick ahead of the clock */
	PACE_BEHIND					/* the clock was found behind its last value */
} Pace;

/* A generator.  Zeroed means that it has made nothing yet. */
typedef struct GeneratorState
{
	UuidPayload previous;
	uint64		generated;		/* values made */
	uint64		clock_backwards;	/* times the clock was found behind */
	uint64		ran_ahead;		/* ticks taken ahead of the clock */
	Pace		pace;
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
typedef enum Scope
{
	SCOPE_SESSION,
	SCOPE_INSTANCE
} Scope;

extern int	uuid9562_monotonic_scope;	/* Scope */

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

/* One step of a generator, counted. */
static inline UuidNext
generator_step(GeneratorState *state, uint64 now, UuidRandom random, UuidMethod method)
{
	UuidNext	next = uuid_generator_next(&state->previous, now, random, method);

	if (likely(next == UUID_NEXT_LATER))
	{
		if (unlikely(state->pace != PACE_CLOCK))
			state->pace = PACE_CLOCK;
	}
	else if (next == UUID_NEXT_AHEAD)
	{
		state->ran_ahead++;
		state->pace = PACE_AHEAD;
	}
	else if (next == UUID_NEXT_EXHAUSTED)
		return next;
	state->generated++;
	return next;
}

/* Has this clock reading gone back behind the last value?  Counted once. */
static inline void
generator_check_clock(GeneratorState *state, uint64 now, UuidMethod method)
{
	if (state->pace == PACE_CLOCK && uuid_generator_is_behind(state->previous.time, now, method))
	{
		state->clock_backwards++;
		state->pace = PACE_BEHIND;
	}
}

extern UuidPayload uuid9562_instance_next(Generator generator, int version, UuidMethod method);

/* What chance a value of that method needs. */
static inline UuidRandom
random_for(UuidMethod method)
{
	UuidRandom	random;

	random.tail = random_bits();
	random.seed = method == UUID_METHOD_COUNTER ? random_bits() : 0;
	return random;
}

/*
 * The next payload of a generator, greater than its previous one in the scope
 * (RFC 9562, 6.2 and 6.3).  The version is that of the time in its values.
 */
static inline UuidPayload
next_payload(Generator generator, int version, UuidMethod method)
{
	GeneratorState *state = &uuid9562_session.generators[generator];
	UuidRandom	random;
	UuidNext	next;
	uint64		now;

	if (unlikely(uuid9562_monotonic_scope == SCOPE_INSTANCE))
		return uuid9562_instance_next(generator, version, method);
	random = random_for(method);
	now = clock_ticks(version);
	next = generator_step(state, now, random, method);
	if (unlikely(next != UUID_NEXT_LATER))
	{
		if (next == UUID_NEXT_EXHAUSTED)
			uuid9562_time_exhausted(version);
		if (next == UUID_NEXT_STEPPED)
			generator_check_clock(state, now, method);
	}
	return state->previous;
}

#endif							/* UUID9562_STATE_H */
