/*
 * value.h
 *		UUIDs and their timestamps as PostgreSQL's types.
 *
 * The C function of an SQL function f is uuid9562_f, since PostgreSQL 17 and
 * later have C functions named like some of our SQL functions.  It checks its
 * arguments, calls the core and returns a Datum.
 */
#ifndef UUID9562_VALUE_H
#define UUID9562_VALUE_H

#include "compat.h"

#include "common/int.h"
#include "datatype/timestamp.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "core/kind.h"

StaticAssertDecl(UUID_BYTES == UUID_LEN, "a UUID has 16 bytes on both sides");

/* Microseconds from 1970-01-01 to PostgreSQL's epoch, 2000-01-01. */
#define UNIX_EPOCH_OFFSET_USECS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* A timestamptz from microseconds since 1970-01-01, 1582 to 10889. */
static inline TimestampTz
unix_micros_to_timestamptz(int64 unix_micros)
{
	return unix_micros - UNIX_EPOCH_OFFSET_USECS;
}

/*
 * Microseconds since 1970-01-01 of a timestamptz.  The last 30 years that
 * timestamptz has, and infinity, become PG_INT64_MAX: beyond every field.
 */
static inline int64
timestamptz_to_unix_micros(TimestampTz timestamp)
{
	int64		unix_micros;

	if (pg_add_s64_overflow(timestamp, UNIX_EPOCH_OFFSET_USECS, &unix_micros))
		return PG_INT64_MAX;
	return unix_micros;
}

/* The timestamp of a UUID of that kind. */
static inline TimestampTz
uuid_timestamp(const UuidKind *kind, const pg_uuid_t *uuid)
{
	UuidPayload payload = uuid_layout_unpack(uuid->data, kind->version);

	return unix_micros_to_timestamptz(uuid_clock_unix_micros(kind->clock, payload.time));
}

/*
 * The SQL function of that name: an implementation for several kinds, called
 * with one of them.
 */
#define KIND_FUNCTION(function, kind, implementation) \
	PG_FUNCTION_INFO_V1(function); \
	Datum \
	function(PG_FUNCTION_ARGS) \
	{ \
		return implementation(fcinfo, kind); \
	}

/* Space for the UUID that a function returns. */
static inline pg_uuid_t *
new_uuid(void)
{
	return (pg_uuid_t *) palloc(sizeof(pg_uuid_t));
}

/* Return the UUID of that version and payload. */
static inline Datum
return_uuid(int version, UuidPayload payload)
{
	pg_uuid_t  *uuid = new_uuid();

	uuid_layout_pack(uuid->data, version, payload);
	return UUIDPGetDatum(uuid);
}

pg_noreturn extern void uuid9562_timestamp_out_of_range(const UuidKind *kind, TimestampTz timestamp);
extern uint64 uuid9562_timestamp_ticks(const UuidKind *kind, TimestampTz timestamp);

#endif							/* UUID9562_VALUE_H */
