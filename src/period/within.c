/*
 * within.c
 *		"Is within a period", and the smallest and the greatest UUID in a period.
 *
 * For the kinds that sort by time: v6, v7 (RFC 9562, 5.6 and 5.7), and v8 with a node
 * ID, whose time field is that of v7.  The timestamp of a UUID is the result of
 * uuidv6_timestamp, uuidv7_timestamp or uuidv8_node_timestamp: a whole microsecond for
 * v6, a whole millisecond for the others.
 *
 * An ID is within a period if it has the version and its timestamp is in the period.
 * UUIDs of one kind sort by time, so this is equivalent to
 *
 *		id >= lower_bound(period) AND id <= upper_bound(period) AND it has the version
 *
 * and the planner support functions rewrite it so (rewrite.c).  No period raises an
 * error: the part of a period outside the time field contains no UUID.
 */
#include "period/period.h"

/* --- within a period -------------------------------------------------------- */

/* Return the type cache entry of the range type, looked up once per call site. */
static TypeCacheEntry *
period_typcache(FunctionCallInfo fcinfo, const RangeType *period)
{
	return range_get_typcache(fcinfo, RangeTypeGetOid(period));
}

/*
 * Return the first microsecond since 1970-01-01 after a lower bound.  Timestamps are
 * whole microseconds, so an exclusive bound is equivalent to the next microsecond,
 * inclusive.  An infinite bound is beyond the time field of every kind.
 */
static int64
first_micros(TimestampTz lower, bool inclusive)
{
	int64		first = timestamptz_to_unix_micros(lower);

	return inclusive || first == PG_INT64_MAX ? first : first + 1;
}

/* Return the last microsecond since 1970-01-01 before an upper bound. */
static int64
last_micros(TimestampTz upper, bool inclusive)
{
	/* the conversion never returns the smallest int64 */
	return timestamptz_to_unix_micros(upper) - (inclusive ? 0 : 1);
}

/*
 * Set *lowest and *highest to the first and the last time field whose timestamp is in
 * a period.  Return false if there is none.
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
 * Return the smallest and the greatest UUID in a period.  For a period that contains
 * no UUID of the kind, return the greatest UUID of the kind as the lower bound and the
 * smallest as the upper bound, with nothing between them.  These too are UUIDs of the
 * kind, since TimescaleDB extracts the time of any constant that is compared with the
 * partitioning column.
 */
UuidBounds
uuid9562_period_bounds(const UuidKind *kind, TypeCacheEntry *typcache, const RangeType *period)
{
	UuidBounds	bounds;
	UuidPayload lower = {UUID_TIME_MAX, UUID_TAIL_MAX};
	UuidPayload upper = {0, 0};
	uint64_t	first;
	uint64_t	last;

	if (period_span(kind, typcache, period, &first, &last))
	{
		lower.time = first;
		lower.tail = 0;
		upper.time = last;
		upper.tail = UUID_TAIL_MAX;
	}
	uuid_layout_pack(bounds.lower.data, kind->version, lower);
	uuid_layout_pack(bounds.upper.data, kind->version, upper);
	/* both are true for a period that contains none */
	bounds.has_lower = lower.time > 0;
	bounds.has_upper = upper.time < UUID_TIME_MAX;
	return bounds;
}

/* Check whether the ID has the version and its timestamp is in the period. */
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
 * Return true if the ID has the version and its timestamp is in the period, and false
 * for any other ID.  The last function implements the operator <@.
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
 * Implement the operator @>.
 */
static Datum
period_contains(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	return is_within(fcinfo, kind, PG_GETARG_UUID_P(1), PG_GETARG_RANGE_P(0));
}

KIND_FUNCTION(uuid9562_period_contains_uuidv7, UUID_V7, period_contains)

/* --- bounds of a period ----------------------------------------------------- */

static Datum
return_bound(pg_uuid_t bound)
{
	pg_uuid_t  *uuid = new_uuid();

	*uuid = bound;
	return UUIDPGetDatum(uuid);
}

/*
 * uuidv6_lower_bound(period tstzrange) returns uuid
 * uuidv7_lower_bound(period tstzrange) returns uuid
 * uuidv8_node_lower_bound(period tstzrange) returns uuid
 *
 * Return the smallest UUID in the period, or the greatest UUID of the kind if there is
 * none.
 */
static Datum
period_lower_bound(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	RangeType  *period = PG_GETARG_RANGE_P(0);

	return return_bound(uuid9562_period_bounds(kind, period_typcache(fcinfo, period), period).lower);
}

KIND_FUNCTION(uuid9562_uuidv6_lower_bound_tstzrange, UUID_V6, period_lower_bound)
KIND_FUNCTION(uuid9562_uuidv7_lower_bound_tstzrange, UUID_V7, period_lower_bound)
KIND_FUNCTION(uuid9562_uuidv8_node_lower_bound_tstzrange, UUID_V8_NODE, period_lower_bound)

/*
 * uuidv6_upper_bound(period tstzrange) returns uuid
 * uuidv7_upper_bound(period tstzrange) returns uuid
 * uuidv8_node_upper_bound(period tstzrange) returns uuid
 *
 * Return the greatest UUID in the period, or the smallest UUID of the kind if there is
 * none.
 */
static Datum
period_upper_bound(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	RangeType  *period = PG_GETARG_RANGE_P(0);

	return return_bound(uuid9562_period_bounds(kind, period_typcache(fcinfo, period), period).upper);
}

KIND_FUNCTION(uuid9562_uuidv6_upper_bound_tstzrange, UUID_V6, period_upper_bound)
KIND_FUNCTION(uuid9562_uuidv7_upper_bound_tstzrange, UUID_V7, period_upper_bound)
KIND_FUNCTION(uuid9562_uuidv8_node_upper_bound_tstzrange, UUID_V8_NODE, period_upper_bound)

/* --- bounds of one side ----------------------------------------------------- */

/*
 * Return the smallest UUID of the kind whose timestamp is at the given time or later,
 * or, if the bound is exclusive, later.  If there is none, return a value greater than
 * every UUID of the kind, by its variant (RFC 9562, 4.1).
 */
pg_uuid_t
uuid9562_lower_bound(const UuidKind *kind, TimestampTz time, bool inclusive)
{
	UuidPayload smallest = {UUID_TIME_MAX, 0};
	uint64_t	highest;
	pg_uuid_t	bound;
	bool		found = uuid_clock_span(kind->clock, first_micros(time, inclusive), PG_INT64_MAX,
										&smallest.time, &highest);

	uuid_layout_pack(bound.data, kind->version, smallest);
	if (!found)
		memset(bound.data + UUID_LEN / 2, 0xff, UUID_LEN / 2);
	return bound;
}

/*
 * Return the greatest UUID of the kind whose timestamp is at the given time or
 * earlier, or, if the bound is exclusive, earlier.  If there is none, return a value
 * less than every UUID of the kind, by its variant (RFC 9562, 4.1).
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

/*
 * uuidv6_lower_bound(bound timestamptz, inclusive boolean) returns uuid
 * uuidv7_lower_bound(bound timestamptz, inclusive boolean) returns uuid
 * uuidv8_node_lower_bound(bound timestamptz, inclusive boolean) returns uuid
 *
 * Return the lower bound of tstzrange(bound, NULL).  NULL is no bound, as in the range,
 * so the result is then not greater than any UUID of the kind.  The time may be outside
 * the field, or infinite.
 */
static Datum
time_lower_bound(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	TimestampTz time = PG_ARGISNULL(0) ? DT_NOBEGIN : PG_GETARG_TIMESTAMPTZ(0);

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return return_bound(uuid9562_lower_bound(kind, time, PG_GETARG_BOOL(1)));
}

KIND_FUNCTION(uuid9562_uuidv6_lower_bound_timestamptz, UUID_V6, time_lower_bound)
KIND_FUNCTION(uuid9562_uuidv7_lower_bound_timestamptz, UUID_V7, time_lower_bound)
KIND_FUNCTION(uuid9562_uuidv8_node_lower_bound_timestamptz, UUID_V8_NODE, time_lower_bound)

/*
 * uuidv6_upper_bound(bound timestamptz, inclusive boolean) returns uuid
 * uuidv7_upper_bound(bound timestamptz, inclusive boolean) returns uuid
 * uuidv8_node_upper_bound(bound timestamptz, inclusive boolean) returns uuid
 *
 * Return the upper bound of tstzrange(NULL, bound); see the lower bound.
 */
static Datum
time_upper_bound(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	TimestampTz time = PG_ARGISNULL(0) ? DT_NOEND : PG_GETARG_TIMESTAMPTZ(0);

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return return_bound(uuid9562_upper_bound(kind, time, PG_GETARG_BOOL(1)));
}

KIND_FUNCTION(uuid9562_uuidv6_upper_bound_timestamptz, UUID_V6, time_upper_bound)
KIND_FUNCTION(uuid9562_uuidv7_upper_bound_timestamptz, UUID_V7, time_upper_bound)
KIND_FUNCTION(uuid9562_uuidv8_node_upper_bound_timestamptz, UUID_V8_NODE, time_upper_bound)
