/*
 * after_commit.c
 *		What a transaction does for other processes after it has ended: it wakes those that wait in
 *		changes_wait(), and starts the worker that purges the log.
 *
 * The functions that do so must not raise an error, which would be a PANIC after the commit.
 */
#include "changes/changes.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "utils/timestamp.h"

#include "ordered/ordered.h"
#include "settings.h"

#define PAUSE_WRITE		USECS_PER_HOUR	/* between workers, if nobody confirms
										 * changes */
#define PAUSE_FAILED	USECS_PER_MINUTE	/* after which a worker has failed
											 * to begin */

static bool has_confirmed;		/* has this transaction confirmed changes? */
static bool has_written;		/* has it written entries? */

/* --- waking ----------------------------------------------------------------------- */

static uint64 queues_to_wake;	/* queues of the tables for which this
								 * transaction has written entries, as bits */

/* Return the number of the queue of a table. */
int
uuid9562_wait_queue(Oid source)
{
	StaticAssertStmt(GUEST_QUEUES == 64, "a queue is a bit");
	return hash_combine(hash_uint32(source), hash_uint32(MyDatabaseId)) % GUEST_QUEUES;
}

/* Wake the queue of a table after the transaction has committed. */
void
uuid9562_note_wake(Oid source)
{
	queues_to_wake |= UINT64_C(1) << uuid9562_wait_queue(source);
}

static void
wake(int number)
{
	GuestQueue *queue = &uuid9562_guest_memory()->queues[number];

	if (pg_atomic_read_u32(&queue->waiters) > 0)
		ConditionVariableBroadcast(&queue->condition);
}

/* Wake processes after a transaction has ended; see uuid9562_finish_hook. */
static void
wake_queues(void)
{
	uint64		queues = queues_to_wake;

	queues_to_wake = 0;

	/*
	 * first the end of the transaction, then the numbers of waiters; pairs
	 * with add_waiter()
	 */
	pg_memory_barrier();
	for (int i = 0; queues != 0; i++, queues >>= 1)
	{
		if (queues & 1)
			wake(i);
	}
	wake(GUEST_HORIZON_QUEUE);
}

void
uuid9562_waking_init(void)
{
	uuid9562_finish_hook = wake_queues;
}

/* --- starting a worker ------------------------------------------------------------ */

/* Register a worker.  Nothing is wrong if no slot for a worker is free. */
void
uuid9562_register_worker(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	snprintf(worker.bgw_name, BGW_MAXLEN, "uuid9562 purge worker of database %u", MyDatabaseId);
	strlcpy(worker.bgw_type, "uuid9562 purge worker", BGW_MAXLEN);
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "uuid9562", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name, "uuid9562_purge_worker", sizeof(worker.bgw_function_name));
	worker.bgw_main_arg = ObjectIdGetDatum(MyDatabaseId);
	(void) RegisterDynamicBackgroundWorker(&worker, NULL);
}

/*
 * Note that this transaction has confirmed changes or written entries.  Attach to shared memory
 * before the commit, because this can raise an error.
 */
void
uuid9562_note_purge(bool confirmed)
{
	uuid9562_prepare_ordered();
	has_confirmed |= confirmed;
	has_written |= !confirmed;
}

/* Return what processes know of the worker of this database. */
GuestWorker *
uuid9562_shared_worker(void)
{
	return &uuid9562_guest_memory()->workers[hash_uint32(MyDatabaseId) % GUEST_WORKERS];
}

/*
 * Register a worker, unless one is registered or running.  One that was registered long ago has
 * failed.
 */
void
uuid9562_request_worker(GuestWorker *worker)
{
	const uint64 now = (uint64) GetCurrentTimestamp();
	uint64		registered = pg_atomic_read_u64(&worker->registered);

	/* a later time is from before the clock was set back */
	if ((registered == 0 || registered > now || registered + PAUSE_FAILED < now) &&
		pg_atomic_compare_exchange_u64(&worker->registered, &registered, now))
		uuid9562_register_worker();
}

/*
 * After a transaction has committed, request a worker if it has confirmed changes or, rarely,
 * written entries.
 */
void
uuid9562_start_purging(void)
{
	const uint64 now = (uint64) GetCurrentTimestamp();
	GuestWorker *worker;
	uint64		begun;

	if ((!has_confirmed && !has_written) || !uuid9562_purge_worker_enabled ||
		!IsUnderPostmaster)
		return;
	worker = uuid9562_shared_worker();
	begun = pg_atomic_read_u64(&worker->begun);
	if (!has_confirmed && begun <= now && begun + PAUSE_WRITE > now)
		return;

	/*
	 * a full barrier: either this process or the worker that finishes sees
	 * what the other one has set
	 */
	pg_atomic_exchange_u64(&worker->requested, 1);
	uuid9562_request_worker(worker);
}

/* Forget what this transaction has noted, when it ends. */
void
uuid9562_forget_notes(void)
{
	has_confirmed = has_written = false;
}
