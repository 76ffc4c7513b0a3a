/*
 * Tests of hexadecimal digits with separators, and of the text forms of a UUID.
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
	assert_true(uuid_hex_read("xxxxxxxxxxxxxxxxxxxxxx", "0123456789abcdefABCDEF", bytes));
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

		assert_int_equal(uuid_hex_read("xx", string, &byte), strchr("0123456789abcdefABCDEF", c) != NULL);
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
	assert_true(uuid_hex_read("xx:xx", "12:34", bytes));
	assert_int_equal(bytes[0], 0x12);
	assert_int_equal(bytes[1], 0x34);
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		if (uuid_hex_read("xx:xx", strings[i], bytes))
			fail_msg("read \"%s\"", strings[i]);
}

#define LONGEST	46

/* Computed in Python with divmod() and the modules base64 and uuid. */
static const struct
{
	const char *uuid;
	const char *texts[UUID_TEXT_FORMS - 1];	/* in the order of uuid_text_forms, without the URN */
}			cases[] = {
	{"00000000-0000-0000-0000-000000000000", {"00000000000000000000000000", "00000000000000000000000000",
	"1111111111111111111111", "1111111111111111111111", "0000000000000000000000", "AAAAAAAAAAAAAAAAAAAAAA",
	"00000000000000000000000000"}},
	{"00000000-0000-0000-0000-000000000001", {"00000000000000000000000004", "00000000000000000000000001",
	"1111111111111111111112", "1111111111111111111112", "0000000000000000000001", "AAAAAAAAAAAAAAAAAAAAAQ",
	"00000000000000000000000001"}},
	{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", {"05VI5OJPM1UC7664RG60O1PPHS", "01FWHE4YDGFK1SHH6W1G60EECF",
	"1BihbxwwQ4NZZpKRH9JDCz", "1bHGAXWWp4nyyPjqh9idcZ", "02p5oQZoHTv0zeY5yG21K3", "AX8i4nmwfMOYxNwMDAc5jw",
	"01fwhe4ydgfk1shh6w1g60eecf"}},
	{"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", {"V0EKVBJTTG8T19R502GCI7JBUO", "7R3N7TWZFC278AES80M34HWTZP",
	"Xe22UfxT3rxcKJEAfL5373", "wD22tEXs3RXBjieaEk5373", "7YBUWgZR1mKSqGyj9tVViw", "-B1Prn3sEdCnZQCgyR5r9g",
	"7r3n7twzfc278aes80m34hwtzp"}},
	{"ffffffff-ffff-ffff-ffff-ffffffffffff", {"VVVVVVVVVVVVVVVVVVVVVVVVVS", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
	"YcVfxkQb6JRzqk5kF2tNLv", "xBuEXKpA6iqZQK5Kf2TnkV", "7n42DGM5Tflk9n8mt7Fhc7", "_____________________w",
	"7zzzzzzzzzzzzzzzzzzzzzzzzz"}},
};

/* Read a copy of exactly the text, so that a sanitizer finds a read past its end. */
static bool
reads(const UuidTextForm *form, const char *string, uint8_t *bytes)
{
	size_t		length = strlen(string);
	char	   *copy = memcpy(malloc(length), string, length);
	bool		valid = uuid_text_form_read(form, copy, length, bytes);

	free(copy);
	return valid;
}

static void
assert_written(const UuidTextForm *form, const uint8_t *bytes, const char *expected)
{
	char		string[LONGEST] = {0};

	uuid_text_form_write(form, bytes, string);
	assert_string_equal(string, expected);
	assert_int_equal(strlen(string), form->length);
}

static void
assert_read(const UuidTextForm *form, const char *string, const uint8_t *bytes)
{
	uint8_t		back[UUID_BYTES];

	if (!reads(form, string, back))
		fail_msg("%s: did not read \"%s\"", form->name, string);
	if (memcmp(back, bytes, UUID_BYTES) != 0)
		fail_msg("%s: read \"%s\" as another UUID", form->name, string);
}

static void
writes_and_reads_the_vectors(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint8_t		bytes[UUID_BYTES];
		char		urn[LONGEST];

		bytes_from_text(cases[i].uuid, bytes, UUID_BYTES);
		sprintf(urn, "urn:uuid:%s", cases[i].uuid);
		for (size_t n = 0; n < UUID_TEXT_FORMS; n++)
		{
			const char *text = n == 0 ? urn : cases[i].texts[n - 1];

			assert_written(&uuid_text_forms[n], bytes, text);
			assert_read(&uuid_text_forms[n], text, bytes);
		}
	}
}

/* Divide a number of 17 bytes by a base, and return the remainder. */
static unsigned int
divide(uint8_t *number, unsigned int base)
{
	unsigned int rest = 0;

	for (int i = 0; i <= UUID_BYTES; i++)
	{
		rest = rest << 8 | number[i];
		number[i] = (uint8_t) (rest / base);
		rest %= base;
	}
	return rest;
}

/* Write a text by one division for each digit. */
static void
slow_write(const UuidTextForm *form, const uint8_t *bytes, char *string)
{
	uint8_t		number[UUID_BYTES + 1];

	/* append the zero bits after the UUID */
	number[0] = (uint8_t) (bytes[0] >> (8 - form->zeros_after));
	for (int i = 0; i < UUID_BYTES; i++)
		number[i + 1] = (uint8_t) (bytes[i] << form->zeros_after | (i < UUID_BYTES - 1 ? bytes[i + 1] >> (8 - form->zeros_after) : 0));
	string[form->length] = '\0';
	for (int i = form->length - 1; i >= 0; i--)
		string[i] = form->frame != NULL && form->frame[i] != 'x' ? form->frame[i] : form->alphabet[divide(number, form->base)];
}

/* Random bytes, which often begin or end with zero bits */
static void
random_bytes(int round, uint8_t *bytes)
{
	uint64_t	high = test_bits();
	uint64_t	low = test_bits();

	uuid_layout_store64(bytes, round % 5 == 0 ? 0 : high >> (round % 64));
	uuid_layout_store64(bytes + 8, round % 7 == 0 ? low >> (round % 64) : low << (round % 64));
}

static void
digits_are_those_of_a_number_and_sort(void **state)
{
	(void) state;
	for (size_t n = 0; n < UUID_TEXT_FORMS; n++)
	{
		const UuidTextForm *form = &uuid_text_forms[n];
		uint8_t		previous[UUID_BYTES] = {0};
		char		previous_string[LONGEST];

		slow_write(form, previous, previous_string);
		for (int round = 0; round < 100000; round++)
		{
			uint8_t		bytes[UUID_BYTES];
			char		string[LONGEST];

			random_bytes(round, bytes);
			slow_write(form, bytes, string);
			assert_written(form, bytes, string);
			assert_read(form, string, bytes);
			if (strcmp(form->name, "base58flickr") != 0 && strcmp(form->name, "base64url") != 0)
			{
				int			order = memcmp(bytes, previous, UUID_BYTES);

				assert_int_equal(order < 0, strcmp(string, previous_string) < 0);
				assert_int_equal(order > 0, strcmp(string, previous_string) > 0);
			}
			memcpy(previous, bytes, UUID_BYTES);
			strcpy(previous_string, string);
		}
	}
}

/* Change a text at random into another text of the same UUID. */
static void
vary(const UuidTextForm *form, char *string)
{
	const bool	any_case = form->base <= 32 && form != uuid_typeid_suffix;
	const bool	number = form->bits == 0;

	while (number && *string == form->alphabet[0] && string[1] != '\0' && test_bits() % 4 != 0)
		memmove(string, string + 1, strlen(string));
	for (char *c = string; any_case && *c != '\0'; c++)
	{
		uint64_t	bits = test_bits();

		if (strcmp(form->name, "ulid") == 0 && bits & 1)
			*c = *c == '1' ? "IL"[bits >> 2 & 1] : *c == '0' ? 'O' : *c;
		if (*c >= 'A' && *c <= 'Z' && bits & 2)
			*c = (char) (*c - 'A' + 'a');
		else if (*c >= 'a' && *c <= 'z' && bits & 2)
			*c = (char) (*c - 'a' + 'A');
	}
	if (test_bits() & 1)
		strcat(string, &"======"[6 - form->padding]);
}

static void
reads_all_texts_of_a_uuid(void **state)
{
	(void) state;
	for (size_t n = 0; n < UUID_TEXT_FORMS; n++)
	{
		for (int round = 0; round < 100000; round++)
		{
			uint8_t		bytes[UUID_BYTES];
			char		string[LONGEST + 6] = {0};

			random_bytes(round, bytes);
			uuid_text_form_write(&uuid_text_forms[n], bytes, string);
			vary(&uuid_text_forms[n], string);
			assert_read(&uuid_text_forms[n], string, bytes);
		}
	}
}

/* Return the value of a character as a digit of the form, or -1 if it is no digit. */
static int
value_of(const UuidTextForm *form, int c)
{
	const char *digit;

	if (form->base <= 32 && form != uuid_typeid_suffix && c >= 'a' && c <= 'z')
		c += 'A' - 'a';
	if (form->base == 16 && c >= 'A' && c <= 'Z')
		c += 'a' - 'A';
	if (strcmp(form->name, "ulid") == 0)
		c = c == 'I' || c == 'L' ? '1' : c == 'O' ? '0' : c;
	digit = c == '\0' ? NULL : strchr(form->alphabet, c);
	return digit == NULL ? -1 : (int) (digit - form->alphabet);
}

/* Try each byte at each position of the text of Nil. */
static void
forms_refuse_other_characters(void **state)
{
	static const uint8_t nil[UUID_BYTES];
	uint8_t		max[UUID_BYTES];

	(void) state;
	memset(max, 0xff, UUID_BYTES);
	for (size_t n = 0; n < UUID_TEXT_FORMS; n++)
	{
		const UuidTextForm *form = &uuid_text_forms[n];
		char		greatest[LONGEST];

		uuid_text_form_write(form, max, greatest);
		for (int i = 0; i < form->length; i++)
		{
			const bool	in_frame = form->frame != NULL && form->frame[i] != 'x';

			for (int c = 0; c < 256; c++)
			{
				char		string[LONGEST];
				char		back[LONGEST] = {0};
				uint8_t		bytes[UUID_BYTES];
				int			value = value_of(form, c);
				bool		valid = value >= 0;

				uuid_text_form_write(form, nil, string);
				if (in_frame)
					valid = c == form->frame[i] || (c >= 'A' && c <= 'Z' && c - 'A' + 'a' == form->frame[i]);
				else if (i == 0)
					valid = valid && value <= value_of(form, greatest[0]);
				else if (i == form->length - 1)
					valid = valid && value % (1 << form->zeros_after) == 0;
				string[i] = (char) c;
				if (uuid_text_form_read(form, string, form->length, bytes) != valid)
					fail_msg("%s: byte %d at %d is %s", form->name, c, i, valid ? "refused" : "read");
				if (!valid || in_frame)
					continue;
				uuid_text_form_write(form, bytes, back);
				assert_int_equal(back[i], form->alphabet[value]);
			}
		}
	}
}

/* Try texts of digits with the value 0, with each length and each number of "=" at the end. */
static void
refuses_other_lengths(void **state)
{
	(void) state;
	for (size_t n = 1; n < UUID_TEXT_FORMS; n++)
	{
		const UuidTextForm *form = &uuid_text_forms[n];
		const int	full = strcmp(form->name, "base32hex") == 0 ? 6 : strcmp(form->name, "base64url") == 0 ? 2 : 0;

		for (int length = 0; length < 60; length++)
		{
			for (int padding = 0; padding < 10; padding++)
			{
				char		string[70];
				uint8_t		bytes[UUID_BYTES];
				bool		valid = form->bits == 0 ? length > 0 && length <= 22 && padding == 0 :
					length == form->length && (padding == 0 || padding == full);

				memset(string, form->alphabet[0], sizeof(string));
				memset(string + length, '=', padding);
				string[length + padding] = '\0';
				if (reads(form, string, bytes) != valid)
					fail_msg("%s: %d digits with %d \"=\" are %s", form->name, length, padding, valid ? "refused" : "read");
			}
		}
	}
}

static void
refuses_invalid_texts(void **state)
{
	static const struct
	{
		const char *form;
		const char *string;
	}			invalid[] = {
		{"urn", ""}, {"urn", "urn:uuid:"}, {"urn", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		{"urn", "urn:uuid:f81d4fae7dec11d0a76500a0c91e6bf6"}, {"urn", "urn:uuid:{f81d4fae-7dec-11d0-a765-00a0c91e6b}"},
		{"urn", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf"}, {"urn", "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf60"},
		{"urn", "urn:isbn:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}, {"urn", "\x15rn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6"},
		/* bits after the 128th */
		{"base32hex", "00000000000000000000000001"}, {"base32hex", "00000000000000000000000002"},
		{"base32hex", "0000000000000000000000000v"}, {"base32hex", "VVVVVVVVVVVVVVVVVVVVVVVVVV"},
		{"base64url", "AAAAAAAAAAAAAAAAAAAAAB"}, {"base64url", "AAAAAAAAAAAAAAAAAAAAAI"}, {"base64url", "______________________"},
		/* padding in a form without padding, before the end, or incomplete */
		{"base32hex", "00000000000000000000000000="}, {"base32hex", "00000000000000000000000000====="},
		{"base32hex", "======00000000000000000000000000"}, {"base32hex", "0000000000000000000000000======="},
		{"base64url", "AAAAAAAAAAAAAAAAAAAAAA="}, {"base64url", "AAAAAAAAAAAAAAAAAAAAA==="},
		{"ulid", "00000000000000000000000000======"}, {"base58", "1111111111111111111111=="}, {"base62", "="},
		/* more than 128 bits */
		{"ulid", "80000000000000000000000000"}, {"ulid", "8ZZZZZZZZZZZZZZZZZZZZZZZZZ"}, {"ulid", "ZZZZZZZZZZZZZZZZZZZZZZZZZZ"},
		{"base58", "YcVfxkQb6JRzqk5kF2tNLw"}, {"base58", "YcVfxkQb6JRzqk5kF2tNM1"}, {"base58", "Yd11111111111111111111"},
		{"base58", "Z111111111111111111111"}, {"base58", "zzzzzzzzzzzzzzzzzzzzzz"},
		{"base58flickr", "xBuEXKpA6iqZQK5Kf2TnkW"}, {"base58flickr", "y111111111111111111111"}, {"base58flickr", "ZZZZZZZZZZZZZZZZZZZZZZ"},
		{"base62", "7n42DGM5Tflk9n8mt7Fhc8"}, {"base62", "7n42DGM5Tflk9n8mt7FhdO"}, {"base62", "7o00000000000000000000"},
		{"base62", "8000000000000000000000"}, {"base62", "zzzzzzzzzzzzzzzzzzzzzz"},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
	{
		uint8_t		bytes[UUID_BYTES];

		if (reads(uuid_text_form_find(invalid[i].form, strlen(invalid[i].form)), invalid[i].string, bytes))
			fail_msg("%s: read \"%s\"", invalid[i].form, invalid[i].string);
	}
}

static void
finds_a_form_by_its_name_in_any_case(void **state)
{
	static const char *const others[] = {"", "u", "ur", "urns", "base", "base5", "base588", "base58flick", "base58flickrs", "base64", "hex", "type_id", " urn", "ulid ", "\xd5rn"};

	(void) state;
	for (size_t n = 0; n < UUID_TEXT_FORMS; n++)
	{
		char		name[20];

		strcpy(name, uuid_text_forms[n].name);
		assert_ptr_equal(uuid_text_form_find(name, strlen(name)), &uuid_text_forms[n]);
		assert_null(uuid_text_form_find(name, strlen(name) + 1));	/* including the final byte 0 */
		for (char *c = name; *c != '\0'; c++)
			*c = (char) (*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
		assert_ptr_equal(uuid_text_form_find(name, strlen(name)), &uuid_text_forms[n]);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(uuid_text_form_find(others[i], strlen(others[i])));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_digit_in_upper_and_lower_case),
		cmocka_unit_test(refuses_other_characters),
		cmocka_unit_test(refuses_text_of_another_form),
		cmocka_unit_test(writes_and_reads_the_vectors),
		cmocka_unit_test(digits_are_those_of_a_number_and_sort),
		cmocka_unit_test(reads_all_texts_of_a_uuid),
		cmocka_unit_test(forms_refuse_other_characters),
		cmocka_unit_test(refuses_other_lengths),
		cmocka_unit_test(refuses_invalid_texts),
		cmocka_unit_test(finds_a_form_by_its_name_in_any_case),
	};

	return run_core_tests(tests);
}
