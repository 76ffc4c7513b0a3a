/*
 * horizon.c
 *		Test the horizon under every schedule of a few writers and a reader; see explore.h.
 *
 * In each run, these rules must hold.  If a transaction of the reader's database commits a row that
 * the reader's snapshot does not see, the row is not below the horizon.  A snapshot has only one
 * horizon.  When all transactions of this database have finished, no transaction holds the horizon.
 * No reader gets an error if the horizon can be known.
 *
 * After a reset or startup, values can be smaller than before.  Nevertheless, readers with
 * positions must miss no row.  At the end of the run, a reader with a position continues after some
 * ID.  This ID must be less than the IDs of all committed rows that the position's snapshot does
 * not see.
 */
#include "server.h"

#include <stdlib.h>

#define MAX_ROWS		24
#define MAX_HORIZONS	8

/* States of the server in which a scenario starts */
typedef enum Startup
{
	IN_USE,						/* ordered functions have been used */
	WITH_PREPARED,				/* a transaction was prepared before startup */
	WITH_PREPARED_ELSEWHERE,	/* the same, but in another database */
	WITH_POSITION,				/* a reader has read rows that a failover has
								 * lost */
	WITH_OLD_SNAPSHOT			/* a snapshot is from before startup */
} Startup;

/*
 * Programs of the processes.  Each of these letters is a transaction:
 *
 *	c	commits after one value
 *	d	commits after one value, which it generates after its transaction ID is assigned
 *	C	commits after two values
 *	g	commits after two values, with a reset of the generator between them
 *	n	commits without a value, but with a transaction ID
 *	o	commits after one value, without a transaction ID
 *	a	aborts after one value
 *	p	is prepared after one value
 *	x	ends after one value because the backend exits; another backend follows
 *
 * k commits a prepared transaction, K rolls it back, and z resets the generator.  At 1 or 2, the
 * backend exits, and a backend of database 1 or 2 follows; readers are in database 1.  Only readers
 * have the other letters: s takes a snapshot, S simulates a snapshot from before startup, b goes
 * back to the previous snapshot (as a cursor does), h computes the horizon, P computes the position
 * of a reader that has read all rows below the horizon, and w waits until two transactions have
 * committed.  W calls changes_wait(), as rows are entries of a log, until it has read all rows that
 * the other programs commit.
 */
typedef struct Scenario
{
	const char *name;
	Startup		startup;
	const char *programs[MAX_PROCESSES];
} Scenario;

typedef struct Row
{
	UuidPayload value;
	int			transaction;
} Row;

typedef struct Horizon
{
	UuidPayload value;
	const TestSnapshot *snapshot;
} Horizon;

/* A position, and the snapshot that sees all rows up to it */
typedef struct Position
{
	UuidSealed value;
	const TestSnapshot *snapshot;
} Position;

static const Scenario *scenario;
static Exploration what;
static Row	rows[MAX_ROWS];
static int	row_count;
static int	first_row_count;	/* rows from before the run */
static Horizon horizons[MAX_HORIZONS];
static int	horizon_count;
static Position positions[MAX_HORIZONS];
static int	position_count;
static int	first_position_count;	/* positions from before the run */
static TestSnapshot snapshots[MAX_HORIZONS];
static int	snapshot_count;
static TestSnapshot *active;
static int	resets_begun;
static int	resets;				/* number of resets that have ended */
static int	resets_before_reader;	/* resets that ended before the
									 * reader's first snapshot */

/* --- writers --------------------------------------------------------------------- */

/* Generate a value, and insert a row with it. */
static void
insert(void *arg)
{
	UuidPayload value = generate();

	if (row_count >= MAX_ROWS)
		violation("too many rows");
	rows[row_count++] = (Row) {value, own_transaction()};
	trace("generated %llu", (unsigned long long) value.time);
}

static void
reset(void *arg)
{
	resets_begun++;
	server.clock_reads = 0;
	uuid9562_reset_generator();
	resets++;
}

/* Run the transaction that a letter stands for, and end or prepare it. */
static void
write_rows(char letter)
{
	begin_transaction();
	if (letter == 'd' || letter == 'n')
		assign_xid();
	if (letter != 'n')
		run_statement(insert, NULL);
	if (letter != 'o')
		assign_xid();
	if (letter == 'g')
		run_statement(reset, NULL);
	if (letter == 'C' || letter == 'g')
		run_statement(insert, NULL);

	if (letter == 'a')
		abort_transaction();
	else if (letter == 'p')
		prepare_transaction();
	else if (letter == 'x')
		exit_backend(MyDatabaseId);
	else
		commit_transaction();
}

/* --- the reader ------------------------------------------------------------------ */

static void
ask(void *arg)
{
	*(Horizon *) arg = (Horizon) {ask_horizon(active), active};
}

/*
 * Check whether the horizon of a snapshot may be refused.  This is so if the snapshot was taken
 * before the first use of an ordered function, or if the transaction that was prepared before
 * startup is still in progress for the snapshot.
 */
static bool
is_unknown(const TestSnapshot *snapshot)
{
	return !snapshot->used || (scenario->startup == WITH_PREPARED && snapshot->data.xcnt > 0 &&
							   snapshot->xip[0] == (TransactionId) server.transactions[0].xid);
}

static void
read_horizon(void)
{
	if (horizon_count >= MAX_HORIZONS)
		violation("too many horizons");
	if (try_statement(ask, &horizons[horizon_count]))
	{
		trace("horizon %llu", (unsigned long long) horizons[horizon_count].value.time);
		horizon_count++;
	}
	else if (last_error != ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
		violation("computing a horizon failed");
	else if (!is_unknown(active) && resets_begun == 0)
		violation("a reader was refused needlessly");
}

static void
locate(void *arg)
{
	*(Position *) arg = (Position) {ask_position(active), active};
}

static void
compute_position(void)
{
	if (position_count >= MAX_HORIZONS)
		violation("too many positions");
	run_statement(locate, &positions[position_count++]);
}

/* Take a snapshot, or simulate one that was taken before startup. */
static void
new_snapshot(bool old)
{
	TestSnapshot *snapshot = &snapshots[snapshot_count];

	if (snapshot_count >= MAX_HORIZONS)
		violation("too many snapshots");
	take_snapshot(snapshot);
	if (snapshot_count == 0)
		resets_before_reader = resets;
	if (old)
	{
		memset(snapshot->sees, 0, sizeof(snapshot->sees));
		snapshot->used = false;
		snapshot->data.xcnt = 0;
		snapshot->data.xmin = snapshot->data.xmax = (TransactionId) server.transactions[0].xid;
	}
	snapshot_count++;
	active = snapshot;
}

/* Find the smallest row after another one that a snapshot sees. */
bool
find_row(const TestSnapshot *snapshot, UuidPayload after, UuidPayload *first)
{
	bool		found = false;

	for (int i = 0; i < row_count; i++)
	{
		if (!snapshot->sees[rows[i].transaction] || !uuid_payload_less(after, rows[i].value) ||
			(found && !uuid_payload_less(rows[i].value, *first)))
			continue;
		found = true;
		*first = rows[i].value;
	}
	return found;
}

static void
read_all(void)
{
	UuidPayload place = {0, 0};
	int			left = first_row_count;

	for (const char *const *program = scenario->programs; *program != NULL; program++)
	{
		for (const char *letter = *program; *letter; letter++)
			left += *letter == 'C' ? 2 : *letter == 'c' || *letter == 'd';
	}
	while (left > 0)
	{
		TestSnapshot *snapshot = wait_for_page(place);
		const UuidPayload horizon = ask_horizon(snapshot);
		UuidPayload next;

		for (; find_row(snapshot, place, &next) && uuid_payload_less(next, horizon); left--)
			place = next;
	}
}

static bool
two_have_committed(const void *arg)
{
	int			committed = 0;

	for (int i = 0; i < server.transaction_count; i++)
		committed += server.transactions[i].state == COMMITTED;
	return committed >= 2 + (scenario->startup == IN_USE);
}

static void
run_process(int process)
{
	const char *program = scenario->programs[process];
	bool		reads = strchr("sSW", program[0]) != NULL;

	if (reads)
		begin_transaction();
	for (; *program; program++)
	{
		switch (*program)
		{
			case 's':
			case 'S':
				new_snapshot(*program == 'S');
				break;
			case 'b':
				active--;
				break;
			case 'w':
				point("wait for two transactions");
				wait_until(two_have_committed, NULL);
				break;
			case 'W':
				read_all();
				break;
			case 'h':
				read_horizon();
				break;
			case 'P':
				compute_position();
				break;
			case 'z':
				run_statement(reset, NULL);
				break;
			case '1':
			case '2':
				exit_backend(*program - '0');
				break;
			case 'k':
			case 'K':
				finish_prepared(*program == 'k');
				break;
			default:
				write_rows(*program);
		}
	}
	if (reads)
		commit_transaction();
}

/* --- runs ------------------------------------------------------------------------ */

/* Check whether a row that a snapshot does not see can become visible in its database later. */
static bool
can_appear(const Row *row, const TestSnapshot *snapshot)
{
	const Transaction *transaction = &server.transactions[row->transaction];

	return !snapshot->sees[row->transaction] && transaction->state != ABORTED &&
		transaction->xid != 0 && transaction->database == FIRST_DATABASE;
}

/*
 * Check that all horizons computed for a snapshot are equal.  Unless the generator was reset after
 * the reader's first snapshot, also check that no row below the horizon can appear later.
 */
static void
check_horizons(void)
{
	for (int i = 0; i < horizon_count; i++)
	{
		const Horizon *horizon = &horizons[i];

		for (int j = 0; j < i; j++)
		{
			if (horizons[j].snapshot == horizon->snapshot &&
				horizons[j].value.time != horizon->value.time)
				violation("a snapshot has two horizons");
		}
		for (int j = 0; j < row_count; j++)
		{
			if (uuid_payload_less(rows[j].value, horizon->value) &&
				can_appear(&rows[j], horizon->snapshot) && resets_before_reader == resets)
				violation("a row is missed: value %d of transaction %d", j, rows[j].transaction);
		}
	}
}

/* Check that a reader with a position reads all rows that the position's snapshot does not see. */
static void
check_positions(void)
{
	for (int i = 0; i < position_count; i++)
	{
		uint8		id[UUID_BYTES];
		UuidPayload after;

		if (!uuid_position_after(&positions[i].value, &server.mark.branches, id))
			violation("a position is unknown");
		after = uuid_layout_unpack(id, UUID_V7->version);
		for (int j = 0; j < row_count; j++)
		{
			if (!uuid_payload_less(after, rows[j].value) && can_appear(&rows[j], positions[i].snapshot))
				violation("a reader with a position misses a row: value %d of transaction %d",
						  j, rows[j].transaction);
		}
	}
}

/* Check that neither finished transactions nor those of another database hold the horizon. */
static void
check_nothing_held(void)
{
	if (scenario->startup == WITH_OLD_SNAPSHOT ||
		(server.prepared != NO_TRANSACTION &&
		 server.transactions[server.prepared].database == FIRST_DATABASE))
		return;
	MyDatabaseId = FIRST_DATABASE;
	begin_transaction();
	new_snapshot(false);
	horizon_count = 0;
	read_horizon();
	for (int i = 0; i < row_count; i++)
	{
		if (resets == 0 && !uuid_payload_less(rows[i].value, horizons[0].value))
			violation("a finished transaction, or one of another database, holds the horizon");
	}
}

static void
finish_run(bool crashed)
{
	check_horizons();
	check_positions();
	check_nothing_held();
}

/*
 * Make a position from before startup, on a branch that the mark contains.  The ID of the position
 * is above the reservation in the mark.  A reader has such a position if a promotion loses the last
 * rows that the reader has read.
 */
static void
add_old_position(void)
{
	static TestSnapshot seen;
	const uint64 name = 1;
	uint8		id[UUID_BYTES];

	uuid_layout_pack(id, UUID_V7->version, uuid_payload_before(UUID_TIME_MAX));
	memset(&positions[0], 0, sizeof(Position));
	uuid_position_advance(&positions[0].value, name, id);
	seen.sees[0] = true;
	positions[0].snapshot = &seen;
	position_count = 1;
	uuid_branches_add(&server.mark.branches, name);
	server.new_mark = server.mark;
}

/* Set up a server in the state in which the scenario starts. */
static void
prepare_scenario(void)
{
	create_server(what.processes);
	use_waiting(scenario->programs[what.processes - 1][0] == 'W');
	row_count = position_count = resets = resets_begun = 0;
	if (scenario->startup == IN_USE)
		write_rows('c');
	else
	{
		/* a row of transaction 0, with a value from before startup */
		begin_transaction();
		assign_xid();
		rows[0] = (Row) {{1, 0}, 0};
		row_count = 1;
		commit_transaction();
		server.mark.reserved_until = server.new_mark.reserved_until = 1000;
		if (scenario->startup == WITH_PREPARED_ELSEWHERE)
			server.transactions[0].database++;
		if (scenario->startup == WITH_PREPARED || scenario->startup == WITH_PREPARED_ELSEWHERE)
			restore_prepared(0);
		if (scenario->startup == WITH_POSITION)
			add_old_position();
	}
	first_row_count = row_count;
	first_position_count = position_count;
	remember_server();
}

static void
start_run(void)
{
	start_server();
	row_count = first_row_count;
	position_count = first_position_count;
	horizon_count = snapshot_count = resets = resets_begun = 0;
}

static const Scenario scenarios[] = {
	{"two writers and a reader of two partitions", IN_USE, {"C", "Ca", "shh"}},
	{"a history is merged", IN_USE, {"cc", "c", "sh"}},
	{"a history is merged, and read again", IN_USE, {"cccc", "shh"}},
	{"a history is merged under an old snapshot", IN_USE, {"ccc", "swh"}},
	{"three writers", IN_USE, {"c", "d", "c", "sh"}},
	{"transactions that abort, and without ID", IN_USE, {"ac", "oC", "sh"}},
	{"two statements", IN_USE, {"Cc", "c", "shsh"}},
	{"a cursor with an older snapshot", IN_USE, {"cc", "c", "sshbh"}},
	{"a transaction is prepared, and committed", IN_USE, {"pc", "k", "shh"}},
	{"a transaction is prepared, and rolled back", IN_USE, {"pc", "K", "sh"}},
	{"the slot of a prepared transaction is used again", IN_USE, {"pp", "kk", "sh"}},
	{"the history of prepared transactions is merged", IN_USE, {"pkpkpk", "sh"}},
	{"a backend exits, and another one starts", IN_USE, {"xcx", "c", "sh"}},
	{"the generator is reset in a transaction", IN_USE, {"g", "c", "sh"}},
	{"the generator is reset by another process", IN_USE, {"C", "z", "shsh"}},
	{"a backend of another database follows", IN_USE, {"c2c", "c", "sh"}},
	{"a backend of this database follows", IN_USE, {"2c1c", "c", "sh"}},
	{"the history of two databases is merged", IN_USE, {"cc2cc", "swh"}},
	{"a transaction of another database stays prepared", IN_USE, {"2p", "c", "shsh"}},
	{"another database uses the slot of a prepared transaction", IN_USE, {"p2p", "k", "sh"}},
	{"another database used the slot of a prepared transaction", IN_USE, {"2p1p", "kk", "sh"}},
	{"first use, with a transaction prepared elsewhere", WITH_PREPARED_ELSEWHERE, {"nc", "n", "sh"}},
	{"first use, with a prepared transaction", WITH_PREPARED, {"c", "nk", "sh"}},
	{"first use by the reader, with a prepared transaction", WITH_PREPARED, {"nc", "k", "shsh"}},
	{"positions, and a reset", IN_USE, {"C", "z", "sPsP"}},
	{"positions, and a reset in a transaction", IN_USE, {"g", "sP"}},
	{"first use, with a position", WITH_POSITION, {"c", "sP"}},
	{"first use, with an old snapshot", WITH_OLD_SNAPSHOT, {"cc", "n", "Shsh"}},
	{"a process waits for a row", IN_USE, {"c", "W"}},
	{"a process waits for rows of two transactions", IN_USE, {"C", "c", "W"}},
	{"a process waits while others hold the horizon", IN_USE, {"c", "ao", "W"}},
};

/* Explore all scenarios, or those whose names contain the argument. */
int
main(int argc, char **argv)
{
	const char *schedules = getenv("SCHEDULES");
	const int	preemptions = schedules ? atoi(schedules) : bound;

	what = (Exploration) {NULL, 0, false, prepare_scenario, start_run, run_process, finish_run};
	for (size_t i = 0; i < lengthof(scenarios); i++)
	{
		scenario = &scenarios[i];
		if (argc > 1 && strstr(scenario->name, argv[1]) == NULL)
			continue;
		what.name = scenario->name;
		what.processes = 0;
		while (what.processes < MAX_PROCESSES && scenario->programs[what.processes] != NULL)
			what.processes++;
		/* four processes have too many schedules */
		bound = preemptions - (what.processes > 3);
		explore(&what);
	}
	return report();
}
