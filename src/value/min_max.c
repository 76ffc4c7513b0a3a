/*
 * min_max.c
 *		Transition functions of min(uuid) and max(uuid), which PostgreSQL has from
 *		version 20 on.
 */
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_least);
PG_FUNCTION_INFO_V1(uuid9562_uuid_greatest);

/* Compare UUIDs in the order of type uuid.  The result is that of memcmp. */
static inline int
compare_uuids(const pg_uuid_t *a, const pg_uuid_t *b)
{
	return memcmp(a->data, b->data, UUID_LEN);
}

/*
 * uuid_least(uuid, uuid) returns uuid
 *
 * Return the smaller UUID.
 */
Datum
uuid9562_uuid_least(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *a = PG_GETARG_UUID_P(0);
	pg_uuid_t  *b = PG_GETARG_UUID_P(1);

	PG_RETURN_UUID_P(compare_uuids(a, b) < 0 ? a : b);
}

/*
 * uuid_greatest(uuid, uuid) returns uuid
 *
 * Return the greater UUID.
 */
Datum
uuid9562_uuid_greatest(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *a = PG_GETARG_UUID_P(0);
	pg_uuid_t  *b = PG_GETARG_UUID_P(1);

	PG_RETURN_UUID_P(compare_uuids(a, b) > 0 ? a : b);
}
