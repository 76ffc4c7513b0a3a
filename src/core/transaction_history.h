/*
 * transaction_history.h
 *		The smallest ordered values of the transactions that a process finished.
 *
 * If a reader's snapshot sees a transaction as in progress, the reader needs the smallest value
 * that the transaction generated.  The history cannot keep every transaction, so it merges older
 * transactions in pairs.  A merged entry has the smaller of both values, the ID of the newer
 * transaction, and the database of both, or 0 if their databases differ.  A snapshot that sees the
 * older transaction as in progress also sees the newer one as in progress, since that finished
 * later.  So the reader uses the merged value, which can be smaller than necessary but is never too
 * great.
 *
 * Level n holds up to two entries of 2^n transactions each.  Only the oldest entry of the last
 * level covers more: all older transactions.  After the 2^n transactions of an entry of level n, at
 * least 2^n - 1 others have finished.  So at a constant rate of transactions, the value that a
 * reader uses is at most about twice as old as its snapshot.
 */
#ifndef UUID9562_CORE_TRANSACTION_HISTORY_H
#define UUID9562_CORE_TRANSACTION_HISTORY_H

#include "clock.h"

/*
 * Together, all entries except the oldest cover about 2^18 transactions of a process, or 4 minutes
 * at 1,000 a second.  More levels would increase the shared memory of each process.
 */
#ifndef UUID_HISTORY_LEVELS
#define UUID_HISTORY_LEVELS	18
#endif
#define UUID_HISTORY_ON_LEVEL	2	/* fixed, because a full level is merged
									 * as a pair */

/* Means more than one database */
#define UUID_ANY_DATABASE	0

typedef struct UuidHistoryEntry
{
	uint64_t	xid;			/* full ID of the newest transaction */
	uint64_t	first;			/* time of the smallest value */
	uint32_t	database;		/* OID, or UUID_ANY_DATABASE */
} UuidHistoryEntry;

/* A zeroed history is empty.  On a level, the older entry comes first. */
typedef struct UuidHistory
{
	uint8_t		count[UUID_HISTORY_LEVELS];
	UuidHistoryEntry levels[UUID_HISTORY_LEVELS][UUID_HISTORY_ON_LEVEL];
} UuidHistory;

/* Merge the two entries of a level.  The result keeps the ID of the newer one, level[1]. */
static inline UuidHistoryEntry
uuid_history_merge(const UuidHistoryEntry *level)
{
	UuidHistoryEntry merged = level[1];

	if (level[0].first < merged.first)
		merged.first = level[0].first;
	if (level[0].database != merged.database)
		merged.database = UUID_ANY_DATABASE;
	return merged;
}

/*
 * Add a transaction that finished after all transactions in the history.  If a level is full, merge
 * its two entries, and add the result to the next level, or keep it on the last level.
 */
static inline void
uuid_history_add(UuidHistory *history, UuidHistoryEntry entry)
{
	for (int i = 0;; i++)
	{
		UuidHistoryEntry *level = history->levels[i];
		UuidHistoryEntry merged;

		if (history->count[i] < UUID_HISTORY_ON_LEVEL)
		{
			level[history->count[i]++] = entry;
			return;
		}
		merged = uuid_history_merge(level);
		if (i == UUID_HISTORY_LEVELS - 1)
		{
			level[0] = merged;
			level[1] = entry;
			return;
		}
		level[0] = entry;
		history->count[i] = 1;
		entry = merged;
	}
}

#endif							/* UUID9562_CORE_TRANSACTION_HISTORY_H */
