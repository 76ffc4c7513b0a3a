/*
 * horizon.c
 *		uuidv7_horizon(), the ID below which no further ordered values can become visible.
 *
 * Suppose that a transaction inserts a row with an ordered value that it has generated.
 * If the value is below the horizon and the transaction ever commits, the calling
 * statement's snapshot already sees the row.
 *
 * The slot of a process contains a history of its finished transactions, and the smallest value of
 * its transaction in progress.  A transaction in progress holds the horizon at its smallest value.
 * So does a finished transaction that the snapshot sees as in progress.  If no transaction holds
 * the horizon, the horizon is just above the generator's last value.
 *
 * Proof.  Suppose that transaction T generates a value and commits, and that the snapshot does not
 * see T as finished.  The reader first reads the generator's last value L, and makes the generator
 * skip the rest of its tick.  If T's value is greater than L, it is in a later tick, and so not
 * below the horizon.  Otherwise T's smallest value was in T's slot before L was read, because
 * values are recorded, and L is read, under the generator's lock (1).  Then the reader reads the
 * value in the slot.  If this is no longer T's value, T is already in the history (2), which is
 * read after the value (3).  The history is in the order in which transactions finished.  So the
 * reader starts at the newest entry, and can stop at the first entry that the snapshot sees as
 * finished (4).  If the history changes while the reader reads it, the reader reads it again (5).
 *
 * PREPARE TRANSACTION copies T's smallest value to the history in the slot of the prepared
 * transaction, and then clears the value in the slot of the process (2).  The reader reads
 * the slots of prepared transactions last, so it finds the value in one of the two slots (6).
 * The slot of a prepared transaction is not reused before the transaction has finished.
 *
 * A transaction of another database inserts no rows here, so it does not hold the horizon.  An
 * entry of a history has the database of its transaction.  The reader ignores the value in the
 * slot of a process whose PGPROC has another database.  From before L was read until T has
 * finished, the PGPROC has T's database.  So if the reader finds another database there, T is
 * already in the history, which is read later (7).  The reader must not ignore a whole history for
 * this reason, because backends of several databases may have used the slot in turn.
 *
 * After a crash, the generator continues at the high-water mark on disk.  An extension of the
 * reservation is used only after its WAL record has been flushed.  So the mark is greater than the
 * time of each earlier value, and not less than any earlier horizon, which is at most a tick above
 * a value.  The mark can be ahead of the clock by the length of a reservation, which reservation.c
 * limits.  While the server runs, a horizon can be less than an earlier one, since merged entries
 * of a history can have smaller values than necessary.
 *
 * A simpler design would need neither slots nor histories: each transaction that generates a value
 * takes a transaction ID, a ring stores pairs of the next transaction ID and the last value, and
 * the horizon is the newest value whose transaction ID is at most the snapshot's xmin.  But then
 * every transaction that writes anything, in any database, would hold the horizon.
 *
 * test/schedules runs this code under every schedule with few preemptions, on a memory that
 * reorders loads and stores.  It also checks that each of (1) to (7) and each barrier of the
 * slots is necessary: if any one of them is removed, some schedule misses a row.
 */
#include "ordered/shared_state.h"

#include "access/parallel.h"
#include "access/xlog.h"
#include "utils/snapmgr.h"

#include "runtime/runtime.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_horizon);

/* Return the statement's snapshot.  Raise an error if no horizon can be computed for it. */
static Snapshot
statement_snapshot(const char *function)
{
	Snapshot	snapshot = ActiveSnapshotSet() ? GetActiveSnapshot() : NULL;

	if (snapshot == NULL || snapshot->snapshot_type != SNAPSHOT_MVCC)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot execute %s() without an active snapshot", function)));
	if (RecoveryInProgress() || snapshot->takenDuringRecovery)
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot execute %s() during recovery", function),
				 errdetail("Only the primary knows which transactions are in progress."),
				 errhint("Execute it on the primary or, after promotion, in a new transaction. "
						 "To read rows on a standby, call uuid_replay_target() on the primary and uuid_has_replayed() on the standby.")));
	if (IsParallelWorker())
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("cannot execute %s() in a parallel worker", function),
				 errhint("Mark functions that call it PARALLEL RESTRICTED.")));
	return snapshot;
}

/*
 * Return the cache entry of the statement's snapshot.  For a new entry, capture the current branch
 * before any horizon is computed.  If a reset came between horizon and capture, a position would
 * name the new branch, and its reader could skip values of that branch below the horizon.
 */
CachedHorizon *
uuid9562_snapshot_state(const char *function)
{
	CachedHorizon *cached = uuid9562_cached_horizon(statement_snapshot(function));

	if (cached->branch == 0)
	{
		uuid9562_refuse_citus(function, false);
		uuid9562_ensure_branch();
		cached->branch = pg_atomic_read_u64(&uuid9562_shared->branch);
		/* compute horizons later; pairs with publish_branch()'s first barrier */
		pg_read_barrier();
	}
	return cached;
}

/* A snapshot, with full transaction IDs (which include the epoch). */
typedef struct FullSnapshot
{
	Snapshot	snapshot;
	FullTransactionId next;		/* next transaction ID to be assigned */
	uint64		xmin;
	uint64		xmax;
} FullSnapshot;

static FullSnapshot
full_snapshot(Snapshot snapshot)
{
	FullTransactionId next = ReadNextFullTransactionId();
	FullSnapshot full = {
		snapshot, next, full_xid(snapshot->xmin, next), full_xid(snapshot->xmax, next)
	};

	return full;
}

/*
 * Check whether the snapshot sees a top-level transaction as finished.  statement_snapshot()
 * refuses snapshots taken during recovery.  So xip contains all top-level transactions that the
 * snapshot sees as in progress, and this function need not read pg_subtrans, as
 * XidInMVCCSnapshot() does.
 */
static bool
is_finished_for(const FullSnapshot *full, uint64 xid)
{
	if (xid < full->xmin)
		return true;
	if (xid >= full->xmax)
		return false;
	for (uint32 i = 0; i < full->snapshot->xcnt; i++)
	{
		if (full->snapshot->xip[i] == (TransactionId) xid)
			return false;
	}
	return true;
}

/*
 * Check whether a transaction is prepared in another database.  PostgreSQL gives a PGPROC to a
 * prepared transaction only under TwoPhaseStateLock, so the ID and the database are of the same
 * transaction.
 */
static bool
is_prepared_elsewhere(TransactionId xid)
{
	bool		found = false;

	LWLockAcquire(TwoPhaseStateLock, LW_SHARED);
	for (int i = FIRST_PREPARED_XACT_PROC_NUMBER; i < slot_count(); i++)
	{
		const volatile PGPROC *proc = GetPGProcByNumber(i);

		found |= proc->xid == xid && proc->databaseId != MyDatabaseId;
	}
	LWLockRelease(TwoPhaseStateLock);
	return found;
}

/*
 * Raise an error if the snapshot sees a transaction as in progress whose ID is below
 * first_known_xid, because its values can be missing in the slots; see transaction_slot.c.  Ignore
 * transactions that are prepared in another database.
 */
static void
check_known(const FullSnapshot *full)
{
	const uint64 first_known_xid = uuid9562_shared->first_known_xid;

	/* the snapshot sees all IDs from xmax on as in progress */
	bool		known = full->xmax >= first_known_xid;

	for (uint32 i = 0; i < full->snapshot->xcnt; i++)
		known &= full_xid(full->snapshot->xip[i], full->next) >= first_known_xid ||
			is_prepared_elsewhere(full->snapshot->xip[i]);
	if (!known)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not determine uuidv7_horizon() because of an old transaction"),
				 errdetail("The transaction was prepared, or the snapshot was taken, before the first use of an ordered function since startup or promotion."),
				 errhint("Finish the transactions listed in pg_prepared_xacts with COMMIT PREPARED or ROLLBACK PREPARED, "
						 "and retry in a new transaction. Finish those of a subscription, \"pg_gid_...\", on its publisher.")));
}

/*
 * Return the time of the smallest value of those entries of a history that are of this database and
 * that the snapshot sees as in progress.  Begin at the newest entry, and stop at the first entry
 * that it sees as finished (4).  If another process changes the history at the same time, the
 * caller ignores the result.  Even then the counts do not exceed the size of the array, so no other
 * memory is read.
 */
static uint64
smallest_in_history(const volatile UuidHistory *history, const FullSnapshot *full)
{
	uint64		smallest = UUID_NO_TIME;

	for (int i = 0; i < UUID_HISTORY_LEVELS; i++)
	{
		const volatile UuidHistoryEntry *level = history->levels[i];

		for (int j = history->count[i] - 1; j >= 0; j--)
		{
			if (is_finished_for(full, level[j].xid))
				return smallest;
			if (level[j].database == MyDatabaseId || level[j].database == UUID_ANY_DATABASE)
				smallest = Min(smallest, level[j].first);
		}
	}
	return smallest;
}

/*
 * Return the time of the smallest value of the finished transactions in a slot's history that the
 * snapshot still sees as in progress.  If the changecount is odd or changes, another process is
 * changing the history at the same time, so read the history again (5).  If the changecount is 0,
 * the history is empty.  See add_to_history() for the pairs of barriers.
 */
static uint64
smallest_finished(TransactionSlot *slot, const FullSnapshot *full)
{
	for (;;)
	{
		uint64		changecount = pg_atomic_read_u64(&slot->changecount);
		uint64		smallest = UUID_NO_TIME;

		pg_read_barrier();
		if (changecount != 0 && changecount % 2 == 0)
			smallest = smallest_in_history(&slot->history, full);
		pg_read_barrier();
		if (changecount % 2 == 0 && pg_atomic_read_u64(&slot->changecount) == changecount)
			return smallest;
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Return the time of the smallest value of the transaction in progress in a slot, or UUID_NO_TIME
 * if there is no value or the process of the slot is in another database (7).
 */
static uint64
smallest_in_progress(int number)
{
	const volatile PGPROC *proc = GetPGProcByNumber(number);
	uint64		first = pg_atomic_read_u64(&uuid9562_shared->slots[number].slot.first);

	/* most slots have no value: do not read their PGPROCs */
	if (first != UUID_NO_TIME && proc->databaseId != MyDatabaseId)
		return UUID_NO_TIME;
	return first;
}

/*
 * Find the smallest value of all transactions of this database that are in progress, or that the
 * snapshot sees as in progress.  Return its time, and set *holder to the number of the slot that
 * has it.  If there is no value, return UUID_NO_TIME, and leave *holder unchanged.
 */
static uint64
smallest_unfinished(const FullSnapshot *full, int *holder)
{
	uint64		smallest = UUID_NO_TIME;

	/* (6): the slots of prepared transactions come last, as their PGPROCs do */
	for (int i = 0; i < slot_count(); i++)
	{
		uint64		first = smallest_in_progress(i);

		/* (3), (6), (7): this reads the history after a barrier */
		uint64		finished = smallest_finished(&uuid9562_shared->slots[i].slot, full);

		first = Min(first, finished);
		if (first < smallest)
		{
			smallest = first;
			*holder = i;
		}
	}
	return smallest;
}

/*
 * Return a time that is greater than the time of every value since the last reset, and
 * make the generator continue at that time or later.  The generator skips the rest of its
 * current tick.  So the horizon can be the smallest UUID of the next tick, which does not
 * show random bits of a generated value.
 */
static uint64
close_tick(void)
{
	OrderedGenerator *generator = ordered_generator();
	UuidPayload previous;

	SpinLockAcquire(&generator->lock);
	previous = generator->state.previous;
	if (previous.time != 0 && previous.time < UUID_TIME_MAX)
		generator->state.previous.tail = UUID_TAIL_MAX;
	SpinLockRelease(&generator->lock);

	if (previous.time == 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("uuidv7_ordered() has not generated any value on this server"),
				 errhint("Make uuidv7_ordered() the default of the column, and call it once before reading.")));
	if (previous.time == UUID_TIME_MAX)
		uuid9562_time_exhausted(UUID_V7,
								"Check the system clock of the server, then call uuid_generator_reset() as a superuser.");
	return previous.time + 1;
}

static UuidPayload
compute_horizon(Snapshot snapshot)
{
	FullSnapshot full = full_snapshot(snapshot);
	UuidPayload horizon = {0, 0};
	uint64		smallest;
	int			holder;

	check_known(&full);
	/* (1): read the last value before the slots */
	horizon.time = close_tick();
	smallest = smallest_unfinished(&full, &holder);
	horizon.time = Min(horizon.time, smallest);
	return horizon;
}

/* Return the horizon for the active snapshot, which has the given cache entry. */
UuidPayload
uuid9562_horizon(CachedHorizon *cached)
{
	if (!cached->known)
	{
		cached->horizon = compute_horizon(GetActiveSnapshot());
		cached->known = true;
	}
	return cached->horizon;
}

/*
 * uuidv7_horizon() returns uuid
 *
 * Return a UUID below which no further values of uuidv7_ordered() can become visible to later
 * statements.  Raise an error if the horizon cannot be known.
 */
Datum
uuid9562_uuidv7_horizon(PG_FUNCTION_ARGS)
{
	return uuid_datum(UUID_V7->version,
					  uuid9562_horizon(uuid9562_snapshot_state("uuidv7_horizon")));
}

/*
 * Find a transaction of this database that was prepared before the first use of an ordered function
 * since startup, so that check_known() raises an error.  Return the number of its slot, or -1.
 */
static int
find_unknown_prepared(const FullSnapshot *full)
{
	/* before the first use, the ID that a first use now would set */
	const uint64 first_known_xid = uuid9562_shared->loaded ? uuid9562_shared->first_known_xid :
		uuid9562_find_first_known_xid();
	int			found = -1;

	LWLockAcquire(TwoPhaseStateLock, LW_SHARED);
	for (int i = FIRST_PREPARED_XACT_PROC_NUMBER; i < slot_count() && found < 0; i++)
	{
		const volatile PGPROC *proc = GetPGProcByNumber(i);
		const TransactionId xid = proc->xid;

		/*
		 * the ID can also be that of a transaction that has finished, even
		 * one that is too old for full_xid(); such a result is only shown in
		 * statistics
		 */
		if (TransactionIdIsValid(xid) && proc->databaseId == MyDatabaseId &&
			full_xid(xid, full->next) < first_known_xid &&
			!is_finished_for(full, full_xid(xid, full->next)))
			found = i;
	}
	LWLockRelease(TwoPhaseStateLock);
	return found;
}

/*
 * Find the transaction that holds the horizon; it may have finished meanwhile.  Return the number
 * of its slot, and set *time to the time of its smallest value, or to UUID_NO_TIME if the values of
 * the transaction are unknown.  If there is no such transaction, return -1.  This serves only
 * uuid_generator_stats(), which reports transactions instead of raising errors.
 */
int
uuid9562_find_holder(uint64 *time)
{
	FullSnapshot full = full_snapshot(GetActiveSnapshot());
	int			holder = find_unknown_prepared(&full);

	*time = UUID_NO_TIME;
	if (holder < 0)
		*time = smallest_unfinished(&full, &holder);
	return holder;
}

/* Check whether a prepared transaction holds back the horizon of the active snapshot. */
bool
uuid9562_is_held_by_prepared(void)
{
	uint64		time;

	return uuid9562_find_holder(&time) >= FIRST_PREPARED_XACT_PROC_NUMBER;
}
