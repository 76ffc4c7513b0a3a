/*
 * convert_versions.c
 *		Conversion of UUIDs between versions 1 and 6.
 */
#include "value/value.h"

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

	if (unlikely(version != from))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 version < 0 ? errmsg("cannot convert UUID to version %d", to) :
				 errmsg("cannot convert version %d UUID to version %d", version, to),
				 version < 0 ? errdetail("Only UUIDs of the RFC 9562 variant have a version.") :
				 errdetail("Only version %d UUIDs can be converted to version %d.", from, to)));
	return uuid_datum(to, uuid_layout_unpack(given->data, from));
}

SQL_FUNCTION(uuid9562_uuidv1_to_v6, convert_version, 1)
SQL_FUNCTION(uuid9562_uuidv6_to_v1, convert_version, 6)
