/*
 * Tests of the 60-bit time fields: conversion in both directions, first and last times, spans of a
 * period, shifts and later times.
 */
#include "support.h"

#include "clock.h"

#define RANDOM_ROUNDS 1000000

/* The first and the last time of each field, in seconds since 1970 and nanoseconds */
static const struct
{
	int64_t		first_sec;
	int64_t		last_sec;
	uint32_t	last_nsec;
}			fields[] = {
	/* 1582-10-15 to 5236-03-31 21:21:00 */
	[UUID_CLOCK_GREGORIAN] = {-INT64_C(12219292800), INT64_C(103072857660), 684697599},
	/* 1970-01-01 to 10889-08-02 05:31:50 */
	[UUID_CLOCK_V7] = {0, INT64_C(281474976710), 655999999},
	/* 1970-01-01 and all later times */
	[UUID_CLOCK_V8] = {0, INT64_MAX, 999999999},
};

/* A random number that is often near the first or the last number, or an end of int64_t */
static int64_t
random_near(int64_t first, int64_t last)
{
	const int64_t bases[] = {first, last, INT64_MIN};
	uint64_t	base = (uint64_t) bases[test_bits() % 3];
	uint64_t	distance = test_distance(64);

	/* from INT64_MIN, subtraction wraps around to INT64_MAX */
	return (int64_t) (test_bits() % 2 ? base + distance : base - distance);
}

static int64_t
random_micros(UuidClock clock)
{
	return random_near(fields[clock].first_sec * 1000000,
					   uuid_clock_unix_micros(clock, UUID_TIME_MAX));
}

static void
gives_the_times_of_the_vectors(void **state)
{
	/* vectors of RFC 9562, A.1, A.5, A.6 and B.1: 2022-02-22 19:22:22 UTC */
	static const uint64_t vectors[] = {
		[UUID_CLOCK_GREGORIAN] = UINT64_C(0x1ec9414c232ab00),
		[UUID_CLOCK_V7] = UINT64_C(0x017f22e279b0000),
		[UUID_CLOCK_V8] = UINT64_C(0x2489e9ad2ee2e00),
	};

	(void) state;
	for (UuidClock clock = UUID_CLOCK_GREGORIAN; clock <= UUID_CLOCK_V8; clock++)
	{
		uint64_t	ticks = 0;

		assert_true(uuid_clock_ticks(clock, 1645557742, 0, &ticks) && ticks == vectors[clock]);
		assert_true(uuid_clock_unix_micros(clock, ticks) == INT64_C(1645557742000000));
	}
}

/* Return the time field for a time that it can hold. */
static uint64_t
exact_ticks(UuidClock clock, uint64_t sec, uint32_t nsec)
{
	if (clock == UUID_CLOCK_GREGORIAN)
		return (sec + UINT64_C(12219292800)) * 10000000 + nsec / 100;
	/* milliseconds, and the 12 bits of RFC 9562, 6.2, method 3 */
	if (clock == UUID_CLOCK_V7)
		return (sec * 1000 + nsec / 1000000) << 12 | nsec % 1000000 * UINT64_C(4096) / 1000000;
	/* in v8, only the least significant 60 bits (RFC 9562, 6.1, truncating) */
	return (sec * 100000000 + nsec / 10) & UUID_TIME_MAX;
}

/* Times that the field cannot hold are refused (RFC 9562, 6.1). */
static void
holds_exactly_the_times_of_the_field(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const UuidClock clock = round % 3;
		const int64_t first_sec = fields[clock].first_sec;
		const int64_t last_sec = fields[clock].last_sec;
		const uint32_t last_nsec = fields[clock].last_nsec;
		const int64_t sec = random_near(first_sec, last_sec);
		uint32_t	nsec = (uint32_t) random_near(0, last_nsec) % 1000000000;
		bool		holds = sec >= first_sec &&
			(sec < last_sec || (sec == last_sec && nsec <= last_nsec));
		uint64_t	ticks = 0;

		assert_int_equal(uuid_clock_ticks(clock, sec, nsec, &ticks), holds);
		assert_true(!holds || ticks == exact_ticks(clock, (uint64_t) sec, nsec));
	}
}

static void
holds_the_same_times_as_microseconds(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const UuidClock clock = round % 3;
		const int64_t micros = random_micros(clock);
		/* rounded down, unlike the quotient */
		const int64_t sec = micros / 1000000 - (micros % 1000000 < 0);
		const uint32_t nsec = (uint32_t) (((uint64_t) micros - (uint64_t) sec * 1000000) * 1000);
		uint64_t	ticks = 0;
		uint64_t	expected = 0;
		bool		holds = uuid_clock_ticks(clock, sec, nsec, &expected);

		assert_int_equal(uuid_clock_micros_ticks(clock, micros, &ticks), holds);
		assert_true(!holds || ticks == expected);
		assert_true(!holds || clock != UUID_CLOCK_V7 || uuid_clock_v7_unix_micros(ticks) == micros);
	}
}

/*
 * The microsecond that is read from a tick of v7 is in the tick's millisecond.  It is the last one
 * that begins before the end of the tick.  The other function reads whole milliseconds from v7.
 */
static void
reads_whole_microseconds(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const uint64_t ticks = test_number(60);
		const int64_t ms = (int64_t) (ticks / 4096);
		const int64_t micros = uuid_clock_v7_unix_micros(ticks) - ms * 1000;
		const int64_t end = ((int64_t) (ticks % 4096) + 1) * 1000;	/* in 1/4096 microseconds */

		assert_true(uuid_clock_unix_micros(UUID_CLOCK_GREGORIAN, ticks) ==
					(int64_t) (ticks / 10) - INT64_C(12219292800000000));
		assert_true(uuid_clock_unix_micros(UUID_CLOCK_V7, ticks) == ms * 1000);
		assert_true(uuid_clock_unix_micros(UUID_CLOCK_V8, ticks) == (int64_t) (ticks / 100));
		assert_true(micros * 4096 < end && end <= (micros + 1) * 4096);
	}
}

/* A span begins and ends in its period; the ticks before and after it are outside. */
static void
a_span_agrees_with_the_timestamps_read(void **state)
{
	int			spans = 0;

	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const UuidClock clock = round % 2;
		const int64_t end = uuid_clock_unix_micros(clock, UUID_TIME_MAX);
		const int64_t first = random_micros(clock);
		/* every other period is short */
		const int64_t last = round % 4 < 2 ? random_micros(clock) :
			(int64_t) ((uint64_t) first + test_distance(12));
		uint64_t	lowest;
		uint64_t	highest;

		if (!uuid_clock_span(clock, first, last, &lowest, &highest))
		{
			uint64_t	ticks;

			/* no time of the field is in the period */
			assert_false(uuid_clock_micros_ticks(clock, last < end ? last : end, &ticks) &&
						 uuid_clock_unix_micros(clock, ticks) >= first);
			continue;
		}
		spans++;
		assert_true(lowest <= highest && highest <= UUID_TIME_MAX);
		assert_true(uuid_clock_unix_micros(clock, lowest) >= first);
		assert_true(uuid_clock_unix_micros(clock, highest) <= last);
		assert_true(lowest == 0 || uuid_clock_unix_micros(clock, lowest - 1) < first);
		assert_true(highest == UUID_TIME_MAX || uuid_clock_unix_micros(clock, highest + 1) > last);
	}
	assert_true(spans > RANDOM_ROUNDS / 10);
}

/* A shift is rounded down to a whole tick or, with whole_ms, to a whole millisecond. */
static void
shifts_by_the_distance(void **state)
{
	const int64_t field_micros = INT64_C(281474976710656000);

	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const uint64_t ticks = test_number(60);
		const bool	whole_ms = round % 2;
		const int64_t micros = random_near(0, round % 4 < 2 ? -field_micros : field_micros);
		/* rounded down, unlike the quotient */
		const int64_t ms = micros / 1000 - (micros % 1000 < 0);
		bool		holds = micros > -field_micros && micros < field_micros;
		int64_t		exact = (int64_t) ticks;
		uint64_t	shifted = 0;

		if (holds)
			exact += ms * 4096 + (whole_ms ? 0 : (micros - ms * 1000) * 4096 / 1000);
		holds = holds && exact >= 0 && exact <= (int64_t) UUID_TIME_MAX;
		assert_int_equal(uuid_clock_v7_shift(ticks, micros, whole_ms, &shifted), holds);
		assert_true(!holds || shifted == (uint64_t) exact);
	}
}

/* The greatest result of uuid_clock_v7_later() is one tick after the field's last tick. */
static void
adds_seconds_and_compares_milliseconds(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const uint64_t ticks = test_number(60);
		const uint32_t seconds = (uint32_t) test_number(32);
		const uint64_t later = ticks + seconds * UINT64_C(4096000);
		const uint64_t now = ticks ^ test_distance(60);

		assert_true(uuid_clock_v7_later(ticks, seconds) ==
					(later <= UUID_TIME_MAX ? later : UUID_TIME_MAX + 1));
		assert_int_equal(uuid_clock_v7_is_behind(now, ticks), now >> 12 < ticks >> 12);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_times_of_the_vectors),
		cmocka_unit_test(holds_exactly_the_times_of_the_field),
		cmocka_unit_test(holds_the_same_times_as_microseconds),
		cmocka_unit_test(reads_whole_microseconds),
		cmocka_unit_test(a_span_agrees_with_the_timestamps_read),
		cmocka_unit_test(shifts_by_the_distance),
		cmocka_unit_test(adds_seconds_and_compares_milliseconds),
	};

	return run_core_tests(tests);
}
