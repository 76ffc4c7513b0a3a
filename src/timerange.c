/*
 * timerange.c
 *		UUIDs of a given time: one, the first, the last, and those of a period.
 *
 * For the kinds whose order is the order of their times: v6, v7 (RFC 9562, 5.6
 * and 5.7), and our v8 with a node id, whose time field is v7's.  The timestamp
 * of a UUID is what uuidv6_timestamp, uuidv7_timestamp and
 * uuidv8_node_timestamp give: to the microsecond in v6, to the millisecond in
 * the others.
 *
 * An id is within a period when it is of the version and its timestamp lies
 * in the period.  That is the same as
 *
 *		id >= lowest(period) AND id <= highest(period) AND it is of the version
 *
 * because UUIDs of one kind sort by time; the planner support functions
 * write it so (planner.c).  A period is a set: what it holds outside the
 * time field is cut off, and no period is an error.
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

PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_at);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_at_arg);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_floor);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_ceil);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_timestamp_from_text);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_within);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_lowest);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_highest);
PG_FUNCTION_INFO_V1(uuid9562_uuid_is_v8);

/* Complain about a timestamp that the time field cannot hold (6.1). */
void
uuid9562_timestamp_out_of_range(const UuidKind *kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
			 errmsg("timestamp out of range for UUID version %d", kind->version),
			 kind->version == 7 ?
			 errdetail("UUID version 7 supports timestamps from 1970-01-01 to approximately year 10889.") :
			 kind->version == 8 ?
			 errdetail("UUID version 8 with a node id supports timestamps from 1970-01-01 to approximately year 10889.") :
			 errdetail("UUID version %d supports timestamps from 1582-10-15 to approximately year 5236.", kind->version)));
}

/* --- at a time -------------------------------------------------------------- */

/* The time field of a timestamp; an error outside the field. */
static uint64
timestamp_ticks(const UuidKind *kind, TimestampTz timestamp)
{
	uint64_t	ticks;

	if (!uuid_clock_micros_ticks(kind->clock, timestamptz_to_unix_micros(timestamp), &ticks))
		uuid9562_timestamp_out_of_range(kind);
	return ticks;
}

/*
 * The time fields from *lowest to *highest that read as the timestamp: in v7
 * those of its millisecond.  An error outside the field.
 */
static void
timestamp_span(const UuidKind *kind, TimestampTz timestamp, uint64_t *lowest, uint64_t *highest)
{
	int64		reading = uuid_clock_unix_micros(kind->clock, timestamp_ticks(kind, timestamp));

	if (!uuid_clock_span(kind->clock, reading, reading, lowest, highest))
		uuid9562_timestamp_out_of_range(kind);
}

/* A new UUID of that time, with a random tail; no generator knows of it. */
static Datum
uuid_at(const UuidKind *kind, TimestampTz timestamp, UuidStamp stamp)
{
	UuidPayload payload;

	payload.time = timestamp_ticks(kind, timestamp);
	payload.tail = random_bits() & UUID_TAIL_MAX;
	return return_uuid(kind->version, uuid_layout_stamp(payload, stamp));
}

/* The least UUID of that kind and time. */
static Datum
uuid_floor(const UuidKind *kind, TimestampTz timestamp)
{
	UuidPayload payload = {0};
	uint64_t	highest;

	timestamp_span(kind, timestamp, &payload.time, &highest);
	return return_uuid(kind->version, payload);
}

/* The greatest UUID of that kind and time. */
static Datum
uuid_ceil(const UuidKind *kind, TimestampTz timestamp)
{
	UuidPayload payload;
	uint64_t	lowest;

	timestamp_span(kind, timestamp, &lowest, &payload.time);
	payload.tail = UUID_TAIL_MAX;
	return return_uuid(kind->version, payload);
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
	return uuid_at(&uuid_kind_v6, PG_GETARG_TIMESTAMPTZ(0), uuid9562_node);
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

	return uuid_at(&uuid_kind_v7, PG_GETARG_TIMESTAMPTZ(0), none);
}

/* uuidv6_floor(timestamptz) returns uuid: the least v6 of that microsecond. */
Datum
uuid9562_uuidv6_floor(PG_FUNCTION_ARGS)
{
	return uuid_floor(&uuid_kind_v6, PG_GETARG_TIMESTAMPTZ(0));
}

/* uuidv6_ceil(timestamptz) returns uuid: the greatest v6 of that microsecond. */
Datum
uuid9562_uuidv6_ceil(PG_FUNCTION_ARGS)
{
	return uuid_ceil(&uuid_kind_v6, PG_GETARG_TIMESTAMPTZ(0));
}

/* uuidv7_floor(timestamptz) returns uuid: the least v7 of that millisecond. */
Datum
uuid9562_uuidv7_floor(PG_FUNCTION_ARGS)
{
	return uuid_floor(&uuid_kind_v7, PG_GETARG_TIMESTAMPTZ(0));
}

/* uuidv7_ceil(timestamptz) returns uuid: the greatest v7 of that millisecond. */
Datum
uuid9562_uuidv7_ceil(PG_FUNCTION_ARGS)
{
	return uuid_ceil(&uuid_kind_v7, PG_GETARG_TIMESTAMPTZ(0));
}

/*
 * uuidv8_node_at(timestamptz) returns uuid
 *
 * With the node id of uuid9562.node_id, which must be set (6.4); in all else
 * as uuidv7_at.
 */
Datum
uuid9562_uuidv8_node_at(PG_FUNCTION_ARGS)
{
	return uuid_at(&uuid_kind_v8_node, PG_GETARG_TIMESTAMPTZ(0),
				   uuid_layout_node_id_stamp(uuid9562_own_node_id()));
}

/*
 * uuidv8_node_at(timestamptz, node_id integer) returns uuid
 *
 * With that node id, 0 to 65535; any other is an error.
 */
Datum
uuid9562_uuidv8_node_at_arg(PG_FUNCTION_ARGS)
{
	return uuid_at(&uuid_kind_v8_node, PG_GETARG_TIMESTAMPTZ(0),
				   uuid_layout_node_id_stamp(uuid9562_given_node_id(PG_GETARG_INT32(1))));
}

/* uuidv8_node_floor(timestamptz) returns uuid: the least of that millisecond. */
Datum
uuid9562_uuidv8_node_floor(PG_FUNCTION_ARGS)
{
	return uuid_floor(&uuid_kind_v8_node, PG_GETARG_TIMESTAMPTZ(0));
}

/* uuidv8_node_ceil(timestamptz) returns uuid: the greatest of that millisecond. */
Datum
uuid9562_uuidv8_node_ceil(PG_FUNCTION_ARGS)
{
	return uuid_ceil(&uuid_kind_v8_node, PG_GETARG_TIMESTAMPTZ(0));
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

/* uuid_is_v8(uuid) returns boolean: the same for v8, whatever made it. */
Datum
uuid9562_uuid_is_v8(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(uuid_layout_version(PG_GETARG_UUID_P(0)->data) == 8);
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
period_span(const UuidKind *kind, TypeCacheEntry *typcache, const RangeType *period,
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
	return uuid_clock_span(kind->clock, first, last, lowest, highest);
}

/*
 * The bounds of a period.  Of one that holds no UUID of the kind they are its
 * last one and its first one, in that order, and nothing is between them.
 * They are of the kind all the same: TimescaleDB reads the time of any
 * constant that it compares with the column of its chunks.
 */
UuidBounds
uuid9562_period_bounds(const UuidKind *kind, TypeCacheEntry *typcache, const RangeType *period)
{
	UuidBounds	bounds;
	UuidPayload lowest = {UUID_TIME_MAX, UUID_TAIL_MAX};
	UuidPayload highest = {0, 0};
	uint64_t	first;
	uint64_t	last;

	if (period_span(kind, typcache, period, &first, &last))
	{
		lowest.time = first;
		lowest.tail = 0;
		highest.time = last;
		highest.tail = UUID_TAIL_MAX;
	}
	uuid_layout_pack(bounds.lowest.data, kind->version, lowest);
	uuid_layout_pack(bounds.highest.data, kind->version, highest);
	/* of none, both are true */
	bounds.begins = lowest.time > 0;
	bounds.ends = highest.time < UUID_TIME_MAX;
	return bounds;
}

/* Does the period hold the id: is it of the kind, its timestamp in there? */
static Datum
within(FunctionCallInfo fcinfo, const UuidKind *kind, const pg_uuid_t *id, const RangeType *period)
{
	uint64_t	lowest;
	uint64_t	highest;
	uint64		time;

	if (uuid_layout_version(id->data) != kind->version ||
		!period_span(kind, period_typcache(fcinfo, period), period, &lowest, &highest))
		PG_RETURN_BOOL(false);
	time = uuid_layout_unpack(id->data, kind->version).time;
	PG_RETURN_BOOL(time >= lowest && time <= highest);
}

/* The least UUID that the period can hold. */
static Datum
lowest_of(FunctionCallInfo fcinfo, const UuidKind *kind, const RangeType *period)
{
	pg_uuid_t  *uuid = new_uuid();

	*uuid = uuid9562_period_bounds(kind, period_typcache(fcinfo, period), period).lowest;
	PG_RETURN_UUID_P(uuid);
}

/* The greatest UUID that the period can hold. */
static Datum
highest_of(FunctionCallInfo fcinfo, const UuidKind *kind, const RangeType *period)
{
	pg_uuid_t  *uuid = new_uuid();

	*uuid = uuid9562_period_bounds(kind, period_typcache(fcinfo, period), period).highest;
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
	return within(fcinfo, &uuid_kind_v6, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
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
	return within(fcinfo, &uuid_kind_v7, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
}

/*
 * uuidv8_node_within(id uuid, period tstzrange) returns boolean
 *
 * True when the id is a v8 whose timestamp, read as uuidv8_node() writes it,
 * lies in the period; false for any other id.
 */
Datum
uuid9562_uuidv8_node_within(PG_FUNCTION_ARGS)
{
	return within(fcinfo, &uuid_kind_v8_node, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
}

/*
 * uuidv7_contained_by_period(id uuid, period uuidv7_period) returns boolean
 *
 * The operator <@.
 */
Datum
uuid9562_uuidv7_contained_by_period(PG_FUNCTION_ARGS)
{
	return within(fcinfo, &uuid_kind_v7, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
}

/*
 * period_contains_uuidv7(period uuidv7_period, id uuid) returns boolean
 *
 * The operator @>.
 */
Datum
uuid9562_period_contains_uuidv7(PG_FUNCTION_ARGS)
{
	return within(fcinfo, &uuid_kind_v7, PG_GETARG_UUID_P(1), PG_GETARG_RANGE_P(0));
}

/*
 * uuidv6_lowest(period tstzrange) returns uuid
 *
 * The least v6 that the period can hold; the last v6 when it holds none.
 */
Datum
uuid9562_uuidv6_lowest(PG_FUNCTION_ARGS)
{
	return lowest_of(fcinfo, &uuid_kind_v6, PG_GETARG_RANGE_P(0));
}

/*
 * uuidv6_highest(period tstzrange) returns uuid
 *
 * The greatest v6 that the period can hold; the first v6 when it holds none.
 */
Datum
uuid9562_uuidv6_highest(PG_FUNCTION_ARGS)
{
	return highest_of(fcinfo, &uuid_kind_v6, PG_GETARG_RANGE_P(0));
}

/* uuidv7_lowest(period tstzrange) returns uuid: the same for v7. */
Datum
uuid9562_uuidv7_lowest(PG_FUNCTION_ARGS)
{
	return lowest_of(fcinfo, &uuid_kind_v7, PG_GETARG_RANGE_P(0));
}

/* uuidv7_highest(period tstzrange) returns uuid: the same for v7. */
Datum
uuid9562_uuidv7_highest(PG_FUNCTION_ARGS)
{
	return highest_of(fcinfo, &uuid_kind_v7, PG_GETARG_RANGE_P(0));
}

/* uuidv8_node_lowest(period tstzrange) returns uuid: the same for v8. */
Datum
uuid9562_uuidv8_node_lowest(PG_FUNCTION_ARGS)
{
	return lowest_of(fcinfo, &uuid_kind_v8_node, PG_GETARG_RANGE_P(0));
}

/* uuidv8_node_highest(period tstzrange) returns uuid: the same for v8. */
Datum
uuid9562_uuidv8_node_highest(PG_FUNCTION_ARGS)
{
	return highest_of(fcinfo, &uuid_kind_v8_node, PG_GETARG_RANGE_P(0));
}

/* --- the time of a bound written as text ------------------------------------ */

/* The timestamp function of a kind, on the text form of a UUID. */
static Datum
timestamp_from_text(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	char	   *string = text_to_cstring(PG_GETARG_TEXT_PP(0));
	pg_uuid_t  *uuid = DatumGetUUIDP(DirectFunctionCall1(uuid_in, CStringGetDatum(string)));

	if (uuid_layout_version(uuid->data) != kind->version)
		PG_RETURN_NULL();
	PG_RETURN_TIMESTAMPTZ(uuid_timestamp(kind->clock, uuid));
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
	return timestamp_from_text(fcinfo, &uuid_kind_v6);
}

/* uuidv7_timestamp_from_text(text) returns timestamptz: the same for v7. */
Datum
uuid9562_uuidv7_timestamp_from_text(PG_FUNCTION_ARGS)
{
	return timestamp_from_text(fcinfo, &uuid_kind_v7);
}

/* uuidv8_node_timestamp_from_text(text) returns timestamptz: the same for v8. */
Datum
uuid9562_uuidv8_node_timestamp_from_text(PG_FUNCTION_ARGS)
{
	return timestamp_from_text(fcinfo, &uuid_kind_v8_node);
}
