/*
 * server.c
 *		The processes of a server, its locks, clock and high-water mark.
 */
#include "server.h"

#include <stdlib.h>

#include <setjmp.h>

#include "access/xlog.h"
#include "storage/ipc.h"
#include "utils/wait_event.h"

#include "runtime/runtime.h"

#define MAX_LOCKS		8
#define CLOCK_START		1000000000	/* seconds since 1970 */

Server		server;

static Server first_server;		/* state of the server when a run starts */

/* The global variables of each process, while another process runs */
static struct
{
	Oid			database;
	TransactionSlot *own_slot;
	sigjmp_buf *exception_stack;
	ErrorContextCallback *error_context;
	int			last_error;
}			saved[MAX_PROCESSES];

/* The locks that processes hold.  The locks in the arena do not say whether they are held. */
static const volatile void *held_locks[MAX_LOCKS];

/* --- clock and random bits ---------------------------------------------------- */

/* Add 122 ns at each reading, so that two readings share a tick of v7 (244 ns). */
int
model_clock(struct timespec *now)
{
	now->tv_sec = CLOCK_START + server.clock_seconds;
	now->tv_nsec = server.clock_reads++ * 122;
	return 0;
}

/* Return different bits at each call, because they become the names of branches. */
bool
model_random(uint64 *bits)
{
	*bits = UINT64CONST(0x0101010101010101) + server.random_reads++;
	return true;
}

/* --- locks ---------------------------------------------------------------------- */

static bool
is_free(const void *lock)
{
	for (int i = 0; i < MAX_LOCKS; i++)
	{
		if (held_locks[i] == lock)
			return false;
	}
	return true;
}

static void
hold(const volatile void *lock)
{
	int			i = 0;

	while (held_locks[i] != NULL)
		i++;
	held_locks[i] = lock;
}

void
model_acquire(const volatile void *lock)
{
	if (current_process == NO_PROCESS)
		return;
	point("acquire a lock");
	wait_until(is_free, (const void *) lock);
	hold(lock);
	synchronize();
}

void
model_release(const volatile void *lock)
{
	if (current_process == NO_PROCESS)
		return;
	point("release a lock");
	publish();
	for (int i = 0; i < MAX_LOCKS; i++)
	{
		if (held_locks[i] == lock)
			held_locks[i] = NULL;
	}
}

STUB(bool LWLockAcquire(LWLock *lock, LWLockMode mode), (model_acquire(lock), true))

/* Check whether another process holds WALWriteLock. */
static bool
wal_is_locked(void)
{
	if (server.other_flushes == 0 || choose(2) == 0)
		return false;
	server.other_flushes--;
	return true;
}

bool
LWLockConditionalAcquire(LWLock *lock, LWLockMode mode)
{
	if (lock == WALWriteLock)
		return !wal_is_locked();
	if (current_process == NO_PROCESS)
		return true;
	event("try to acquire a lock");
	if (!is_free(lock))
		return false;
	hold(lock);
	return true;
}

/* Assertions call this function.  No process holds locks outside of a run. */
STUB(bool LWLockHeldByMeInMode(LWLock *lock, LWLockMode mode), current_process == NO_PROCESS || !is_free(lock))
STUB(void LWLockRelease(LWLock *lock), model_release(lock))

/* --- condition variables -------------------------------------------------------- */

static bool
is_woken(const void *process)
{
	return server.is_woken[*(const int *) process];
}

void
ConditionVariablePrepareToSleep(ConditionVariable *variable)
{
	event("prepare to sleep");
	server.sleeps[current_process] = variable;
	server.is_woken[current_process] = false;
}

/*
 * Like PostgreSQL, return at once at the first call.  The time runs out only if a process waits for
 * another one to flush WAL.
 */
bool
ConditionVariableTimedSleep(ConditionVariable *variable, long timeout, uint32 wait_event)
{
	const int	process = current_process;

	event("sleep");
	if (server.sleeps[process] == variable)
	{
		if (server.cancels > 0 && choose(2) == 1)
		{
			server.cancels--;
			ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED), errmsg("canceled")));
		}
		if (wait_event == WAIT_EVENT_WAL_SYNC)
			return true;
		wait_until(is_woken, &process);
	}
	server.sleeps[process] = variable;
	server.is_woken[process] = false;
	return false;
}

#if PG_VERSION_NUM >= 160000
bool
#else
void
#endif
ConditionVariableCancelSleep(void)
{
	if (current_process != NO_PROCESS)
		server.sleeps[current_process] = NULL;
#if PG_VERSION_NUM >= 160000
	return false;
#endif
}

STUB(void ConditionVariableInit(ConditionVariable *variable),)

void
ConditionVariableBroadcast(ConditionVariable *variable)
{
	event("wake the others");
	for (int i = 0; i < MAX_PROCESSES; i++)
		server.is_woken[i] |= server.sleeps[i] == variable;
}

/* --- the high-water mark and WAL ----------------------------------------------- */

void
uuid9562_read_mark(HighWaterMark *mark, bool repair)
{
	event("read the mark");
	*mark = server.new_mark;
}

void
uuid9562_report_corruption(void)
{
	violation("the mark has lost the current branch");
	abort();
}

XLogRecPtr
uuid9562_write_mark(const HighWaterMark *mark)
{
	event("write the mark");
	if (server.write_failures > 0 && choose(2) == 1)
	{
		server.write_failures--;
		ereport(ERROR, (errcode(ERRCODE_DISK_FULL), errmsg("could not write the mark")));
	}
	server.new_mark = *mark;
	return ++server.write_lsn;
}

/* Flush all WAL.  The server can crash before and after the mark reaches the disk. */
static void
flush_wal(void)
{
	server.mark = server.new_mark;
	server.flush_lsn = server.write_lsn;
	crash_matters();
}

void
XLogFlush(XLogRecPtr lsn)
{
	event("flush WAL");
	if (lsn <= server.flush_lsn)
		return;
	server.clock_seconds += server.flush_seconds;
	flush_wal();
	event("the mark is on disk");
}

STUB(void XLogSetAsyncXactLSN(XLogRecPtr lsn),)

/* Another process can have flushed WAL. */
XLogRecPtr
GetFlushRecPtr(TimeLineID *timeline)
{
	event("check what is flushed");
	if (server.other_flushes > 0 && server.flush_lsn < server.write_lsn && choose(2) == 1)
		flush_wal();
	return server.flush_lsn;
}

/* --- statements ---------------------------------------------------------------- */

/* Run a statement.  Return whether it succeeded. */
bool
try_statement(void (*statement) (void *arg), void *arg)
{
	sigjmp_buf	local;
	volatile bool succeeded = false;

	last_error = 0;
	if (sigsetjmp(local, 0) == 0)
	{
		PG_exception_stack = &local;
		statement(arg);
		succeeded = true;
	}
	else
		InterruptHoldoffCount = 0;
	PG_exception_stack = NULL;
	error_context_stack = NULL;
	return succeeded;
}

/* Run a statement that must succeed. */
void
run_statement(void (*statement) (void *arg), void *arg)
{
	if (!try_statement(statement, arg))
		violation("a statement failed");
}

/* --- processes ------------------------------------------------------------------ */

void
leave_process(int process)
{
	saved[process].database = MyDatabaseId;
	saved[process].own_slot = uuid9562_own_slot;
	saved[process].exception_stack = PG_exception_stack;
	saved[process].error_context = error_context_stack;
	saved[process].last_error = last_error;
}

static void
forget_processes(void)
{
	memset(saved, 0, sizeof(saved));
	for (int i = 0; i < MAX_PROCESSES; i++)
		saved[i].database = FIRST_DATABASE;
}

void
enter_process(int process)
{
	MyProc = &ProcGlobal->allProcs[process];
#if PG_VERSION_NUM >= 170000
	MyProcNumber = process;
#endif
	MyDatabaseId = saved[process].database;
	uuid9562_own_slot = saved[process].own_slot;
	PG_exception_stack = saved[process].exception_stack;
	error_context_stack = saved[process].error_context;
	last_error = saved[process].last_error;
}

/* --- the server ----------------------------------------------------------------- */

/*
 * Create a server with empty shared memory.  It has PGPROCs for the processes and for one prepared
 * transaction, but none for auxiliary processes.
 */
void
create_server(int processes)
{
	Size		size;
	char	   *arena = shared_arena(&size);

	reset_memory();
	reset_transactions();
	memset(arena, 0, size);
	memset(&server, 0, sizeof(server));
	forget_processes();
	ProcGlobal->allProcs = (PGPROC *) arena;
	MaxBackends = processes - NUM_AUXILIARY_PROCS;
	for (int i = 0; i < MAX_PROCESSES; i++)
		ProcGlobal->allProcs[i].databaseId = FIRST_DATABASE;
	server.prepared = NO_TRANSACTION;
	/* the 32-bit transaction IDs wrap around during a run */
	server.next_xid = (UINT64CONST(3) << 32) - 3;
	server.latest_finished = server.next_xid - 1;
	if (shmem_request_hook == NULL)
		uuid9562_ordered_init();
	shmem_request_hook();
	shmem_startup_hook();
	enter_process(0);
}

/* Start a run with the state that remember_server() has saved. */
void
start_server(void)
{
	reset_memory();
	server = first_server;
	for (int i = 0; i < MAX_LOCKS; i++)
		held_locks[i] = NULL;
	forget_processes();
	reset_transactions();
}

void
remember_server(void)
{
	first_server = server;
}
