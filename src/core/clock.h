/*
 * clock.h
 *		Units and epochs of the 60-bit time fields (RFC 9562, 6.1).
 *
 *	clock		unit			epoch			supported years
 *	v1, v6		100 ns			1582-10-15		1582 to 5236
 *	v7			1/4096 ms		1970-01-01		1970 to 10889
 *	v8 (B.1)	10 ns			1970-01-01		1970 and all later years
 *
 * In v7, the 48-bit milliseconds (5.7) and the 12-bit fraction of method 3 (6.2) are
 * used as one number.  The field of v8 contains the least significant 60 bits of the
 * time (appendix B.1), so it starts again from zero every 365 years.
 */
#ifndef UUID9562_CORE_CLOCK_H
#define UUID9562_CORE_CLOCK_H

#include "layout.h"

#define UUID_CLOCK_US_PER_SEC	INT64_C(1000000)
#define UUID_CLOCK_US_PER_MS	1000
#define UUID_CLOCK_NS_PER_US	1000
#define UUID_CLOCK_V7_PER_MS	4096

/* Means "no time", and is greater than all times. */
#define UUID_NO_TIME	UINT64_MAX

/* Clock of a time field: its unit and epoch. */
typedef enum UuidClock
{
	UUID_CLOCK_GREGORIAN,		/* v1 and v6 */
	UUID_CLOCK_V7,
	UUID_CLOCK_V8				/* appendix B.1 */
} UuidClock;

/*
 * A tick is one unit of the time field.  n nanoseconds are n * numerator / denominator ticks.
 * A reading is the unit to which uuid_clock_unix_micros() rounds down: a millisecond in v7,
 * otherwise a microsecond.
 */
typedef struct UuidClockUnit
{
	uint64_t	per_sec;		/* ticks in a second */
	uint32_t	numerator;
	uint32_t	denominator;
	uint64_t	reading_ticks;	/* ticks in a reading */
	int64_t		reading_micros; /* microseconds in a reading */
	int64_t		sec_before_1970;	/* seconds from the epoch to 1970-01-01 */
} UuidClockUnit;

/* This table is in the header so that the compiler can use its values as constants. */
static const UuidClockUnit uuid_clock_units[] = {
	[UUID_CLOCK_GREGORIAN] = {10000000, 1, 100, 10, 1, INT64_C(141427) * 86400},
	[UUID_CLOCK_V7] = {4096000, 64, 15625, UUID_CLOCK_V7_PER_MS, UUID_CLOCK_US_PER_MS, 0},
	[UUID_CLOCK_V8] = {100000000, 1, 10, 100, 1, 0},
};

/*
 * Convert seconds since 1970-01-01 and nanoseconds to a time field.  Return false if the field
 * cannot hold the time.  The field of v8 accepts every time from 1970 on, because it contains only
 * the least significant 60 bits (6.1, truncating).
 */
static inline bool
uuid_clock_ticks(UuidClock clock, int64_t sec, uint32_t nsec, uint64_t *ticks)
{
	const UuidClockUnit *unit = &uuid_clock_units[clock];
	uint64_t	since_epoch = (uint64_t) sec + (uint64_t) unit->sec_before_1970;
	uint64_t	max_sec = clock == UUID_CLOCK_V8 ? INT64_MAX : UUID_TIME_MAX / unit->per_sec;

	UUID_ASSERT(nsec < 1000000000);
	/* a time before the epoch is greater than max_sec as uint64_t */
	if (since_epoch > max_sec)
		return false;
	/* in v8 this can overflow, but the low 60 bits remain correct */
	*ticks = since_epoch * unit->per_sec + (uint64_t) nsec * unit->numerator / unit->denominator;
	if (clock == UUID_CLOCK_V8)
		*ticks &= UUID_TIME_MAX;
	/* the field can end within the second max_sec */
	return *ticks <= UUID_TIME_MAX;
}

/*
 * Convert microseconds since 1970-01-01, which can be negative, to a time field.
 * Return false if the field cannot hold the time.
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
 * for v7 is a whole millisecond, since each implementation may choose the meaning of
 * the 12 bits after the milliseconds (5.7).
 */
static inline int64_t
uuid_clock_unix_micros(UuidClock clock, uint64_t ticks)
{
	const UuidClockUnit *unit = &uuid_clock_units[clock];

	return (int64_t) (ticks / unit->reading_ticks) * unit->reading_micros -
		unit->sec_before_1970 * UUID_CLOCK_US_PER_SEC;
}

/*
 * Convert a v7 time field, whose low 12 bits are a fraction of a millisecond (6.2, method 3), to
 * microseconds since 1970-01-01.  The result is the last whole microsecond that begins before the
 * end of the tick.  A tick is shorter than a microsecond, so no two microseconds have the same
 * tick, and this function exactly reverses uuid_clock_micros_ticks().
 */
static inline int64_t
uuid_clock_v7_unix_micros(uint64_t ticks)
{
	uint64_t	fraction = ticks % UUID_CLOCK_V7_PER_MS;

	return uuid_clock_unix_micros(UUID_CLOCK_V7, ticks) +
		(int64_t) (((fraction + 1) * UUID_CLOCK_US_PER_MS - 1) / UUID_CLOCK_V7_PER_MS);
}

/*
 * Add microseconds, which can be negative, to a v7 time field.  Return false if the field cannot
 * hold the result.
 *
 * First round the microseconds down to whole ticks or, with whole_ms, to whole milliseconds.  So
 * each value is shifted by the same number of ticks, and the values keep their order.  Values of
 * UUID_METHOD_COUNTER (see generator.h) need whole_ms, since the 12 bits after their milliseconds
 * are not a time.
 */
static inline bool
uuid_clock_v7_shift(uint64_t ticks, int64_t micros, bool whole_ms, uint64_t *shifted)
{
	int64_t		ms = micros / UUID_CLOCK_US_PER_MS;
	int64_t		rest = micros % UUID_CLOCK_US_PER_MS;
	int64_t		result;

	if (rest < 0)
	{
		ms--;
		rest += UUID_CLOCK_US_PER_MS;
	}

	/*
	 * exclude results that cannot fit, so that the sum below does not
	 * overflow
	 */
	if (ms > (int64_t) (UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS) ||
		ms < -(int64_t) (UUID_TIME_MAX / UUID_CLOCK_V7_PER_MS) - 1)
		return false;
	result = (int64_t) ticks + ms * UUID_CLOCK_V7_PER_MS;
	if (!whole_ms)
		result += rest * UUID_CLOCK_V7_PER_MS / UUID_CLOCK_US_PER_MS;
	if (result < 0 || (uint64_t) result > UUID_TIME_MAX)
		return false;
	*shifted = (uint64_t) result;
	return true;
}

/*
 * Find the smallest and the greatest value of a v6 or v7 time field in a period.  A value is in the
 * period if uuid_clock_unix_micros() converts it to a time from first to last, both inclusive.  The
 * bounds are microseconds since 1970-01-01, and can be times that the field cannot hold.  Return
 * false if no value is in the period.
 */
static inline bool
uuid_clock_span(UuidClock clock, int64_t first, int64_t last,
				uint64_t *smallest, uint64_t *greatest)
{
	const UuidClockUnit *unit = &uuid_clock_units[clock];
	const uint64_t reading_micros = (uint64_t) unit->reading_micros;
	const uint64_t max_reading = UUID_TIME_MAX / unit->reading_ticks;
	const int64_t epoch_micros = -unit->sec_before_1970 * UUID_CLOCK_US_PER_SEC;
	uint64_t	first_reading = 0;	/* readings are numbered from the epoch */
	uint64_t	last_reading;

	UUID_ASSERT(clock != UUID_CLOCK_V8);	/* its field wraps around */
	if (last < epoch_micros)
		return false;

	/*
	 * subtract as uint64_t, since the difference can exceed INT64_MAX; round
	 * first up
	 */
	if (first > epoch_micros)
		first_reading = ((uint64_t) first - (uint64_t) epoch_micros - 1) / reading_micros + 1;
	last_reading = ((uint64_t) last - (uint64_t) epoch_micros) / reading_micros;
	if (last_reading > max_reading)
		last_reading = max_reading;
	if (first_reading > last_reading)
		return false;

	*smallest = first_reading * unit->reading_ticks;
	*greatest = last_reading * unit->reading_ticks + (unit->reading_ticks - 1);
	if (*greatest > UUID_TIME_MAX)
		*greatest = UUID_TIME_MAX;
	return true;
}

/*
 * Add seconds to a v7 time field.  If the field cannot hold the result, return UUID_TIME_MAX + 1,
 * which is later than every time field.
 */
static inline uint64_t
uuid_clock_v7_later(uint64_t ticks, uint32_t seconds)
{
	uint64_t	later = ticks + seconds * uuid_clock_units[UUID_CLOCK_V7].per_sec;

	return later <= UUID_TIME_MAX ? later : UUID_TIME_MAX + 1;
}

/*
 * Check whether the clock is behind a v7 time field.  Compare only milliseconds, since values of a
 * busy generator are often some ticks ahead.
 */
static inline bool
uuid_clock_v7_is_behind(uint64_t now, uint64_t ticks)
{
	return now / UUID_CLOCK_V7_PER_MS < ticks / UUID_CLOCK_V7_PER_MS;
}

#endif							/* UUID9562_CORE_CLOCK_H */
