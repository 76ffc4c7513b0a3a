/*
 * ordered.h
 *		The generators that all sessions of the instance share.
 */
#ifndef UUID9562_INSTANCE_H
#define UUID9562_INSTANCE_H

#include "instance/shared_memory.h"

extern void uuid9562_instance_load(void);
extern UuidPayload uuid9562_instance_next(const UuidKind *kind, UuidMethod method,
										  uint64 now, UuidRandom random);
extern void uuid9562_instance_advance(const UuidKind *kind, UuidPayload payload);
extern void uuid9562_instance_reset(void);

/* By how many seconds is a time of that kind ahead of another? */
static inline int64
seconds_ahead(const UuidKind *kind, uint64 time, uint64 other)
{
	return (uuid_clock_unix_micros(kind->clock, time) - uuid_clock_unix_micros(kind->clock, other)) / USECS_PER_SEC;
}

#endif							/* UUID9562_INSTANCE_H */
