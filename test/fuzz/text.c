/*
 * Fuzz target for the text forms of a UUID, and for TypeIDs.
 *
 * The first line of an input is the name of a form or the prefix of a TypeID.  What follows
 * is the text to read.  A text that is read must be written again as the form specifies.
 */
#include <assert.h>

#include "text.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
is_same_in_any_case(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
	{
		if (uuid_text_lower(a[i]) != uuid_text_lower(b[i]))
			return false;
	}
	return true;
}

/* Check that a text that is read differs from the written text only as the manual says. */
static void
check_form(const UuidTextForm *form, const char *string, size_t length)
{
	const bool	any_case = form->base <= 32 && form != uuid_typeid_suffix;
	uint8_t		bytes[UUID_BYTES];
	uint8_t		back[UUID_BYTES];
	char		written[64];

	if (!uuid_text_form_read(form, string, length, bytes))
		return;
	uuid_text_form_write(form, bytes, written);
	assert(uuid_text_form_read(form, written, form->length, back));
	assert(memcmp(back, bytes, UUID_BYTES) == 0);

	while (length > form->length && string[length - 1] == '=')
		length--;
	assert(length <= form->length);
	if (form->base == 58 || form->base == 62)
	{
		for (size_t i = 0; i < form->length - length; i++)
			assert(written[i] == form->alphabet[0]);
	}
	else
		assert(length == form->length);
	if (strcmp(form->name, "ulid") == 0)
	{
		for (size_t i = 0; i < length; i++)
			assert(strchr("iIlLoO", string[i]) != NULL || is_same_in_any_case(string + i, written + i, 1));
	}
	else if (any_case)
		assert(is_same_in_any_case(string, written, length));
	else
		assert(memcmp(string, written + form->length - length, length) == 0);
}

/* Check that a TypeID that is read is equal to the written text. */
static void
check_typeid(const char *prefix, size_t prefix_length, const char *string, size_t length)
{
	uint8_t		bytes[UUID_BYTES];
	char		written[UUID_TYPEID_SUFFIX_LENGTH];
	size_t		read_length;
	bool		valid = uuid_typeid_prefix_is_valid(prefix, prefix_length);

	if (!uuid_typeid_read(string, length, &read_length, bytes))
		return;
	assert(read_length + (read_length > 0) + UUID_TYPEID_SUFFIX_LENGTH == length);
	assert(uuid_typeid_prefix_is_valid(string, read_length));
	assert(valid || read_length != prefix_length || memcmp(string, prefix, read_length) != 0);
	uuid_text_form_write(uuid_typeid_suffix, bytes, written);
	assert(memcmp(written, string + length - sizeof(written), sizeof(written)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size == 0 ? NULL : memchr(data, '\n', size);
	size_t		first = end == NULL ? size : (size_t) (end - data);
	size_t		length = end == NULL ? 0 : size - first - 1;
	const UuidTextForm *form;
	char	   *name;
	char	   *string;

	if (size == 0)
		return 0;
	/* copies of exactly these bytes, so that the sanitizer finds a read past their end */
	name = memcpy(malloc(first), data, first);
	string = memcpy(malloc(length), data + size - length, length);
	form = uuid_text_form_find(name, first);
	if (form != NULL)
		check_form(form, string, length);
	else
		check_typeid(name, first, string, length);
	free(name);
	free(string);
	return 0;
}
