/*
 * instance.h
 *		The generators that all sessions of the instance share.
 */
#ifndef UUID9562_INSTANCE_H
#define UUID9562_INSTANCE_H

#include "session.h"

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "storage/spin.h"

typedef struct SharedGenerator
{
	slock_t		lock;			/* for all that follows */
	GeneratorState state;
	uint64		limit;			/* only values of a lesser time are handed out */
	uint64		near;			/* from this time on the mark is moved on */
	uint64		reported;		/* the time last reported as ahead of the clock */
} SharedGenerator;

/* Each in cache lines of its own. */
typedef union PaddedGenerator
{
	SharedGenerator generator;
	char		pad[TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(SharedGenerator))];
} PaddedGenerator;

/* What the sessions share. */
typedef struct InstanceState
{
	PaddedGenerator generators[UUID_KIND_COUNT];
	pg_atomic_uint64 mark_writes;
	pg_atomic_uint64 damaged_marks;
	ConditionVariable mark_unlocked;
	int			tranche;
	LWLock		mark_lock;		/* for what follows, and the mark */
	bool		loaded;			/* was the mark read, since recovery? */
	TimestampTz failed_at;		/* when it could not be moved; 0 when it was */
} InstanceState;

/* Told by the setting, and by the generators where the setting was not asked. */
#define NO_SHARED_MEMORY_MESSAGE \
	"uuid9562.monotonic_scope = instance has no shared memory"
#define NO_SHARED_MEMORY_HINT \
	"Add uuid9562 to shared_preload_libraries, beside what it has already, and restart the server, or set uuid9562.monotonic_scope to session."

extern int	uuid9562_max_ahead; /* seconds */
extern bool uuid9562_preloaded; /* so all processes know the shared state */

extern void uuid9562_instance_init(void);
extern bool uuid9562_instance_available(void);
extern InstanceState *uuid9562_instance(void);
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
