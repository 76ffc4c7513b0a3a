/*
 * uuid9562.h
 *		What the files of the module share.
 *
 * The SQL-facing files (generate, named, inspect, convert, constants,
 * timerange, statistics) check arguments, call the core and return a Datum;
 * every bit is the core's.  What the planner asks is answered in planner and
 * estimate.  What lives longer than a call is kept in state, what sessions
 * share in instance, and what outlives the server in mark.
 *
 * The C function of an SQL function f is uuid9562_f: PostgreSQL 17 and 18 have
 * C functions named like some of our SQL functions.
 */
#ifndef UUID9562_H
#define UUID9562_H

#include "postgres.h"

#include "common/int.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#include "core/clock.h"
#include "core/layout.h"

/* PostgreSQL 18 names it so, before the declaration. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

StaticAssertDecl(UUID_OCTETS == UUID_LEN, "a UUID has 16 octets on both sides");

/* Settings; see uuid9562.c. */
extern int	uuid9562_v7_method; /* UuidMethod */
extern UuidStamp uuid9562_node; /* the node of v1 and v6 */
extern int	uuid9562_node_id;	/* 0 to 65535, or UNSET_NODE_ID */

#define UNSET_NODE_ID	(-1)

/* Microseconds from 1970-01-01 to PostgreSQL's epoch, 2000-01-01. */
#define UNIX_EPOCH_OFFSET_USECS \
	((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY)

/* A timestamptz from microseconds since 1970-01-01, 1582 to 10889. */
static inline TimestampTz
unix_micros_to_timestamptz(int64 unix_micros)
{
	return unix_micros - UNIX_EPOCH_OFFSET_USECS;
}

/*
 * Microseconds since 1970-01-01 of a timestamptz.  The last 30 years that
 * timestamptz has, and infinity, become PG_INT64_MAX: beyond every field.
 */
static inline int64
timestamptz_to_unix_micros(TimestampTz timestamp)
{
	int64		unix_micros;

	if (pg_add_s64_overflow(timestamp, UNIX_EPOCH_OFFSET_USECS, &unix_micros))
		return PG_INT64_MAX;
	return unix_micros;
}

/*
 * UUIDs whose order is the order of their times: the version in their octets,
 * the version whose unit and epoch their time field has, and what the names of
 * their SQL functions begin with.
 */
typedef struct UuidKind
{
	int			version;
	int			clock;
	const char *name;
} UuidKind;

static const UuidKind uuid_kind_v6 = {6, 6, "uuidv6"};
static const UuidKind uuid_kind_v7 = {7, 7, "uuidv7"};
static const UuidKind uuid_kind_v8_node = {8, 7, "uuidv8_node"};

/*
 * The timestamp of a UUID whose time field is that of version 1, 6, 7 or 8
 * (B.1).
 */
static inline TimestampTz
uuid_timestamp(int clock, const pg_uuid_t *uuid)
{
	UuidPayload payload = uuid_layout_unpack(uuid->data, clock);

	return unix_micros_to_timestamptz(uuid_clock_unix_micros(clock, payload.time));
}

/* Space for the UUID that a function returns. */
static inline pg_uuid_t *
new_uuid(void)
{
	return (pg_uuid_t *) palloc(sizeof(pg_uuid_t));
}

/* A timestamptz that the time field cannot hold (RFC 9562, 6.1). */
pg_noreturn extern void uuid9562_timestamp_out_of_range(const UuidKind *kind);

/* Node ids of our version 8, checked; see generate.c. */
extern uint32 uuid9562_own_node_id(void);
extern uint32 uuid9562_given_node_id(int32 node_id);

/* Return the UUID of that version and payload. */
static inline Datum
return_uuid(int version, UuidPayload payload)
{
	pg_uuid_t  *uuid = new_uuid();

	uuid_layout_pack(uuid->data, version, payload);
	return UUIDPGetDatum(uuid);
}

#endif							/* UUID9562_H */
