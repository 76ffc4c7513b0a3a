/*
 * Tests of the transaction history.  The value that a reader gets must not be greater than the
 * value of any transaction that the reader's snapshot does not see.  It must be at most about twice
 * as old as the snapshot.
 */
#include "support.h"

#include "transaction_history.h"

#define DATABASES		3

/* Return the smallest value of a database's entries with an ID of at least xmax. */
static uint64_t
smallest_unseen(const UuidHistory *history, uint64_t xmax, uint32_t database)
{
	uint64_t	smallest = UUID_NO_TIME;

	for (int i = 0; i < UUID_HISTORY_LEVELS; i++)
	{
		const UuidHistoryEntry *level = history->levels[i];

		for (int j = history->count[i] - 1; j >= 0; j--)
		{
			if (level[j].xid < xmax)
				return smallest;
			if ((level[j].database == database || level[j].database == UUID_ANY_DATABASE) &&
				level[j].first < smallest)
				smallest = level[j].first;
		}
	}
	return smallest;
}

static UuidHistoryEntry
transaction(uint64_t xid, uint64_t first, uint32_t database)
{
	UuidHistoryEntry entry = {xid, first, database};

	return entry;
}

/* Add transactions with increasing IDs and values. */
TEST(result_is_at_most_twice_as_old)
{
	const uint64_t transactions = 200000;
	UuidHistory history = {0};

	for (uint64_t xid = 1; xid <= transactions; xid++)
	{
		uuid_history_add(&history, transaction(xid, xid, 1));
		if (xid % 997 != 0 && xid > 600)
			continue;
		/* take snapshots that do not see the last "age" transactions */
		for (uint64_t age = 0; age <= xid; age += age / 7 + 1)
		{
			uint64_t	exact = age == 0 ? UUID_NO_TIME : xid - age + 1;
			uint64_t	given = smallest_unseen(&history, xid - age + 1, 1);

			if (given > exact)
				fail_msg("after %" PRIu64 ", %" PRIu64 " ago: %" PRIu64 " is greater than %" PRIu64, xid, age, given, exact);
			if (age == 0 ? given != exact : exact - given > age)
				fail_msg("after %" PRIu64 ", %" PRIu64 " ago: %" PRIu64 " is more than twice as old as %" PRIu64, xid, age, given, exact);
		}
	}
}

/* Test random databases, and values in random order, which resets of the generator can cause. */
TEST(result_is_never_too_great)
{
	enum
	{
		TRANSACTIONS = 40
	};

	for (int run = 0; run < 2000; run++)
	{
		UuidHistory history = {0};
		UuidHistoryEntry transactions[TRANSACTIONS];

		for (uint64_t xid = 0; xid < TRANSACTIONS; xid++)
		{
			transactions[xid] = transaction(xid, test_bits() % 1000, 1 + test_bits() % DATABASES);
			uuid_history_add(&history, transactions[xid]);
			for (uint64_t xmax = 0; xmax <= xid + 1; xmax++)
			{
				uint64_t	given[DATABASES];

				for (int i = 0; i < DATABASES; i++)
					given[i] = smallest_unseen(&history, xmax, i + 1);
				for (uint64_t in_progress = xmax; in_progress <= xid; in_progress++)
				{
					const UuidHistoryEntry *entry = &transactions[in_progress];

					if (given[entry->database - 1] > entry->first)
						fail_msg("run %d: %" PRIu64 " is greater than %" PRIu64 ", which is not seen",
								 run, given[entry->database - 1], entry->first);
				}
			}
		}
	}
}

/* The oldest entry keeps the smallest value of all transactions that it covers. */
TEST(full_history_loses_nothing)
{
	UuidHistory history = {0};
	const UuidHistoryEntry *last = history.levels[UUID_HISTORY_LEVELS - 1];

	for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
	{
		for (int i = 0; i < UUID_HISTORY_ON_LEVEL; i++)
		{
			uint64_t	xid = 2 * (UUID_HISTORY_LEVELS - level) + i;

			history.levels[level][i] = transaction(xid, xid, 1);
		}
		history.count[level] = UUID_HISTORY_ON_LEVEL;
	}
	assert_int_equal(last[0].first, 2);
	for (uint64_t xid = 100; xid < 100 + (1 << 10); xid++)
	{
		uuid_history_add(&history, transaction(xid, xid, 1));
		assert_int_equal(last[0].first, 2);
		assert_int_equal(smallest_unseen(&history, 0, 1), 2);
	}
}
