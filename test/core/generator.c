/*
 * Tests of the generator: the order of its values for several clocks, random sources
 * and methods, and the bits of its values.
 */
#include "support.h"

#include "clock.h"
#include "generator.h"

/* Number of values in each long run. */
#define STEPS 1000000

#define FULL_COUNTER	(UINT64_C(0xf) << 58)

/* 2026-01-01 in v7 ticks */
#define START (UINT64_C(1767225600000) << 12)

static const UuidMethod methods[] = {
	UUID_METHOD_FRACTION, UUID_METHOD_COUNTER, UUID_METHOD_RANDOM
};
static const char *const method_names[] = {"fraction", "counter", "random"};

/* Random sources: all bits zero, all bits one, and pseudorandom bits. */

static uint64_t
zeros(void)
{
	return 0;
}

static uint64_t
ones(void)
{
	return UINT64_MAX;
}

typedef uint64_t (*Source) (void);

static const Source sources[] = {zeros, ones, test_bits};
static const char *const source_names[] = {"zeros", "ones", "pseudorandom"};

static UuidRandom
random_from(Source source)
{
	UuidRandom	random;

	random.tail = source();
	random.seed = source();
	return random;
}

/* Clocks: each function returns the time at step i, in v7 ticks. */

static uint64_t
stands_still(uint64_t i)
{
	(void) i;
	return START;
}

static uint64_t
goes_back_one_tick(uint64_t i)
{
	return i < STEPS / 2 ? START : START - 1;
}

static uint64_t
goes_back_an_hour(uint64_t i)
{
	return i < STEPS / 2 ? START + i * 40 : START - UINT64_C(3600000) * 4096 + i * 40;
}

static uint64_t
goes_back_to_1970(uint64_t i)
{
	return i < STEPS / 2 ? START + i : 0;
}

static uint64_t
jumps_forward(uint64_t i)
{
	/* every thousand values, jump a year forward or back */
	return START + i + (i / 1000 % 2) * UINT64_C(31536000000) * 4096;
}

static uint64_t
trembles(uint64_t i)
{
	return START + i / 4 + test_bits() % 64 - 32;
}

typedef uint64_t (*Clock) (uint64_t i);

static const Clock clocks[] = {
	stands_still, goes_back_one_tick, goes_back_an_hour, goes_back_to_1970,
	jumps_forward, trembles
};
static const char *const clock_names[] = {
	"stands_still", "goes_back_one_tick", "goes_back_an_hour", "goes_back_to_1970",
	"jumps_forward", "trembles"
};

static UuidPayload
generator_at(uint64_t time, uint64_t tail)
{
	UuidPayload generator = {time, tail};

	return generator;
}

static bool
greater(UuidPayload a, UuidPayload b)
{
	return a.time > b.time || (a.time == b.time && a.tail > b.tail);
}

/*
 * For every method, clock and source, each of a million values is greater than the previous value,
 * compared as bytes.
 */
static void
every_value_exceeds_the_one_before(void **state)
{
	(void) state;
	for (size_t m = 0; m < 3; m++)
		for (size_t s = 0; s < 3; s++)
			for (size_t c = 0; c < 6; c++)
			{
				UuidPayload generator = {0, 0};
				uint8_t		previous[UUID_BYTES] = {0};

				for (uint64_t i = 0; i < STEPS; i++)
				{
					uint8_t		bytes[UUID_BYTES];
					UuidNext	outcome;

					outcome = uuid_generator_next(&generator, clocks[c] (i),
												  random_from(sources[s]), methods[m]);
					if (outcome == UUID_NEXT_EXHAUSTED ||
						generator.time > UUID_TIME_MAX || generator.tail > UUID_TAIL_MAX)
						fail_msg("%s, %s, clock %s: no value at step %" PRIu64,
								 method_names[m], source_names[s], clock_names[c], i);
					uuid_layout_pack(bytes, 7, generator);
					if (memcmp(previous, bytes, UUID_BYTES) >= 0)
						fail_msg("%s, %s, clock %s: not greater at step %" PRIu64,
								 method_names[m], source_names[s], clock_names[c], i);
					memcpy(previous, bytes, UUID_BYTES);
				}
			}
}

/*
 * A node or a node ID replaces only bits below the counter of method fraction, so the
 * values stay in order.
 */
static void
a_node_below_the_counter_keeps_the_order(void **state)
{
	UuidPayload generator = {0, 0};
	UuidPayload with_node_id = {0, 0};
	UuidPayload with_node = {0, 0};

	(void) state;
	for (uint64_t i = 0; i < STEPS; i++)
	{
		uint64_t	bits = test_bits();
		uint8_t		node[UUID_BYTES];
		UuidPayload next;

		uuid_generator_next(&generator, goes_back_an_hour(i), random_from(test_bits), UUID_METHOD_FRACTION);
		next = uuid_layout_with_node(generator, uuid_layout_node_id_bits(bits & UUID_NODE_ID_MAX));
		assert_true(greater(next, with_node_id));
		with_node_id = next;

		uuid_layout_store64(node, bits);
		next = uuid_layout_with_node(generator, uuid_layout_node_bits(node));
		assert_true(greater(next, with_node));
		with_node = next;
	}
}

static void
a_later_time_is_used_unchanged(void **state)
{
	(void) state;
	for (size_t m = 0; m < 3; m++)
	{
		UuidPayload generator = {START, FULL_COUNTER};
		uint64_t	now = START + 4096 + 0x74e;

		assert_int_equal(uuid_generator_next(&generator, now, random_from(zeros), methods[m]),
						 UUID_NEXT_LATER);
		/* method counter uses the time in whole milliseconds */
		assert_true(generator.time == (methods[m] == UUID_METHOD_COUNTER ? START + 4096 : now));
		assert_true(generator.tail == 0);
	}
}

/* Even if all random bits are one, the guard bit of a new counter is zero. */
static void
a_fresh_counter_leaves_its_guard_bit_zero(void **state)
{
	UuidPayload generator = {0, 0};

	(void) state;
	uuid_generator_next(&generator, START, random_from(ones), UUID_METHOD_FRACTION);
	assert_true(generator.tail == UUID_TAIL_MAX >> 1);

	generator = generator_at(0, 0);
	uuid_generator_next(&generator, START, random_from(ones), UUID_METHOD_RANDOM);
	assert_true(generator.tail == UUID_TAIL_MAX >> 1);

	/* the counter is 0x7fff: 0x7ff in the time, and 0xf in the tail */
	generator = generator_at(0, 0);
	uuid_generator_next(&generator, START, random_from(ones), UUID_METHOD_COUNTER);
	assert_true(generator.time == START + 0x7ff);
	assert_true(generator.tail == UUID_TAIL_MAX);
}

static void
fraction_steps_a_four_bit_counter_by_one(void **state)
{
	UuidPayload generator = {START, UINT64_C(5) << 58 | 0x1234};

	(void) state;
	assert_int_equal(uuid_generator_next(&generator, START, random_from(ones), UUID_METHOD_FRACTION),
					 UUID_NEXT_STEPPED);
	assert_true(generator.time == START);
	assert_true(generator.tail == (UINT64_C(6) << 58 | UUID_FIELD_MAX(58)));
	assert_int_equal(uuid_generator_next(&generator, START, random_from(zeros), UUID_METHOD_FRACTION),
					 UUID_NEXT_STEPPED);
	assert_true(generator.tail == UINT64_C(7) << 58);
}

static void
counter_steps_a_sixteen_bit_counter_by_one(void **state)
{
	UuidPayload generator = {START + 0x0fe, UINT64_C(0xf) << 58 | 0x1234};

	(void) state;
	/* the counter goes from 0x0fef to 0x0ff0, with a carry from tail to time */
	assert_int_equal(uuid_generator_next(&generator, START + 4095, random_from(ones), UUID_METHOD_COUNTER),
					 UUID_NEXT_STEPPED);
	assert_true(generator.time == START + 0x0ff);
	assert_true(generator.tail == UUID_FIELD_MAX(58));
	assert_int_equal(uuid_generator_next(&generator, START, random_from(zeros), UUID_METHOD_COUNTER),
					 UUID_NEXT_STEPPED);
	assert_true(generator.time == START + 0x0ff);
	assert_true(generator.tail == UINT64_C(1) << 58);
}

static void
random_adds_at_least_1_and_at_most_2_to_the_32(void **state)
{
	UuidPayload generator = {START, 1000};

	(void) state;
	assert_int_equal(uuid_generator_next(&generator, START, random_from(zeros), UUID_METHOD_RANDOM),
					 UUID_NEXT_STEPPED);
	assert_true(generator.tail == 1001);
	assert_int_equal(uuid_generator_next(&generator, START, random_from(ones), UUID_METHOD_RANDOM),
					 UUID_NEXT_STEPPED);
	assert_true(generator.tail == 1001 + (UINT64_C(1) << 32));
	assert_true(generator.time == START);
}

/*
 * If the counter is full, the next value has the next tick and a new tail (RFC 9562,
 * 6.2).  With method counter, the next value has the next millisecond.
 */
static void
rollover_takes_the_next_tick(void **state)
{
	UuidPayload generator = {START, FULL_COUNTER | 7};

	(void) state;
	assert_int_equal(uuid_generator_next(&generator, START, random_from(ones), UUID_METHOD_FRACTION),
					 UUID_NEXT_AHEAD);
	assert_true(generator.time == START + 1);
	assert_true(generator.tail == UUID_TAIL_MAX >> 1);

	generator = generator_at(START + 4095, FULL_COUNTER | 7);
	assert_int_equal(uuid_generator_next(&generator, START, random_from(zeros), UUID_METHOD_COUNTER),
					 UUID_NEXT_AHEAD);
	assert_true(generator.time == START + 4096);
	assert_true(generator.tail == 0);

	generator = generator_at(START, UUID_TAIL_MAX);
	assert_int_equal(uuid_generator_next(&generator, START, random_from(zeros), UUID_METHOD_RANDOM),
					 UUID_NEXT_AHEAD);
	assert_true(generator.time == START + 1);
	assert_true(generator.tail == 0);

	/* method counter: the new counter is 0x7fff, with its upper 12 bits in the time */
	generator = generator_at(START + 4095, FULL_COUNTER | 7);
	assert_int_equal(uuid_generator_next(&generator, START, random_from(ones), UUID_METHOD_COUNTER),
					 UUID_NEXT_AHEAD);
	assert_true(generator.time == START + 4096 + 0x7ff);
	assert_true(generator.tail == UUID_TAIL_MAX);

	/* the greatest tail of a tick is used too */
	generator = generator_at(START, UUID_TAIL_MAX - 1);
	assert_int_equal(uuid_generator_next(&generator, START, random_from(zeros), UUID_METHOD_RANDOM),
					 UUID_NEXT_STEPPED);
	assert_true(generator.time == START && generator.tail == UUID_TAIL_MAX);
}

/* Return how many values the generator returns before it uses the next tick. */
static int
values_per_tick(UuidMethod method, Source source)
{
	UuidPayload generator = {0, 0};
	int			values = 1;

	uuid_generator_next(&generator, START, random_from(source), method);
	while (uuid_generator_next(&generator, START, random_from(source), method) == UUID_NEXT_STEPPED)
		values++;
	return values;
}

static void
a_tick_gives_as_many_values_as_its_counter_allows(void **state)
{
	(void) state;
	assert_int_equal(values_per_tick(UUID_METHOD_FRACTION, zeros), 16);
	assert_int_equal(values_per_tick(UUID_METHOD_FRACTION, ones), 9);
	assert_int_equal(values_per_tick(UUID_METHOD_COUNTER, zeros), 65536);
	assert_int_equal(values_per_tick(UUID_METHOD_COUNTER, ones), 32769);
}

static void
the_last_tick_of_the_field_is_used(void **state)
{
	(void) state;
	for (size_t m = 0; m < 3; m++)
	{
		const uint64_t tick = methods[m] == UUID_METHOD_COUNTER ? 4096 : 1;
		UuidPayload generator = generator_at(UUID_TIME_MAX - tick, UUID_TAIL_MAX);

		assert_int_equal(uuid_generator_next(&generator, 0, random_from(zeros), methods[m]), UUID_NEXT_AHEAD);
		assert_true(generator.time == (methods[m] == UUID_METHOD_COUNTER ? UUID_TIME_MAX - 4095 : UUID_TIME_MAX));
		assert_true(generator.tail == 0);
	}
}

/* At the end of the time field, the state of the generator does not change. */
static void
after_the_last_tick_there_is_no_value(void **state)
{
	(void) state;
	for (size_t m = 0; m < 3; m++)
	{
		UuidPayload generator = {UUID_TIME_MAX, UUID_TAIL_MAX};

		for (int i = 0; i < 3; i++)
		{
			assert_int_equal(uuid_generator_next(&generator, UUID_TIME_MAX, random_from(test_bits), methods[m]),
							 UUID_NEXT_EXHAUSTED);
			assert_true(generator.time == UUID_TIME_MAX);
			assert_true(generator.tail == UUID_TAIL_MAX);
		}
	}
}

/* The random bits are in the places that doc/formats.md documents. */
static void
the_random_bits_reach_the_value(void **state)
{
	UuidRandom	random = {UINT64_C(0x6bcdef0123456789), UINT64_C(0xfffffffffffdabcd)};
	UuidPayload generator = {0, 0};

	(void) state;
	uuid_generator_next(&generator, START, random, UUID_METHOD_FRACTION);
	assert_true(generator.tail == UINT64_C(0x0bcdef0123456789));
	uuid_generator_next(&generator, START, random, UUID_METHOD_FRACTION);
	assert_true(generator.tail == (UINT64_C(3) << 58 | UINT64_C(0x03cdef0123456789)));

	generator = generator_at(0, 0);
	uuid_generator_next(&generator, START, random, UUID_METHOD_COUNTER);
	/* the counter is 0x2bcd, the low 15 bits of the seed */
	assert_true(generator.time == START + 0x2bc);
	assert_true(generator.tail == (UINT64_C(0xd) << 58 | UINT64_C(0x03cdef0123456789)));

	generator = generator_at(0, 0);
	uuid_generator_next(&generator, START, random, UUID_METHOD_RANDOM);
	assert_true(generator.tail == UINT64_C(0x0bcdef0123456789));
	uuid_generator_next(&generator, START, random, UUID_METHOD_RANDOM);
	assert_true(generator.tail == UINT64_C(0x0bcdef0123456789) + 0x23456789 + 1);
}

/*
 * Return the number of random bits that affect the next value.  doc/formats.md relies
 * on the numbers for the first value of a tick.
 */
static int
bits_that_count(UuidMethod method, UuidNodeBits node, UuidPayload before, uint64_t now)
{
	int			count = 0;

	for (int bit = 0; bit < 128; bit++)
	{
		UuidRandom	random = {0, 0};
		UuidPayload plain = before;
		UuidPayload flipped = before;

		uuid_generator_next(&plain, now, random, method);
		*(bit < 64 ? &random.tail : &random.seed) = UINT64_C(1) << bit % 64;
		uuid_generator_next(&flipped, now, random, method);
		plain = uuid_layout_with_node(plain, node);
		flipped = uuid_layout_with_node(flipped, node);
		count += plain.time != flipped.time || plain.tail != flipped.tail;
	}
	return count;
}

static void
no_random_bit_is_lost(void **state)
{
	const UuidNodeBits none = {0, 0};
	const struct
	{
		UuidMethod	method;
		UuidNodeBits	node;
		int			first;		/* for the first value of a tick */
		int			further;	/* for further values of the tick */
	}			expected[] = {
		{UUID_METHOD_FRACTION, none, 61, 58},
		{UUID_METHOD_COUNTER, none, 73, 58},
		{UUID_METHOD_RANDOM, none, 61, 32},
		{UUID_METHOD_FRACTION, uuid_random_node, 60, 57},
		{UUID_METHOD_FRACTION, {UUID_NODE_MAX, 0}, 13, 10},
		{UUID_METHOD_FRACTION, uuid_layout_node_id_bits(1), 45, 42}
	};

	(void) state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
	{
		UuidMethod	method = expected[i].method;
		UuidNodeBits	node = expected[i].node;

		assert_int_equal(bits_that_count(method, node, generator_at(START, 0), START + 4096), expected[i].first);
		assert_int_equal(bits_that_count(method, node, generator_at(START | 4095, UUID_TAIL_MAX), START), expected[i].first);
		assert_int_equal(bits_that_count(method, node, generator_at(START, 0), START), expected[i].further);
	}
}

/*
 * After uuid_payload_before(), no value has an earlier time than the given time, even if the clock
 * is behind it.
 */
static void
continues_from_a_time(void **state)
{
	(void) state;
	for (int round = 0; round < 100000; round++)
	{
		UuidMethod	method = (UuidMethod) (round % 3);
		uint64_t	from = test_bits() % (UUID_TIME_MAX / 2);
		uint64_t	now = round % 2 ? from - test_bits() % (from + 1) : from + test_bits() % (UUID_TIME_MAX / 2);
		UuidRandom	random = {test_bits(), test_bits()};
		UuidPayload previous = uuid_payload_before(from);
		UuidPayload first;

		assert_int_not_equal(uuid_generator_next(&previous, now, random, method), UUID_NEXT_EXHAUSTED);
		assert_true(previous.time >= from);
		first = previous;
		assert_int_not_equal(uuid_generator_next(&previous, now, random, method), UUID_NEXT_EXHAUSTED);
		assert_true(greater(previous, first));
	}
	assert_true(uuid_payload_before(0).time == 0 && uuid_payload_before(0).tail == 0);
}

/* A generator continues after the given payload or its own, whichever is greater. */
static void
continues_after_what_it_is_advanced_to(void **state)
{
	(void) state;
	for (int m = 0; m < 3; m++)
	{
		for (int i = 0; i < 1000; i++)
		{
			UuidPayload previous = {START + test_bits() % 8192, test_bits() & UUID_TAIL_MAX};
			UuidPayload to = {START + test_bits() % 8192, test_bits() & UUID_TAIL_MAX};
			UuidPayload before = previous;
			UuidPayload made;

			if (i % 3 == 0)
				to.time = previous.time;
			uuid_payload_advance(&previous, to);
			assert_false(greater(to, previous));
			assert_false(greater(before, previous));
			made = previous;
			assert_int_not_equal(uuid_generator_next(&made, START, random_from(test_bits), methods[m]),
								 UUID_NEXT_EXHAUSTED);
			assert_true(greater(made, to));
			assert_true(greater(made, before));
		}
	}
}

static void
ordinals_increase_with_the_values(void **state)
{
	(void) state;
	for (size_t s = 0; s < sizeof(sources) / sizeof(sources[0]); s++)
	{
		UuidPayload payload = {0, 0};
		uint64_t	before = 0;

		for (uint64_t i = 0; i < STEPS; i++)
		{
			assert_int_not_equal(uuid_generator_next(&payload, START + i / 20, random_from(sources[s]), UUID_METHOD_FRACTION),
								 UUID_NEXT_EXHAUSTED);
			assert_true(uuid_payload_ordinal(payload) > before);
			before = uuid_payload_ordinal(payload);
		}
	}
	assert_true(uuid_payload_ordinal((UuidPayload) {0, 0}) == 0);
	assert_true(uuid_payload_ordinal((UuidPayload) {0, UUID_RANDOM_MAX}) == 0);
	assert_true(uuid_payload_ordinal((UuidPayload) {0, UUID_TAIL_MAX}) == 15);
	assert_true(uuid_payload_ordinal((UuidPayload) {1, 0}) == 16);
	assert_true(uuid_payload_ordinal((UuidPayload) {UUID_TIME_MAX, UUID_TAIL_MAX}) == UINT64_MAX);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_exceeds_the_one_before),
		cmocka_unit_test(a_node_below_the_counter_keeps_the_order),
		cmocka_unit_test(a_later_time_is_used_unchanged),
		cmocka_unit_test(a_fresh_counter_leaves_its_guard_bit_zero),
		cmocka_unit_test(fraction_steps_a_four_bit_counter_by_one),
		cmocka_unit_test(counter_steps_a_sixteen_bit_counter_by_one),
		cmocka_unit_test(random_adds_at_least_1_and_at_most_2_to_the_32),
		cmocka_unit_test(rollover_takes_the_next_tick),
		cmocka_unit_test(a_tick_gives_as_many_values_as_its_counter_allows),
		cmocka_unit_test(the_last_tick_of_the_field_is_used),
		cmocka_unit_test(after_the_last_tick_there_is_no_value),
		cmocka_unit_test(the_random_bits_reach_the_value),
		cmocka_unit_test(no_random_bit_is_lost),
		cmocka_unit_test(continues_from_a_time),
		cmocka_unit_test(continues_after_what_it_is_advanced_to),
		cmocka_unit_test(ordinals_increase_with_the_values),
	};

	return run_core_tests(tests);
}
