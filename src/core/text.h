/*
 * text.h
 *		Text forms of a UUID: URN, base32hex, ULID, base58, base62, base64url and TypeID.
 *
 * A text consists of digits in some base, the most significant first.  In base58, base58flickr and
 * base62, the UUID is written as one number.  In the other forms, each digit stands for a few
 * bits, and bits in excess of 128 are zero.  In ULID and TypeID these zeros precede the UUID, so
 * that the text is a number too.  In base32hex and base64url the zeros follow the UUID.
 *
 * All texts that are written in one form have the same length.  So they sort as the UUIDs do if
 * the alphabet is in ASCII order.  Only the alphabets of base58flickr and base64url are not in
 * this order.
 */
#ifndef UUID9562_CORE_TEXT_H
#define UUID9562_CORE_TEXT_H

#include "layout.h"

#define UUID_TYPEID_SUFFIX_LENGTH	26
#define UUID_TYPEID_PREFIX_MAX		63

typedef struct UuidTextForm
{
	const char *name;
	const char *alphabet;		/* the digits that are written */
	const uint8_t *values;		/* value of each byte plus 1; 0 if no digit */
	uint8_t		length;			/* of the text that is written, in characters */
	uint8_t		base;
	uint8_t		bits;			/* bits of a digit, or 0 in base 58 and 62 */
	uint8_t		zeros_before;	/* additional bits before the UUID */
	uint8_t		zeros_after;	/* additional bits after the UUID */
	uint8_t		padding;		/* number of "=" that a text may end with */
	const char *frame;			/* has x for a digit; NULL if all are digits */
	const char *expected;		/* sentence that describes valid texts */
} UuidTextForm;

/* Values of digits, plus 1.  Crockford's alphabet for ULID and TypeID has no I, L, O and U. */
#define UUID_DIGITS(v) \
	['0'] = (v), (v) + 1, (v) + 2, (v) + 3, (v) + 4, (v) + 5, (v) + 6, (v) + 7, (v) + 8, (v) + 9
#define UUID_LETTERS(a, v) \
	[a] = (v), (v) + 1, (v) + 2, (v) + 3, (v) + 4, (v) + 5, (v) + 6, (v) + 7, (v) + 8, (v) + 9, \
	(v) + 10, (v) + 11, (v) + 12, (v) + 13, (v) + 14, (v) + 15, (v) + 16, (v) + 17, (v) + 18, \
	(v) + 19, (v) + 20, (v) + 21, (v) + 22, (v) + 23, (v) + 24, (v) + 25
#define UUID_CROCKFORD(a) \
	[a] = 11, 12, 13, 14, 15, 16, 17, 18, [(a) + 9] = 19, 20, [(a) + 12] = 21, 22, \
	[(a) + 15] = 23, 24, 25, 26, 27, [(a) + 21] = 28, 29, 30, 31, 32

static const uint8_t uuid_values_any_case[256] = {
	UUID_DIGITS(1), UUID_LETTERS('A', 11), UUID_LETTERS('a', 11)
};
static const uint8_t uuid_values_ulid[256] = {
	UUID_DIGITS(1), UUID_CROCKFORD('A'), UUID_CROCKFORD('a'),
	['I'] = 2,['L'] = 2,['O'] = 1,['i'] = 2,['l'] = 2,['o'] = 1
};
static const uint8_t uuid_values_typeid[256] = {UUID_DIGITS(1), UUID_CROCKFORD('a')};
static const uint8_t uuid_values_base58[256] = {
	['1'] = 1, 2, 3, 4, 5, 6, 7, 8, 9,['A'] = 10, 11, 12, 13, 14, 15, 16, 17,
	['J'] = 18, 19, 20, 21, 22,['P'] = 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33,
	['a'] = 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44,
	['m'] = 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58
};

/* Flickr's alphabet has the lower-case letters before the others. */
static const uint8_t uuid_values_base58flickr[256] = {
	['1'] = 1, 2, 3, 4, 5, 6, 7, 8, 9,['a'] = 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
	['m'] = 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34,
	['A'] = 35, 36, 37, 38, 39, 40, 41, 42,['J'] = 43, 44, 45, 46, 47,
	['P'] = 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58
};
static const uint8_t uuid_values_base62[256] = {
	UUID_DIGITS(1), UUID_LETTERS('A', 11), UUID_LETTERS('a', 37)
};
static const uint8_t uuid_values_base64url[256] = {
	UUID_LETTERS('A', 1), UUID_LETTERS('a', 27), UUID_DIGITS(53),['-'] = 63,['_'] = 64
};

static const UuidTextForm uuid_text_forms[] = {
	{
		.name = "urn",.alphabet = "0123456789abcdef",.values = uuid_values_any_case,
		.length = 45,.base = 16,.bits = 4,.frame = "urn:uuid:xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
		.expected = "A URN of a UUID looks like \"urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"."
	},
	{
		.name = "base32hex",.alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV",
		.values = uuid_values_any_case,
		.length = 26,.base = 32,.bits = 5,.zeros_after = 2,.padding = 6,
		.expected = "A UUID in base32hex consists of 26 characters \"0\" to \"9\" and \"A\" to \"V\" in any case, "
		"the last of which is \"0\", \"4\", \"8\", \"C\", \"G\", \"K\", \"O\", or \"S\"."
	},
	{
		.name = "ulid",.alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ",.values = uuid_values_ulid,
		.length = 26,.base = 32,.bits = 5,.zeros_before = 2,
		.expected = "A ULID consists of 26 digits or ASCII letters other than \"U\"; the greatest is \"7ZZZZZZZZZZZZZZZZZZZZZZZZZ\"."
	},
	{
		.name = "base58",.alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
		.values = uuid_values_base58,.length = 22,.base = 58,
		.expected = "A UUID in base58 consists of at most 22 digits or ASCII letters other than \"0\", \"I\", \"O\", and \"l\"; "
		"the greatest is \"YcVfxkQb6JRzqk5kF2tNLv\"."
	},
	{
		.name = "base58flickr",
		.alphabet = "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ",
		.values = uuid_values_base58flickr,.length = 22,.base = 58,
		.expected = "A UUID in base58flickr consists of at most 22 digits or ASCII letters other than \"0\", \"I\", \"O\", and \"l\"; "
		"the greatest is \"xBuEXKpA6iqZQK5Kf2TnkV\"."
	},
	{
		.name = "base62",
		.alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
		.values = uuid_values_base62,.length = 22,.base = 62,
		.expected = "A UUID in base62 consists of at most 22 digits or ASCII letters; the greatest is \"7n42DGM5Tflk9n8mt7Fhc7\"."
	},
	{
		.name = "base64url",
		.alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
		.values = uuid_values_base64url,
		.length = 22,.base = 64,.bits = 6,.zeros_after = 4,.padding = 2,
		.expected = "A UUID in base64url consists of 22 digits, ASCII letters, \"-\", or \"_\", "
		"the last of which is \"A\", \"Q\", \"g\", or \"w\"."
	},

	/*
	 * the suffix of a TypeID; must stay last, because uuid_typeid_suffix is
	 * the last form
	 */
	{
		.name = "typeid",.alphabet = "0123456789abcdefghjkmnpqrstvwxyz",
		.values = uuid_values_typeid,
		.length = UUID_TYPEID_SUFFIX_LENGTH,.base = 32,.bits = 5,.zeros_before = 2,
		.expected = "A TypeID looks like \"order_01fwhe4ydgfk1shh6w1g60eecf\", in lower case, with any prefix or none; "
		"the greatest suffix is \"7zzzzzzzzzzzzzzzzzzzzzzzzz\"."
	},
};

#define UUID_TEXT_FORMS	(sizeof(uuid_text_forms) / sizeof(uuid_text_forms[0]))

static const UuidTextForm *const uuid_typeid_suffix = &uuid_text_forms[UUID_TEXT_FORMS - 1];

static inline char
uuid_text_lower(char c)
{
	return (char) (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Find a form by its name, ignoring case.  Return NULL if there is none. */
static inline const UuidTextForm *
uuid_text_form_find(const char *name, size_t length)
{
	for (size_t i = 0; i < UUID_TEXT_FORMS; i++)
	{
		const char *known = uuid_text_forms[i].name;	/* in lower case */
		size_t		j = 0;

		while (j < length && known[j] != '\0' && uuid_text_lower(name[j]) == known[j])
			j++;
		if (j == length && known[j] == '\0')
			return &uuid_text_forms[i];
	}
	return NULL;
}

/* Write the digits of a form whose digits stand for bits, and the other characters of its frame. */
static inline void
uuid_text_form_write_bits(const UuidTextForm *form, const uint8_t *bytes, char *string)
{
	uint64_t	high = uuid_layout_load64(bytes);
	uint64_t	low = uuid_layout_load64(bytes + 8);
	int			bits = form->bits - form->zeros_before; /* of the first digit,
														 * without the zeros */

	for (int i = 0; i < form->length; i++)
	{
		if (form->frame != NULL && form->frame[i] != 'x')
		{
			string[i] = form->frame[i];
			continue;
		}
		string[i] = form->alphabet[high >> (64 - bits)];
		high = high << bits | low >> (64 - bits);
		low <<= bits;			/* the bits after the UUID are zero */
		bits = form->bits;
	}
}

/* Divide a number of four 32-bit words, most significant first, in place.  Return the remainder. */
static inline uint32_t
uuid_text_divide(uint64_t *words, uint32_t divisor)
{
	uint64_t	remainder = 0;

	for (int i = 0; i < 4; i++)
	{
		remainder = remainder << 32 | words[i];
		words[i] = remainder / divisor;
		remainder %= divisor;
	}
	return (uint32_t) remainder;
}

/*
 * Multiply such a number of four 32-bit words by a factor, in place, and add the given carry.
 * Return the part of the result above 128 bits.
 */
static inline uint64_t
uuid_text_multiply_add(uint64_t *words, uint64_t factor, uint64_t carry)
{
	UUID_ASSERT(factor <= UINT32_MAX && carry <= UINT32_MAX);	/* so the sum fits into
																 * 64 bits */
	for (int i = 3; i >= 0; i--, carry >>= 32)
	{
		carry += words[i] * factor;
		words[i] = carry & UINT32_MAX;
	}
	return carry;
}

/* Five digits of a number are computed at a time, since 62^5 fits into 32 bits. */
#define UUID_FIVE_DIGITS(base) ((uint32_t) (base) * (base) * (base) * (base) * (base))

/* Write a UUID in base 58 or 62.  base is form->base as a constant, which avoids slow divisions. */
static inline void
uuid_text_form_write_number(const UuidTextForm *form, uint32_t base, const uint8_t *bytes,
							char *string)
{
	uint64_t	high = uuid_layout_load64(bytes);
	uint64_t	low = uuid_layout_load64(bytes + 8);
	uint64_t	words[] = {high >> 32, high & UINT32_MAX, low >> 32, low & UINT32_MAX};
	uint32_t	group = 0;		/* the next digits, at most five */

	UUID_ASSERT(base == form->base);
	for (int i = 0; i < form->length; i++, group /= base)
	{
		if (i % 5 == 0)
			group = uuid_text_divide(words, UUID_FIVE_DIGITS(base));
		string[form->length - 1 - i] = form->alphabet[group % base];
	}
}

/* Write 16 bytes as form->length characters, without a terminating NUL. */
static inline void
uuid_text_form_write(const UuidTextForm *form, const uint8_t *bytes, char *string)
{
	if (form->base == 58)
		uuid_text_form_write_number(form, 58, bytes, string);
	else if (form->base == 62)
		uuid_text_form_write_number(form, 62, bytes, string);
	else
		uuid_text_form_write_bits(form, bytes, string);
}

/*
 * Convert a text to 16 bytes.  Return false if the text is not valid.  In base58, base58flickr and
 * base62, leading zeros can be missing.
 *
 * Read the text of every form as a number of 128 bits.  To save multiplications of this number,
 * collect a group of several digits in 32 bits.  Then multiply the number by "power", which is the
 * base raised to the number of digits in the group, and add the group.
 */
static inline bool
uuid_text_form_read(const UuidTextForm *form, const char *string, size_t length, uint8_t *bytes)
{
	uint64_t	words[4] = {0}; /* the number without the current group */
	uint64_t	group = 0;
	uint64_t	power = 1;

	/* the padding must be complete, or missing */
	if (length == (size_t) form->length + form->padding)
		while (length > form->length && string[length - 1] == '=')
			length--;
	if (length > form->length || length < (form->bits > 0 ? form->length : 1))
		return false;
	for (size_t i = 0; i < length; i++)
	{
		/*
		 * the last digit ends with the zeros after the UUID, and so has a
		 * smaller base
		 */
		int			zeros = i == length - 1 ? form->zeros_after : 0;
		uint32_t	base = (uint32_t) form->base >> zeros;
		uint32_t	digit = form->values[(uint8_t) string[i]] - 1U; /* UINT32_MAX if no
																	 * digit */

		if (form->frame != NULL && form->frame[i] != 'x')
		{
			if (uuid_text_lower(string[i]) != form->frame[i])
				return false;
			continue;
		}
		if (digit >= form->base || digit % (1U << zeros) != 0)
			return false;
		group = group * base + (digit >> zeros);
		power *= base;

		/*
		 * wait for the next digit if power then still fits into 32 bits: 64
		 * is the greatest base
		 */
		if (power <= UINT32_MAX / 64 && i < length - 1)
			continue;

		/*
		 * the number exceeds 128 bits, for example if the zeros before the
		 * UUID are not zero
		 */
		if (uuid_text_multiply_add(words, power, group) != 0)
			return false;
		group = 0;
		power = 1;
	}
	uuid_layout_store64(bytes, words[0] << 32 | words[1]);
	uuid_layout_store64(bytes + 8, words[2] << 32 | words[3]);
	return true;
}

/* Check the prefix of a TypeID: it can be empty, and "_" can be neither first nor last. */
static inline bool
uuid_typeid_prefix_is_valid(const char *prefix, size_t length)
{
	if (length > UUID_TYPEID_PREFIX_MAX ||
		(length > 0 && (prefix[0] == '_' || prefix[length - 1] == '_')))
		return false;
	for (size_t i = 0; i < length; i++)
	{
		if ((prefix[i] < 'a' || prefix[i] > 'z') && prefix[i] != '_')
			return false;
	}
	return true;
}

/*
 * Read a TypeID: the suffix alone, or a nonempty prefix followed by "_" and the suffix.
 * Return false if the text is not valid.
 */
static inline bool
uuid_typeid_read(const char *string, size_t length, size_t *prefix_length, uint8_t *bytes)
{
	size_t		before;			/* length of the prefix and "_" */

	if (length < UUID_TYPEID_SUFFIX_LENGTH)
		return false;
	before = length - UUID_TYPEID_SUFFIX_LENGTH;
	if (before == 1 || (before > 1 && string[before - 1] != '_'))
		return false;
	*prefix_length = before > 0 ? before - 1 : 0;
	return uuid_typeid_prefix_is_valid(string, *prefix_length) &&
		uuid_text_form_read(uuid_typeid_suffix, string + before, UUID_TYPEID_SUFFIX_LENGTH, bytes);
}

/*
 * Read the bytes of a string that matches a frame.  In the frame, each x stands for a hexadecimal
 * digit, and every other character stands for itself.  Two digits are a byte.  If the string does
 * not match, return false; some bytes may already have been written.
 */
static inline bool
uuid_hex_read(const char *frame, const char *string, uint8_t *bytes)
{
	bool		high = true;	/* the next digit is the first one of a byte */

	for (; *frame != '\0'; frame++, string++)
	{
		unsigned int digit = uuid_values_any_case[(uint8_t) *string] - 1U;

		if (*frame != 'x')
		{
			if (*string != *frame)
				return false;
			continue;
		}
		if (digit > 15)			/* or not a digit at all */
			return false;
		if (high)
			*bytes = (uint8_t) (digit << 4);
		else
			*bytes++ |= (uint8_t) digit;
		high = !high;
	}
	return *string == '\0';
}

#endif							/* UUID9562_CORE_TEXT_H */
