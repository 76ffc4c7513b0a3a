/*
 * Tests of the buffer of random bytes: 16384 bytes are fetched at a time, returned once, erased when
 * returned, not shared with another owner, and never replaced by weaker bytes.
 */
#include "support.h"

#include "random_buffer.h"

#define OWNER 4711

static int	source_calls;
static size_t source_bytes;
static uint64_t source_words[UUID_RANDOM_BUFFER_WORDS];

/* Write and record pseudorandom words, none of which is zero. */
static bool
recording_source(void *bytes, size_t count)
{
	source_calls++;
	source_bytes = count;
	for (size_t i = 0; i < UUID_RANDOM_BUFFER_WORDS; i++)
		source_words[i] = test_bits() | 1;
	memcpy(bytes, source_words, count);
	return true;
}

/* Write to the whole buffer, but report a failure. */
static bool
failing_source(void *bytes, size_t count)
{
	source_calls++;
	memset(bytes, 0xa5, count);
	return false;
}

static void
assert_erased(const uint64_t *words, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		assert_true(words[i] == 0);
}

static int
by_value(const void *a, const void *b)
{
	uint64_t	x = *(const uint64_t *) a;
	uint64_t	y = *(const uint64_t *) b;

	return (x > y) - (x < y);
}

static void
calls_the_source_once_per_16384_bytes(void **state)
{
	UuidRandomBuffer pool = {0};
	uint64_t	word;

	(void) state;
	source_calls = 0;
	for (int i = 0; i < 10 * 16384 / 8; i++)
		assert_true(uuid_random_buffer_take(&pool, OWNER, recording_source, &word));
	assert_int_equal(source_calls, 10);
	assert_int_equal(source_bytes, 16384);
	assert_true(uuid_random_buffer_take(&pool, OWNER, recording_source, &word));
	assert_int_equal(source_calls, 11);
}

static void
returns_every_byte_once(void **state)
{
	UuidRandomBuffer pool = {0};
	uint64_t	taken[UUID_RANDOM_BUFFER_WORDS];

	(void) state;
	for (size_t i = 0; i < UUID_RANDOM_BUFFER_WORDS; i++)
		assert_true(uuid_random_buffer_take(&pool, OWNER, recording_source, &taken[i]));
	qsort(taken, UUID_RANDOM_BUFFER_WORDS, sizeof(uint64_t), by_value);
	qsort(source_words, UUID_RANDOM_BUFFER_WORDS, sizeof(uint64_t), by_value);
	assert_memory_equal(taken, source_words, sizeof(taken));
}

static void
erases_returned_bytes(void **state)
{
	UuidRandomBuffer pool = {0};
	uint64_t	word;

	(void) state;
	for (size_t taken = 1; taken <= UUID_RANDOM_BUFFER_WORDS; taken++)
	{
		assert_true(uuid_random_buffer_take(&pool, OWNER, recording_source, &word));
		assert_true(word != 0);
		for (size_t i = 0; i < UUID_RANDOM_BUFFER_WORDS; i++)
			assert_true(pool.words[i] != word);
		assert_erased(pool.words, UUID_RANDOM_BUFFER_WORDS - taken, UUID_RANDOM_BUFFER_WORDS);
	}
	assert_erased(pool.words, 0, UUID_RANDOM_BUFFER_WORDS);
}

static void
returns_nothing_when_the_source_fails(void **state)
{
	UuidRandomBuffer pool = {0};
	uint64_t	word = 42;

	(void) state;
	source_calls = 0;
	for (int i = 1; i <= 3; i++)
	{
		assert_false(uuid_random_buffer_take(&pool, OWNER, failing_source, &word));
		assert_true(word == 42);
		assert_erased(pool.words, 0, UUID_RANDOM_BUFFER_WORDS);
		assert_int_equal(source_calls, i);
	}
	/* the buffer works again when the source works again */
	assert_true(uuid_random_buffer_take(&pool, OWNER, recording_source, &word));
	assert_true(word != 42);
}

static void
another_owner_gets_no_byte_of_the_buffer(void **state)
{
	UuidRandomBuffer pool = {0};
	uint64_t	word;
	uint64_t	left[UUID_RANDOM_BUFFER_WORDS];

	(void) state;
	assert_true(uuid_random_buffer_take(&pool, OWNER, recording_source, &word));
	memcpy(left, pool.words, sizeof(left));
	assert_true(uuid_random_buffer_take(&pool, OWNER + 1, recording_source, &word));
	for (size_t i = 0; i < UUID_RANDOM_BUFFER_WORDS; i++)
		assert_true(left[i] != word);

	/* if the source fails for the new owner, all bytes are erased */
	word = 42;
	assert_false(uuid_random_buffer_take(&pool, OWNER, failing_source, &word));
	assert_true(word == 42);
	assert_erased(pool.words, 0, UUID_RANDOM_BUFFER_WORDS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_the_source_once_per_16384_bytes),
		cmocka_unit_test(returns_every_byte_once),
		cmocka_unit_test(erases_returned_bytes),
		cmocka_unit_test(returns_nothing_when_the_source_fails),
		cmocka_unit_test(another_owner_gets_no_byte_of_the_buffer),
	};

	return run_core_tests(tests);
}
