/*
 * uuid9562.h
 *		What the files of the module share.
 *
 * The SQL-facing files (generate, named, inspect, convert, constants) check
 * arguments, call the core and return a Datum; every bit is the core's.  What
 * lives longer than a call is kept below them, in state.h.  The C function of an SQL function f is uuid9562_f: PostgreSQL 17
 * and 18 have C functions named like some of our SQL functions.
 */
#ifndef UUID9562_H
#define UUID9562_H

#include "postgres.h"

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

/* Space for the UUID that a function returns. */
static inline pg_uuid_t *
new_uuid(void)
{
	return (pg_uuid_t *) palloc(sizeof(pg_uuid_t));
}

/* Return the UUID of that version and payload. */
static inline Datum
return_uuid(int version, UuidPayload payload)
{
	pg_uuid_t  *uuid = new_uuid();

	uuid_layout_pack(uuid->data, version, payload);
	return UUIDPGetDatum(uuid);
}

#endif							/* UUID9562_H */
