/*
 * runtime.h
 *		The generators of this session, and the world that all generators read:
 *		the clock and the random source.
 *
 * Inline, since this is the hot path of every generator.
 */
#ifndef UUID9562_SESSION_H
#define UUID9562_SESSION_H

#include "compat.h"

#include <time.h>

#include "miscadmin.h"

#include "core/random_buffer.h"
#include "core/generator.h"
#include "core/kind.h"

/* A generator.  Zeroed means that it has made nothing yet. */
typedef struct GeneratorState
{
	UuidPayload previous;
	uint64		generated;		/* values made */
	uint64		clock_backwards;	/* times the clock was found behind */
	uint64		ran_ahead;		/* ticks taken ahead of the clock */
	uint64		last_counted;	/* time of the value last counted as one of
								 * these */
} GeneratorState;

/*
 * Of this session, that is, of this process.  Not transactional: a rollback
 * does not rewind it.
 */
typedef struct SessionState
{
	GeneratorState generators[UUID_KIND_COUNT];
	UuidRandomBuffer random;
} SessionState;

extern SessionState uuid9562_session;

pg_noreturn extern void uuid9562_random_failed(void);
pg_noreturn extern void uuid9562_clock_failed(void);
pg_noreturn extern void uuid9562_clock_out_of_range(const UuidKind *kind);
pg_noreturn extern void uuid9562_time_exhausted(const UuidKind *kind);

/* 64 random bits from PostgreSQL's secure source; an error when it fails. */
static inline uint64
random_bits(void)
{
	uint64_t	bits;

	if (unlikely(!uuid_random_buffer_take(&uuid9562_session.random, MyProcPid,
									pg_strong_random, &bits)))
		uuid9562_random_failed();
	return bits;
}

/*
 * The system clock, in seconds since 1970-01-01 and nanoseconds.  False, with
 * errno set, when it cannot be read.
 */
static inline bool
read_system_clock(int64 *sec, uint32 *nsec)
{
#ifdef WIN32
	/* 100 ns since 1601-01-01 */
	const uint64 per_sec = UINT64CONST(10000000);
	const int64 offset_sec = INT64CONST(11644473600);
	FILETIME	file_time;
	uint64		ticks;

	GetSystemTimePreciseAsFileTime(&file_time);
	ticks = (uint64) file_time.dwHighDateTime << 32 | file_time.dwLowDateTime;
	*sec = (int64) (ticks / per_sec) - offset_sec;
	*nsec = (uint32) (ticks % per_sec) * 100;
#else
	struct timespec now;

	if (unlikely(clock_gettime(CLOCK_REALTIME, &now) != 0))
		return false;
	*sec = now.tv_sec;
	*nsec = (uint32) now.tv_nsec;
#endif
	return true;
}

/* The system clock in the time field of a kind; an error outside it. */
static inline uint64
clock_ticks(const UuidKind *kind)
{
	int64		sec;
	uint32		nsec;
	uint64_t	ticks;

	if (unlikely(!read_system_clock(&sec, &nsec)))
		uuid9562_clock_failed();
	if (unlikely(!uuid_clock_ticks(kind->clock, sec, nsec, &ticks)))
		uuid9562_clock_out_of_range(kind);
	return ticks;
}

/* A generator hands out its next value. */
static inline void
generator_hand_out(GeneratorState *state, UuidPayload payload, UuidNext next, uint64 now, UuidClock clock)
{
	state->previous = payload;
	state->generated++;
	if (unlikely(next == UUID_NEXT_AHEAD))
	{
		state->ran_ahead++;
		if (uuid_generator_is_behind(clock, payload.time, now))
			state->last_counted = uuid_generator_clock_part(clock, payload.time);
	}
}

/*
 * Is this reading of the clock behind the value just made, and was that not
 * known?
 */
static inline bool
clock_went_back(const GeneratorState *state, uint64 now, UuidClock clock)
{
	return uuid_generator_is_behind(clock, state->previous.time, now) &&
		uuid_generator_clock_part(clock, state->previous.time) != state->last_counted;
}

static inline void
count_clock_back(GeneratorState *state, UuidClock clock)
{
	state->clock_backwards++;
	state->last_counted = uuid_generator_clock_part(clock, state->previous.time);
}

/* The random bits for a value by that method. */
static inline UuidRandom
random_for(UuidMethod method)
{
	UuidRandom	random;

	random.tail = random_bits();
	random.seed = method == UUID_METHOD_COUNTER ? random_bits() : 0;
	return random;
}

#endif							/* UUID9562_SESSION_H */
