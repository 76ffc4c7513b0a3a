/*
 * text.h
 *		Text forms of a UUID: hexadecimal digits, and base32hex.
 *
 * Plain C11: no PostgreSQL headers, no I/O, no static state.
 */
#ifndef UUID9562_CORE_TEXT_H
#define UUID9562_CORE_TEXT_H

#include "layout.h"

/* Usual text form of a UUID (RFC 9562, 4), for uuid_text_read() */
#define UUID_TEXT_HEX_AND_DASH	"xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

/* Return the value of a digit in a base up to 36, or -1 if c is not such a digit. */
static inline int
uuid_text_digit(char c, int base)
{
	int			digit = -1;

	if (c >= '0' && c <= '9')
		digit = c - '0';
	else if (c >= 'a')
		digit = c - 'a' + 10;
	else if (c >= 'A')
		digit = c - 'A' + 10;
	return digit < base ? digit : -1;
}

/*
 * Read a string that has a given form.  In the form, each x stands for a hexadecimal
 * digit, and other characters for themselves.  Two digits are a byte.  Return false if
 * the string does not have the form.  Some bytes may then already have been written.
 */
static inline bool
uuid_text_read(const char *form, const char *string, uint8_t *bytes)
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
		digit = uuid_text_digit(*string, 16);
		if (digit < 0)
			return false;
		if (high)
			*bytes = (uint8_t) (digit << 4);
		else
			*bytes++ |= (uint8_t) digit;
		high = !high;
	}
	return *string == '\0';
}

/*
 * In base32hex (RFC 4648, 7) each character stands for 5 bits, the most significant
 * first.  Two zero bits follow the 128 bits of a UUID.  The alphabet is in ASCII order,
 * so the text sorts in the order of the bytes.
 */
#define UUID_TEXT_BASE32HEX_LENGTH	26
#define UUID_TEXT_BASE32HEX_ALPHABET	"0123456789abcdefghijklmnopqrstuv"

/* Write 16 bytes as base32hex in lower case, terminated by NUL. */
static inline void
uuid_text_write_base32hex(const uint8_t *bytes, char *string)
{
	uint32_t	bits = 0;
	int			count = 0;		/* number of bits not yet written */
	int			next = 0;

	for (int i = 0; i < UUID_TEXT_BASE32HEX_LENGTH; i++)
	{
		if (count < 5)
		{
			bits = bits << 8 | (next < UUID_BYTES ? bytes[next] : 0);
			next++;
			count += 8;
		}
		count -= 5;
		string[i] = UUID_TEXT_BASE32HEX_ALPHABET[bits >> count & 31];
	}
	string[UUID_TEXT_BASE32HEX_LENGTH] = '\0';
}

/*
 * Read 16 bytes from base32hex in upper or lower case, without padding.  Return
 * false for any other string, also if a bit after the 128th is set.  Some bytes may
 * then already have been written.
 */
static inline bool
uuid_text_read_base32hex(const char *string, uint8_t *bytes)
{
	uint32_t	bits = 0;
	int			count = 0;		/* number of bits that are not yet a byte */

	for (int i = 0; i < UUID_TEXT_BASE32HEX_LENGTH; i++)
	{
		int			digit = uuid_text_digit(string[i], 32);

		if (digit < 0)			/* not a digit, or the end of the string */
			return false;
		bits = bits << 5 | (uint32_t) digit;
		count += 5;
		if (count >= 8)
		{
			count -= 8;
			*bytes++ = (uint8_t) (bits >> count);
		}
	}
	return string[UUID_TEXT_BASE32HEX_LENGTH] == '\0' && (bits & ((1U << count) - 1)) == 0;
}

#endif							/* UUID9562_CORE_TEXT_H */
