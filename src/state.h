/*
 * state.h
 *		What the generators keep between calls, and the world they read: the
 *		clock and the random source.
 *
 * Inline, since this is the hot path of every generator: 8 random octets from
 * the pool (16 with method counter), one clock reading, one step of the core's
 * generator.
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
 * Of this session, that is, of this process.  Not transactional: a rollback
 * does not rewind it.  Zeroed means that nothing was made yet.
 */
typedef struct SessionState
{
	UuidPayload previous[GENERATOR_COUNT];
	UuidEntropy entropy;
} SessionState;

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

/*
 * The next payload of a generator, greater than its previous one in this
 * session (RFC 9562, 6.2).  The version is that of the generator's values.
 */
static inline UuidPayload
next_payload(Generator generator, int version, UuidMethod method)
{
	UuidPayload *previous = &uuid9562_session.previous[generator];
	UuidRandom	random;

	random.tail = random_bits();
	random.seed = method == UUID_METHOD_COUNTER ? random_bits() : 0;
	if (unlikely(uuid_generator_next(previous, clock_ticks(version), random, method) ==
				 UUID_NEXT_EXHAUSTED))
		uuid9562_time_exhausted(version);
	return *previous;
}

#endif							/* UUID9562_STATE_H */
