/*
 * kind.h
 *		The kinds of time-based UUIDs.
 *
 * The table uuid_kinds describes how v1, v6, v7, v8, and v8 with a node ID differ.
 */
#ifndef UUID9562_CORE_KIND_H
#define UUID9562_CORE_KIND_H

#include "clock.h"

/* Number of each kind: its index in uuid_kinds, and in the array of a session's generators */
enum UuidKindNumber
{
	UUID_KIND_V1,
	UUID_KIND_V6,
	UUID_KIND_V7,
	UUID_KIND_V8,				/* appendix B.1 */
	UUID_KIND_V8_NODE,			/* time of v7, and a node ID (6.4) */
	UUID_KIND_COUNT
};

typedef struct UuidKind
{
	int			number;			/* enum UuidKindNumber */
	int			version;		/* of the UUID */
	UuidClock	clock;			/* of the time field */
} UuidKind;

/*
 * This table is in the header so that the compiler can use its values as constants.  Each file has
 * its own copy, so compare the numbers of kinds, not their addresses.
 */
static const UuidKind uuid_kinds[UUID_KIND_COUNT] = {
	[UUID_KIND_V1] = {UUID_KIND_V1, 1, UUID_CLOCK_GREGORIAN},
	[UUID_KIND_V6] = {UUID_KIND_V6, 6, UUID_CLOCK_GREGORIAN},
	[UUID_KIND_V7] = {UUID_KIND_V7, 7, UUID_CLOCK_V7},
	[UUID_KIND_V8] = {UUID_KIND_V8, 8, UUID_CLOCK_V8},
	[UUID_KIND_V8_NODE] = {UUID_KIND_V8_NODE, 8, UUID_CLOCK_V7},
};

#define UUID_V1			(&uuid_kinds[UUID_KIND_V1])
#define UUID_V6			(&uuid_kinds[UUID_KIND_V6])
#define UUID_V7			(&uuid_kinds[UUID_KIND_V7])
#define UUID_V8			(&uuid_kinds[UUID_KIND_V8])
#define UUID_V8_NODE	(&uuid_kinds[UUID_KIND_V8_NODE])

#endif							/* UUID9562_CORE_KIND_H */
