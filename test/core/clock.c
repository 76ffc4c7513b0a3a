/*
 * Tests of the 60-bit time fields: units, epochs, first and last times, conversion in
 * both directions, shifts, and spans of a period.
 */
#include "support.h"

#include "clock.h"

#define RANDOM_ROUNDS 1000000

/* 2022-02-22 19:22:22 UTC, the time of RFC 9562's examples */
#define EXAMPLE_SEC INT64_C(1645557742)

static uint64_t
ticks_of(UuidClock clock, int64_t sec, uint32_t nsec)
{
	uint64_t	ticks = 0;

	if (!uuid_clock_ticks(clock, sec, nsec, &ticks))
		fail_msg("clock %d refuses %" PRId64 " s, %" PRIu32 " ns", clock, sec, nsec);
	return ticks;
}

static uint64_t
ticks_of_micros(UuidClock clock, int64_t micros)
{
	uint64_t	ticks = 0;

	if (!uuid_clock_micros_ticks(clock, micros, &ticks))
		fail_msg("clock %d refuses %" PRId64 " us", clock, micros);
	return ticks;
}

static bool
refuses(UuidClock clock, int64_t sec, uint32_t nsec)
{
	uint64_t	ticks;

	return !uuid_clock_ticks(clock, sec, nsec, &ticks);
}

static void
gives_the_times_of_the_vectors(void **state)
{
	(void) state;
	/* vectors of RFC 9562, A.1, A.5, A.6 and B.1 */
	assert_true(ticks_of(UUID_CLOCK_GREGORIAN, EXAMPLE_SEC, 0) == UINT64_C(0x1ec9414c232ab00));
	assert_true(ticks_of(UUID_CLOCK_V7, EXAMPLE_SEC, 0) == UINT64_C(0x017f22e279b0000));
	assert_true(ticks_of(UUID_CLOCK_V8, EXAMPLE_SEC, 0) == UINT64_C(0x2489e9ad2ee2e00));
	assert_true(uuid_clock_unix_micros(UUID_CLOCK_GREGORIAN, UINT64_C(0x1ec9414c232ab00)) == EXAMPLE_SEC * 1000000);
	assert_true(uuid_clock_unix_micros(UUID_CLOCK_V7, UINT64_C(0x017f22e279b0cc3)) == EXAMPLE_SEC * 1000000);
	assert_true(uuid_clock_unix_micros(UUID_CLOCK_V8, UINT64_C(0x2489e9ad2ee2e00)) == EXAMPLE_SEC * 1000000);
}

/* The fraction of v7 is floor(nanoseconds since the start of the millisecond * 4096 / 1000000). */
static void
fraction_is_as_the_rfc_defines_it(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		uint32_t	nsec = round < 4096 ? (uint32_t) (round * UINT64_C(1000000) / 4096) :
			(uint32_t) (test_bits() % 1000000000);
		uint64_t	expected;

		/* the time is 1000 ms and nsec nanoseconds */
		expected = (UINT64_C(1000) + nsec / 1000000) << 12 | (nsec % 1000000) * UINT64_C(4096) / 1000000;
		assert_true(ticks_of(UUID_CLOCK_V7, 1, nsec) == expected);
	}
}

/*
 * Times that the field cannot hold are refused (RFC 9562, 6.1).  In v8, only times before
 * 1970 are refused.
 */
static void
refuses_a_time_outside_the_field(void **state)
{
	const int64_t gregorian = -INT64_C(12219292800);	/* 1582-10-15 */
	const int64_t last_v6 = INT64_C(103072857660);	/* 5236-03-31 21:21:00 */
	const int64_t last_v7 = INT64_C(281474976710);	/* 10889-08-02 05:31:50 */

	(void) state;
	assert_true(ticks_of(UUID_CLOCK_GREGORIAN, gregorian, 0) == 0);
	assert_true(refuses(UUID_CLOCK_GREGORIAN, gregorian - 1, 999999999));
	assert_true(ticks_of(UUID_CLOCK_GREGORIAN, last_v6, 684697599) == UUID_TIME_MAX);
	assert_true(refuses(UUID_CLOCK_GREGORIAN, last_v6, 684697600));
	assert_true(refuses(UUID_CLOCK_GREGORIAN, last_v6 + 1, 0));
	assert_true(refuses(UUID_CLOCK_GREGORIAN, INT64_MAX, 0));
	assert_true(refuses(UUID_CLOCK_GREGORIAN, INT64_MIN, 0));

	assert_true(ticks_of(UUID_CLOCK_V7, 0, 0) == 0);
	assert_true(refuses(UUID_CLOCK_V7, -1, 999999999));
	assert_true(ticks_of(UUID_CLOCK_V7, last_v7, 655999999) == UUID_TIME_MAX);
	assert_true(refuses(UUID_CLOCK_V7, last_v7, 656000000));
	assert_true(refuses(UUID_CLOCK_V7, last_v7 + 1, 0));
	assert_true(refuses(UUID_CLOCK_V7, INT64_MAX, 0));
	assert_true(refuses(UUID_CLOCK_V7, INT64_MIN, 0));

	assert_true(ticks_of(UUID_CLOCK_V8, 0, 0) == 0);
	assert_true(refuses(UUID_CLOCK_V8, -1, 999999999));
	assert_true(refuses(UUID_CLOCK_V8, INT64_MIN, 0));
}

/* v8 keeps the least significant 60 bits of a time (RFC 9562, 6.1, truncating). */
static void
v8_keeps_the_least_significant_bits(void **state)
{
	/* 2^60 * 10 ns is 11529215046.06846976 seconds */
	const int64_t round = INT64_C(11529215046);

	(void) state;
	assert_true(ticks_of(UUID_CLOCK_V8, round, 68469759) == UUID_TIME_MAX);
	assert_true(ticks_of(UUID_CLOCK_V8, round, 68469760) == 0);
	assert_true(ticks_of(UUID_CLOCK_V8, round, 68469770) == 1);
	assert_true(ticks_of(UUID_CLOCK_V8, 3 * round, 205409280 + 420) == 42);
}

/* Random microseconds, and microseconds near the ends of the field, are read back unchanged. */
static void
reads_back_every_whole_microsecond(void **state)
{
	const int64_t first_v6 = -INT64_C(12219292800000000);
	const int64_t last_v6 = INT64_C(103072857660684697);
	const int64_t last_v7 = INT64_C(281474976710655999);
	const int64_t last_v8 = INT64_C(11529215046068469);

	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		int64_t		v6 = first_v6 + (int64_t) (test_bits() % (uint64_t) (last_v6 - first_v6 + 1));
		int64_t		v7 = (int64_t) (test_bits() % (uint64_t) (last_v7 + 1));
		int64_t		v8 = (int64_t) (test_bits() % (uint64_t) (last_v8 + 1));

		if (round < 1000)
		{
			v6 = first_v6 + round;
			v7 = round;
			v8 = round;
		}
		else if (round < 2000)
		{
			v6 = last_v6 - (round - 1000);
			v7 = last_v7 - (round - 1000);
			v8 = last_v8 - (round - 1000);
		}
		assert_true(uuid_clock_unix_micros(UUID_CLOCK_GREGORIAN, ticks_of_micros(UUID_CLOCK_GREGORIAN, v6)) == v6);
		assert_true(uuid_clock_v7_unix_micros(ticks_of_micros(UUID_CLOCK_V7, v7)) == v7);
		assert_true(uuid_clock_unix_micros(UUID_CLOCK_V7, ticks_of_micros(UUID_CLOCK_V7, v7)) == v7 / 1000 * 1000);
		assert_true(uuid_clock_unix_micros(UUID_CLOCK_V8, ticks_of_micros(UUID_CLOCK_V8, v8)) == v8);
	}
}

/*
 * The microsecond that is read from a tick is in the tick's millisecond.  It begins less
 * than 1 us before the tick, or during the tick.
 */
static void
v7_microseconds_stay_in_their_millisecond(void **state)
{
	int64_t		previous = 0;

	(void) state;
	for (uint64_t fraction = 0; fraction < 4096; fraction++)
	{
		int64_t		micros = uuid_clock_v7_unix_micros(UINT64_C(7) << 12 | fraction) - 7000;
		double		begins = (double) fraction * 1000 / 4096;

		assert_true(micros >= previous && micros <= 999);
		assert_true(micros > begins - 1 && micros < begins + 1000.0 / 4096);
		previous = micros;
	}
	assert_int_equal(previous, 999);
}

/* A shift is rounded down to a whole tick or, with whole_ms, to a whole millisecond. */
static void
shifts_by_the_distance(void **state)
{
	const uint64_t start = UINT64_C(0x017f22e279b0cc3);
	uint64_t	shifted;

	(void) state;
	assert_true(uuid_clock_v7_shift(start, 0, false, &shifted) && shifted == start);
	assert_true(uuid_clock_v7_shift(start, 1000, false, &shifted) && shifted == start + 4096);
	assert_true(uuid_clock_v7_shift(start, -1000, false, &shifted) && shifted == start - 4096);
	assert_true(uuid_clock_v7_shift(start, 125, false, &shifted) && shifted == start + 512);
	assert_true(uuid_clock_v7_shift(start, -125, false, &shifted) && shifted == start - 512);
	/* 1 us is 4.096 ticks, rounded down to 4; -4.096 is rounded down to -5 */
	assert_true(uuid_clock_v7_shift(start, 1, false, &shifted) && shifted == start + 4);
	assert_true(uuid_clock_v7_shift(start, -1, false, &shifted) && shifted == start - 5);
	assert_true(uuid_clock_v7_shift(start, 1999, true, &shifted) && shifted == start + 4096);
	assert_true(uuid_clock_v7_shift(start, -1, true, &shifted) && shifted == start - 4096);
	assert_true(uuid_clock_v7_shift(start, INT64_C(3600000000), true, &shifted) &&
				shifted == start + UINT64_C(3600000) * 4096);
}

static void
a_shift_out_of_the_field_is_refused(void **state)
{
	const int64_t field_micros = INT64_C(281474976710656000);
	uint64_t	shifted;

	(void) state;
	assert_true(uuid_clock_v7_shift(4096, -1000, false, &shifted) && shifted == 0);
	assert_false(uuid_clock_v7_shift(4095, -1000, false, &shifted));
	assert_false(uuid_clock_v7_shift(4096, -1001, false, &shifted));
	assert_true(uuid_clock_v7_shift(0, field_micros - 1000, false, &shifted) &&
				shifted == UUID_TIME_MAX - 4095);
	assert_false(uuid_clock_v7_shift(0, field_micros, false, &shifted));
	assert_true(uuid_clock_v7_shift(UUID_TIME_MAX, -field_micros + 1000, false, &shifted) &&
				shifted == 4095);
	assert_false(uuid_clock_v7_shift(UUID_TIME_MAX, -field_micros, false, &shifted));
	assert_false(uuid_clock_v7_shift(UUID_TIME_MAX, 1, false, &shifted));
	assert_false(uuid_clock_v7_shift(0, INT64_MAX, false, &shifted));
	assert_false(uuid_clock_v7_shift(UUID_TIME_MAX, INT64_MIN, false, &shifted));
}

/* Microseconds outside the fields are refused, and do not overflow to valid times. */
static void
refuses_microseconds_outside_the_field(void **state)
{
	uint64_t	ticks;

	(void) state;
	assert_false(uuid_clock_micros_ticks(UUID_CLOCK_V7, -1, &ticks));
	assert_false(uuid_clock_micros_ticks(UUID_CLOCK_V7, INT64_C(281474976710656000), &ticks));
	assert_false(uuid_clock_micros_ticks(UUID_CLOCK_GREGORIAN, -INT64_C(12219292800000001), &ticks));
	assert_false(uuid_clock_micros_ticks(UUID_CLOCK_GREGORIAN, INT64_C(103072857660684698), &ticks));
	for (UuidClock clock = UUID_CLOCK_GREGORIAN; clock <= UUID_CLOCK_V7; clock++)
	{
		assert_false(uuid_clock_micros_ticks(clock, INT64_MIN, &ticks));
		assert_false(uuid_clock_micros_ticks(clock, INT64_MAX, &ticks));
	}
}

/*
 * A span contains the milliseconds (v7) or microseconds (v1 and v6) that begin in the
 * period and in the range of the field.
 */
static void
a_span_holds_the_times_of_its_period(void **state)
{
	const int64_t first_v6 = -INT64_C(12219292800000000);
	const int64_t last_v7 = INT64_C(281474976710655000);
	uint64_t	lowest;
	uint64_t	highest;

	(void) state;
	assert_true(uuid_clock_span(UUID_CLOCK_V7, 5000, 6000, &lowest, &highest));
	assert_true(lowest == 5 * 4096 && highest == 7 * 4096 - 1);
	/* only millisecond 6 begins in the period */
	assert_true(uuid_clock_span(UUID_CLOCK_V7, 5001, 6999, &lowest, &highest));
	assert_true(lowest == 6 * 4096 && highest == 7 * 4096 - 1);
	assert_false(uuid_clock_span(UUID_CLOCK_V7, 5001, 5999, &lowest, &highest));
	assert_false(uuid_clock_span(UUID_CLOCK_V7, 6000, 5999, &lowest, &highest));

	assert_true(uuid_clock_span(UUID_CLOCK_GREGORIAN, first_v6 + 5, first_v6 + 6, &lowest, &highest));
	assert_true(lowest == 50 && highest == 69);
	assert_false(uuid_clock_span(UUID_CLOCK_GREGORIAN, 6, 5, &lowest, &highest));

	/*
	 * an unbounded period contains the whole field; a period that begins at infinity or
	 * ends at -infinity contains nothing
	 */
	for (UuidClock clock = UUID_CLOCK_GREGORIAN; clock <= UUID_CLOCK_V7; clock++)
	{
		assert_true(uuid_clock_span(clock, INT64_MIN, INT64_MAX, &lowest, &highest));
		assert_true(lowest == 0 && highest == UUID_TIME_MAX);
		assert_false(uuid_clock_span(clock, INT64_MAX, INT64_MAX, &lowest, &highest));
		assert_false(uuid_clock_span(clock, INT64_MIN, INT64_MIN, &lowest, &highest));
	}

	/* periods at the ends of the field, and just outside the field */
	assert_true(uuid_clock_span(UUID_CLOCK_V7, -5, 0, &lowest, &highest));
	assert_true(lowest == 0 && highest == 4095);
	assert_false(uuid_clock_span(UUID_CLOCK_V7, -5, -1, &lowest, &highest));
	assert_true(uuid_clock_span(UUID_CLOCK_V7, last_v7, last_v7, &lowest, &highest));
	assert_true(lowest == UUID_TIME_MAX - 4095 && highest == UUID_TIME_MAX);
	assert_false(uuid_clock_span(UUID_CLOCK_V7, last_v7 + 1, INT64_MAX, &lowest, &highest));
	assert_false(uuid_clock_span(UUID_CLOCK_GREGORIAN, INT64_MIN, first_v6 - 1, &lowest, &highest));
	assert_true(uuid_clock_span(UUID_CLOCK_GREGORIAN, INT64_C(103072857660684697), INT64_MAX, &lowest, &highest));
	assert_true(lowest == UUID_TIME_MAX - 5 && highest == UUID_TIME_MAX);
	assert_false(uuid_clock_span(UUID_CLOCK_GREGORIAN, INT64_C(103072857660684698), INT64_MAX, &lowest, &highest));
}

/* A span begins and ends in its period; the ticks before and after it are outside. */
static void
a_span_agrees_with_the_timestamps_read(void **state)
{
	int			spans = 0;

	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		UuidClock	clock = round % 2;
		int64_t		first = (int64_t) (test_bits() % UINT64_C(300000000000000000)) - INT64_C(15000000000000000);
		int64_t		last = first + (int64_t) (test_bits() % (round % 4 < 2 ? 3000 : UINT64_C(300000000000000000)));
		uint64_t	lowest;
		uint64_t	highest;

		if (!uuid_clock_span(clock, first, last, &lowest, &highest))
		{
			uint64_t	ticks;

			/* no time of the field is in the period */
			assert_false(uuid_clock_micros_ticks(clock, last, &ticks) &&
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

/* uuid_clock_v7_later() adds seconds.  The greatest result is one tick after the field's last tick. */
static void
adds_seconds(void **state)
{
	(void) state;
	assert_true(uuid_clock_v7_later(4096 + 7, 2) == 2001 * 4096 + 7);
	assert_true(uuid_clock_v7_later(4097, 0) == 4097);
	assert_true(uuid_clock_v7_later(UUID_TIME_MAX - 4096000, 1) == UUID_TIME_MAX);
	assert_true(uuid_clock_v7_later(UUID_TIME_MAX - 4095999, 1) == UUID_TIME_MAX + 1);
	assert_true(uuid_clock_v7_later(UUID_TIME_MAX, UINT32_MAX) == UUID_TIME_MAX + 1);
	for (int round = 0; round < 1000; round++)
	{
		int64_t		sec = (int64_t) (test_bits() % INT64_C(10000000000));
		uint32_t	seconds = (uint32_t) (test_bits() % 86400);

		assert_true(uuid_clock_v7_later(ticks_of(UUID_CLOCK_V7, sec, 0), seconds) ==
					ticks_of(UUID_CLOCK_V7, sec + seconds, 0));
	}
}

/* uuid_clock_v7_is_behind() compares milliseconds. */
static void
reports_that_the_clock_is_behind(void **state)
{
	(void) state;
	assert_true(uuid_clock_v7_is_behind(8191, 8192));
	assert_false(uuid_clock_v7_is_behind(4096, 4097));
	assert_false(uuid_clock_v7_is_behind(4096, 8191));
	assert_false(uuid_clock_v7_is_behind(8192, 8192));
	assert_false(uuid_clock_v7_is_behind(8192, 8191));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_times_of_the_vectors),
		cmocka_unit_test(fraction_is_as_the_rfc_defines_it),
		cmocka_unit_test(refuses_a_time_outside_the_field),
		cmocka_unit_test(v8_keeps_the_least_significant_bits),
		cmocka_unit_test(reads_back_every_whole_microsecond),
		cmocka_unit_test(refuses_microseconds_outside_the_field),
		cmocka_unit_test(a_span_holds_the_times_of_its_period),
		cmocka_unit_test(a_span_agrees_with_the_timestamps_read),
		cmocka_unit_test(adds_seconds),
		cmocka_unit_test(reports_that_the_clock_is_behind),
		cmocka_unit_test(v7_microseconds_stay_in_their_millisecond),
		cmocka_unit_test(shifts_by_the_distance),
		cmocka_unit_test(a_shift_out_of_the_field_is_refused),
	};

	return run_core_tests(tests);
}
