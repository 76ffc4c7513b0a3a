/*
 * timestamp.c
 *		Conversion of timestamps to time fields, and the smallest and the greatest
 *		UUID of a timestamp.
 */
#include "value/value.h"

#include "utils/builtins.h"

/*
 * Report a timestamp that the time field cannot hold (RFC 9562, 6.1).  The message
 * shows it in the session's DateStyle and time zone.
 */
void
uuid9562_timestamp_out_of_range(const UuidKind *kind, TimestampTz timestamp)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("timestamp out of range for UUID version %d: \"%s\"", kind->version,
					DatumGetCString(DirectFunctionCall1(timestamptz_out, TimestampTzGetDatum(timestamp)))),
			 kind->version == 7 ?
			 errdetail("UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.") :
			 kind->version == 8 ?
			 errdetail("UUID version 8 with a node ID supports timestamps from 1970-01-01 to approximately year 10889.") :
			 errdetail("UUID version %d supports timestamps from 1582-10-15 to approximately year 5236.", kind->version)));
}

/* Convert a timestamp to the time field of a kind. */
uint64
uuid9562_timestamp_ticks(const UuidKind *kind, TimestampTz timestamp)
{
	uint64_t	ticks;

	if (!uuid_clock_micros_ticks(kind->clock, timestamptz_to_unix_micros(timestamp), &ticks))
		uuid9562_timestamp_out_of_range(kind, timestamp);
	return ticks;
}

/*
 * Find the smallest and the greatest time field that have a timestamp: in v7, those
 * of its millisecond.
 */
static void
timestamp_span(const UuidKind *kind, TimestampTz timestamp, uint64_t *smallest, uint64_t *greatest)
{
	int64		reading = uuid_clock_unix_micros(kind->clock, uuid9562_timestamp_ticks(kind, timestamp));

	if (!uuid_clock_span(kind->clock, reading, reading, smallest, greatest))
		uuid9562_timestamp_out_of_range(kind, timestamp);
}

/*
 * uuidv6_floor(timestamptz) returns uuid
 * uuidv7_floor(timestamptz) returns uuid
 * uuidv8_node_floor(timestamptz) returns uuid
 *
 * Return the smallest UUID of the timestamp's microsecond in v6, or of its
 * millisecond in v7 and in v8 with a node ID.  Version 6 supports 1582-10-15 to
 * 5236, and the others support 1970-01-01 to 10889 (RFC 9562, 6.1).
 */
static Datum
uuid_floor(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	UuidPayload payload = {0};
	uint64_t	greatest;

	timestamp_span(kind, PG_GETARG_TIMESTAMPTZ(0), &payload.time, &greatest);
	return return_uuid(kind->version, payload);
}

KIND_FUNCTION(uuid9562_uuidv6_floor, UUID_V6, uuid_floor)
KIND_FUNCTION(uuid9562_uuidv7_floor, UUID_V7, uuid_floor)
KIND_FUNCTION(uuid9562_uuidv8_node_floor, UUID_V8_NODE, uuid_floor)

/*
 * uuidv6_ceil(timestamptz) returns uuid
 * uuidv7_ceil(timestamptz) returns uuid
 * uuidv8_node_ceil(timestamptz) returns uuid
 *
 * Return the greatest UUID of the timestamp.
 */
static Datum
uuid_ceil(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	UuidPayload payload;
	uint64_t	smallest;

	timestamp_span(kind, PG_GETARG_TIMESTAMPTZ(0), &smallest, &payload.time);
	payload.tail = UUID_TAIL_MAX;
	return return_uuid(kind->version, payload);
}

KIND_FUNCTION(uuid9562_uuidv6_ceil, UUID_V6, uuid_ceil)
KIND_FUNCTION(uuid9562_uuidv7_ceil, UUID_V7, uuid_ceil)
KIND_FUNCTION(uuid9562_uuidv8_node_ceil, UUID_V8_NODE, uuid_ceil)
