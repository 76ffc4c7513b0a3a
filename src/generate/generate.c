/*
 * generate.c
 *		Generation of UUIDs: for the current time, at random, for a given timestamp,
 *		and from the custom fields of version 8.
 */
#include "compat.h"

#include "utils/builtins.h"

#include "generate/session_generator.h"
#include "settings.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv4);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_shift);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_custom_fields);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_custom_bytes);

UuidPayload uuid9562_previous[UUID_KIND_COUNT];

/* Check a node ID that was passed as an argument, and return it. */
static uint32
given_node_id(int32 node_id)
{
	if (node_id < 0 || node_id > (int32) UUID_NODE_ID_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("node ID %d is out of range", node_id),
				 errdetail("Node IDs must be between 0 and %d.", (int) UUID_NODE_ID_MAX)));
	return node_id;
}

#define OWN_NODE_ID_STAMP		uuid_layout_node_id_stamp(uuid9562_own_node_id())
#define GIVEN_NODE_ID_STAMP(n)	uuid_layout_node_id_stamp(given_node_id(PG_GETARG_INT32(n)))

/* --- for the current time, or at random ------------------------------------------ */

/*
 * uuidv1() returns uuid
 * uuidv6() returns uuid
 *
 * Generate a UUID from the time in units of 100 ns since 1582-10-15 (RFC 9562, 5.1, 5.6).
 * In v6 the most significant part of the time is first.  The first four bits of the
 * clock sequence are the generator's counter, and the rest is random.  The node is
 * random, or uuid9562.mac_address.
 *
 * uuidv8() returns uuid
 *
 * Generate a UUID from a counter, random bits, and the least significant 60 bits of the
 * time in units of 10 ns since 1970-01-01 (RFC 9562, appendix B.1).
 *
 * uuidv8_node() returns uuid: with uuid9562.node_id, which must be set
 * uuidv8_node(node_id integer) returns uuid: with a node ID from 0 to 65535
 *
 * Generate a UUID from the time and counter of v7, a node ID and 42 random bits (RFC
 * 9562, 6.4).
 *
 * These functions always use method fraction.
 */
static pg_attribute_always_inline Datum
generated_uuid(FunctionCallInfo fcinfo, const UuidKind *kind, UuidStamp stamp)
{
	UuidPayload payload = next_payload(kind, UUID_METHOD_FRACTION);

	return return_uuid(kind->version, uuid_layout_stamp(payload, stamp));
}

SQL_FUNCTION(uuid9562_uuidv1, generated_uuid, UUID_V1, uuid9562_node_stamp)
SQL_FUNCTION(uuid9562_uuidv6, generated_uuid, UUID_V6, uuid9562_node_stamp)
SQL_FUNCTION(uuid9562_uuidv8, generated_uuid, UUID_V8, uuid_no_stamp)
SQL_FUNCTION(uuid9562_uuidv8_node, generated_uuid, UUID_V8_NODE, OWN_NODE_ID_STAMP)
SQL_FUNCTION(uuid9562_uuidv8_node_arg, generated_uuid, UUID_V8_NODE, GIVEN_NODE_ID_STAMP(0))

/*
 * uuidv4() returns uuid
 *
 * Generate a UUID from 122 random bits (RFC 9562, 5.4).
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
 * uuidv7() returns uuid
 *
 * Generate a UUID from the milliseconds since 1970-01-01 (RFC 9562, 5.7).
 * uuid9562.v7_method determines the bits after the milliseconds.
 */
Datum
uuid9562_uuidv7(PG_FUNCTION_ARGS)
{
	return return_uuid(7, next_payload(UUID_V7, uuid9562_v7_method));
}

/*
 * uuidv7(shift interval) returns uuid
 *
 * Generate a UUID as uuidv7() does, and add an interval to its timestamp.  Calculate as
 * "timestamptz + interval" does, in the session's time zone.  Values with the same
 * method and the same shift keep their order, unless the length of the shift varies, as
 * the length of a month does.
 */
Datum
uuid9562_uuidv7_shift(PG_FUNCTION_ARGS)
{
	const UuidMethod method = uuid9562_v7_method;
	UuidPayload payload = next_payload(UUID_V7, method);
	TimestampTz unshifted = unix_micros_to_timestamptz(uuid_clock_v7_unix_micros(payload.time));
	TimestampTz shifted = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
																  TimestampTzGetDatum(unshifted),
																  PG_GETARG_DATUM(0)));
	uint64_t	ticks;

	/* method counter: shift by whole ms, as the next 12 bits are a counter */
	if (TIMESTAMP_NOT_FINITE(shifted) ||
		!uuid_clock_v7_shift(payload.time, shifted - unshifted, method == UUID_METHOD_COUNTER, &ticks))
		uuid9562_timestamp_out_of_range(UUID_V7, shifted);
	payload.time = ticks;
	return return_uuid(7, payload);
}

/* --- for a given timestamp --------------------------------------------------- */

/*
 * uuidv6_at(timestamptz) returns uuid
 *
 * Generate a UUID for a timestamp from 1582-10-15 to 5236, with microseconds (RFC 9562,
 * 5.6).  The clock sequence is random, and the node is random or uuid9562.mac_address.
 *
 * uuidv7_at(timestamptz) returns uuid
 *
 * Generate a UUID for a timestamp from 1970-01-01 to 10889, with 62 random bits
 * (RFC 9562, 5.7).  The microseconds are stored as the fraction of method 3 (6.2), so
 * uuidv7_timestamp_micros() returns the same timestamp.
 *
 * uuidv8_node_at(timestamptz) returns uuid: with uuid9562.node_id, which must be set
 * uuidv8_node_at(timestamptz, node_id integer) returns uuid: with the given node ID
 *
 * Generate a UUID for a timestamp as uuidv7_at() does, with a node ID (RFC 9562, 6.4).
 */
static pg_attribute_always_inline Datum
uuid_at(FunctionCallInfo fcinfo, const UuidKind *kind, UuidStamp stamp)
{
	UuidPayload payload;

	payload.time = uuid9562_timestamp_ticks(kind, PG_GETARG_TIMESTAMPTZ(0));
	payload.tail = random_bits() & UUID_TAIL_MAX;
	return return_uuid(kind->version, uuid_layout_stamp(payload, stamp));
}

SQL_FUNCTION(uuid9562_uuidv6_at, uuid_at, UUID_V6, uuid9562_node_stamp)
SQL_FUNCTION(uuid9562_uuidv7_at, uuid_at, UUID_V7, uuid_no_stamp)
SQL_FUNCTION(uuid9562_uuidv8_node_at, uuid_at, UUID_V8_NODE, OWN_NODE_ID_STAMP)
SQL_FUNCTION(uuid9562_uuidv8_node_at_arg, uuid_at, UUID_V8_NODE, GIVEN_NODE_ID_STAMP(1))

/* --- custom fields of version 8 ------------------------------------------------ */

/* Check that a custom field of version 8 is between 0 and max. */
static void
check_custom_field(const char *name, int64 value, uint64 max)
{
	if (value < 0 || (uint64) value > max)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value %lld is out of range for %s", (long long) value, name),
				 errdetail("Valid values are between 0 and %llu.", (unsigned long long) max)));
}

/*
 * uuidv8_custom(custom_a bigint, custom_b integer, custom_c bigint)
 * returns uuid
 *
 * Return the UUID with the given fields of 48, 12 and 62 bits (RFC 9562, 5.8).
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
 * Return the first 16 bytes as a UUID, with version and variant replaced (RFC 9562,
 * 5.8).  The function is meant for hashes that the caller computes.
 */
Datum
uuid9562_uuidv8_custom_bytes(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		count = VARSIZE_ANY_EXHDR(bytes);
	pg_uuid_t  *uuid;

	if (count < UUID_LEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bytea value too short for UUID: %zu bytes", count),
				 errhint("uuidv8_custom() requires at least 16 bytes and uses only the first 16.")));
	uuid = new_uuid();
	uuid_layout_pack_bytes(uuid->data, 8, (uint8 *) VARDATA_ANY(bytes));
	PG_RETURN_UUID_P(uuid);
}
