/*
 * support.h
 *		Functions for the unit tests of src/core: cmocka with TAP output,
 *		seeded random bits, and UUIDs as text.
 */
#ifndef UUID9562_TEST_SUPPORT_H
#define UUID9562_TEST_SUPPORT_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "layout.h"

/*
 * Seeded pseudorandom bits (SplitMix64) for inputs of tests.  Each run prints its
 * seed.  To repeat a run, set UUID9562_TEST_SEED to its seed.
 */
static uint64_t test_seed;

static inline void
seed_test_bits(void)
{
	const char *given = getenv("UUID9562_TEST_SEED");

	test_seed = given ? strtoull(given, NULL, 0) : (uint64_t) time(NULL);
	printf("# UUID9562_TEST_SEED=%" PRIu64 "\n", test_seed);
}

static inline uint64_t
test_bits(void)
{
	uint64_t	bits = (test_seed += UINT64_C(0x9e3779b97f4a7c15));

	bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
	return bits ^ bits >> 31;
}

/* Return a random number below 2^bits.  Numbers of any length are equally frequent. */
static inline uint64_t
test_distance(int bits)
{
	return test_bits() >> (64 - bits) >> test_bits() % bits;
}

/* Return a random number below 2^bits, which is often near the smallest or the greatest number. */
static inline uint64_t
test_number(int bits)
{
	uint64_t	distance = test_distance(bits);

	return test_bits() % 2 ? distance : (UINT64_MAX >> (64 - bits)) - distance;
}

/* Read two hexadecimal digits for each byte, and skip dashes. */
static inline void
bytes_from_text(const char *string, uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
	{
		unsigned int byte;

		while (*string == '-')
			string++;
		if (sscanf(string, "%2x", &byte) != 1)
			fail_msg("bad hexadecimal digits: %s", string);
		bytes[i] = (uint8_t) byte;
		string += 2;
	}
}

static inline void
text_from_bytes(const uint8_t *bytes, char *string)
{
	for (int i = 0; i < UUID_BYTES; i++)
		string += sprintf(string, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static inline void
assert_uuid_equal(const uint8_t *bytes, const char *expected)
{
	char		string[37];

	text_from_bytes(bytes, string);
	assert_string_equal(string, expected);
}

static struct CMUnitTest tests[50];
static size_t test_count;

/* Define a test.  A program runs its tests in the order of their definitions. */
#define TEST(name) \
	static void name(void **state); \
	ADD_TEST(name, name, NULL) \
	static void name(void **state)

#define ADD_TEST(name, function, state) \
	static __attribute__((constructor)) void \
	add_##name(void) \
	{ \
		tests[test_count++] = (struct CMUnitTest) {#name, function, NULL, NULL, state}; \
	}

/* Print TAP. */
int
main(void)
{
	seed_test_bits();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return _cmocka_run_group_tests("tests", tests, test_count, NULL, NULL);
}

#endif							/* UUID9562_TEST_SUPPORT_H */
