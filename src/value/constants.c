/*
 * constants.c
 *		The constants of RFC 9562: Nil, Max, and the namespace IDs.
 */
#include "value/value.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_namespace);

/* The namespace IDs of RFC 9562, 6.6, table 3. */
static const struct
{
	const char *name;
	const char *id;
}			namespaces[] = {
	{"dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
	{"url", "6ba7b811-9dad-11d1-80b4-00c04fd430c8"},
	{"oid", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"},
	{"x500", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"},
};

/*
 * nil_uuid() returns uuid
 * max_uuid() returns uuid
 *
 * Return the UUID with all bits zero, or with all bits one (RFC 9562, 5.9 and 5.10).
 */
static Datum
filled_uuid(FunctionCallInfo fcinfo, uint8 byte)
{
	pg_uuid_t  *uuid = new_uuid();

	memset(uuid->data, byte, UUID_LEN);
	PG_RETURN_UUID_P(uuid);
}

SQL_FUNCTION(uuid9562_nil_uuid, filled_uuid, 0x00)
SQL_FUNCTION(uuid9562_max_uuid, filled_uuid, 0xff)

/*
 * uuid_namespace(name text) returns uuid
 *
 * Return the namespace ID with the given name, which is not case-sensitive (RFC 9562, 6.6).
 */
Datum
uuid9562_uuid_namespace(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	for (size_t i = 0; i < lengthof(namespaces); i++)
	{
		if (pg_strcasecmp(name, namespaces[i].name) == 0)
			return DirectFunctionCall1(uuid_in, CStringGetDatum(namespaces[i].id));
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized UUID namespace: \"%s\"", name),
			 errhint("Valid names are \"dns\", \"url\", \"oid\", and \"x500\". For any other namespace, pass its UUID.")));
}
