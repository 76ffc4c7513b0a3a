/*
 * A model of programs that read the changes of a table under one reader's name, and keep a copy.
 *
 * Programs apply rows late, die, confirm a part of a page, confirm twice, and apply a page again,
 * while others write and purge, leases end, and the history of the table is lost.  In the end, one
 * program reads and confirms until nothing is left.  Then the copy must equal the table.
 *
 * The search runs all schedules of two programs with a few writes and reads.  Others are random.
 * test/schedules/edits.pl checks that some schedule leaves a wrong copy if a rule of reader.h is broken.
 */
#define UUID_READER_PAGES_MAX 4

#include "support.h"

#include "reader.h"

enum
{
	KEYS = 4,					/* the search uses two */
	ENTRIES = 60,
	PROGRAMS = 3,				/* the search uses two */
	LEASE = 2,					/* ticks */
	LATE = LEASE * (UUID_READER_LATE_LEASES + 1),
	RESET_EXPIRY = 2 * LATE,
	ALL_ENTRIES = ENTRIES,
	UNLIMITED = 255,
	SCHEDULES = 300000
};

/* A page that a program has read */
typedef struct Page
{
	UuidReaderPosition position;	/* of its end; the number of no page is 0 */
	bool		is_reset;
	uint8_t		identity;
	uint8_t		lease_end;
	uint8_t		row_count;
	uint8_t		keys[KEYS];		/* of the rows, in order */
	uint8_t		ends[KEYS];
	uint8_t		content[KEYS];	/* of the table, by key */
	uint8_t		applied;		/* rows */
	bool		unguarded;		/* the lease does not guard it: its read was rolled
								 * back, or its end was confirmed */
	bool		must_confirm;	/* applied without guard */
} Page;

typedef enum Event
{
	WRITE,
	TICK,
	WAIT,						/* until expired pages are late */
	PURGE,
	LOSE,						/* change a row without an entry */
	READ,
	READ_AND_ROLL_BACK,
	APPLY,						/* a row; a reset has one for each key */
	CONFIRM,					/* the rows that are applied */
	DIE,
	CONFIRM_AGAIN,				/* the last page of the program */
	APPLY_AGAIN,
	EVENTS
} Event;

static const char *const event_names[EVENTS] = {
	"write", "tick", "wait", "purge", "lose", "read", "read and roll back", "apply", "confirm", "die",
	"confirm again", "apply again"
};

/* Numbers of entries, keys and times are small, so that a state is. */
typedef struct World
{
	UuidReader	reader;
	uint8_t		reader_identity;
	uint8_t		identity;
	uint8_t		entry_count;
	uint8_t		purged;
	uint8_t		now;
	uint8_t		reads;
	uint8_t		keys;
	uint8_t		programs;
	uint8_t		versions;		/* of rows so far */
	uint8_t		left[EVENTS];	/* how often each event can still happen */
	uint8_t		table[KEYS];	/* versions */
	uint8_t		copy[KEYS];
	uint8_t		entries[ENTRIES];	/* keys */
	Page		pages[PROGRAMS];
	Page		last[PROGRAMS]; /* whose end the program has confirmed */
} World;

/* Return the ID of an entry.  The first entry is 1. */
static UuidReaderId
entry_id(int entry)
{
	UuidReaderId id = {{0}};

	id.bytes[UUID_BYTES - 1] = (uint8_t) (entry + 1);
	return id;
}

static int
entry_of(UuidReaderId id)
{
	return id.bytes[UUID_BYTES - 1] - 1;
}

static UuidReaderId
purged_id(const World *world)
{
	return world->purged == 0 ? uuid_reader_nothing : entry_id(world->purged);
}

/* --- the reader ------------------------------------------------------------------- */

/* Notice that the history was lost. */
static void
compare_identity(World *world)
{
	if (world->reader_identity != world->identity)
		uuid_reader_lose(&world->reader);
	world->reader_identity = world->identity;
}

static void
done(World *world, UuidReaderPosition position, int identity)
{
	compare_identity(world);
	if (identity != world->identity)
		position.horizon = uuid_reader_nothing;
	uuid_reader_done(&world->reader, &position, purged_id(world), world->now);
}

/* --- events ---------------------------------------------------------------------- */

/* Fill the rows of a page: the keys of its entries, in the order of the last entry of each key. */
static void
fill_rows(const World *world, Page *page, int first, int last)
{
	for (int i = first; i <= last; i++)
	{
		bool		again = false;

		for (int j = i + 1; j <= last; j++)
			again |= world->entries[j - 1] == world->entries[i - 1];
		if (again)
			continue;
		page->keys[page->row_count] = world->entries[i - 1];
		page->ends[page->row_count++] = (uint8_t) i;
	}
}

/* Return false if the page is empty. */
static bool
read_page(World *world, Page *page, int limit, int lag)
{
	UuidReaderId after;
	int			confirmed;
	int			horizon = world->entry_count - lag;

	compare_identity(world);
	after = uuid_reader_start(&world->reader, purged_id(world), world->now);
	confirmed = entry_of(after);
	memset(page, 0, sizeof(Page));
	page->is_reset = uuid_reader_id_equal(after, uuid_reader_nothing);
	/* the horizon of a generator never becomes less */
	if (horizon < confirmed)
		horizon = confirmed;
	if (horizon < 0)
		horizon = 0;
	page->position.horizon = page->position.end = entry_id(horizon);
	if (!page->is_reset)
	{
		const int	end = horizon - confirmed < limit ? horizon : confirmed + limit;

		if (end == confirmed)
			return false;
		page->position.end = entry_id(end);
		fill_rows(world, page, confirmed + 1, end);
	}
	page->position.number = ++world->reads;
	uuid_reader_add_page(&world->reader, &page->position, page->is_reset, world->now, LEASE);
	page->identity = world->identity;
	page->lease_end = world->now + LEASE;
	for (int i = 0; page->is_reset && i < world->keys; i++)
		page->keys[page->row_count++] = (uint8_t) i;
	for (int i = 0; i < page->row_count; i++)
		page->content[page->keys[i]] = world->table[page->keys[i]];
	return true;
}

static bool
is_applied(const Page *page)
{
	return page->applied == page->row_count;
}

static void
apply(World *world, Page *page)
{
	const int	key = page->keys[page->applied];

	world->copy[key] = page->content[key];
	page->applied++;
	page->must_confirm |= page->unguarded || page->lease_end <= world->now;
}

/* Confirm the rows that are applied. */
static void
confirm(World *world, Page *page)
{
	UuidReaderPosition position = page->position;

	if (!is_applied(page))
		position.end = entry_id(page->ends[page->applied - 1]);
	done(world, position, page->identity);
	page->must_confirm = false;
}

static void
change_row(World *world, int key)
{
	world->table[key] = ++world->versions;
}

/* Return how many arguments an event can have. */
static int
argument_count(Event event)
{
	return event == WRITE || event == LOSE ? KEYS : event == READ || event == READ_AND_ROLL_BACK ? 3 : 1;
}

static bool
happen_to_table(World *world, Event event, int argument)
{
	int			keep;

	switch (event)
	{
		case WRITE:
			/* the first key that is written can be any one, so choose 0 */
			if (argument >= world->keys || world->entry_count == ENTRIES ||
				(world->entry_count == 0 && argument > 0))
				return false;
			change_row(world, argument);
			world->entries[world->entry_count++] = (uint8_t) argument;
			return true;
		case LOSE:
			if (argument >= world->keys)
				return false;
			change_row(world, argument);
			world->identity++;
			return true;
		case TICK:
		case WAIT:
			if (world->now > UINT8_MAX - 3 * LATE)
				return false;
			world->now += event == TICK ? 1 : LATE;
			return true;
		default:
			keep = entry_of(uuid_reader_keep(&world->reader, world->now, RESET_EXPIRY));
			if (keep > world->entry_count)
				keep = world->entry_count;
			if (keep <= world->purged)
				return false;
			world->purged = (uint8_t) keep;
			return true;
	}
}

/* The argument of a read is how many entries it reads at most, but 0 means all. */
static bool
happen_to_program(World *world, Event event, int program, int argument, int lag)
{
	Page	   *page = &world->pages[program];
	Page	   *last = &world->last[program];
	const bool	idle = page->position.number == 0;
	const World before = *world;

	switch (event)
	{
		case READ:
		case READ_AND_ROLL_BACK:
			if (!idle)
				return false;
			if (!read_page(world, page, argument == 0 ? ALL_ENTRIES : argument, lag))
			{
				memset(page, 0, sizeof(Page));
				return event == READ;
			}
			if (event == READ_AND_ROLL_BACK)
			{
				world->reader = before.reader;
				world->reader_identity = before.reader_identity;
				page->unguarded = true;
			}
			return true;
		case APPLY:
			if (idle || is_applied(page))
				return false;
			apply(world, page);
			return true;
		case CONFIRM:
			if (idle || page->applied == 0 || (page->is_reset && !is_applied(page)))
				return false;
			confirm(world, page);
			if (is_applied(page))
			{
				if (world->left[CONFIRM_AGAIN] + world->left[APPLY_AGAIN] > 0)
					*last = *page;
				memset(page, 0, sizeof(Page));
			}
			return true;
		case DIE:
			if (idle || (page->must_confirm && world->programs > 1))
				return false;
			memset(page, 0, sizeof(Page));
			return true;
		default:
			if (last->position.number == 0 || !idle)
				return false;
			if (event == CONFIRM_AGAIN)
			{
				done(world, last->position, last->identity);
				return true;
			}
			*page = *last;
			page->applied = 0;
			page->unguarded = true;
			return true;
	}
}

static bool
happen(World *world, Event event, int program, int argument, int lag)
{
	if (world->left[event] == 0)
		return false;
	if (event < READ ? !happen_to_table(world, event, argument) : !happen_to_program(world, event, program, argument, lag))
		return false;
	if (world->left[event] < UNLIMITED)
		world->left[event]--;
	return true;
}

/*
 * Let all leases end, and let one program read and confirm until nothing is left.  Return whether
 * the copy equals the table.
 */
static bool
ends_well(World world)
{
	Page		page;

	world.now += LEASE;
	for (int i = 0; i < 8; i++)
	{
		if (!read_page(&world, &page, ALL_ENTRIES, 0))
			return memcmp(world.copy, world.table, sizeof(world.copy)) == 0;
		while (!is_applied(&page))
			apply(&world, &page);
		confirm(&world, &page);
	}
	return false;
}

static bool
all_are_idle(const World *world)
{
	for (int i = 0; i < world->programs; i++)
	{
		if (world->pages[i].position.number != 0)
			return false;
	}
	return true;
}

/* --- search ------------------------------------------------------------------------ */

typedef struct Search
{
	uint64_t   *states;			/* hashes of states found; 0 is none */
	size_t		count;
	int			depth;
	char		schedule[100][32];
} Search;

#define STATES_MAX	((size_t) 1 << 22)

static uint64_t
mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
	hash ^= hash >> 29;
	hash *= UINT64_C(0x94d049bb133111eb);
	return hash ^ hash >> 32;
}

/*
 * Hash a page.  A row is either as new as that of the table or not, because no row gets an old version
 * again.
 */
static uint64_t
hash_page(uint64_t hash, const World *world, const Page *page)
{
	const UuidReaderPosition *position = &page->position;

	hash = mix(hash, position->number);
	if (position->number == 0)
		return hash;
	hash = mix(hash, entry_of(position->horizon));
	hash = mix(hash, entry_of(position->end));
	hash = mix(hash, page->lease_end > world->now ? page->lease_end : 0);
	hash = mix(hash, page->applied << 4 | page->is_reset | (page->identity == world->identity) << 1 |
			   page->unguarded << 2 | page->must_confirm << 3);
	for (int i = 0; i < world->keys; i++)
		hash = mix(hash, page->content[i] == world->table[i]);
	for (int i = 0; i < page->row_count; i++)
		hash = mix(hash, page->keys[i] << 8 | page->ends[i]);
	return hash;
}

static uint64_t
hash_reader(const World *world)
{
	const UuidReader *reader = &world->reader;
	uint64_t	hash = mix(reader->page_count, entry_of(reader->confirmed));

	for (int i = 0; i < reader->page_count; i++)
	{
		const UuidReaderPage *page = &reader->pages[i];
		const bool	late = world->now >= page->lease_end + UUID_READER_LATE_LEASES * LEASE;

		hash = mix(hash, page->number);
		hash = mix(hash, entry_of(page->end));
		hash = mix(hash, entry_of(page->horizon));
		hash = mix(hash, entry_of(page->cap));
		hash = mix(hash, page->expired ? late : page->read_at);
		hash = mix(hash, page->expired ? 0 : page->lease_end);
		hash = mix(hash, page->is_reset | page->expired << 1 | (world->now >= page->read_at + RESET_EXPIRY) << 2);
	}
	return hash;
}

/* Return a hash of the state, which is not 0.  If programs change places, it is the same state. */
static uint64_t
hash_state(const World *world)
{
	uint64_t	hash = mix(hash_reader(world), world->reader_identity == world->identity);
	uint64_t	programs = 0;

	hash = mix(hash, (uint64_t) world->purged << 24 | world->reads << 16 | world->now << 8 | world->entry_count);
	for (int i = 0; i < world->keys; i++)
		hash = mix(hash, world->copy[i] == world->table[i]);
	for (int i = 0; i < EVENTS; i++)
		hash = mix(hash, world->left[i]);
	for (int i = world->purged; i < world->entry_count; i++)
		hash = mix(hash, world->entries[i]);
	for (int i = 0; i < 2; i++)
		programs += hash_page(hash_page(1, world, &world->pages[i]), world, &world->last[i]);
	return mix(hash, programs) | 1;
}

/* Add a state.  Return false if it was found before. */
static bool
add_state(Search *search, uint64_t hash)
{
	size_t		i = hash >> 8 & (STATES_MAX - 1);

	while (search->states[i] != 0 && search->states[i] != hash)
		i = (i + 1) & (STATES_MAX - 1);
	if (search->states[i] == hash)
		return false;
	search->states[i] = hash;
	assert_true(++search->count < STATES_MAX / 2);
	return true;
}

/* Run all schedules from a state.  Return false at the first one with a wrong copy. */
static bool
search_from(Search *search, const World *world)
{
	if (!add_state(search, hash_state(world)))
		return true;
	if (all_are_idle(world) && !ends_well(*world))
		return false;
	for (Event event = 0; event < EVENTS; event++)
	{
		const int	programs = event < READ ? 1 : world->programs;
		/* of two keys; pages of all entries, and of one entry */
		const int	arguments = argument_count(event) == 1 ? 1 : 2;

		for (int choice = 0; choice < programs * arguments; choice++)
		{
			World		next = *world;

			if (!happen(&next, event, choice / arguments, choice % arguments, 0))
				continue;
			snprintf(search->schedule[search->depth++], sizeof(search->schedule[0]), "%s %d %d",
					 event_names[event], choice / arguments, choice % arguments);
			if (!search_from(search, &next))
				return false;
			search->depth--;
		}
	}
	return true;
}

/* --- tests ------------------------------------------------------------------------- */

/* Create a table with a row of each key, and a reader that is new, or has confirmed a reset. */
static World
first_world(bool is_new, int keys, int programs)
{
	World		world = {.keys = (uint8_t) keys, .programs = (uint8_t) programs};
	Page		page;

	for (int i = 0; i < keys; i++)
		change_row(&world, i);
	if (is_new)
		return world;
	read_page(&world, &page, ALL_ENTRIES, 0);
	while (!is_applied(&page))
		apply(&world, &page);
	confirm(&world, &page);
	return world;
}

/* Each search has all schedules with these numbers of events, and with any number of others. */
static const struct
{
	bool		is_new;
	uint8_t		left[EVENTS];
}			searches[] = {
	{false, {[WRITE] = 1,[TICK] = 1,[LOSE] = 1,[READ] = 3}},
	{true, {[WRITE] = 2,[TICK] = 2,[READ] = 3,[READ_AND_ROLL_BACK] = 1}},
	{false, {[WRITE] = 2,[READ] = 6}},
	{false, {[WRITE] = 3,[TICK] = 2,[READ] = 3}},
	{false, {[WRITE] = 2,[WAIT] = 1,[READ] = 3,[READ_AND_ROLL_BACK] = 1}},
	{false, {[WRITE] = 2,[TICK] = 2,[READ] = 3,[CONFIRM_AGAIN] = 1,[APPLY_AGAIN] = 1}},
};

/* Run each search.  A program alone applies no page again. */
static void
run_searches(int programs)
{
	for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++)
	{
		World		world = first_world(searches[i].is_new, 2, programs);
		Search		search = {.states = calloc(STATES_MAX, sizeof(uint64_t))};
		bool		all_end_well;

		memcpy(world.left, searches[i].left, sizeof(world.left));
		if (programs == 1)
			world.left[APPLY_AGAIN] = 0;
		world.left[PURGE] = world.left[APPLY] = world.left[CONFIRM] = world.left[DIE] = UNLIMITED;
		all_end_well = search_from(&search, &world);
		printf("# search %zu: %zu states\n", i, search.count);
		for (int j = 0; j < search.depth; j++)
			printf("# %s\n", search.schedule[j]);
		free(search.states);
		assert_true(all_end_well);
	}
}

TEST(no_schedule_of_two_programs_leaves_a_wrong_copy)
{
	run_searches(2);
}

TEST(one_program_can_be_late_and_die)
{
	run_searches(1);
}

/* Run a random schedule of three programs.  Return whether it ends well. */
static bool
run_schedule(void)
{
	World		world = first_world(test_bits() % 2, 2 + test_bits() % 3, PROGRAMS);
	const int	attempts = 10 + test_bits() % 80;
	int			sum = 0;
	const int	weights[EVENTS] = {
		[WRITE] = 60,[TICK] = 20,[WAIT] = test_bits() % 4,[PURGE] = test_bits() % 20,[LOSE] = test_bits() % 2,
		[READ] = 60,[READ_AND_ROLL_BACK] = test_bits() % 10,[APPLY] = 100,[CONFIRM] = 60,[DIE] = test_bits() % 20,
		[CONFIRM_AGAIN] = test_bits() % 10,[APPLY_AGAIN] = test_bits() % 10
	};

	memset(world.left, UNLIMITED, sizeof(world.left));
	for (Event event = 0; event < EVENTS; event++)
		sum += weights[event];
	for (int i = 0; i < attempts; i++)
	{
		int			drawn = test_bits() % sum;
		Event		event = 0;

		while (drawn >= weights[event])
			drawn -= weights[event++];
		happen(&world, event, test_bits() % PROGRAMS, test_bits() % argument_count(event), test_bits() % 8 == 0);
	}
	for (int i = 0; i < PROGRAMS; i++)
	{
		if (world.pages[i].position.number == 0)
			continue;
		while (!is_applied(&world.pages[i]))
			apply(&world, &world.pages[i]);
		confirm(&world, &world.pages[i]);
	}
	return ends_well(world);
}

TEST(no_random_schedule_of_three_programs_leaves_a_wrong_copy)
{
	for (int i = 0; i < SCHEDULES; i++)
	{
		if (!run_schedule())
			fail_msg("schedule %d leaves a wrong copy", i);
	}
}
