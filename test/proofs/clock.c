/*
 * Properties of clocks.  CBMC cannot decide divisions of all 64-bit numbers of microseconds, so
 * some properties visit all microseconds or ticks of a few seconds instead.
 */
#include "proofs.h"

#include "clock.h"

/* Section 6.1, and the table in the header of clock.h */
void
units_are_those_of_the_rfc(void)
{
	const UuidClockUnit *gregorian = &uuid_clock_units[UUID_CLOCK_GREGORIAN];
	const UuidClockUnit *v7 = &uuid_clock_units[UUID_CLOCK_V7];
	const UuidClockUnit *v8 = &uuid_clock_units[UUID_CLOCK_V8];

	/* 0x01b21dd213814000 in RFC 4122 */
	assert(gregorian->epoch_sec == 12219292800 && gregorian->per_sec == 10000000);
	assert(v7->epoch_sec == 0 && v7->per_sec == 4096 * 1000);
	assert(v8->epoch_sec == 0 && v8->per_sec == 100000000);
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

static void
check_ticks(UuidClock clock, uint64_t epoch, uint64_t per_sec, uint64_t numerator, uint64_t denominator)
{
	int64_t		sec = nondet_int64();
	uint32_t	nsec = nondet_uint32();
	uint64_t	since = (uint64_t) sec + epoch;
	uint64_t	ticks;
	uint64_t	exact = since * per_sec + (uint64_t) nsec * numerator / denominator;

	assume(nsec < 1000000000);
	if (uuid_clock_ticks(clock, sec, nsec, &ticks))
		assert(since <= UUID_TIME_MAX / per_sec && exact <= UUID_TIME_MAX && ticks == exact);
	else
		assert(since > UUID_TIME_MAX / per_sec || exact > UUID_TIME_MAX);
}

/* [--cvc5] */
void
ticks_of_v6_are_those_since_1582(void)
{
	check_ticks(UUID_CLOCK_GREGORIAN, 12219292800, 10000000, 1, 100);
}

/* [--cvc5] */
void
ticks_of_v7_are_those_since_1970(void)
{
	check_ticks(UUID_CLOCK_V7, 0, 4096000, 64, 15625);
}

/* [--cvc5] */
void
field_of_v8_has_the_low_bits_of_the_time(void)
{
	int64_t		sec = nondet_int64();
	uint32_t	nsec = nondet_uint32();
	uint64_t	ticks;
	bool		held;

	assume(nsec < 1000000000);
	held = uuid_clock_ticks(UUID_CLOCK_V8, sec, nsec, &ticks);
	assert(held == (sec >= 0));
	if (held)
		assert(ticks == (((uint64_t) sec * 100000000 + nsec / 10) & UUID_TIME_MAX));
}

/*
 * Visit each microsecond of the two seconds before and after 1970, of the first second of v6, and
 * of two later seconds.  [visits all values]
 */
void
microseconds_of_a_second_are_converted_and_back(void)
{
	const int64_t starts[] = {-2, -1, 0, 1, -12219292800, 1600000000, 253402300799};

	for (int i = 0; i < 7; i++)
	{
		for (int64_t micros = 0; micros < 1000000; micros++)
		{
			for (int clock = 0; clock < 3; clock++)
			{
				int64_t		unix_micros = starts[i] * 1000000 + micros;
				int64_t		epoch = clock == UUID_CLOCK_GREGORIAN ? -12219292800 : 0;
				bool		held = starts[i] >= epoch && !(clock == UUID_CLOCK_GREGORIAN && starts[i] > 103072857660);
				uint64_t	ticks;

				assert(uuid_clock_micros_ticks((UuidClock) clock, unix_micros, &ticks) == held);
				if (!held)
					continue;
				if (clock == UUID_CLOCK_V7)
				{
					assert(ticks == (uint64_t) (unix_micros / 1000 * 4096 + unix_micros % 1000 * 4096 / 1000));
					assert(uuid_clock_v7_unix_micros(ticks) == unix_micros);
					assert(uuid_clock_unix_micros(UUID_CLOCK_V7, ticks) == unix_micros / 1000 * 1000);
				}
				else if (clock == UUID_CLOCK_GREGORIAN)
				{
					assert(ticks == (uint64_t) (unix_micros - epoch * 1000000) * 10);
					assert(uuid_clock_unix_micros(UUID_CLOCK_GREGORIAN, ticks) == unix_micros);
				}
				else if (starts[i] < 10000000000)
					assert(uuid_clock_unix_micros(UUID_CLOCK_V8, ticks) == unix_micros);
			}
		}
	}
}

/* Each of the 4,096,000 ticks of a second. [visits all values] */
void
ticks_of_a_second_are_read_as_the_microsecond_before_their_end(void)
{
	for (uint64_t tick = 0; tick < 4096000; tick++)
	{
		int64_t		micros = uuid_clock_v7_unix_micros(tick);

		/* micros < (tick + 1) * 1000 / 4096 <= micros + 1 */
		assert(micros * 4096 < (int64_t) (tick + 1) * 1000 && (int64_t) (tick + 1) * 1000 <= (micros + 1) * 4096);
		assert(uuid_clock_unix_micros(UUID_CLOCK_V7, tick) == (int64_t) tick / 4096 * 1000);
	}
}

/* Together with the previous property, this covers all ticks of the field. [--cvc5] */
void
readings_of_v7_are_those_of_the_millisecond_and_the_rest(void)
{
	uint64_t	ticks = any_time();
	int64_t		ms = (int64_t) (ticks / 4096) * 1000;

	assert(uuid_clock_unix_micros(UUID_CLOCK_V7, ticks) == ms);
	assert(uuid_clock_v7_unix_micros(ticks) == ms + (int64_t) ((ticks % 4096 + 1) * 1000 - 1) / 4096);
}

void
period_of_v6_has_the_values_from_the_smallest_to_the_greatest(void)
{
	int64_t		first = nondet_int64();
	int64_t		last = nondet_int64();
	uint64_t	ticks = any_time();
	int64_t		micros = uuid_clock_unix_micros(UUID_CLOCK_GREGORIAN, ticks);
	bool		inside = micros >= first && micros <= last;
	uint64_t	smallest;
	uint64_t	greatest;

	if (uuid_clock_span(UUID_CLOCK_GREGORIAN, first, last, &smallest, &greatest))
		assert(inside == (ticks >= smallest && ticks <= greatest) && smallest <= greatest && greatest <= UUID_TIME_MAX);
	else
		assert(!inside);
}

void
later_times_are_those_after_the_seconds(void)
{
	uint64_t	ticks = any_time();
	uint32_t	seconds = nondet_uint32();
	uint64_t	exact = ticks + seconds * UINT64_C(4096000);

	assert(uuid_clock_v7_later(ticks, seconds) == (exact > UUID_TIME_MAX ? UUID_TIME_MAX + 1 : exact));
}

void
clock_is_behind_by_a_millisecond(void)
{
	uint64_t	ticks = any_time();
	uint64_t	now = any_time();

	assert(uuid_clock_v7_is_behind(now, ticks) == (now >> 12 < ticks >> 12));
}

/* Shift by each number of microseconds from -2000 to 2000. [visits all values] */
void
shifting_rounds_microseconds_down(void)
{
	const uint64_t ticks = UINT64_C(1700000000000) * 4096 + 4095;

	for (int64_t micros = -2000; micros <= 2000; micros++)
	{
		int64_t		product = (micros + 10000) * 4096;
		uint64_t	shifted;

		assert(uuid_clock_v7_shift(ticks, micros, false, &shifted));
		assert((int64_t) (shifted - ticks) + 40960 == product / 1000);
		assert(uuid_clock_v7_shift(ticks, micros, true, &shifted));
		assert((int64_t) (shifted - ticks) + 40960 == (micros + 10000) / 1000 * 4096);
	}
}
