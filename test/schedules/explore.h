/*
 * explore.h
 *		Run the real code of src/ordered and of changes_wait() under every schedule with few
 *		preemptions.
 *
 * Each process is a coroutine, and can be interrupted only at points.  There is a point before each
 * atomic access, each access to a lock and each event such as a commit, at each write barrier, and
 * after each read barrier.  At a point, the explorer chooses the process that continues.  After a
 * run, it changes the last choice that has an alternative, and runs everything again, until no
 * alternative is left.  A switch from a process that could have continued is a preemption.  Most
 * errors need only one or two preemptions.  So the explorer tries all schedules with at most
 * "bound" preemptions, as CHESS and loom do.
 *
 * The explorer also chooses the effects of weak memory.  A store can be invisible to other
 * processes until the next write barrier or release of a lock.  A load can return any value that
 * the memory has had since the process's last read barrier or acquisition of a lock, but no older
 * value than the process has already seen there.  A load that misses the newest value is a
 * reordering, and a run has at most "bound" reorderings.  These choices cover every order of the
 * plain accesses between two barriers, so one point between the barriers is enough.  Code compiled
 * with -fsanitize=thread calls hooks.c before each plain access; the macros of points.h replace the
 * other accesses.
 */
#ifndef UUID9562_TEST_EXPLORE_H
#define UUID9562_TEST_EXPLORE_H

#include "points.h"

#define MAX_PROCESSES	5
#define NO_PROCESS		(-1)

/* What to explore.  With "crashes", the server can crash once in a run, at any point. */
typedef struct Exploration
{
	const char *name;
	int			processes;
	bool		crashes;
	void		(*prepare) (void);	/* set up the arena, once for all runs */
	void		(*start) (void);	/* start a run */
	void		(*run) (int process);
	void		(*finish) (bool crashed);	/* check the results of a run */
} Exploration;

/* explore.c */
extern int	current_process;	/* NO_PROCESS before and after a run */
extern int	bound;				/* limit of preemptions, and of reorderings */
extern bool explore(const Exploration *what);
extern void point(const char *label);
extern void act(void);
extern void crash_matters(void);
extern int	choose(int count);
extern int	choose_age(int count, bool again);
extern void wait_until(bool (*ready) (const void *arg), const void *arg);
pg_noreturn extern void violation(const char *format,...) pg_attribute_printf(1, 2);
extern void trace(const char *format,...) pg_attribute_printf(1, 2);
extern int	report(void);

/* memory.c */
extern char *shared_arena(size_t *size);
extern void remember_arena(void);
extern void start_memory(void);
extern void finish_memory(void);
extern void settle_stores(void);
extern void synchronize(void);
extern void publish(void);
extern void event(const char *label);
extern void before_load(const volatile void *address, size_t size);
extern void before_store(volatile void *address, size_t size);
extern void store_now(volatile void *address, uint32 value);

/* server.c: save and restore the global variables of a process */
extern void leave_process(int process);
extern void enter_process(int process);

#endif							/* UUID9562_TEST_EXPLORE_H */
