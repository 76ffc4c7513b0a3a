/*
 * within.c
 *		The first and the last UUID of a time, of a period, and of its sides.
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
#include "period/period.h"

/* --- within a period -------------------------------------------------------- */

/* The type cache entry of the range type, looked up once per call site. */
static TypeCacheEntry *
period_typcache(FunctionCallInfo fcinfo, const RangeType *period)
{
	return range_get_typcache(fcinfo, RangeTypeGetOid(period));
}

/*
 * The first microsecond since 1970-01-01 after a lower bound.  Timestamps are
 * whole microseconds, so an exclusive bound is the next one, inclusive.  An
 * infinite bound is beyond every field.
 */
static int64
first_micros(TimestampTz lower, bool inclusive)
{
	int64		first = timestamptz_to_unix_micros(lower);

	return inclusive || first == PG_INT64_MAX ? first : first + 1;
}

/* The last one before an upper bound. */
static int64
last_micros(TimestampTz upper, bool inclusive)
{
	/* the least one is 30 years above the least int64 */
	return timestamptz_to_unix_micros(upper) - (inclusive ? 0 : 1);
}

/*
 * The time fields from *lowest to *highest whose timestamp lies in a period;
 * false when there is none.
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
		first = first_micros(DatumGetTimestampTz(lower.val), lower.inclusive);
	if (!upper.infinite)
		last = last_micros(DatumGetTimestampTz(upper.val), upper.inclusive);
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
	/* both are true of a period that holds none */
	bounds.begins = lowest.time > 0;
	bounds.ends = highest.time < UUID_TIME_MAX;
	return bounds;
}

/* Is the id of the kind, and its timestamp in the period? */
static Datum
is_within(FunctionCallInfo fcinfo, const UuidKind *kind, const pg_uuid_t *id, const RangeType *period)
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

/*
 * uuidv6_within(id uuid, period tstzrange) returns boolean
 * uuidv7_within(id uuid, period tstzrange) returns boolean
 * uuidv8_node_within(id uuid, period tstzrange) returns boolean
 * uuidv7_contained_by_period(id uuid, period uuidv7_period) returns boolean
 *
 * True when the id is of the version and its timestamp lies in the period;
 * false for any other id.  The last one is the operator <@.
 */
static Datum
id_within(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	return is_within(fcinfo, kind, PG_GETARG_UUID_P(0), PG_GETARG_RANGE_P(1));
}

KIND_FUNCTION(uuid9562_uuidv6_within, UUID_V6, id_within)
KIND_FUNCTION(uuid9562_uuidv7_within, UUID_V7, id_within)
KIND_FUNCTION(uuid9562_uuidv8_node_within, UUID_V8_NODE, id_within)
KIND_FUNCTION(uuid9562_uuidv7_contained_by_period, UUID_V7, id_within)

/*
 * period_contains_uuidv7(period uuidv7_period, id uuid) returns boolean
 *
 * The operator @>.
 */
static Datum
period_contains(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	return is_within(fcinfo, kind, PG_GETARG_UUID_P(1), PG_GETARG_RANGE_P(0));
}

KIND_FUNCTION(uuid9562_period_contains_uuidv7, UUID_V7, period_contains)

/*
 * uuidv6_lowest(period tstzrange) returns uuid
 * uuidv7_lowest(period tstzrange) returns uuid
 * uuidv8_node_lowest(period tstzrange) returns uuid
 *
 * The least UUID that the period can hold; the version's last one when it
 * holds none.
 */
static Datum
period_lowest(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	RangeType  *period = PG_GETARG_RANGE_P(0);
	pg_uuid_t  *uuid = new_uuid();

	*uuid = uuid9562_period_bounds(kind, period_typcache(fcinfo, period), period).lowest;
	PG_RETURN_UUID_P(uuid);
}

KIND_FUNCTION(uuid9562_uuidv6_lowest, UUID_V6, period_lowest)
KIND_FUNCTION(uuid9562_uuidv7_lowest, UUID_V7, period_lowest)
KIND_FUNCTION(uuid9562_uuidv8_node_lowest, UUID_V8_NODE, period_lowest)

/*
 * uuidv6_highest, uuidv7_highest, uuidv8_node_highest: the greatest UUID that
 * the period can hold; the version's first one when it holds none.
 */
static Datum
period_highest(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	RangeType  *period = PG_GETARG_RANGE_P(0);
	pg_uuid_t  *uuid = new_uuid();

	*uuid = uuid9562_period_bounds(kind, period_typcache(fcinfo, period), period).highest;
	PG_RETURN_UUID_P(uuid);
}

KIND_FUNCTION(uuid9562_uuidv6_highest, UUID_V6, period_highest)
KIND_FUNCTION(uuid9562_uuidv7_highest, UUID_V7, period_highest)
KIND_FUNCTION(uuid9562_uuidv8_node_highest, UUID_V8_NODE, period_highest)

/* --- the bounds of one side of a period ------------------------------------- */

/*
 * The least UUID of the kind whose timestamp is at the given time or later,
 * or, when that is not included, later.  Where there is none it is greater than
 * every one of the kind, by its variant (4.1).
 */
pg_uuid_t
uuid9562_lower_bound(const UuidKind *kind, TimestampTz time, bool inclusive)
{
	UuidPayload least = {UUID_TIME_MAX, 0};
	uint64_t	highest;
	pg_uuid_t	bound;
	bool		found = uuid_clock_span(kind->clock, first_micros(time, inclusive), PG_INT64_MAX,
										&least.time, &highest);

	uuid_layout_pack(bound.data, kind->version, least);
	if (!found)
		memset(bound.data + UUID_LEN / 2, 0xff, UUID_LEN / 2);
	return bound;
}

/*
 * The greatest UUID of the kind whose timestamp is at the given time or
 * earlier, or, when that is not included, earlier.  Where there is none it is
 * less than every one of the kind, by its variant (4.1).
 */
pg_uuid_t
uuid9562_upper_bound(const UuidKind *kind, TimestampTz time, bool inclusive)
{
	UuidPayload greatest = {0, UUID_TAIL_MAX};
	uint64_t	lowest;
	pg_uuid_t	bound;
	bool		found = uuid_clock_span(kind->clock, PG_INT64_MIN, last_micros(time, inclusive),
										&lowest, &greatest.time);

	uuid_layout_pack(bound.data, kind->version, greatest);
	if (!found)
		memset(bound.data + UUID_LEN / 2, 0, UUID_LEN / 2);
	return bound;
}

/* A lower bound as a function. */
static Datum
return_lower_bound(FunctionCallInfo fcinfo, const UuidKind *kind, bool inclusive)
{
	pg_uuid_t  *bound = new_uuid();

	*bound = uuid9562_lower_bound(kind, PG_GETARG_TIMESTAMPTZ(0), inclusive);
	PG_RETURN_UUID_P(bound);
}

/* An upper bound as a function. */
static Datum
return_upper_bound(FunctionCallInfo fcinfo, const UuidKind *kind, bool inclusive)
{
	pg_uuid_t  *bound = new_uuid();

	*bound = uuid9562_upper_bound(kind, PG_GETARG_TIMESTAMPTZ(0), inclusive);
	PG_RETURN_UUID_P(bound);
}

/*
 * uuidv6_lowest_from(timestamptz) returns uuid
 * uuidv7_lowest_from(timestamptz) returns uuid
 * uuidv8_node_lowest_from(timestamptz) returns uuid
 *
 * What tstzrange(a, b) begins with when it includes a.  Never an error: the
 * time may be outside the field, or infinite.
 */
static Datum
lowest_from(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	return return_lower_bound(fcinfo, kind, true);
}

KIND_FUNCTION(uuid9562_uuidv6_lowest_from, UUID_V6, lowest_from)
KIND_FUNCTION(uuid9562_uuidv7_lowest_from, UUID_V7, lowest_from)
KIND_FUNCTION(uuid9562_uuidv8_node_lowest_from, UUID_V8_NODE, lowest_from)

/* uuidv6_lowest_after, uuidv7_lowest_after, uuidv8_node_lowest_after: when it does not. */
static Datum
lowest_after(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	return return_lower_bound(fcinfo, kind, false);
}

KIND_FUNCTION(uuid9562_uuidv6_lowest_after, UUID_V6, lowest_after)
KIND_FUNCTION(uuid9562_uuidv7_lowest_after, UUID_V7, lowest_after)
KIND_FUNCTION(uuid9562_uuidv8_node_lowest_after, UUID_V8_NODE, lowest_after)

/*
 * uuidv6_highest_until, uuidv7_highest_until, uuidv8_node_highest_until: what it
 * ends with when it includes b.
 */
static Datum
highest_until(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	return return_upper_bound(fcinfo, kind, true);
}

KIND_FUNCTION(uuid9562_uuidv6_highest_until, UUID_V6, highest_until)
KIND_FUNCTION(uuid9562_uuidv7_highest_until, UUID_V7, highest_until)
KIND_FUNCTION(uuid9562_uuidv8_node_highest_until, UUID_V8_NODE, highest_until)

/* uuidv6_highest_before, uuidv7_highest_before, uuidv8_node_highest_before: when it does not. */
static Datum
highest_before(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	return return_upper_bound(fcinfo, kind, false);
}

KIND_FUNCTION(uuid9562_uuidv6_highest_before, UUID_V6, highest_before)
KIND_FUNCTION(uuid9562_uuidv7_highest_before, UUID_V7, highest_before)
KIND_FUNCTION(uuid9562_uuidv8_node_highest_before, UUID_V8_NODE, highest_before)
