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
			 kind->number == UUID_KIND_V6 ?
			 errdetail("UUID version 6 supports timestamps from 1582-10-15 to approximately year 5236.") :
			 kind->number == UUID_KIND_V7 ?
			 errdetail("UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.") :
			 errdetail("UUID version 8 with a node ID supports timestamps from 1970-01-01 to approximately year 10889.")));
}

/* Convert a timestamp to the time field of a kind.  Raise an error if the field cannot hold it. */
uint64
uuid9562_timestamp_ticks(const UuidKind *kind, TimestampTz timestamp)
{
	uint64_t	ticks;

	Assert(kind->clock != UUID_CLOCK_V8);	/* its field would accept
											 * 'infinity' */
	if (!uuid_clock_micros_ticks(kind->clock, timestamptz_to_unix_micros(timestamp), &ticks))
		uuid9562_timestamp_out_of_range(kind, timestamp);
	return ticks;
}

/*
 * uuidv7_floor(timestamptz) returns uuid; the same for v6 and v8_node
 * uuidv7_ceil(timestamptz) returns uuid; the same for v6 and v8_node
 *
 * Return the smallest or the greatest UUID of the timestamp's microsecond in v6, or of its
 * millisecond in v7 and in v8 with a node ID (RFC 9562, 6.1).
 */
static pg_attribute_always_inline Datum
floor_or_ceil(FunctionCallInfo fcinfo, const UuidKind *kind, bool floor)
{
	uint64		ticks = uuid9562_timestamp_ticks(kind, PG_GETARG_TIMESTAMPTZ(0));
	int64		reading = uuid_clock_unix_micros(kind->clock, ticks);
	UuidPayload smallest = {0, 0};
	UuidPayload greatest = {0, UUID_TAIL_MAX};
	bool		found PG_USED_FOR_ASSERTS_ONLY;

	/*
	 * find all ticks of the microsecond or millisecond that begins at this
	 * reading
	 */
	found = uuid_clock_span(kind->clock, reading, reading, &smallest.time, &greatest.time);
	Assert(found);
	return uuid_datum(kind->version, floor ? smallest : greatest);
}

SQL_FUNCTION(uuid9562_uuidv6_floor, floor_or_ceil, UUID_V6, true)
SQL_FUNCTION(uuid9562_uuidv6_ceil, floor_or_ceil, UUID_V6, false)
SQL_FUNCTION(uuid9562_uuidv7_floor, floor_or_ceil, UUID_V7, true)
SQL_FUNCTION(uuid9562_uuidv7_ceil, floor_or_ceil, UUID_V7, false)
SQL_FUNCTION(uuid9562_uuidv8_node_floor, floor_or_ceil, UUID_V8_NODE, true)
SQL_FUNCTION(uuid9562_uuidv8_node_ceil, floor_or_ceil, UUID_V8_NODE, false)
