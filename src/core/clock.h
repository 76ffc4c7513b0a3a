/*
 * clock.h
 *		The units and epochs of the 60-bit time fields (RFC 9562, 6.1).
 *
 *	clock		unit			epoch			first		last
 *	v1, v6		100 ns			1582-10-15		1582		5236
 *	v7			1/4096 ms		1970-01-01		1970		10889
 *	v8 (B.1)	10 ns			1970-01-01		low 60 bits, again every 365 years
 *
 * v7's unit joins the 48-bit milliseconds (5.7) with the 12-bit fraction of
 * 6.2 method 3 into one number, so a later time is a greater number by every
 * clock.  A time outside the field is reported, never wrapped, except in v8,
 * which B.1 lets wrap.
 *
 * Plain C11: no PostgreSQL, no I/O, no static state.
 */
#ifndef UUID9562_CORE_CLOCK_H
#define UUID9562_CORE_CLOCK_H

#include "layout.h"

/* v7: parts of a millisecond, and the same with 1000000 reduced by 64. */
#define UUID_CLOCK_V7_PER_MS			4096
#define UUID_CLOCK_V7_PER_SEC			(UINT64_C(1000) * UUID_CLOCK_V7_PER_MS)
/* v7 ticks of n nanoseconds: n * 4096 / 1000000 = n * 64 / 15625 */
#define UUID_CLOCK_V7_NS_NUMERATOR		64
#define UUID_CLOCK_V7_NS_DENOMINATOR	15625

/* v1 and v6: 100 ns; days from 1582-10-15 to 1970-01-01, in seconds. */
#define UUID_CLOCK_GREGORIAN_NS			100
#define UUID_CLOCK_GREGORIAN_PER_SEC	UINT64_C(10000000)
#define UUID_CLOCK_GREGORIAN_PER_US		10
#define UUID_CLOCK_GREGORIAN_OFFSET_SEC	(INT64_C(141427) * 86400)

/* v8 as in appendix B.1: 10 ns. */
#define UUID_CLOCK_V8_NS				10
#define UUID_CLOCK_V8_PER_SEC			UINT64_C(100000000)
#define UUID_CLOCK_V8_PER_US			100

#define UUID_CLOCK_US_PER_SEC			INT64_C(1000000)
#define UUID_CLOCK_US_PER_MS			1000
#define UUID_CLOCK_NS_PER_US			1000

/* What a time field counts. */
typedef enum UuidClock
{
	UUID_CLOCK_GREGORIAN,		/* v1 and v6 */
	UUID_CLOCK_V7,
	UUID_CLOCK_V8				/* appendix B.1 */
} UuidClock;

/*
 * The time field by that clock for a moment given as seconds since 1970-01-01
 * and nanoseconds, 0 to 999999999.  False when the moment is outside the
 * field; for v8 only when it is before 1970, since B.1 keeps the
 * least significant 60 bits (6.1, truncating).
 */
static inline bool
uuid_clock_ticks(UuidClock clock, int64_t sec, uint32_t nsec, uint64_t *ticks)
{
	if (clock == UUID_CLOCK_V7)
	{
		/* also refuses a negative sec, and keeps the product in 64 bits */
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
 * The same for a moment given as microseconds since 1970-01-01, before which
 * they are negative.
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
 * Microseconds since 1970-01-01 of a time field by that clock, rounded down.
 * v7 is read to its millisecond: what its other 12 bits mean is its maker's
 * choice (5.7).  Never fails: every field value has one.
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
 * Microseconds since 1970-01-01 of a v7 time field whose low 12 bits are a
 * fraction of a millisecond (6.2 method 3): the last whole microsecond that
 * begins before the tick ends.  A tick is 0.244 us, so this is the exact
 * inverse of uuid_clock_ticks for every whole microsecond, and it never
 * leaves the millisecond.
 */
static inline int64_t
uuid_clock_v7_unix_micros(uint64_t ticks)
{
	uint64_t	fraction = ticks % UUID_CLOCK_V7_PER_MS;

	return uuid_clock_unix_micros(UUID_CLOCK_V7, ticks) +
		(int64_t) (((fraction + 1) * UUID_CLOCK_US_PER_MS - 1) / UUID_CLOCK_V7_PER_MS);
}

/*
 * A v7 time field moved by a number of microseconds, forward or, when
 * negative, back.  The field moves by a whole number of ticks, and with
 * whole_ms by a whole number of milliseconds (both rounded down), so that
 * moving a row of values by one amount keeps their order: in counter mode the
 * 12 bits after the millisecond are no time.  False when it leaves the field.
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
 * The time fields by v6's or v7's clock whose moment, as uuid_clock_unix_micros
 * gives it, lies from first to last, both included and both in microseconds
 * since 1970-01-01: they are those from *lowest to *highest.  What reaches
 * beyond the field is cut off.  False when no time field lies in there.
 */
static inline bool
uuid_clock_span(UuidClock clock, int64_t first, int64_t last, uint64_t *lowest, uint64_t *highest)
{
	/* what one reading covers: a millisecond in v7, a microsecond in v6 */
	const uint64_t micros = clock == UUID_CLOCK_V7 ? UUID_CLOCK_US_PER_MS : 1;
	const uint64_t ticks = clock == UUID_CLOCK_V7 ? UUID_CLOCK_V7_PER_MS : UUID_CLOCK_GREGORIAN_PER_US;
	const int64_t epoch = clock == UUID_CLOCK_V7 ? 0 : -UUID_CLOCK_GREGORIAN_OFFSET_SEC * UUID_CLOCK_US_PER_SEC;
	const uint64_t end = UUID_TIME_MAX / ticks;
	uint64_t	first_reading = 0;
	uint64_t	last_reading;

	if (last < epoch)
		return false;
	/* differences of two int64_t, the lesser one subtracted, fit in uint64_t */
	if (first > epoch)
		first_reading = ((uint64_t) first - (uint64_t) epoch - 1) / micros + 1;
	last_reading = ((uint64_t) last - (uint64_t) epoch) / micros;
	if (last_reading > end)
		last_reading = end;
	if (first_reading > last_reading)
		return false;

	*lowest = first_reading * ticks;
	*highest = last_reading * ticks + (ticks - 1);
	if (*highest > UUID_TIME_MAX)
		*highest = UUID_TIME_MAX;
	return true;
}

/*
 * The time field some seconds after another, in
 * v7 rounded down to whole milliseconds; at most UUID_TIME_MAX + 1, which no
 * field holds.  Up to a day or so of seconds.
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
