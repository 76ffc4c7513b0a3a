/*
 * inspect.c
 *		Extraction of the fields of a UUID.
 *
 * The functions accept any UUID.  They return NULL if the UUID does not have the field.
 * Functions with a uuid argument raise no error about the UUID, so they are leakproof.
 */
#include "value/value.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/inet.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv8_node_id);
PG_FUNCTION_INFO_V1(uuid9562_uuid_inspect);

static const NullableDatum null_datum = {0, true};

static inline NullableDatum
not_null(Datum value)
{
	NullableDatum result = {value, false};

	return result;
}

/* Return the version, or NULL if the variant is not that of RFC 9562 (4.2). */
static NullableDatum
version_of(const pg_uuid_t *uuid)
{
	int			version = uuid_layout_version(uuid->data);

	return version < 0 ? null_datum : not_null(Int16GetDatum(version));
}

/* Return the name of the variant (RFC 9562, 4.1, table 1). */
static NullableDatum
variant_of(const pg_uuid_t *uuid)
{
	static const char *const names[] = {
		[UUID_VARIANT_NCS] = "ncs",
		[UUID_VARIANT_RFC9562] = "rfc9562",
		[UUID_VARIANT_MICROSOFT] = "microsoft",
		[UUID_VARIANT_RESERVED] = "reserved",
	};

	return not_null(CStringGetTextDatum(names[uuid_layout_variant(uuid->data)]));
}

/* Return the timestamp of a UUID.  "micros", for v7's clock only, adds the microseconds. */
static pg_attribute_always_inline Datum
timestamp_of_kind(const pg_uuid_t *uuid, const UuidKind *kind, bool micros)
{
	uint64		ticks = uuid_layout_unpack(uuid->data, kind->version).time;
	int64		unix_micros = micros ? uuid_clock_v7_unix_micros(ticks) : uuid_clock_unix_micros(kind->clock, ticks);

	return TimestampTzGetDatum(unix_micros_to_timestamptz(unix_micros));
}

/* Return the timestamp, or NULL if RFC 9562 does not define one for the version. */
static NullableDatum
timestamp_of(const pg_uuid_t *uuid)
{
	switch (uuid_layout_version(uuid->data))
	{
		case 1:
			return not_null(timestamp_of_kind(uuid, UUID_V1, false));
		case 6:
			return not_null(timestamp_of_kind(uuid, UUID_V6, false));
		case 7:
			return not_null(timestamp_of_kind(uuid, UUID_V7, false));
		default:
			return null_datum;
	}
}

/* Check whether the UUID has a clock sequence and a node (RFC 9562, 5.1 and 5.6). */
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

	StaticAssertStmt(sizeof(macaddr) == UUID_NODE_BYTES, "a MAC address has six bytes");

	if (!has_node(uuid))
		return null_datum;
	node = (macaddr *) palloc(sizeof(macaddr));
	uuid_layout_node_bytes(uuid_layout_unpack(uuid->data, 6), (uint8 *) node);
	return not_null(MacaddrPGetDatum(node));
}

/*
 * uuid_extract_version(uuid) returns smallint: 0 to 15; NULL if the variant is not
 * that of RFC 9562 (4.2)
 * uuid_extract_variant(uuid) returns text (4.1)
 * uuid_extract_timestamp(uuid) returns timestamptz: to the microsecond for v1 and v6,
 * to the millisecond for v7; NULL for other versions
 * uuid_extract_clock_seq(uuid) returns integer: 0 to 16383 for v1 and v6; NULL for
 * other versions (5.1 and 5.6)
 * uuid_extract_node(uuid) returns macaddr for v1 and v6; NULL for other versions
 */
static pg_attribute_always_inline Datum
extract(FunctionCallInfo fcinfo, NullableDatum (*field_of) (const pg_uuid_t *))
{
	NullableDatum result = field_of(PG_GETARG_UUID_P(0));

	fcinfo->isnull = result.isnull;
	return result.value;
}

SQL_FUNCTION(uuid9562_uuid_extract_version, extract, version_of)
SQL_FUNCTION(uuid9562_uuid_extract_variant, extract, variant_of)
SQL_FUNCTION(uuid9562_uuid_extract_timestamp, extract, timestamp_of)
SQL_FUNCTION(uuid9562_uuid_extract_clock_seq, extract, clock_seq_of)
SQL_FUNCTION(uuid9562_uuid_extract_node, extract, node_of)

/*
 * uuidv1_timestamp(uuid) returns timestamptz
 * uuidv6_timestamp(uuid) returns timestamptz
 * uuidv7_timestamp(uuid) returns timestamptz
 * uuidv8_timestamp(uuid) returns timestamptz
 * uuidv8_node_timestamp(uuid) returns timestamptz
 *
 * Return the timestamp, or NULL if the UUID has another version (RFC 9562, 5.1,
 * 5.6 and 5.7).  Its precision is a microsecond in v1, v6 and v8, and a millisecond in
 * v7 and v8 with a node ID.  The bits of a v8 UUID do not show its layout.  So
 * uuidv8_timestamp() assumes the layout of appendix B.1, and uuidv8_node_timestamp() the
 * layout of uuidv8_node().
 *
 * uuidv7_timestamp_micros(uuid) returns timestamptz
 * uuidv8_node_timestamp_micros(uuid) returns timestamptz
 *
 * Return the timestamp to the microsecond.  Read the 12 bits after the milliseconds as a
 * fraction of a millisecond, as method 3 (RFC 9562, 6.2) and uuidv8_node() write them.
 */
static pg_attribute_always_inline Datum
kind_timestamp(FunctionCallInfo fcinfo, const UuidKind *kind, bool micros)
{
	const pg_uuid_t *uuid = PG_GETARG_UUID_P(0);

	if (uuid_layout_version(uuid->data) != kind->version)
		PG_RETURN_NULL();
	return timestamp_of_kind(uuid, kind, micros);
}

SQL_FUNCTION(uuid9562_uuidv1_timestamp, kind_timestamp, UUID_V1, false)
SQL_FUNCTION(uuid9562_uuidv6_timestamp, kind_timestamp, UUID_V6, false)
SQL_FUNCTION(uuid9562_uuidv7_timestamp, kind_timestamp, UUID_V7, false)
SQL_FUNCTION(uuid9562_uuidv8_timestamp, kind_timestamp, UUID_V8, false)
SQL_FUNCTION(uuid9562_uuidv8_node_timestamp, kind_timestamp, UUID_V8_NODE, false)
SQL_FUNCTION(uuid9562_uuidv7_timestamp_micros, kind_timestamp, UUID_V7, true)
SQL_FUNCTION(uuid9562_uuidv8_node_timestamp_micros, kind_timestamp, UUID_V8_NODE, true)

/*
 * uuidv6_timestamp_from_text(text) returns timestamptz
 * uuidv7_timestamp_from_text(text) returns timestamptz
 * uuidv8_node_timestamp_from_text(text) returns timestamptz
 *
 * Return the timestamp of a UUID of the kind.  For any other UUID, return the timestamp
 * of the next smaller UUID of the kind, or of the kind's smallest UUID if there is none.
 * So results never decrease as UUIDs increase.  Partition managers call these functions
 * with the bounds of partitions, which they read as text.
 */
static Datum
kind_timestamp_from_text(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	char	   *string = text_to_cstring(PG_GETARG_TEXT_PP(0));
	pg_uuid_t  *uuid = DatumGetUUIDP(DirectFunctionCall1(uuid_in, CStringGetDatum(string)));
	uint64		time = uuid_layout_last_time(uuid->data, kind->version);

	PG_RETURN_TIMESTAMPTZ(unix_micros_to_timestamptz(uuid_clock_unix_micros(kind->clock, time)));
}

SQL_FUNCTION(uuid9562_uuidv6_timestamp_from_text, kind_timestamp_from_text, UUID_V6)
SQL_FUNCTION(uuid9562_uuidv7_timestamp_from_text, kind_timestamp_from_text, UUID_V7)
SQL_FUNCTION(uuid9562_uuidv8_node_timestamp_from_text, kind_timestamp_from_text, UUID_V8_NODE)

/*
 * uuid_is_v6(uuid) returns boolean
 * uuid_is_v7(uuid) returns boolean
 * uuid_is_v8(uuid) returns boolean
 *
 * Check whether the UUID has the version.  Period conditions need this check, since
 * UUIDs of other versions can be between the bounds.
 */
static Datum
uuid_is_version(FunctionCallInfo fcinfo, const UuidKind *kind)
{
	PG_RETURN_BOOL(uuid_layout_version(PG_GETARG_UUID_P(0)->data) == kind->version);
}

SQL_FUNCTION(uuid9562_uuid_is_v6, uuid_is_version, UUID_V6)
SQL_FUNCTION(uuid9562_uuid_is_v7, uuid_is_version, UUID_V7)
SQL_FUNCTION(uuid9562_uuid_is_v8, uuid_is_version, UUID_V8)

/*
 * uuidv8_node_id(uuid) returns integer
 *
 * Return the 16 bits in which uuidv8_node() stores the node ID, or NULL if the
 * UUID has another version.
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
 * uuid_inspect(uuid) returns (variant text, version smallint,
 * timestamp timestamptz, clock_seq integer, node macaddr)
 *
 * Return the fields in one row.
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

	fields[0] = variant_of(uuid);
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
