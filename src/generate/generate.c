/*
 * generate.c
 *		New UUIDs, of now and of a given time, and the custom layouts of
 *		version 8.
 */
#include "compat.h"

#include "utils/builtins.h"

#include "generate/session_generator.h"
#include "settings.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv1);
PG_FUNCTION_INFO_V1(uuid9562_uuidv4);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_shift);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_custom_fields);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_custom_octets);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_arg);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_at);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_at);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_at);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_at_arg);

UuidPayload uuid9562_previous[UUID_KIND_COUNT];

/*
 * v1 and v6 share time, clock sequence and node; the clock sequence is random
 * after its counter bits, so it changes with every value (5.1, 5.6).
 */
static pg_attribute_always_inline Datum
gregorian_uuid(const UuidKind *kind)
{
	UuidPayload payload = next_payload(kind, UUID_METHOD_FRACTION);

	return return_uuid(kind->version, uuid_layout_stamp(payload, uuid9562_node));
}

/*
 * uuidv1() returns uuid
 *
 * Time in 100 ns since 1582-10-15, a random clock sequence, and a random node
 * or the one of uuid9562.node (5.1).
 */
Datum
uuid9562_uuidv1(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(UUID_V1);
}

/*
 * uuidv4() returns uuid
 *
 * 122 random bits (5.4).
 */
Datum
uuid9562_uuidv4(PG_FUNCTION_ARGS)
{
	UuidPayload payload;

	payload.time = random_bits() & UUID_TIME_MAX;
	payload.tail = random_bits() & UUID_TAIL_MAX;
	return return_uuid(4, payload);
}

/*
 * uuidv6() returns uuid
 *
 * The fields of v1 with the time's most significant part first (5.6).
 */
Datum
uuid9562_uuidv6(PG_FUNCTION_ARGS)
{
	return gregorian_uuid(UUID_V6);
}

/*
 * uuidv7() returns uuid
 *
 * Milliseconds since 1970-01-01, then what uuid9562.v7_method says (5.7).
 */
Datum
uuid9562_uuidv7(PG_FUNCTION_ARGS)
{
	return return_uuid(7, next_payload(UUID_V7, uuid9562_v7_method));
}

/*
 * uuidv7(shift interval) returns uuid
 *
 * The value that uuidv7() would give, with its timestamp moved by an
 * interval: added as timestamptz + interval does it, in the session's time
 * zone, with microsecond precision.  Values of one method and one shift of
 * constant length keep their order.  Errors are PostgreSQL 18's for the same
 * call: an infinite interval, and a timestamp outside the field.
 */
Datum
uuid9562_uuidv7_shift(PG_FUNCTION_ARGS)
{
	Interval   *shift = PG_GETARG_INTERVAL_P(0);
	UuidMethod	method = uuid9562_v7_method;
	UuidPayload payload;
	TimestampTz unshifted;
	TimestampTz shifted;
	int64		distance;
	uint64_t	ticks;

#ifdef INTERVAL_NOT_FINITE
	if (INTERVAL_NOT_FINITE(shift))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
				 errmsg("interval out of range for UUID version 7"),
				 errdetail("UUID version 7 does not support infinite intervals.")));
#endif

	payload = next_payload(UUID_V7, method);
	unshifted = unix_micros_to_timestamptz(uuid_clock_v7_unix_micros(payload.time));
	shifted = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
													  TimestampTzGetDatum(unshifted),
													  IntervalPGetDatum(shift)));

	/* In counter mode the 12 bits after the milliseconds are no time. */
	distance = shifted - unshifted;
	if (!uuid_clock_v7_shift(payload.time, distance, method == UUID_METHOD_COUNTER, &ticks))
		uuid9562_timestamp_out_of_range(UUID_V7);
	payload.time = ticks;
	return return_uuid(7, payload);
}

/*
 * uuidv8() returns uuid
 *
 * Time in 10 ns since 1970-01-01, least significant 60 bits, then a counter
 * and random bits (appendix B.1).
 */
Datum
uuid9562_uuidv8(PG_FUNCTION_ARGS)
{
	return return_uuid(8, next_payload(UUID_V8, UUID_METHOD_FRACTION));
}

/* Complain when a custom field of version 8 is not in 0 to max. */
static void
check_custom_field(const char *name, int64 value, uint64 max)
{
	if (value < 0 || (uint64) value > max)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%s is out of range: %lld", name, (long long) value),
				 errhint("%s takes a value from 0 to %llu.", name, (unsigned long long) max)));
}

/*
 * uuidv8_custom(custom_a bigint, custom_b integer, custom_c bigint)
 * returns uuid
 *
 * The caller's 48, 12 and 62 bits, and nothing else (5.8).  A value that does
 * not fit its field is an error.
 */
Datum
uuid9562_uuidv8_custom_fields(PG_FUNCTION_ARGS)
{
	int64		custom_a = PG_GETARG_INT64(0);
	int32		custom_b = PG_GETARG_INT32(1);
	int64		custom_c = PG_GETARG_INT64(2);

	check_custom_field("custom_a", custom_a, UUID_CUSTOM_A_MAX);
	check_custom_field("custom_b", custom_b, UUID_CUSTOM_B_MAX);
	check_custom_field("custom_c", custom_c, UUID_CUSTOM_C_MAX);
	return return_uuid(8, uuid_layout_custom(custom_a, custom_b, custom_c));
}

/*
 * uuidv8_custom(octets bytea) returns uuid
 *
 * The first 16 octets with version and variant set over them (5.8): for a
 * hash made elsewhere.  Fewer than 16 octets are an error.
 */
Datum
uuid9562_uuidv8_custom_octets(PG_FUNCTION_ARGS)
{
	bytea	   *octets = PG_GETARG_BYTEA_PP(0);
	size_t		count = VARSIZE_ANY_EXHDR(octets);
	pg_uuid_t  *uuid;

	if (count < UUID_LEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("too few octets for a UUID: %zu", count),
				 errhint("uuidv8_custom() takes 16 octets or more, and uses the first 16.")));
	uuid = new_uuid();
	uuid_layout_pack_octets(uuid->data, 8, (uint8 *) VARDATA_ANY(octets));
	PG_RETURN_UUID_P(uuid);
}

/*
 * v7's time and counter, then the node id, then 42 random bits, as version 8
 * (6.4).  The method is always fraction: a node id may change between two
 * values, so nothing below it can be part of a counter.
 */
static Datum
node_uuid(uint32 node_id)
{
	UuidPayload payload = next_payload(UUID_V8_NODE, UUID_METHOD_FRACTION);

	return return_uuid(8, uuid_layout_stamp(payload, uuid_layout_node_id_stamp(node_id)));
}

/* A node id that the caller gave; an error when it is not in 0 to 65535. */
static uint32
given_node_id(int32 node_id)
{
	if (node_id < 0 || node_id > (int32) UUID_NODE_ID_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("node id is out of range: %d", node_id),
				 errhint("A node id is from 0 to %d.", (int) UUID_NODE_ID_MAX)));
	return node_id;
}

/*
 * uuidv8_node() returns uuid
 *
 * With the node id of uuid9562.node_id, which must be set.
 */
Datum
uuid9562_uuidv8_node(PG_FUNCTION_ARGS)
{
	return node_uuid(uuid9562_own_node_id());
}

/*
 * uuidv8_node(node_id integer) returns uuid
 *
 * With that node id, 0 to 65535; any other is an error.
 */
Datum
uuid9562_uuidv8_node_arg(PG_FUNCTION_ARGS)
{
	return node_uuid(given_node_id(PG_GETARG_INT32(0)));
}

/* --- of a given time --------------------------------------------------------- */

/* A new UUID of that time, with a random tail; no generator knows of it. */
static Datum
uuid_at(const UuidKind *kind, TimestampTz timestamp, UuidStamp stamp)
{
	UuidPayload payload;

	payload.time = uuid9562_timestamp_ticks(kind, timestamp);
	payload.tail = random_bits() & UUID_TAIL_MAX;
	return return_uuid(kind->version, uuid_layout_stamp(payload, stamp));
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
	return uuid_at(UUID_V6, PG_GETARG_TIMESTAMPTZ(0), uuid9562_node);
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

	return uuid_at(UUID_V7, PG_GETARG_TIMESTAMPTZ(0), none);
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
	return uuid_at(UUID_V8_NODE, PG_GETARG_TIMESTAMPTZ(0),
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
	return uuid_at(UUID_V8_NODE, PG_GETARG_TIMESTAMPTZ(0),
				   uuid_layout_node_id_stamp(given_node_id(PG_GETARG_INT32(1))));
}
