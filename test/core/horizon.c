/*
 * A model of the horizon: explore every interleaving of a few writers with a
 * reader.
 *
 * A step is an action of one process that other processes can see.  The rules are those on
 * which src/instance/horizon.c and src/instance/transaction_slot.c rely, such as the
 * order of two steps.  If all rules hold, no row is missed, no finished transaction holds
 * the horizon forever, and no reader is refused needlessly.  For each broken rule, the
 * model must find an interleaving in which a row is missed, the horizon is held forever,
 * or a reader is refused needlessly.
 *
 * The reader's statement reads two partitions, one after the other, and computes a
 * horizon for each of them.
 *
 * In the model, ticks and transaction IDs count from 1, and two values share a tick.  The
 * transaction histories are those of src/core, but with only two levels, so that a few
 * transactions are enough to merge entries.
 */
#define UUID_HISTORY_LEVELS 2

#include "support.h"

#include "transaction_history.h"

/* The rules.  For each of them, a test runs the model with the rule broken. */
typedef enum Rule
{
	NO_RULE,
	SLOT_BEFORE_VALUE,
	SLOT_HAS_SMALLEST,
	HISTORY_BEFORE_CLEAR,
	HISTORY_IS_CONSISTENT,
	PREPARED_HAS_HISTORY,
	EXIT_CLEARS,
	READER_CLOSES_TICK,
	TICK_BEFORE_SLOTS,
	SLOT_BEFORE_HISTORY,
	NEWEST_FIRST,
	PREPARED_LAST,
	SAME_SNAPSHOT_SAME_HORIZON,
	UNKNOWN_XID_IS_REFUSED,
	UNKNOWN_XMAX_IS_REFUSED,
	PREPARED_IS_UNKNOWN,
	NEXT_XID_FIRST,
	RULES
} Rule;

static const char *const rule_names[RULES] = {
	[NO_RULE] = "none",
	[SLOT_BEFORE_VALUE] = "a slot is set before others can see the value",
	[SLOT_HAS_SMALLEST] = "a slot has the smallest value",
	[HISTORY_BEFORE_CLEAR] = "the history has the value before the slot loses it",
	[HISTORY_IS_CONSISTENT] = "a reader repeats the reading of a history that changes",
	[PREPARED_HAS_HISTORY] = "a prepared transaction has a history",
	[EXIT_CLEARS] = "the exit of a process clears its slot",
	[READER_CLOSES_TICK] = "the reader gives up the rest of the tick",
	[TICK_BEFORE_SLOTS] = "the tick is closed before the slots are read",
	[SLOT_BEFORE_HISTORY] = "a slot is read before its history",
	[NEWEST_FIRST] = "a history is read from its newest entry",
	[PREPARED_LAST] = "the slots of prepared transactions are read last",
	[SAME_SNAPSHOT_SAME_HORIZON] = "the same snapshot gets the same horizon",
	[UNKNOWN_XID_IS_REFUSED] = "a snapshot with an unknown transaction is refused",
	[UNKNOWN_XMAX_IS_REFUSED] = "a snapshot from before startup is refused",
	[PREPARED_IS_UNKNOWN] = "a transaction prepared before startup is unknown",
	[NEXT_XID_FIRST] = "the next transaction ID is read before those in progress",
};

enum
{
	WRITERS = 3,
	SLOTS = WRITERS + 1,		/* the last is for a prepared transaction */
	PREPARED = WRITERS,
	ROWS = 10,
	STEPS = 40,
	VALUES_PER_TICK = 2,
	ENTRIES = UUID_HISTORY_LEVELS * UUID_HISTORY_ON_LEVEL
};

typedef enum Step
{
	DONE,
	/* steps of a writer */
	ASSIGN,						/* assign a transaction ID, but generate no value */
	GENERATE,					/* generate a value, and insert a row */
	SET_SLOT,
	END,
	HISTORY_BEGIN,
	HISTORY_ADD,
	HISTORY_END,
	CLEAR,
	PREPARE,
	HISTORY_ADD_PREPARED,
	RESET,
	/* steps that read the high-water mark after startup */
	LOAD_NEXT,
	LOAD_PROC,
	LOAD_END,
	/* steps of the reader */
	SNAPSHOT,
	OLD_SNAPSHOT,				/* use a snapshot taken before startup */
	CHECK_KNOWN,
	CLOSE_TICK,
	READ_SLOT,
	READ_HISTORY,
	READ_LEVEL,
	READ_HISTORY_END,
	ANSWER,
	CHECK
} Step;

typedef struct Program
{
	struct
	{
		uint8_t		step;
		uint8_t		of;			/* slot, level of a history, partition, or
								 * whether the transaction aborts */
	}			steps[STEPS];
	int			length;
} Program;

/*
 * The search identifies a state by a hash of all bytes of this struct.  So the struct is
 * small, and unused members are zero.
 */
typedef struct State
{
	uint8_t		at[WRITERS];
	uint8_t		reader_at;
	uint8_t		last;			/* last value; 0 before the first value */
	uint8_t		next_xid;		/* next transaction ID to be assigned */
	uint8_t		latest_ended;
	uint8_t		prepared;		/* xid of the prepared transaction, or 0 */
	uint8_t		may_finish;		/* may the prepared transaction be finished? not
								 * before the session has cleared the slot */
	uint16_t	running;		/* one bit for each xid in progress */
	uint8_t		xid[WRITERS];
	uint8_t		ended[WRITERS]; /* has the writer's transaction ended? */
	uint8_t		slot[WRITERS];	/* tick plus one, not after the tick of the
								 * transaction's first value; 0 if unset */
	uint8_t		cleared[WRITERS];	/* value of the slot, if cleared too early */
	uint8_t		count[SLOTS][UUID_HISTORY_LEVELS];
	uint8_t		history_xid[SLOTS][ENTRIES];
	uint8_t		history_first[SLOTS][ENTRIES];
	uint8_t		changes[SLOTS];
	uint8_t		rows;
	uint8_t		row_value[ROWS];
	uint8_t		row_xid[ROWS];
	uint8_t		row_aborts[ROWS];
	/* reading the high-water mark after startup */
	uint8_t		loaded;
	uint8_t		load_next;
	uint8_t		load_first;
	uint8_t		first_known_xid;
	/* the reader */
	uint16_t	seen_running;
	uint8_t		seen_xmax;
	uint8_t		seen_loaded;	/* had the high-water mark been read when the
								 * snapshot was taken? */
	uint8_t		next_tick;		/* 0 if no value was generated */
	uint8_t		seen_changes;
	uint8_t		smallest;
	uint8_t		history_smallest;
	uint8_t		history_over;
	uint8_t		horizon[2];		/* ticks: for the first and for the second
								 * partition */
	uint8_t		reset_meanwhile;
} State;

static Rule broken;
static Program writers[WRITERS];
static Program reader;

static uint64_t missed;			/* states in which the reader misses a row */
static uint64_t held;			/* slots that hold the horizon after all transactions have finished */
static uint64_t refused;		/* states in which a reader is refused needlessly */
static uint64_t states;

/* --- states that the search has reached --------------------------------------- */

/* A hash table of states.  It has about four times as many places as the tests need. */
static uint64_t met[1 << 20][2];

/* Return a 128-bit hash of a state. */
static void
hash_state(const State *state, uint64_t hash[2])
{
	const uint8_t *bytes = (const uint8_t *) state;
	uint64_t	a = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t	b = UINT64_C(0xbf58476d1ce4e5b9);

	for (size_t i = 0; i < sizeof(State); i += 8)
	{
		uint64_t	word = 0;

		memcpy(&word, bytes + i, sizeof(State) - i < 8 ? sizeof(State) - i : 8);
		a = (a ^ word) * UINT64_C(0xff51afd7ed558ccd);
		a ^= a >> 32;
		b = (b ^ word) * UINT64_C(0xc4ceb9fe1a85ec53);
		b ^= b >> 29;
	}
	hash[0] = a;
	hash[1] = b | 1;			/* not 0, which marks an unused place */
}

/* Check whether the search has reached the state before, and record the state. */
static bool
was_met(const State *state)
{
	const uint64_t places = sizeof(met) / sizeof(met[0]);
	uint64_t	hash[2];

	hash_state(state, hash);
	for (uint64_t place = hash[0];; place++)
	{
		uint64_t   *here = met[place % places];

		if (here[1] == 0)
		{
			memcpy(here, hash, sizeof(hash));
			states++;
			assert_true(states < places / 4 * 3);
			return false;
		}
		if (here[0] == hash[0] && here[1] == hash[1])
			return true;
	}
}

/* --- steps ------------------------------------------------------------------- */

static int
tick_of(int value)
{
	return value / VALUES_PER_TICK;
}

/* Set *smallest to the smaller of two values, where 0 means no value. */
static void
keep_smaller(uint8_t *smallest, uint8_t other)
{
	if (other != 0 && (*smallest == 0 || other < *smallest))
		*smallest = other;
}

static void
assign(State *state, int writer)
{
	state->xid[writer] = state->next_xid++;
	state->running |= 1 << state->xid[writer];
	state->ended[writer] = 0;
}

/* Generate a value in a transaction, and insert a row with the value. */
static void
generate(State *state, int writer, bool aborts)
{
	uint8_t    *slot = &state->slot[writer];

	if (state->xid[writer] == 0 || state->ended[writer])
		assign(state, writer);
	/* the first tick is 1, as 0 means that no value was generated */
	state->last = state->last == 0 ? VALUES_PER_TICK : state->last + 1;
	if (broken != SLOT_BEFORE_VALUE && (*slot == 0 || broken != SLOT_HAS_SMALLEST))
		keep_smaller(slot, tick_of(state->last) + 1);
	state->row_value[state->rows] = state->last;
	state->row_xid[state->rows] = state->xid[writer];
	state->row_aborts[state->rows] = aborts;
	state->rows++;
}

/* Call uuid_history_add() to add a transaction to a slot's history. */
static void
add_to_history(State *state, int slot, uint8_t xid, uint8_t first)
{
	UuidHistory history = {0};
	UuidHistoryEntry entry = {xid, {first, first, first}};

	for (int i = 0; i < ENTRIES; i++)
	{
		UuidHistoryEntry *to = &history.entries[i / UUID_HISTORY_ON_LEVEL][i % UUID_HISTORY_ON_LEVEL];

		to->xid = state->history_xid[slot][i];
		to->first[0] = state->history_first[slot][i];
	}
	memcpy(history.count, state->count[slot], sizeof(history.count));
	uuid_history_add(&history, entry);
	memcpy(state->count[slot], history.count, sizeof(history.count));
	for (int i = 0; i < ENTRIES; i++)
	{
		const UuidHistoryEntry *from = &history.entries[i / UUID_HISTORY_ON_LEVEL][i % UUID_HISTORY_ON_LEVEL];
		bool		used = i % UUID_HISTORY_ON_LEVEL < history.count[i / UUID_HISTORY_ON_LEVEL];

		state->history_xid[slot][i] = used ? from->xid : 0;
		state->history_first[slot][i] = used ? from->first[0] : 0;
	}
}

static void
end(State *state, uint8_t xid)
{
	state->running &= ~(1 << xid);
	if (xid > state->latest_ended)
		state->latest_ended = xid;
}

/* Take a step of a writer.  Return false if the writer has to wait. */
static bool
write_step(State *state, int writer)
{
	const int	at = state->at[writer];
	const int	of = writers[writer].steps[at].of;

	switch (writers[writer].steps[at].step)
	{
		case ASSIGN:
			assign(state, writer);
			break;
		case GENERATE:
			if (!state->loaded)
				return false;
			generate(state, writer, of);
			break;
		case SET_SLOT:
			if (state->slot[writer] == 0)
				state->slot[writer] = tick_of(state->last) + 1;
			break;
		case END:
			end(state, state->xid[writer]);
			state->ended[writer] = 1;
			break;
		case HISTORY_BEGIN:
			state->changes[of]++;
			break;
		case HISTORY_ADD:
			add_to_history(state, writer, state->xid[writer],
						   broken == HISTORY_BEFORE_CLEAR ? state->cleared[writer] : state->slot[writer]);
			state->cleared[writer] = 0;
			break;
		case HISTORY_ADD_PREPARED:
			if (broken != PREPARED_HAS_HISTORY)
				add_to_history(state, PREPARED, state->xid[writer], state->slot[writer]);
			break;
		case HISTORY_END:
			state->changes[of]++;
			break;
		case CLEAR:
			if (broken == HISTORY_BEFORE_CLEAR)
				state->cleared[writer] = state->slot[writer];
			state->slot[writer] = 0;
			/* from now on, others may finish the prepared transaction */
			if (state->prepared != 0 && state->prepared == state->xid[writer])
				state->may_finish = state->ended[writer] = 1;
			break;
		case PREPARE:
			if (state->prepared != 0)
				return false;
			state->prepared = state->xid[writer];
			break;
		case RESET:
			state->last = 0;
			if (state->reader_at > 1)
				state->reset_meanwhile = 1;
			break;
		case LOAD_NEXT:
			state->load_next = state->next_xid;
			break;
		case LOAD_PROC:
			if (of == PREPARED)
			{
				if (broken == PREPARED_IS_UNKNOWN)
					keep_smaller(&state->load_first, state->prepared);
			}
			else if (!state->ended[of])
				keep_smaller(&state->load_first, state->xid[of]);
			break;
		case LOAD_END:
			keep_smaller(&state->load_first, state->load_next);
			state->first_known_xid = state->load_first;
			state->load_first = state->load_next = 0;
			/* the generator continues from the high-water mark, tick 3 */
			state->last = 3 * VALUES_PER_TICK - 1;
			state->loaded = 1;
			break;
	}
	state->at[writer]++;
	return true;
}

static bool
sees(const State *state, uint8_t xid)
{
	return xid < state->seen_xmax && !(state->seen_running & 1 << xid);
}

/*
 * Check whether a reader misses a row if its next read starts after the greatest value
 * that this read has returned.
 */
static bool
misses(const State *state)
{
	uint8_t		greatest = 0;

	/* rows of transactions with odd IDs are in the first partition */
	for (int i = 0; i < state->rows; i++)
	{
		bool		first = state->row_xid[i] % 2;

		if (sees(state, state->row_xid[i]) && !state->row_aborts[i] &&
			tick_of(state->row_value[i]) < state->horizon[first ? 0 : 1] && state->row_value[i] > greatest)
			greatest = state->row_value[i];
	}
	for (int i = 0; i < state->rows; i++)
	{
		bool		first = state->row_xid[i] % 2;
		int			tick = tick_of(state->row_value[i]);

		if (state->row_aborts[i])
			continue;
		/* a row below the horizon is not visible yet */
		if (!sees(state, state->row_xid[i]) && (tick < state->horizon[0] || tick < state->horizon[1]))
			return true;
		/* a visible row is not returned, and the next read starts after it */
		if (sees(state, state->row_xid[i]) && tick >= state->horizon[first ? 0 : 1] &&
			state->row_value[i] < greatest)
			return true;
	}
	return false;
}

/*
 * Check whether the reader refuses its snapshot: xmax is before first_known_xid, or the
 * snapshot sees a transaction with an ID before first_known_xid as in progress.
 */
static bool
is_unknown(const State *state)
{
	return (broken != UNKNOWN_XID_IS_REFUSED && state->seen_running & ((1 << state->first_known_xid) - 1)) ||
		(broken != UNKNOWN_XMAX_IS_REFUSED && state->seen_xmax < state->first_known_xid);
}

/* Take a step of the reader.  Return false if the reader has to wait. */
static bool
read_step(State *state)
{
	const int	at = state->reader_at;
	const int	of = reader.steps[at].of;

	state->reader_at++;
	switch (reader.steps[at].step)
	{
		case SNAPSHOT:
			state->seen_xmax = state->latest_ended + 1;
			state->seen_running = state->running & ((1 << state->seen_xmax) - 1);
			state->seen_loaded = state->loaded;
			break;
		case OLD_SNAPSHOT:
			state->seen_xmax = 1;
			break;
		case CHECK_KNOWN:
			if (!state->loaded)
			{
				state->reader_at--;
				return false;
			}
			if (is_unknown(state))
			{
				/*
				 * Only transaction 1 can be from before startup.  A refusal is needless
				 * if the snapshot was taken after the high-water mark was read, and
				 * does not see transaction 1 as in progress.
				 */
				if (state->seen_loaded && !(state->seen_running & 1 << 1))
					refused++;
				state->reader_at = reader.length;
			}
			break;
		case CLOSE_TICK:
			state->next_tick = state->last == 0 ? 0 : tick_of(state->last) + 1;
			if (broken != READER_CLOSES_TICK && state->last != 0)
				state->last = state->next_tick * VALUES_PER_TICK - 1;
			break;
		case READ_SLOT:
			keep_smaller(&state->smallest, state->slot[of]);
			break;
		case READ_HISTORY:
			if (state->changes[of] % 2 != 0 && broken != HISTORY_IS_CONSISTENT)
			{
				state->reader_at--;
				return false;
			}
			state->seen_changes = state->changes[of];
			state->history_smallest = 0;
			state->history_over = 0;
			break;
		case READ_LEVEL:
			{
				int			slot = of / UUID_HISTORY_LEVELS;
				int			level = of % UUID_HISTORY_LEVELS;
				int			count = state->count[slot][level];

				/* assume that the reader finds no entry while the history changes */
				if (state->changes[slot] % 2 != 0)
					count = 0;
				for (int i = 0; i < count && !state->history_over; i++)
				{
					int			entry = level * UUID_HISTORY_ON_LEVEL +
						(broken == NEWEST_FIRST ? i : count - 1 - i);

					if (sees(state, state->history_xid[slot][entry]))
						state->history_over = 1;
					else
						keep_smaller(&state->history_smallest, state->history_first[slot][entry]);
				}
				break;
			}
		case READ_HISTORY_END:
			if (state->changes[of] != state->seen_changes && broken != HISTORY_IS_CONSISTENT)
			{
				/* read the history again */
				while (reader.steps[state->reader_at].step != READ_HISTORY ||
					   reader.steps[state->reader_at].of != of)
					state->reader_at--;
				break;
			}
			keep_smaller(&state->smallest, state->history_smallest);
			state->history_smallest = state->history_over = state->seen_changes = 0;
			break;
		case ANSWER:
			if (of == 0 || broken == SAME_SNAPSHOT_SAME_HORIZON)
				state->horizon[of] = state->smallest != 0 && state->smallest <= state->next_tick ?
					state->smallest - 1 : state->next_tick;
			else
				state->horizon[1] = state->horizon[0];
			state->smallest = 0;
			break;
		case CHECK:
			/*
			 * do not count missed rows if the generator was reset after the
			 * reader began, since new values are then less than earlier ones
			 */
			if (misses(state) && !state->reset_meanwhile)
				missed++;
			break;
	}
	return true;
}

/* Explore all interleavings of the steps that remain after a state. */
static void
explore(const State *state)
{
	State		next;
	bool		over = true;

	if (was_met(state))
		return;
	for (int writer = 0; writer < WRITERS; writer++)
	{
		if (state->at[writer] == writers[writer].length)
			continue;
		over = false;
		next = *state;
		if (write_step(&next, writer))
			explore(&next);
	}
	if (state->may_finish)
	{
		over = false;
		next = *state;
		end(&next, state->prepared);
		next.prepared = next.may_finish = 0;
		explore(&next);
	}
	if (state->reader_at < reader.length)
	{
		next = *state;
		if (read_step(&next))
			explore(&next);
	}
	if (over)
	{
		for (int writer = 0; writer < WRITERS; writer++)
			held += state->slot[writer] != 0;
	}
}

/* --- programs ---------------------------------------------------------------- */

static void
add(Program *program, Step step, int of)
{
	assert_true(program->length < STEPS);
	program->steps[program->length].step = step;
	program->steps[program->length].of = of;
	program->length++;
}

static void
add_history(Program *program, int slot)
{
	add(program, HISTORY_BEGIN, slot);
	add(program, slot == PREPARED ? HISTORY_ADD_PREPARED : HISTORY_ADD, slot);
	add(program, HISTORY_END, slot);
}

static void
add_value(Program *program, bool aborts)
{
	add(program, GENERATE, aborts);
	if (broken == SLOT_BEFORE_VALUE)
		add(program, SET_SLOT, 0);
}

/* Add the steps that read the high-water mark after startup. */
static void
add_load(Program *program)
{
	if (broken != NEXT_XID_FIRST)
		add(program, LOAD_NEXT, 0);
	for (int slot = 0; slot < SLOTS; slot++)
		add(program, LOAD_PROC, slot);
	if (broken == NEXT_XID_FIRST)
		add(program, LOAD_NEXT, 0);
	add(program, LOAD_END, 0);
}

/*
 * Add the steps of a writer.  Each of these letters is a transaction:
 *
 *	c	commits after one value
 *	C	commits after two values
 *	g	commits after two values, with a reset of the generator between them
 *	n	commits without a value
 *	a	aborts after one value
 *	p	is prepared after one value
 *	x	ends after one value because the process exits
 *
 * Outside a transaction, z resets the generator, and l reads the high-water mark after
 * startup.
 */
static void
add_writer(int writer, const char *transactions)
{
	Program    *program = &writers[writer];

	for (; *transactions; transactions++)
	{
		switch (*transactions)
		{
			case 'z':
				add(program, RESET, 0);
				continue;
			case 'l':
				add_load(program);
				continue;
			case 'n':
				add(program, ASSIGN, 0);
				add(program, END, 0);
				continue;
			case 'g':
				add_value(program, false);
				add(program, RESET, 0);
				add_value(program, false);
				break;
			case 'C':
				add_value(program, false);
				add_value(program, false);
				break;
			default:
				add_value(program, *transactions == 'a' || *transactions == 'x');
		}

		switch (*transactions)
		{
			case 'p':
				add(program, PREPARE, 0);
				add_history(program, PREPARED);
				add(program, CLEAR, 0);
				break;
			case 'x':
				add(program, END, 0);
				if (broken != EXIT_CLEARS)
					add(program, CLEAR, 0);
				break;
			case 'a':
				add(program, END, 0);
				add(program, CLEAR, 0);
				break;
			default:
				add(program, END, 0);
				if (broken == HISTORY_BEFORE_CLEAR)
					add(program, CLEAR, 0);
				add_history(program, writer);
				if (broken != HISTORY_BEFORE_CLEAR)
					add(program, CLEAR, 0);
		}
	}
}

/*
 * Add the reader's steps that compute the horizon from the slots and histories of
 * writers and of a prepared transaction.
 */
static void
add_horizon(int slots)
{
	if (broken != TICK_BEFORE_SLOTS)
		add(&reader, CLOSE_TICK, 0);
	for (int i = 0; i <= slots; i++)
	{
		int			slot = i < slots ? i : PREPARED;

		if (broken == PREPARED_LAST)
			slot = i == 0 ? PREPARED : i - 1;
		if (broken != SLOT_BEFORE_HISTORY && slot != PREPARED)
			add(&reader, READ_SLOT, slot);
		add(&reader, READ_HISTORY, slot);
		for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
			add(&reader, READ_LEVEL, slot * UUID_HISTORY_LEVELS +
				(broken == NEWEST_FIRST ? UUID_HISTORY_LEVELS - 1 - level : level));
		add(&reader, READ_HISTORY_END, slot);
		if (broken == SLOT_BEFORE_HISTORY && slot != PREPARED)
			add(&reader, READ_SLOT, slot);
	}
	if (broken == TICK_BEFORE_SLOTS)
		add(&reader, CLOSE_TICK, 0);
}

/* States of the server in which the model starts. */
typedef enum Startup
{
	IN_USE,						/* the high-water mark has been read */
	WITH_PREPARED,				/* a transaction was prepared before startup */
	WITH_OLD_SNAPSHOT			/* the reader's snapshot is from before startup */
} Startup;

/*
 * Return the state in which the model starts.  Unless the server is IN_USE,
 * transaction 1 inserted a row before startup.
 */
static State
start(Startup startup)
{
	State		state;

	memset(&state, 0, sizeof(state));
	state.next_xid = 1;
	if (startup == IN_USE)
	{
		state.loaded = 1;
		state.first_known_xid = 1;
		return state;
	}
	state.next_xid = 2;
	state.latest_ended = 1;
	state.rows = 1;
	state.row_xid[0] = 1;
	state.row_value[0] = VALUES_PER_TICK;
	if (startup == WITH_PREPARED)
	{
		state.prepared = state.may_finish = 1;
		state.running = 1 << 1;
	}
	return state;
}

/* Explore up to three writers and a reader, with one broken rule or NO_RULE. */
static void
run(Rule rule, Startup startup, const char *writer_0, const char *writer_1, const char *writer_2)
{
	const char *transactions[WRITERS] = {writer_0, writer_1, writer_2};
	State		state = start(startup);
	int			slots = 0;

	broken = rule;
	memset(writers, 0, sizeof(writers));
	memset(&reader, 0, sizeof(reader));
	for (int i = 0; i < WRITERS; i++)
	{
		if (transactions[i] == NULL)
			continue;
		add_writer(i, transactions[i]);
		slots = i + 1;
	}
	add(&reader, startup == WITH_OLD_SNAPSHOT ? OLD_SNAPSHOT : SNAPSHOT, 0);
	add(&reader, CHECK_KNOWN, 0);
	add_horizon(slots);
	add(&reader, ANSWER, 0);
	if (broken == SAME_SNAPSHOT_SAME_HORIZON)
		add_horizon(slots);
	add(&reader, ANSWER, 1);
	add(&reader, CHECK, 0);

	missed = held = refused = states = 0;
	memset(met, 0, sizeof(met));
	explore(&state);
	printf("# %s, broken: %s: %" PRIu64 " states; missed rows %" PRIu64 ", held for ever %" PRIu64 ", refused %" PRIu64 "\n",
		   writer_0, rule_names[rule], states, missed, held, refused);
}

static void
no_row_is_missed(void **state)
{
	static const struct
	{
		Startup		startup;
		const char *writers[WRITERS];
	}			sets[] = {
		{IN_USE, {"C", "Ca"}},
		{IN_USE, {"ccc", "c"}},
		{IN_USE, {"ac", "C"}},
		{IN_USE, {"pC", "c"}},
		{IN_USE, {"p", "p"}},
		{IN_USE, {"pc", "a"}},
		{IN_USE, {"Cg", "c"}},
		{IN_USE, {"C", "z", "c"}},
		{IN_USE, {"xc", "c"}},
		{WITH_PREPARED, {"lc", "c", "n"}},
		{WITH_PREPARED, {"l", "nc"}},
		{WITH_OLD_SNAPSHOT, {"lc", "n"}},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
	{
		run(NO_RULE, sets[i].startup, sets[i].writers[0], sets[i].writers[1], sets[i].writers[2]);
		assert_int_equal(missed, 0);
		assert_int_equal(held, 0);
		assert_int_equal(refused, 0);
	}
}

/* Check that a row is missed if a rule is broken. */
static void
misses_a_row(Rule rule, Startup startup, const char *writer_0, const char *writer_1)
{
	run(rule, startup, writer_0, writer_1, NULL);
	assert_int_not_equal(missed, 0);
}

static void
a_broken_rule_misses_a_row(void **state)
{
	(void) state;
	misses_a_row(SLOT_BEFORE_VALUE, IN_USE, "C", "C");
	misses_a_row(SLOT_HAS_SMALLEST, IN_USE, "Cg", "c");
	misses_a_row(HISTORY_BEFORE_CLEAR, IN_USE, "C", "c");
	misses_a_row(HISTORY_IS_CONSISTENT, IN_USE, "ccc", "c");
	misses_a_row(PREPARED_HAS_HISTORY, IN_USE, "p", "c");
	misses_a_row(READER_CLOSES_TICK, IN_USE, "c", "c");
	misses_a_row(TICK_BEFORE_SLOTS, IN_USE, "C", "c");
	misses_a_row(SLOT_BEFORE_HISTORY, IN_USE, "C", "c");
	misses_a_row(NEWEST_FIRST, IN_USE, "ccc", "c");
	misses_a_row(PREPARED_LAST, IN_USE, "p", "c");
	misses_a_row(SAME_SNAPSHOT_SAME_HORIZON, IN_USE, "Ca", "c");
	misses_a_row(UNKNOWN_XID_IS_REFUSED, WITH_PREPARED, "l", "c");
	misses_a_row(PREPARED_IS_UNKNOWN, WITH_PREPARED, "l", "c");
	misses_a_row(UNKNOWN_XMAX_IS_REFUSED, WITH_OLD_SNAPSHOT, "l", "c");
}

static void
a_broken_rule_holds_the_horizon(void **state)
{
	(void) state;
	run(EXIT_CLEARS, IN_USE, "x", "c", NULL);
	assert_int_not_equal(held, 0);
}

static void
a_broken_rule_refuses_readers(void **state)
{
	(void) state;
	run(NEXT_XID_FIRST, WITH_PREPARED, "l", "n", NULL);
	assert_int_not_equal(refused, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_row_is_missed),
		cmocka_unit_test(a_broken_rule_misses_a_row),
		cmocka_unit_test(a_broken_rule_holds_the_horizon),
		cmocka_unit_test(a_broken_rule_refuses_readers),
	};

	return run_core_tests(tests);
}
