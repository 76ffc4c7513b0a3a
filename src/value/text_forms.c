/*
 * text_forms.c
 *		Conversion of UUIDs to and from text: URN, base32hex, ULID, base58, base62,
 *		base64url and TypeID; and the timestamp of a UUID that is given as text.
 *
 * A text argument can have any server encoding, but valid texts have only ASCII characters.  So the
 * functions compare bytes.
 */
#include "value/value.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "core/text.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_encode);
PG_FUNCTION_INFO_V1(uuid9562_uuid_decode);
PG_FUNCTION_INFO_V1(uuid9562_uuid_to_typeid);
PG_FUNCTION_INFO_V1(uuid9562_uuid_from_typeid);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_timestamp_from_text);

/* Maximum length of a text in a message, in bytes; characters are not cut */
#define SHOWN_BYTES		100

/* A text as two arguments: BYTES() for functions of src/core, SHOWN() for "%.*s" in errmsg() */
#define BYTES(given)	VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given)
#define SHOWN(given)	pg_mbcliplen(BYTES(given), SHOWN_BYTES), VARDATA_ANY(given)

/* Return the form that the second argument names. */
static const UuidTextForm *
get_form(FunctionCallInfo fcinfo)
{
	text	   *name = PG_GETARG_TEXT_PP(1);
	const UuidTextForm *form = uuid_text_form_find(BYTES(name));

	if (unlikely(form == NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized UUID format: \"%.*s\"", SHOWN(name)),
				 errhint("Valid formats are \"urn\", \"base32hex\", \"ulid\", \"base58\", \"base58flickr\", \"base62\", \"base64url\", and \"typeid\".")));
	return form;
}

/* Return the second argument, and check that it is a valid prefix of a TypeID. */
static text *
get_prefix(FunctionCallInfo fcinfo)
{
	text	   *prefix = PG_GETARG_TEXT_PP(1);

	if (unlikely(!uuid_typeid_prefix_is_valid(BYTES(prefix))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid TypeID prefix: \"%.*s\"", SHOWN(prefix)),
				 errdetail("A prefix has at most %d characters \"a\" to \"z\" and \"_\", and neither begins nor ends with \"_\".",
						   UUID_TYPEID_PREFIX_MAX)));
	return prefix;
}

/*
 * uuid_encode(id uuid, format text) returns text
 *
 * Convert a UUID to text in a format, whose name is not case-sensitive.
 */
Datum
uuid9562_uuid_encode(PG_FUNCTION_ARGS)
{
	const UuidTextForm *form = get_form(fcinfo);
	text	   *result = (text *) palloc(VARHDRSZ + form->length);

	SET_VARSIZE(result, VARHDRSZ + form->length);
	uuid_text_form_write(form, PG_GETARG_UUID_P(0)->data, VARDATA(result));
	PG_RETURN_TEXT_P(result);
}

/*
 * uuid_decode(text, format text) returns uuid
 *
 * Convert text in a format to a UUID.  A TypeID can have any prefix, or none.
 */
Datum
uuid9562_uuid_decode(PG_FUNCTION_ARGS)
{
	const UuidTextForm *form = get_form(fcinfo);
	text	   *given = PG_GETARG_TEXT_PP(0);
	pg_uuid_t  *uuid = new_uuid();
	size_t		prefix_length;

	if (unlikely(!(form == uuid_typeid_suffix ?
				   uuid_typeid_read(BYTES(given), &prefix_length, uuid->data) :
				   uuid_text_form_read(form, BYTES(given), uuid->data))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for %s-encoded UUID: \"%.*s\"", form->name, SHOWN(given)),
				 errdetail("%s", form->expected)));
	PG_RETURN_UUID_P(uuid);
}

/*
 * uuid_to_typeid(id uuid, prefix text) returns text
 *
 * Convert a UUID to a TypeID (version 0.3 of its specification).
 */
Datum
uuid9562_uuid_to_typeid(PG_FUNCTION_ARGS)
{
	text	   *prefix = get_prefix(fcinfo);
	int			prefix_length = VARSIZE_ANY_EXHDR(prefix);
	int			before = prefix_length > 0 ? prefix_length + 1 : 0; /* and "_" */
	text	   *result = (text *) palloc(VARHDRSZ + before + UUID_TYPEID_SUFFIX_LENGTH);

	SET_VARSIZE(result, VARHDRSZ + before + UUID_TYPEID_SUFFIX_LENGTH);
	memcpy(VARDATA(result), VARDATA_ANY(prefix), prefix_length);
	if (prefix_length > 0)
		VARDATA(result)[prefix_length] = '_';
	uuid_text_form_write(uuid_typeid_suffix, PG_GETARG_UUID_P(0)->data, VARDATA(result) + before);
	PG_RETURN_TEXT_P(result);
}

/*
 * uuid_from_typeid(typeid text, prefix text) returns uuid
 *
 * Convert a TypeID with the given prefix to a UUID.  Another prefix is an error, since the
 * ID then belongs to another table.
 */
Datum
uuid9562_uuid_from_typeid(PG_FUNCTION_ARGS)
{
	text	   *prefix = get_prefix(fcinfo);
	int			prefix_length = VARSIZE_ANY_EXHDR(prefix);
	text	   *typeid = PG_GETARG_TEXT_PP(0);
	pg_uuid_t  *uuid = new_uuid();
	size_t		found_length;

	if (unlikely(!uuid_typeid_read(BYTES(typeid), &found_length, uuid->data)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for TypeID: \"%.*s\"", SHOWN(typeid)),
				 errdetail("A TypeID with this prefix looks like \"%.*s%s01fwhe4ydgfk1shh6w1g60eecf\", in lower case; "
						   "the greatest suffix is \"7zzzzzzzzzzzzzzzzzzzzzzzzz\".",
						   SHOWN(prefix), prefix_length > 0 ? "_" : "")));
	if (unlikely((int) found_length != prefix_length ||
				 memcmp(VARDATA_ANY(typeid), VARDATA_ANY(prefix), found_length) != 0))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("TypeID has prefix \"%.*s\" instead of \"%.*s\"",
						(int) found_length, VARDATA_ANY(typeid), SHOWN(prefix))));
	PG_RETURN_UUID_P(uuid);
}

/*
 * uuidv7_timestamp_from_text(text) returns timestamptz
 *
 * Return the timestamp of the first 48 bits of a UUID in text form, whatever its version and
 * variant are.  Partition managers call this function with bounds of partitions, which they read as
 * text.  A bound can have zeros as version or variant, if another library computed it as the
 * smallest of all UUIDs that begin with a timestamp.
 */
Datum
uuid9562_uuidv7_timestamp_from_text(PG_FUNCTION_ARGS)
{
	char	   *string = text_to_cstring(PG_GETARG_TEXT_PP(0));
	pg_uuid_t  *uuid = DatumGetUUIDP(DirectFunctionCall1(uuid_in, CStringGetDatum(string)));

	return ticks_timestamptz_datum(UUID_CLOCK_V7, uuid_layout_unpack(uuid->data, 7).time);
}
