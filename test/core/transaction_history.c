/*
 * What is remembered of ended transactions: never an answer that is too new, and
 * one that is not much older than the snapshot that asks.
 */
#include "support.h"

#include "transaction_history.h"

/* The least first value of what a snapshot that sees only numbers below xmax takes to be running. */
static uint64_t
answer(const UuidHistory *ring, uint64_t xmax, int horizon)
{
	uint64_t	least = UUID_FIRST_NONE;

	for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
	{
		for (int i = ring->count[level] - 1; i >= 0; i--)
		{
			const UuidHistoryEntry *entry = &ring->entries[level][i];

			if (entry->xid < xmax)
				return least;
			if (entry->first[horizon] < least)
				least = entry->first[horizon];
		}
	}
	return least;
}

/* One transaction whose first values all are the same. */
static UuidHistoryEntry
transaction(uint64_t xid, uint64_t first)
{
	UuidHistoryEntry	entry = {xid, {first, first, first}};

	return entry;
}

/* Of transactions that end one after the other, each with a later first value. */
static void
never_newer_and_not_much_older(void **state)
{
	const uint64_t transactions = 200000;
	UuidHistory ring = {0};

	(void) state;
	for (uint64_t xid = 1; xid <= transactions; xid++)
	{
		uuid_history_add(&ring, transaction(xid, xid));
		if (xid % 997 != 0 && xid > 600)
			continue;
		/* a snapshot that was taken before the last so many ended */
		for (uint64_t age = 0; age <= xid; age += age / 7 + 1)
		{
			uint64_t	exact = age == 0 ? UUID_FIRST_NONE : xid - age + 1;
			uint64_t	given = answer(&ring, xid - age + 1, 1);

			if (given > exact)
				fail_msg("after %" PRIu64 ", %" PRIu64 " ago: %" PRIu64 " is newer than %" PRIu64, xid, age, given, exact);
			if (age == 0 ? given != exact : exact - given > age)
				fail_msg("after %" PRIu64 ", %" PRIu64 " ago: %" PRIu64 " is much older than %" PRIu64, xid, age, given, exact);
		}
	}
}

/* First values in any order, as after a reset, and transactions that used one generator alone. */
static void
sound_for_any_history(void **state)
{
	enum
	{
		TRANSACTIONS = 40
	};

	(void) state;
	for (int run = 0; run < 2000; run++)
	{
		UuidHistory ring = {0};
		UuidHistoryEntry	history[TRANSACTIONS];

		for (uint64_t xid = 0; xid < TRANSACTIONS; xid++)
		{
			for (int i = 0; i < UUID_ORDERED_COUNT; i++)
				history[xid].first[i] = test_bits() % 3 == 0 ? UUID_FIRST_NONE : test_bits() % 1000 + 1;
			history[xid].xid = xid;
			uuid_history_add(&ring, history[xid]);
			for (uint64_t xmax = 0; xmax <= xid + 1; xmax++)
			{
				for (int i = 0; i < UUID_ORDERED_COUNT; i++)
				{
					uint64_t	given = answer(&ring, xmax, i);

					for (uint64_t running = xmax; running <= xid; running++)
					{
						if (given > history[running].first[i])
							fail_msg("run %d: %" PRIu64 " is newer than %" PRIu64 ", which is not seen", run, given, history[running].first[i]);
					}
				}
			}
		}
	}
}

/* The last level takes all that fall out of it. */
static void
forgets_nothing(void **state)
{
	UuidHistory ring = {0};
	UuidHistoryEntry  *oldest = &ring.entries[UUID_HISTORY_LEVELS - 1][0];

	(void) state;
	for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
	{
		for (int i = 0; i < UUID_HISTORY_ON_LEVEL; i++)
			ring.entries[level][i] = transaction(2 * (UUID_HISTORY_LEVELS - level) + i, 2 * (UUID_HISTORY_LEVELS - level) + i);
		ring.count[level] = UUID_HISTORY_ON_LEVEL;
	}
	assert_int_equal(oldest->first[0], 2);
	for (uint64_t xid = 100; xid < 100 + (1 << 10); xid++)
	{
		uuid_history_add(&ring, transaction(xid, xid));
		assert_int_equal(oldest->first[0], 2);
		assert_int_equal(answer(&ring, 0, 0), 2);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_newer_and_not_much_older),
		cmocka_unit_test(sound_for_any_history),
		cmocka_unit_test(forgets_nothing),
	};

	return run_core_tests(tests);
}
