/*
 * floor_ceil.c
 *		The smallest and the greatest UUID of a timestamp, and the conversion of timestamps
 *		to time fields.
 */
#include "value/value.h"

#include "utils/builtins.h"

/* Report a timestamp that the time field cannot hold (RFC 9562, 6.1). */
void
uuid9562_timestamp_out_of_range(const UuidKind *kind, TimestampTz timestamp)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("timestamp out of range for UUID version %d: \"%s\"", kind->version,
					DatumGetCString(DirectFunctionCall1(timestamptz_out,
														TimestampTzGetDatum(timestamp)))),
			 errdetail("UUID version %d%s supports timestamps from %s.", kind->version,
					   kind->version == 8 ? " with a node ID" : "",
					   kind->clock == UUID_CLOCK_V7 ? "1970-01-01 to approximately year 10889" :
					   "1582-10-15 to approximately year 5236")));
}

/* Convert a timestamp to the time field of a kind.  Raise an error if the field cannot hold it. */
uint64
uuid9562_timestamp_ticks(const UuidKind *kind, TimestampTz timestamp)
{
	uint64_t	ticks;

	if (!uuid_clock_micros_ticks(kind->clock, timestamptz_to_unix_micros(timestamp), &ticks))
		uuid9562_timestamp_out_of_range(kind, timestamp);
	return ticks;
}

/*
 * uuidv7_floor(timestamptz) returns uuid; the same for v6 and v8_node
 * uuidv7_ceil(timestamptz) returns uuid; the same for v6 and v8_node
 *
 * Return the smallest or the greatest UUID of the timestamp's microsecond in v6, or of its
 * millisecond in v7 and in v8 with a node ID.  Version 6 supports 1582-10-15 to 5236, and v7 and v8
 * support 1970-01-01 to 10889 (RFC 9562, 6.1).
 */
static pg_attribute_always_inline Datum
uuid_of_timestamp(FunctionCallInfo fcinfo, const UuidKind *kind, bool smallest)
{
	uint64		ticks = uuid9562_timestamp_ticks(kind, PG_GETARG_TIMESTAMPTZ(0));
	int64		micros = uuid_clock_unix_micros(kind->clock, ticks);
	UuidPayload first = {ticks, 0};
	UuidPayload last = {ticks, UUID_TAIL_MAX};

	/* extend to all ticks that have the same timestamp */
	(void) uuid_clock_span(kind->clock, micros, micros, &first.time, &last.time);
	return uuid_datum(kind->version, smallest ? first : last);
}

SQL_FUNCTION(uuid9562_uuidv6_floor, uuid_of_timestamp, UUID_V6, true)
SQL_FUNCTION(uuid9562_uuidv6_ceil, uuid_of_timestamp, UUID_V6, false)
SQL_FUNCTION(uuid9562_uuidv7_floor, uuid_of_timestamp, UUID_V7, true)
SQL_FUNCTION(uuid9562_uuidv7_ceil, uuid_of_timestamp, UUID_V7, false)
SQL_FUNCTION(uuid9562_uuidv8_node_floor, uuid_of_timestamp, UUID_V8_NODE, true)
SQL_FUNCTION(uuid9562_uuidv8_node_ceil, uuid_of_timestamp, UUID_V8_NODE, false)
