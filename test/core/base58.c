/*
 * Tests of UUIDs in base58.
 */
#include "support.h"

#include "base58.h"

/* Test vectors, computed in Python with divmod() and Bitcoin's alphabet. */
static const struct
{
	const char *uuid;
	const char *base58;
}			cases[] = {
	{"00000000-0000-0000-0000-000000000000", "1111111111111111111111"},
	{"00000000-0000-0000-0000-000000000001", "1111111111111111111112"},
	{"00000000-0000-0000-0000-000000000039", "111111111111111111111z"},
	{"00000000-0000-0000-0000-00000000003a", "1111111111111111111121"},
	{"00000000-0000-0000-0000-0000271f35a0", "1111111111111111211111"},
	{"01a2027b-d9c0-771c-9de0-6b9bb85af70d", "1ChHh89KnUdBuAbxwb2MLg"},
	{"acc73dab-7dd9-46b8-87a5-8553c1e38c18", "NLTHQeo13HycraoNDcWvF1"},
	{"ffffffff-ffff-ffff-ffff-ffffffffffff", "YcVfxkQb6JRzqk5kF2tNLv"}
};

static void
assert_base58(const uint8_t *bytes, const char *expected)
{
	char		string[UUID_BASE58_LENGTH + 1] = {0};
	uint8_t		back[UUID_BYTES];

	uuid_base58_write(bytes, string);
	assert_string_equal(string, expected);
	assert_null(uuid_base58_read(string, UUID_BASE58_LENGTH, back));
	assert_memory_equal(back, bytes, UUID_BYTES);
}

static void
base58_is_a_number_in_base_58(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint8_t		bytes[UUID_BYTES];

		bytes_from_text(cases[i].uuid, bytes, UUID_BYTES);
		assert_base58(bytes, cases[i].base58);
	}
}

/* Write the base58 text of a UUID by dividing it by 58 once for each digit. */
static void
slow_base58(const uint8_t *bytes, char *string)
{
	uint8_t		number[UUID_BYTES];

	memcpy(number, bytes, UUID_BYTES);
	string[UUID_BASE58_LENGTH] = '\0';
	for (int i = UUID_BASE58_LENGTH - 1; i >= 0; i--)
	{
		unsigned int rest = 0;

		for (int j = 0; j < UUID_BYTES; j++)
		{
			rest = rest << 8 | number[j];
			number[j] = (uint8_t) (rest / 58);
			rest %= 58;
		}
		string[i] = UUID_BASE58_ALPHABET[rest];
	}
}

static void
base58_sorts_and_is_read_back(void **state)
{
	uint8_t		previous[UUID_BYTES] = {0};
	char		previous_string[UUID_BASE58_LENGTH + 1] = "1111111111111111111111";

	(void) state;
	for (int round = 0; round < 100000; round++)
	{
		uint8_t		bytes[UUID_BYTES];
		char		string[UUID_BASE58_LENGTH + 1];
		int			order;

		uuid_layout_store64(bytes, test_bits() >> (round % 64));
		uuid_layout_store64(bytes + 8, test_bits() << (round % 64));
		slow_base58(bytes, string);
		assert_base58(bytes, string);
		order = memcmp(bytes, previous, UUID_BYTES);
		assert_int_equal(order < 0, strcmp(string, previous_string) < 0);
		assert_int_equal(order > 0, strcmp(string, previous_string) > 0);
		memcpy(previous, bytes, UUID_BYTES);
		strcpy(previous_string, string);
	}
}

static void
assert_refused(const char *string, size_t length, const char *reason)
{
	uint8_t		bytes[UUID_BYTES];
	const char *given = uuid_base58_read(string, length, bytes);

	if (given == NULL || strstr(given, reason) == NULL)
		fail_msg("\"%.*s\": %s", (int) length, string, given == NULL ? "read" : given);
}

/* Every byte other than the 58 digits is refused at every position. */
static void
refuses_other_characters(void **state)
{
	(void) state;
	for (int c = 0; c < 256; c++)
	{
		for (int i = 0; i < UUID_BASE58_LENGTH; i++)
		{
			char		string[] = "1111111111111111111111";
			uint8_t		bytes[UUID_BYTES];

			string[i] = (char) c;
			if (c == '\0' || strchr(UUID_BASE58_ALPHABET, c) == NULL)
				assert_refused(string, UUID_BASE58_LENGTH, "Valid characters");
			else if (i > 0)
				assert_null(uuid_base58_read(string, UUID_BASE58_LENGTH, bytes));
		}
	}
}

static void
refuses_other_lengths(void **state)
{
	char		string[] = "111111111111111111111111111111111111111111111";

	(void) state;
	for (size_t length = 0; length < sizeof(string); length++)
		if (length != UUID_BASE58_LENGTH)
			assert_refused(string, length, "22 ASCII characters");
}

static void
refuses_more_than_128_bits(void **state)
{
	static const char *const strings[] = {
		"YcVfxkQb6JRzqk5kF2tNLw", "YcVfxkQb6JRzqk5kF2tNM1", "Yd11111111111111111111",
		"Z111111111111111111111", "zzzzzzzzzzzzzzzzzzzzzz"
	};

	(void) state;
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		assert_refused(strings[i], UUID_BASE58_LENGTH, "greatest");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base58_is_a_number_in_base_58),
		cmocka_unit_test(base58_sorts_and_is_read_back),
		cmocka_unit_test(refuses_other_characters),
		cmocka_unit_test(refuses_other_lengths),
		cmocka_unit_test(refuses_more_than_128_bits),
	};

	return run_core_tests(tests);
}
