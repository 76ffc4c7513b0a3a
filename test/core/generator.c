/*
 * Tests of the generator: the value that follows any other one, by each method, and the order of
 * payloads.
 */
#include "support.h"

#include "generator.h"

#define RANDOM_ROUNDS 3000000

/* A random payload in which each part that a method counts is often full. */
static UuidPayload
random_payload(void)
{
	UuidPayload payload;

	payload.time = test_number(48) << 12 | test_number(12);
	payload.tail = test_number(4) << 58 | test_number(58);
	return payload;
}

/* A random time, which is often shortly before or after the given one. */
static uint64_t
random_time_near(uint64_t time)
{
	uint64_t	distance = test_distance(UUID_TIME_BITS);

	if (test_bits() % 2)
		return distance < time ? time - distance : 0;
	return distance < UUID_TIME_MAX - time ? time + distance : UUID_TIME_MAX;
}

/* A value consists of a time, a counter, and random bits, which have 122 bits in all. */
static const struct
{
	const char *name;
	int			time_bits;
	int			counter_bits;
	int			random_bits;
}			methods[] = {
	/* RFC 9562, 6.2, method 1: the counter begins with the 12 bits after the milliseconds */
	[UUID_METHOD_COUNTER] = {"counter", 48, 16, 58},
	/* method 2: the counter is the whole tail, and adds random numbers */
	[UUID_METHOD_RANDOM] = {"random", 60, 62, 0},
	/* method 3: the counter follows the fraction */
	[UUID_METHOD_FRACTION] = {"fraction", 60, 4, 58},
};

/*
 * Replace a value by the next one, as doc/formats.md defines it.  If the counter is full, the next
 * value has the next time, if there is one.
 */
static UuidNext
find_next(UuidPayload *value, uint64_t now, UuidRandom random, UuidMethod method)
{
	const uint64_t max_time = UUID_FIELD_MAX(methods[method].time_bits);
	const uint64_t max_counter = UUID_FIELD_MAX(methods[method].counter_bits);
	const int	random_bits = methods[method].random_bits;

	/* the high bits of a counter can be in the time field, and its low bits are in the tail */
	const int	high_bits = 60 - methods[method].time_bits;
	const int	low_bits = 62 - random_bits;
	uint64_t	time = value->time >> high_bits;
	uint64_t	counter = (value->time & UUID_FIELD_MAX(high_bits)) << low_bits |
		value->tail >> random_bits;

	uint64_t	step = 1;
	uint64_t	seed = random.tail >> random_bits;
	UuidNext	outcome;

	if (method == UUID_METHOD_COUNTER)
		seed = random.seed;
	else if (method == UUID_METHOD_RANDOM)
		step = random.tail % (UINT64_C(1) << 32) + 1;
	/* the top bit of a new counter is a guard against overflow */
	seed &= max_counter >> 1;

	if (now >> high_bits > time)
	{
		time = now >> high_bits;
		counter = seed;
		outcome = UUID_NEXT_LATER;
	}
	else if (counter + step <= max_counter)
	{
		counter += step;
		outcome = UUID_NEXT_STEPPED;
	}
	else if (time < max_time)
	{
		time++;
		counter = seed;
		outcome = UUID_NEXT_AHEAD;
	}
	else
		return UUID_NEXT_EXHAUSTED;
	value->time = time << high_bits | counter >> low_bits;
	value->tail = (counter << random_bits & UUID_TAIL_MAX) |
		(random.tail & UUID_FIELD_MAX(random_bits));
	return outcome;
}

static void
each_value_follows_from_the_previous_one(void **state)
{
	int			outcomes[3][4] = {0};

	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const UuidMethod method = round % 3;
		const UuidPayload previous = random_payload();
		const uint64_t now = random_time_near(previous.time);
		const UuidRandom random = {test_number(64), test_number(64)};
		UuidPayload next = previous;
		UuidPayload expected = previous;
		UuidNext	outcome = uuid_generator_next(&next, now, random, method);

		if (find_next(&expected, now, random, method) != outcome ||
			memcmp(&next, &expected, sizeof(UuidPayload)) != 0)
			fail_msg("method %s at %" PRIx64 ": %" PRIx64 " %" PRIx64 ", not %" PRIx64 " %" PRIx64,
					 methods[method].name, now, next.time, next.tail, expected.time, expected.tail);
		assert_true(outcome == UUID_NEXT_EXHAUSTED || uuid_payload_less(previous, next));
		outcomes[method][outcome]++;
	}
	for (int method = 0; method < 3; method++)
	{
		for (int outcome = 0; outcome < 4; outcome++)
			assert_true(outcomes[method][outcome] > 0);
	}
}

/* The order of payloads is that of the bytes of v6, v7 and v8 UUIDs. */
static void
payloads_are_ordered_by_time_and_tail(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		UuidPayload a = random_payload();
		UuidPayload b = random_payload();
		UuidPayload advanced = a;
		UuidPayload before;
		uint8_t		a_bytes[UUID_BYTES];
		uint8_t		b_bytes[UUID_BYTES];
		bool		less;

		if (round % 2)
			b.time = a.time;
		uuid_layout_pack(a_bytes, 6 + round % 3, a);
		uuid_layout_pack(b_bytes, 6 + round % 3, b);
		less = memcmp(a_bytes, b_bytes, UUID_BYTES) < 0;
		assert_int_equal(uuid_payload_less(a, b), less);
		uuid_payload_advance(&advanced, b);
		assert_memory_equal(&advanced, less ? &b : &a, sizeof(UuidPayload));

		/* the greatest payload before a time */
		before = uuid_payload_before(a.time);
		assert_true(before.time == (a.time == 0 ? 0 : a.time - 1));
		assert_true(before.tail == (a.time == 0 ? 0 : UUID_TAIL_MAX));

		/* the ordinal is the time and the counter of method fraction */
		assert_true(uuid_payload_ordinal(a) == a.time * 16 + (a.tail >> 58));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_value_follows_from_the_previous_one),
		cmocka_unit_test(payloads_are_ordered_by_time_and_tail),
	};

	return run_core_tests(tests);
}
