/*
 * transactions.c
 *		Simulated transactions and snapshots.  The functions take the same steps as PostgreSQL's
 *		own, in the same order.
 */
#include "server.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/uuid.h"

extern Datum uuid9562_uuidv7_ordered(PG_FUNCTION_ARGS);
extern Datum uuid9562_uuidv7_horizon(PG_FUNCTION_ARGS);
extern Datum uuid9562_uuidv7_position(PG_FUNCTION_ARGS);

#define MAX_CALLBACKS	4

/* What a backend knows about its transaction */
static struct
{
	int			transaction;	/* NO_TRANSACTION outside a transaction */
	bool		ending;			/* are the callbacks running? */
	int			xact_count;
	XactCallback xact_callbacks[MAX_CALLBACKS];
	int			release_count;
	ResourceReleaseCallback release_callbacks[MAX_CALLBACKS];
}			backends[MAX_PROCESSES];

static Snapshot active_snapshot;

/* The processes have PGPROCs 0 to processes - 1.  The prepared transaction has the next one. */
#define BACKEND		(current_process == NO_PROCESS ? 0 : current_process)
#define PREPARED_PROC	(&ProcGlobal->allProcs[FIRST_PREPARED_XACT_PROC_NUMBER])

void
reset_transactions(void)
{
	memset(backends, 0, sizeof(backends));
	for (int i = 0; i < MAX_PROCESSES; i++)
		backends[i].transaction = NO_TRANSACTION;
}

/* --- PostgreSQL's functions that the code under test calls ----------------------- */

FullTransactionId
ReadNextFullTransactionId(void)
{
	event("read the next transaction ID");
	return FullTransactionIdFromU64(server.next_xid);
}

FullTransactionId
GetTopFullTransactionIdIfAny(void)
{
	int			transaction = backends[BACKEND].transaction;

	return FullTransactionIdFromU64(transaction == NO_TRANSACTION ? 0 : server.transactions[transaction].xid);
}

STUB(bool IsTransactionState(void), !backends[BACKEND].ending)
#if PG_VERSION_NUM < 190000
STUB(bool TransactionIdPrecedes(TransactionId a, TransactionId b), (int32) (a - b) < 0)
STUB(PGPROC *TwoPhaseGetDummyProc(TransactionId xid, bool lock_held), PREPARED_PROC)
#else
STUB(PGPROC *TwoPhaseGetDummyProc(FullTransactionId xid, bool lock_held), PREPARED_PROC)
#endif

void
RegisterXactCallback(XactCallback callback, void *arg)
{
	if (backends[BACKEND].xact_count == MAX_CALLBACKS)
		violation("too many callbacks");
	backends[BACKEND].xact_callbacks[backends[BACKEND].xact_count++] = callback;
}

void
RegisterResourceReleaseCallback(ResourceReleaseCallback callback, void *arg)
{
	if (backends[BACKEND].release_count == MAX_CALLBACKS)
		violation("too many callbacks");
	backends[BACKEND].release_callbacks[backends[BACKEND].release_count++] = callback;
}

STUB(bool ActiveSnapshotSet(void), active_snapshot != NULL)
STUB(Snapshot GetActiveSnapshot(void), active_snapshot)
STUB(bool RecoveryInProgress(void), false)

void
PushActiveSnapshot(Snapshot snapshot)
{
	active_snapshot = snapshot;
}

void
PopActiveSnapshot(void)
{
	active_snapshot = NULL;
}

/* --- transactions ---------------------------------------------------------------- */

STUB(int own_transaction(void), backends[BACKEND].transaction)

int
begin_transaction(void)
{
	int			number = server.transaction_count++;

	if (number >= MAX_TRANSACTIONS)
		violation("too many transactions");
	server.transactions[number] = (Transaction) {0, MyDatabaseId, IN_PROGRESS};
	backends[BACKEND].transaction = number;
	return number;
}

/* Assign a transaction ID, unless the transaction has one. */
void
assign_xid(void)
{
	Transaction *transaction = &server.transactions[own_transaction()];

	if (transaction->xid != 0)
		return;
	event("assign a transaction ID");
	transaction->xid = server.next_xid;
	store_now(&MyProc->xid, (TransactionId) transaction->xid);
	/* like PostgreSQL, skip the special transaction IDs */
	do
		server.next_xid++;
	while ((TransactionId) server.next_xid < FirstNormalTransactionId);
}

/* Set the state of a finished transaction, and remove its ID from its PGPROC. */
static void
finish(int number, TransactionState state, PGPROC *proc)
{
	Transaction *transaction = &server.transactions[number];

	transaction->state = state;
	if (transaction->xid == 0)
		return;
	store_now(&proc->xid, InvalidTransactionId);
	server.latest_finished = Max(server.latest_finished, transaction->xid);
}

/* Call the callbacks in PostgreSQL's order: the callback that was registered last comes first. */
static void
end_transaction(XactEvent event)
{
	static const ResourceReleasePhase phases[] = {
		RESOURCE_RELEASE_BEFORE_LOCKS, RESOURCE_RELEASE_LOCKS, RESOURCE_RELEASE_AFTER_LOCKS
	};

	backends[BACKEND].ending = true;
	for (int i = backends[BACKEND].xact_count - 1; i >= 0; i--)
		backends[BACKEND].xact_callbacks[i] (event, NULL);
	for (int phase = 0; phase < 3; phase++)
	{
		for (int i = backends[BACKEND].release_count - 1; i >= 0; i--)
			backends[BACKEND].release_callbacks[i] (phases[phase], event != XACT_EVENT_ABORT, true, NULL);
	}
	reset_transaction_memory();
	backends[BACKEND].ending = false;
	backends[BACKEND].transaction = NO_TRANSACTION;
}

void
commit_transaction(void)
{
	event("commit");
	finish(own_transaction(), COMMITTED, MyProc);
	end_transaction(XACT_EVENT_COMMIT);
}

void
abort_transaction(void)
{
	event("abort");
	ConditionVariableCancelSleep();
	finish(own_transaction(), ABORTED, MyProc);
	end_transaction(XACT_EVENT_ABORT);
}

static bool
none_is_prepared(const void *arg)
{
	return server.prepared == NO_TRANSACTION;
}

static bool
one_is_prepared(const void *arg)
{
	return server.prepared != NO_TRANSACTION && !server.prepared_is_locked;
}

/* Run PREPARE TRANSACTION.  Until its end, no process can finish the transaction. */
void
prepare_transaction(void)
{
	int			number = own_transaction();

	point("wait for the slot of a prepared transaction");
	wait_until(none_is_prepared, NULL);
	server.prepared = number;
	server.prepared_is_locked = true;
	LWLockAcquire(TwoPhaseStateLock, LW_EXCLUSIVE);
	event("prepare");
	store_now(&PREPARED_PROC->databaseId, MyDatabaseId);
	store_now(&PREPARED_PROC->xid, (TransactionId) server.transactions[number].xid);
	LWLockRelease(TwoPhaseStateLock);
	event("leave the transaction to the prepared one");
	store_now(&MyProc->xid, InvalidTransactionId);
	end_transaction(XACT_EVENT_PREPARE);
	event("end of PREPARE");
	server.prepared_is_locked = false;
}

/* Turn a transaction into one that was prepared before startup. */
void
restore_prepared(int number)
{
	server.transactions[number].state = IN_PROGRESS;
	server.prepared = number;
	PREPARED_PROC->databaseId = server.transactions[number].database;
	PREPARED_PROC->xid = (TransactionId) server.transactions[number].xid;
}

/* Wait for a prepared transaction, and finish it. */
void
finish_prepared(bool commit)
{
	point("wait for a prepared transaction");
	wait_until(one_is_prepared, NULL);
	server.prepared_is_locked = true;
	event("finish the prepared transaction");
	finish(server.prepared, commit ? COMMITTED : ABORTED, PREPARED_PROC);
	event("free the slot of the prepared transaction");
	server.prepared = NO_TRANSACTION;
}

/*
 * End the backend, and abort its transaction as PostgreSQL does.  Start another backend in its
 * PGPROC, in the same or another database.
 */
void
exit_backend(Oid next_database)
{
	if (own_transaction() != NO_TRANSACTION)
		abort_transaction();
	memset(&backends[BACKEND], 0, sizeof(backends[BACKEND]));
	backends[BACKEND].transaction = NO_TRANSACTION;
	uuid9562_own_slot = NULL;
	event("start another backend");
	MyDatabaseId = next_database;
	store_now(&MyProc->databaseId, next_database);
}

/* --- snapshots and calls --------------------------------------------------------- */

/* Take a snapshot as PostgreSQL does: its xip lists no ID after the latest finished one. */
void
take_snapshot(TestSnapshot *snapshot)
{
	uint64		xmin;

	event("take a snapshot");
	memset(snapshot, 0, sizeof(*snapshot));
	xmin = server.latest_finished + 1;
	snapshot->data.snapshot_type = SNAPSHOT_MVCC;
	snapshot->data.xip = snapshot->xip;
	snapshot->data.xmax = Max((TransactionId) xmin, FirstNormalTransactionId);
	for (int i = 0; i < server.transaction_count; i++)
	{
		const Transaction *transaction = &server.transactions[i];

		snapshot->sees[i] = transaction->state == COMMITTED;
		if (transaction->xid == 0 || transaction->state != IN_PROGRESS || transaction->xid > server.latest_finished)
			continue;
		snapshot->xip[snapshot->data.xcnt++] = (TransactionId) transaction->xid;
		xmin = Min(xmin, transaction->xid);
	}
	snapshot->data.xmin = Max((TransactionId) xmin, FirstNormalTransactionId);
	snapshot->used = server.used;
}

/* Call an SQL function without arguments that returns a UUID. */
static UuidPayload
call(PGFunction function)
{
	LOCAL_FCINFO(fcinfo, 0);

	InitFunctionCallInfoData(*fcinfo, NULL, 0, InvalidOid, NULL, NULL);
	return uuid_layout_unpack(DatumGetUUIDP(function(fcinfo))->data, UUID_V7->version);
}

UuidPayload
generate(void)
{
	UuidPayload value = call(uuid9562_uuidv7_ordered);

	server.used = true;
	return value;
}

UuidPayload
ask_horizon(TestSnapshot *snapshot)
{
	UuidPayload horizon;

	active_snapshot = &snapshot->data;
	horizon = call(uuid9562_uuidv7_horizon);
	server.used = true;
	if (uuid9562_cached_horizon(&snapshot->data)->branch == 0)
		violation("a horizon is computed without a branch");
	return horizon;
}

/* Compute the position of a reader that has read all rows below the snapshot's horizon. */
UuidSealed
ask_position(TestSnapshot *snapshot)
{
	LOCAL_FCINFO(fcinfo, 2);
	UuidPayload horizon = ask_horizon(snapshot);
	pg_uuid_t	id;
	UuidSealed position;
	text	   *result;

	uuid_layout_pack(id.data, UUID_V7->version, horizon);
	InitFunctionCallInfoData(*fcinfo, NULL, 2, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = UUIDPGetDatum(&id);
	fcinfo->args[0].isnull = false;
	fcinfo->args[1].isnull = true;
	result = (text *) DatumGetPointer(uuid9562_uuidv7_position(fcinfo));
	if (!uuid_position_read(&position, VARDATA(result), VARSIZE(result) - VARHDRSZ))
		violation("a position cannot be read");
	return position;
}
