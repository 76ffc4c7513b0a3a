/*
 * transaction_slot.c
 *		The smallest ordered value of each transaction, in shared memory.
 *
 * Each process and each prepared transaction has a slot.  A reader computes a horizon from
 * all slots.  horizon.c proves that this is correct; (1) to (6) are steps of the proof.
 *
 * The slots cover all values generated since the first use of an ordered function after
 * startup or promotion.  A transaction with an earlier value has finished or is prepared,
 * and its ID is before first_known_xid.  Transactions that can still generate a value have
 * first_known_xid, a later ID, or no ID yet.  If a snapshot sees a transaction with an
 * earlier ID as in progress, the transaction's values are unknown, and so is the horizon.
 */
#include "instance/instance.h"

#include "access/xact.h"

TransactionSlot *uuid9562_own_slot;

/*
 * Add a transaction to a history.  Concurrent readers retry if the changecount is
 * odd or has changed, as with PgBackendStatus (5).
 */
static void
add_to_history(TransactionSlot *slot, UuidHistoryEntry entry)
{
	uint64		changecount = pg_atomic_read_u64(&slot->changecount);

	pg_atomic_write_u64(&slot->changecount, changecount + 1);
	pg_write_barrier();
	uuid_history_add(&slot->history, entry);
	pg_write_barrier();
	pg_atomic_write_u64(&slot->changecount, changecount + 2);
}

/*
 * Move the values of a committed or prepared transaction from its slot to a history.
 *
 * PostgreSQL has already removed the transaction from the PGPROC of this process.  So a
 * new snapshot sees a committed transaction as finished, and a prepared transaction as
 * in progress.  An older snapshot sees both as in progress, and so needs the history.
 * Aborted transactions and those without a transaction ID are not added, since they have
 * no rows that can become visible.
 */
static void
finish_transaction(XactEvent event, void *arg)
{
	TransactionSlot *slot = uuid9562_own_slot;
	FullTransactionId xid = GetTopFullTransactionIdIfAny();
	UuidHistoryEntry entry;
	bool		generated = false;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;

	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		uint64		first = pg_atomic_read_u64(&slot->first[i]);

		entry.first[i] = first != 0 ? first : UUID_FIRST_NONE;
		generated |= first != 0;
	}
	if (!generated)
		return;

	entry.xid = U64FromFullTransactionId(xid);
	if (event == XACT_EVENT_PREPARE)
	{
		const PGPROC *proc = two_phase_proc(xid);

		Assert(GetNumberFromPGProc(proc) >= FIRST_PREPARED_XACT_PROC_NUMBER);
		add_to_history(slot_of(proc), entry);
	}
	else if (event == XACT_EVENT_COMMIT && FullTransactionIdIsValid(xid))
		add_to_history(slot, entry);

	/* (2): clear the slot only after adding the values to the history */
	pg_write_barrier();
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
		pg_atomic_write_u64(&slot->first[i], 0);
}

/*
 * Start to use the slot of this process, before its first ordered value.  Register
 * finish_transaction() for the end of each transaction.
 */
void
uuid9562_take_slot(void)
{
	RegisterXactCallback(finish_transaction, NULL);
	uuid9562_own_slot = slot_of(MyProc);
}

/*
 * Return first_known_xid: the smallest ID of the transactions in progress that are not
 * prepared.  If there is no such transaction, return the next ID to be assigned.
 *
 * The next ID is read first, under XidGenLock.  PostgreSQL stores an ID in the PGPROC
 * of its transaction before it releases that lock, so no transaction is missed.
 */
uint64
uuid9562_find_first_known_xid(void)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint64		first = U64FromFullTransactionId(next);

	for (int i = 0; i < FIRST_PREPARED_XACT_PROC_NUMBER; i++)
	{
		TransactionId xid = ((const volatile PGPROC *) GetPGProcByNumber(i))->xid;

		if (TransactionIdIsNormal(xid) && TransactionIdPrecedes(xid, XidFromFullTransactionId(next)))
			first = Min(first, full_xid(xid, next));
	}
	return first;
}
