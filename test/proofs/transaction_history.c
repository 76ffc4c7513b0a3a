/*
 * Properties of the transaction history, by induction: each property holds in an empty history, and
 * if it holds before a transaction is added, it also holds afterwards.  The history has four levels
 * here instead of 18, since all levels except the first and the last are treated alike.
 */
#include "proofs.h"

#define UUID_HISTORY_LEVELS	4
#include "transaction_history.h"

static UuidHistory history;

static void
any_history(void)
{
	for (int i = 0; i < UUID_HISTORY_LEVELS; i++)
	{
		history.count[i] = nondet_uint8();
		assume(history.count[i] <= UUID_HISTORY_ON_LEVEL);
		assume(i == 0 || history.count[i] == 0 || history.count[i - 1] > 0);
		for (int j = 0; j < UUID_HISTORY_ON_LEVEL; j++)
		{
			history.levels[i].xid[j] = nondet_uint64();
			history.levels[i].first[j] = nondet_uint64();
			history.levels[i].database[j] = nondet_uint32();
		}
	}
}

static UuidHistoryEntry
any_entry(void)
{
	UuidHistoryEntry entry = {nondet_uint64(), nondet_uint64(), nondet_uint32()};

	return entry;
}

/* Check whether the IDs of the entries descend from the newest to the oldest entry. */
static bool
ids_descend_below(uint64_t limit)
{
	for (int i = 0; i < UUID_HISTORY_LEVELS; i++)
	{
		for (int j = history.count[i] - 1; j >= 0; j--)
		{
			if (history.levels[i].xid[j] >= limit)
				return false;
			limit = history.levels[i].xid[j];
		}
	}
	return true;
}

/*
 * Check whether a reader uses the value of a transaction, or a smaller value.  The reader's
 * snapshot sees the transaction as in progress, but may see every transaction with a smaller ID as
 * finished. So the reader is certain to use only the entries whose ID is not smaller.
 */
static bool
has(UuidHistoryEntry transaction)
{
	for (int i = 0; i < UUID_HISTORY_LEVELS; i++)
	{
		const UuidHistoryLevel *level = &history.levels[i];

		for (int j = 0; j < history.count[i]; j++)
		{
			bool		used = level->database[j] == transaction.database ||
				level->database[j] == UUID_ANY_DATABASE;

			if (used && level->xid[j] >= transaction.xid && level->first[j] <= transaction.first)
				return true;
		}
	}
	return false;
}

/* [--unwind 6] */
void
entries_stay_in_the_order_of_their_ids(void)
{
	UuidHistoryEntry entry = any_entry();

	any_history();
	assume(ids_descend_below(entry.xid));
	uuid_history_add(&history, entry);
	assert(ids_descend_below(UINT64_MAX) || entry.xid == UINT64_MAX);
	assert(history.levels[0].xid[history.count[0] - 1] == entry.xid);
	for (int i = 0; i < UUID_HISTORY_LEVELS; i++)
	{
		assert(history.count[i] <= UUID_HISTORY_ON_LEVEL);
		assert(i == 0 || history.count[i] == 0 || history.count[i - 1] > 0);
	}
}

/* [--unwind 6] */
void
no_transaction_is_forgotten(void)
{
	UuidHistoryEntry entry = any_entry();
	UuidHistoryEntry earlier = any_entry();

	any_history();
	assume(ids_descend_below(entry.xid));
	assume(earlier.database != UUID_ANY_DATABASE && entry.database != UUID_ANY_DATABASE);
	assume(has(earlier));
	uuid_history_add(&history, entry);
	assert(has(earlier));
	assert(has(entry));
}
