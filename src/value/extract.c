/*
 * extract.c
 *		Extraction of the fields of a UUID.
 *
 * The functions with a uuid argument, except uuidv7_ordinal(), accept any UUID, and return NULL
 * if it does not have the field.  They raise no error about the UUID, so they are leakproof.
 */
#include "value/value.h"

#include "utils/builtins.h"
#include "utils/inet.h"

#include "core/generator.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_inspect);
PG_FUNCTION_INFO_V1(uuid9562_uuid_is_v7);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_ordinal);

/* Return a field of a UUID, or set *isnull if the UUID does not have the field. */
typedef Datum (*FieldFunction) (const pg_uuid_t *uuid, bool *isnull);

/* Return the version.  It is NULL if the variant is not that of RFC 9562 (4.2). */
static Datum
version_of(const pg_uuid_t *uuid, bool *isnull)
{
	int			version = uuid_layout_version(uuid->data);

	*isnull = version < 0;
	return Int16GetDatum(version);
}

/* Return the name of the variant (RFC 9562, 4.1, table 1). */
static Datum
variant_of(const pg_uuid_t *uuid, bool *isnull)
{
	static const char *const names[] = {
		[UUID_VARIANT_NCS] = "ncs",
		[UUID_VARIANT_RFC9562] = "rfc9562",
		[UUID_VARIANT_MICROSOFT] = "microsoft",
		[UUID_VARIANT_RESERVED] = "reserved",
	};

	*isnull = false;
	return CStringGetTextDatum(names[uuid_layout_variant(uuid->data)]);
}

/*
 * Return the timestamp.  With micros, which only v7 supports, read the 12 bits after the
 * milliseconds as a fraction of a millisecond, as method 3 (RFC 9562, 6.2) writes them.
 */
static pg_attribute_always_inline Datum
timestamp_of_kind(const pg_uuid_t *uuid, const UuidKind *kind, bool micros)
{
	uint64		ticks = uuid_layout_unpack(uuid->data, kind->version).time;

	Assert(!micros || kind->clock == UUID_CLOCK_V7);
	return micros ?
		TimestampTzGetDatum(unix_micros_to_timestamptz(uuid_clock_v7_unix_micros(ticks))) :
		ticks_timestamptz_datum(kind->clock, ticks);
}

/* Return the timestamp.  It is NULL if RFC 9562 does not define one for the version. */
static Datum
timestamp_of(const pg_uuid_t *uuid, bool *isnull)
{
	*isnull = false;
	switch (uuid_layout_version(uuid->data))
	{
		case 1:
			return timestamp_of_kind(uuid, UUID_V1, false);
		case 6:
			return timestamp_of_kind(uuid, UUID_V6, false);
		case 7:
			return timestamp_of_kind(uuid, UUID_V7, false);
		default:
			*isnull = true;
			return (Datum) 0;
	}
}

/* Check for a clock sequence and a node, which v1 and v6 have in the same bits (5.1 and 5.6). */
static bool
has_node(const pg_uuid_t *uuid)
{
	int			version = uuid_layout_version(uuid->data);

	return version == 1 || version == 6;
}

static Datum
clock_seq_of(const pg_uuid_t *uuid, bool *isnull)
{
	*isnull = !has_node(uuid);
	return Int32GetDatum(uuid_layout_clock_seq(uuid_layout_unpack(uuid->data, 6)));
}

static Datum
node_of(const pg_uuid_t *uuid, bool *isnull)
{
	macaddr    *node = (macaddr *) palloc(sizeof(macaddr));

	StaticAssertStmt(sizeof(macaddr) == UUID_NODE_BYTES, "a MAC address has six bytes");

	*isnull = !has_node(uuid);
	uuid_layout_node_bytes(uuid_layout_unpack(uuid->data, 6), (uint8 *) node);
	return MacaddrPGetDatum(node);
}

/* Return the 16 bits in which uuidv8_node() stores the node ID, or NULL if the version is not 8. */
static Datum
node_id_of(const pg_uuid_t *uuid, bool *isnull)
{
	*isnull = uuid_layout_version(uuid->data) != 8;
	return Int32GetDatum(uuid_layout_node_id(uuid_layout_unpack(uuid->data, 8)));
}

/*
 * uuid_extract_version(uuid) returns smallint
 * uuid_extract_timestamp(uuid) returns timestamptz
 * uuidv8_node_id(uuid) returns integer
 */
static pg_attribute_always_inline Datum
extract(FunctionCallInfo fcinfo, FieldFunction field_of)
{
	return field_of(PG_GETARG_UUID_P(0), &fcinfo->isnull);
}

SQL_FUNCTION(uuid9562_uuid_extract_version, extract, version_of)
SQL_FUNCTION(uuid9562_uuid_extract_timestamp, extract, timestamp_of)
SQL_FUNCTION(uuid9562_uuidv8_node_id, extract, node_id_of)

/*
 * uuid_is_v7(uuid) returns boolean
 *
 * Period conditions need this check, since UUIDs of other versions can be between the bounds.
 */
Datum
uuid9562_uuid_is_v7(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(uuid_layout_version(PG_GETARG_UUID_P(0)->data) == 7);
}

/*
 * uuidv6_timestamp(uuid) returns timestamptz; the same for v7, v8 and v8_node
 * uuidv7_timestamp_micros(uuid) returns timestamptz
 *
 * Return the timestamp, or NULL if the UUID has another version (RFC 9562, 5.6 and 5.7).  The
 * precision is a millisecond in v7 without micros and in v8 with a node ID, and otherwise a
 * microsecond.
 *
 * The bits of a v8 UUID do not show its layout.  So uuidv8_timestamp() assumes the layout of
 * appendix B.1, and the functions for v8_node assume the layout of uuidv8_node().
 */
static pg_attribute_always_inline Datum
kind_timestamp(FunctionCallInfo fcinfo, const UuidKind *kind, bool micros)
{
	const pg_uuid_t *uuid = PG_GETARG_UUID_P(0);

	if (uuid_layout_version(uuid->data) != kind->version)
		PG_RETURN_NULL();
	return timestamp_of_kind(uuid, kind, micros);
}

SQL_FUNCTION(uuid9562_uuidv6_timestamp, kind_timestamp, UUID_V6, false)
SQL_FUNCTION(uuid9562_uuidv7_timestamp, kind_timestamp, UUID_V7, false)
SQL_FUNCTION(uuid9562_uuidv8_timestamp, kind_timestamp, UUID_V8, false)
SQL_FUNCTION(uuid9562_uuidv8_node_timestamp, kind_timestamp, UUID_V8_NODE, false)
SQL_FUNCTION(uuid9562_uuidv7_timestamp_micros, kind_timestamp, UUID_V7, true)

/*
 * uuidv7_ordinal(uuid) returns bigint
 *
 * Return (milliseconds << 16) | (12 bits of fraction << 4) | (4 bits of counter).  For values
 * of uuidv7_ordered(), the results are distinct and sort as the values do, until the generator is
 * reset.  They fit into bigint until the year 6429.  Raise an error for later UUIDs, and for other
 * versions.
 */
Datum
uuid9562_uuidv7_ordinal(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *uuid = PG_GETARG_UUID_P(0);
	uint64		ordinal = uuid_payload_ordinal(uuid_layout_unpack(uuid->data, 7));

	if (unlikely(uuid_layout_version(uuid->data) != 7))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("UUID %s has no ordinal", uuid_string(uuid)),
				 errdetail("Only version 7 UUIDs have an ordinal."),
				 errhint("Test the ID with uuid_is_v7() first.")));
	if (unlikely(ordinal > PG_INT64_MAX))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("ordinal of UUID %s is out of range for type bigint", uuid_string(uuid)),
				 errdetail("UUIDs have ordinals until the year 6429.")));
	PG_RETURN_INT64((int64) ordinal);
}

/*
 * uuid_inspect(uuid) returns (variant text, version smallint,
 * timestamp timestamptz, clock_seq integer, node macaddr)
 */
Datum
uuid9562_uuid_inspect(PG_FUNCTION_ARGS)
{
	static const FieldFunction fields[] = {
		variant_of, version_of, timestamp_of, clock_seq_of, node_of
	};
	Datum		values[lengthof(fields)];
	bool		nulls[lengthof(fields)];

	for (size_t i = 0; i < lengthof(fields); i++)
		values[i] = fields[i] (PG_GETARG_UUID_P(0), &nulls[i]);
	return row_datum(fcinfo, values, nulls);
}
