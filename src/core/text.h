/*
 * text.h
 *		Octets written as hexadecimal digits in a given form.
 *
 * Plain C11: no PostgreSQL, no I/O, no static state.
 */
#ifndef UUID9562_CORE_TEXT_H
#define UUID9562_CORE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* RFC 9562, 4: a UUID. */
#define UUID_TEXT_HEX_AND_DASH	"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

/* The value of a hexadecimal digit in upper or lower case; -1 for another. */
static inline int
uuid_text_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/*
 * Read a string in a form: each x stands for a hexadecimal digit, two of them
 * make an octet, any other character for itself.  False when the string has
 * another form; octets may then be written in part.
 */
static inline bool
uuid_text_read(const char *form, const char *string, uint8_t *octets)
{
	bool		high = true;

	for (; *form != '\0'; form++, string++)
	{
		int			digit;

		if (*form != 'x')
		{
			if (*string != *form)
				return false;
			continue;
		}
		digit = uuid_text_digit(*string);
		if (digit < 0)
			return false;
		if (high)
			*octets = (uint8_t) (digit << 4);
		else
			*octets++ |= (uint8_t) digit;
		high = !high;
	}
	return *string == '\0';
}

#endif							/* UUID9562_CORE_TEXT_H */
