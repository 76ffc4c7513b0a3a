/*
 * snapshot_horizons.c
 *		The horizons that the current transaction has computed, by snapshot.
 *
 * A statement can call uuidv7_horizon() several times: for each row, partition or FETCH.
 * If a later call returned a greater horizon, a reader could skip an ID and then return a
 * greater ID, and would never read the skipped row.  So the function returns the same
 * horizon for the same snapshot until the transaction ends.
 *
 * The cache keeps the most recently used snapshots.  It raises an error for a snapshot
 * that it may have removed, since a second computation could return another horizon.
 */
#include "ordered/shared_state.h"

#include "lib/ilist.h"
#include "utils/memutils.h"

#define CACHE_SIZE		1000

typedef struct CacheEntry
{
	dlist_node	node;
	CachedHorizon result;
	TransactionId xmin;
	TransactionId xmax;
	uint32		xcnt;
	TransactionId xip[FLEXIBLE_ARRAY_MEMBER];
} CacheEntry;

static MemoryContext cache_context; /* child of TopTransactionContext */
static dlist_head entries;		/* most recently used first */
static int	entry_count = -1;	/* -1 if the transaction has no cache */
static uint64 removed_xmax;		/* greatest xmax of removed entries, or 0 */

/* Forget the entries when the end of the transaction frees their memory. */
static void
forget_entries(void *arg)
{
	entry_count = -1;
}

static void
create_cache(void)
{
	MemoryContextCallback *callback;

	cache_context = AllocSetContextCreate(TopTransactionContext, "uuid9562 horizon cache",
										  ALLOCSET_SMALL_SIZES);
	callback = MemoryContextAllocZero(cache_context, sizeof(MemoryContextCallback));
	callback->func = forget_entries;
	MemoryContextRegisterResetCallback(cache_context, callback);
	dlist_init(&entries);
	entry_count = 0;
	removed_xmax = 0;
}

/* Check whether an entry and a snapshot have the same top-level transactions in progress. */
static bool
is_for_snapshot(const CacheEntry *entry, Snapshot snapshot)
{
	return entry->xmax == snapshot->xmax && entry->xmin == snapshot->xmin &&
		entry->xcnt == snapshot->xcnt &&
		(entry->xcnt == 0 ||
		 memcmp(entry->xip, snapshot->xip, entry->xcnt * sizeof(TransactionId)) == 0);
}

/* Remove the least recently used entry.  "next" is the next transaction ID to be assigned. */
static void
remove_oldest(FullTransactionId next)
{
	CacheEntry *oldest = dlist_tail_element(CacheEntry, node, &entries);

	removed_xmax = Max(removed_xmax, full_xid(oldest->xmax, next));
	dlist_delete(&oldest->node);
	if (oldest->result.branches != NULL)
		pfree(oldest->result.branches);
	pfree(oldest);
	entry_count--;
}

/* Return the cache entry of a snapshot.  A new entry has neither branch nor horizon yet. */
CachedHorizon *
uuid9562_cached_horizon(Snapshot snapshot)
{
	FullTransactionId next;
	CacheEntry *entry;
	dlist_iter	iter;

	Assert(snapshot->snapshot_type == SNAPSHOT_MVCC && !snapshot->takenDuringRecovery);
	if (entry_count < 0)
		create_cache();
	dlist_foreach(iter, &entries)
	{
		entry = dlist_container(CacheEntry, node, iter.cur);
		if (is_for_snapshot(entry, snapshot))
		{
			dlist_move_head(&entries, &entry->node);
			return &entry->result;
		}
	}

	next = ReadNextFullTransactionId();
	if (full_xid(snapshot->xmax, next) <= removed_xmax)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many snapshots in one transaction to compute the horizon of an older snapshot"),
				 errhint("Compute the horizon in a new transaction.")));
	if (entry_count >= CACHE_SIZE)
		remove_oldest(next);

	entry = MemoryContextAllocZero(cache_context,
								   offsetof(CacheEntry, xip) +
								   snapshot->xcnt * sizeof(TransactionId));
	entry->xmin = snapshot->xmin;
	entry->xmax = snapshot->xmax;
	entry->xcnt = snapshot->xcnt;
	if (snapshot->xcnt > 0)
		memcpy(entry->xip, snapshot->xip, snapshot->xcnt * sizeof(TransactionId));
	dlist_push_head(&entries, &entry->node);
	entry_count++;
	return &entry->result;
}
