/*
 * key_lines.h
 *		The lines of a key file.
 *
 * A line is empty, a comment that begins with "#", or "database key_name = " followed by the
 * 64 hexadecimal digits of a key.  Lines are split from their end, since the name of a
 * database can contain spaces and equals signs.
 */
#ifndef UUID9562_CORE_KEY_LINES_H
#define UUID9562_CORE_KEY_LINES_H

#include "text.h"

#define UUID_KEY_BYTES	32

/* The rest of a file, from the next line on.  It must be writable: lines are split in place. */
typedef struct UuidKeyLines
{
	char	   *next;			/* the next line */
	char	   *end;
	int			number;			/* of the line read last, from 1 */
	char	   *database;		/* names in that line */
	char	   *name;
} UuidKeyLines;

typedef enum UuidKeyLine
{
	UUID_KEY_LINE_NONE,			/* there are no more keys */
	UUID_KEY_LINE_VALID,
	UUID_KEY_LINE_INVALID,
} UuidKeyLine;

/* Begin to read the lines of a file.  Return NULL, or the reason why the file is invalid. */
static inline const char *
uuid_key_lines_begin(UuidKeyLines *lines, char *bytes, size_t length)
{
	lines->next = bytes;
	lines->end = bytes + length;
	lines->number = 0;
	lines->database = lines->name = NULL;
	if (length == 0)
		return "The file is empty.";
	if (bytes[length - 1] != '\n')
		return "The file does not end with a newline.";
	/* the mark would become part of the first name of a database */
	if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		return "The file begins with a byte order mark.";
	return NULL;
}

#define UUID_KEY_DIGITS	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* Split "database key_name = digits" in place.  Then line names the database, and *name the key. */
static inline bool
uuid_key_line_split(char *line, char **name, uint8_t *key)
{
	char	   *equals = strrchr(line, '=');

	if (equals == NULL || equals == line || memcmp(equals - 1, " = ", 3) != 0 ||
		!uuid_hex_read(UUID_KEY_DIGITS, equals + 2, key))
		return false;
	equals[-1] = '\0';
	*name = strrchr(line, ' ');
	/* both names must be nonempty, and separated by one space */
	if (*name == NULL || (*name)[1] == '\0' || *line == ' ' || (*name)[-1] == ' ')
		return false;
	*(*name)++ = '\0';
	return true;
}

/* Read the next line that is neither empty nor a comment, and split it in place. */
static inline UuidKeyLine
uuid_key_lines_next(UuidKeyLines *lines, uint8_t *key)
{
	while (lines->next < lines->end)
	{
		char	   *line = lines->next;
		char	   *newline = memchr(line, '\n', (size_t) (lines->end - line));

		UUID_ASSERT(newline != NULL);	/* the file ends with a newline */
		lines->next = newline + 1;
		lines->number++;
		*newline = '\0';
		if (*line == '#' || line == newline)
			continue;
		lines->database = line;
		/* a line with a byte 0 is invalid */
		if (line + strlen(line) == newline && uuid_key_line_split(line, &lines->name, key))
			return UUID_KEY_LINE_VALID;
		return UUID_KEY_LINE_INVALID;
	}
	return UUID_KEY_LINE_NONE;
}

#endif							/* UUID9562_CORE_KEY_LINES_H */
