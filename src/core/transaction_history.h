/*
 * transaction_history.h
 *		The smallest ordered values of the transactions that a process finished.
 *
 * A reader whose snapshot sees a transaction as in progress needs the smallest
 * value that the transaction generated.  The history cannot keep every
 * transaction, so it merges older transactions in pairs.  A merged entry has the
 * smaller of both values and the ID of the newer transaction.  If a snapshot sees
 * either transaction as in progress, the reader uses the value of the merged entry.  This
 * value can be smaller than necessary but is never too great.
 *
 * Level n holds up to two entries of 2^n transactions each, but the oldest entry of the
 * last level covers all older transactions.  Every other entry covers at most t + 1
 * transactions if t transactions finished after the newest of them.  So the value of the
 * entry is at most about twice as old as a snapshot that sees this newest transaction as in
 * progress.
 */
#ifndef UUID9562_CORE_TRANSACTION_HISTORY_H
#define UUID9562_CORE_TRANSACTION_HISTORY_H

#include "kind.h"

/* All entries except the oldest cover about 2^24 transactions: 28 minutes at 10,000/s. */
#ifndef UUID_HISTORY_LEVELS
#define UUID_HISTORY_LEVELS	24
#endif
#define UUID_HISTORY_ON_LEVEL	2

typedef struct UuidHistoryEntry
{
	uint64_t	xid;			/* full ID of the newest transaction */
	uint64_t	first[UUID_ORDERED_COUNT];	/* time of the smallest value per
											 * generator, or UUID_NO_TIME */
} UuidHistoryEntry;

/* A zeroed history is empty.  On each level the older entry comes first. */
typedef struct UuidHistory
{
	uint8_t		count[UUID_HISTORY_LEVELS];
	UuidHistoryEntry entries[UUID_HISTORY_LEVELS][UUID_HISTORY_ON_LEVEL];
} UuidHistory;

/* The newer entry keeps its ID, and gets the smaller value of each generator. */
static inline void
uuid_history_merge(UuidHistoryEntry *newer, const UuidHistoryEntry *older)
{
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		if (older->first[i] < newer->first[i])
			newer->first[i] = older->first[i];
	}
}

/* Add a transaction that finished after all transactions in the history. */
static inline void
uuid_history_add(UuidHistory *history, UuidHistoryEntry entry)
{
	for (int level = 0;; level++)
	{
		UuidHistoryEntry *entries = history->entries[level];
		UuidHistoryEntry merged;

		if (history->count[level] < UUID_HISTORY_ON_LEVEL)
		{
			entries[history->count[level]++] = entry;
			return;
		}
		merged = entries[1];
		uuid_history_merge(&merged, &entries[0]);
		if (level == UUID_HISTORY_LEVELS - 1)
		{
			entries[0] = merged;
			entries[1] = entry;
			return;
		}
		entries[0] = entry;
		history->count[level] = 1;
		entry = merged;
	}
}

#endif							/* UUID9562_CORE_TRANSACTION_HISTORY_H */
