/*
 * Tests of the lines of a key file.
 */
#include "support.h"

#include <regex.h>

#include "key_lines.h"

#define DIGITS	"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* Begin to read a copy of a file. */
static const char *
begin(UuidKeyLines *lines, char *copy, const char *file)
{
	strcpy(copy, file);
	return uuid_key_lines_begin(lines, copy, strlen(copy));
}

static void
reads_the_keys_of_a_file(void **state)
{
	UuidKeyLines lines;
	char		file[1000];
	uint8_t		key[UUID_KEY_BYTES];

	(void) state;
	assert_null(begin(&lines, file, "# keys\n\nshop orders = " DIGITS "\na = b c=d = " DIGITS "\n#\nshop = " DIGITS "\nx y = " DIGITS "\n\n"));
	assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_VALID);
	assert_int_equal(lines.number, 3);
	assert_string_equal(lines.database, "shop");
	assert_string_equal(lines.name, "orders");
	for (int i = 0; i < UUID_KEY_BYTES; i++)
		assert_int_equal(key[i], i);
	assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_VALID);
	assert_int_equal(lines.number, 4);
	assert_string_equal(lines.database, "a = b");
	assert_string_equal(lines.name, "c=d");
	assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_INVALID);
	assert_int_equal(lines.number, 6);
	assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_VALID);
	assert_int_equal(lines.number, 7);
	assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_NONE);
	assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_NONE);
}

static void
refuses_a_file_without_a_newline_at_its_end(void **state)
{
	static const char line[] = "a b = " DIGITS;
	const char *const files[] = {"#", line, "\na", "\xef\xbb\xbf"};
	UuidKeyLines lines;
	char		file[100];

	(void) state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		assert_string_equal(begin(&lines, file, files[i]), "The file does not end with a newline.");
	assert_string_equal(begin(&lines, file, ""), "The file is empty.");
	assert_null(begin(&lines, file, "\n"));
}

static void
refuses_a_byte_order_mark_at_the_start(void **state)
{
	UuidKeyLines lines;
	char		file[100];

	(void) state;
	assert_string_equal(begin(&lines, file, "\xef\xbb\xbf\n"), "The file begins with a byte order mark.");
	assert_string_equal(begin(&lines, file, "\xef\xbb\xbf" "a b = " DIGITS "\n"), "The file begins with a byte order mark.");
	assert_null(begin(&lines, file, "\xef\xbb\n"));
	assert_null(begin(&lines, file, "a\xef\xbb\xbf\n"));
}

static void
refuses_a_byte_0_in_a_line(void **state)
{
	(void) state;
	for (size_t at = 0; at < strlen("a b = " DIGITS "\n"); at++)
	{
		UuidKeyLines lines;
		char		file[] = "#\na b = " DIGITS "\n";
		uint8_t		key[UUID_KEY_BYTES];

		/* insert a byte 0 before each character of the line */
		memmove(file + 3 + at, file + 2 + at, strlen(file + 2 + at));
		file[2 + at] = '\0';
		assert_null(uuid_key_lines_begin(&lines, file, sizeof(file)));
		assert_int_equal(uuid_key_lines_next(&lines, key), UUID_KEY_LINE_INVALID);
	}
}

/* Write a random line that is often valid. */
static void
random_line(char *line)
{
	static const char *const names[] = {"", "a", "#", "=", " ", "a b", "=b", "\xc3\xa9", "\t", "xy"};
	static const char *const separators[] = {" ", " ", " ", " ", "", "  ", " = "};
	static const char *const equals[] = {" = ", " = ", " = ", "=", " =", "= ", " =  ", "  "};
	static const char *const digits[] = {
		DIGITS, DIGITS, DIGITS, "ABCDEFabcdef00000000000000000000000000000000000000000000deadBEEF",
		"", DIGITS "0", &DIGITS[1], DIGITS " ", DIGITS "=", "g000000000000000000000000000000000000000000000000000000000000000"
	};

#define PICK(list) list[test_bits() % (sizeof(list) / sizeof(list[0]))]
	sprintf(line, "%s%s%s%s%s%s%s", PICK(names), test_bits() % 4 == 0 ? PICK(names) : "", PICK(separators), PICK(names),
			test_bits() % 4 == 0 ? PICK(names) : "", PICK(equals), PICK(digits));
}

/* Check that a regular expression matches the same lines, and splits them into the same parts. */
static void
reads_the_lines_that_a_regular_expression_describes(void **state)
{
	int			valid = 0;
	regex_t		form;

	(void) state;
	assert_int_equal(regcomp(&form, "^([^# ]|[^# ].*[^ ]) ([^ ]+) = ([0-9A-Fa-f]{64})$", REG_EXTENDED), 0);
	for (int i = 0; i < 100000; i++)
	{
		char		line[200];
		char		file[202];
		UuidKeyLines lines;
		regmatch_t	part[4];
		UuidKeyLine expected = UUID_KEY_LINE_INVALID;
		uint8_t		key[UUID_KEY_BYTES];
		uint8_t		expected_key[UUID_KEY_BYTES];

		random_line(line);
		if (line[0] == '#' || line[0] == '\0')
			expected = UUID_KEY_LINE_NONE;
		else if (regexec(&form, line, 4, part, 0) == 0)
			expected = UUID_KEY_LINE_VALID;
		sprintf(file, "%s\n", line);
		assert_null(uuid_key_lines_begin(&lines, file, strlen(file)));
		if (uuid_key_lines_next(&lines, key) != expected)
			fail_msg("\"%s\" is not %d", line, expected);
		if (expected != UUID_KEY_LINE_VALID)
			continue;
		valid++;
		bytes_from_text(line + part[3].rm_so, expected_key, UUID_KEY_BYTES);
		assert_memory_equal(key, expected_key, UUID_KEY_BYTES);
		line[part[1].rm_eo] = line[part[2].rm_eo] = '\0';
		assert_string_equal(lines.database, line);
		assert_string_equal(lines.name, line + part[2].rm_so);
	}
	regfree(&form);
	assert_true(valid > 5000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_keys_of_a_file),
		cmocka_unit_test(refuses_a_file_without_a_newline_at_its_end),
		cmocka_unit_test(refuses_a_byte_order_mark_at_the_start),
		cmocka_unit_test(refuses_a_byte_0_in_a_line),
		cmocka_unit_test(reads_the_lines_that_a_regular_expression_describes),
	};

	return run_core_tests(tests);
}
