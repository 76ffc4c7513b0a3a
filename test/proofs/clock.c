/*
 * Properties of clocks, for all times and numbers of seconds, microseconds and ticks.
 */
#include "proofs.h"

#include "clock.h"

/* Exact results need more than 64 bits. */
typedef __int128 Exact;

#define EPOCH_MICROS	(INT64_C(-12219292800) * 1000000)

/* Section 6.1 and table at the head of clock.h */
PROPERTY(units_are_those_of_the_rfc)
{
	const UuidClockUnit *gregorian = &uuid_clock_units[UUID_CLOCK_GREGORIAN];
	const UuidClockUnit *v7 = &uuid_clock_units[UUID_CLOCK_V7];
	const UuidClockUnit *v8 = &uuid_clock_units[UUID_CLOCK_V8];

	/* 0x01b21dd213814000 in RFC 4122 */
	assert(gregorian->sec_before_1970 == 12219292800 && gregorian->per_sec == 10000000);
	assert(v7->sec_before_1970 == 0 && v7->per_sec == 4096 * 1000);
	assert(v8->sec_before_1970 == 0 && v8->per_sec == 100000000);
	assert(gregorian->reading_ticks == 10 && gregorian->reading_micros == 1);
	assert(v7->reading_ticks == 4096 && v7->reading_micros == 1000);
	assert(v8->reading_ticks == 100 && v8->reading_micros == 1);
	for (int i = 0; i < 3; i++)
	{
		const UuidClockUnit *unit = &uuid_clock_units[i];

		assert(unit->per_sec * unit->denominator == unit->numerator * UINT64_C(1000000000));
		assert(unit->per_sec * unit->reading_micros == unit->reading_ticks * 1000000);
	}
}

/* --- conversion to ticks ------------------------------------------------------------- */

/* Check that a field has a time, which is a number of ticks, if it can hold the time. */
static void
holds(bool held, uint64_t ticks, Exact exact)
{
	assert(held == (exact >= 0 && exact <= UUID_TIME_MAX));
	assert(!held || ticks == exact);
}

static uint32_t
any_nsec(void)
{
	uint32_t	nsec = nondet_uint32();

	assume(nsec < 1000000000);
	return nsec;
}

/* [--integers --wraps] */
PROPERTY(ticks_of_v6_are_those_since_1582)
{
	int64_t		sec = nondet_int64();
	uint32_t	nsec = any_nsec();
	uint64_t	ticks = 0;
	bool		held = uuid_clock_ticks(UUID_CLOCK_GREGORIAN, sec, nsec, &ticks);

	holds(held, ticks, ((Exact) sec + 12219292800) * 10000000 + nsec / 100);
}

/* [--integers --wraps] */
PROPERTY(ticks_of_v7_are_those_since_1970)
{
	int64_t		sec = nondet_int64();
	uint32_t	nsec = any_nsec();
	uint64_t	ticks = 0;
	bool		held = uuid_clock_ticks(UUID_CLOCK_V7, sec, nsec, &ticks);

	/* 4096 * 1000 ticks in 10^9 nanoseconds */
	holds(held, ticks, (Exact) sec * 4096000 + (uint64_t) nsec * 512 / 125000);
}

/* [--integers --wraps] */
PROPERTY(field_of_v8_has_the_low_bits_of_the_time)
{
	int64_t		sec = nondet_int64();
	uint32_t	nsec = any_nsec();
	uint64_t	ticks = 0;
	bool		held = uuid_clock_ticks(UUID_CLOCK_V8, sec, nsec, &ticks);

	assert(held == (sec >= 0));
	assert(!held || ticks == ((Exact) sec * 100000000 + nsec / 10) % (UUID_TIME_MAX + 1));
}

/* [--integers --wraps] */
PROPERTY(microseconds_are_converted_to_v6_and_back)
{
	int64_t		micros = nondet_int64();
	uint64_t	ticks = 0;
	bool		held = uuid_clock_micros_ticks(UUID_CLOCK_GREGORIAN, micros, &ticks);

	holds(held, ticks, ((Exact) micros - EPOCH_MICROS) * 10);
	assert(!held || uuid_clock_unix_micros(UUID_CLOCK_GREGORIAN, ticks) == micros);
}

/* [--integers --wraps] */
PROPERTY(microseconds_are_converted_to_v7_and_back)
{
	int64_t		micros = nondet_int64();
	uint64_t	ticks = 0;
	bool		held = uuid_clock_micros_ticks(UUID_CLOCK_V7, micros, &ticks);

	if (micros < 0)
		assert(!held);
	else
		holds(held, ticks, (Exact) micros * 4096 / 1000);
	assert(!held || uuid_clock_v7_unix_micros(ticks) == micros);
}

/* [--integers --wraps] */
PROPERTY(microseconds_are_converted_to_the_low_bits_of_v8)
{
	int64_t		micros = nondet_int64();
	uint64_t	ticks = 0;
	bool		held = uuid_clock_micros_ticks(UUID_CLOCK_V8, micros, &ticks);

	assert(held == (micros >= 0));
	assert(!held || ticks == (Exact) micros * 100 % (UUID_TIME_MAX + 1));
}

/* --- conversion from ticks ----------------------------------------------------------- */

/* [--integers] */
PROPERTY(readings_are_rounded_down_to_microseconds_or_in_v7_to_milliseconds)
{
	uint64_t	ticks = any_time();

	assert(uuid_clock_unix_micros(UUID_CLOCK_GREGORIAN, ticks) ==
		   (int64_t) (ticks / 10) + EPOCH_MICROS);
	assert(uuid_clock_unix_micros(UUID_CLOCK_V7, ticks) == (int64_t) (ticks / 4096) * 1000);
	assert(uuid_clock_unix_micros(UUID_CLOCK_V8, ticks) == (int64_t) (ticks / 100));
}

/* [--integers] */
PROPERTY(a_tick_of_v7_is_read_as_the_last_microsecond_before_its_end)
{
	uint64_t	ticks = any_time();
	Exact		micros = uuid_clock_v7_unix_micros(ticks);
	Exact		end = ((Exact) ticks + 1) * 1000;	/* in 1/4096 microseconds */

	assert(micros * 4096 < end && end <= (micros + 1) * 4096);
}

/* --- periods ------------------------------------------------------------------------- */

static void
check_period(UuidClock clock)
{
	uint64_t	ticks = any_time();
	int64_t		micros = uuid_clock_unix_micros(clock, ticks);
	int64_t		first = any_near(micros);
	int64_t		last = any_near(micros);
	uint64_t	smallest;
	uint64_t	greatest;
	bool		found = uuid_clock_span(clock, first, last, &smallest, &greatest);

	if (found)
		assert(smallest <= greatest && greatest <= UUID_TIME_MAX);
	if (micros < first)
		assert(!found || ticks < smallest);
	else if (micros > last)
		assert(!found || ticks > greatest);
	else
		assert(found && ticks >= smallest && ticks <= greatest);
}

/* [--integers --wraps] */
PROPERTY(period_of_v6_has_the_values_from_the_smallest_to_the_greatest)
{
	check_period(UUID_CLOCK_GREGORIAN);
}

/* [--integers --wraps] */
PROPERTY(period_of_v7_has_the_values_from_the_smallest_to_the_greatest)
{
	check_period(UUID_CLOCK_V7);
}

/* --- arithmetic ---------------------------------------------------------------------- */

/* Return the quotient, rounded down. */
static Exact
divide(Exact dividend, Exact divisor)
{
	return dividend / divisor - (dividend % divisor < 0);
}

/* [--integers] */
PROPERTY(shifting_adds_microseconds_rounded_down_to_ticks)
{
	uint64_t	ticks = any_time();
	int64_t		micros = nondet_int64();
	uint64_t	shifted = 0;
	bool		held = uuid_clock_v7_shift(ticks, micros, false, &shifted);

	holds(held, shifted, ticks + divide((Exact) micros * 4096, 1000));
}

/* [--integers] */
PROPERTY(shifting_adds_microseconds_rounded_down_to_milliseconds)
{
	uint64_t	ticks = any_time();
	int64_t		micros = nondet_int64();
	uint64_t	shifted = 0;
	bool		held = uuid_clock_v7_shift(ticks, micros, true, &shifted);

	holds(held, shifted, ticks + divide(micros, 1000) * 4096);
}

/* [--integers] */
PROPERTY(later_times_are_those_after_the_seconds)
{
	uint64_t	ticks = any_time();
	uint32_t	seconds = nondet_uint32();
	uint64_t	exact = ticks + seconds * UINT64_C(4096000);

	if (exact > UUID_TIME_MAX)
		exact = UUID_TIME_MAX + 1;
	assert(uuid_clock_v7_later(ticks, seconds) == exact);
}

PROPERTY(clock_is_behind_by_a_millisecond)
{
	uint64_t	ticks = any_time();
	uint64_t	now = any_time();

	assert(uuid_clock_v7_is_behind(now, ticks) == (now >> 12 < ticks >> 12));
}
