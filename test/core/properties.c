/*
 * Tests of the properties in test/proofs with random values, on machines for which the proofs do not
 * hold or that lack CBMC.  Numbers are often near the smallest or the greatest one of a field.
 */
#include "support.h"

#define ROUNDS 300000

typedef void (*Property) (void);

static jmp_buf not_assumed;

/* Let the property hold for each of many random values. */
static void
hold_property(void **state)
{
	const Property *property = *state;
	volatile int held = 0;

	for (volatile int round = 0; round < ROUNDS; round++)
	{
		if (setjmp(not_assumed) != 0)
			continue;
		(*property) ();
		held++;
	}
	assert_true(held > ROUNDS / 50);
}

#define PROPERTY(name) \
	static void name(void); \
	static Property property_##name = name; \
	ADD_TEST(name, hold_property, &property_##name) \
	static void name(void)

#undef assert
#define assert(condition) assert_true(condition)
#define assume(condition) do { if (!(condition)) longjmp(not_assumed, 1); } while (0)

#define nondet_uint8() ((uint8_t) test_bits())
#define nondet_uint32() ((uint32_t) test_number(32))
#define nondet_uint64() test_number(64)
#define nondet_bool() (test_bits() % 2 != 0)
#define any_from(first, last) ((first) + (int) (test_bits() % ((last) - (first) + 1)))
#define any_bytes(bytes, count) \
	do { for (int i_ = 0; i_ < (count); i_++) (bytes)[i_] = nondet_uint8(); } while (0)

/* Subtraction from INT64_MIN wraps around to INT64_MAX. */
static int64_t
any_near(int64_t number)
{
	const uint64_t distance = test_distance(64);

	return (int64_t) (test_bits() % 2 ? (uint64_t) number + distance : (uint64_t) number - distance);
}

/* Return a number that is often near an end of a time field in microseconds or seconds. */
static int64_t
nondet_int64(void)
{
	/* of v1 and v6, and the end of v7, by whose length v7 can also be shifted back */
	static const int64_t ends[] = {0, -INT64_C(12219292800000000), INT64_C(103072857660684697),
		INT64_C(281474976710656000), -INT64_C(281474976710656000), INT64_MIN};

	return any_near(ends[test_bits() % 6] / (test_bits() % 2 ? 1 : 1000000));
}

/* Each part that a method counts is often full, and times are often near the previous one. */
static uint64_t
any_time(void)
{
	static uint64_t previous;
	const uint64_t near = (uint64_t) any_near((int64_t) previous);

	previous = test_bits() % 2 && near <= UUID_TIME_MAX ? near : test_number(48) << 12 | test_number(12);
	return previous;
}

static UuidPayload
any_payload(void)
{
	static UuidPayload previous;
	UuidPayload payload = {any_time(), test_number(4) << 58 | test_number(58)};

	if (test_bits() % 8 == 0)
		payload.time = previous.time;
	if (test_bits() % 4 == 0)
		payload.tail = previous.tail;
	previous = payload;
	return payload;
}

#include "../proofs/layout.c"
#include "../proofs/generator.c"
/* exact results need more than 64 bits, which machines with 32 bits do not have */
#ifdef __SIZEOF_INT128__
#include "../proofs/clock.c"
#endif
