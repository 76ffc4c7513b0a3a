/*
 * Properties of text forms, for all UUIDs, and for all texts of each length that a form can have.
 */
#include "proofs.h"

#include "text.h"

enum
{
	URN,
	BASE32HEX,
	ULID,
	BASE58,
	BASE62,
	BASE64URL,
	LONGEST = 64
};

/* --- forms whose digits stand for bits --------------------------------------------- */

/* Check that each UUID is read from the text that is written for it. */
static void
is_read_back(const UuidTextForm *form)
{
	uint8_t		bytes[UUID_BYTES];
	uint8_t		back[UUID_BYTES];
	char		string[LONGEST];

	any_bytes(bytes, UUID_BYTES);
	uuid_text_form_write(form, bytes, string);
	assert(uuid_text_form_read(form, string, form->length, back));
	assert(same_bytes(bytes, back));
}

/* [--unwind 47] */
void
urns_are_read_back(void)
{
	is_read_back(&uuid_text_forms[URN]);
}

/* [--unwind 47] */
void
base32hex_is_read_back(void)
{
	is_read_back(&uuid_text_forms[BASE32HEX]);
}

/* [--unwind 47] */
void
ulids_are_read_back(void)
{
	is_read_back(&uuid_text_forms[ULID]);
}

/* [--unwind 47] */
void
base64url_is_read_back(void)
{
	is_read_back(&uuid_text_forms[BASE64URL]);
}

/* [--unwind 47] */
void
suffixes_of_typeid_are_read_back(void)
{
	is_read_back(&uuid_typeid_suffix);
}

/* Check that if a text is read, the text written for the result has the same digits. */
static void
is_written_back(const UuidTextForm *form)
{
	uint8_t		bytes[UUID_BYTES];
	char		string[LONGEST];
	char		written[LONGEST];
	int			i = any_from(0, form->length - 1);

	for (int j = 0; j < form->length; j++)
		string[j] = nondet_char();
	if (!uuid_text_form_read(form, string, form->length, bytes))
		return;
	uuid_text_form_write(form, bytes, written);
	if (form->frame != NULL && form->frame[i] != 'x')
		assert(uuid_text_lower(string[i]) == written[i]);
	else
		assert(form->values[(uint8_t) string[i]] == form->values[(uint8_t) written[i]]);
}

/* [--unwind 47] */
void
what_is_read_from_a_urn_is_written_back(void)
{
	is_written_back(&uuid_text_forms[URN]);
}

/* [--unwind 47] */
void
what_is_read_from_base32hex_is_written_back(void)
{
	is_written_back(&uuid_text_forms[BASE32HEX]);
}

/* [--unwind 47] */
void
what_is_read_from_a_ulid_is_written_back(void)
{
	is_written_back(&uuid_text_forms[ULID]);
}

/* [--unwind 47] */
void
what_is_read_from_base64url_is_written_back(void)
{
	is_written_back(&uuid_text_forms[BASE64URL]);
}

/* [--unwind 47] */
void
what_is_read_from_a_suffix_of_typeid_is_written_back(void)
{
	is_written_back(&uuid_typeid_suffix);
}

/* Check that texts sort as their UUIDs do. */
static void
sorts(const UuidTextForm *form)
{
	uint8_t		a[UUID_BYTES];
	uint8_t		b[UUID_BYTES];
	char		text_a[LONGEST];
	char		text_b[LONGEST];

	any_bytes(a, UUID_BYTES);
	any_bytes(b, UUID_BYTES);
	uuid_text_form_write(form, a, text_a);
	uuid_text_form_write(form, b, text_b);
	assert((memcmp(a, b, UUID_BYTES) < 0) == (memcmp(text_a, text_b, form->length) < 0));
}

/* [--unwind 47] */
void
urns_sort_as_their_uuids(void)
{
	sorts(&uuid_text_forms[URN]);
}

/* [--unwind 47] */
void
base32hex_sorts_as_its_uuids(void)
{
	sorts(&uuid_text_forms[BASE32HEX]);
}

/* [--unwind 47] */
void
ulids_sort_as_their_uuids(void)
{
	sorts(&uuid_text_forms[ULID]);
}

/* [--unwind 47] */
void
suffixes_of_typeid_sort_as_their_uuids(void)
{
	sorts(&uuid_typeid_suffix);
}

/* --- alphabets ------------------------------------------------------------------- */

/* [--unwind 65] */
void
digits_have_their_values(void)
{
	int			i = any_from(0, 6);
	const UuidTextForm *form = i == 6 ? &uuid_typeid_suffix : &uuid_text_forms[i];
	int			digit = any_from(0, form->base - 1);

	assert(strlen(form->alphabet) == form->base);
	assert(form->values[(uint8_t) form->alphabet[digit]] == digit + 1);
}

/* A byte with a value is the digit of this value, in another case or, in ULID, I, L or O. */
void
other_bytes_have_no_values(void)
{
	int			i = any_from(0, 6);
	const UuidTextForm *form = i == 6 ? &uuid_typeid_suffix : &uuid_text_forms[i];
	char		byte = nondet_char();
	int			value = form->values[(uint8_t) byte];
	bool		any_case = i == URN || i == BASE32HEX || i == ULID;
	char		digit;

	if (value == 0 || value > form->base)
		return;
	digit = form->alphabet[value - 1];
	if (i == ULID && (byte == 'I' || byte == 'i' || byte == 'L' || byte == 'l'))
		assert(digit == '1');
	else if (i == ULID && (byte == 'O' || byte == 'o'))
		assert(digit == '0');
	else
		assert(byte == digit || (any_case && uuid_text_lower(byte) == uuid_text_lower(digit)));
}

/* --- base 58 and 62 --------------------------------------------------------------- */

/*
 * In these bases, a text is a number.  It is written by long division by base^5 and read by long
 * multiplication, a word at a time.  Both are exact if no step overflows: each word of a quotient,
 * of a product or of a carry must fit into 32 bits, and each sum into 64 bits.
 */
static void
any_words(uint64_t *words)
{
	for (int i = 0; i < 4; i++)
		words[i] = nondet_uint32();
}

static bool
fit(const uint64_t *words)
{
	return words[0] <= UINT32_MAX && words[1] <= UINT32_MAX && words[2] <= UINT32_MAX && words[3] <= UINT32_MAX;
}

/* [--unwind 6 --unsigned-overflow-check] */
void
words_of_a_quotient_fit(void)
{
	uint64_t	words[4];
	uint32_t	divisor = nondet_bool() ? UUID_FIVE_DIGITS(58) : UUID_FIVE_DIGITS(62);

	any_words(words);
	assert(uuid_text_divide(words, divisor) < divisor);
	assert(fit(words));
}

/* [--unwind 6 --unsigned-overflow-check] */
void
words_of_a_product_fit(void)
{
	uint64_t	words[4];

	any_words(words);
	assert(uuid_text_multiply_add(words, nondet_uint32(), nondet_uint32()) <= UINT32_MAX);
	assert(fit(words));
}

/* Check that each number below base^4 is written as four digits after zeros, and read back. */
static void
four_digits(const UuidTextForm *form, uint32_t base)
{
	for (uint32_t number = 0; number < base * base * base * base; number++)
	{
		uint32_t	rest = number;
		uint8_t		bytes[UUID_BYTES] = {0};
		uint8_t		back[UUID_BYTES];
		char		string[LONGEST];

		uuid_layout_store64(bytes + 8, number);
		uuid_text_form_write(form, bytes, string);
		for (int i = form->length - 1; i >= 0; i--, rest /= base)
			assert(string[i] == form->alphabet[rest % base]);
		assert(uuid_text_form_read(form, string, form->length, back));
		assert(same_bytes(back, bytes));
	}
}

/* [visits all values] */
void
four_digits_of_base58_are_written_and_read(void)
{
	four_digits(&uuid_text_forms[BASE58], 58);
}

/* [visits all values] */
void
four_digits_of_base62_are_written_and_read(void)
{
	four_digits(&uuid_text_forms[BASE62], 62);
}

/* --- any text --------------------------------------------------------------------- */

/* Check that only texts of a valid length and with valid digits are read. */
static void
other_texts_are_refused(const UuidTextForm *form)
{
	size_t		length = nondet_size();
	char	   *string;
	uint8_t		bytes[UUID_BYTES];

	assume(length <= (size_t) form->length + form->padding + 1);
	string = malloc(length);
	assume(string != NULL);
	if (uuid_text_form_read(form, string, length, bytes))
	{
		size_t		i = nondet_size();

		assume(i < length);
		assert(length <= (size_t) form->length + form->padding);
		assert(length == form->length || form->padding > 0);
		assert(form->values[(uint8_t) string[i]] != 0 || form->frame != NULL || (i >= form->length && string[i] == '='));
	}
	free(string);
}

/* [--unwind 48] */
void
other_texts_are_no_urns(void)
{
	other_texts_are_refused(&uuid_text_forms[URN]);
}

/* [--unwind 48] */
void
other_texts_are_no_base32hex(void)
{
	other_texts_are_refused(&uuid_text_forms[BASE32HEX]);
}

/* [--unwind 48] */
void
other_texts_are_no_ulids(void)
{
	other_texts_are_refused(&uuid_text_forms[ULID]);
}

/* [--unwind 12] */
void
names_of_forms_are_found_in_any_case(void)
{
	char		name[11];
	size_t		length = nondet_size();
	const UuidTextForm *form;
	int			i = any_from(0, 5);
	bool		same = true;

	assume(length <= 11);
	for (int j = 0; j < 11; j++)
		name[j] = nondet_char();
	form = uuid_text_form_find(name, length);
	assert(form == NULL || (form >= &uuid_text_forms[0] && form <= &uuid_text_forms[5]));
	for (size_t j = 0; j < 11; j++)
		same = same && (j >= length || (j < strlen(uuid_text_forms[i].name) && uuid_text_lower(name[j]) == uuid_text_forms[i].name[j]));
	assert((form == &uuid_text_forms[i]) == (same && length == strlen(uuid_text_forms[i].name)));
}

/* --- TypeID ------------------------------------------------------------------------ */

/* [--unwind 66] */
void
prefixes_of_typeid_are_lower_case_with_inner_underscores(void)
{
	char		prefix[65];
	size_t		length = nondet_size();
	bool		valid = true;

	assume(length <= 65);
	for (size_t i = 0; i < 65; i++)
	{
		prefix[i] = nondet_char();
		valid = valid && (i >= length || (prefix[i] >= 'a' && prefix[i] <= 'z') || (prefix[i] == '_' && i > 0 && i < length - 1));
	}
	assert(uuid_typeid_prefix_is_valid(prefix, length) == (valid && length <= 63));
}

/* [--unwind 66] */
void
typeid_is_a_prefix_and_a_suffix(void)
{
	size_t		length = nondet_size();
	size_t		prefix_length;
	size_t		before;
	uint8_t		bytes[UUID_BYTES];
	uint8_t		suffix[UUID_BYTES];
	char	   *string;

	assume(length <= 63 + 1 + UUID_TYPEID_SUFFIX_LENGTH + 1);
	string = malloc(length);
	assume(string != NULL);
	if (!uuid_typeid_read(string, length, &prefix_length, bytes))
		return;
	before = length - UUID_TYPEID_SUFFIX_LENGTH;
	assert(length >= UUID_TYPEID_SUFFIX_LENGTH);
	assert(before == 0 ? prefix_length == 0 : before == prefix_length + 1 && prefix_length > 0 && string[prefix_length] == '_');
	assert(uuid_typeid_prefix_is_valid(string, prefix_length));
	assert(uuid_text_form_read(&uuid_typeid_suffix, string + before, UUID_TYPEID_SUFFIX_LENGTH, suffix));
	assert(same_bytes(suffix, bytes));
	free(string);
}

/* [--unwind 8] */
void
text_in_a_form_is_read(void)
{
	char		string[7];
	uint8_t		bytes[2];
	uint32_t	digits[4];
	bool		valid;

	for (int i = 0; i < 6; i++)
		string[i] = nondet_char();
	string[6] = '\0';
	for (int i = 0; i < 4; i++)
		digits[i] = uuid_values_any_case[(uint8_t) string[i + i / 2]] - 1U;
	valid = digits[0] < 16 && digits[1] < 16 && string[2] == '-' && digits[2] < 16 && digits[3] < 16 && string[5] == '\0';
	assert(uuid_hex_read("xx-xx", string, bytes) == valid);
	assert(!valid || (bytes[0] == digits[0] * 16 + digits[1] && bytes[1] == digits[2] * 16 + digits[3]));
}
