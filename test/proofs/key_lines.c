/*
 * Properties of the lines of a key file, for all files of any length, and for all names.
 *
 * The functions of the C library that search a string are replaced by functions that return any
 * result that they can return.  So no property depends on the length of a file or line.
 */
#include "proofs.h"

#include "key_lines.h"

static char *bytes;
static size_t length;
static size_t watched;			/* the index of any byte */
static char before;				/* its value at the beginning */

/* Choose any file of at least one byte. */
static void
any_file(void)
{
	length = nondet_size();
	assume(length > 0 && length <= SIZE_MAX / 4);
	bytes = malloc(length);
	assume(bytes != NULL);
	watched = nondet_size();
	assume(watched < length);
	before = bytes[watched];
}

static char *
index_or_null(size_t index, bool found)
{
	return found ? bytes + index : NULL;
}

/* [--unwind 5] */
void
file_ends_with_a_newline_and_has_no_byte_order_mark(void)
{
	UuidKeyLines lines;
	const char *reason;
	bool		marked;

	any_file();
	marked = length > 3 && bytes[0] == '\xef' && bytes[1] == '\xbb' && bytes[2] == '\xbf';
	reason = uuid_key_lines_begin(&lines, bytes, length);
	assert((reason == NULL) == (bytes[length - 1] == '\n' && !marked));
	assert(lines.next == bytes && lines.end == bytes + length && lines.number == 0);
	assert(lines.database == NULL && lines.name == NULL);
	assert(bytes[watched] == before);
	assert(uuid_key_lines_begin(&lines, bytes, 0) != NULL);
}

/* --- one line ------------------------------------------------------------------------ */

/* [--unwind 66 --wraps] */
void
key_has_the_values_of_64_digits(void)
{
	char		string[65];
	uint8_t		key[UUID_KEY_BYTES];
	bool		valid;
	int			i = any_from(0, 31);

	any_chars(string, 65);
	valid = string[64] == '\0';
	for (int j = 0; j < 64; j++)
		valid = valid && is_hexadecimal(string[j]);
	assert(uuid_hex_read(UUID_KEY_DIGITS, string, key) == valid);
	assert(!valid || key[i] == value_of(string[2 * i]) * 16 + value_of(string[2 * i + 1]));
}

static size_t last_equals;
static size_t last_space;		/* before the equals sign */
static bool has_equals;
static bool has_space;
static bool valid_digits;
static uint8_t key[UUID_KEY_BYTES];
static int	searches;

/* The line ends at the end of the array, and, in the second search, before the equals sign. */
char *
last_of_line(const char *line, int c)
{
	assert(line == bytes && c == (searches == 0 ? '=' : ' '));
	if (searches++ == 0)
		return index_or_null(last_equals, has_equals);
	assert(searches == 2 && bytes[last_equals - 1] == '\0');
	return index_or_null(last_space, has_space);
}

bool
check_digits(const char *form, const char *string, uint8_t *read)
{
	assert(strcmp(form, UUID_KEY_DIGITS) == 0 && string == bytes + last_equals + 2 && read == key);
	return valid_digits;
}

/*
 * Everything before the last space that precedes " = " is the name of a database, and what follows
 * the space is the name of the key.
 * [--unwind 66 --replace strrchr:last_of_line --replace uuid_hex_read:check_digits]
 */
void
line_is_split_at_its_last_equals_sign_and_the_space_before(void)
{
	char	   *name;
	bool		split;
	bool		spaced;
	bool		named;

	any_file();
	assume(bytes[length - 1] == '\0');
	last_equals = nondet_size();
	last_space = nondet_size();
	has_equals = nondet_bool();
	has_space = nondet_bool();
	valid_digits = nondet_bool();
	assume(!has_equals || (last_equals < length && bytes[last_equals] == '='));
	/* the second search finds a space before that of " = " */
	assume(!has_space || (has_equals && last_equals > 1 && last_space < last_equals - 1));
	assume(!has_space || (bytes[last_space] == ' ' && bytes[last_space + 1] != '\0'));

	spaced = has_equals && last_equals > 0 &&
		bytes[last_equals - 1] == ' ' && bytes[last_equals + 1] == ' ';
	named = has_space && last_space > 0 && last_space + 2 < last_equals &&
		bytes[0] != ' ' && bytes[last_space - 1] != ' ';
	split = uuid_key_line_split(bytes, &name, key);
	assert(split == (spaced && valid_digits && named));
	if (!split)
		return;
	assert(name == bytes + last_space + 1);
	assert(bytes[last_space] == '\0' && bytes[last_equals - 1] == '\0');
	if (watched != last_space && watched != last_equals - 1)
		assert(bytes[watched] == before);
}

/* --- the next line ------------------------------------------------------------------- */

static UuidKeyLines lines;
static size_t start;			/* of the line */
static size_t newline;			/* after the line */
static size_t line_end;			/* the first byte 0, at the latest in place of the newline */
static bool skipped;			/* is the line empty or a comment? */
static bool valid_line;

/* Return the end of the first line.  Check that a second line is read only after a skipped one. */
void *
end_of_line(const void *line, int c, size_t count)
{
	assert(c == '\n' && bytes[length - 1] == '\n');
	if (searches++ == 0)
	{
		assert(line == bytes + start && count == length - start);
		return bytes + newline;
	}
	assert(skipped && line == bytes + newline + 1 && count == length - newline - 1 && count > 0);
	assert(lines.end == bytes + length && lines.number == 1);
	assert(watched == newline || bytes[watched] == before);
	/* the property for the rest of the file says what follows */
	assume(false);
	return NULL;
}

size_t
length_of_line(const char *line)
{
	assert(line == bytes + start && bytes[newline] == '\0');
	return line_end - start;
}

bool
check_line(char *line, char **name, uint8_t *read)
{
	assert(line == bytes + start && line_end == newline && name == &lines.name && read == key);
	return valid_line;
}

/*
 * The property holds wherever a line starts, so it follows for all lines by induction.  The line
 * number 0 stands for any line number.
 * [--unwind 3 --replace memchr:end_of_line --replace strlen:length_of_line
 * --replace uuid_key_line_split:check_line]
 */
void
next_line_is_read_unless_it_is_empty_or_a_comment(void)
{
	UuidKeyLine found;

	any_file();
	assume(bytes[length - 1] == '\n');
	start = nondet_size();
	newline = nondet_size();
	line_end = nondet_size();
	valid_line = nondet_bool();
	assume(start <= newline && newline <= length && start <= line_end && line_end <= newline);
	assume(newline == length ? start == length : bytes[newline] == '\n');
	assume(line_end == newline || bytes[line_end] == '\0');
	lines = (UuidKeyLines) {bytes + start, bytes + length, 0, NULL, NULL};
	skipped = start < length && (start == newline || bytes[start] == '#');

	found = uuid_key_lines_next(&lines, key);
	if (start == length || skipped)
	{
		assert(found == UUID_KEY_LINE_NONE && lines.next == lines.end);
		assert(start == length || newline == length - 1);
		return;
	}
	valid_line = valid_line && line_end == newline;
	assert(found == (valid_line ? UUID_KEY_LINE_VALID : UUID_KEY_LINE_INVALID));
	assert(lines.next == bytes + newline + 1 && lines.end == bytes + length && lines.number == 1);
	assert(lines.database == bytes + start);
	assert(lines.next == lines.end || bytes[length - 1] == '\n');
	assert(watched == newline || bytes[watched] == before);
}
