/*
 * transaction_slot.c
 *		What holds the horizon: the values of open transactions, and of those that
 *		have ended since.
 *
 * Each process has a slot in shared memory, and so has each prepared transaction.
 * horizon.c says what readers make of them, and gives the reasons (1) to (6) for
 * the order of the steps here.
 */
#include "instance/transaction_slot.h"

#include "access/parallel.h"
#include "access/twophase.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "storage/shmem.h"

/* Each in cache lines of its own. */
typedef union PaddedSlot
{
	HoldSlot	slot;
	char		pad[TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(HoldSlot))];
} PaddedSlot;

/* One for each PGPROC, by its number; those of prepared transactions are last. */
static PaddedSlot *slots;

HoldSlot   *uuid9562_own_slot;
bool		uuid9562_preloaded;

/* --- slots ------------------------------------------------------------------ */

int
uuid9562_first_prepared_slot(void)
{
	return MaxBackends + NUM_AUXILIARY_PROCS;
}

int
uuid9562_slot_count(void)
{
	return uuid9562_first_prepared_slot() + max_prepared_xacts;
}

static HoldSlot *
slot_of(const PGPROC *proc)
{
	return &slots[proc - ProcGlobal->allProcs].slot;
}

Size
uuid9562_hold_size(void)
{
	return mul_size(uuid9562_slot_count(), sizeof(PaddedSlot));
}

/* Make the slots in shared memory that was zeroed. */
void
uuid9562_hold_create(void *memory)
{
	PaddedSlot *created = memory;

	for (int i = 0; i < uuid9562_slot_count(); i++)
	{
		for (int j = 0; j < UUID_HORIZON_COUNT; j++)
			pg_atomic_init_u64(&created[i].slot.open[j], 0);
		pg_atomic_init_u64(&created[i].slot.changes, 0);
	}
}

/*
 * From now on this process knows of the slots; where that is the postmaster, all
 * will.
 */
void
uuid9562_hold_attach(void *memory)
{
	slots = memory;
	if (MyProc != NULL && !IsParallelWorker())
		slot_of(MyProc)->pid = MyProcPid;
}

/*
 * A parallel worker makes values for a leader that has not loaded the library, and
 * so would not clear what they hold.  That takes a function in another language
 * which calls ours in workers alone.
 */
void
uuid9562_refuse_worker(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("a parallel worker makes UUIDs for a session that has not loaded uuid9562"),
			 errhint("Add uuid9562 to shared_preload_libraries and restart the server, "
					 "or have the session call uuidv7() first.")));
}

/* The slot of that number, below uuid9562_slot_count(). */
HoldSlot *
uuid9562_slot(int number)
{
	return &slots[number].slot;
}

/* The slot of this process, or of the leader of this parallel worker. */
HoldSlot *
uuid9562_find_own_slot(void)
{
	PGPROC	   *owner = MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader : MyProc;

	/* it may have been in session scope when it loaded the library */
	if (IsParallelWorker() && !uuid9562_preloaded && slot_of(owner)->pid != owner->pid)
		uuid9562_refuse_worker();
	uuid9562_own_slot = slot_of(owner);
	return uuid9562_own_slot;
}

/* --- writers ---------------------------------------------------------------- */

/* Put an ended or prepared transaction into a slot, for readers who look there meanwhile. */
static void
push_ended(HoldSlot *slot, UuidHistoryEntry entry)
{
	uint64		changes = pg_atomic_read_u64(&slot->changes);

	/* (5): odd before anything is changed, even after all is */
	pg_atomic_write_u64(&slot->changes, changes + 1);
	pg_write_barrier();
	uuid_history_add(&slot->ended, entry);
	pg_write_barrier();
	pg_atomic_write_u64(&slot->changes, changes + 2);
}

static HoldSlot *
slot_of_prepared(FullTransactionId xid)
{
#if PG_VERSION_NUM >= 190000
	return slot_of(TwoPhaseGetDummyProc(xid, false));
#else
	return slot_of(TwoPhaseGetDummyProc(XidFromFullTransactionId(xid), false));
#endif
}

/*
 * A transaction has ended, or has been prepared.  PostgreSQL no longer lists it as
 * running in this process.  A later snapshot sees a committed one as ended, and a
 * prepared one as running in a PGPROC of its own.  So only snapshots from before
 * need what is kept here.
 *
 * One without a number has written nothing.
 */
static void
end_transaction(XactEvent event, void *arg)
{
	HoldSlot   *slot;
	FullTransactionId xid = GetTopFullTransactionIdIfAny();
	UuidHistoryEntry	entry;
	bool		holds = false;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	if (slots == NULL)
		return;

	slot = slot_of(MyProc);
	for (int i = 0; i < UUID_HORIZON_COUNT; i++)
	{
		uint64		open = pg_atomic_read_u64(&slot->open[i]);

		entry.first[i] = open != 0 ? open : UUID_FIRST_NONE;
		holds |= open != 0;
	}
	if (!holds)
		return;
	entry.xid = U64FromFullTransactionId(xid);
	if (event == XACT_EVENT_PREPARE)
		push_ended(slot_of_prepared(xid), entry);
	else if (event == XACT_EVENT_COMMIT && FullTransactionIdIsValid(xid))
		push_ended(slot, entry);

	/* (2): it is in a ring before it is not open */
	pg_write_barrier();
	for (int i = 0; i < UUID_HORIZON_COUNT; i++)
		pg_atomic_write_u64(&slot->open[i], 0);
}

/*
 * Called by _PG_init: a leader whose workers alone make values needs the callback
 * as well.
 */
void
uuid9562_hold_init(void)
{
	RegisterXactCallback(end_transaction, NULL);
}

/*
 * The server has started, or has left recovery, and has handed out nothing since.
 * What the transactions have made that were prepared before, nobody knows.  The
 * caller holds the mark's lock.
 */
void
uuid9562_hold_start(void)
{
	for (int i = uuid9562_first_prepared_slot(); i < uuid9562_slot_count(); i++)
	{
		const UuidHistory *ring = &uuid9562_slot(i)->ended;
		TransactionId xid = GetPGProcByNumber(i)->xid;
		UuidHistoryEntry	entry;

		/*
		 * The number of one that was finished stays.  It is needed as well: a
		 * snapshot from before takes it to be running.
		 */
		if (!TransactionIdIsValid(xid))
			continue;
		entry.xid = uuid9562_full_xid(xid, ReadNextFullTransactionId());
		/* it is known, where that is not the first time */
		if (ring->count[0] > 0 && ring->entries[0][ring->count[0] - 1].xid == entry.xid)
			continue;
		for (int j = 0; j < UUID_HORIZON_COUNT; j++)
			entry.first[j] = UUID_FIRST_UNKNOWN;
		push_ended(uuid9562_slot(i), entry);
	}
}
