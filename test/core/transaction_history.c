/*
 * Tests of the transaction history.  A reader gets a value that is not greater than any
 * value of the transactions that its snapshot does not see.  This value is at most
 * about twice as old as the snapshot.
 */
#include "support.h"

#include "transaction_history.h"

/* Return the smallest value of the entries with an ID of at least xmax. */
static uint64_t
smallest_unseen(const UuidHistory *history, uint64_t xmax, int generator)
{
	uint64_t	smallest = UUID_NO_TIME;

	for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
	{
		for (int i = history->count[level] - 1; i >= 0; i--)
		{
			const UuidHistoryEntry *entry = &history->entries[level][i];

			if (entry->xid < xmax)
				return smallest;
			if (entry->first[generator] < smallest)
				smallest = entry->first[generator];
		}
	}
	return smallest;
}

/* Return an entry with the same value for each generator. */
static UuidHistoryEntry
transaction(uint64_t xid, uint64_t first)
{
	UuidHistoryEntry entry = {xid, {first, first, first}};

	return entry;
}

/* Add transactions with increasing IDs and values. */
static void
result_is_at_most_twice_as_old(void **state)
{
	const uint64_t transactions = 200000;
	UuidHistory history = {0};

	(void) state;
	for (uint64_t xid = 1; xid <= transactions; xid++)
	{
		uuid_history_add(&history, transaction(xid, xid));
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

/*
 * Test values in random order, as after a reset of the generators, and transactions that
 * use no, some or all generators.
 */
static void
result_is_never_too_great(void **state)
{
	enum
	{
		TRANSACTIONS = 40
	};

	(void) state;
	for (int run = 0; run < 2000; run++)
	{
		UuidHistory history = {0};
		UuidHistoryEntry transactions[TRANSACTIONS];

		for (uint64_t xid = 0; xid < TRANSACTIONS; xid++)
		{
			for (int i = 0; i < UUID_ORDERED_COUNT; i++)
				transactions[xid].first[i] = test_bits() % 3 == 0 ? UUID_NO_TIME : test_bits() % 1000;
			transactions[xid].xid = xid;
			uuid_history_add(&history, transactions[xid]);
			for (uint64_t xmax = 0; xmax <= xid + 1; xmax++)
			{
				for (int i = 0; i < UUID_ORDERED_COUNT; i++)
				{
					uint64_t	given = smallest_unseen(&history, xmax, i);

					for (uint64_t in_progress = xmax; in_progress <= xid; in_progress++)
					{
						if (given > transactions[in_progress].first[i])
							fail_msg("run %d: %" PRIu64 " is greater than %" PRIu64 ", which is not seen", run, given, transactions[in_progress].first[i]);
					}
				}
			}
		}
	}
}

/* The oldest entry keeps the smallest value of all transactions that it covers. */
static void
full_history_loses_nothing(void **state)
{
	UuidHistory history = {0};
	UuidHistoryEntry *oldest = &history.entries[UUID_HISTORY_LEVELS - 1][0];

	(void) state;
	for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
	{
		for (int i = 0; i < UUID_HISTORY_ON_LEVEL; i++)
			history.entries[level][i] = transaction(2 * (UUID_HISTORY_LEVELS - level) + i, 2 * (UUID_HISTORY_LEVELS - level) + i);
		history.count[level] = UUID_HISTORY_ON_LEVEL;
	}
	assert_int_equal(oldest->first[0], 2);
	for (uint64_t xid = 100; xid < 100 + (1 << 10); xid++)
	{
		uuid_history_add(&history, transaction(xid, xid));
		assert_int_equal(oldest->first[0], 2);
		assert_int_equal(smallest_unseen(&history, 0, 0), 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(result_is_at_most_twice_as_old),
		cmocka_unit_test(result_is_never_too_great),
		cmocka_unit_test(full_history_loses_nothing),
	};

	return run_core_tests(tests);
}
