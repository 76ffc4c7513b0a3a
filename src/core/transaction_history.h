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
#define UUID_HISTORY_ON_LEVEL	2

/* Means more than one database */
#define UUID_ANY_DATABASE	0

typedef struct UuidHistoryEntry
{
	uint64_t	xid;			/* full ID of the newest transaction */
	uint64_t	first;			/* time of the smallest value */
	uint32_t	database;		/* OID, or UUID_ANY_DATABASE */
} UuidHistoryEntry;

/* The entries of a level, without padding between them.  The older entry comes first. */
typedef struct UuidHistoryLevel
{
	uint64_t	xid[UUID_HISTORY_ON_LEVEL];
	uint64_t	first[UUID_HISTORY_ON_LEVEL];
	uint32_t	database[UUID_HISTORY_ON_LEVEL];
} UuidHistoryLevel;

/* A zeroed history is empty. */
typedef struct UuidHistory
{
	uint8_t		count[UUID_HISTORY_LEVELS];
	UuidHistoryLevel levels[UUID_HISTORY_LEVELS];
} UuidHistory;

static inline void
uuid_history_set(UuidHistoryLevel *level, int i, UuidHistoryEntry entry)
{
	level->xid[i] = entry.xid;
	level->first[i] = entry.first;
	level->database[i] = entry.database;
}

/* Merge the entries of a level. */
static inline UuidHistoryEntry
uuid_history_merge(const UuidHistoryLevel *level)
{
	UuidHistoryEntry merged = {level->xid[1], level->first[1], level->database[1]};

	if (level->first[0] < merged.first)
		merged.first = level->first[0];
	if (level->database[0] != merged.database)
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
		UuidHistoryLevel *level = &history->levels[i];
		UuidHistoryEntry merged;

		if (history->count[i] < UUID_HISTORY_ON_LEVEL)
		{
			uuid_history_set(level, history->count[i]++, entry);
			return;
		}
		merged = uuid_history_merge(level);
		if (i == UUID_HISTORY_LEVELS - 1)
		{
			uuid_history_set(level, 0, merged);
			uuid_history_set(level, 1, entry);
			return;
		}
		uuid_history_set(level, 0, entry);
		history->count[i] = 1;
		entry = merged;
	}
}

#endif							/* UUID9562_CORE_TRANSACTION_HISTORY_H */
