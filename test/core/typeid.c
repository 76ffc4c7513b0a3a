/*
 * Tests of TypeIDs.
 */
#include "support.h"

#include "text.h"

/* The examples of version 0.3 of the TypeID specification, and others */
static const struct
{
	const char *typeid;
	const char *prefix;
	const char *uuid;
}			valid[] = {
	{"00000000000000000000000000", "", "00000000-0000-0000-0000-000000000000"},
	{"00000000000000000000000001", "", "00000000-0000-0000-0000-000000000001"},
	{"0000000000000000000000000a", "", "00000000-0000-0000-0000-00000000000a"},
	{"0000000000000000000000000g", "", "00000000-0000-0000-0000-000000000010"},
	{"00000000000000000000000010", "", "00000000-0000-0000-0000-000000000020"},
	{"7zzzzzzzzzzzzzzzzzzzzzzzzz", "", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
	{"prefix_0123456789abcdefghjkmnpqrs", "prefix", "0110c853-1d09-52d8-d73e-1194e95b5f19"},
	{"prefix_01h455vb4pex5vsknk084sn02q", "prefix", "01890a5d-ac96-774b-bcce-b302099a8057"},
	{"pre_fix_00000000000000000000000000", "pre_fix", "00000000-0000-0000-0000-000000000000"},
	/* with prefixes of 1 and 63 characters, and with two adjacent "_" */
	{"a_00000000000000000000000001", "a", "00000000-0000-0000-0000-000000000001"},
	{"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk_00000000000000000000000001",
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk", "00000000-0000-0000-0000-000000000001"},
	{"pre__fix_00000000000000000000000001", "pre__fix", "00000000-0000-0000-0000-000000000001"},
};

static const char *const invalid[] = {
	"PREFIX_00000000000000000000000000", "12345_00000000000000000000000000", "pre.fix_00000000000000000000000000",
	"pr\303\251fix_00000000000000000000000000", "  prefix_00000000000000000000000000",
	"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl_00000000000000000000000000",
	"_00000000000000000000000000", "_", "1234567890123456789012345", "prefix_1234567890123456789012345", "prefix_123456789012345678901234567",
	"prefix_1234567890123456789012345 ", "prefix_0123456789ABCDEFGHJKMNPQRS", "prefix_123456789-123456789-123456",
	"prefix_ooooooiiiiiiuuuuuuulllllll", "prefix_i23456789ol23456789oi23456", "prefix_123456789-0123456789-0123456",
	"prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz", "_prefix_00000000000000000000000000", "prefix__00000000000000000000000000",
	"", "prefix_",
	/* without a separator, with only separators before the suffix, and with other characters */
	"prefix00000000000000000000000000", "a00000000000000000000000000", "__00000000000000000000000000",
	"prefix-00000000000000000000000000", "prefix_00000000000000000000000000======", "prefix_0000000000000000000000000I",
};

TEST(reads_and_writes_the_valid_examples)
{
	for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
	{
		const char *given = valid[i].typeid;
		size_t		length = strlen(given);
		char		suffix[UUID_TYPEID_SUFFIX_LENGTH + 1] = {0};
		size_t		prefix_length;
		uint8_t		bytes[UUID_BYTES];

		if (!uuid_typeid_read(given, length, &prefix_length, bytes))
			fail_msg("did not read \"%s\"", given);
		assert_uuid_equal(bytes, valid[i].uuid);
		assert_int_equal(prefix_length, strlen(valid[i].prefix));
		uuid_text_form_write(uuid_typeid_suffix, bytes, suffix);
		assert_string_equal(suffix, given + length - UUID_TYPEID_SUFFIX_LENGTH);
	}
}

TEST(refuses_the_invalid_examples)
{
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
	{
		size_t		prefix_length;
		uint8_t		bytes[UUID_BYTES];

		/* a sanitizer finds a read beyond a copy of exactly the text */
		char	   *copy = memcpy(malloc(strlen(invalid[i])), invalid[i], strlen(invalid[i]));

		if (uuid_typeid_read(copy, strlen(invalid[i]), &prefix_length, bytes))
			fail_msg("read \"%s\"", invalid[i]);
		free(copy);
	}
}

/* Try each byte at each position of a suffix: only lower-case digits are valid. */
TEST(the_suffix_is_strict)
{
	for (int i = 0; i < UUID_TYPEID_SUFFIX_LENGTH; i++)
	{
		for (int c = 0; c < 256; c++)
		{
			char		string[] = "user_00000000000000000000000000";
			const char *digit = c == '\0' ? NULL : strchr(uuid_typeid_suffix->alphabet, c);
			size_t		prefix_length;
			uint8_t		bytes[UUID_BYTES];

			string[5 + i] = (char) c;
			assert_int_equal(uuid_typeid_read(string, sizeof(string) - 1, &prefix_length, bytes),
							 digit != NULL && (i > 0 || digit - uuid_typeid_suffix->alphabet < 8));
		}
	}
}

TEST(checks_prefixes)
{
	char		prefix[70];

	memset(prefix, 'z', sizeof(prefix));
	for (size_t length = 0; length < sizeof(prefix); length++)
		assert_int_equal(uuid_typeid_prefix_is_valid(prefix, length), length <= 63);
	for (int i = 0; i < 5; i++)
	{
		for (int c = 0; c < 256; c++)
		{
			prefix[i] = (char) c;
			assert_int_equal(uuid_typeid_prefix_is_valid(prefix, 5), (c >= 'a' && c <= 'z') || (c == '_' && i > 0 && i < 4));
		}
		prefix[i] = 'a';
	}
	assert_true(uuid_typeid_prefix_is_valid("a__b", 4));
	assert_false(uuid_typeid_prefix_is_valid("_", 1));
}
