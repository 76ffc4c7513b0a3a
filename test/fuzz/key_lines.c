/*
 * Fuzz target for the lines of a key file.
 *
 * Each valid line must have the syntax that the manual specifies.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "key_lines.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Return the start of line n; the first line has the number 1. */
static const char *
start_of_line(const char *file, int n)
{
	for (; n > 1; n--)
		while (*file++ != '\n');	/* comments can contain a byte 0 */
	return file;
}

static void
check_line(const char *line, const char *database, const char *name, const uint8_t *key)
{
	size_t		length = strlen(database);

	assert(length > 0 && name[0] != '\0' && strchr(name, ' ') == NULL);
	assert(line[0] != '#' && line[0] != ' ' && line[length - 1] != ' ');
	assert(strncmp(line, database, length) == 0 && line[length] == ' ');
	line += length + 1;
	length = strlen(name);
	assert(strncmp(line, name, length) == 0 && strncmp(line + length, " = ", 3) == 0);
	line += length + 3;
	for (int i = 0; i < UUID_KEY_BYTES; i++)
	{
		char		digits[3];

		sprintf(digits, "%02x", key[i]);
		for (int j = 0; j < 2; j++, line++)
			assert(*line == digits[j] || (digits[j] >= 'a' && *line == digits[j] - 'a' + 'A'));
	}
	assert(*line == '\n');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* copies of exactly these bytes, so that the sanitizer finds a read past their end */
	char	   *file = malloc(size);
	char	   *split = malloc(size);
	UuidKeyLines lines;
	UuidKeyLine found;
	uint8_t		key[UUID_KEY_BYTES];

	if (size > 0)
	{
		memcpy(file, data, size);
		memcpy(split, data, size);
	}
	if (uuid_key_lines_begin(&lines, split, size) == NULL)
	{
		assert(file[size - 1] == '\n');
		while ((found = uuid_key_lines_next(&lines, key)) == UUID_KEY_LINE_VALID)
			check_line(start_of_line(file, lines.number), lines.database, lines.name, key);
		assert(found == UUID_KEY_LINE_INVALID || lines.next == lines.end);
	}
	free(file);
	free(split);
	return 0;
}
