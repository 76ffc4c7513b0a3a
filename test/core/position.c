/*
 * Tests of positions: their text, and random histories of three servers with different clocks.
 * The servers crash, and are copied, restored and reset, while a reader continues on any of
 * them.
 *
 * If all rules hold, the reader misses no row.  If a rule is broken, the reader must miss a
 * row in some history.
 */
#define UUID_BRANCH_MAX 16

#include "support.h"

#include "position.h"

/* --- text -------------------------------------------------------------------- */

TEST(checksum_is_that_of_fowler_noll_and_vo)
{
	/* vectors of FNV-1a with 32 bits: of a zero, and of "foobar" and a zero */
	assert_int_equal(uuid_sealed_checksum("", &(UuidSealed) {.count = 0}), 0x050c5d1f);
	assert_int_equal(uuid_sealed_checksum("fo", &(UuidSealed) {'o', 2, {(uint64_t) 'b' << 32 | 'a', (uint64_t) 'r' << 32}}),
					 (uint32_t) (0xbf9cf968 * UINT64_C(16777619)));
}

/* Each changed character is detected, and each longer or shorter text. */
TEST(reads_only_what_was_written)
{
	static const char longer[UUID_SEALED_LENGTH(6, UUID_SEALED_WORDS_MAX + 1)];
	UuidSealed	back;

	assert_false(uuid_position_read(&back, longer, sizeof(longer)));
	for (int round = 0; round < 250; round++)
	{
		UuidSealed	position = {.count = round % (UUID_SEALED_WORDS_MAX + 1)};
		char		text[UUID_SEALED_TEXT_MAX + 1];
		char		expected[UUID_SEALED_TEXT_MAX + 1];
		char	   *end = expected;
		size_t		length;

		position.database = (uint32_t) test_number(32);
		end += sprintf(end, "uuidv7:01%08" PRIx32, position.database);
		for (int i = 0; i < position.count; i++)
		{
			position.words[i] = test_number(64);
			end += sprintf(end, "%016" PRIx64, position.words[i]);
		}
		sprintf(end, "%08" PRIx32, uuid_sealed_checksum("uuidv7", &position));
		length = uuid_sealed_write(UUID_POSITION_NAME, &position, text);
		assert_string_equal(text, expected);
		assert_int_equal(length, strlen(expected));

		/* a position has entries of three words */
		assert_int_equal(uuid_position_read(&back, text, length),
						 position.count > 0 && position.count % 3 == 0);
		assert_int_equal(back.database, position.database);
		assert_int_equal(back.count, position.count);
		assert_memory_equal(back.words, position.words, position.count * sizeof(uint64_t));
		assert_false(uuid_sealed_read("target", text, length, &back));
		/* with the NUL */
		assert_false(uuid_position_read(&back, text, length + 1));
		for (size_t i = 0; i < length; i++)
		{
			char		original = text[i];
			char	   *shorter = memcpy(malloc(i + 1), text, i);

			/* a sanitizer finds a read far behind the text */
			assert_false(uuid_position_read(&back, shorter, i));
			free(shorter);
			text[i] ^= (char) (1 + test_bits() % 255);
			assert_false(uuid_position_read(&back, text, length));
			text[i] = original;
		}
	}
}

/* --- branches ---------------------------------------------------------------- */

#define BRANCHES	(UUID_BRANCH_MAX + 4)
#define VISITS		16
#define TIMES		100

/*
 * Add branches with the names 1, 2, 3 and so on.  The floor of each is the earliest later start,
 * also of a branch that is not added.  The list forgets all but the last 16.
 */
static void
add_branches(UuidBranches *all, uint64_t *floors)
{
	for (int count = 0; count < BRANCHES;)
	{
		const uint64_t start = test_bits() % TIMES;
		bool		lowers = false;

		for (int i = 0; i < count; i++)
		{
			if (start >= floors[i])
				continue;
			floors[i] = start;
			lowers |= i >= count - 16;
		}
		assert_int_equal(uuid_branches_lower(all, start), lowers);
		if (test_bits() % 2)
			continue;
		floors[count++] = UUID_NO_TIME;
		assert_int_equal(uuid_branches_add(all, count)->name, count);
	}
	for (int i = 0; i < BRANCHES; i++)
	{
		const UuidBranch *branch = uuid_branches_find(all, i + 1);

		assert_int_equal(branch != NULL, i >= BRANCHES - 16);
		assert_true(branch == NULL || (branch->floor == floors[i] && branch->targets == 0));
	}
}

/*
 * A position has the 8 branches that were visited last.  For each of them that is not forgotten,
 * the reader has read all rows that are before the floor and not after the last ID.
 */
TEST(continues_after_the_last_row_known_to_be_read)
{
	for (int round = 0; round < 20000; round++)
	{
		const int	visits = test_bits() % (VISITS + 1);
		UuidBranches all = {0};
		uint64_t	floors[BRANCHES];
		UuidSealed	position = {0};
		int			visited[VISITS];
		UuidPayload last[VISITS];
		bool		has_entry[BRANCHES] = {false};
		bool		found = false;
		UuidPayload read = {0, 0};
		uint8_t		id[UUID_BYTES];
		uint8_t		after[UUID_BYTES];

		add_branches(&all, floors);
		for (int i = 0; i < visits; i++)
		{
			visited[i] = test_bits() % BRANCHES;
			last[i].time = test_bits() % TIMES;
			last[i].tail = test_number(62);
			uuid_layout_pack(id, 7, last[i]);
			uuid_position_advance(&position, visited[i] + 1, id);
		}
		/* the last visits come first; earlier visits of the same branches do not count */
		for (int i = visits - 1, entries = 0; i >= 0 && entries < 8; i--)
		{
			const UuidPayload before_floor = uuid_payload_before(floors[visited[i]]);
			const bool	before_last = uuid_payload_less(before_floor, last[i]);

			if (has_entry[visited[i]])
				continue;
			has_entry[visited[i]] = true;
			entries++;
			if (visited[i] < BRANCHES - 16)
				continue;
			found = true;
			uuid_payload_advance(&read, before_last ? before_floor : last[i]);
		}
		assert_int_equal(uuid_position_after(&position, &all, after), found);
		uuid_layout_pack(id, 7, read);
		assert_true(!found || memcmp(after, id, UUID_BYTES) == 0);
	}
}

/* --- histories ----------------------------------------------------------------- */

typedef enum Rule
{
	NO_RULE,
	STARTUP_BEGINS_A_BRANCH,
	FLOORS_ARE_LOWERED,
	FLOOR_LIMITS_AN_ENTRY,
	RESET_STARTS_AT_THE_CLOCK,
	GENERATOR_IS_AT_THE_START,
	BRANCH_BEFORE_HORIZON,
	UNKNOWN_ENTRY_IS_IGNORED,
	TARGET_HAS_A_NUMBER,
	TARGET_HAS_A_BRANCH,
	RULES
} Rule;

static const char *const rule_names[RULES] = {
	[NO_RULE] = "none",
	[STARTUP_BEGINS_A_BRANCH] = "a startup begins a branch",
	[FLOORS_ARE_LOWERED] = "a new branch lowers the floors of the others",
	[FLOOR_LIMITS_AN_ENTRY] = "a floor limits the ID of an entry",
	[RESET_STARTS_AT_THE_CLOCK] = "the start of a reset is the clock",
	[GENERATOR_IS_AT_THE_START] = "the generator continues at the start of its branch",
	[BRANCH_BEFORE_HORIZON] = "the branch is captured before the horizon",
	[UNKNOWN_ENTRY_IS_IGNORED] = "an entry of an unknown branch does not count",
	[TARGET_HAS_A_NUMBER] = "each replay target has a number",
	[TARGET_HAS_A_BRANCH] = "a replay target names its branch",
};

enum
{
	SERVERS = 3,
	COPIES = 3,					/* backups and standbys */
	ROWS = 100,
	RESERVED = 20,				/* ticks */
	EVENTS = 60,
	HISTORIES = 5000
};

/* What a server stores.  A row is 0 until it is committed; then it is the time of its ID. */
typedef struct Stored
{
	uint64_t	reserved;
	UuidBranches branches;
	uint64_t	rows[ROWS];		/* by number, unique on all servers */
} Stored;

typedef struct Server
{
	Stored		stored;
	uint64_t	branch;			/* 0 until the first use after startup */
	uint64_t	previous;		/* time of the last value */
	uint64_t	clock;
	int			slow;			/* number of a row in progress, or 0 */
	uint64_t	slow_id;
} Server;

typedef struct World
{
	Rule		broken;
	Server		servers[SERVERS];
	Stored		copies[COPIES];
	int			next_row;
	uint64_t	next_branch;
	UuidSealed	position;
	bool		seen[ROWS];
	int			missed;
	int			twice;
	int			read;
	int			refused;
} World;

static void
id_at(uint64_t time, uint8_t *id)
{
	UuidPayload payload = {time, 1};

	uuid_layout_pack(id, 7, payload);
}

static void
begin_branch(World *world, Server *server, uint64_t start)
{
	if (world->broken != FLOORS_ARE_LOWERED)
		uuid_branches_lower(&server->stored.branches, start);
	server->branch = ++world->next_branch;
}

/* Begin a branch at the first use after startup. */
static void
use(World *world, Server *server)
{
	uint64_t	count = server->stored.branches.count;

	if (server->branch != 0)
		return;
	if (world->broken != GENERATOR_IS_AT_THE_START)
		server->previous = server->stored.reserved;
	if (world->broken == STARTUP_BEGINS_A_BRANCH && count > 0)
		server->branch = server->stored.branches.branches[count - 1].name;
	else
		begin_branch(world, server, server->stored.reserved);
}

static void
restart(Server *server)
{
	server->branch = 0;
	server->previous = 0;
	server->slow = 0;
}

static void
reset(World *world, Server *server)
{
	use(world, server);
	if (!uuid_branches_find(&server->stored.branches, server->branch))
		uuid_branches_add(&server->stored.branches, server->branch);
	if (world->broken == RESET_STARTS_AT_THE_CLOCK)
		begin_branch(world, server, server->stored.reserved);
	else
		begin_branch(world, server, server->clock);
	server->stored.reserved = server->clock;
	server->previous = server->clock;
}

static uint64_t
generate(World *world, Server *server)
{
	use(world, server);
	server->previous = server->clock > server->previous ? server->clock : server->previous + 1;
	if (server->previous >= server->stored.reserved)
		server->stored.reserved = server->previous + RESERVED;
	return server->previous;
}

static void
insert(World *world, Server *server)
{
	if (world->next_row >= ROWS)
		return;
	server->stored.rows[world->next_row++] = generate(world, server);
}

/* Begin a slow transaction, or commit the one that is in progress. */
static void
be_slow(World *world, Server *server)
{
	if (server->slow != 0)
	{
		server->stored.rows[server->slow] = server->slow_id;
		server->slow = 0;
	}
	else if (world->next_row < ROWS)
	{
		server->slow_id = generate(world, server);
		server->slow = world->next_row++;
	}
}

static uint64_t
horizon_of(World *world, Server *server)
{
	use(world, server);
	if (server->slow != 0 && server->slow_id <= server->previous)
		return server->slow_id;
	return server->previous + 1;
}

static bool
find_after(const World *world, const Server *server, uint8_t *after)
{
	UuidSealed	position = world->position;
	UuidBranches known = server->stored.branches;

	memset(after, 0, UUID_BYTES);
	for (uint64_t i = 0; i < known.count && world->broken == FLOOR_LIMITS_AN_ENTRY; i++)
		known.branches[i].floor = UUID_NO_TIME;
	/* replace an unknown branch by the known branch that was visited last before it */
	for (int i = position.count - 3; i > 0 && world->broken == UNKNOWN_ENTRY_IS_IGNORED; i -= 3)
	{
		if (!uuid_branches_find(&known, position.words[i - 3]))
			position.words[i - 3] = position.words[i];
	}
	return position.count == 0 || uuid_position_after(&position, &known, after);
}

/* Read the rows of a server or standby after an ID and below a horizon, in order. */
static uint64_t
read_rows(World *world, const Stored *stored, const uint8_t *after, uint64_t horizon, int limit)
{
	uint64_t	last = 0;

	for (uint64_t time = 1; time < horizon && limit > 0; time++)
	{
		uint8_t		id[UUID_BYTES];

		id_at(time, id);
		for (int row = 1; row < world->next_row && memcmp(id, after, UUID_BYTES) > 0; row++)
		{
			if (stored->rows[row] != time)
				continue;
			world->twice += world->seen[row];
			world->seen[row] = true;
			world->read++;
			last = time;
			limit--;
		}
	}
	return last;
}

/* Count the rows of a server that the reader has passed and not seen. */
static void
count_missed(World *world, const Stored *stored, uint64_t time)
{
	for (int row = 1; row < world->next_row; row++)
		world->missed += stored->rows[row] != 0 && stored->rows[row] <= time && !world->seen[row];
}

/* Check whether a standby shows the rows that a server showed when it returned a target. */
static bool
has_replayed(const World *world, Stored *standby, const UuidBranch *target)
{
	const UuidBranch *branch = uuid_branches_find(&standby->branches, target->name);

	if (world->broken == TARGET_HAS_A_BRANCH && standby->branches.count > 0)
		branch = &standby->branches.branches[standby->branches.count - 1];
	return branch != NULL && branch->targets >= target->targets;
}

/* Read a page on a server or, if a standby is given, all rows below the horizon on the standby. */
static void
read_page(World *world, Server *server, Stored *standby, bool resets)
{
	const Stored snapshot = server->stored;
	uint64_t	horizon = horizon_of(world, server);
	uint64_t	captured = server->branch;
	uint64_t	last;
	UuidBranch *branch;
	uint8_t		after[UUID_BYTES];
	uint8_t		id[UUID_BYTES];

	if (resets)
	{
		reset(world, server);
		if (world->broken == BRANCH_BEFORE_HORIZON)
			captured = server->branch;
		else if (test_bits() % 2)
			horizon = horizon_of(world, server);
	}
	branch = uuid_branches_find(&server->stored.branches, captured);
	if (branch == NULL)
		branch = uuid_branches_add(&server->stored.branches, captured);
	if (!find_after(world, server, after))
	{
		world->refused++;
		world->position.count = 0;
		return;
	}
	if (standby != NULL)
	{
		if (world->broken != TARGET_HAS_A_NUMBER)
			branch->targets++;
		/* the standby replays WAL of this server, or of another one, or none */
		if (test_bits() % 4 != 0)
			*standby = (test_bits() % 2 ? server : &world->servers[test_bits() % SERVERS])->stored;
		if (!has_replayed(world, standby, branch))
			return;
		read_rows(world, standby, after, horizon, ROWS);
		last = horizon - 1;
	}
	else
		last = read_rows(world, &snapshot, after, horizon, 1 + test_bits() % 20);
	if (last == 0)
		return;
	id_at(last, id);
	uuid_position_advance(&world->position, captured, id);
	count_missed(world, &snapshot, last);
}

/*
 * Let a random event happen.  With only_restarts, all events are on one server, which is never
 * reset or restored.
 */
static void
happen(World *world, bool only_restarts)
{
	Server	   *server = &world->servers[only_restarts ? 0 : test_bits() % SERVERS];
	Stored	   *copy = &world->copies[test_bits() % COPIES];

	server->clock += test_bits() % 3;
	switch (test_bits() % (only_restarts ? 8 : 13))
	{
		case 0:
		case 1:
		case 2:
			insert(world, server);
			break;
		case 3:
			be_slow(world, server);
			break;
		case 4:
			restart(server);
			break;
		case 5:
			server->clock = 100 + test_bits() % 60;
			break;
		case 6:
		case 7:
			read_page(world, server, NULL, false);
			break;
		case 8:
			read_page(world, server, test_bits() % 2 ? copy : NULL, test_bits() % 4 == 0);
			break;
		case 9:
			reset(world, server);
			break;
		case 10:
			/* a standby follows, or a backup is taken */
			*copy = server->stored;
			break;
		case 11:
			/* a promotion, restore, rewind or clone */
			server->stored = *copy;
			restart(server);
			break;
		case 12:
			read_page(world, server, copy, false);
			break;
	}
}

/* Run random histories, and add up their counts. */
static World
run_histories(Rule broken, bool only_restarts, int count)
{
	World		all = {0};

	for (int i = 0; i < count && (broken == NO_RULE || all.missed == 0); i++)
	{
		World		world = {0};

		world.broken = broken;
		world.next_row = 1;
		for (int j = 0; j < SERVERS; j++)
			world.servers[j].clock = 100 + test_bits() % 60;
		/* all servers and copies begin as copies of one server, after a first read there */
		insert(&world, &world.servers[0]);
		read_page(&world, &world.servers[0], NULL, false);
		for (int j = 0; j < SERVERS; j++)
			world.servers[j].stored = world.servers[0].stored;
		for (int j = 0; j < COPIES; j++)
			world.copies[j] = world.servers[0].stored;
		for (int j = 0; j < EVENTS; j++)
			happen(&world, only_restarts);
		all.missed += world.missed;
		all.twice += world.twice;
		all.read += world.read;
		all.refused += world.refused;
	}
	return all;
}

TEST(no_history_misses_a_row)
{
	World		all = run_histories(NO_RULE, false, HISTORIES);

	printf("# %d rows read, %d of them again, %d readers began again\n",
		   all.read, all.twice, all.refused);
	assert_int_equal(all.missed, 0);
	assert_true(all.read > HISTORIES);
}

TEST(restarts_deliver_no_row_twice)
{
	World		all = run_histories(NO_RULE, true, HISTORIES);

	assert_int_equal(all.missed, 0);
	assert_int_equal(all.twice, 0);
	assert_int_equal(all.refused, 0);
	assert_true(all.read > HISTORIES);
}

TEST(each_broken_rule_misses_a_row)
{
	for (Rule rule = NO_RULE + 1; rule < RULES; rule++)
	{
		if (run_histories(rule, false, HISTORIES).missed == 0)
			fail_msg("no history misses a row without the rule: %s", rule_names[rule]);
	}
}
