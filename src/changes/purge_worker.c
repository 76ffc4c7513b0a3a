/*
 * purge_worker.c
 *		A background worker that purges the log, so that nobody has to wait for this.
 *
 * A transaction that confirms changes registers the worker after its commit, and so does one that
 * writes entries, but rarely.  No launcher and no preloading is necessary.  If no worker can be
 * registered, a later transaction does so.
 *
 * The worker sleeps before it connects to the database, and exits soon after: as long as a worker
 * is connected, DROP DATABASE fails, but it retries for five seconds.  If entries remain, the
 * worker registers its successor.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ordered/ordered.h"
#include "settings.h"

#define SLEEP_MS		5000	/* before connecting */
#define WORK_MS			3000	/* after connecting */
#define BATCH			10000	/* entries that are deleted in a transaction */

PGDLLEXPORT void uuid9562_purge_worker(Datum database);

/* --- the worker ------------------------------------------------------------------- */

/* Return the first OID of a table after another one in the log, or InvalidOid. */
static Oid
next_source(Oid after)
{
	ScanKeyData key;
	OwnScan		scan;
	HeapTuple	entry;
	Oid			source = InvalidOid;
	bool		isnull;

	ScanKeyInit(&key, LOG_SOURCE, BTGreaterStrategyNumber, F_OIDGT, ObjectIdGetDatum(after));
	scan = uuid9562_scan_own("log", AccessShareLock, 1, &key);
	entry = uuid9562_next_own(&scan, ForwardScanDirection);
	if (HeapTupleIsValid(entry))
		source = DatumGetObjectId(heap_getattr(entry, LOG_SOURCE, RelationGetDescr(scan.rel),
											   &isnull));
	uuid9562_end_own(&scan);
	return source;
}

/*
 * Purge entries of a table.  Return true if there can be more.  The active snapshot tells the
 * horizon.
 */
static bool
purge_batch(Oid source)
{
	/*
	 * before the triggers: later readers of a table that is tracked in the
	 * meantime begin above it
	 */
	UuidReaderId horizon = uuid9562_inclusive_horizon("changes_purge");
	TableTriggers triggers;

	uuid9562_scan_triggers(source, source, &triggers);
	if (triggers.roots > 0)
		return uuid9562_purge("changes_purge", source, Max(1, triggers.root.reader_expiry), 0,
							  BATCH) == BATCH;
	/* the table is gone, or not tracked any more */
	return uuid9562_lock_purge(source) &&
		uuid9562_delete_entries(source, uuid_reader_nothing, &horizon, BATCH) == BATCH;
}

/* Remove what is left of tables that have been dropped. */
static void
forget_gone_tables(void)
{
	const Purged purged = {uuid_reader_nothing, 0};
	List	   *gone = uuid9562_gone_sources();
	ListCell   *cell;

	foreach(cell, gone)
	{
		const Oid	source = lfirst_oid(cell);

		if (!uuid9562_lock_purge(source))
			continue;
		uuid9562_forget_states(source, false);
		uuid9562_remove_readers(source, false);
		uuid9562_store_purged(source, purged);
	}
}

static bool
time_is_over(TimestampTz begin)
{
	return TimestampDifferenceExceeds(begin, GetCurrentTimestamp(), WORK_MS);
}

/* Purge all tables, until the time is over.  Return true if entries can remain. */
static bool
purge_all(void)
{
	const TimestampTz begin = GetCurrentTimestamp();
	Oid			source = InvalidOid;
	bool		more = false;

	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		SetCurrentStatementStartTimestamp();
		StartTransactionCommand();
		PushActiveSnapshot(GetTransactionSnapshot());
		if (!OidIsValid(uuid9562_own_table("log")))
			source = InvalidOid;	/* the extension has been dropped */
		else
		{
			if (!more)
				source = next_source(source);
			if (OidIsValid(source))
				more = purge_batch(source);
			else
				forget_gone_tables();
		}
		PopActiveSnapshot();
		CommitTransactionCommand();
		if (!OidIsValid(source) || time_is_over(begin))
			return OidIsValid(source);
	}
}

/* Sleep.  If the worker shall end, it does so here. */
static void
sleep_before_connecting(void)
{
	const TimestampTz begin = GetCurrentTimestamp();

	while (!TimestampDifferenceExceeds(begin, GetCurrentTimestamp(), SLEEP_MS))
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 500,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		if (ShutdownRequestPending)
			proc_exit(0);
	}
}

/* Main function of the worker; the argument is the OID of the database. */
void
uuid9562_purge_worker(Datum database)
{
	GuestWorker *worker;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	sleep_before_connecting();
	pqsignal(SIGTERM, die);
	BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, 0);
	uuid9562_prepare_ordered();
	worker = uuid9562_shared_worker();
	pg_atomic_write_u64(&worker->begun, (uint64) GetCurrentTimestamp());

	/*
	 * a full barrier: whoever requests the worker before has committed before
	 * the first snapshot
	 */
	pg_atomic_exchange_u64(&worker->requested, 0);
	/* nobody waits for the WAL of this worker */
	SetConfigOption("synchronous_commit", "off", PGC_SUSET, PGC_S_OVERRIDE);
	pgstat_report_activity(STATE_RUNNING, "purging the log of uuid9562_changes");
	/* the setting can have been switched off after the request */
	if (!uuid9562_purge_worker_enabled)
		pg_atomic_exchange_u64(&worker->registered, 0);
	else if (purge_all() || pg_atomic_read_u64(&worker->requested) != 0)
	{
		pg_atomic_write_u64(&worker->registered, (uint64) GetCurrentTimestamp());
		uuid9562_register_worker();
	}
	else
	{
		pg_atomic_exchange_u64(&worker->registered, 0);
		if (pg_atomic_read_u64(&worker->requested) != 0)
			uuid9562_request_worker(worker);
	}
	proc_exit(0);
}
