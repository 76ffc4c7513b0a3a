/*
 * convert.c
 *		Conversion of UUIDs: between versions 1 and 6, and to and from URN,
 *		base32hex and base58.
 */
#include "value/value.h"

#include "utils/builtins.h"

#include "core/base58.h"
#include "core/text.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_to_urn);
PG_FUNCTION_INFO_V1(uuid9562_uuid_from_urn);
PG_FUNCTION_INFO_V1(uuid9562_uuid_to_base32hex);
PG_FUNCTION_INFO_V1(uuid9562_uuid_from_base32hex);
PG_FUNCTION_INFO_V1(uuid9562_uuid_to_base58);
PG_FUNCTION_INFO_V1(uuid9562_uuid_from_base58);

/* RFC 9562, 4, figure 4 */
#define URN_PREFIX			"urn:uuid:"
#define URN_PREFIX_LENGTH	(sizeof(URN_PREFIX) - 1)

/* Report that a UUID has another version than "from", or none if version is -1. */
pg_noreturn static pg_noinline void
wrong_version(int version, int from, int to)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 version < 0 ? errmsg("cannot convert UUID to version %d", to) :
			 errmsg("cannot convert version %d UUID to version %d", version, to),
			 version < 0 ? errdetail("Only UUIDs of the RFC 9562 variant have a version.") :
			 errhint("Only version %d UUIDs can be converted to version %d.", from, to)));
}

/*
 * uuidv1_to_v6(uuid) returns uuid
 * uuidv6_to_v1(uuid) returns uuid
 *
 * Convert between versions 1 and 6, with the same timestamp, clock sequence and node
 * (RFC 9562, 5.6).
 */
static pg_attribute_always_inline Datum
convert_version(FunctionCallInfo fcinfo, int from)
{
	const pg_uuid_t *given = PG_GETARG_UUID_P(0);
	const int	to = from == 1 ? 6 : 1;
	int			version = uuid_layout_version(given->data);
	pg_uuid_t  *uuid;

	if (unlikely(version != from))
		wrong_version(version, from, to);
	uuid = new_uuid();
	uuid_layout_convert(uuid->data, to, given->data, from);
	PG_RETURN_UUID_P(uuid);
}

SQL_FUNCTION(uuid9562_uuidv1_to_v6, convert_version, 1)
SQL_FUNCTION(uuid9562_uuidv6_to_v1, convert_version, 6)

/*
 * uuid_to_urn(uuid) returns text
 *
 * Return "urn:uuid:" followed by the text form (RFC 9562, 4, figure 4).
 */
Datum
uuid9562_uuid_to_urn(PG_FUNCTION_ARGS)
{
	char	   *uuid = DatumGetCString(DirectFunctionCall1(uuid_out, PG_GETARG_DATUM(0)));

	PG_RETURN_TEXT_P(cstring_to_text(psprintf(URN_PREFIX "%s", uuid)));
}

/*
 * uuid_from_urn(urn text) returns uuid
 *
 * Read "urn:uuid:" followed by the hex-and-dash form.  Neither part is
 * case-sensitive (RFC 9562, 4; RFC 8141, 3.1).
 */
Datum
uuid9562_uuid_from_urn(PG_FUNCTION_ARGS)
{
	char	   *urn = text_to_cstring(PG_GETARG_TEXT_PP(0));
	pg_uuid_t  *uuid = new_uuid();

	if (pg_strncasecmp(urn, URN_PREFIX, URN_PREFIX_LENGTH) != 0 ||
		!uuid_text_read(UUID_TEXT_HEX_AND_DASH, urn + URN_PREFIX_LENGTH, uuid->data))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for UUID URN: \"%s\"", urn),
				 errhint("A UUID URN looks like \"urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6\".")));
	PG_RETURN_UUID_P(uuid);
}

/*
 * uuid_to_base32hex(uuid) returns text
 *
 * Return a text of 26 lower-case characters, without padding.  These texts sort in the order of
 * the UUIDs (RFC 9562, 4; RFC 4648, 7).
 */
Datum
uuid9562_uuid_to_base32hex(PG_FUNCTION_ARGS)
{
	char		string[UUID_TEXT_BASE32HEX_LENGTH + 1];

	uuid_text_write_base32hex(PG_GETARG_UUID_P(0)->data, string);
	PG_RETURN_TEXT_P(cstring_to_text(string));
}

/*
 * uuid_from_base32hex(base32hex text) returns uuid
 *
 * Read 26 characters of base32hex, which is not case-sensitive.
 */
Datum
uuid9562_uuid_from_base32hex(PG_FUNCTION_ARGS)
{
	char	   *string = text_to_cstring(PG_GETARG_TEXT_PP(0));
	pg_uuid_t  *uuid = new_uuid();

	if (!uuid_text_read_base32hex(string, uuid->data))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for base32hex-encoded UUID: \"%s\"", string),
				 errhint("A base32hex-encoded UUID consists of 26 characters \"0\" to \"9\" and \"a\" to \"v\"; "
						 "the last must be one of \"0\", \"4\", \"8\", \"c\", \"g\", \"k\", \"o\", and \"s\".")));
	PG_RETURN_UUID_P(uuid);
}

/* uuid_to_base58(uuid) returns text: 22 characters, as described in base58.h. */
Datum
uuid9562_uuid_to_base58(PG_FUNCTION_ARGS)
{
	char		string[UUID_BASE58_LENGTH];

	uuid_base58_write(PG_GETARG_UUID_P(0)->data, string);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(string, UUID_BASE58_LENGTH));
}

/* uuid_from_base58(base58 text) returns uuid: the inverse of uuid_to_base58(). */
Datum
uuid9562_uuid_from_base58(PG_FUNCTION_ARGS)
{
	text	   *base58 = PG_GETARG_TEXT_PP(0);
	pg_uuid_t  *uuid = new_uuid();
	const char *reason = uuid_base58_read(VARDATA_ANY(base58), VARSIZE_ANY_EXHDR(base58), uuid->data);

	if (unlikely(reason != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for base58-encoded UUID: \"%s\"", text_to_cstring(base58)),
				 errdetail("%s", reason)));
	PG_RETURN_UUID_P(uuid);
}
