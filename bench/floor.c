/*
 * floor.c
 *		C functions of scripts/bench.  The baselines do only the minimum work of similar
 *		functions.  floor_cpu() returns the session's CPU time.
 *
 * The temporary server of scripts/bench loads this library by its path.
 */
#include "postgres.h"

#include <time.h>

#include "commands/trigger.h"
#include "fmgr.h"
#include "utils/uuid.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(floor_allocate);
PG_FUNCTION_INFO_V1(floor_clock);
PG_FUNCTION_INFO_V1(floor_copy);
PG_FUNCTION_INFO_V1(floor_read);
PG_FUNCTION_INFO_V1(floor_cpu);
PG_FUNCTION_INFO_V1(floor_after);

/* Return the nil UUID in newly allocated memory. */
Datum
floor_allocate(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = (pg_uuid_t *) palloc(sizeof(pg_uuid_t));

	memset(uuid->data, 0, UUID_LEN);
	return UUIDPGetDatum(uuid);
}

/* Return the time of the system clock as 16 bytes in newly allocated memory. */
Datum
floor_clock(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = (pg_uuid_t *) palloc(sizeof(pg_uuid_t));
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	memset(uuid->data, 0, UUID_LEN);
	memcpy(uuid->data, &now, Min(sizeof(now), UUID_LEN));
	return UUIDPGetDatum(uuid);
}

/* Return a copy of the argument in newly allocated memory. */
Datum
floor_copy(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = (pg_uuid_t *) palloc(sizeof(pg_uuid_t));

	memcpy(uuid->data, PG_GETARG_UUID_P(0)->data, UUID_LEN);
	return UUIDPGetDatum(uuid);
}

/* Return the first eight bytes of the argument as a number. */
Datum
floor_read(PG_FUNCTION_ARGS)
{
	int64		octets;

	memcpy(&octets, PG_GETARG_UUID_P(0)->data, sizeof(octets));
	PG_RETURN_INT64(octets);
}

/* Return the milliseconds of CPU time that this session has used. */
Datum
floor_cpu(PG_FUNCTION_ARGS)
{
	struct timespec used;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0)
		elog(ERROR, "could not read the CPU time: %m");
	PG_RETURN_FLOAT8(used.tv_sec * 1e3 + used.tv_nsec / 1e6);
}

/* Do nothing in an AFTER trigger. */
Datum
floor_after(PG_FUNCTION_ARGS)
{
	return PointerGetDatum(NULL);
}
