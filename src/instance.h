/*
 * instance.h
 *		The generators that all sessions of the instance share.
 */
#ifndef UUID9562_INSTANCE_H
#define UUID9562_INSTANCE_H

#include "session.h"

/* What the instance says of itself. */
typedef struct InstanceStatistics
{
	GeneratorState generators[UUID_KIND_COUNT];
	uint64		mark_writes;
	uint64		damaged_marks;
} InstanceStatistics;

extern int	uuid9562_max_ahead; /* seconds */

/* Told by the setting, and by the generators where the setting was not asked. */
#define NO_SHARED_MEMORY_MESSAGE \
	"uuid9562.monotonic_scope = instance has no shared memory"

extern UuidPayload uuid9562_instance_next(const UuidKind *kind, UuidMethod method,
										  uint64 now, UuidRandom random);
extern void uuid9562_instance_init(void);
extern bool uuid9562_instance_available(void);
extern char *uuid9562_preload_hint(void);
extern bool uuid9562_instance_statistics(InstanceStatistics *statistics);
extern void uuid9562_instance_reset(void);

#endif							/* UUID9562_INSTANCE_H */
