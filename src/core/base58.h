/*
 * base58.h
 *		A UUID as 22 digits in base 58, with Bitcoin's alphabet.
 *
 * The alphabet is in ASCII order and the length is fixed.  So with collation "C" the
 * text sorts as the UUID does.  Five digits are computed at a time: 58^5 fits into 32 bits.
 *
 * Plain C11: no PostgreSQL headers, no I/O, no static state.
 */
#ifndef UUID9562_CORE_BASE58_H
#define UUID9562_CORE_BASE58_H

#include "layout.h"

#define UUID_BASE58_LENGTH		22
#define UUID_BASE58_ALPHABET	"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
#define UUID_BASE58_FIVE_DIGITS	656356768	/* 58^5 */

/* Write 16 bytes as 22 characters, without a terminating NUL. */
static inline void
uuid_base58_write(const uint8_t *bytes, char *string)
{
	uint64_t	high = uuid_layout_load64(bytes);
	uint64_t	low = uuid_layout_load64(bytes + 8);
	uint64_t	words[] = {high >> 32, high & UINT32_MAX, low >> 32, low & UINT32_MAX};
	uint32_t	digits = 0;

	for (int i = 0; i < UUID_BASE58_LENGTH; i++, digits /= 58)
	{
		if (i % 5 == 0)
		{
			uint64_t	remainder = 0;

			for (int j = 0; j < 4; j++)
			{
				remainder = remainder << 32 | words[j];
				words[j] = remainder / UUID_BASE58_FIVE_DIGITS;
				remainder %= UUID_BASE58_FIVE_DIGITS;
			}
			digits = (uint32_t) remainder;
		}
		string[UUID_BASE58_LENGTH - 1 - i] = UUID_BASE58_ALPHABET[digits % 58];
	}
}

/* Read 16 bytes from 22 characters.  Return NULL, or the reason for a failure. */
static inline const char *
uuid_base58_read(const char *string, size_t length, uint8_t *bytes)
{
	uint64_t	words[4] = {0};
	uint64_t	carry = 0;

	if (length != UUID_BASE58_LENGTH)
		return "A base58-encoded UUID consists of 22 ASCII characters.";
	for (int i = UUID_BASE58_LENGTH - 1; i >= 0; i--)
	{
		char		c = *string++;
		int			digit = c - '1' - 7 * (c > '9') - (c > 'I') - (c > 'O') - 6 * (c > 'Z') - (c > 'l');

		if (digit < 0 || digit > 57 || UUID_BASE58_ALPHABET[digit] != c)
			return "Valid characters are digits and ASCII letters other than \"0\", \"I\", \"O\" and \"l\".";
		carry = carry * 58 + (uint64_t) digit;
		for (int j = 3; j >= 0 && i % 5 == 0; j--, carry >>= 32)
		{
			carry += words[j] * UUID_BASE58_FIVE_DIGITS;
			words[j] = carry & UINT32_MAX;
		}
		if (i % 5 == 0 && carry != 0)
			return "The greatest base58-encoded UUID is \"YcVfxkQb6JRzqk5kF2tNLv\".";
	}
	uuid_layout_store64(bytes, words[0] << 32 | words[1]);
	uuid_layout_store64(bytes + 8, words[2] << 32 | words[3]);
	return NULL;
}

#endif							/* UUID9562_CORE_BASE58_H */
