/*
 * horizon.c
 *		What has surely been committed: uuidv6_horizon(), uuidv7_horizon() and
 *		uuidv8_node_horizon().
 *
 * The promise: whatever was made below the horizon, in instance scope, and will
 * ever be committed, the snapshot of the statement that asks already sees.
 *
 * Each process has a slot in shared memory: the least value of its open
 * transaction, and what is remembered of its ended ones (core/transaction_history.h).  An open
 * transaction holds the horizon at its least value, and so does an ended one that
 * the statement's snapshot takes to be running.  Where none does, the horizon is
 * just above the last value.
 *
 * Why that is enough.  Let transaction T make a value and commit, and let the
 * snapshot not see T.  If the value is greater than the last one that the reader
 * reads, it is above the horizon.  Otherwise T's slot had its open value before the
 * reader looked, since values are made and the last one is read under the generator's
 * lock (1).  If the reader finds the slot cleared, T is already in the ring (2), and
 * the reader looks into the ring after the open value (3).  Older entries of the ring
 * ended before T began, newer ones the snapshot does not see either.  So the first
 * entry that it sees, from the newest on, is older than T, and the reader may stop
 * there (4).  A reader that meets a change of the ring reads it again (5).
 *
 * A transaction that is prepared leaves its process and goes to a slot of its own,
 * with the number under which the snapshot takes it to be running.  It is there
 * before it leaves (2), and the slots of prepared transactions are read last (6).
 * Nobody can finish it before that, so those in one slot follow each other as those
 * of a process do.
 *
 * test/core/horizon.c has a model of this, which goes wrong where one of these
 * orders, or one of those below, is broken.
 *
 * A value that is made by a parallel worker is held by its leader, whose
 * transaction it belongs to.  A process that ends in a transaction aborts it
 * before its shared memory goes.
 *
 * One snapshot is told the same again as long as the transaction lasts, since a
 * statement asks again for each row, each partition and each FETCH, and rows would
 * be missed if the answer grew meanwhile as a transaction is rolled back.
 */
#include "instance/horizon.h"

#include "access/parallel.h"
#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "storage/proc.h"
#include "storage/s_lock.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "instance/transaction_slot.h"
#include "instance/ordered.h"

/* --- what was told ---------------------------------------------------------- */

/* What this transaction was told for a snapshot. */
typedef struct Told
{
	Snapshot	snapshot;		/* our copy of what it says, and the key */
	bool		known[UUID_HORIZON_COUNT];
	UuidPayload horizon[UUID_HORIZON_COUNT];
} Told;

static HTAB *told;
static Told *last_told;

/*
 * Do they take the same transactions to be running?  Not their addresses tell,
 * which are used again.
 */
static bool
same_snapshot(const SnapshotData *a, const SnapshotData *b)
{
	return a->xmin == b->xmin && a->xmax == b->xmax &&
		a->xcnt == b->xcnt && a->subxcnt == b->subxcnt && a->suboverflowed == b->suboverflowed &&
		(a->xcnt == 0 || memcmp(a->xip, b->xip, a->xcnt * sizeof(TransactionId)) == 0) &&
		(a->subxcnt <= 0 || memcmp(a->subxip, b->subxip, a->subxcnt * sizeof(TransactionId)) == 0);
}

static int
match_snapshots(const void *a, const void *b, Size size)
{
	return same_snapshot(*(const Snapshot *) a, *(const Snapshot *) b) ? 0 : 1;
}

static uint32
hash_snapshot(const void *key, Size size)
{
	Snapshot	snapshot = *(const Snapshot *) key;

	return hash_combine(hash_bytes((unsigned char *) snapshot->xip, snapshot->xcnt * sizeof(TransactionId)), snapshot->xmax);
}

/* For as long as the transaction lasts. */
static Snapshot
copy_snapshot(const SnapshotData *snapshot)
{
	Size		xip_size = snapshot->xcnt * sizeof(TransactionId);
	Size		subxip_size = Max(snapshot->subxcnt, 0) * sizeof(TransactionId);
	Snapshot	copy = MemoryContextAlloc(TopTransactionContext, sizeof(SnapshotData) + xip_size + subxip_size);

	*copy = *snapshot;
	copy->xip = (TransactionId *) (copy + 1);
	copy->subxip = copy->xip + snapshot->xcnt;
	if (xip_size > 0)
		memcpy(copy->xip, snapshot->xip, xip_size);
	if (subxip_size > 0)
		memcpy(copy->subxip, snapshot->subxip, subxip_size);
	return copy;
}

/* A transaction has ended, and its memory goes. */
static void
forget_told(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT || event == XACT_EVENT_PREPARE)
	{
		told = NULL;
		last_told = NULL;
	}
}

/* What was told for that snapshot, or nothing yet. */
static Told *
find_told(Snapshot snapshot)
{
	Told	   *found;

	if (last_told != NULL && same_snapshot(last_told->snapshot, snapshot))
		return last_told;
	if (told == NULL)
	{
		static bool registered = false;
		HASHCTL		control = {0};

		if (!registered)
			RegisterXactCallback(forget_told, NULL);
		registered = true;
		control.keysize = sizeof(Snapshot);
		control.entrysize = sizeof(Told);
		control.hash = hash_snapshot;
		control.match = match_snapshots;
		control.hcxt = TopTransactionContext;
		told = hash_create("uuid9562 horizons", 16, &control,
						   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	}
	found = hash_search(told, &snapshot, HASH_FIND, NULL);
	if (found == NULL)
	{
		snapshot = copy_snapshot(snapshot);
		found = hash_search(told, &snapshot, HASH_ENTER, NULL);
		memset(found->known, 0, sizeof(found->known));
	}
	last_told = found;
	return found;
}

/* --- readers ---------------------------------------------------------------- */

/* The statement's snapshot; an error where none tells what has been committed. */
static Snapshot
statement_snapshot(const UuidKind *kind)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s_horizon() needs the snapshot of a statement", kind->name)));
	if (snapshot->takenDuringRecovery)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s_horizon() cannot be asked on a standby", kind->name),
				 errdetail("Which transactions are open, the primary knows alone."),
				 errhint("Ask on the primary; after a promotion, in a new transaction.")));
	if (IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("%s_horizon() cannot be asked in a parallel worker", kind->name),
				 errhint("Declare the function that calls it PARALLEL RESTRICTED.")));
	return snapshot;
}

/* A snapshot whose numbers have their epochs. */
typedef struct View
{
	Snapshot	snapshot;
	uint64		xmin;
	uint64		xmax;
} View;

static View
view_of(Snapshot snapshot)
{
	FullTransactionId next = ReadNextFullTransactionId();
	View		view = {snapshot, uuid9562_full_xid(snapshot->xmin, next), uuid9562_full_xid(snapshot->xmax, next)};

	return view;
}

/*
 * Does the snapshot take a transaction to have ended?  xip has all that ran, but
 * for their subtransactions, which are nothing to us.
 */
static bool
snapshot_sees(const View *view, uint64 xid)
{
	if (xid < view->xmin)
		return true;
	if (xid >= view->xmax)
		return false;
	for (uint32 i = 0; i < view->snapshot->xcnt; i++)
	{
		if (view->snapshot->xip[i] == (TransactionId) xid)
			return false;
	}
	return true;
}

/*
 * The least value of the ended transactions in a ring that the snapshot takes to be
 * running, from the newest on (4).  What is read may be changed meanwhile: no number
 * in it leads out of the ring.
 */
static uint64
least_ended_in(const volatile UuidHistory *ring, int horizon, const View *view)
{
	uint64		least = UUID_FIRST_NONE;

	for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
	{
		for (int i = ring->count[level] - 1; i >= 0; i--)
		{
			const volatile UuidHistoryEntry *entry = &ring->entries[level][i];

			if (snapshot_sees(view, entry->xid))
				return least;
			least = Min(least, entry->first[horizon]);
		}
	}
	return least;
}

/* The same of a slot, whose process may go on. */
static uint64
least_ended(HoldSlot *slot, int horizon, const View *view)
{
	SpinDelayStatus delay;
	uint64		changes = pg_atomic_read_u64(&slot->changes);
	uint64		least = UUID_FIRST_NONE;

	if (changes == 0)
		return least;
	init_local_spin_delay(&delay);
	for (;;)
	{
		/* (5): what is read is whole if that is even, and the same after */
		pg_read_barrier();
		if (changes % 2 == 0)
		{
			uint64		before = changes;

			least = least_ended_in(&slot->ended, horizon, view);
			pg_read_barrier();
			changes = pg_atomic_read_u64(&slot->changes);
			if (changes == before)
				break;
		}
		perform_spin_delay(&delay);
		changes = pg_atomic_read_u64(&slot->changes);
	}
	finish_spin_delay(&delay);
	return least;
}

/*
 * The least UUID that is greater than all of a kind up to a payload.  Where the low
 * bits of the tail are stamped over, they are above the counter's.
 */
static UuidPayload
just_above(const UuidKind *kind, UuidPayload payload)
{
	uint64		step = kind == UUID_V7 ? 1 : UUID_COUNTER_STEP;
	uint64		tail = (payload.tail & ~(step - 1)) + step;

	if (tail <= UUID_TAIL_MAX)
		payload.tail = tail;
	else if (payload.time < UUID_TIME_MAX)
	{
		payload.time++;
		payload.tail = 0;
	}
	return payload;
}

/* The horizon of a snapshot, as it is now. */
static UuidPayload
find_horizon(const UuidKind *kind, Snapshot snapshot)
{
	View		view = view_of(snapshot);
	SharedGenerator *shared = &uuid9562_instance()->generators[kind->number].generator;
	UuidPayload horizon;
	uint64		least = UUID_FIRST_NONE;

	/* (1): what was made up to here has its open value set */
	uuid9562_instance_load();
	SpinLockAcquire(&shared->lock);
	horizon = shared->state.previous;
	SpinLockRelease(&shared->lock);

	/* (6): those of prepared transactions come last */
	for (int i = 0; i < uuid9562_slot_count(); i++)
	{
		HoldSlot   *slot = uuid9562_slot(i);
		uint64		open = pg_atomic_read_u64(&slot->open[kind->horizon]);
		uint64		ended;

		/* (3): what is no longer open is found in the ring */
		pg_read_barrier();
		ended = least_ended(slot, kind->horizon, &view);
		if (open != 0)
			least = Min(least, open);
		least = Min(least, ended);
		pg_read_barrier();
	}

	if (least == UUID_FIRST_UNKNOWN)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s_horizon() cannot tell what a prepared transaction has made", kind->name),
				 errdetail("It was prepared before the server started, or before UUIDs were made with uuid9562.monotonic_scope = instance since then."),
				 errhint("End it with COMMIT PREPARED or ROLLBACK PREPARED, if pg_prepared_xacts shows one, and ask in a new transaction.")));
	if (least - 1 > horizon.time)
		return just_above(kind, horizon);
	horizon.time = least - 1;
	horizon.tail = 0;
	return horizon;
}

/* --- SQL -------------------------------------------------------------------- */

/*
 * uuidv7_horizon() returns uuid
 *
 * Whatever was made below it, in instance scope, and will ever be committed, the
 * statement's snapshot sees.  Errors: no shared memory, no snapshot of a statement,
 * a standby, a parallel worker, what was prepared before the start.
 */
static Datum
uuid_horizon(PG_FUNCTION_ARGS, const UuidKind *kind)
{
	Snapshot	snapshot = statement_snapshot(kind);
	Told	   *answer = find_told(snapshot);

	if (!answer->known[kind->horizon])
	{
		answer->horizon[kind->horizon] = find_horizon(kind, snapshot);
		answer->known[kind->horizon] = true;
	}
	return return_uuid(kind->version, answer->horizon[kind->horizon]);
}

KIND_FUNCTION(uuid9562_uuidv6_horizon, UUID_V6, uuid_horizon)
KIND_FUNCTION(uuid9562_uuidv7_horizon, UUID_V7, uuid_horizon)
KIND_FUNCTION(uuid9562_uuidv8_node_horizon, UUID_V8_NODE, uuid_horizon)

/*
 * Which open or prepared transaction holds the horizon of a kind: since when, by
 * the time of its first value, and the process, 0 for a prepared one.  False when
 * none does.
 */
bool
uuid9562_horizon_holder(const UuidKind *kind, TimestampTz *since, int *pid)
{
	View		view = view_of(GetActiveSnapshot());
	uint64		least = UUID_FIRST_NONE;

	if (kind->horizon == NO_HORIZON)
		return false;
	for (int i = 0; i < uuid9562_slot_count(); i++)
	{
		HoldSlot   *slot = uuid9562_slot(i);
		uint64		first = pg_atomic_read_u64(&slot->open[kind->horizon]);

		if (i >= uuid9562_first_prepared_slot())
			first = least_ended(slot, kind->horizon, &view);
		else if (first == 0)
			continue;
		if (first < least)
		{
			least = first;
			*pid = i < uuid9562_first_prepared_slot() ? GetPGProcByNumber(i)->pid : 0;
		}
	}
	if (least == UUID_FIRST_NONE)
		return false;
	if (least == UUID_FIRST_UNKNOWN)
		TIMESTAMP_NOBEGIN(*since);
	else
		*since = unix_micros_to_timestamptz(uuid_clock_unix_micros(kind->clock, least - 1));
	return true;
}
