/*
 * constants.c
 *		The UUIDs that RFC 9562 names: Nil, Max and the namespaces.
 */
#include "value/value.h"

#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(uuid9562_nil_uuid);
PG_FUNCTION_INFO_V1(uuid9562_max_uuid);
PG_FUNCTION_INFO_V1(uuid9562_uuid_namespace);

typedef struct Namespace
{
	const char *name;
	const char *id;
} Namespace;

/* The namespace ids of 6.6, table 3. */
static const Namespace namespaces[] = {
	{"dns", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
	{"url", "6ba7b811-9dad-11d1-80b4-00c04fd430c8"},
	{"oid", "6ba7b812-9dad-11d1-80b4-00c04fd430c8"},
	{"x500", "6ba7b814-9dad-11d1-80b4-00c04fd430c8"},
};

/*
 * nil_uuid() returns uuid
 *
 * All bits zero (5.9).
 */
Datum
uuid9562_nil_uuid(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = new_uuid();

	memset(uuid->data, 0x00, UUID_LEN);
	PG_RETURN_UUID_P(uuid);
}

/*
 * max_uuid() returns uuid
 *
 * All bits one (5.10).
 */
Datum
uuid9562_max_uuid(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = new_uuid();

	memset(uuid->data, 0xff, UUID_LEN);
	PG_RETURN_UUID_P(uuid);
}

/*
 * uuid_namespace(name text) returns uuid
 *
 * The namespace id of dns, url, oid or x500, in upper or lower case (6.6); an
 * error for any other name.
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
