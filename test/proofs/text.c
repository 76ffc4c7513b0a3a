/*
 * Properties of text forms, for all UUIDs, and for all texts of any length.
 */
#include "proofs.h"

#include "text.h"

enum
{
	URN,
	BASE32HEX,
	ULID,
	BASE58,
	BASE58FLICKR,
	BASE62,
	BASE64URL,
	TYPEID,
	LONGEST = 45
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
	is_read_back(uuid_typeid_suffix);
}

/* Check that if a text is read, the text written for the result has the same digits. */
static void
is_written_back(const UuidTextForm *form)
{
	uint8_t		bytes[UUID_BYTES];
	char		string[LONGEST];
	char		written[LONGEST];
	int			i = any_from(0, form->length - 1);

	any_chars(string, form->length);
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
	is_written_back(uuid_typeid_suffix);
}

/* Check whether a character is the given one, in any case. */
static bool
is_letter(char c, char expected)
{
	return c == expected || (expected >= 'a' && expected <= 'z' && c == expected - 'a' + 'A');
}

/* Check whether a text has digits where the form has, and the bits after the UUID are zero. */
static bool
has_digits(const UuidTextForm *form, const char *string)
{
	for (int i = 0; i < form->length; i++)
	{
		int			digit = form->values[(uint8_t) string[i]] - 1;
		int			zeros = i == form->length - 1 ? form->zeros_after : 0;

		if (form->frame != NULL && form->frame[i] != 'x')
		{
			if (!is_letter(string[i], form->frame[i]))
				return false;
		}
		else if (digit < 0 || digit >= form->base || digit % (1 << zeros) != 0)
			return false;
	}
	return true;
}

/* This stands for uuid_text_multiply_add(), as if all numbers fitted. */
uint64_t
no_carry(uint64_t *words, uint64_t factor, uint64_t digits)
{
	(void) words;
	(void) factor;
	(void) digits;
	return 0;
}

/*
 * Check that exactly the texts of a form are read if all numbers fit.  The numbers of texts of ULID
 * and TypeID whose first digit is too great do not fit: if these texts were read, they would not be
 * written back.  The numbers of all other texts fit, since there are as many of these texts as
 * UUIDs, and the text of each UUID is read back.
 */
static void
only_digits_are_read(const UuidTextForm *form)
{
	const int	padded = form->length + form->padding;
	size_t		length = nondet_size();
	char		string[LONGEST];
	/* a text ends at the end of the array, so that a read beyond it is found */
	char	   *text = string + LONGEST - form->length;
	char	   *with_padding = string + LONGEST - padded;
	uint8_t		bytes[UUID_BYTES];
	bool		valid;

	any_chars(string, LONGEST);
	if (length == form->length)
		assert(uuid_text_form_read(form, text, form->length, bytes) == has_digits(form, text));
	else if (length == (size_t) padded && nondet_bool())
	{
		memset(with_padding + form->length, '=', form->padding);
		valid = has_digits(form, with_padding);
		assert(uuid_text_form_read(form, with_padding, padded, bytes) == valid);
	}
	else if (length == (size_t) padded)
	{
		assume(with_padding[any_from(form->length, padded - 1)] != '=');
		assert(!uuid_text_form_read(form, with_padding, padded, bytes));
	}
}

/* [--unwind 47 --replace uuid_text_multiply_add:no_carry] */
void
only_urns_have_their_digits(void)
{
	assert(uuid_text_forms[URN].padding == 0);
	only_digits_are_read(&uuid_text_forms[URN]);
}

/* [--unwind 47 --replace uuid_text_multiply_add:no_carry] */
void
only_texts_in_base32hex_have_their_digits(void)
{
	assert(uuid_text_forms[BASE32HEX].padding == 6);
	only_digits_are_read(&uuid_text_forms[BASE32HEX]);
}

/* [--unwind 47 --replace uuid_text_multiply_add:no_carry] */
void
only_ulids_have_their_digits(void)
{
	assert(uuid_text_forms[ULID].padding == 0);
	only_digits_are_read(&uuid_text_forms[ULID]);
}

/* [--unwind 47 --replace uuid_text_multiply_add:no_carry] */
void
only_texts_in_base64url_have_their_digits(void)
{
	assert(uuid_text_forms[BASE64URL].padding == 2);
	only_digits_are_read(&uuid_text_forms[BASE64URL]);
}

/* [--unwind 47 --replace uuid_text_multiply_add:no_carry] */
void
only_suffixes_of_typeid_have_their_digits(void)
{
	assert(uuid_typeid_suffix->padding == 0);
	only_digits_are_read(uuid_typeid_suffix);
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
	sorts(uuid_typeid_suffix);
}

/* --- alphabets ------------------------------------------------------------------- */

void
capital_letters_have_a_lower_case(void)
{
	const char *const capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	const char *const letters = "abcdefghijklmnopqrstuvwxyz";
	char		c = nondet_char();
	int			i = any_from(0, 25);

	assert(uuid_text_lower(capitals[i]) == letters[i]);
	assert((c >= 'A' && c <= 'Z') || uuid_text_lower(c) == c);
}

/* [--unwind 65] */
void
digits_have_their_values(void)
{
	int			i = any_from(URN, TYPEID);
	const UuidTextForm *form = &uuid_text_forms[i];
	int			digit = any_from(0, form->base - 1);

	assert(strlen(form->alphabet) == form->base);
	assert(form->values[(uint8_t) form->alphabet[digit]] == digit + 1);
}

/*
 * So texts in base58 and base62 sort as their numbers, as do those of the other forms, except
 * base58flickr and base64url.
 */
void
alphabets_except_two_are_in_ascii_order(void)
{
	int			i = any_from(URN, TYPEID);
	const UuidTextForm *form = &uuid_text_forms[i];
	int			digit = any_from(1, form->base - 1);

	assume(i != BASE58FLICKR && i != BASE64URL);
	assert(form->alphabet[digit - 1] < form->alphabet[digit]);
}

/* A byte with a value is the digit of this value, in another case or, in ULID, I, L or O. */
void
other_bytes_have_no_values(void)
{
	int			i = any_from(URN, TYPEID);
	const UuidTextForm *form = &uuid_text_forms[i];
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
 * In these bases, a text is a number.  It is written by long division by base^5, and read by long
 * multiplication, five digits at a time.  Solvers cannot decide a chain of these steps.  So the
 * first properties prove each step, as arithmetic of exact numbers.  The others prove that a text
 * has the digits of the remainders, and that the sums of a text's digits are passed on, whatever
 * the results of the steps are.  By induction over the steps, the digits of the text are those of
 * the UUID's number.
 */
typedef unsigned __CPROVER_bitvector[192] Exact;

static Exact
number_of(const uint64_t *words)
{
	const		Exact base = (Exact) 1 << 32;

	return ((words[0] * base + words[1]) * base + words[2]) * base + words[3];
}

static void
any_words(uint64_t *words)
{
	for (int i = 0; i < 4; i++)
		words[i] = nondet_uint32();
}

static bool
fit(const uint64_t *words)
{
	return words[0] <= UINT32_MAX && words[1] <= UINT32_MAX &&
		words[2] <= UINT32_MAX && words[3] <= UINT32_MAX;
}

static uint32_t
power_of(uint32_t base, int exponent)
{
	uint32_t	power = 1;

	for (int i = 0; i < exponent; i++)
		power *= base;
	return power;
}

static void
check_division(uint32_t divisor)
{
	uint64_t	words[4];
	uint32_t	remainder;
	Exact		number;

	any_words(words);
	number = number_of(words);
	remainder = uuid_text_divide(words, divisor);
	assert(fit(words) && remainder < divisor);
	assert(number_of(words) * divisor + remainder == number);
}

/* [--unwind 6 --integers] */
void
a_number_is_divided_by_58_to_the_5(void)
{
	check_division(UUID_FIVE_DIGITS(58));
}

/* [--unwind 6 --integers] */
void
a_number_is_divided_by_62_to_the_5(void)
{
	check_division(UUID_FIVE_DIGITS(62));
}

static void
check_product(uint32_t factor)
{
	uint64_t	words[4];
	uint32_t	digits = nondet_uint32();
	uint64_t	carry;
	Exact		number;

	any_words(words);
	number = number_of(words);
	carry = uuid_text_multiply_add(words, factor, digits);
	assert(fit(words) && carry <= UINT32_MAX);
	assert(carry * ((Exact) 1 << 128) + number_of(words) == number * factor + digits);
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_58(void)
{
	check_product(58);
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_58_to_the_2(void)
{
	check_product(power_of(58, 2));
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_58_to_the_3(void)
{
	check_product(power_of(58, 3));
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_58_to_the_4(void)
{
	check_product(power_of(58, 4));
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_58_to_the_5(void)
{
	check_product(power_of(58, 5));
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_62(void)
{
	check_product(62);
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_62_to_the_2(void)
{
	check_product(power_of(62, 2));
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_62_to_the_3(void)
{
	check_product(power_of(62, 3));
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_62_to_the_4(void)
{
	check_product(power_of(62, 4));
}

/* [--unwind 6 --integers] */
void
a_number_is_multiplied_by_62_to_the_5(void)
{
	check_product(power_of(62, 5));
}

/* So the fifth of the divisions by base^5 leaves a remainder of two digits. [--unwind 24] */
void
a_number_has_at_most_22_digits(void)
{
	const UuidTextForm *form = &uuid_text_forms[any_from(BASE58, BASE62)];
	Exact		power = 1;

	for (int i = 0; i < form->length; i++)
		power *= form->base;
	assert(form->length == 22 && power >= (Exact) 1 << 127 && power / 2 >= (Exact) 1 << 127);
}

/* The words at the beginning, or after the last step */
static uint64_t last[4];
static int	steps;

static bool
are_last(const uint64_t *words)
{
	return words[0] == last[0] && words[1] == last[1] && words[2] == last[2] && words[3] == last[3];
}

/* Let any words be the last ones. */
static void
leave_any(uint64_t *words)
{
	any_words(words);
	for (int i = 0; i < 4; i++)
		last[i] = words[i];
}

static uint32_t divisor_of_base;
static uint32_t remainders[5];

/* Return any remainder, and leave any quotient. */
uint32_t
any_quotient(uint64_t *words, uint32_t divisor)
{
	assert(steps < 5 && divisor == divisor_of_base && are_last(words));
	leave_any(words);
	remainders[steps] = nondet_uint32();
	assume(remainders[steps] < divisor);
	return remainders[steps++];
}

static void
text_has_the_digits_of_the_remainders(const UuidTextForm *form, uint32_t base)
{
	uint8_t		bytes[UUID_BYTES];
	char		string[22];
	uint64_t	high;
	uint64_t	low;
	uint32_t	rest = 0;

	any_bytes(bytes, UUID_BYTES);
	high = uuid_layout_load64(bytes);
	low = uuid_layout_load64(bytes + 8);
	last[0] = high >> 32;
	last[1] = high % (UINT64_C(1) << 32);
	last[2] = low >> 32;
	last[3] = low % (UINT64_C(1) << 32);
	divisor_of_base = power_of(base, 5);
	uuid_text_form_write(form, bytes, string);
	assert(form->length == 22 && steps == 5);
	for (int i = 0; i < 22; i++, rest /= base)
	{
		if (i % 5 == 0)
			rest = remainders[i / 5];
		assert(string[21 - i] == form->alphabet[rest % base]);
	}
}

/* [--unwind 24 --z3 --replace uuid_text_divide:any_quotient] */
void
text_in_base58_has_the_digits_of_the_remainders(void)
{
	text_has_the_digits_of_the_remainders(&uuid_text_forms[BASE58], 58);
}

/* [--unwind 24 --z3 --replace uuid_text_divide:any_quotient] */
void
text_in_base58flickr_has_the_digits_of_the_remainders(void)
{
	text_has_the_digits_of_the_remainders(&uuid_text_forms[BASE58FLICKR], 58);
}

/* [--unwind 24 --z3 --replace uuid_text_divide:any_quotient] */
void
text_in_base62_has_the_digits_of_the_remainders(void)
{
	text_has_the_digits_of_the_remainders(&uuid_text_forms[BASE62], 62);
}

static uint64_t expected_factor[5];
static uint64_t expected_sum[5];
static bool overflow;			/* has a product not fitted into 128 bits? */

/* Return any carry, and leave any product. */
uint64_t
any_product(uint64_t *words, uint64_t factor, uint64_t digits)
{
	assert(steps < 5 && !overflow && are_last(words));
	assert(factor == expected_factor[steps] && digits == expected_sum[steps]);
	steps++;
	leave_any(words);
	overflow = nondet_bool();
	return overflow;
}

/* Check texts of a length that CBMC knows. */
static void
check_sums(const UuidTextForm *form, uint32_t base, const char *string, size_t length)
{
	uint8_t		bytes[UUID_BYTES];
	bool		valid = true;
	bool		read;

	steps = 0;
	overflow = false;
	memset(last, 0, sizeof(last));
	for (size_t i = 0; i < length; i++)
	{
		uint64_t	digit = (uint64_t) form->values[(uint8_t) string[i]] - 1;

		expected_factor[i / 5] = i % 5 == 0 ? base : expected_factor[i / 5] * base;
		expected_sum[i / 5] = i % 5 == 0 ? digit : expected_sum[i / 5] * base + digit;
		valid = valid && digit < base;
	}
	read = uuid_text_form_read(form, string, length, bytes);
	assert(read == (valid && !overflow));
	if (!read)
		return;
	assert(steps == ((int) length + 4) / 5);
	assert(uuid_layout_load64(bytes) == last[0] * (UINT64_C(1) << 32) + last[1]);
	assert(uuid_layout_load64(bytes + 8) == last[2] * (UINT64_C(1) << 32) + last[3]);
}

/* Check texts of each length from 1 to 22. */
static void
sums_of_digits_are_passed_on(const UuidTextForm *form, uint32_t base)
{
	char		string[22];
	size_t		length = nondet_size();

	any_chars(string, 22);
	for (size_t known = 1; known <= 22; known++)
	{
		if (length == known)
			check_sums(form, base, string + 22 - known, known);
	}
}

/* [--unwind 24 --z3 --wraps --object-bits 10 --replace uuid_text_multiply_add:any_product] */
void
sums_of_the_digits_of_base58_are_passed_on(void)
{
	sums_of_digits_are_passed_on(&uuid_text_forms[BASE58], 58);
}

/* [--unwind 24 --z3 --wraps --object-bits 10 --replace uuid_text_multiply_add:any_product] */
void
sums_of_the_digits_of_base58flickr_are_passed_on(void)
{
	sums_of_digits_are_passed_on(&uuid_text_forms[BASE58FLICKR], 58);
}

/* [--unwind 24 --z3 --wraps --object-bits 10 --replace uuid_text_multiply_add:any_product] */
void
sums_of_the_digits_of_base62_are_passed_on(void)
{
	sums_of_digits_are_passed_on(&uuid_text_forms[BASE62], 62);
}

/* Texts of other lengths are refused without access to them. [--unwind 2] */
void
texts_have_the_length_of_their_form(void)
{
	int			i = any_from(URN, TYPEID);
	const UuidTextForm *form = &uuid_text_forms[i];
	size_t		length = nondet_size();
	uint8_t		bytes[UUID_BYTES];

	if (i >= BASE58 && i <= BASE62)
		assume(length == 0 || length > 22);
	else
		assume(length != form->length && length != (size_t) form->length + form->padding);
	assert(!uuid_text_form_read(form, NULL, length, bytes));
}

/* --- names of forms ----------------------------------------------------------------- */

/* The longest name has twelve characters, so the function reads at most the 13th. [--unwind 15] */
void
names_of_forms_are_found_in_any_case(void)
{
	char		name[13];
	size_t		length = nondet_size();
	int			i = any_from(URN, TYPEID);
	const char *known = uuid_text_forms[i].name;
	const UuidTextForm *form;
	bool		same = length == strlen(known);

	any_chars(name, 13);
	form = uuid_text_form_find(name, length);
	assert(form == NULL || (form >= &uuid_text_forms[0] && form <= &uuid_text_forms[TYPEID]));
	for (size_t j = 0; j < strlen(known); j++)
		same = same && is_letter(name[j], known[j]);
	assert((form == &uuid_text_forms[i]) == same);
}

void
forms_have_their_names(void)
{
	assert(strcmp(uuid_text_forms[URN].name, "urn") == 0);
	assert(strcmp(uuid_text_forms[BASE32HEX].name, "base32hex") == 0);
	assert(strcmp(uuid_text_forms[ULID].name, "ulid") == 0);
	assert(strcmp(uuid_text_forms[BASE58].name, "base58") == 0);
	assert(strcmp(uuid_text_forms[BASE58FLICKR].name, "base58flickr") == 0);
	assert(strcmp(uuid_text_forms[BASE62].name, "base62") == 0);
	assert(strcmp(uuid_text_forms[BASE64URL].name, "base64url") == 0);
	assert(strcmp(uuid_text_forms[TYPEID].name, "typeid") == 0 && uuid_typeid_suffix == &uuid_text_forms[TYPEID]);
	assert(UUID_TEXT_FORMS == TYPEID + 1);
}

/* --- TypeID ------------------------------------------------------------------------ */

/* [--unwind 66] */
void
prefixes_of_typeid_are_lower_case_with_inner_underscores(void)
{
	char		string[63];
	size_t		length = nondet_size();
	const char *prefix;
	bool		valid = true;

	if (length > 63)
	{
		assert(!uuid_typeid_prefix_is_valid(NULL, length));
		return;
	}
	any_chars(string, 63);
	prefix = string + 63 - length;
	for (size_t i = 0; i < length; i++)
	{
		bool		inner = i > 0 && i < length - 1;

		valid = valid && ((prefix[i] >= 'a' && prefix[i] <= 'z') || (prefix[i] == '_' && inner));
	}
	assert(uuid_typeid_prefix_is_valid(prefix, length) == valid);
}

static const char *typeid;
static size_t prefix_length;
static bool valid_prefix;
static bool valid_suffix;
static uint8_t *target;

bool
check_prefix(const char *prefix, size_t length)
{
	assert(prefix == typeid && length == prefix_length);
	return valid_prefix;
}

bool
check_suffix(const UuidTextForm *form, const char *string, size_t length, uint8_t *bytes)
{
	assert(form == uuid_typeid_suffix && length == 26 && bytes == target);
	assert(string == typeid + prefix_length + (prefix_length > 0));
	return valid_suffix;
}

/*
 * [--replace uuid_typeid_prefix_is_valid:check_prefix
 * --replace uuid_text_form_read:check_suffix]
 */
void
typeid_is_a_suffix_or_a_prefix_underscore_and_suffix(void)
{
	size_t		length = nondet_size();
	size_t		found;
	uint8_t		bytes[UUID_BYTES];
	bool		whole = length == 26;
	bool		read;

	typeid = malloc(length);
	assume(typeid != NULL);
	prefix_length = length > 27 ? length - 27 : 0;
	valid_prefix = nondet_bool();
	valid_suffix = nondet_bool();
	target = bytes;
	read = uuid_typeid_read(typeid, length, &found, bytes);
	if (length > 27)
		whole = typeid[prefix_length] == '_';
	assert(read == (whole && valid_prefix && valid_suffix));
	assert(!read || found == prefix_length);
}

/* --- texts in a form --------------------------------------------------------------- */

/* Any form of up to eight characters, whose digits form whole bytes. [--unwind 10 --wraps] */
void
text_is_read_if_it_has_the_form(void)
{
	char		form[9];
	char		string[9];
	uint8_t		bytes[4];
	uint8_t		expected[4] = {0};
	int			digits = 0;
	bool		valid = true;
	int			i;

	any_chars(form, 8);
	any_chars(string, 8);
	form[8] = string[8] = '\0';
	for (i = 0; form[i] != '\0'; i++)
	{
		if (form[i] != 'x')
			valid = valid && string[i] == form[i];
		else if (is_hexadecimal(string[i]))
		{
			expected[digits / 2] = (uint8_t) (expected[digits / 2] * 16 + value_of(string[i]));
			digits++;
		}
		else
			valid = false;
	}
	valid = valid && string[i] == '\0';
	assume(!valid || digits % 2 == 0);
	assert(uuid_hex_read(form, string, bytes) == valid);
	assert(!valid || memcmp(bytes, expected, digits / 2) == 0);
}
