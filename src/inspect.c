/*
 * inspect.c
 *		What a UUID says of itself.
 *
 * Each reads any UUID and returns NULL where the field does not exist in it;
 * none raises an error, so all of them are leakproof.
 */
#include "uuid9562.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/inet.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_extract_version);
PG_FUNCTION_INFO_V1(uuid9562_uuid_extract_variant);
PG_FUNCTION_INFO_V1(uuid9562_uuid_extract_timestamp);
PG_FUNCTION_INFO_V1(uuid9562_uuid_extract_clock_seq);
PG_FUNCTION_INFO_V1(uuid9562_uuid_extract_node);
PG_FUNCTION_INFO_V1(uuid9562_uuidv1_timestamp);
PG_FUNCTION_INFO_V1(uuid9562_uuidv6_timestamp);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_timestamp);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_timestamp_micros);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_timestamp);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_id);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_timestamp);
PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_timestamp_micros);
PG_FUNCTION_INFO_V1(uuid9562_uuid_inspect);

static const NullableDatum null_datum = {0, true};

static inline NullableDatum
not_null(Datum value)
{
	NullableDatum result = {value, false};

	return result;
}

static inline Datum
return_nullable(FunctionCallInfo fcinfo, NullableDatum result)
{
	fcinfo->isnull = result.isnull;
	return result.value;
}

/* The version, or NULL where the variant is not RFC 9562's (4.2). */
static NullableDatum
version_of(const pg_uuid_t *uuid)
{
	int			version = uuid_layout_version(uuid->data);

	return version < 0 ? null_datum : not_null(Int16GetDatum(version));
}

/* The name of the variant (4.1). */
static const char *
variant_name(const pg_uuid_t *uuid)
{
	switch (uuid_layout_variant(uuid->data))
	{
		case UUID_VARIANT_NCS:
			return "ncs";
		case UUID_VARIANT_RFC9562:
			return "rfc9562";
		case UUID_VARIANT_MICROSOFT:
			return "microsoft";
		case UUID_VARIANT_RESERVED:
			break;
	}
	return "reserved";
}

/*
 * The timestamp of a UUID of that version, whose time field is that of the version
 * clock; NULL for any other version.
 */
static inline NullableDatum
timestamp_by_clock(const pg_uuid_t *uuid, int version, int clock)
{
	if (uuid_layout_version(uuid->data) != version)
		return null_datum;
	return not_null(TimestampTzGetDatum(uuid_timestamp(clock, uuid)));
}

/* The timestamp in the unit of that version; NULL for any other version. */
static inline NullableDatum
timestamp_of_version(const pg_uuid_t *uuid, int version)
{
	return timestamp_by_clock(uuid, version, version);
}

/*
 * The timestamp with the 12 bits after v7's milliseconds read as a fraction of
 * one; NULL for any other version.
 */
static inline NullableDatum
timestamp_micros_of_version(const pg_uuid_t *uuid, int version)
{
	UuidPayload payload;

	if (uuid_layout_version(uuid->data) != version)
		return null_datum;
	payload = uuid_layout_unpack(uuid->data, version);
	return not_null(TimestampTzGetDatum(unix_micros_to_timestamptz(uuid_clock_v7_unix_micros(payload.time))));
}

/* The timestamp of the versions whose time RFC 9562 defines: 1, 6 and 7. */
static NullableDatum
timestamp_of(const pg_uuid_t *uuid)
{
	switch (uuid_layout_version(uuid->data))
	{
		case 1:
			return timestamp_of_version(uuid, 1);
		case 6:
			return timestamp_of_version(uuid, 6);
		case 7:
			return timestamp_of_version(uuid, 7);
		default:
			return null_datum;
	}
}

/* Does it have a clock sequence and a node: is it v1 or v6 (5.1, 5.6)? */
static bool
has_node(const pg_uuid_t *uuid)
{
	int			version = uuid_layout_version(uuid->data);

	return version == 1 || version == 6;
}

static NullableDatum
clock_seq_of(const pg_uuid_t *uuid)
{
	if (!has_node(uuid))
		return null_datum;
	return not_null(Int32GetDatum(uuid_layout_clock_seq(uuid_layout_unpack(uuid->data, 6))));
}

static NullableDatum
node_of(const pg_uuid_t *uuid)
{
	macaddr    *node;

	StaticAssertStmt(sizeof(macaddr) == UUID_NODE_OCTETS, "a MAC address is six octets");

	if (!has_node(uuid))
		return null_datum;
	node = (macaddr *) palloc(sizeof(macaddr));
	uuid_layout_node_octets(uuid_layout_unpack(uuid->data, 6), (uint8 *) node);
	return not_null(MacaddrPGetDatum(node));
}

/*
 * uuid_extract_version(uuid) returns smallint
 *
 * 0 to 15; NULL where the variant is not RFC 9562's (4.2).
 */
Datum
uuid9562_uuid_extract_version(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, version_of(PG_GETARG_UUID_P(0)));
}

/*
 * uuid_extract_variant(uuid) returns text
 *
 * ncs, rfc9562, microsoft or reserved (4.1, table 1).
 */
Datum
uuid9562_uuid_extract_variant(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(variant_name(PG_GETARG_UUID_P(0))));
}

/*
 * uuid_extract_timestamp(uuid) returns timestamptz
 *
 * v1 and v6 to the microsecond, v7 to the millisecond; NULL for the rest.
 */
Datum
uuid9562_uuid_extract_timestamp(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_of(PG_GETARG_UUID_P(0)));
}

/*
 * uuid_extract_clock_seq(uuid) returns integer
 *
 * 0 to 16383 for v1 and v6; NULL for the rest (5.1, 5.6).
 */
Datum
uuid9562_uuid_extract_clock_seq(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, clock_seq_of(PG_GETARG_UUID_P(0)));
}

/*
 * uuid_extract_node(uuid) returns macaddr
 *
 * For v1 and v6; NULL for the rest (5.1, 5.6).
 */
Datum
uuid9562_uuid_extract_node(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, node_of(PG_GETARG_UUID_P(0)));
}

/* uuidv1_timestamp(uuid) returns timestamptz: NULL for another version. */
Datum
uuid9562_uuidv1_timestamp(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_of_version(PG_GETARG_UUID_P(0), 1));
}

/* uuidv6_timestamp(uuid) returns timestamptz: NULL for another version. */
Datum
uuid9562_uuidv6_timestamp(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_of_version(PG_GETARG_UUID_P(0), 6));
}

/*
 * uuidv7_timestamp(uuid) returns timestamptz
 *
 * To the millisecond; NULL for another version (5.7).
 */
Datum
uuid9562_uuidv7_timestamp(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_of_version(PG_GETARG_UUID_P(0), 7));
}

/*
 * uuidv7_timestamp_micros(uuid) returns timestamptz
 *
 * With rand_a read as a fraction of the millisecond, for UUIDs made by method
 * 3 (6.2); NULL for another version.
 */
Datum
uuid9562_uuidv7_timestamp_micros(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_micros_of_version(PG_GETARG_UUID_P(0), 7));
}

/*
 * uuidv8_timestamp(uuid) returns timestamptz
 *
 * Read as appendix B.1, 10 ns since 1970-01-01, whatever made the UUID; NULL
 * for another version.
 */
Datum
uuid9562_uuidv8_timestamp(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_of_version(PG_GETARG_UUID_P(0), 8));
}

/*
 * uuidv8_node_id(uuid) returns integer
 *
 * The 16 bits where uuidv8_node() puts the node id, whatever made the UUID;
 * NULL for another version.
 */
Datum
uuid9562_uuidv8_node_id(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = PG_GETARG_UUID_P(0);

	if (uuid_layout_version(uuid->data) != 8)
		PG_RETURN_NULL();
	PG_RETURN_INT32(uuid_layout_node_id(uuid_layout_unpack(uuid->data, 8)));
}

/*
 * uuidv8_node_timestamp(uuid) returns timestamptz
 *
 * Read as uuidv8_node() writes it, to the millisecond, whatever made the UUID;
 * NULL for another version.
 */
Datum
uuid9562_uuidv8_node_timestamp(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_by_clock(PG_GETARG_UUID_P(0), uuid_kind_v8_node.version,
													  uuid_kind_v8_node.clock));
}

/*
 * uuidv8_node_timestamp_micros(uuid) returns timestamptz
 *
 * The same to the microsecond: all of uuidv8_node() are made by method 3 (6.2).
 */
Datum
uuid9562_uuidv8_node_timestamp_micros(PG_FUNCTION_ARGS)
{
	return return_nullable(fcinfo, timestamp_micros_of_version(PG_GETARG_UUID_P(0), uuid_kind_v8_node.version));
}

/*
 * uuid_inspect(uuid) returns (variant text, version smallint,
 * timestamp timestamptz, clock_seq integer, node macaddr)
 *
 * All of the above in one row.
 */
Datum
uuid9562_uuid_inspect(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = PG_GETARG_UUID_P(0);
	NullableDatum fields[5];
	Datum		values[lengthof(fields)];
	bool		nulls[lengthof(fields)];
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	tupdesc = BlessTupleDesc(tupdesc);

	fields[0] = not_null(CStringGetTextDatum(variant_name(uuid)));
	fields[1] = version_of(uuid);
	fields[2] = timestamp_of(uuid);
	fields[3] = clock_seq_of(uuid);
	fields[4] = node_of(uuid);
	for (size_t i = 0; i < lengthof(fields); i++)
	{
		values[i] = fields[i].value;
		nulls[i] = fields[i].isnull;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls)));
}
