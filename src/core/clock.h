/*
 * clock.h
 *		Units and epochs of the 60-bit time fields (RFC 9562, 6.1).
 *
 *	clock		unit			epoch			first		last
 *	v1, v6		100 ns			1582-10-15		1582		5236
 *	v7			1/4096 ms		1970-01-01		1970		10889
 *	v8 (B.1)	10 ns			1970-01-01		wraps around every 365 years
 *
 * The unit of v7 joins the 48-bit milliseconds (5.7) and the 12-bit fraction of
 * method 3 (6.2) in one number.  So for every clock, a later time is a greater
 * number.  Times outside the field are reported and never wrap around, except in
 * v8, where appendix B.1 keeps the least significant bits.
 *
 * Plain C11: no PostgreSQL, no I/O, no static state.
 */
#ifndef UUID9562_CORE_CLOCK_H
#define UUID9562_CORE_CLOCK_H

#include "layout.h"

/* v7: ticks of 1/4096 ms. */
#define UUID_CLOCK_V7_PER_MS			4096
#define UUID_CLOCK_V7_PER_SEC			(UINT64_C(1000) * UUID_CLOCK_V7_PER_MS)
/* n nanoseconds are n * 4096 / 1000000 = n * 64 / 15625 ticks. */
#define UUID_CLOCK_V7_NS_NUMERATOR		64
#define UUID_CLOCK_V7_NS_DENOMINATOR	15625

/* v1 and v6: ticks of 100 ns.  From 1582-10-15 to 1970-01-01 there are 141427 days. */
#define UUID_CLOCK_GREGORIAN_NS			100
#define UUID_CLOCK_GREGORIAN_PER_SEC	UINT64_C(10000000)
#define UUID_CLOCK_GREGORIAN_PER_US		10
#define UUID_CLOCK_GREGORIAN_OFFSET_SEC	(INT64_C(141427) * 86400)

/* v8 as in appendix B.1: ticks of 10 ns. */
#define UUID_CLOCK_V8_NS				10
#define UUID_CLOCK_V8_PER_SEC			UINT64_C(100000000)
#define UUID_CLOCK_V8_PER_US			100

#define UUID_CLOCK_US_PER_SEC			INT64_C(1000000)
#define UUID_CLOCK_US_PER_MS			1000
#define UUID_CLOCK_NS_PER_US			1000

/* Clock of a time field: its unit and epoch. */
typedef enum UuidClock
{
	UUID_CLOCK_GREGORIAN,		/* v1 and v6 */
	UUID_CLOCK_V7,
	UUID_CLOCK_V8				/* appendix B.1 */
} UuidClock;

/*
 * Convert seconds since 1970-01-01 and nanoseconds, 0 to 999999999, to a time field.
 * Return false if the time is outside the field.  In v8 that is only a time before
 * 1970, since appendix B.1 keeps the least significant 60 bits (6.1, truncating).
 */
static inline bool
uuid_clock_ticks(UuidClock clock, int64_t sec, uint32_t nsec, uint64_t *ticks)
{
	if (clock == UUID_CLOCK_V7)
	{
		/* also refuses negative sec, and prevents an overflow of the product */
		if ((uint64_t) sec > UUID_TIME_MAX / UUID_CLOCK_V7_PER_SEC)
			return false;
		*ticks = (uint64_t) sec * UUID_CLOCK_V7_PER_SEC +
			(uint64_t) nsec * UUID_CLOCK_V7_NS_NUMERATOR / UUID_CLOCK_V7_NS_DENOMINATOR;
		return *ticks <= UUID_TIME_MAX;
	}
	else if (clock == UUID_CLOCK_V8)
	{
		if (sec < 0)
			return false;
		*ticks = ((uint64_t) sec * UUID_CLOCK_V8_PER_SEC + nsec / UUID_CLOCK_V8_NS) & UUID_TIME_MAX;
		return true;
	}
	else
	{
		uint64_t	gregorian = (uint64_t) sec + UUID_CLOCK_GREGORIAN_OFFSET_SEC;

		if (gregorian > UUID_TIME_MAX / UUID_CLOCK_GREGORIAN_PER_SEC)
			return false;
		*ticks = gregorian * UUID_CLOCK_GREGORIAN_PER_SEC + nsec / UUID_CLOCK_GREGORIAN_NS;
		return *ticks <= UUID_TIME_MAX;
	}
}

/*
 * Convert microseconds since 1970-01-01, which can be negative, to a time field.
 * Return false if the time is outside the field.
 */
static inline bool
uuid_clock_micros_ticks(UuidClock clock, int64_t unix_micros, uint64_t *ticks)
{
	int64_t		sec = unix_micros / UUID_CLOCK_US_PER_SEC;
	int64_t		rest = unix_micros % UUID_CLOCK_US_PER_SEC;

	if (rest < 0)
	{
		sec--;
		rest += UUID_CLOCK_US_PER_SEC;
	}
	return uuid_clock_ticks(clock, sec, (uint32_t) rest * UUID_CLOCK_NS_PER_US, ticks);
}

/*
 * Convert a time field to microseconds since 1970-01-01, rounded down.  The result
 * for v7 is a whole millisecond, since each generator may choose the meaning of the
 * 12 bits after it (5.7).
 */
static inline int64_t
uuid_clock_unix_micros(UuidClock clock, uint64_t ticks)
{
	if (clock == UUID_CLOCK_V7)
		return (int64_t) (ticks / UUID_CLOCK_V7_PER_MS) * UUID_CLOCK_US_PER_MS;
	if (clock == UUID_CLOCK_V8)
		return (int64_t) (ticks / UUID_CLOCK_V8_PER_US);
	return (int64_t) (ticks / UUID_CLOCK_GREGORIAN_PER_US) -
		UUID_CLOCK_GREGORIAN_OFFSET_SEC * UUID_CLOCK_US_PER_SEC;
}

/*
 * Convert a v7 time field, whose low 12 bits are a fraction of a millisecond (6.2,
 * method 3), to microseconds since 1970-01-01.  The result is the last whole
 * microsecond that begins before the end of the tick.  A tick is 0.244 us, so this
 * is the exact inverse of uuid_clock_ticks() for every whole microsecond, and the
 * result has the same millisecond.
 */
static inline int64_t
uuid_clock_v7_unix_micros(uint64_t ticks)
{
	uint64_t	fraction = ticks % UUID_CLOCK_V7_PER_MS;

	return uuid_clock_unix_micros(UUID_CLOCK_V7, ticks) +
		(int64_t) (((fraction + 1) * UUID_CLOCK_US_PER_MS - 1) / UUID_CLOCK_V7_PER_MS);
}

/*
 * Add microseconds, which can be negative, to a v7 time field.  Return false if the
 * result is outside the field.
 *
 * The microseconds are rounded down to whole ticks, or to whole milliseconds with
 * whole_ms.  Thus values to which the same number is added keep their order.
 * Values of method counter need whole_ms, since the 12 bits after their milliseconds
 * are not a time.
 */
static inline bool
uuid_clock_v7_shift(uint64_t ticks, int64_t micros, bool whole_ms, uint64_t *shifted)
{
	int64_t		ms = micros / UUID_CLOCK_US_PER_MS;
	int64_t		rest = micros % UUID_CLOCK_US_PER_MS;
	int64_t		moved;

	if (rest < 0)
	{
		ms--;
		rest += UUID_CLOCK_US_PER_MS;
	}
	if (ms > (int64_t) (UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS) ||
		ms < -(int64_t) (UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS) - 1)
		return false;

	moved = (int64_t) ticks + ms * UUID_CLOCK_V7_PER_MS;
	if (!whole_ms)
		moved += rest * UUID_CLOCK_V7_PER_MS / UUID_CLOCK_US_PER_MS;
	if (moved < 0 || (uint64_t) moved > UUID_TIME_MAX)
		return false;
	*shifted = (uint64_t) moved;
	return true;
}

/*
 * Find the smallest and the greatest v6 or v7 time field in a period.  A time field
 * is in the period if uuid_clock_unix_micros() returns a value from first to last,
 * both inclusive.  The period may extend beyond the field.  Return false if it
 * contains no time field.
 */
static inline bool
uuid_clock_span(UuidClock clock, int64_t first, int64_t last, uint64_t *smallest, uint64_t *greatest)
{
	/* the precision of a reading: a millisecond in v7, a microsecond in v6 */
	const uint64_t micros = clock == UUID_CLOCK_V7 ? UUID_CLOCK_US_PER_MS : 1;
	const uint64_t ticks = clock == UUID_CLOCK_V7 ? UUID_CLOCK_V7_PER_MS : UUID_CLOCK_GREGORIAN_PER_US;
	const int64_t epoch = clock == UUID_CLOCK_V7 ? 0 : -UUID_CLOCK_GREGORIAN_OFFSET_SEC * UUID_CLOCK_US_PER_SEC;
	const uint64_t end = UUID_TIME_MAX / ticks;
	uint64_t	first_reading = 0;
	uint64_t	last_reading;

	if (last < epoch)
		return false;
	/* a nonnegative difference of two int64_t fits in uint64_t */
	if (first > epoch)
		first_reading = ((uint64_t) first - (uint64_t) epoch - 1) / micros + 1;
	last_reading = ((uint64_t) last - (uint64_t) epoch) / micros;
	if (last_reading > end)
		last_reading = end;
	if (first_reading > last_reading)
		return false;

	*smallest = first_reading * ticks;
	*greatest = last_reading * ticks + (ticks - 1);
	if (*greatest > UUID_TIME_MAX)
		*greatest = UUID_TIME_MAX;
	return true;
}

/*
 * Add seconds, at most about a day, to a time field.  Return at most
 * UUID_TIME_MAX + 1, which is outside every field.  In v7, round down to whole
 * milliseconds.
 */
static inline uint64_t
uuid_clock_later(UuidClock clock, uint64_t ticks, uint32_t seconds)
{
	const uint64_t per_sec = clock == UUID_CLOCK_V7 ? UUID_CLOCK_V7_PER_SEC :
		clock == UUID_CLOCK_V8 ? UUID_CLOCK_V8_PER_SEC : UUID_CLOCK_GREGORIAN_PER_SEC;
	uint64_t	later = ticks + seconds * per_sec;

	if (later > UUID_TIME_MAX)
		return UUID_TIME_MAX + 1;
	return clock == UUID_CLOCK_V7 ? later & ~UUID_SUBTIME_MAX : later;
}

#endif							/* UUID9562_CORE_CLOCK_H */
