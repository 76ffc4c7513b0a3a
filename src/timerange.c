/*
 * timerange.c
 *		UUIDs of a given time: one, the first, the last, and those of a period.
 *
 * For v6 and v7, whose order is the order of their times (RFC 9562, 5.6 and
 * 5.7).  The timestamp of a UUID is what uuidv6_timestamp and
 * uuidv7_timestamp give: to the microsecond in v6, to the millisecond in v7.
 *
 * An id is within a period when it is of the version and its timestamp lies
 * in the period.  That is the same as
 *
 *		id >= lowest(period) AND id <= highest(period) AND it is of the version
 *
 * because UUIDs of one version sort by time; the planner support functions
 * write it so (planner.c).  A period is a set: what it holds outside the
 * version's field is cut off, and no period is an error.
 */
#include "timerange.h"

#include "utils/builtins.h"

#include "state.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv6_at);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_floor);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_ceil);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_timestamp_from_text);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_within);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_lowest);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_highest);
PG_FUNCTION_INFO_V1(uuid9562_uuid_is_v6);

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_at);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_floor);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_ceil);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_timestamp_from_text);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_within);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_contained_by_period);
PG_FUNCTION_INFO_V1(uuid9562_period_contains_uuidv7);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_lowest);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_highest);
PG_FUNCTION_INFO_V1(uuid9562_uuid_is_v7);

/* Complain about a timestamp that the version's field cannot hold (6.1). */
void
uuid9562_timestamp_out_of_range(int version)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("timestamp out of range for UUID version %d", version),
			 version == 7 ?
			 errdetail("UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.") :
			 errdetail("UUID version %d supports timestamps from 1582-10-15 to approximately year 5236.", version)));
}

/* --- at a time -------------------------------------------------------------- */

/* The time field of a timestamp; an error outside the field. */
static uint64
timestamp_ticks(int version, TimestampTz timestamp)
{
	uint64_t	ticks;

	if (!uuid_clock_micros_ticks(version, timestamptz_to_unix_micros(timestamp), &ticks))
		uuid9562_timestamp_out_of_range(version);
	return ticks;
}

/*
 * The time fields from *lowest to *highest that read as the timestamp: in v7
 * those of its millisecond.  An error outside the field.
 */
static void
timestamp_span(int version, TimestampTz timestamp, uint64_t *lowest, uint64_t *highest)
{
	int64		reading = uuid_clock_unix_micros(version, timestamp_ticks(version, timestamp));

	if (!uuid_clock_span(version, reading, reading, lowest, highest))
		uuid9562_timestamp_out_of_range(version);
}

/* A new UUID of that time, with a random tail; no generator knows of it. */
static Datum
uuid_at(int version, TimestampTz timestamp, UuidStamp stamp)
{
	UuidPayload payload;

	payload.time = timestamp_ticks(version, timestamp);
	payload.tail = random_bits() & UUID_TAIL_MAX;
	return return_uuid(version, uuid_layout_stamp(payload, stamp));
}

/* The least UUID of that version and time. */
static Datum
uuid_floor(int version, TimestampTz timestamp)
{
	UuidPayload payload = {0};
	uint64_t	highest;

	timestamp_span(version, timestamp, &payload.time, &highest);
	return return_uuid(version, payload);
}

/* The greatest UUID of that version and time. */
static Datum
uuid_ceil(int version, TimestampTz timestamp)
{
	UuidPayload payload;
	uint64_t	lowest;

	timestamp_span(version, timestamp, &lowest, &payload.time);
	payload.tail = UUID_TAIL_MAX;
	return return_uuid(version, payload);
}

/*
 * uuidv6_at(timestamptz) returns uuid
 *
 * The time to the microsecond; a random clock sequence, and a random node or
 * the one of uuid9562.node (5.6).  1582-10-15 to 5236; an error outside.
 */
Datum
uuid9562_uuidv6_at(PG_FUNCTION_ARGS)
{
	return uuid_at(6, PG_GETARG_TIMESTAMPTZ(0), uuid9562_node);
}

/*
 * uuidv7_at(timestamptz) returns uuid
 *
 * The time to the microsecond, as method 3 writes it (5.7, 6.2), and 62 random
 * bits.  uuidv7_timestamp_micros gives exactly this time back.  1970-01-01 to
 * 10889; an error outside.
 */
Datum
uuid9562_uuidv7_at(PG_FUNCTION_ARGS)
{
	const UuidStamp none = {0, 0};

	return uuid_at(7, PG_GETARG_TIMESTAMPTZ(0), none);
}

/* uuidv6_floor(timestamptz) returns uuid: the least v6 of that microsecond. */
Datum
uuid9562_uuidv6_floor(PG_FUNCTION_ARGS)
{
	return uuid_floor(6, PG_GETARG_TIMESTAMPTZ(0));
}

/* uuidv6_ceil(timestamptz) returns uuid: the greatest v6 of that microsecond. */
Datum
uuid9562_uuidv6_ceil(PG_FUNCTION_ARGS)
{
	return uuid_ceil(6, PG_GETARG_TIMESTAMPTZ(0));
}

/* uuidv7_floor(timestamptz) returns uuid: the least v7 of that millisecond. */
Datum
uuid9562_uuidv7_floor(PG_FUNCTION_ARGS)
{
	return uuid_floor(7, PG_GETARG_TIMESTAMPTZ(0));
}

/* uuidv7_ceil(timestamptz) returns uuid: the greatest v7 of that millisecond. */
Datum
uuid9562_uuidv7_ceil(PG_FUNCTION_ARGS)
{
	return uuid_ceil(7, PG_GETARG_TIMESTAMPTZ(0));
}

/* --- is it of the version? -------------------------------------------------- */

/*
 * uuid_is_v6(uuid) returns boolean
 *
 * What remains to be asked of an id between the bounds of a period.
 */
Datum
uuid9562_uuid_is_v6(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(uuid_layout_version(PG_GETARG_UUID_P(0)->data) == 6);
}

/* uuid_is_v7(uuid) returns boolean: the same for v7. */
Datum
uuid9562_uuid_is_v7(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(uuid_layout_version(PG_GETARG_UUID_P(0)->data) == 7);
}

/* --- within a period -------------------------------------------------------- */

/* The type cache entry of the range type, looked up once per call site. */
static TypeCacheEntry *
period_typcache(FunctionCallInfo fcinfo, const RangeType *period)
{
	return range_get_typcache(fcinfo, RangeTypeGetOid(period));
}

/*
 * The time fields from *lowest to *highest whose timestamp lies in a period;
 * false when there is none.
 *
 * Timestamps are whole microseconds, so an exclusive bound is the next one,
 * inclusive.  An unbounded or infinite side is beyond every field.
 */
static bool
period_span(int version, TypeCacheEntry *typcache, const RangeType *period,
			uint64_t *lowest, uint64_t *highest)
{
	RangeBound	lower;
	RangeBound	upper;
	bool		empty;
	int64		first = PG_INT64_MIN;
	int64		last = PG_INT64_MAX;

	range_deserialize(typcache, period, &lower, &upper, &empty);
	if (empty)
		return false;
	if (!lower.infinite)
	{
		first = timestamptz_to_unix_micros(DatumGetTimestampTz(lower.val));
		if (!lower.inclusive && first < PG_INT64_MAX)
			first++;
	}
	if (!upper.infinite)
	{
		last = timestamptz_to_unix_micros(DatumGetTimestampTz(upper.val));
		if (!upper.inclusive)
			last--;				/* it is 30 years above the least int64 */
	}
	return uuid_clock_span(version, first, last, lowest, highest);
}

/*
 * The bounds of a period.  Of one that holds no UUID of the version they are
 * its last one and its first one, in that order, and nothing is between them.
 * They are of the version all the same: TimescaleDB reads the time of any
 * constant that it compares with the column of its chunks.
 */
UuidBounds
uuid9562_period_bounds(int version, TypeCacheEntry *typcache, const RangeType *period)
{
	UuidBounds	bounds;
	UuidPayload lowest = {UUID_TIME_MAX, UUID_TAIL_MAX};
	UuidPayload highest = {0, 0};
	uint64_t	first;
	uint64_t	last;

	if (period_span(version, typcache, period, &first, &last))
	{
		lowest.time = first;
		lowest.tail = 0;
		highest.time = last;
		highest.tail = UUID_TAIL_MAX;
	}
	uuid_layout_pack(bounds.lowest.data, version, lowest);
	uuid_layout_pack(bounds.highest.data, version, highest);
	/* of none, both are true */
	bounds.begins = lowest.time > 0;
	bounds.ends = highest.time < UUID_TIME_MAX;
	return bounds;
}

/* Does the period hold the id: is it of the version, its timestamp in there? */
static Datum
within(FunctionCallInfo fcinfo, int version, const pg_uuid_t *id, const RangeType *period)
{
	uint64_t	lowest;
	uint64_t	highest;
	uint64		time;

	if (uuid_layout_version(id->data) != version ||
		!period_span(version, period_typcache(fcinfo, period), period, &lowest, &highest))
		PG_RETURN_BOOL(false);
	time = uuid_layout_unpack(id->data, version).time;
	PG_RETURN_BOOL(time >= lowest && time <= highest);
}

/* The least UUID that the period can hold. */
static Datum
lowest_of(FunctionCallInfo fcinfo, int version, const RangeType *period)
{
	pg_uuid_t  *uuid = new_uuid();

	*uuid = uuid9562_period_bounds(version, period_typcache(fcinfo, period), period).lowest;
	PG_RETURN_UUID_P(uuid);
}

/* The greatest UUID that the period can hold. */
static Datum
highest_of(FunctionCallInfo fcinfo, int version, const RangeType *period)
{
	pg_uuid_t  *uuid = new_uuid();

	*uuid = uuid9562_period_bounds(version, period_typcache(fcinfo, period), period).highest;
	PG_RETURN_UUID_P(uuid);
}

/*
 * uuidv6_within(id uuid, period tstzrange) returns boolean
 *
 * True when the id is a v6 whose timestamp lies in the period; false for any
 * other id.
 */
Datum
uuid9562_uuidv6_within(PG_FUNCTION_ARGS)
{
	return within(fcinfo, 6, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
}

/*
 * uuidv7_within(id uuid, period tstzrange) returns boolean
 *
 * True when the id is a v7 whose timestamp lies in the period; false for any
 * other id.
 */
Datum
uuid9562_uuidv7_within(PG_FUNCTION_ARGS)
{
	return within(fcinfo, 7, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
}

/*
 * uuidv7_contained_by_period(id uuid, period uuidv7_period) returns boolean
 *
 * The operator <@.
 */
Datum
uuid9562_uuidv7_contained_by_period(PG_FUNCTION_ARGS)
{
	return within(fcinfo, 7, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
}

/*
 * period_contains_uuidv7(period uuidv7_period, id uuid) returns boolean
 *
 * The operator @>.
 */
Datum
uuid9562_period_contains_uuidv7(PG_FUNCTION_ARGS)
{
	return within(fcinfo, 7, PG_GETARG_UUID_P(1), PG_GETARG_RANGE_P(0));
}

/*
 * uuidv6_lowest(period tstzrange) returns uuid
 *
 * The least v6 that the period can hold; the last v6 when it holds none.
 */
Datum
uuid9562_uuidv6_lowest(PG_FUNCTION_ARGS)
{
	return lowest_of(fcinfo, 6, PG_GETARG_RANGE_P(0));
}

/*
 * uuidv6_highest(period tstzrange) returns uuid
 *
 * The greatest v6 that the period can hold; the first v6 when it holds none.
 */
Datum
uuid9562_uuidv6_highest(PG_FUNCTION_ARGS)
{
	return highest_of(fcinfo, 6, PG_GETARG_RANGE_P(0));
}

/* uuidv7_lowest(period tstzrange) returns uuid: the same for v7. */
Datum
uuid9562_uuidv7_lowest(PG_FUNCTION_ARGS)
{
	return lowest_of(fcinfo, 7, PG_GETARG_RANGE_P(0));
}

/* uuidv7_highest(period tstzrange) returns uuid: the same for v7. */
Datum
uuid9562_uuidv7_highest(PG_FUNCTION_ARGS)
{
	return highest_of(fcinfo, 7, PG_GETARG_RANGE_P(0));
}

/* --- the time of a bound written as text ------------------------------------ */

/* The timestamp function of a version, on the text form of a UUID. */
static Datum
timestamp_from_text(FunctionCallInfo fcinfo, int version)
{
	char	   *string = text_to_cstring(PG_GETARG_TEXT_PP(0));
	pg_uuid_t  *uuid = DatumGetUUIDP(DirectFunctionCall1(uuid_in, CStringGetDatum(string)));

	if (uuid_layout_version(uuid->data) != version)
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(uuid_timestamp(version, uuid));
}

/*
 * uuidv6_timestamp_from_text(text) returns timestamptz
 *
 * NULL for another version; what is no UUID is the error of PostgreSQL's
 * uuid input.  For tools that know partition bounds as text.
 */
Datum
uuid9562_uuidv6_timestamp_from_text(PG_FUNCTION_ARGS)
{
	return timestamp_from_text(fcinfo, 6);
}

/* uuidv7_timestamp_from_text(text) returns timestamptz: the same for v7. */
Datum
uuid9562_uuidv7_timestamp_from_text(PG_FUNCTION_ARGS)
{
	return timestamp_from_text(fcinfo, 7);
}
