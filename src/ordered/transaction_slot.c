/*
 * transaction_slot.c
 *		The smallest ordered value of each transaction.  next_value.c records the value in the
 *		slot of the process.
 *
 * Each process and each prepared transaction has a slot in shared memory.  A reader computes
 * a horizon from all slots.  horizon.c proves that this is correct, in steps (1) to (7).
 *
 * The slots cover all values generated since the first use of an ordered function after startup or
 * promotion.  A transaction with an earlier value has finished or is prepared, and its ID is less
 * than first_known_xid.  A transaction that can still generate a value has no ID yet, or an ID of
 * at least first_known_xid.  So if a snapshot sees a transaction with an ID below first_known_xid
 * as in progress, its values can be missing in the slots, and the horizon is unknown.
 */
#include "ordered/shared_state.h"

#include "access/xact.h"
#include "utils/resowner.h"

TransactionSlot *uuid9562_own_slot;
void		(*uuid9562_finish_hook) (void) = NULL;
ValueRange	uuid9562_own_values = NO_VALUES;	/* of this transaction */

/*
 * Add a finished or prepared transaction to the history of a slot.  Concurrent readers retry if the
 * changecount is odd or has changed, as readers of PgBackendStatus do (step (5) of horizon.c).  The
 * first barrier pairs with the second one of smallest_finished(), and the second with the first.
 *
 * Only this process writes the slot meanwhile, because the slot is its own, or that of the
 * transaction that it prepares.  The changecount cannot stay odd, because nothing in between raises
 * an error.
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
 * Add the smallest value of a finished or prepared transaction to the history of the given slot,
 * and then clear the value in the slot of this process.  history_slot is NULL if no row of the
 * transaction can become visible.
 */
static void
finish_transaction(TransactionSlot *history_slot)
{
	TransactionSlot *slot = uuid9562_own_slot;
	UuidHistoryEntry entry;

	/* NULL if uuid9562_take_slot() failed after it registered a callback */
	if (slot == NULL)
		return;
	entry.xid = U64FromFullTransactionId(GetTopFullTransactionIdIfAny());
	entry.first = pg_atomic_read_u64(&slot->first);
	entry.database = MyDatabaseId;
	if (entry.first == UUID_NO_TIME)
		return;
	Assert(history_slot == NULL || entry.xid != 0);
	if (history_slot != NULL)
		add_to_history(history_slot, entry);

	/* step (2) of horizon.c: clear after the barriers of add_to_history() */
	pg_atomic_write_u64(&slot->first, UUID_NO_TIME);
	uuid9562_own_values = NO_VALUES;
	if (uuid9562_finish_hook != NULL)
		uuid9562_finish_hook();
}

/*
 * Transaction callback: finish a transaction that aborted or was prepared.
 *
 * An aborted transaction has no visible rows, and so needs no history.  After PREPARE, the
 * transaction belongs to another PGPROC, and snapshots see it as in progress.  So its value goes to
 * the history in the slot of that PGPROC.
 */
static void
finish_aborted_or_prepared(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_ABORT)
		finish_transaction(NULL);
	else if (event == XACT_EVENT_PREPARE)
	{
		const PGPROC *proc = two_phase_proc(GetTopFullTransactionIdIfAny());

		Assert(GetNumberFromPGProc(proc) >= FIRST_PREPARED_XACT_PROC_NUMBER);
		finish_transaction(slot_of(proc));
	}
}

/*
 * Resource release callback: finish a transaction that committed.
 *
 * PostgreSQL calls this function after the transaction callbacks.  Callbacks of other extensions,
 * such as Citus, can commit rows with values of this transaction on other servers.  So the slot
 * must hold the horizon until all transaction callbacks have returned.  This callback cannot
 * distinguish COMMIT from PREPARE, but finish_aborted_or_prepared() has cleared the slot at
 * PREPARE.
 *
 * Older snapshots see the transaction as in progress, so they need its value in the history.
 * Without a transaction ID it has no rows, and needs no history.  PostgreSQL also calls this
 * function for resource owners that belong to no transaction, for example the one of a WAL sender.
 * If this happens during a transaction, IsTransactionState() is true, and the slot must not change.
 * At COMMIT, it is already false.
 */
static void
finish_committed(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *arg)
{
	bool		has_xid = FullTransactionIdIsValid(GetTopFullTransactionIdIfAny());

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS || !is_commit || !is_top_level ||
		IsTransactionState())
		return;
	finish_transaction(has_xid ? uuid9562_own_slot : NULL);
}

/* Check whether a UUID is between the smallest and the greatest v7 value of this transaction. */
bool
uuid9562_is_own(const uint8 *uuid)
{
	UuidPayload payload = uuid_layout_unpack(uuid, 7);

	return uuid_layout_version(uuid) == 7 &&
		!uuid_payload_less(payload, uuid9562_own_values.first) &&
		!uuid_payload_less(uuid9562_own_values.last, payload);
}

/* Start to use the slot of this process, before its first ordered value. */
void
uuid9562_take_slot(void)
{
	RegisterXactCallback(finish_aborted_or_prepared, NULL);
	RegisterResourceReleaseCallback(finish_committed, NULL);
	uuid9562_own_slot = slot_of(MyProc);
}

/*
 * Return first_known_xid: the smallest ID of the transactions in progress that are not prepared.
 * If there is no such transaction, return the next ID to be assigned.
 *
 * Read the next ID first.  ReadNextFullTransactionId() acquires XidGenLock, and PostgreSQL stores
 * an ID in the PGPROC of its transaction before it releases this lock, so no transaction is missed.
 */
uint64
uuid9562_find_first_known_xid(void)
{
	FullTransactionId next = ReadNextFullTransactionId();
	uint64		first = U64FromFullTransactionId(next);

	for (int i = 0; i < FIRST_PREPARED_XACT_PROC_NUMBER; i++)
	{
		TransactionId xid = ((const volatile PGPROC *) GetPGProcByNumber(i))->xid;

		if (TransactionIdIsNormal(xid) &&
			TransactionIdPrecedes(xid, XidFromFullTransactionId(next)))
			first = Min(first, full_xid(xid, next));
	}
	return first;
}
