/*
 * Tests of the buffer of random bytes: 16384 bytes are fetched at a time, returned once, erased
 * when returned, not shared with another owner, and never replaced by weaker bytes.
 */
#include "support.h"

#include "random_buffer.h"

#define WORDS	(16384 / 8)
#define OWNER	4711

static bool source_fails;
static int	source_calls;
static size_t source_bytes;

/* What the buffer must contain: the words that the source wrote, and 0 for each returned word */
static uint64_t unreturned[WORDS];

/* Write pseudorandom words, none of which is zero, even if the source then reports a failure. */
static bool
source(void *bytes, size_t count)
{
	source_calls++;
	source_bytes = count;
	for (int i = 0; i < WORDS; i++)
		unreturned[i] = test_bits() | 1;
	memcpy(bytes, unreturned, count);
	return !source_fails;
}

/*
 * Take words for an owner that changes, often or seldom, by one bit of its process ID, from a
 * source that sometimes fails.
 */
TEST(returns_each_fetched_word_once_to_its_owner)
{
	UuidRandomBuffer buffer = {0};
	int64_t		owner = OWNER;
	int			left = 0;

	for (int round = 0; round < 30 * WORDS; round++)
	{
		const uint64_t unchanged = test_bits();
		uint64_t	word = unchanged;
		bool		fetches;
		bool		taken;
		int			found = 0;

		if (test_bits() % (round / WORDS % 2 ? WORDS : 16) == 0)
		{
			owner = owner == OWNER ? OWNER ^ INT64_C(1) << test_bits() % 63 : OWNER;
			left = 0;
		}
		fetches = left == 0;
		source_fails = test_bits() % 4 == 0;
		source_calls = 0;
		taken = uuid_random_buffer_take(&buffer, owner, source, &word);
		assert_int_equal(source_calls, fetches);
		if (fetches)
		{
			assert_int_equal(source_bytes, sizeof(unreturned));
			assert_int_equal(taken, !source_fails);
			left = WORDS;
		}
		if (!taken)
		{
			assert_true(word == unchanged);
			memset(unreturned, 0, sizeof(unreturned));
			left = 0;
		}
		else
		{
			while (found < WORDS && unreturned[found] != word)
				found++;
			assert_true(found < WORDS);
			unreturned[found] = 0;
			left--;
		}
		assert_memory_equal(buffer.words, unreturned, sizeof(unreturned));
	}
}
