/*
 * locks.c
 *		What it costs to share a generator: the same steps under a spinlock, under
 *		an LWLock, by compare-and-swap, and not shared at all.
 *
 * For scripts/bench; loaded by its path on a throwaway server, and nothing of it
 * is installed.  Each function takes n steps of method fraction and returns a
 * bit of the last.  They differ in what guards the step.  The random bits are of
 * a cheap source, the same for all.
 */
#include "postgres.h"

#include <time.h>

#include "fmgr.h"
#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/spin.h"

#include "../src/core/clock.h"
#include "../src/core/generator.h"

PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(locks_none);
PG_FUNCTION_INFO_V1(locks_spinlock);
PG_FUNCTION_INFO_V1(locks_lwlock);
PG_FUNCTION_INFO_V1(locks_swap);

#define NAME	"uuid9562 bench"

/* What the extension keeps of a generator, or the same packed in a word. */
typedef struct Generator
{
	UuidPayload previous;
	uint64		generated;
	uint64		limit;
} Generator;

typedef struct Shared
{
	slock_t		spinlock;
	Generator	by_spinlock;
	char		pad1[PG_CACHE_LINE_SIZE];
	LWLock		lwlock;
	Generator	by_lwlock;
	char		pad2[PG_CACHE_LINE_SIZE];
	pg_atomic_uint64 time_and_counter;
	pg_atomic_uint64 limit;
} Shared;

static Shared *shared;
static Generator own = {{0, 0}, 0, UUID_TIME_MAX};
static uint64 cheap_state = 1;
static shmem_request_hook_type previous_request_hook;
static shmem_startup_hook_type previous_startup_hook;

void		_PG_init(void);

static void
request(void)
{
	if (previous_request_hook)
		previous_request_hook();
	RequestAddinShmemSpace(sizeof(Shared));
}

static void
start(void)
{
	bool		found;

	if (previous_startup_hook)
		previous_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	shared = ShmemInitStruct(NAME, sizeof(Shared), &found);
	if (!found)
	{
		memset(shared, 0, sizeof(Shared));
		SpinLockInit(&shared->spinlock);
#if PG_VERSION_NUM >= 190000
		LWLockInitialize(&shared->lwlock, LWLockNewTrancheId(NAME));
#else
		LWLockInitialize(&shared->lwlock, LWLockNewTrancheId());
#endif
		shared->by_spinlock.limit = UUID_TIME_MAX;
		shared->by_lwlock.limit = UUID_TIME_MAX;
		pg_atomic_init_u64(&shared->time_and_counter, 0);
		pg_atomic_init_u64(&shared->limit, UUID_TIME_MAX);
	}
	LWLockRelease(AddinShmemInitLock);
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request_hook = shmem_request_hook;
	shmem_request_hook = request;
	previous_startup_hook = shmem_startup_hook;
	shmem_startup_hook = start;
}

static inline uint64
clock_now(void)
{
	struct timespec now;
	uint64_t	ticks;

	if (clock_gettime(CLOCK_REALTIME, &now) != 0 ||
		!uuid_clock_ticks(UUID_CLOCK_V7, now.tv_sec, now.tv_nsec, &ticks))
		elog(ERROR, "no clock");
	return ticks;
}

/* xorshift64 */
static inline UuidRandom
cheap_random(void)
{
	UuidRandom	random = {0, 0};

	cheap_state ^= cheap_state << 13;
	cheap_state ^= cheap_state >> 7;
	cheap_state ^= cheap_state << 17;
	random.tail = cheap_state;
	return random;
}

static inline UuidPayload
step(Generator *generator, uint64 now, UuidRandom random)
{
	UuidPayload payload = generator->previous;

	(void) uuid_generator_next(&payload, now, random, UUID_METHOD_FRACTION);
	if (payload.time < generator->limit)
	{
		generator->previous = payload;
		generator->generated++;
	}
	return payload;
}

Datum
locks_none(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(0);
	UuidPayload payload = {0, 0};

	for (int i = 0; i < n; i++)
		payload = step(&own, clock_now(), cheap_random());
	PG_RETURN_INT32(payload.tail & 1);
}

Datum
locks_spinlock(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(0);
	UuidPayload payload = {0, 0};

	for (int i = 0; i < n; i++)
	{
		uint64		now = clock_now();
		UuidRandom	random = cheap_random();

		SpinLockAcquire(&shared->spinlock);
		payload = step(&shared->by_spinlock, now, random);
		SpinLockRelease(&shared->spinlock);
	}
	PG_RETURN_INT32(payload.tail & 1);
}

Datum
locks_lwlock(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(0);
	UuidPayload payload = {0, 0};

	for (int i = 0; i < n; i++)
	{
		uint64		now = clock_now();
		UuidRandom	random = cheap_random();

		LWLockAcquire(&shared->lwlock, LW_EXCLUSIVE);
		payload = step(&shared->by_lwlock, now, random);
		LWLockRelease(&shared->lwlock);
	}
	PG_RETURN_INT32(payload.tail & 1);
}

/*
 * 60 bits of time and 4 of counter are one word, and a counter that is full
 * carries into the next tick.  Nothing is counted: that would be a second atomic
 * operation, which is in favour of this way.
 */
Datum
locks_swap(PG_FUNCTION_ARGS)
{
	int32		n = PG_GETARG_INT32(0);
	UuidPayload payload = {0, 0};

	for (int i = 0; i < n; i++)
	{
		uint64		now = clock_now();
		UuidRandom	random = cheap_random();
		uint64		fresh = now << UUID_COUNTER_BITS | (random.tail & 7);
		uint64		previous = pg_atomic_read_u64(&shared->time_and_counter);
		uint64		next;

		do
			next = now > previous >> UUID_COUNTER_BITS ? fresh : previous + 1;
		while (!pg_atomic_compare_exchange_u64(&shared->time_and_counter, &previous, next));
		if (next >> UUID_COUNTER_BITS >= pg_atomic_read_u64(&shared->limit))
			elog(ERROR, "no more values");
		payload.time = next >> UUID_COUNTER_BITS;
		payload.tail = (next & 15) << UUID_COUNTER_SHIFT | (random.tail & UUID_RANDOM_MAX);
	}
	PG_RETURN_INT32(payload.tail & 1);
}
