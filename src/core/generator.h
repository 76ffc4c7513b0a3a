/*
 * generator.h
 *		The generator of monotonic values (RFC 9562, 6.2).
 *
 * All time-based versions use this generator.  The state of a generator is its previous
 * payload.  The next payload is always greater, and consists of:
 *
 *	- the clock's time and a new tail, if the clock is later than the previous time;
 *	- the previous time and a tail with an incremented counter, if the clock is not later
 *	  and the counter is not full;
 *	- the tick after the previous time and a new tail, otherwise.
 *
 * UUID_METHOD_FRACTION does exactly this.  See UuidMethod for the other methods.  The top
 * bit of a new counter is zero, to delay the overflow (6.2, counter rollover guards).  The
 * state is the same for all methods, so values increase even if the method changes.
 *
 * The caller passes the time and the random bits.
 */
#ifndef UUID9562_CORE_GENERATOR_H
#define UUID9562_CORE_GENERATOR_H

#include "clock.h"

/* The counter at the top of the tail, and the random bits below it. */
#define UUID_COUNTER_BITS	4
#define UUID_COUNTER_SHIFT	(UUID_TAIL_BITS - UUID_COUNTER_BITS)
#define UUID_COUNTER_STEP	(UINT64_C(1) << UUID_COUNTER_SHIFT)
#define UUID_RANDOM_MAX		UUID_FIELD_MAX(UUID_COUNTER_SHIFT)
/* A new tail is random except for its top bit, which is the rollover guard. */
#define UUID_FRESH_TAIL_MAX	UUID_FIELD_MAX(UUID_TAIL_BITS - 1)
/* Method 1: the 12 bits after the milliseconds are part of the counter. */
#define UUID_LONG_COUNTER_BITS	(UUID_SUBTIME_BITS + UUID_COUNTER_BITS)
#define UUID_LONG_COUNTER_MAX	UUID_FIELD_MAX(UUID_LONG_COUNTER_BITS)
#define UUID_LONG_SEED_MAX		UUID_FIELD_MAX(UUID_LONG_COUNTER_BITS - 1)
/* Method 2: the increment is between 1 and 2^32. */
#define UUID_INCREMENT_MASK		UUID_FIELD_MAX(32)

typedef enum UuidMethod
{
	/*
	 * Method 3 of RFC 9562, 6.2, with a counter of 4 bits after the fraction.
	 * The counter starts at a random number from 0 to 7.  The other 58 bits
	 * of the tail are random in every value.
	 */
	UUID_METHOD_FRACTION,

	/*
	 * Method 1, for v7 only: the time is in milliseconds, and the next 16
	 * bits are a counter, which starts at a random number below 2^15.  The
	 * other 58 bits of the tail are random in every value.
	 */
	UUID_METHOD_COUNTER,

	/*
	 * Method 2: the 62-bit tail is the counter, and each value adds a random
	 * number between 1 and 2^32.
	 */
	UUID_METHOD_RANDOM
} UuidMethod;

/* Random bits for one value */
typedef struct UuidRandom
{
	uint64_t	tail;			/* used by every method */
	uint64_t	seed;			/* used by UUID_METHOD_COUNTER only */
} UuidRandom;

/* How the next value was generated */
typedef enum UuidNext
{
	UUID_NEXT_LATER,			/* with the time of the clock */
	UUID_NEXT_STEPPED,			/* with the previous time and a greater tail */
	UUID_NEXT_AHEAD,			/* with the next tick; method 1: millisecond */
	UUID_NEXT_EXHAUSTED			/* not at all: no greater value exists */
} UuidNext;

/*
 * Return the greatest payload before a time, or zeros for time 0.  A generator that continues after
 * this payload returns only values with the given time or a later one.
 */
static inline UuidPayload
uuid_payload_before(uint64_t time)
{
	UuidPayload before = {0, 0};

	if (time > 0)
	{
		before.time = time - 1;
		before.tail = UUID_TAIL_MAX;
	}
	return before;
}

static inline bool
uuid_payload_less(UuidPayload a, UuidPayload b)
{
	return a.time < b.time || (a.time == b.time && a.tail < b.tail);
}

/* Replace the previous payload by the given one if that is greater. */
static inline void
uuid_payload_advance(UuidPayload *previous, UuidPayload payload)
{
	if (uuid_payload_less(*previous, payload))
		*previous = payload;
}

/*
 * Return the time of a payload and the four bits of the counter below it, as one number.  With
 * UUID_METHOD_FRACTION, each value of a generator has a greater number than the previous value.
 */
static inline uint64_t
uuid_payload_ordinal(UuidPayload payload)
{
	return payload.time << UUID_COUNTER_BITS | payload.tail >> UUID_COUNTER_SHIFT;
}

/*
 * Generate the next payload by method 1.  In this method, the ordinal consists of the milliseconds
 * and the counter of 16 bits.
 */
static inline UuidNext
uuid_generator_next_counter(UuidPayload *previous, uint64_t now, UuidRandom random)
{
	uint64_t	ordinal = uuid_payload_ordinal(*previous);
	uint64_t	clock_ordinal = now >> UUID_SUBTIME_BITS << UUID_LONG_COUNTER_BITS;
	UuidNext	outcome = UUID_NEXT_STEPPED;

	if (clock_ordinal > ordinal)
	{
		ordinal = clock_ordinal;
		outcome = UUID_NEXT_LATER;
	}
	else if (ordinal == UINT64_MAX)
		return UUID_NEXT_EXHAUSTED;
	else if ((++ordinal & UUID_LONG_COUNTER_MAX) == 0)
		outcome = UUID_NEXT_AHEAD;	/* the counter was full, and carried into
									 * the milliseconds */
	/* in a new millisecond the counter is zero so far */
	if (outcome != UUID_NEXT_STEPPED)
		ordinal |= random.seed & UUID_LONG_SEED_MAX;

	previous->time = ordinal >> UUID_COUNTER_BITS;
	previous->tail = (ordinal << UUID_COUNTER_SHIFT & UUID_TAIL_MAX) |
		(random.tail & UUID_RANDOM_MAX);
	return outcome;
}

/*
 * Replace the previous payload by the next payload, which is greater.  If no greater payload
 * exists, keep the previous one.
 *
 * "now" is a time field, normally that of the clock.  Methods other than UUID_METHOD_FRACTION are
 * for v7 only.  A zeroed payload is the state of a new generator.  With UUID_METHOD_FRACTION, the
 * caller may replace the low 58 bits of the tail, since the bits above them determine the order.
 */
static inline UuidNext
uuid_generator_next(UuidPayload *previous, uint64_t now, UuidRandom random, UuidMethod method)
{
	const uint64_t fresh = random.tail & UUID_FRESH_TAIL_MAX;
	uint64_t	stepped;

	UUID_ASSERT(now <= UUID_TIME_MAX);
	UUID_ASSERT(previous->time <= UUID_TIME_MAX && previous->tail <= UUID_TAIL_MAX);
	if (method == UUID_METHOD_COUNTER)
		return uuid_generator_next_counter(previous, now, random);

	if (now > previous->time)
	{
		previous->time = now;
		previous->tail = fresh;
		return UUID_NEXT_LATER;
	}

	if (method == UUID_METHOD_RANDOM)
		stepped = previous->tail + (random.tail & UUID_INCREMENT_MASK) + 1;
	else
		stepped = ((previous->tail & ~UUID_RANDOM_MAX) + UUID_COUNTER_STEP) |
			(random.tail & UUID_RANDOM_MAX);
	if (stepped <= UUID_TAIL_MAX)
	{
		previous->tail = stepped;
		return UUID_NEXT_STEPPED;
	}

	/* the counter is full */
	if (previous->time == UUID_TIME_MAX)
		return UUID_NEXT_EXHAUSTED;
	previous->time++;
	previous->tail = fresh;
	return UUID_NEXT_AHEAD;
}

#endif							/* UUID9562_CORE_GENERATOR_H */
