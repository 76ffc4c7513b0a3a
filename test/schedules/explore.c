/*
 * explore.c
 *		The explorer: coroutines, and the choices of a run.
 */
#include "explore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#undef printf
#undef vprintf

#define STACK_SIZE		(128 * 1024)
#define MAX_CHOICES		10000
#define MAX_POINTS		20000	/* assume that a longer run never ends */
#define CRASH			MAX_PROCESSES

typedef struct Process
{
	jmp_buf		base;			/* where the process begins in each run */
	jmp_buf		resume;			/* where it continues */
	bool		created;
	bool		ended;
	bool		acted;			/* has it done anything since its last point? */
	bool		yielded;		/* does it wait for a step of another process? */
	bool		(*ready) (const void *arg); /* NULL unless in wait_until() */
	const void *ready_arg;
	ucontext_t	context;
	char		stack[STACK_SIZE] pg_attribute_aligned(16);
} Process;

int			current_process = NO_PROCESS;
int			bound = 2;

static Process processes[MAX_PROCESSES];
static const Exploration *exploration;
static jmp_buf explorer;

static int	choices[MAX_CHOICES];
static int	options[MAX_CHOICES];
static int	made;				/* number of choices made in this run */
static int	given;				/* number of choices that next_run() has set */
static int	preemptions;
static int	reorderings;
static int	points;
static bool crashed;
static bool crash_due;			/* would a crash now differ from an earlier
								 * one? */
static bool failed;				/* has this run failed? */
static bool tracing;

static int	tests;
static int	failures;

/* --- choices -------------------------------------------------------------------- */

/* Return a number from 0 to count - 1: 0 in the first run, and the other numbers in later runs. */
int
choose(int count)
{
	if (count <= 1)
		return 0;
	if (made >= MAX_CHOICES)
		violation("a run has more than %d choices", MAX_CHOICES);
	if (made >= given)
		choices[made] = 0;
	options[made] = count;
	return choices[made++];
}

/*
 * Choose the age of the value that a load sees; 0 is the newest value.  Each choice of an older
 * value is a reordering, up to the bound.  With "again", an earlier load of the process has missed
 * the same newest value, so missing it again does not count as another reordering.
 */
int
choose_age(int count, bool again)
{
	int			age;

	if (again)
		return choose(count);
	age = reorderings < bound ? choose(count) : 0;
	reorderings += age > 0;
	return age;
}

/* Change the last choice that has an alternative.  Return false if there is none. */
static bool
next_run(void)
{
	while (made > 0 && choices[made - 1] + 1 >= options[made - 1])
		made--;
	if (made == 0)
		return false;
	choices[made - 1]++;
	given = made;
	return true;
}

/* --- processes ------------------------------------------------------------------ */

/* Continue a process, or the explorer if next is NO_PROCESS. */
static void
switch_to(int next)
{
	int			from = current_process;

	if (next == from)
		return;
	if (from != NO_PROCESS)
		leave_process(from);
	current_process = next;
	if (next != NO_PROCESS)
		enter_process(next);
	if (_setjmp(from == NO_PROCESS ? explorer : processes[from].resume) == 0)
		_longjmp(next == NO_PROCESS ? explorer : processes[next].resume, 1);
}

static bool
can_run(int process)
{
	const Process *p = &processes[process];

	return !p->ended && !p->yielded && (p->ready == NULL || p->ready(p->ready_arg));
}

/* List the processes that can run next: first the current one, if it can continue. */
static int
list_processes(int *list)
{
	bool		can_continue = can_run(current_process);
	int			count = 0;

	if (can_continue)
		list[count++] = current_process;
	for (int i = 0; i < exploration->processes; i++)
	{
		if (i != current_process && (!can_continue || preemptions < bound) && can_run(i))
			list[count++] = i;
	}
	return count;
}

/* Let the processes that called model_wait() continue. */
static void
end_yields(void)
{
	for (int i = 0; i < exploration->processes; i++)
		processes[i].yielded = false;
}

/* Choose the process that continues, and switch to it. */
static void
continue_one(void)
{
	int			list[MAX_PROCESSES + 1];
	bool		can_continue = can_run(current_process);
	int			count = list_processes(list);
	int			next;

	if (count == 0)
	{
		end_yields();
		count = list_processes(list);
	}
	if (count == 0)
	{
		for (int i = 0; i < exploration->processes; i++)
		{
			if (!processes[i].ended)
				violation("process %d waits for ever", i);
		}
		switch_to(NO_PROCESS);
	}
	if (exploration->crashes && crash_due)
		list[count++] = CRASH;
	crash_due = false;
	next = list[choose(count)];
	if (next == CRASH)
	{
		trace("the server crashes");
		crashed = true;
		switch_to(NO_PROCESS);
	}
	if (can_continue && next != current_process)
		preemptions++;
	switch_to(next);
}

/* Choose whether this process continues or another one does. */
void
point(const char *label)
{
	Process    *process = &processes[current_process];

	if (current_process == NO_PROCESS)
		return;
	settle_stores();

	/* if the process did nothing since its last point, a choice changes nothing */
	if (process->acted)
	{
		if (++points > MAX_POINTS)
			violation("a run has more than %d points", MAX_POINTS);
		continue_one();
	}
	end_yields();
	process->acted = false;
	trace("%s", label);
}

/* Record that the process has changed or read something that other processes can access. */
void
act(void)
{
	processes[current_process].acted = true;
}

/* Let other processes run until a condition is true. */
void
wait_until(bool (*ready) (const void *arg), const void *arg)
{
	Process    *process = &processes[current_process];

	if (current_process == NO_PROCESS || ready(arg))
		return;
	process->ready = ready;
	process->ready_arg = arg;
	continue_one();
	process->ready = NULL;
}

/* Let other processes run until one of them has taken a step. */
void
model_wait(void)
{
	if (current_process == NO_PROCESS)
		return;
	settle_stores();
	processes[current_process].yielded = true;
	continue_one();
}

/* Record a change that makes a crash after it differ from a crash before it. */
void
crash_matters(void)
{
	crash_due = true;
	if (current_process != NO_PROCESS)
		act();
}

/* Run a process once in each run.  Never return, so that the stack of the process stays valid. */
static void
process_main(void)
{
	if (_setjmp(processes[current_process].base) == 0)
	{
		current_process = NO_PROCESS;
		_longjmp(explorer, 1);
	}
	exploration->run(current_process);
	settle_stores();
	model_full_barrier();
	processes[current_process].ended = true;
	end_yields();
	continue_one();
	abort();
}

static void
create(int number)
{
	Process    *process = &processes[number];

	getcontext(&process->context);
	process->context.uc_stack.ss_sp = process->stack;
	process->context.uc_stack.ss_size = STACK_SIZE;
	process->context.uc_link = NULL;
	makecontext(&process->context, process_main, 0);
	current_process = number;
	if (_setjmp(explorer) == 0)
		setcontext(&process->context);
	process->created = true;
}

/* --- runs ----------------------------------------------------------------------- */

/* Print a step, but only while a failed run is repeated. */
void
trace(const char *format,...)
{
	va_list		args;

	if (!tracing)
		return;
	if (current_process == NO_PROCESS)
		printf("#     ");
	else
		printf("#     process %d: ", current_process);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

/* Report that a run violates a rule, and end the run. */
void
violation(const char *format,...)
{
	va_list		args;

	if (!failed && !tracing)
	{
		printf("# ");
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		printf("\n");
	}
	failed = true;
	current_process = NO_PROCESS;
	_longjmp(explorer, 1);
}

/* Run all processes with the current choices. */
static void
run(void)
{
	made = preemptions = reorderings = points = 0;
	crashed = failed = false;
	crash_due = true;
	start_memory();
	exploration->start();
	for (int i = 0; i < exploration->processes; i++)
	{
		Process    *process = &processes[i];

		if (!process->created)
			create(i);
		memcpy(process->resume, process->base, sizeof(jmp_buf));
		process->ended = process->yielded = process->acted = false;
		process->ready = NULL;
	}
	if (_setjmp(explorer) == 0)
	{
		int			first = choose(exploration->processes);

		current_process = first;
		enter_process(first);
		_longjmp(processes[first].resume, 1);
	}
	current_process = NO_PROCESS;
	finish_memory();
	if (!failed && _setjmp(explorer) == 0)
		exploration->finish(crashed);
}

/* Run every schedule until one fails, and repeat that one with a trace.  Print a line of TAP. */
bool
explore(const Exploration *what)
{
	clock_t		begin = clock();
	volatile long runs = 0;

	exploration = what;
	given = 0;
	failed = false;
	if (_setjmp(explorer) == 0)
		exploration->prepare();
	remember_arena();
	while (!failed)
	{
		run();
		runs++;
		if (failed || !next_run())
			break;
	}

	printf("%s %d - %s: %ld schedules with at most %d preemptions in %.2f s\n", failed ? "not ok" : "ok",
		   ++tests, what->name, runs, bound, (double) (clock() - begin) / CLOCKS_PER_SEC);
	if (failed)
	{
		failures++;
		given = made;
		tracing = runs > 0;
		if (tracing)
			run();
		tracing = false;
	}
	fflush(stdout);
	return !failed;
}

/* Print the plan of the TAP output, and return the exit status of the program. */
int
report(void)
{
	printf("1..%d\n", tests);
	return failures == 0 ? 0 : 1;
}
