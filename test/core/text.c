/*
 * Tests of hexadecimal digits with separators, and of the text forms of a UUID.  sql/convert.sql has
 * vectors of the text forms.
 */
#include "support.h"

#include <ctype.h>

#include "text.h"

#define RANDOM_ROUNDS	50000
#define LONGEST			45

/* Change a text at random into a similar one.  Return its length, which is at most 16 greater. */
static size_t
vary(char *string, const char *digits)
{
	size_t		length = strlen(string);

	for (int changes = test_bits() % 3; changes > 0; changes--)
	{
		const size_t at = test_bits() % (length + 1);

		switch (test_bits() % 7)
		{
			case 0:
				for (size_t i = 0; i < length; i++)
				{
					const uint8_t c = (uint8_t) string[i];

					string[i] = (char) (test_bits() % 2 ? toupper(c) : tolower(c));
				}
				break;
			case 1:
				string[at] = digits[test_bits() % strlen(digits)];
				length += at == length;
				break;
			case 2:
				string[at] = (char) test_bits();
				length += at == length;
				break;
			case 3:
				string[at] ^= (char) (1 << test_bits() % 8);
				break;
			case 4:
				memmove(string, string + at, length - at);
				length -= at;
				break;
			case 5:
				length = at;
				break;
			default:
				memset(string + length, '=', at % 9);
				length += at % 9;
		}
	}
	return length;
}

/* A string is read if it has a digit for each x, and the other characters of the frame. */
TEST(reads_hexadecimal_digits_in_a_frame)
{
	static const char *const frames[] = {"xxxx", "xx-xx", "-xx--xx"};
	static const char digits[] = "0123456789abcdefABCDEF";

	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const char *frame = frames[round % 3];
		const size_t length = strlen(frame);
		char		string[24] = {0};
		uint8_t		bytes[2];
		uint8_t		expected[2];
		bool		valid;

		for (size_t i = 0; i < length; i++)
			string[i] = frame[i] == 'x' ? digits[test_bits() % strlen(digits)] : frame[i];
		string[vary(string, digits)] = '\0';
		valid = strlen(string) == length;
		for (size_t i = 0; valid && i < length; i++)
			valid = frame[i] == 'x' ? isxdigit((uint8_t) string[i]) : string[i] == frame[i];
		if (uuid_hex_read(frame, string, bytes) != valid)
			fail_msg("\"%s\" is %s", string, valid ? "refused" : "read");
		if (!valid)
			continue;
		bytes_from_text(string, expected, 2);
		assert_memory_equal(bytes, expected, 2);
	}
}

/* Return the value of a character as a digit of the form, or -1 if it is no digit. */
static int
value_of(const UuidTextForm *form, int c)
{
	const char *digit;

	if (strcmp(form->name, "urn") == 0)
		c = tolower(c);
	if (strcmp(form->name, "base32hex") == 0 || strcmp(form->name, "ulid") == 0)
		c = toupper(c);
	if (strcmp(form->name, "ulid") == 0)
		c = c == 'I' || c == 'L' ? '1' : c == 'O' ? '0' : c;
	digit = c == '\0' ? NULL : strchr(form->alphabet, c);
	return digit == NULL ? -1 : (int) (digit - form->alphabet);
}

/* Read a text by one multiplication for each digit. */
static bool
slow_read(const UuidTextForm *form, const char *string, size_t length, uint8_t *bytes)
{
	/* RFC 4648 pads a text to whole groups, of 8 or 4 characters */
	const bool	padded = (strcmp(form->name, "base32hex") == 0 && length == 32) ||
		(strcmp(form->name, "base64url") == 0 && length == 24);
	uint8_t		number[UUID_BYTES + 1] = {0};

	while (padded && length > form->length && string[length - 1] == '=')
		length--;
	/* leading zeros can be missing in base58, base58flickr and base62 */
	if (length > form->length || length < (form->bits == 0 ? 1 : form->length))
		return false;
	for (size_t i = 0; i < length; i++)
	{
		/* the last digit has bits after the UUID, which must be zero */
		const int	excess = i == length - 1 ? 1 << form->zeros_after : 1;
		int			value = value_of(form, (uint8_t) string[i]);

		if (form->frame != NULL && form->frame[i] != 'x')
		{
			if (tolower((uint8_t) string[i]) != form->frame[i])
				return false;
			continue;
		}
		if (value < 0 || value % excess != 0)
			return false;
		value /= excess;
		for (int j = UUID_BYTES; j >= 0; j--, value >>= 8)
		{
			value += number[j] * (form->base / excess);
			number[j] = (uint8_t) value;
		}
	}
	memcpy(bytes, number + 1, UUID_BYTES);
	return number[0] == 0;
}

/* Write random UUIDs, and read their texts and others. */
TEST(reads_each_text_as_the_number_of_its_digits)
{
	for (int round = 0; round < RANDOM_ROUNDS * (int) UUID_TEXT_FORMS; round++)
	{
		const UuidTextForm *form = &uuid_text_forms[round % UUID_TEXT_FORMS];
		uint8_t		bytes[UUID_BYTES];
		uint8_t		expected[UUID_BYTES];
		char		buffer[1 + LONGEST + 16 + 1] = {0};
		char	   *string = buffer + 1;
		size_t		length;
		char	   *copy;
		bool		valid;

		uuid_layout_store64(bytes, test_number(64));
		uuid_layout_store64(bytes + 8, test_number(64));
		uuid_text_form_write(form, bytes, string);
		assert_int_equal(buffer[0], '\0');
		assert_int_equal(strlen(string), form->length);
		assert_true(slow_read(form, string, form->length, expected));
		assert_memory_equal(bytes, expected, UUID_BYTES);

		/* a sanitizer finds a read beyond a copy of exactly the text */
		length = vary(string, form->alphabet);
		copy = memcpy(malloc(length), string, length);
		valid = slow_read(form, string, length, expected);
		if (uuid_text_form_read(form, copy, length, bytes) != valid)
			fail_msg("%s: \"%.*s\" is %s", form->name, (int) length, string,
					 valid ? "refused" : "read");
		free(copy);
		if (valid)
			assert_memory_equal(bytes, expected, UUID_BYTES);
	}
}

TEST(finds_a_form_by_its_name_in_any_case)
{
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		const UuidTextForm *expected = NULL;
		char		name[32] = {0};
		size_t		length;

		strcpy(name, uuid_text_forms[round % UUID_TEXT_FORMS].name);
		length = vary(name, "abcdefghijklmnopqrstuvwxyz0123456789");
		for (size_t n = 0; n < UUID_TEXT_FORMS; n++)
		{
			size_t		same = 0;

			while (same < length && uuid_text_forms[n].name[same] != '\0' &&
				   tolower((uint8_t) name[same]) == uuid_text_forms[n].name[same])
				same++;
			if (same == length && length == strlen(uuid_text_forms[n].name))
				expected = &uuid_text_forms[n];
		}
		assert_ptr_equal(uuid_text_form_find(name, length), expected);
	}
}
