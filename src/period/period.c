/*
 * period.c
 *		uuidv7_within(), its operators, and the smallest and the greatest UUID in a period.
 *
 * An ID is within a period if it has version 7 and its timestamp, a whole millisecond, is in the
 * period (RFC 9562, 5.7).  A period can extend beyond the times that the time field can hold.
 */
#include "period/period.h"

/*
 * Return the first microsecond that a lower bound includes, counted from 1970-01-01.
 * Timestamps are whole microseconds, so an exclusive bound is equivalent to the next
 * microsecond as an inclusive bound.  PG_INT64_MAX, which no time field can hold, stays as it is.
 */
static int64
first_micros(TimestampTz lower, bool inclusive)
{
	int64		first = timestamptz_to_unix_micros(lower);

	return inclusive || first == PG_INT64_MAX ? first : first + 1;
}

/* Return the last microsecond that an upper bound includes, counted from 1970-01-01. */
static int64
last_micros(TimestampTz upper, bool inclusive)
{
	int64		last = timestamptz_to_unix_micros(upper);

	Assert(last > PG_INT64_MIN);	/* the conversion adds an offset */
	return inclusive ? last : last - 1;
}

/*
 * Set *lowest and *highest to the smallest and the greatest time field whose timestamp
 * is in a period.  If no timestamp of version 7 is in the period, return false and set nothing.
 */
static bool
period_span(TypeCacheEntry *typcache, const RangeType *period, uint64_t *lowest, uint64_t *highest)
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
	return uuid_clock_span(UUID_CLOCK_V7, first, last, lowest, highest);
}

/*
 * Return the smallest and the greatest UUID in a period.  If the period contains no UUID of version
 * 7, return the greatest one as the lower bound and the smallest one as the upper bound, so that no
 * UUID matches.  Even these bounds must have version 7, since TimescaleDB extracts the time of any
 * constant that is compared with the partitioning column.
 */
UuidBounds
uuid9562_period_bounds(TypeCacheEntry *typcache, const RangeType *period)
{
	UuidBounds	bounds;
	UuidPayload lower = {UUID_TIME_MAX, UUID_TAIL_MAX};
	UuidPayload upper = {0, 0};

	if (period_span(typcache, period, &lower.time, &upper.time))
	{
		lower.tail = 0;
		upper.tail = UUID_TAIL_MAX;
	}
	bounds.lower = uuid_datum(7, lower);
	bounds.upper = uuid_datum(7, upper);
	/* both are true for a period that contains no UUID of version 7 */
	bounds.has_lower = lower.time > 0;
	bounds.has_upper = upper.time < UUID_TIME_MAX;
	return bounds;
}

/*
 * uuidv7_within(id uuid, period tstzrange) returns boolean
 *
 * Return true if the ID has version 7 and its timestamp is in the period, and false for any other
 * ID.  The operators <@ and @> are implemented here too.  id_number, 0 or 1, is the position of the
 * ID in the arguments.
 */
static Datum
is_within(FunctionCallInfo fcinfo, int id_number)
{
	const pg_uuid_t *id = PG_GETARG_UUID_P(id_number);
	const RangeType *period = PG_GETARG_RANGE_P(1 - id_number);
	uint64_t	lowest;
	uint64_t	highest;
	uint64		time;

	if (uuid_layout_version(id->data) != 7 ||
		!period_span(range_get_typcache(fcinfo, RangeTypeGetOid(period)), period,
					 &lowest, &highest))
		PG_RETURN_BOOL(false);
	time = uuid_layout_unpack(id->data, 7).time;
	PG_RETURN_BOOL(time >= lowest && time <= highest);
}

SQL_FUNCTION(uuid9562_uuidv7_within, is_within, 0)
SQL_FUNCTION(uuid9562_uuidv7_contained_by_period, is_within, 0)
SQL_FUNCTION(uuid9562_period_contains_uuidv7, is_within, 1)

/*
 * uuidv7_lower_bound(period tstzrange) returns uuid
 * uuidv7_upper_bound(period tstzrange) returns uuid
 *
 * Return the smallest or the greatest UUID in the period, as uuid9562_period_bounds() does.
 */
static Datum
period_bound(FunctionCallInfo fcinfo, bool is_lower)
{
	RangeType  *period = PG_GETARG_RANGE_P(0);
	TypeCacheEntry *range = range_get_typcache(fcinfo, RangeTypeGetOid(period));
	UuidBounds	bounds = uuid9562_period_bounds(range, period);

	return is_lower ? bounds.lower : bounds.upper;
}

SQL_FUNCTION(uuid9562_uuidv7_lower_bound_tstzrange, period_bound, true)
SQL_FUNCTION(uuid9562_uuidv7_upper_bound_tstzrange, period_bound, false)

/*
 * Set *bound to the bound for one side of a period.  A lower bound is the smallest UUID of version
 * 7 whose timestamp is the given time or later.  An upper bound is the greatest one whose timestamp
 * is that time or earlier.  If the bound is exclusive, exclude the time itself.
 *
 * If there is no such UUID, return false, and set *bound so that no UUID of version 7 meets it: a
 * lower bound greater than all of them, or an upper bound less than all.  Such a bound has another
 * variant (4.1).
 */
bool
uuid9562_side_bound(bool is_lower, TimestampTz time, bool inclusive, Datum *bound)
{
	int64		first = is_lower ? first_micros(time, inclusive) : PG_INT64_MIN;
	int64		last = is_lower ? PG_INT64_MAX : last_micros(time, inclusive);
	UuidPayload lowest = {UUID_TIME_MAX, 0};
	UuidPayload highest = {0, UUID_TAIL_MAX};
	bool		found = uuid_clock_span(UUID_CLOCK_V7, first, last, &lowest.time, &highest.time);

	*bound = uuid_datum(7, is_lower ? lowest : highest);
	/* if not found, overwrite the last 8 bytes, which begin with the variant */
	if (!found)
		memset(DatumGetUUIDP(*bound)->data + UUID_LEN / 2, is_lower ? 0xff : 0, UUID_LEN / 2);
	return found;
}

/*
 * uuidv7_lower_bound(bound timestamptz, inclusive boolean) returns uuid
 * uuidv7_upper_bound(bound timestamptz, inclusive boolean) returns uuid
 *
 * If the bound is NULL, the side is unbounded, as in tstzrange(), and the result excludes no
 * UUID of version 7.  The bound can be infinite, or a time that the time field cannot hold.
 */
static Datum
side_bound(FunctionCallInfo fcinfo, bool is_lower)
{
	TimestampTz none = is_lower ? DT_NOBEGIN : DT_NOEND;
	TimestampTz time = PG_ARGISNULL(0) ? none : PG_GETARG_TIMESTAMPTZ(0);
	Datum		bound;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	(void) uuid9562_side_bound(is_lower, time, PG_GETARG_BOOL(1), &bound);
	return bound;
}

SQL_FUNCTION(uuid9562_uuidv7_lower_bound_timestamptz, side_bound, true)
SQL_FUNCTION(uuid9562_uuidv7_upper_bound_timestamptz, side_bound, false)
