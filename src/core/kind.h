/*
 * kind.h
 *		The kinds of UUIDs that are made of a time, one row each.
 *
 * Everything in which v1, v6, v7, v8 and our v8 with a node id differ is here.
 *
 * Plain C11: no PostgreSQL, no I/O.
 */
#ifndef UUID9562_KIND_H
#define UUID9562_KIND_H

#include "clock.h"

/* The number of a kind, and of the generator that makes its values. */
enum UuidKindNumber
{
	UUID_KIND_V1,
	UUID_KIND_V6,
	UUID_KIND_V7,
	UUID_KIND_V8,				/* appendix B.1 */
	UUID_KIND_V8_NODE			/* v7's time, and a node id (6.4) */
};

#define UUID_KIND_COUNT	(UUID_KIND_V8_NODE + 1)

/* Kinds that have an _ordered() function; their generators are in shared memory. */
#define UUID_ORDERED_COUNT	3
#define UUID_NOT_ORDERED	(-1)

typedef struct UuidKind
{
	int			number;			/* enum UuidKindNumber */
	const char *name;			/* of the SQL function that makes one */
	int			version;		/* in the octets of a value */
	UuidClock	clock;			/* of the time field */
	int			ordered;		/* index of its ordered generator, or
								 * UUID_NOT_ORDERED */
} UuidKind;

/* In a header, so that a row that is known costs nothing to look up. */
static const UuidKind uuid_kinds[UUID_KIND_COUNT] = {
	{UUID_KIND_V1, "uuidv1", 1, UUID_CLOCK_GREGORIAN, UUID_NOT_ORDERED},
	{UUID_KIND_V6, "uuidv6", 6, UUID_CLOCK_GREGORIAN, 0},
	{UUID_KIND_V7, "uuidv7", 7, UUID_CLOCK_V7, 1},
	{UUID_KIND_V8, "uuidv8", 8, UUID_CLOCK_V8, UUID_NOT_ORDERED},
	{UUID_KIND_V8_NODE, "uuidv8_node", 8, UUID_CLOCK_V7, 2},
};

#define UUID_V1			(&uuid_kinds[UUID_KIND_V1])
#define UUID_V6			(&uuid_kinds[UUID_KIND_V6])
#define UUID_V7			(&uuid_kinds[UUID_KIND_V7])
#define UUID_V8			(&uuid_kinds[UUID_KIND_V8])
#define UUID_V8_NODE	(&uuid_kinds[UUID_KIND_V8_NODE])

#endif							/* UUID9562_KIND_H */
