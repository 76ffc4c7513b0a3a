/*
 * value.h
 *		UUIDs and timestamps as PostgreSQL's types.
 *
 * The C functions of SQL functions have the prefix uuid9562_, since PostgreSQL 17 and
 * later have C functions with the names of some SQL functions of this extension.
 */
#ifndef UUID9562_VALUE_H
#define UUID9562_VALUE_H

#include "compat.h"

#include "access/htup_details.h"
#include "common/int.h"
#include "funcapi.h"
#include "utils/fmgrprotos.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "core/kind.h"

StaticAssertDecl(UUID_BYTES == UUID_LEN, "PostgreSQL and the core agree on the size of a UUID");

/* Microseconds from 1970-01-01 to PostgreSQL's epoch, 2000-01-01 */
#define UNIX_EPOCH_OFFSET_USECS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* Convert microseconds since 1970-01-01 to timestamptz, for the years 1582 to 10889. */
static inline TimestampTz
unix_micros_to_timestamptz(int64 unix_micros)
{
	TimestampTz timestamp = unix_micros - UNIX_EPOCH_OFFSET_USECS;

	Assert(IS_VALID_TIMESTAMP(timestamp));
	return timestamp;
}

/* Convert a time field to timestamptz, rounded down as by uuid_clock_unix_micros(). */
static inline Datum
ticks_timestamptz_datum(UuidClock clock, uint64 ticks)
{
	return TimestampTzGetDatum(unix_micros_to_timestamptz(uuid_clock_unix_micros(clock, ticks)));
}

/*
 * Convert timestamptz to microseconds since 1970-01-01.  If the result exceeds an int64, for
 * example if the timestamp is 'infinity', return PG_INT64_MAX, which only UUID_CLOCK_V8 accepts.
 */
static inline int64
timestamptz_to_unix_micros(TimestampTz timestamp)
{
	int64		unix_micros;

	if (pg_add_s64_overflow(timestamp, UNIX_EPOCH_OFFSET_USECS, &unix_micros))
		return PG_INT64_MAX;
	return unix_micros;
}

/*
 * Define the C function of an SQL function.  The C function passes fcinfo and the further
 * arguments, such as the kind of UUID, to the implementation.
 */
#define SQL_FUNCTION(function, implementation, ...) \
	PG_FUNCTION_INFO_V1(function); \
	Datum \
	function(PG_FUNCTION_ARGS) \
	{ \
		return implementation(fcinfo, __VA_ARGS__); \
	}

/* Allocate the UUID that a function returns. */
static inline pg_uuid_t *
new_uuid(void)
{
	return (pg_uuid_t *) palloc(sizeof(pg_uuid_t));
}

/* Return the UUID with a version and a payload. */
static inline Datum
uuid_datum(int version, UuidPayload payload)
{
	pg_uuid_t  *uuid = new_uuid();

	uuid_layout_pack(uuid->data, version, payload);
	return UUIDPGetDatum(uuid);
}

/* Return the text of a UUID, for messages. */
static inline char *
uuid_string(const pg_uuid_t *uuid)
{
	return DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(uuid)));
}

/* Return the row of a function that is declared to return one. */
static inline Datum
row_datum(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls));
}

pg_noreturn extern void uuid9562_timestamp_out_of_range(const UuidKind *kind,
														TimestampTz timestamp);
extern uint64 uuid9562_timestamp_ticks(const UuidKind *kind, TimestampTz timestamp);

#endif							/* UUID9562_VALUE_H */
