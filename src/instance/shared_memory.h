/*
 * shared_memory.h
 *		The memory that all sessions of the instance share.
 */
#ifndef UUID9562_SHARED_H
#define UUID9562_SHARED_H

#include "runtime/runtime.h"
#include "settings.h"
#include "value/value.h"

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
	uint64		reported;		/* the time last reported as ahead of the
								 * clock */
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

/* What pg_stat_activity says of a session that waits for the mark. */
#define MARK_WAIT_EVENT		"Uuid9562Mark"

/* Whoever has called uuid9562_instance() may use it from then on. */
extern InstanceState *uuid9562_shared;

extern void uuid9562_shared_init(void);
extern bool uuid9562_shared_available(void);
extern InstanceState *uuid9562_instance(void);

#endif							/* UUID9562_SHARED_H */
