/*
 * The order of steps that the horizon rests on, in a model: every interleaving of
 * a few writers with a reader.
 *
 * A step is what a process does that another can see, and each order that
 * src/instance/horizon.c and src/instance/ordered.c argue is a rule here.  With all rules kept, no
 * reader is told of a horizon below which a row is still to come, and nothing holds
 * it when all have ended.  With any one of them broken, the model finds where that
 * goes wrong: so it would find it if the rules were not enough.
 *
 * Values and transaction numbers count from 1.  A ring remembers by the functions of
 * the server, with two levels, so that joined entries are met.
 */
#define UUID_HISTORY_LEVELS 2

#include "support.h"

#include "transaction_history.h"

/* What can be broken. */
typedef enum Rule
{
	NO_RULE,
	OPEN_BEFORE_HAND_OUT,		/* the open value is set under the generator's lock */
	OPEN_IS_THE_LEAST,			/* and is lowered when the generator has gone back */
	WORKER_OPENS_FOR_LEADER,
	PUSH_BEFORE_CLEAR,
	PUSH_IS_WHOLE,				/* a reader notices that it met one */
	PREPARED_IS_PUSHED,
	EXIT_CLEARS,
	LEADER_CLEARS,				/* though it has made no value itself */
	LAST_BEFORE_OPEN,
	OPEN_BEFORE_RING,
	NEWEST_FIRST,
	PREPARED_LAST,
	TOLD_AGAIN,
	RULES
} Rule;

static const char *const rule_names[RULES] = {
	[NO_RULE] = "none",
	[OPEN_BEFORE_HAND_OUT] = "the open value is set before a value is handed out",
	[OPEN_IS_THE_LEAST] = "the open value is the least",
	[WORKER_OPENS_FOR_LEADER] = "a worker opens for its leader",
	[PUSH_BEFORE_CLEAR] = "pushed before the open value is cleared",
	[PUSH_IS_WHOLE] = "a push is read whole",
	[PREPARED_IS_PUSHED] = "a prepared transaction is pushed",
	[EXIT_CLEARS] = "an exit clears the open value",
	[LEADER_CLEARS] = "a leader clears what its workers opened",
	[LAST_BEFORE_OPEN] = "the last value is read before the open ones",
	[OPEN_BEFORE_RING] = "the open value is read before the ring",
	[NEWEST_FIRST] = "the ring is read from the newest",
	[PREPARED_LAST] = "prepared transactions are read last",
	[TOLD_AGAIN] = "a snapshot is told the same again",
};

enum
{
	WRITERS = 3,
	SLOTS = WRITERS + 1,		/* and one for a prepared transaction */
	PREPARED = WRITERS,
	ROWS = 10,
	STEPS = 40,
	ENTRIES = UUID_HISTORY_LEVELS * UUID_HISTORY_ON_LEVEL
};

typedef enum Step
{
	DONE,
	/* of a writer */
	ASSIGN,						/* a transaction number, before any value */
	GENERATE,					/* a value, and a row */
	GENERATE_FOR_LEADER,		/* writer 0 */
	OPEN_LATE,
	AWAIT_WORKER,				/* writer 1 */
	END,
	PUSH_BEGIN,
	PUSH,
	PUSH_END,
	CLEAR,
	PREPARE,
	PUSH_PREPARED,
	RESET,
	/* of the reader */
	SNAPSHOT,
	LAST,
	OPEN,
	RING_BEGIN,
	RING_LEVEL,
	RING_END,
	ANSWER,
	CHECK
} Step;

typedef struct Program
{
	struct
	{
		uint8_t		step;
		uint8_t		of;			/* a slot; a level; does the transaction abort? */
	}			steps[STEPS];
	int			length;
} Program;

/* As little as possible, and zeroed where nothing is, since it is compared by its bytes. */
typedef struct State
{
	uint8_t		at[WRITERS];
	uint8_t		reader_at;
	uint8_t		last;			/* value */
	uint8_t		next_xid;
	uint8_t		latest_ended;
	uint8_t		prepared;		/* xid in the slot for one */
	uint8_t		may_finish;		/* has its session let go of it? */
	uint16_t	running;		/* bit of each xid */
	uint8_t		xid[WRITERS];
	uint8_t		ended[WRITERS]; /* the next value is of another transaction */
	uint8_t		open[SLOTS];
	uint8_t		cleared[WRITERS];	/* what was open, where that is not pushed before */
	uint8_t		count[SLOTS][UUID_HISTORY_LEVELS];
	uint8_t		ring_xid[SLOTS][ENTRIES];
	uint8_t		ring_first[SLOTS][ENTRIES];
	uint8_t		changes[SLOTS];
	uint8_t		rows;
	uint8_t		row_value[ROWS];
	uint8_t		row_xid[ROWS];
	uint8_t		row_aborts[ROWS];
	/* the reader's */
	uint16_t	seen_running;
	uint8_t		seen_xmax;
	uint8_t		seen_last;
	uint8_t		seen_changes;
	uint8_t		least;
	uint8_t		ring_least;
	uint8_t		ring_over;
	uint8_t		told[2];
	uint8_t		reset_meanwhile;
} State;

static Rule broken;
static Program writers[WRITERS];
static Program reader;

static uint64_t missed;			/* states in which a row is */
static uint64_t stuck;
static uint64_t states;

/* --- states that were met ---------------------------------------------------- */

static uint64_t (*met)[2];
static uint64_t met_size;

/* 128 bits stand for a state. */
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
	hash[1] = b | 1;			/* 0 is a free place */
}

static void
met_init(uint64_t size)
{
	met_size = size;
	met = calloc(size, sizeof(*met));
	assert_non_null(met);
	states = 0;
}

/* Was it met before?  Now it was. */
static bool
was_met(const State *state)
{
	uint64_t	hash[2];
	uint64_t	place;

	if (states > met_size / 4 * 3)
	{
		uint64_t	(*old)[2] = met;
		uint64_t	old_size = met_size;

		met_init(old_size * 4);
		for (uint64_t i = 0; i < old_size; i++)
		{
			if (old[i][1] == 0)
				continue;
			for (place = old[i][0]; met[place & (met_size - 1)][1] != 0; place++);
			memcpy(met[place & (met_size - 1)], old[i], sizeof(*old));
			states++;
		}
		free(old);
	}
	hash_state(state, hash);
	for (place = hash[0];; place++)
	{
		uint64_t   *here = met[place & (met_size - 1)];

		if (here[1] == 0)
		{
			memcpy(here, hash, sizeof(hash));
			states++;
			return false;
		}
		if (here[0] == hash[0] && here[1] == hash[1])
			return true;
	}
}

/* --- steps ------------------------------------------------------------------- */

/* A transaction gets its number. */
static void
begin(State *state, int writer)
{
	state->xid[writer] = ++state->next_xid;
	state->running |= 1 << state->xid[writer];
	state->ended[writer] = 0;
}

/* A value is made for a transaction, and a row of it. */
static void
generate(State *state, int slot, int owner, bool aborts)
{
	if (state->xid[owner] == 0 || state->ended[owner])
		begin(state, owner);
	state->last++;
	if (broken != OPEN_BEFORE_HAND_OUT &&
		(state->open[slot] == 0 || (state->last < state->open[slot] && broken != OPEN_IS_THE_LEAST)))
		state->open[slot] = state->last;
	state->row_value[state->rows] = state->last;
	state->row_xid[state->rows] = state->xid[owner];
	state->row_aborts[state->rows] = aborts;
	state->rows++;
}

/* By the server's function, on the ring of a slot. */
static void
push(State *state, int slot, uint8_t xid, uint8_t first)
{
	UuidHistory ring = {0};
	UuidHistoryEntry	entry = {xid, {first, first, first}};

	for (int i = 0; i < ENTRIES; i++)
	{
		UuidHistoryEntry  *to = &ring.entries[i / UUID_HISTORY_ON_LEVEL][i % UUID_HISTORY_ON_LEVEL];

		to->xid = state->ring_xid[slot][i];
		to->first[0] = state->ring_first[slot][i];
	}
	memcpy(ring.count, state->count[slot], sizeof(ring.count));
	uuid_history_add(&ring, entry);
	memcpy(state->count[slot], ring.count, sizeof(ring.count));
	for (int i = 0; i < ENTRIES; i++)
	{
		const UuidHistoryEntry *from = &ring.entries[i / UUID_HISTORY_ON_LEVEL][i % UUID_HISTORY_ON_LEVEL];
		bool		used = i % UUID_HISTORY_ON_LEVEL < ring.count[i / UUID_HISTORY_ON_LEVEL];

		state->ring_xid[slot][i] = used ? from->xid : 0;
		state->ring_first[slot][i] = used ? from->first[0] : 0;
	}
}

static void
end(State *state, uint8_t xid)
{
	state->running &= ~(1 << xid);
	if (xid > state->latest_ended)
		state->latest_ended = xid;
}

/* A step of a writer; false where it has to wait. */
static bool
write_step(State *state, int writer)
{
	const int	at = state->at[writer];
	const int	of = writers[writer].steps[at].of;

	switch (writers[writer].steps[at].step)
	{
		case ASSIGN:
			begin(state, writer);
			break;
		case GENERATE:
			generate(state, writer, writer, of);
			break;
		case GENERATE_FOR_LEADER:
			if (state->at[0] == 0)
				return false;
			generate(state, broken == WORKER_OPENS_FOR_LEADER ? writer : 0, 0, of);
			break;
		case OPEN_LATE:
			if (state->open[writer] == 0)
				state->open[writer] = state->last;
			break;
		case AWAIT_WORKER:
			if (state->at[1] < writers[1].length)
				return false;
			break;
		case END:
			end(state, state->xid[writer]);
			state->ended[writer] = 1;
			break;
		case PUSH_BEGIN:
			state->changes[of]++;
			break;
		case PUSH:
			push(state, writer, state->xid[writer],
				 broken == PUSH_BEFORE_CLEAR ? state->cleared[writer] : state->open[writer]);
			state->cleared[writer] = 0;
			break;
		case PUSH_PREPARED:
			if (broken != PREPARED_IS_PUSHED)
				push(state, PREPARED, state->xid[writer], state->open[writer]);
			break;
		case PUSH_END:
			state->changes[of]++;
			break;
		case CLEAR:
			if (broken == PUSH_BEFORE_CLEAR)
				state->cleared[writer] = state->open[writer];
			state->open[writer] = 0;
			/* from here on others may finish what was prepared */
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
	}
	state->at[writer]++;
	return true;
}

static bool
sees(const State *state, uint8_t xid)
{
	return xid < state->seen_xmax && !(state->seen_running & 1 << xid);
}

/* Is a row to be missed by a reader that goes on from the greatest value that it was given? */
static bool
misses(const State *state)
{
	uint8_t		greatest = 0;

	/* those of odd transactions are in a partition that is read first */
	for (int i = 0; i < state->rows; i++)
	{
		bool		first = state->row_xid[i] % 2;

		if (sees(state, state->row_xid[i]) && !state->row_aborts[i] &&
			state->row_value[i] < state->told[first ? 0 : 1] && state->row_value[i] > greatest)
			greatest = state->row_value[i];
	}
	for (int i = 0; i < state->rows; i++)
	{
		bool		first = state->row_xid[i] % 2;

		if (state->row_aborts[i])
			continue;
		/* the promise */
		if (!sees(state, state->row_xid[i]) &&
			(state->row_value[i] < state->told[0] || state->row_value[i] < state->told[1]))
			return true;
		if (sees(state, state->row_xid[i]) && state->row_value[i] >= state->told[first ? 0 : 1] &&
			state->row_value[i] < greatest)
			return true;
	}
	return false;
}

/* A step of the reader; false where it has to wait. */
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
			break;
		case LAST:
			state->seen_last = state->last;
			break;
		case OPEN:
			if (state->open[of] != 0 && (state->least == 0 || state->open[of] < state->least))
				state->least = state->open[of];
			break;
		case RING_BEGIN:
			if (state->changes[of] % 2 != 0 && broken != PUSH_IS_WHOLE)
			{
				state->reader_at--;
				return false;
			}
			state->seen_changes = state->changes[of];
			state->ring_least = 0;
			state->ring_over = 0;
			break;
		case RING_LEVEL:
			{
				int			slot = of / UUID_HISTORY_LEVELS;
				int			level = of % UUID_HISTORY_LEVELS;
				int			count = state->count[slot][level];

				/* the worst that can be read while it is written */
				if (state->changes[slot] % 2 != 0)
					count = 0;
				for (int i = 0; i < count && !state->ring_over; i++)
				{
					int			entry = level * UUID_HISTORY_ON_LEVEL +
						(broken == NEWEST_FIRST ? i : count - 1 - i);

					if (sees(state, state->ring_xid[slot][entry]))
						state->ring_over = 1;
					else if (state->ring_least == 0 || state->ring_first[slot][entry] < state->ring_least)
						state->ring_least = state->ring_first[slot][entry];
				}
				break;
			}
		case RING_END:
			if (state->changes[of] != state->seen_changes && broken != PUSH_IS_WHOLE)
			{
				/* again */
				while (reader.steps[state->reader_at].step != RING_BEGIN ||
					   reader.steps[state->reader_at].of != of)
					state->reader_at--;
				break;
			}
			if (state->ring_least != 0 && (state->least == 0 || state->ring_least < state->least))
				state->least = state->ring_least;
			state->ring_least = state->ring_over = state->seen_changes = 0;
			break;
		case ANSWER:
			if (of == 0 || broken == TOLD_AGAIN)
				state->told[of] = state->least != 0 && state->least <= state->seen_last ?
					state->least : state->seen_last + 1;
			else
				state->told[1] = state->told[0];
			state->least = 0;
			break;
		case CHECK:
			/* what was made after a reset that came after the question has no order */
			if (misses(state) && !state->reset_meanwhile)
				missed++;
			break;
	}
	return true;
}

/* Whatever can happen after a state. */
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
		for (int slot = 0; slot < SLOTS; slot++)
			stuck += state->open[slot] != 0;
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

/* What was pushed, in the place where the rules have it. */
static void
add_push(Program *program, int slot)
{
	add(program, PUSH_BEGIN, slot);
	add(program, slot == PREPARED ? PUSH_PREPARED : PUSH, slot);
	add(program, PUSH_END, slot);
}

static void
add_value(Program *program, bool aborts)
{
	add(program, GENERATE, aborts);
	if (broken == OPEN_BEFORE_HAND_OUT)
		add(program, OPEN_LATE, 0);
}

/*
 * A writer: c and C commit after one and two values, a aborts, p prepares, x exits
 * inside a transaction, z resets the generator, w leads a worker which alone makes
 * values, and W is that worker, g makes a value, resets the generator and makes
 * another.
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
			case 'W':
				add(program, GENERATE_FOR_LEADER, 0);
				if (broken == WORKER_OPENS_FOR_LEADER)
					add(program, CLEAR, 0);
				continue;
			case 'w':
				add(program, ASSIGN, 0);
				add(program, AWAIT_WORKER, 0);
				break;
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
				add_push(program, PREPARED);
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
				if (*transactions == 'w' && broken == LEADER_CLEARS)
					break;
				if (broken == PUSH_BEFORE_CLEAR)
					add(program, CLEAR, 0);
				add_push(program, writer);
				if (broken != PUSH_BEFORE_CLEAR)
					add(program, CLEAR, 0);
		}
	}
}

/* The reader reads the slots of so many writers. */
static void
add_question(int slots)
{
	if (broken != LAST_BEFORE_OPEN)
		add(&reader, LAST, 0);
	for (int i = 0; i <= slots; i++)
	{
		int			slot = i < slots ? i : PREPARED;

		if (broken == PREPARED_LAST)
			slot = i == 0 ? PREPARED : i - 1;
		if (broken != OPEN_BEFORE_RING && slot != PREPARED)
			add(&reader, OPEN, slot);
		add(&reader, RING_BEGIN, slot);
		for (int level = 0; level < UUID_HISTORY_LEVELS; level++)
			add(&reader, RING_LEVEL, slot * UUID_HISTORY_LEVELS +
				(broken == NEWEST_FIRST ? UUID_HISTORY_LEVELS - 1 - level : level));
		add(&reader, RING_END, slot);
		if (broken == OPEN_BEFORE_RING && slot != PREPARED)
			add(&reader, OPEN, slot);
	}
	if (broken == LAST_BEFORE_OPEN)
		add(&reader, LAST, 0);
}

/* Explore writers, up to three words. */
static void
run(Rule rule, const char *writer_0, const char *writer_1, const char *writer_2)
{
	const char *transactions[WRITERS] = {writer_0, writer_1, writer_2};
	State		state;
	int			slots = 0;

	broken = rule;
	memset(writers, 0, sizeof(writers));
	memset(&reader, 0, sizeof(reader));
	memset(&state, 0, sizeof(state));
	for (int i = 0; i < WRITERS; i++)
	{
		if (transactions[i] == NULL)
			continue;
		add_writer(i, transactions[i]);
		slots = i + 1;
	}
	add(&reader, SNAPSHOT, 0);
	add_question(slots);
	add(&reader, ANSWER, 0);
	if (broken == TOLD_AGAIN)
		add_question(slots);
	add(&reader, ANSWER, 1);
	add(&reader, CHECK, 0);

	missed = stuck = 0;
	met_init(1 << 16);
	explore(&state);
	free(met);
	printf("# %s, broken: %s: %" PRIu64 " states, a row is missed in %" PRIu64 ", the horizon is held for ever in %" PRIu64 "\n",
		   writer_0, rule_names[rule], states, missed, stuck);
}

static void
no_row_is_missed(void **state)
{
	static const char *const sets[][WRITERS] = {
		{"C", "Ca"},
		{"ccc", "c"},
		{"ac", "C"},
		{"pC", "c"},
		{"p", "p"},
		{"pc", "a"},
		{"w", "W", "c"},
		{"g", "c"},
		{"C", "z", "c"},
		{"xc", "c"},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
	{
		run(NO_RULE, sets[i][0], sets[i][1], sets[i][2]);
		assert_int_equal(missed, 0);
		assert_int_equal(stuck, 0);
	}
}

/* That a row is missed where a rule is broken. */
static void
finds_a_row(Rule rule, const char *writer_0, const char *writer_1, const char *writer_2)
{
	run(rule, writer_0, writer_1, writer_2);
	assert_int_not_equal(missed, 0);
}

static void
each_rule_is_needed(void **state)
{
	(void) state;
	finds_a_row(OPEN_BEFORE_HAND_OUT, "C", "C", NULL);
	finds_a_row(OPEN_IS_THE_LEAST, "g", "c", NULL);
	finds_a_row(WORKER_OPENS_FOR_LEADER, "w", "W", "c");
	finds_a_row(PUSH_BEFORE_CLEAR, "C", "c", NULL);
	finds_a_row(PUSH_IS_WHOLE, "ccc", "c", NULL);
	finds_a_row(PREPARED_IS_PUSHED, "p", "c", NULL);
	finds_a_row(LAST_BEFORE_OPEN, "C", "c", NULL);
	finds_a_row(OPEN_BEFORE_RING, "C", "c", NULL);
	finds_a_row(NEWEST_FIRST, "ccc", "c", NULL);
	finds_a_row(PREPARED_LAST, "p", "c", NULL);
	finds_a_row(TOLD_AGAIN, "Ca", "c", NULL);
}

static void
nothing_holds_for_ever(void **state)
{
	(void) state;
	run(EXIT_CLEARS, "x", "c", NULL);
	assert_int_not_equal(stuck, 0);
	run(LEADER_CLEARS, "w", "W", "c");
	assert_int_not_equal(stuck, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_row_is_missed),
		cmocka_unit_test(each_rule_is_needed),
		cmocka_unit_test(nothing_holds_for_ever),
	};

	return run_core_tests(tests);
}
