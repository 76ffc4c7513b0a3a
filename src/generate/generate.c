/*
 * generate.c
 *		Generation of UUIDs for the current time or a timestamp, at random, and from bytes.
 *
 * Each payload for the current time is greater than the previous such payload of its kind
 * in this session (RFC 9562, 6.2).  A rollback does not rewind a generator.
 */
#include "value/value.h"

#include "utils/builtins.h"

#include "runtime/runtime.h"
#include "settings.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv4);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_shift);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_from);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_custom);

/* The previous payload of each kind; all zeros before the first one. */
static UuidPayload previous[UUID_KIND_COUNT];

/*
 * Generate the next payload of a kind.
 *
 * This function is inlined into each caller, where the kind is a constant.  The clock is
 * read first, so that the processor can fetch the random bits while it waits for the clock.
 */
static pg_attribute_always_inline UuidPayload
next_payload(const UuidKind *kind, UuidMethod method)
{
	uint64		now = clock_ticks(kind);
	UuidRandom	random = random_for(method);
	UuidPayload payload = previous[kind->number];

	Assert(kind->number == UUID_KIND_V7 || method == UUID_METHOD_FRACTION);
	if (unlikely(uuid_generator_next(&payload, now, random, method) == UUID_NEXT_EXHAUSTED))
		uuid9562_time_exhausted(kind,
								"Check the system clock of the server, then start a new session.");
	previous[kind->number] = payload;
	return payload;
}

/* Return the bits of a node ID that is an argument.  Raise an error if it is out of range. */
static UuidNodeBits
given_node_id(int32 node_id)
{
	if (node_id < 0 || node_id > (int32) UUID_NODE_ID_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("node ID %d is out of range", node_id),
				 errdetail("Node IDs must be between 0 and %d.", (int) UUID_NODE_ID_MAX)));
	return uuid_layout_node_id_bits(node_id);
}

/*
 * uuidv1() returns uuid
 * uuidv6() returns uuid
 * uuidv7() returns uuid
 * uuidv8() returns uuid
 * uuidv8_node() returns uuid
 * uuidv8_node(node_id integer) returns uuid
 *
 * Generate a UUID from the time, a counter, and random bits (RFC 9562, 5.1, 5.6, 5.7,
 * appendix B.1, and 6.4).  Version 7 uses the method that uuid9562.v7_method selects, and all
 * others use method fraction.  The node of v1 and v6 is random or uuid9562.mac_address.  The node
 * ID is uuid9562.node_id or the argument.
 */
static pg_attribute_always_inline Datum
generated_uuid(FunctionCallInfo fcinfo, const UuidKind *kind, UuidNodeBits node)
{
	const UuidMethod method =
		kind->number == UUID_KIND_V7 ? (UuidMethod) uuid9562_v7_method : UUID_METHOD_FRACTION;

	/*
	 * a node must not replace bits above UUID_RANDOM_MAX, because these
	 * determine the order
	 */
	Assert((node.mask & ~UUID_RANDOM_MAX) == 0);
	return uuid_datum(kind->version, uuid_layout_with_node(next_payload(kind, method), node));
}

SQL_FUNCTION(uuid9562_uuidv1, generated_uuid, UUID_V1, uuid9562_node)
SQL_FUNCTION(uuid9562_uuidv6, generated_uuid, UUID_V6, uuid9562_node)
SQL_FUNCTION(uuid9562_uuidv7, generated_uuid, UUID_V7, uuid_no_node)
SQL_FUNCTION(uuid9562_uuidv8, generated_uuid, UUID_V8, uuid_no_node)
SQL_FUNCTION(uuid9562_uuidv8_node, generated_uuid, UUID_V8_NODE, uuid9562_own_node_id())
SQL_FUNCTION(uuid9562_uuidv8_node_arg, generated_uuid, UUID_V8_NODE,
			 given_node_id(PG_GETARG_INT32(0)))

/*
 * uuidv4() returns uuid
 *
 * Generate a UUID from 122 random bits (RFC 9562, 5.4).
 */
Datum
uuid9562_uuidv4(PG_FUNCTION_ARGS)
{
	UuidPayload payload = {random_bits() & UUID_TIME_MAX, random_bits() & UUID_TAIL_MAX};

	return uuid_datum(4, payload);
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
	const bool	whole_ms = method == UUID_METHOD_COUNTER;	/* the next 12 bits are
															 * a counter */
	UuidPayload payload = next_payload(UUID_V7, method);
	TimestampTz unshifted = unix_micros_to_timestamptz(uuid_clock_v7_unix_micros(payload.time));
	TimestampTz shifted = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
																  TimestampTzGetDatum(unshifted),
																  PG_GETARG_DATUM(0)));

	/* since PostgreSQL 17, an interval can be infinite */
	if (TIMESTAMP_NOT_FINITE(shifted) ||
		!uuid_clock_v7_shift(payload.time, shifted - unshifted, whole_ms, &payload.time))
		uuid9562_timestamp_out_of_range(UUID_V7, shifted);
	return uuid_datum(7, payload);
}

/*
 * uuidv6_at(timestamptz) returns uuid
 * uuidv7_at(timestamptz) returns uuid
 * uuidv8_node_at(timestamptz, node_id integer) returns uuid
 *
 * Generate a UUID for a timestamp.  The bits after the time are random, apart from the node or node
 * ID.  In v7 and v8, the 12 bits after the milliseconds store the microseconds as the fraction of
 * method 3 (RFC 9562, 6.2), so that uuidv7_timestamp_micros() returns the same timestamp.
 */
static pg_attribute_always_inline Datum
uuid_at(FunctionCallInfo fcinfo, const UuidKind *kind, UuidNodeBits node)
{
	UuidPayload payload;

	payload.time = uuid9562_timestamp_ticks(kind, PG_GETARG_TIMESTAMPTZ(0));
	payload.tail = random_bits() & UUID_TAIL_MAX;
	return uuid_datum(kind->version, uuid_layout_with_node(payload, node));
}

SQL_FUNCTION(uuid9562_uuidv6_at, uuid_at, UUID_V6, uuid9562_node)
SQL_FUNCTION(uuid9562_uuidv7_at, uuid_at, UUID_V7, uuid_no_node)
SQL_FUNCTION(uuid9562_uuidv8_node_at, uuid_at, UUID_V8_NODE, given_node_id(PG_GETARG_INT32(1)))

/* Maximum number of bytes whose bits all fit into the 74 bits after the milliseconds */
#define UUIDV7_FROM_BYTES	9

/*
 * uuidv7_from(timestamptz, bits bytea) returns uuid
 *
 * Return the v7 UUID with the timestamp's millisecond and the given bits, which are a number, most
 * significant byte first.  The number fills the 74 bits after the milliseconds from their least
 * significant end, and missing bits are zero.  So with the same number of bytes, different
 * arguments have different UUIDs, which sort by the millisecond and then by the bits.
 */
Datum
uuid9562_uuidv7_from(PG_FUNCTION_ARGS)
{
	bytea	   *bits = PG_GETARG_BYTEA_PP(1);
	size_t		count = VARSIZE_ANY_EXHDR(bits);
	uint8		number[UUID_LEN] = {0};
	uint64		high;
	uint64		low;
	UuidPayload payload;

	if (count > UUIDV7_FROM_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bytea value too long for UUID: %zu bytes", count),
				 errdetail("uuidv7_from() accepts at most %d bytes.", UUIDV7_FROM_BYTES)));
	memcpy(number + UUID_LEN - count, VARDATA_ANY(bits), count);
	high = uuid_layout_load64(number);
	low = uuid_layout_load64(number + 8);
	payload.time = uuid9562_timestamp_ticks(UUID_V7, PG_GETARG_TIMESTAMPTZ(0)) & ~UUID_SUBTIME_MAX;
	/* the 12 bits after the milliseconds are those above the low 62 */
	payload.time |= high << (64 - UUID_TAIL_BITS) | low >> UUID_TAIL_BITS;
	payload.tail = low & UUID_TAIL_MAX;
	return uuid_datum(7, payload);
}

/*
 * uuidv8_custom(octets bytea) returns uuid
 *
 * Return the first 16 bytes as a UUID, with version and variant replaced (RFC 9562,
 * 5.8).  The function is meant for hashes that the caller computes.
 */
Datum
uuid9562_uuidv8_custom(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	size_t		count = VARSIZE_ANY_EXHDR(bytes);

	if (count < UUID_LEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("bytea value too short for UUID: %zu bytes", count),
				 errdetail("uuidv8_custom() requires at least 16 bytes and uses only the first 16.")));
	return uuid_datum(8, uuid_layout_unpack((uint8 *) VARDATA_ANY(bytes), 8));
}
