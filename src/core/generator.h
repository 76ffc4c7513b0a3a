/*
 * generator.h
 *		The next value after the previous one (RFC 9562, 6.2).
 *
 * One generator serves every time-based version.  Its whole state is the
 * previous payload; its whole promise is that the next one is greater:
 *
 *	- a later time than the previous one: take it, with a fresh tail;
 *	- the same time, or an earlier one because the clock went back: keep the
 *	  previous time and step the tail;
 *	- the tail is full: one tick later, with a fresh tail.
 *
 * How a tail steps is the method.  A fresh tail always leaves its top bit
 * zero, the guard against rollover (6.2, counter rollover guards).  The state
 * is the same for every method, so a generator may change methods between two
 * values and stays increasing.
 *
 * Plain C11: no PostgreSQL, no I/O, no static state; time and random come in
 * as arguments.
 */
#ifndef UUID9562_CORE_GENERATOR_H
#define UUID9562_CORE_GENERATOR_H

#include "clock.h"

/* The counter at the top of the tail, and the random bits below it. */
#define UUID_COUNTER_BITS	4
#define UUID_COUNTER_SHIFT	(UUID_TAIL_BITS - UUID_COUNTER_BITS)
#define UUID_COUNTER_STEP	(UINT64_C(1) << UUID_COUNTER_SHIFT)
#define UUID_RANDOM_MAX		UUID_FIELD_MAX(UUID_COUNTER_SHIFT)
/* A fresh tail: all of it random but the guard bit. */
#define UUID_FRESH_TAIL_MAX	UUID_FIELD_MAX(UUID_TAIL_BITS - 1)
/* Method 1: the 12 bits after the milliseconds join the counter. */
#define UUID_LONG_COUNTER_BITS	(UUID_SUBTIME_BITS + UUID_COUNTER_BITS)
#define UUID_LONG_COUNTER_MAX	UUID_FIELD_MAX(UUID_LONG_COUNTER_BITS)
#define UUID_LONG_SEED_MAX		UUID_FIELD_MAX(UUID_LONG_COUNTER_BITS - 1)
/* Method 2: the increment is 1 to 2^32. */
#define UUID_INCREMENT_MASK		UUID_FIELD_MAX(32)

typedef enum UuidMethod
{
	/*
	 * 6.2 method 3, with a counter after the fraction: 4 bits of counter, 3
	 * of them seeded, stepped by one; 58 bits random in every value.
	 */
	UUID_METHOD_FRACTION,

	/*
	 * 6.2 method 1: v7's time is whole milliseconds, and the 16 bits that
	 * follow are a counter, 15 of them seeded; 58 bits random in every value.
	 */
	UUID_METHOD_COUNTER,

	/*
	 * 6.2 method 2: the 62-bit tail is itself the counter and grows by a
	 * random amount from 1 to 2^32.
	 */
	UUID_METHOD_RANDOM
} UuidMethod;

/* The random bits that the generator needs for one value. */
typedef struct UuidRandom
{
	uint64_t	tail;			/* every method */
	uint64_t	seed;			/* read by UUID_METHOD_COUNTER only */
} UuidRandom;

/* How the next value came about. */
typedef enum UuidNext
{
	UUID_NEXT_LATER,			/* at the given time */
	UUID_NEXT_STEPPED,			/* at the previous time, by a step of the tail */
	UUID_NEXT_AHEAD,			/* one tick after the previous time */
	UUID_NEXT_EXHAUSTED			/* no greater value exists; nothing changed */
} UuidNext;

/*
 * The time one tick of the method after the previous one.  False at the end
 * of the field.
 */
static inline bool
uuid_generator_tick(uint64_t *time, uint64_t tick)
{
	if (*time > UUID_TIME_MAX - tick)
		return false;
	*time += tick;
	return true;
}

/*
 * The part of a time field that is the clock's: in v7 whole
 * milliseconds, since with method 1, which may take turns with the others, the
 * 12 bits after them are part of a counter.
 */
static inline uint64_t
uuid_generator_clock_part(UuidClock clock, uint64_t time)
{
	return clock == UUID_CLOCK_V7 ? time & ~UUID_SUBTIME_MAX : time;
}

/* Is the clock behind the time of a value? */
static inline bool
uuid_generator_is_behind(UuidClock clock, uint64_t time, uint64_t now)
{
	return uuid_generator_clock_part(clock, now) < uuid_generator_clock_part(clock, time);
}

/*
 * The payload of a generator that goes on from a time: its next one has that
 * time or a later one.  With UUID_METHOD_COUNTER the time is a whole
 * millisecond, as uuid_clock_later gives it.
 */
static inline UuidPayload
uuid_generator_from(uint64_t time)
{
	UuidPayload previous = {0, 0};

	if (time > 0)
	{
		previous.time = time - 1;
		previous.tail = UUID_TAIL_MAX;
	}
	return previous;
}

/* Let a generator go on after that payload, if it has not come so far. */
static inline void
uuid_generator_advance(UuidPayload *previous, UuidPayload payload)
{
	if (payload.time > previous->time ||
		(payload.time == previous->time && payload.tail > previous->tail))
		*previous = payload;
}

/* Method 1: milliseconds, then one counter of 12 + 4 bits. */
static inline UuidNext
uuid_generator_next_counter(UuidPayload *previous, uint64_t now, UuidRandom random)
{
	const uint64_t ms_tick = UUID_SUBTIME_MAX + 1;
	uint64_t	ms = previous->time & ~UUID_SUBTIME_MAX;
	uint64_t	counter = (previous->time & UUID_SUBTIME_MAX) << UUID_COUNTER_BITS |
		previous->tail >> UUID_COUNTER_SHIFT;
	UuidNext	outcome;

	now &= ~UUID_SUBTIME_MAX;
	if (now > ms)
	{
		ms = now;
		counter = random.seed & UUID_LONG_SEED_MAX;
		outcome = UUID_NEXT_LATER;
	}
	else if (counter < UUID_LONG_COUNTER_MAX)
	{
		counter++;
		outcome = UUID_NEXT_STEPPED;
	}
	else
	{
		if (!uuid_generator_tick(&ms, ms_tick))
			return UUID_NEXT_EXHAUSTED;
		counter = random.seed & UUID_LONG_SEED_MAX;
		outcome = UUID_NEXT_AHEAD;
	}

	previous->time = ms | counter >> UUID_COUNTER_BITS;
	previous->tail = (counter & UUID_FIELD_MAX(UUID_COUNTER_BITS)) << UUID_COUNTER_SHIFT |
		(random.tail & UUID_RANDOM_MAX);
	return outcome;
}

/*
 * Replace the previous payload by the next one, which is greater.
 *
 * now is the current time by the clock of the payload's kind
 * (uuid_clock_ticks), random fresh random bits, method as above; methods
 * other than UUID_METHOD_FRACTION are for v7.  A zeroed payload is a
 * generator that has made nothing yet.  The low 58 bits of a tail made by
 * UUID_METHOD_FRACTION may be stamped over without harm to the order.
 */
static inline UuidNext
uuid_generator_next(UuidPayload *previous, uint64_t now, UuidRandom random, UuidMethod method)
{
	uint64_t	fresh = random.tail & UUID_FRESH_TAIL_MAX;
	uint64_t	stepped;
	uint64_t	tail;
	uint64_t	later;

	if (method == UUID_METHOD_COUNTER)
		return uuid_generator_next_counter(previous, now, random);

	if (method == UUID_METHOD_RANDOM)
		stepped = previous->tail + (random.tail & UUID_INCREMENT_MASK) + 1;
	else
		stepped = ((previous->tail & ~UUID_RANDOM_MAX) + UUID_COUNTER_STEP) | (random.tail & UUID_RANDOM_MAX);

	/*
	 * Whether the clock has ticked since is beyond prediction, so both are
	 * made and one is chosen by a mask, all ones or zero, rather than by a
	 * branch.  A fresh tail is never full.
	 */
	later = -((previous->time - now) >> 63);
	tail = stepped ^ ((stepped ^ fresh) & later);
	if (tail <= UUID_TAIL_MAX)
	{
		previous->time += (now - previous->time) & later;
		previous->tail = tail;
		return later ? UUID_NEXT_LATER : UUID_NEXT_STEPPED;
	}

	if (!uuid_generator_tick(&previous->time, 1))
		return UUID_NEXT_EXHAUSTED;
	previous->tail = fresh;
	return UUID_NEXT_AHEAD;
}

#endif							/* UUID9562_CORE_GENERATOR_H */
