/*
 * reader.h
 *		The state of a reader of changes: how far it has confirmed, and its pages that are out.
 *
 * A reader is a name under which one or several programs read the changes of a table, apply them to
 * a copy, and confirm them.  Programs can die, be late, confirm twice, or apply a page again.  This
 * state decides which changes are delivered again, so that in the end the copy equals the table.
 *
 * The content of a page is as new as its horizon.  Applying the page late undoes only later
 * changes, so delivering these again repairs the copy.  uuid_reader_guard() has them delivered: it
 * lowers the confirmed ID to the horizon.  It also caps all pages that are out, since their
 * confirmations would otherwise pass the horizon before its changes are delivered.  A guard is
 * necessary when a page is confirmed, and when its lease ends, because it can have been applied in
 * the meantime.
 *
 * The copy is right in the end if each program that applies a page finishes this within the lease
 * and before the page is confirmed, or confirms the page afterwards.  A program that is alone can
 * be late.  A page that resets the copy can be applied row by row: replace each row, and then
 * delete the others.  Only a program that empties the copy first needs a transaction.
 * test/core/reader_schedules.c runs all short schedules.
 *
 * Each ID here means this ID and all before it: a page has the entries after the confirmed ID and
 * up to its end, which is at most its horizon.
 */
#ifndef UUID9562_CORE_READER_H
#define UUID9562_CORE_READER_H

#include "layout.h"

/* --- IDs --------------------------------------------------------------------- */

typedef struct UuidReaderId
{
	uint8_t		bytes[UUID_BYTES];
} UuidReaderId;

/* Before all entries: not confirmed, or unknown */
static const UuidReaderId uuid_reader_nothing = {{0}};

/* After all entries */
static const UuidReaderId uuid_reader_everything = {{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0xff
}};

static inline bool
uuid_reader_id_less(UuidReaderId a, UuidReaderId b)
{
	return memcmp(a.bytes, b.bytes, UUID_BYTES) < 0;
}

static inline bool
uuid_reader_id_equal(UuidReaderId a, UuidReaderId b)
{
	return memcmp(a.bytes, b.bytes, UUID_BYTES) == 0;
}

static inline UuidReaderId
uuid_reader_id_min(UuidReaderId a, UuidReaderId b)
{
	return uuid_reader_id_less(b, a) ? b : a;
}

/* Write the two words of an ID, and return their end. */
static inline uint64_t *
uuid_reader_id_to_words(uint64_t *words, UuidReaderId id)
{
	words[0] = uuid_layout_load64(id.bytes);
	words[1] = uuid_layout_load64(id.bytes + 8);
	return words + 2;
}

static inline UuidReaderId
uuid_reader_id_from_words(const uint64_t *words)
{
	UuidReaderId id;

	uuid_layout_store64(id.bytes, words[0]);
	uuid_layout_store64(id.bytes + 8, words[1]);
	return id;
}

/*
 * Return the greatest ID before another one.  The horizon of a generator is an ID below which all
 * values are visible, so the horizon of a page is the ID before it.
 */
static inline UuidReaderId
uuid_reader_id_before(UuidReaderId id)
{
	int			i = UUID_BYTES;

	UUID_ASSERT(!uuid_reader_id_equal(id, uuid_reader_nothing));
	/* subtract 1, with borrow */
	while (id.bytes[--i]-- == 0)
		;
	return id;
}

/* --- state ------------------------------------------------------------------- */

/*
 * Pages of a reader that can be out.  Of them, the last half are never merged.  A limit keeps the
 * state small.  Tests use fewer pages.
 */
#ifndef UUID_READER_PAGES_MAX
#define UUID_READER_PAGES_MAX	64
#endif
#if UUID_READER_PAGES_MAX < 4
#error "the older half must have two pages"
#endif

/* Means that pages were merged, and cannot be confirmed */
#define UUID_READER_NO_NUMBER	0

/* For how many leases an expired page keeps its changes from being purged */
#define UUID_READER_LATE_LEASES	10

typedef struct UuidReaderPage
{
	uint64_t	number;			/* random bits, or UUID_READER_NO_NUMBER */
	UuidReaderId end;			/* of its last entry */
	UuidReaderId horizon;		/* how new its content is; nothing if the
								 * history of the table was lost since */
	uint64_t	branch;			/* of the horizon, for the caller; 0 if merged
								 * pages have two */
	UuidReaderId cap;			/* how far it can confirm; at first everything */
	int64_t		read_at;		/* microseconds since any epoch */
	int64_t		lease_end;		/* later than read_at */
	bool		is_reset;		/* has all rows instead of entries */
	bool		expired;
} UuidReaderPage;

/*
 * A zeroed reader is new.  Its pages are in the order in which they were read.  The functions set
 * "changed" if they change anything else, so that the caller knows whether to store the reader.
 */
typedef struct UuidReader
{
	UuidReaderId confirmed;		/* all changes up to it are applied, or will
								 * be delivered again; nothing if the next
								 * page must be a reset */
	bool		changed;
	int			page_count;
	UuidReaderPage pages[UUID_READER_PAGES_MAX];
} UuidReader;

/*
 * What the position of a page, or of a row in it, says.  The end of a page is the ID of its last
 * entry, and the end of a row is the ID of the last entry of this row.  The end of a reset is its
 * horizon, and the end of its rows but the last is nothing, since a reset is applied as a whole.
 */
typedef struct UuidReaderPosition
{
	uint64_t	number;			/* of the page */
	UuidReaderId horizon;		/* the caller sets it to nothing if the
								 * history of the table was lost since */
	UuidReaderId end;
	uint64_t	branch;			/* of the horizon */
} UuidReaderPosition;

typedef enum UuidReaderResult
{
	UUID_READER_CONFIRMED,
	UUID_READER_UNKNOWN_PAGE,	/* confirmed nothing: the page was confirmed
								 * before, merged, or forgotten, or its read
								 * was rolled back */
	UUID_READER_LOST			/* confirmed nothing, and the next page is a
								 * reset: changes after the horizon of the
								 * page are lost or purged */
} UuidReaderResult;

/* Return the microseconds from one time to a later one, or INT64_MAX if there are more. */
static inline int64_t
uuid_reader_span(int64_t from, int64_t to)
{
	uint64_t	span = (uint64_t) to - (uint64_t) from;

	UUID_ASSERT(from <= to);
	return span > INT64_MAX ? INT64_MAX : (int64_t) span;
}

/* Return the time after a number of spans, or INT64_MAX if it is later. */
static inline int64_t
uuid_reader_later(int64_t time, int64_t span, int count)
{
	UUID_ASSERT(span >= 0 && count > 0);
	if (span > INT64_MAX / count || (time > 0 && span * count > INT64_MAX - time))
		return INT64_MAX;
	return time + span * count;
}

static inline void
uuid_reader_lower(UuidReader *reader, UuidReaderId *id, UuidReaderId to)
{
	if (uuid_reader_id_less(to, *id))
	{
		*id = to;
		reader->changed = true;
	}
}

/* Deliver all changes after a horizon again. */
static inline void
uuid_reader_guard(UuidReader *reader, UuidReaderId horizon)
{
	uuid_reader_lower(reader, &reader->confirmed, horizon);
	for (int i = 0; i < reader->page_count; i++)
		uuid_reader_lower(reader, &reader->pages[i].cap, horizon);
}

/* Return the index of a page, or -1 if the page is unknown. */
static inline int
uuid_reader_find(const UuidReader *reader, uint64_t number)
{
	for (int i = 0; i < reader->page_count && number != UUID_READER_NO_NUMBER; i++)
	{
		if (reader->pages[i].number == number)
			return i;
	}
	return -1;
}

static inline void
uuid_reader_forget(UuidReader *reader, int page)
{
	reader->page_count--;
	memmove(&reader->pages[page], &reader->pages[page + 1],
			(reader->page_count - page) * sizeof(UuidReaderPage));
	reader->changed = true;
}

/* --- leases ------------------------------------------------------------------ */

/*
 * Guard the horizons of all pages whose lease has ended, except of the page with a number.  These
 * pages can still confirm, apart from merged pages, which are forgotten.  If the clock was set
 * back, begin the lease of a page again.  Otherwise it could last for years.
 */
static inline void
uuid_reader_expire(UuidReader *reader, int64_t now, uint64_t except)
{
	for (int i = reader->page_count - 1; i >= 0; i--)
	{
		UuidReaderPage *page = &reader->pages[i];

		if (now < page->read_at)
		{
			page->lease_end = uuid_reader_later(now,
												uuid_reader_span(page->read_at, page->lease_end),
												1);
			page->read_at = now;
			reader->changed = true;
		}
		if (page->expired || now < page->lease_end ||
			(page->number == except && except != UUID_READER_NO_NUMBER))
			continue;
		page->expired = true;
		reader->changed = true;
		uuid_reader_guard(reader, page->horizon);
		if (page->number == UUID_READER_NO_NUMBER)
			uuid_reader_forget(reader, i);
	}
}

/*
 * Return up to which ID the reader does not need the entries any more.  An expired page keeps the
 * entries after its horizon for some time, since a program that is late would otherwise have to
 * begin again.  A reset takes long and can be repeated only as a whole, so it keeps them until the
 * reader would expire: reset_expiry is in microseconds, and greater than a lease.
 */
static inline UuidReaderId
uuid_reader_keep(const UuidReader *reader, int64_t now, int64_t reset_expiry)
{
	const UuidReaderId confirmed = reader->confirmed;
	UuidReaderId keep = uuid_reader_everything;

	if (!uuid_reader_id_equal(confirmed, uuid_reader_nothing))
		keep = confirmed;
	for (int i = 0; i < reader->page_count; i++)
	{
		const UuidReaderPage *page = &reader->pages[i];
		const int64_t lease = uuid_reader_span(page->read_at, page->lease_end);
		UuidReaderId needed = page->horizon;

		if (page->expired && now >= uuid_reader_later(page->lease_end, lease,
													  UUID_READER_LATE_LEASES) &&
			!(page->is_reset && now < uuid_reader_later(page->read_at, reset_expiry, 1)))
			continue;
		/* a reset confirms only up to its cap */
		if (page->is_reset)
			needed = uuid_reader_id_min(needed, page->cap);
		if (!uuid_reader_id_equal(needed, uuid_reader_nothing))
			keep = uuid_reader_id_min(keep, needed);
	}
	return keep;
}

/* --- reading ----------------------------------------------------------------- */

/*
 * The history of the table is lost: the server lacks entries after a failover, or the table has
 * changed without entries.  So the next page is a reset, and so is the page after the end of the
 * lease, or confirmation, of each page that is out.
 */
static inline void
uuid_reader_lose(UuidReader *reader)
{
	for (int i = 0; i < reader->page_count; i++)
		uuid_reader_lower(reader, &reader->pages[i].horizon, uuid_reader_nothing);
	uuid_reader_guard(reader, uuid_reader_nothing);
}

/* Check whether entries after an ID are missing.  Entries up to "purged" have been purged. */
static inline bool
uuid_reader_is_lost(UuidReaderId after, UuidReaderId purged)
{
	return uuid_reader_id_equal(after, uuid_reader_nothing) || uuid_reader_id_less(after, purged);
}

/*
 * Begin to read.  Return the ID after which the page has entries, up to the horizon of the
 * snapshot, or nothing if the page must be a reset.  Add the page if it is a reset or has
 * entries.
 */
static inline UuidReaderId
uuid_reader_start(UuidReader *reader, UuidReaderId purged, int64_t now)
{
	uuid_reader_expire(reader, now, UUID_READER_NO_NUMBER);
	return uuid_reader_is_lost(reader->confirmed, purged) ? uuid_reader_nothing : reader->confirmed;
}

/*
 * Merge a page and the next one.  The result has no number, and guards the lower horizon when the
 * later lease ends.
 */
static inline UuidReaderPage
uuid_reader_merge(const UuidReaderPage *pages)
{
	UuidReaderPage merged = {.number = UUID_READER_NO_NUMBER};

	merged.horizon = uuid_reader_id_min(pages[0].horizon, pages[1].horizon);
	merged.branch = pages[0].branch == pages[1].branch ? pages[0].branch : 0;
	merged.read_at = pages[0].read_at < pages[1].read_at ? pages[0].read_at : pages[1].read_at;
	merged.lease_end = pages[0].lease_end > pages[1].lease_end ? pages[0].lease_end :
		pages[1].lease_end;
	return merged;
}

/*
 * Make room for a page, because all places are taken.  Forget the oldest expired page, and a reset
 * only if no other page has expired.  If no page has expired, merge two pages of the older half
 * that were read one after the other: those which together are out for the shortest time.  If these
 * were always the two oldest pages, then as long as pages are added fast, the merged page would not
 * expire, and no entries after its horizon would be purged.
 */
static inline void
uuid_reader_make_room(UuidReader *reader)
{
	int			oldest = -1;
	int			chosen = 0;
	int64_t		shortest = INT64_MAX;

	UUID_ASSERT(reader->page_count == UUID_READER_PAGES_MAX);
	for (int i = 0; i < reader->page_count; i++)
	{
		const UuidReaderPage *page = &reader->pages[i];

		if (page->expired && (oldest < 0 || (reader->pages[oldest].is_reset && !page->is_reset)))
			oldest = i;
	}
	if (oldest >= 0)
	{
		uuid_reader_forget(reader, oldest);
		return;
	}
	for (int i = 0; i < UUID_READER_PAGES_MAX / 2 - 1; i++)
	{
		const UuidReaderPage merged = uuid_reader_merge(&reader->pages[i]);
		const int64_t span = uuid_reader_span(merged.read_at, merged.lease_end);

		if (span < shortest)
		{
			shortest = span;
			chosen = i;
		}
	}
	reader->pages[chosen] = uuid_reader_merge(&reader->pages[chosen]);
	uuid_reader_forget(reader, chosen + 1);
}

/* Remember a page that is delivered.  The lease is in microseconds. */
static inline void
uuid_reader_add_page(UuidReader *reader, const UuidReaderPosition *position, bool is_reset,
					 int64_t now, int64_t lease)
{
	UuidReaderPage page = {
		.number = position->number,
		.end = position->end,
		.horizon = position->horizon,
		.branch = position->branch,
		.cap = uuid_reader_everything,
		.read_at = now,
		.lease_end = uuid_reader_later(now, lease, 1),
		.is_reset = is_reset,
	};

	UUID_ASSERT(position->number != UUID_READER_NO_NUMBER && lease > 0);
	UUID_ASSERT(!uuid_reader_id_less(position->horizon, position->end));
	UUID_ASSERT(!is_reset || uuid_reader_id_equal(position->end, position->horizon));
	if (reader->page_count == UUID_READER_PAGES_MAX)
		uuid_reader_make_room(reader);
	reader->pages[reader->page_count++] = page;
	reader->changed = true;
}

/* --- confirming -------------------------------------------------------------- */

/*
 * Confirm that a page is applied up to a position.  The page stays out until its end is confirmed.
 * If the page is unknown, it cannot confirm, because its cap is unknown, too.  But it was applied,
 * so guard its horizon in any case.
 *
 * The entries between the confirmed ID and the start of the page need no attention.  If there are
 * any, a guard has lowered the confirmed ID after the page was read, and it has capped the page.
 */
static inline UuidReaderResult
uuid_reader_done(UuidReader *reader, const UuidReaderPosition *position, UuidReaderId purged,
				 int64_t now)
{
	UuidReaderId horizon = position->horizon;
	int			known;

	uuid_reader_expire(reader, now, position->number);
	known = uuid_reader_find(reader, position->number);
	if (known >= 0)
	{
		const UuidReaderPage *page = &reader->pages[known];
		const UuidReaderId end = uuid_reader_id_min(position->end, page->cap);

		horizon = uuid_reader_id_min(horizon, page->horizon);
		if (uuid_reader_id_less(reader->confirmed, end))
		{
			reader->confirmed = end;
			reader->changed = true;
		}
		if (uuid_reader_id_equal(position->end, page->end))
			uuid_reader_forget(reader, known);
	}
	uuid_reader_guard(reader, horizon);
	if (uuid_reader_is_lost(horizon, purged))
		return UUID_READER_LOST;
	return known >= 0 ? UUID_READER_CONFIRMED : UUID_READER_UNKNOWN_PAGE;
}

#endif							/* UUID9562_CORE_READER_H */
