/*
 * Hexadecimal digits in a form.
 */
#include "support.h"

#include "text.h"

static void
reads_each_digit_in_upper_and_lower_case(void **state)
{
	uint8_t		octets[11];
	static const uint8_t expected[] = {
		0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xAB, 0xCD, 0xEF
	};

	(void) state;
	assert_true(uuid_text_read("xxxxxxxxxxxxxxxxxxxxxx", "0123456789abcdefABCDEF", octets));
	assert_memory_equal(octets, expected, sizeof(expected));
}

/* Every octet but the 22 digits, in the place of a digit. */
static void
refuses_what_is_no_digit(void **state)
{
	(void) state;
	for (int c = 1; c < 256; c++)
	{
		char		string[] = {'0', (char) c, '\0'};
		uint8_t		octet;

		assert_int_equal(uuid_text_read("xx", string, &octet), strchr("0123456789abcdefABCDEF", c) != NULL);
	}
}

static void
refuses_another_form(void **state)
{
	static const char *const strings[] = {
		"", "1", "12", "12:", "12:3", "12:345", "12:34 ", " 12:34", "12-34", "12x34", "1:234", "1234", "xx:xx"
	};
	uint8_t		octets[2];

	(void) state;
	assert_true(uuid_text_read("xx:xx", "12:34", octets));
	assert_int_equal(octets[0], 0x12);
	assert_int_equal(octets[1], 0x34);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		if (uuid_text_read("xx:xx", strings[i], octets))
			fail_msg("read \"%s\"", strings[i]);
}

static void
reads_a_uuid(void **state)
{
	uint8_t		octets[UUID_OCTETS];

	(void) state;
	assert_true(uuid_text_read(UUID_TEXT_HEX_AND_DASH, "F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6", octets));
	assert_uuid_equal(octets, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_digit_in_upper_and_lower_case),
		cmocka_unit_test(refuses_what_is_no_digit),
		cmocka_unit_test(refuses_another_form),
		cmocka_unit_test(reads_a_uuid),
	};

	return run_core_tests(tests);
}
