/*
 * Properties of the generator, for all previous payloads, times, random bits and methods.
 */
#include "proofs.h"

#include "generator.h"

static UuidRandom
any_random(void)
{
	UuidRandom	random = {nondet_uint64(), nondet_uint64()};

	return random;
}

static UuidMethod
any_method(void)
{
	return (UuidMethod) any_from(UUID_METHOD_FRACTION, UUID_METHOD_RANDOM);
}

static bool
less(UuidPayload a, UuidPayload b)
{
	return a.time != b.time ? a.time < b.time : a.tail < b.tail;
}

PROPERTY(every_value_is_greater_than_the_previous_one)
{
	UuidPayload previous = any_payload();
	UuidPayload next = previous;

	if (uuid_generator_next(&next, any_time(), any_random(), any_method()) == UUID_NEXT_EXHAUSTED)
		assert(same_payload(next, previous));
	else
	{
		assert(next.time <= UUID_TIME_MAX && next.tail <= UUID_TAIL_MAX);
		assert(less(previous, next));
	}
}

/* The counter of the last tick, or with method counter of the last millisecond, must overflow. */
PROPERTY(the_generator_is_exhausted_only_at_the_end)
{
	UuidPayload previous = any_payload();
	UuidPayload next = previous;
	UuidMethod	method = any_method();
	UuidRandom	random = any_random();
	UuidNext	outcome = uuid_generator_next(&next, any_time(), random, method);
	bool		full = previous.tail >> 58 == 15;

	if (method == UUID_METHOD_RANDOM)
		full = previous.tail + random.tail % (UINT64_C(1) << 32) >= UUID_TAIL_MAX;
	assert((outcome == UUID_NEXT_EXHAUSTED) == (previous.time == UUID_TIME_MAX && full));
}

PROPERTY(a_later_clock_sets_the_time)
{
	UuidPayload previous = any_payload();
	UuidPayload next = previous;
	UuidRandom	random = any_random();
	UuidMethod	method = any_method();
	uint64_t	now = any_time();
	uint64_t	tick = method == UUID_METHOD_COUNTER ? 4096 : 1;
	bool		later = now / tick > previous.time / tick;

	assert((uuid_generator_next(&next, now, random, method) == UUID_NEXT_LATER) == later);
	if (later)
	{
		assert(next.time / tick == now / tick);
		/* the top bit of the counter is zero, and the other bits are random */
		if (method == UUID_METHOD_COUNTER)
		{
			assert(next.time % 4096 * 16 + (next.tail >> 58) == random.seed % 32768);
			assert(next.tail % (UINT64_C(1) << 58) == random.tail % (UINT64_C(1) << 58));
		}
		else
			assert(next.tail == random.tail % (UINT64_C(1) << 61));
	}
}

PROPERTY(fraction_steps_a_counter_of_four_bits)
{
	UuidPayload previous = any_payload();
	UuidPayload next = previous;
	UuidRandom	random = any_random();
	uint64_t	now = any_time();
	UuidNext	outcome;

	assume(now <= previous.time);
	outcome = uuid_generator_next(&next, now, random, UUID_METHOD_FRACTION);
	assert((outcome == UUID_NEXT_STEPPED) == (previous.tail >> 58 < 15));
	if (outcome == UUID_NEXT_STEPPED)
	{
		assert(next.time == previous.time && next.tail >> 58 == (previous.tail >> 58) + 1);
		assert(next.tail % (UINT64_C(1) << 58) == random.tail % (UINT64_C(1) << 58));
	}
	else if (outcome == UUID_NEXT_AHEAD)
		assert(next.time == previous.time + 1 && next.tail == random.tail % (UINT64_C(1) << 61));
}

PROPERTY(counter_steps_sixteen_bits)
{
	UuidPayload previous = any_payload();
	UuidPayload next = previous;
	UuidRandom	random = any_random();
	uint64_t	now = any_time();
	uint64_t	before = uuid_payload_ordinal(previous);
	UuidNext	outcome;

	assume(now / 4096 <= previous.time / 4096);
	outcome = uuid_generator_next(&next, now, random, UUID_METHOD_COUNTER);
	assert((outcome == UUID_NEXT_STEPPED) == (before % 65536 < 65535));
	if (outcome == UUID_NEXT_STEPPED)
		assert(uuid_payload_ordinal(next) == before + 1);
	else if (outcome == UUID_NEXT_AHEAD)
		assert(uuid_payload_ordinal(next) == before + 1 + random.seed % 32768);
	if (outcome != UUID_NEXT_EXHAUSTED)
		assert(next.tail % (UINT64_C(1) << 58) == random.tail % (UINT64_C(1) << 58));
}

PROPERTY(random_adds_1_to_2_to_the_32)
{
	UuidPayload previous = any_payload();
	UuidPayload next = previous;
	UuidRandom	random = any_random();
	uint64_t	now = any_time();
	UuidNext	outcome;

	assume(now <= previous.time);
	outcome = uuid_generator_next(&next, now, random, UUID_METHOD_RANDOM);
	if (outcome == UUID_NEXT_STEPPED)
	{
		assert(next.time == previous.time);
		assert(next.tail == previous.tail + 1 + random.tail % (UINT64_C(1) << 32));
	}
	else if (outcome == UUID_NEXT_AHEAD)
	{
		assert(next.time == previous.time + 1 && next.tail == random.tail % (UINT64_C(1) << 61));
		assert(previous.tail + random.tail % (UINT64_C(1) << 32) >= UUID_TAIL_MAX);
	}
}

/*
 * The next value has the given time or a later one.  If the clock is earlier, the next value is in
 * the same millisecond as the given time.
 */
PROPERTY(a_generator_continues_from_a_time)
{
	UuidMethod	method = any_method();
	uint64_t	time = any_time();
	uint64_t	now = any_time();
	UuidPayload next = uuid_payload_before(time);
	UuidPayload smallest = {time, 0};

	assert(next.time <= UUID_TIME_MAX && next.tail <= UUID_TAIL_MAX);
	/* the state is the greatest payload before the time */
	if (time == 0)
		assert(next.time == 0 && next.tail == 0);
	else
		assert(next.time + 1 == time && next.tail == UUID_TAIL_MAX);
	assert(uuid_generator_next(&next, now, any_random(), method) != UUID_NEXT_EXHAUSTED);
	assert(!less(next, smallest));
	assert(time == 0 || now >= time || next.time / 4096 == time / 4096);
}

PROPERTY(payloads_are_ordered_by_time_and_tail)
{
	UuidPayload a = any_payload();
	UuidPayload b = any_payload();

	assert(uuid_payload_less(a, b) == less(a, b));
}

PROPERTY(advancing_keeps_the_greater_payload)
{
	UuidPayload a = any_payload();
	UuidPayload b = any_payload();
	UuidPayload advanced = a;

	uuid_payload_advance(&advanced, b);
	assert(same_payload(advanced, less(a, b) ? b : a));
}

/* The previous value can be from another method. */
PROPERTY(ordinals_of_fractions_increase)
{
	UuidPayload previous = any_payload();
	UuidPayload next = previous;
	UuidRandom	random = any_random();
	UuidNext	outcome = uuid_generator_next(&next, any_time(), random, UUID_METHOD_FRACTION);

	assert(uuid_payload_ordinal(previous) == previous.time * 16 + (previous.tail >> 58));
	if (outcome != UUID_NEXT_EXHAUSTED)
		assert(uuid_payload_ordinal(next) > uuid_payload_ordinal(previous));
}
