/*
 * transaction_history.h
 *		What is remembered of the transactions that a process has ended: until
 *		when it held the horizon, for a snapshot of any age.
 *
 * A snapshot that takes a transaction to be running asks for the first value that
 * was made in it.  There is no end to the transactions, so older ones are joined
 * two by two, into one with the lesser first value of both and the number of the
 * newer one.  A snapshot that takes either to be running finds a joined one running
 * too, and gets an answer that is older than it need be, never one that is newer.
 *
 * Level n holds one or two entries of 2^n transactions each, or none before there
 * were so many.  So an entry that ended t transactions ago stands for t + 1 of them
 * at most, and the answer to a snapshot is about twice as old as the snapshot, as
 * long as the levels last; the last entry stands for all that went before.
 *
 * Plain C11: no PostgreSQL, no I/O, no static state.
 */
#ifndef UUID9562_CORE_TRANSACTION_HISTORY_H
#define UUID9562_CORE_TRANSACTION_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

/* Generators that have a horizon. */
#define UUID_HORIZON_COUNT	3

/* 2^24 transactions: half an hour of a process that ends 10,000 a second */
#ifndef UUID_HISTORY_LEVELS
#define UUID_HISTORY_LEVELS	24
#endif
#define UUID_HISTORY_ON_LEVEL	2

/* First values are times plus one, so that they are greater than 0. */
#define UUID_FIRST_UNKNOWN	UINT64_C(0) /* may be less than any value */
#define UUID_FIRST_NONE		UINT64_MAX

typedef struct UuidHistoryEntry
{
	uint64_t	xid;			/* of the newest transaction; it never wraps */
	uint64_t	first[UUID_HORIZON_COUNT];	/* the least of each generator */
} UuidHistoryEntry;

/* Zeroed, it remembers nothing.  On each level the older entry comes first. */
typedef struct UuidHistory
{
	uint8_t		count[UUID_HISTORY_LEVELS];
	UuidHistoryEntry	entries[UUID_HISTORY_LEVELS][UUID_HISTORY_ON_LEVEL];
} UuidHistory;

/* Join an older entry to a newer one. */
static inline void
uuid_history_join(UuidHistoryEntry *newer, const UuidHistoryEntry *older)
{
	for (int i = 0; i < UUID_HORIZON_COUNT; i++)
	{
		if (older->first[i] < newer->first[i])
			newer->first[i] = older->first[i];
	}
}

/* Remember one more, which ended, or began to end, after all of the others. */
static inline void
uuid_history_add(UuidHistory *ring, UuidHistoryEntry entry)
{
	for (int level = 0;; level++)
	{
		UuidHistoryEntry  *entries = ring->entries[level];
		UuidHistoryEntry	joined;

		if (ring->count[level] < UUID_HISTORY_ON_LEVEL)
		{
			entries[ring->count[level]++] = entry;
			return;
		}
		joined = entries[1];
		uuid_history_join(&joined, &entries[0]);
		if (level == UUID_HISTORY_LEVELS - 1)
		{
			entries[0] = joined;
			entries[1] = entry;
			return;
		}
		entries[0] = entry;
		ring->count[level] = 1;
		entry = joined;
	}
}

#endif							/* UUID9562_CORE_TRANSACTION_HISTORY_H */
