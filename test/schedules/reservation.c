/*
 * reservation.c
 *		Test the reservation of values under every schedule of a few processes, and with a
 *		crash of the server at each step; see explore.h.
 *
 * In each run, a value that a function returns must be below the high-water mark on disk.  It must
 * be greater than each value that was returned before the call began, and not below any horizon
 * that was returned before.  No value may be returned twice.  These rules also hold after a crash,
 * but not for two calls with a reset between them.
 *
 * What happens after a crash depends only on the mark on disk and on the results of earlier calls.
 * So it is enough to try one crash after each change of the mark, and one after each call.
 */
#include "server.h"

#include <stdlib.h>

#define MAX_RESULTS		32
#define MAX_RESETS		4
#define NEVER			INT_MAX

/*
 * Each process runs a program of letters: "g" generates a value, "a" advances the generator by one
 * second, "A" advances it by ten seconds, "z" resets it, and "h" computes the horizon.  "+" sets
 * the clock to the next second, and "-" sets it to the previous second.  At most write_failures
 * writes of the mark fail, and at most "cancels" calls are canceled while they wait for another
 * process.  A flush takes flush_seconds.  At most other_flushes times, another process is
 * found to flush WAL.
 */
typedef struct Scenario
{
	const char *name;
	const char *programs[MAX_PROCESSES];
	int			write_failures;
	int			flush_seconds;
	int			other_flushes;
	int			cancels;
} Scenario;

/* A value or horizon that a call returned, or a value to which it advanced a generator */
typedef struct Result
{
	char		letter;
	UuidPayload value;
	int			begin;			/* when the call began and ended */
	int			end;
} Result;

static const Scenario *scenario;
static Result results[MAX_RESULTS];
static int	result_count;
static int	reset_begin[MAX_RESETS];
static int	reset_end[MAX_RESETS];
static int	reset_count;
static int	time_now;			/* counts the beginnings and ends of calls */

static void
write_letter(void *arg)
{
	Result	   *result = arg;
	TestSnapshot snapshot;

	switch (result->letter)
	{
		case 'g':
			result->value = generate();
			break;
		case 'h':
			take_snapshot(&snapshot);
			result->value = ask_horizon(&snapshot);
			break;
		case 'A':
		case 'a':
			result->value.time = uuid_clock_v7_later(uuid9562_generator_state().previous.time,
													 result->letter == 'A' ? 10 : 1);
			uuid9562_advance_generator(result->value);
			break;
		case 'z':
			uuid9562_reset_generator();
			break;
	}
}

/* Check whether a reset ran at any time of a period. */
static bool
was_reset(int begin, int end)
{
	for (int i = 0; i < reset_count; i++)
	{
		if (reset_begin[i] < end && reset_end[i] > begin)
			return true;
	}
	return false;
}

/* Check a new value against all earlier results, and against the mark on disk. */
static void
check_value(const Result *value)
{
	for (int i = 0; i < result_count; i++)
	{
		const Result *earlier = &results[i];
		bool		is_less = uuid_payload_less(value->value, earlier->value);
		bool		is_greater = uuid_payload_less(earlier->value, value->value);

		if (was_reset(Min(earlier->begin, value->begin), value->end))
			continue;
		if (!is_less && !is_greater && earlier->letter != 'h')
			violation("a value is returned twice");
		if (is_less && earlier->end < value->begin)
			violation("a value is less than an earlier value or horizon");
	}
	if (value->value.time >= server.mark.reserved_until && !was_reset(value->begin, value->end))
		violation("a value is not below the mark on disk");
}

/* Run a call, and record and check its result. */
static void
run_call(char letter)
{
	Result		result = {letter, {0, 0}, 0, 0};
	int			reset = reset_count;

	begin_transaction();
	result.begin = ++time_now;
	if (letter == 'z')
	{
		reset_begin[reset_count] = result.begin;
		reset_end[reset_count++] = NEVER;
	}
	if (try_statement(write_letter, &result))
	{
		result.end = ++time_now;
		trace("%c returned %llu", letter, (unsigned long long) result.value.time);
		if (letter == 'z')
			reset_end[reset] = result.end;
		else
		{
			if (letter == 'g')
				check_value(&result);
			results[result_count++] = result;
		}
		crash_matters();
		commit_transaction();
		return;
	}
	/* computing a horizon fails before the first value */
	if (last_error != ERRCODE_DISK_FULL && last_error != ERRCODE_QUERY_CANCELED && letter != 'h')
		violation("a call failed");
	abort_transaction();
}

static void
run_program(const char *program)
{
	for (; *program; program++)
	{
		if (*program == '+' || *program == '-')
		{
			server.clock_seconds += *program == '+' ? 1 : -1;
			server.clock_reads = 0;
		}
		else
			run_call(*program);
	}
}

static void
run_process(int process)
{
	run_program(scenario->programs[process]);
}

static void
prepare_scenario(void)
{
	create_server(2);
	remember_server();
}

static void
start_run(void)
{
	start_server();
	server.write_failures = scenario->write_failures;
	server.flush_seconds = scenario->flush_seconds;
	server.other_flushes = scenario->other_flushes;
	server.cancels = scenario->cancels;
	result_count = reset_count = time_now = 0;
}

/*
 * Start the server again after a crash, and generate values with an earlier clock.  WAL that is not
 * flushed can be on disk nevertheless.
 */
static void
finish_run(bool crashed)
{
	HighWaterMark mark;

	if (!crashed)
		return;
	if (server.flush_lsn < server.write_lsn && choose(2) == 1)
		server.mark = server.new_mark;
	mark = server.mark;
	create_server(2);
	server.mark = server.new_mark = mark;
	server.clock_seconds = -10;
	run_program("ghg");
}

static const Scenario scenarios[] = {
	{.name = "two sessions extend the reservation", .programs = {"g+g", "g++g"}},
	{.name = "two sessions extend the reservation twice", .programs = {"g++g++g", "g+++gg"}},
	{.name = "the clock goes back", .programs = {"g+g--g", "gg"}},
	{.name = "the generator is advanced", .programs = {"gAg", "g+g"}},
	{.name = "the generator is advanced less than the clock", .programs = {"g+++g", "a"}},
	{.name = "the generator is advanced, and a horizon computed", .programs = {"gA", "h"}},
	{.name = "two sessions advance the generator", .programs = {"gA", "Ag"}},
	{.name = "the generator is reset", .programs = {"gzg", "g+g"}},
	{.name = "the generator is reset twice", .programs = {"g++zg", "zg"}},
	{.name = "a horizon is computed", .programs = {"g+g", "hh"}},
	{.name = "a horizon is computed, and the generator reset", .programs = {"gzg", "h"}},
	{.name = "a write fails", .programs = {"g+g", "g++g"}, .write_failures = 1},
	{.name = "a write fails when the generator is advanced", .programs = {"gAg", "g++g"}, .write_failures = 1},
	{.name = "a write fails when the generator is reset", .programs = {"g++zg", "gg"}, .write_failures = 1},
	{.name = "a flush takes longer than the reservation", .programs = {"g+g", "gg"}, .flush_seconds = 5},
	{.name = "other processes flush WAL", .programs = {"g+g+g", "g"}, .other_flushes = 3},
	{.name = "other processes flush WAL slowly", .programs = {"g+g+g+g", "g"}, .other_flushes = 3, .flush_seconds = 5},
	{.name = "other processes flush WAL, and the generator is reset", .programs = {"g+g+g", "z"}, .other_flushes = 3},
	{.name = "other processes flush WAL, and the generator is advanced", .programs = {"g+g+g", "A"}, .other_flushes = 3},
	{.name = "other processes flush WAL, and a horizon is computed", .programs = {"g+g+g", "h"}, .other_flushes = 3},
	{.name = "a waiting call is canceled", .programs = {"gg", "gg"}, .cancels = 1},
	{.name = "a waiting reset is canceled", .programs = {"gzg", "gz"}, .cancels = 1},
};

/* Explore all scenarios, or those whose names contain the argument. */
int
main(int argc, char **argv)
{
	const char *schedules = getenv("SCHEDULES");
	Exploration what = {NULL, 2, true, prepare_scenario, start_run, run_process, finish_run};

	/* two preemptions take a minute and a half, and find few errors that one does not */
	bound = schedules ? atoi(schedules) : getenv("QUICK") ? 1 : bound;
	for (size_t i = 0; i < lengthof(scenarios); i++)
	{
		scenario = &scenarios[i];
		what.name = scenario->name;
		if (argc < 2 || strstr(scenario->name, argv[1]) != NULL)
			explore(&what);
	}
	return report();
}
