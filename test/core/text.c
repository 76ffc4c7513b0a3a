/*
 * Tests of UUIDs in text: hexadecimal digits with separators, and base32hex.
 */
#include "support.h"

#include "text.h"

static void
reads_each_digit_in_upper_and_lower_case(void **state)
{
	uint8_t		bytes[11];
	static const uint8_t expected[] = {
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xAB, 0xCD, 0xEF
	};

	(void) state;
	assert_true(uuid_text_read("xxxxxxxxxxxxxxxxxxxxxx", "0123456789abcdefABCDEF", bytes));
	assert_memory_equal(bytes, expected, sizeof(expected));
}

/* Every byte other than the 22 hexadecimal digits is refused as a digit. */
static void
refuses_other_characters(void **state)
{
	(void) state;
	for (int c = 1; c < 256; c++)
	{
		char		string[] = {'0', (char) c, '\0'};
		uint8_t		byte;

		assert_int_equal(uuid_text_read("xx", string, &byte), strchr("0123456789abcdefABCDEF", c) != NULL);
	}
}

static void
refuses_text_of_another_form(void **state)
{
	static const char *const strings[] = {
		"", "1", "12", "12:", "12:3", "12:345", "12:34 ", " 12:34", "12-34", "12x34", "1:234", "1234", "xx:xx"
	};
	uint8_t		bytes[2];

	(void) state;
	assert_true(uuid_text_read("xx:xx", "12:34", bytes));
	assert_int_equal(bytes[0], 0x12);
	assert_int_equal(bytes[1], 0x34);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		if (uuid_text_read("xx:xx", strings[i], bytes))
			fail_msg("read \"%s\"", strings[i]);
}

static void
reads_a_uuid(void **state)
{
	uint8_t		bytes[UUID_BYTES];

	(void) state;
	assert_true(uuid_text_read(UUID_TEXT_HEX_AND_DASH, "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", bytes));
	assert_uuid_equal(bytes, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
}

/* RFC 4648, 7: each character encodes 5 bits, the most significant bits first. */
static void
base32hex_is_that_of_rfc_4648(void **state)
{
	/* results of Python's base64.b32hexencode(), in lower case, without padding */
	static const struct
	{
		const char *uuid;
		const char *base32hex;
	}			cases[] = {
		{"019535d9-3df7-79fb-b466-fa907fa17f9e", "06ajbm9tutsvnd36va87v8bvjo"},
		{"00000000-0000-0000-0000-000000000000", "00000000000000000000000000"},
		{"ffffffff-ffff-ffff-ffff-ffffffffffff", "vvvvvvvvvvvvvvvvvvvvvvvvvs"},
		{"08421084-2108-4210-8421-084210842108", "11111111111111111111111110"},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint8_t		bytes[UUID_BYTES];
		char		string[UUID_TEXT_BASE32HEX_LENGTH + 1];

		bytes_from_text(cases[i].uuid, bytes, UUID_BYTES);
		uuid_text_write_base32hex(bytes, string);
		assert_string_equal(string, cases[i].base32hex);
	}
}

/* The texts sort like their UUIDs, and are read in upper and lower case. */
static void
base32hex_sorts_and_is_read_back(void **state)
{
	uint8_t		previous[UUID_BYTES] = {0};
	char		previous_string[UUID_TEXT_BASE32HEX_LENGTH + 1] = "00000000000000000000000000";

	(void) state;
	for (int round = 0; round < 100000; round++)
	{
		uint8_t		bytes[UUID_BYTES];
		uint8_t		back[UUID_BYTES];
		char		string[UUID_TEXT_BASE32HEX_LENGTH + 1];
		int			order;

		uuid_layout_store64(bytes, test_bits() >> (round % 64));
		uuid_layout_store64(bytes + 8, test_bits() << (round % 64));
		uuid_text_write_base32hex(bytes, string);
		order = memcmp(bytes, previous, UUID_BYTES);
		assert_int_equal(order < 0, strcmp(string, previous_string) < 0);
		assert_int_equal(order > 0, strcmp(string, previous_string) > 0);
		memcpy(previous, bytes, UUID_BYTES);
		strcpy(previous_string, string);

		if (round % 2)
			for (char *c = string; *c != '\0'; c++)
				*c = (char) (*c >= 'a' ? *c - 'a' + 'A' : *c);
		assert_true(uuid_text_read_base32hex(string, back));
		assert_memory_equal(bytes, back, UUID_BYTES);
	}
}

static void
refuses_text_that_is_not_base32hex(void **state)
{
	static const char *const strings[] = {
		"", "0", "0000000000000000000000000", "000000000000000000000000000",
		"0000000000000000000000000w", "0000000000000000000000000W", "0000000000000000000000000=",
		"0000000000000000000000000 ", " 0000000000000000000000000", "000000000000/0000000000000",
		"000000000000:0000000000000", "000000000000@0000000000000", "000000000000`0000000000000",
		("000000000000\x80" "0000000000000"),
		/* 26 characters have 130 bits, of which the last two must be zero */
		"00000000000000000000000001", "00000000000000000000000002", "0000000000000000000000000v"
	};
	uint8_t		bytes[UUID_BYTES];

	(void) state;
	assert_true(uuid_text_read_base32hex("00000000000000000000000004", bytes));
	assert_int_equal(bytes[UUID_BYTES - 1], 1);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		if (uuid_text_read_base32hex(strings[i], bytes))
			fail_msg("read \"%s\"", strings[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_digit_in_upper_and_lower_case),
		cmocka_unit_test(refuses_other_characters),
		cmocka_unit_test(refuses_text_of_another_form),
		cmocka_unit_test(reads_a_uuid),
		cmocka_unit_test(base32hex_is_that_of_rfc_4648),
		cmocka_unit_test(base32hex_sorts_and_is_read_back),
		cmocka_unit_test(refuses_text_that_is_not_base32hex),
	};

	return run_core_tests(tests);
}
