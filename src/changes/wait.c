/*
 * wait.c
 *		changes_wait(): wait until a reader has something to read.
 *
 * A process that waits sleeps on the queue of its table.  A transaction that has written entries
 * wakes the queues of its tables after it has committed and no longer holds the horizon.  If a
 * process has seen an entry above the horizon, another transaction holds the horizon, so the
 * process sleeps on the queue of the horizon, which each transaction with ordered IDs wakes.  A
 * transaction finds out by an atomic number whether a queue has waiters, so nobody pays for an
 * empty queue.
 *
 * No wakeup is lost.  The process prepares to sleep, looks with a new snapshot, and then sleeps.
 * If the snapshot does not see a transaction as finished, this transaction looks for waiters
 * later.  The look can cancel the prepared sleep, for example if it waits for I/O of a buffer.
 * Then ConditionVariableTimedSleep() prepares again and returns at once, so it looks again.
 *
 * While the process sleeps, it has no snapshot and no lock of the table.
 */
#include "changes/changes.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "pgstat.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "ordered/ordered.h"

PG_FUNCTION_INFO_V1(uuid9562_changes_wait);

#define FUNCTION		"changes_wait"
#define LOOK_MS			1000	/* some changes wake nobody, such as those of
								 * columns */
#define LOOK_PREPARED_MS	100 /* and neither does COMMIT PREPARED */

/* What a look has found */
typedef enum
{
	LOOK_EMPTY,
	LOOK_PAGE,					/* changes_read() returns rows */
	LOOK_HELD,					/* only entries above the horizon */
	LOOK_HELD_BY_PREPARED
} Look;

/* --- waiting ---------------------------------------------------------------------- */

/* Start to wait in a queue, before a look.  The atomic operation is a full barrier. */
static void
add_waiter(int number)
{
	GuestQueue *queue = &uuid9562_guest_memory()->queues[number];

	pg_atomic_fetch_add_u32(&queue->waiters, 1);
	ConditionVariablePrepareToSleep(&queue->condition);
}

/* Stop waiting in a queue; also a callback for errors and the end of the process. */
static void
remove_waiter(int code, Datum number)
{
	ConditionVariableCancelSleep();
	pg_atomic_fetch_sub_u32(&uuid9562_guest_memory()->queues[DatumGetInt32(number)].waiters, 1);
}

/*
 * Look for a page, in a snapshot and transaction of its own.  The transaction commits, because it
 * can have renewed states and collected keys.
 */
static Look
look(const PageRequest *request)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "uuid9562 look",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	ReaderState *reader = palloc(sizeof(ReaderState));
	Relation	rel = uuid9562_open_source(request->relid);
	PageStart	start;
	UuidReaderId first;
	Source	   *source;
	Look		result = LOOK_EMPTY;

	uuid9562_load_reader(reader, request->reader, request->relid);
	uuid9562_check_reader_role(reader);
	PushActiveSnapshot(GetLatestSnapshot());
	source = uuid9562_verify_source(rel, uuid9562_snapshot_branch(FUNCTION));
	start = uuid9562_start_page(request, reader, source);
	if (start.is_reset)
		result = LOOK_PAGE;
	else if (uuid9562_count_entries(request->relid, start.after, 1, &first) > 0)
		result = !uuid_reader_id_less(start.horizon, first) ? LOOK_PAGE :
			uuid9562_is_held_by_prepared() ? LOOK_HELD_BY_PREPARED : LOOK_HELD;
	PopActiveSnapshot();
	table_close(rel, NoLock);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	SPI_commit();
	return result;
}

/*
 * Prepare to sleep in a queue, look, and sleep, for a number of milliseconds at most.  Return
 * what the look has found.  The process does not sleep if this is a page, or if it must wait in
 * another queue.
 */
static Look
look_and_sleep(const PageRequest *request, int number, long milliseconds)
{
	static uint32 wait_event;
	GuestQueue *queue = &uuid9562_guest_memory()->queues[number];
	Look		found;

	if (wait_event == 0)
		wait_event = new_wait_event("Uuid9562ChangesWait");
	add_waiter(number);
	PG_ENSURE_ERROR_CLEANUP(remove_waiter, Int32GetDatum(number));
	{
		found = look(request);
		/* the queue of the horizon is for those that saw an entry above it */
		if (found != LOOK_PAGE && milliseconds > 0 &&
			(found == LOOK_EMPTY) == (number != GUEST_HORIZON_QUEUE))
			(void) ConditionVariableTimedSleep(&queue->condition,
											   found == LOOK_HELD_BY_PREPARED ?
											   Min(milliseconds, LOOK_PREPARED_MS) :
											   Min(milliseconds, LOOK_MS), wait_event);
	}
	PG_END_ENSURE_ERROR_CLEANUP(remove_waiter, Int32GetDatum(number));
	remove_waiter(0, Int32GetDatum(number));
	CHECK_FOR_INTERRUPTS();
	return found;
}

/* --- procedure -------------------------------------------------------------------- */

static void
read_request(FunctionCallInfo fcinfo, PageRequest *request)
{
	memset(request, 0, sizeof(PageRequest));
	request->reader = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0));
	uuid9562_check_reader_name(request->reader);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 PG_ARGISNULL(1) ? errmsg("table must not be null") : errmsg("timeout must not be null")));
	request->relid = PG_GETARG_OID(1);
	uuid9562_read_after(request, PG_ARGISNULL(3) ? NULL : PG_GETARG_TEXT_PP(3));
}

static void
check_call(FunctionCallInfo fcinfo)
{
	const CallContext *context = (const CallContext *) fcinfo->context;

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot execute %s() during recovery", FUNCTION),
				 errhint("Execute it on the primary.")));
	if (context == NULL || !IsA(context, CallContext) || context->atomic)
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("cannot execute %s() in a transaction block", FUNCTION),
				 errhint("Execute it outside of BEGIN and COMMIT, with autocommit.")));
}

/*
 * changes_wait(reader text, source regclass, timeout interval, after text)
 *
 * Return when changes_read() has a page for the reader, or at the timeout.
 */
Datum
uuid9562_changes_wait(PG_FUNCTION_ARGS)
{
	const TimestampTz begin = GetCurrentTimestamp();
	PageRequest request;
	TimestampTz end;
	Look		found = LOOK_EMPTY;
	long		rest;

	check_call(fcinfo);
	read_request(fcinfo, &request);
	end = DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
												  TimestampTzGetDatum(begin),
												  PG_GETARG_DATUM(2)));
	if (SPI_connect_ext(SPI_OPT_NONATOMIC) != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect_ext failed");
	uuid9562_prepare_ordered();

	/*
	 * the first commit can register a callback for the end of the process,
	 * which must come before those of look_and_sleep()
	 */
	SPI_commit();
	do
	{
		rest = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), end);
		found = look_and_sleep(&request, found == LOOK_HELD ||
							   found == LOOK_HELD_BY_PREPARED ? GUEST_HORIZON_QUEUE :
							   uuid9562_wait_queue(request.relid), rest);
	} while (found != LOOK_PAGE && rest > 0);
	SPI_finish();
	PG_RETURN_VOID();
}
