/*
 * Tests of what a reader's state tells its caller, and of what is too rare or too large for the
 * schedules of reader_schedules.c, which test the rules.
 */
#include "support.h"

#include "reader.h"

enum
{
	LEASE = 1000,
	EXPIRY = 50 * LEASE,		/* of the reader */
	PAGES = UUID_READER_PAGES_MAX
};

/* Return an ID of a number, which is greater than nothing. */
static UuidReaderId
id(uint64_t number)
{
	UuidReaderId id = {{0}};

	uuid_layout_store64(id.bytes, number);
	id.bytes[UUID_BYTES - 1] = 1;
	return id;
}

static void
assert_id_equal(UuidReaderId id, UuidReaderId expected)
{
	assert_memory_equal(id.bytes, expected.bytes, UUID_BYTES);
}

static UuidReaderPosition
position(uint64_t number, int end, int horizon)
{
	UuidReaderPosition position = {number, id(horizon), id(end), 1};

	return position;
}

static void
add(UuidReader *reader, uint64_t number, int end, int horizon, int64_t now)
{
	UuidReaderPosition page = position(number, end, horizon);

	uuid_reader_add_page(reader, &page, false, now, LEASE);
}

static void
add_reset(UuidReader *reader, uint64_t number, int horizon, int64_t now)
{
	UuidReaderPosition page = position(number, horizon, horizon);

	uuid_reader_add_page(reader, &page, true, now, LEASE);
}

static UuidReaderResult
done(UuidReader *reader, uint64_t number, int end, int horizon, int64_t now)
{
	UuidReaderPosition page = position(number, end, horizon);

	return uuid_reader_done(reader, &page, uuid_reader_nothing, now);
}

/* Return a reader that has confirmed an ID. */
static UuidReader
reader_at(int confirmed)
{
	UuidReader	reader = {0};

	reader.confirmed = id(confirmed);
	return reader;
}

static bool
is_known(const UuidReader *reader, uint64_t number)
{
	return uuid_reader_find(reader, number) >= 0;
}

static const UuidReaderPage *
page_of(const UuidReader *reader, uint64_t number)
{
	assert_true(is_known(reader, number));
	return &reader->pages[uuid_reader_find(reader, number)];
}

/* --- IDs ---------------------------------------------------------------------- */

TEST(id_before_another_is_the_greatest_below_it)
{
	for (int i = 0; i < 10000; i++)
	{
		const uint64_t high = test_number(64);
		const uint64_t low = test_number(64);
		UuidReaderId number;
		UuidReaderId before;

		if (high == 0 && low == 0)
			continue;
		uuid_layout_store64(number.bytes, high);
		uuid_layout_store64(number.bytes + 8, low);
		before = uuid_reader_id_before(number);
		assert_true(uuid_layout_load64(before.bytes + 8) == low - 1);
		assert_true(uuid_layout_load64(before.bytes) == (low == 0 ? high - 1 : high));
		assert_true(uuid_reader_id_less(before, number));
		assert_false(uuid_reader_id_less(number, before));
		assert_id_equal(uuid_reader_id_min(number, before), before);
		assert_id_equal(uuid_reader_id_min(before, number), before);
	}
}

/* --- one program ---------------------------------------------------------------- */

/* The caller stores a reader only if it has changed. */
TEST(unchanged_reader_is_not_stored)
{
	UuidReader	reader = reader_at(10);
	UuidReader	before;

	add(&reader, 1, 12, 20, 0);
	assert_true(reader.changed);
	reader.changed = false;
	before = reader;
	uuid_reader_start(&reader, id(10), LEASE - 1);
	assert_memory_equal(&reader, &before, sizeof(reader));

	/* an unknown page that was read later */
	assert_int_equal(done(&reader, 2, 15, 30, 1), UUID_READER_UNKNOWN_PAGE);
	assert_true(reader.changed);	/* the cap */
	reader.changed = false;
	done(&reader, 2, 15, 30, 1);
	assert_false(reader.changed);

	uuid_reader_start(&reader, id(10), LEASE);
	assert_true(reader.changed);
	reader.changed = false;
	uuid_reader_start(&reader, id(10), LEASE + 1);
	assert_false(reader.changed);

	done(&reader, 1, 11, 20, LEASE + 1);
	assert_true(reader.changed);
	reader.changed = false;
	done(&reader, 1, 11, 20, LEASE + 1);
	assert_false(reader.changed);
	done(&reader, 1, 12, 20, LEASE + 1);
	assert_true(reader.changed);
	reader.changed = false;
	uuid_reader_lose(&reader);
	assert_true(reader.changed);
	reader.changed = false;
	uuid_reader_lose(&reader);
	assert_false(reader.changed);
}

/* Each of these changes is the only one. */
TEST(each_change_is_stored)
{
	UuidReader	reader = reader_at(5);

	add(&reader, 1, 5, 6, 10);
	done(&reader, 2, 5, 6, 10); /* caps the page */
	reader.changed = false;
	uuid_reader_start(&reader, uuid_reader_nothing, 9);
	assert_true(reader.changed);
	assert_int_equal(page_of(&reader, 1)->read_at, 9);
	reader.changed = false;
	uuid_reader_start(&reader, uuid_reader_nothing, 9 + LEASE);
	assert_true(reader.changed);
	assert_true(page_of(&reader, 1)->expired);
	reader.changed = false;
	done(&reader, 1, 5, 6, 9 + LEASE);
	assert_true(reader.changed);
	assert_int_equal(reader.page_count, 0);
}

/* --- leases ---------------------------------------------------------------------- */

TEST(expired_page_can_confirm)
{
	UuidReader	reader = reader_at(0);

	add(&reader, 1, 5, 6, 0);
	add(&reader, 2, 5, 6, 0);
	assert_int_equal(done(&reader, 1, 3, 6, LEASE), UUID_READER_CONFIRMED);
	/* its own lease does not end while it confirms */
	assert_false(page_of(&reader, 1)->expired);
	assert_true(page_of(&reader, 2)->expired);
	assert_id_equal(reader.confirmed, id(3));
	uuid_reader_start(&reader, uuid_reader_nothing, 100 * LEASE);
	assert_true(page_of(&reader, 1)->expired);
	assert_int_equal(done(&reader, 1, 5, 6, 100 * LEASE), UUID_READER_CONFIRMED);
	assert_id_equal(reader.confirmed, id(5));
	assert_int_equal(reader.page_count, 1);
}

/* If the clock is set back, a page is out for one more lease. */
TEST(lease_begins_again_if_the_clock_is_set_back)
{
	const int64_t year = INT64_C(31557600000000);
	UuidReader	reader = reader_at(9);

	add(&reader, 1, 5, 6, year);
	uuid_reader_start(&reader, uuid_reader_nothing, 100);
	uuid_reader_start(&reader, uuid_reader_nothing, 100 + LEASE - 1);
	assert_false(page_of(&reader, 1)->expired);
	uuid_reader_start(&reader, uuid_reader_nothing, 100 + LEASE);
	assert_true(page_of(&reader, 1)->expired);
	assert_id_equal(uuid_reader_keep(&reader, 100 + 11 * LEASE - 1, EXPIRY), id(6));
}

/* A sanitizer finds an overflow. */
TEST(no_time_overflows)
{
	static const int64_t leases[] = {1, 1000, INT64_C(86400000000), INT64_MAX / 9, INT64_MAX};
	static const int64_t times[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
	const int	time_count = sizeof(times) / sizeof(times[0]);

	for (int round = 0; round < 2000; round++)
	{
		UuidReader	reader = reader_at(0);

		for (int i = 0; i < 3 * PAGES; i++)
		{
			const int64_t lease = leases[test_bits() % 5];
			const int64_t now = test_bits() % 2 ? times[test_bits() % time_count] : (int64_t) test_bits();
			UuidReaderPosition page = position(i + 1, i, i);

			uuid_reader_start(&reader, uuid_reader_nothing, now);
			/* the last microsecond has no lease, and neither have the years before it */
			if (now < INT64_MAX)
				uuid_reader_add_page(&reader, &page, false, now, lease);
			uuid_reader_keep(&reader, times[test_bits() % time_count], lease);
			uuid_reader_start(&reader, uuid_reader_nothing, times[test_bits() % time_count]);
		}
	}
	assert_true(uuid_reader_span(INT64_MIN, INT64_MAX) == INT64_MAX);
	assert_true(uuid_reader_span(INT64_MIN, 0) == INT64_MAX);
	assert_true(uuid_reader_span(INT64_MIN, -1) == INT64_MAX);
	assert_true(uuid_reader_span(-5, 7) == 12);
	assert_true(uuid_reader_later(5, INT64_MAX / 10, 10) == INT64_MAX - 2);
	assert_true(uuid_reader_later(8, INT64_MAX / 10, 10) == INT64_MAX);
	assert_true(uuid_reader_later(-5, INT64_MAX, 1) == INT64_MAX - 5);
	assert_true(uuid_reader_later(-5, INT64_MAX / 10 + 1, 10) == INT64_MAX);
	assert_true(uuid_reader_later(INT64_MIN, 3, 10) == INT64_MIN + 30);
}

/* --- history ---------------------------------------------------------------------- */

TEST(purged_changes_reset)
{
	UuidReader	reader = reader_at(8);
	UuidReaderPosition page = position(1, 5, 6);

	assert_id_equal(uuid_reader_start(&reader, id(8), 0), id(8));
	assert_id_equal(uuid_reader_start(&reader, id(9), 0), uuid_reader_nothing);

	add(&reader, 1, 5, 6, 0);
	add(&reader, 2, 20, 20, 0);
	assert_int_equal(uuid_reader_done(&reader, &page, id(6), 0), UUID_READER_CONFIRMED);
	assert_id_equal(reader.confirmed, id(6));

	add(&reader, 1, 5, 6, 0);
	assert_int_equal(uuid_reader_done(&reader, &page, id(7), 0), UUID_READER_LOST);
	assert_id_equal(uuid_reader_start(&reader, id(7), 0), uuid_reader_nothing);
	assert_int_equal(uuid_reader_done(&reader, &page, id(7), 0), UUID_READER_LOST);

	/* pages that are out do not end this */
	page = position(2, 20, 20);
	assert_int_equal(uuid_reader_done(&reader, &page, id(7), 0), UUID_READER_CONFIRMED);
	assert_id_equal(uuid_reader_start(&reader, id(7), 0), uuid_reader_nothing);

	/* but a reset does */
	add_reset(&reader, 3, 30, 0);
	page = position(3, 30, 30);
	assert_int_equal(uuid_reader_done(&reader, &page, id(7), 0), UUID_READER_CONFIRMED);
	assert_id_equal(uuid_reader_start(&reader, id(7), 0), id(30));
}

TEST(lost_history_resets_after_each_page)
{
	UuidReader	reader = reader_at(8);

	add(&reader, 1, 12, 15, 0);
	add(&reader, 2, 12, 15, 0);
	uuid_reader_lose(&reader);
	assert_id_equal(uuid_reader_start(&reader, uuid_reader_nothing, 1), uuid_reader_nothing);
	assert_id_equal(uuid_reader_keep(&reader, 1, EXPIRY), uuid_reader_everything);
	add_reset(&reader, 3, 20, 1);
	done(&reader, 3, 20, 20, 1);
	assert_id_equal(uuid_reader_start(&reader, uuid_reader_nothing, 1), id(20));

	/* also if the position does not know that */
	assert_int_equal(done(&reader, 1, 12, 15, 2), UUID_READER_LOST);
	assert_id_equal(uuid_reader_start(&reader, uuid_reader_nothing, 2), uuid_reader_nothing);
	add_reset(&reader, 4, 20, 2);
	done(&reader, 4, 20, 20, 2);
	assert_id_equal(uuid_reader_start(&reader, uuid_reader_nothing, 2), id(20));
	assert_id_equal(uuid_reader_start(&reader, uuid_reader_nothing, LEASE), uuid_reader_nothing);
}

/* --- purging ---------------------------------------------------------------------- */

TEST(entries_are_kept_for_pages)
{
	UuidReader	reader = {0};

	assert_id_equal(uuid_reader_keep(&reader, 0, EXPIRY), uuid_reader_everything);
	reader = reader_at(30);
	assert_id_equal(uuid_reader_keep(&reader, 0, EXPIRY), id(30));
	add(&reader, 1, 5, 6, 0);
	/* its cap does not matter */
	reader.pages[0].cap = id(1);
	assert_id_equal(uuid_reader_keep(&reader, 0, EXPIRY), id(6));
	/* also while nobody has noticed the end of the lease */
	assert_id_equal(uuid_reader_keep(&reader, INT64_MAX, EXPIRY), id(6));
	uuid_reader_start(&reader, uuid_reader_nothing, LEASE);
	reader.confirmed = id(30);
	assert_id_equal(uuid_reader_keep(&reader, 11 * LEASE - 1, EXPIRY), id(6));
	assert_id_equal(uuid_reader_keep(&reader, 11 * LEASE, EXPIRY), id(30));
}

TEST(entries_are_kept_longer_for_a_reset)
{
	UuidReader	reader = {0};

	add_reset(&reader, 1, 8, 0);
	assert_id_equal(uuid_reader_keep(&reader, 0, EXPIRY), id(8));
	uuid_reader_start(&reader, uuid_reader_nothing, LEASE);
	assert_id_equal(uuid_reader_keep(&reader, EXPIRY - 1, EXPIRY), id(8));
	assert_id_equal(uuid_reader_keep(&reader, EXPIRY, EXPIRY), uuid_reader_everything);
	/* it confirms only up to its cap */
	reader.pages[0].cap = id(6);
	assert_id_equal(uuid_reader_keep(&reader, EXPIRY - 1, EXPIRY), id(6));
	/* the reader has got another reset, and the program of this one can still be at work */
	reader.confirmed = id(30);
	assert_id_equal(uuid_reader_keep(&reader, EXPIRY - 1, EXPIRY), id(6));
	assert_id_equal(uuid_reader_keep(&reader, EXPIRY, EXPIRY), id(30));
}

/* --- many pages ---------------------------------------------------------------------- */

/* Fill a reader with pages that are read one microsecond after another. */
static UuidReader
full_reader(int first_resets)
{
	UuidReader	reader = reader_at(0);

	for (int i = 0; i < PAGES; i++)
	{
		if (i < first_resets)
			add_reset(&reader, i + 1, i + 1, i);
		else
			add(&reader, i + 1, i + 1, i + 1, i);
	}
	return reader;
}

TEST(oldest_expired_page_is_forgotten)
{
	UuidReader	reader = full_reader(2);

	uuid_reader_start(&reader, uuid_reader_nothing, LEASE + 5);
	add(&reader, 100, 100, 100, LEASE + 5);
	assert_int_equal(reader.page_count, PAGES);
	/* pages 1 and 2 are resets */
	for (int i = 1; i <= PAGES; i++)
		assert_int_equal(is_known(&reader, i), i != 3);
	assert_true(is_known(&reader, 100));

	reader = full_reader(2);
	uuid_reader_start(&reader, uuid_reader_nothing, LEASE + 1);
	add(&reader, 100, 100, 100, LEASE + 1);
	for (int i = 1; i <= PAGES; i++)
		assert_int_equal(is_known(&reader, i), i != 1);
}

/* The last two pages of the older half were read at almost the same time. */
TEST(closest_pages_are_merged)
{
	enum
	{
		FIRST = PAGES / 2 - 1
	};
	UuidReader	reader = reader_at(0);
	const UuidReaderPage *merged;
	int64_t		now = 0;
	int64_t		first_read;

	for (int i = 1; i <= PAGES; i++)
	{
		add(&reader, i, i, 200 - i, now);
		now += i == FIRST ? 1 : i > PAGES / 2 ? 0 : 10;
	}
	first_read = page_of(&reader, FIRST)->read_at;
	add(&reader, 100, 200, 200, now);
	assert_int_equal(reader.page_count, PAGES);
	for (int i = 1; i <= PAGES; i++)
		assert_int_equal(is_known(&reader, i), i != FIRST && i != FIRST + 1);
	assert_true(is_known(&reader, 100));
	merged = &reader.pages[FIRST - 1];
	assert_true(merged->number == UUID_READER_NO_NUMBER);
	assert_false(is_known(&reader, UUID_READER_NO_NUMBER));
	assert_id_equal(merged->horizon, id(200 - FIRST - 1));
	assert_int_equal(merged->read_at, first_read);
	assert_int_equal(merged->lease_end, first_read + 1 + LEASE);
	assert_false(merged->is_reset);
	assert_false(merged->expired);

	/* it guards its horizon when the later lease ends, and is forgotten */
	uuid_reader_start(&reader, uuid_reader_nothing, first_read + LEASE);
	assert_true(page_of(&reader, FIRST - 1)->expired);
	assert_int_equal(reader.page_count, PAGES);
	reader.confirmed = id(195);
	uuid_reader_start(&reader, uuid_reader_nothing, first_read + 1 + LEASE);
	assert_id_equal(reader.confirmed, id(200 - FIRST - 1));
	assert_int_equal(reader.page_count, PAGES - 1);
}

/* However many pages nobody confirms, purging goes on, and the newest pages can confirm. */
TEST(purging_follows_many_pages)
{
	for (int per_lease = 20; per_lease <= LEASE; per_lease += per_lease / 3)
	{
		UuidReader	reader = reader_at(0);

		for (int i = 1; i <= 20 * per_lease; i++)
		{
			const int64_t now = (int64_t) i * LEASE / per_lease;
			UuidReaderId keep;

			uuid_reader_start(&reader, uuid_reader_nothing, now);
			add(&reader, 2 * i, i, i, now);
			/* another program confirms its pages */
			add(&reader, 2 * i + 1, i, i, now);
			assert_int_equal(done(&reader, 2 * i + 1, i, i, now), UUID_READER_CONFIRMED);
			assert_id_equal(reader.confirmed, id(i));
			assert_true(reader.page_count <= PAGES);
			for (int j = i - PAGES / 2 + 1; j <= i; j++)
				assert_true(j <= 0 || is_known(&reader, 2 * j));
			/* expired pages count for ten leases, if they are not forgotten */
			keep = uuid_reader_keep(&reader, now, EXPIRY);
			assert_true(i < 12 * per_lease || !uuid_reader_id_less(keep, id(i - 11 * per_lease - per_lease / 5)));
		}
	}
}
