/*
 * Tests of the lines of a key file.
 */
#include "support.h"

#include <regex.h>

#include "key_lines.h"

#define DIGITS	"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define MARK	"\xef\xbb\xbf"

#define LINES_MAX	3
#define LENGTH_MAX	300

/* Write a random line that is often valid, and return its length. */
static size_t
random_line(char *line)
{
	static const char *const others[] = {"", "#", "# comment", MARK, MARK "# comment", "\xef\xbb", "=", "\r"};
	static const char *const names[] = {
		"", "a", "#", "=", " ", "a b", "=b", "\xc3\xa9", "\t", "xy", MARK
	};
	static const char *const separators[] = {" ", " ", " ", " ", "", "  ", " = ", "\t"};
	static const char *const equals[] = {" = ", " = ", " = ", "=", " =", "= ", " =  ", "  "};
	static const char *const digits[] = {
		DIGITS, DIGITS, DIGITS, "ABCDEFabcdef00000000000000000000000000000000000000000000deadBEEF",
		"", DIGITS "0", &DIGITS[1], &DIGITS[32], DIGITS " ", DIGITS "=", DIGITS "\r",
		DIGITS " # comment", DIGITS "a b = " DIGITS,
		"g000000000000000000000000000000000000000000000000000000000000000",
		"00000000000000000000000000000000 00000000000000000000000000000000"
	};
	size_t		length;

#define PICK(list) list[test_bits() % (sizeof(list) / sizeof(list[0]))]
	if (test_bits() % 8 == 0)
		return sprintf(line, "%s", PICK(others));
	length = sprintf(line, "%s%s%s%s%s%s%s", PICK(names), test_bits() % 4 == 0 ? PICK(names) : "",
					 PICK(separators), PICK(names), test_bits() % 4 == 0 ? PICK(names) : "",
					 PICK(equals), PICK(digits));
	/* a line with a byte 0 is invalid, unless it is a comment */
	if (test_bits() % 8 == 0)
		line[test_bits() % length] = '\0';
	return length;
}

/* The reason why a file is refused as a whole, or NULL */
static const char *
reason_to_refuse(const char *file, size_t length)
{
	if (length == 0)
		return "The file is empty.";
	if (file[length - 1] != '\n')
		return "The file does not end with a newline.";
	if (strncmp(file, MARK, 3) == 0)
		return "The file begins with a byte order mark.";
	return NULL;
}

/* Check that a regular expression matches the same lines, and splits them into the same parts. */
TEST(reads_the_lines_that_a_regular_expression_describes)
{
	int			valid = 0;
	regex_t		form;

	assert_int_equal(regcomp(&form, "^([^# ]|[^# ].*[^ ]) ([^ ]+) = ([0-9A-Fa-f]{64})$",
							 REG_EXTENDED), 0);
	for (int round = 0; round < 100000; round++)
	{
		const int	count = test_bits() % (LINES_MAX + 1);
		char		text[LINES_MAX][LENGTH_MAX];
		size_t		lengths[LINES_MAX];
		char		file[LINES_MAX * LENGTH_MAX];
		char	   *end = file;
		const char *refused;
		UuidKeyLines lines;
		uint8_t		key[UUID_KEY_BYTES];
		uint8_t		expected_key[UUID_KEY_BYTES];

		for (int i = 0; i < count; i++)
		{
			lengths[i] = random_line(text[i]);
			memcpy(end, text[i], lengths[i]);
			end += lengths[i];
			*end++ = '\n';
		}
		/* without the last newline */
		if (count > 0 && test_bits() % 8 == 0)
			end--;
		refused = reason_to_refuse(file, end - file);
		if (refused != NULL)
		{
			assert_string_equal(uuid_key_lines_begin(&lines, file, end - file), refused);
			continue;
		}
		assert_null(uuid_key_lines_begin(&lines, file, end - file));
		for (int i = 0; i < count; i++)
		{
			char	   *line = text[i];
			regmatch_t	part[4];
			UuidKeyLine expected = UUID_KEY_LINE_INVALID;

			if (lengths[i] == 0 || line[0] == '#')
				continue;
			if (strlen(line) == lengths[i] && regexec(&form, line, 4, part, 0) == 0)
				expected = UUID_KEY_LINE_VALID;
			if (uuid_key_lines_next(&lines, key) != expected)
				fail_msg("\"%s\" is not %d", line, expected);
			assert_int_equal(lines.number, i + 1);
			if (expected == UUID_KEY_LINE_INVALID)
				continue;
			valid++;
			bytes_from_text(line + part[3].rm_so, expected_key, UUID_KEY_BYTES);
			assert_memory_equal(key, expected_key, UUID_KEY_BYTES);
			line[part[1].rm_eo] = line[part[2].rm_eo] = '\0';
			assert_string_equal(lines.database, line);
			assert_string_equal(lines.name, line + part[2].rm_so);
		}
		assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_NONE);
		assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_NONE);
	}
	regfree(&form);
	assert_true(valid > 5000);
}
