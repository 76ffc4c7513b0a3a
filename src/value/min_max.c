/*
 * min_max.c
 *		Transition functions of the aggregates min(uuid) and max(uuid), for versions
 *		before PostgreSQL 20, which has its own aggregates.
 */
#include "value/value.h"

/*
 * uuid_least(uuid, uuid) returns uuid
 * uuid_greatest(uuid, uuid) returns uuid
 *
 * Return the smaller or the greater UUID, in the order of type uuid.
 */
static Datum
uuid_extreme(FunctionCallInfo fcinfo, bool greatest)
{
	pg_uuid_t  *a = PG_GETARG_UUID_P(0);
	pg_uuid_t  *b = PG_GETARG_UUID_P(1);

	PG_RETURN_UUID_P((memcmp(a->data, b->data, UUID_LEN) > 0) == greatest ? a : b);
}

SQL_FUNCTION(uuid9562_uuid_least, uuid_extreme, false)
SQL_FUNCTION(uuid9562_uuid_greatest, uuid_extreme, true)
