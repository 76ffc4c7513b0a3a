/*
 * stubs.c
 *		Simple versions of PostgreSQL's variables and functions: allocation, errors and the
 *		creation of shared memory.
 *
 * The linker discards functions of src/ordered that no test calls.  This file omits what only
 * such functions need.
 */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>

#include "access/parallel.h"
#include "access/xact.h"
#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

#include "settings.h"

#define MEMORY_SIZE		(64 * 1024)

/* --- variables ------------------------------------------------------------------ */

static PROC_HDR proc_header;
PROC_HDR   *ProcGlobal = &proc_header;
PGPROC	   *MyProc;
Oid			MyDatabaseId;
#if PG_VERSION_NUM >= 170000
ProcNumber	MyProcNumber;
#endif
int			MyProcPid = 1;
int			MaxBackends;
int			max_prepared_xacts = 1;
int			ParallelWorkerNumber = -1;
bool		XactReadOnly;
char	   *application_name = "";
volatile uint32 InterruptHoldoffCount;
volatile uint32 CritSectionCount;
sigjmp_buf *PG_exception_stack;
ErrorContextCallback *error_context_stack;
MemoryContext TopTransactionContext;
MemoryContext CurrentMemoryContext;
LWLockPadded *MainLWLockArray;
bool		process_shared_preload_libraries_in_progress = true;
shmem_request_hook_type shmem_request_hook;
shmem_startup_hook_type shmem_startup_hook;

int			uuid9562_max_ahead = 60;
UuidNodeBits	uuid9562_node;

UuidNodeBits
uuid9562_own_node_id(void)
{
	return uuid_no_node;
}

const char *
GetConfigOptionResetString(const char *name)
{
	(void) name;
	return application_name;
}

/* --- memory --------------------------------------------------------------------- */

/* Memory that is allocated during a run, and freed at its end */
static char memory[MEMORY_SIZE] pg_attribute_aligned(MAXIMUM_ALIGNOF);
static size_t memory_used;

void *
palloc(Size size)
{
	void	   *allocated = memory + memory_used;

	memory_used += MAXALIGN(size);
	if (memory_used > MEMORY_SIZE)
		violation("a run allocates more than %d bytes", MEMORY_SIZE);
	return allocated;
}

void
pfree(void *pointer)
{
	(void) pointer;
}

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	void	   *allocated = palloc(size);

	(void) context;
	memset(allocated, 0, size);
	return allocated;
}

MemoryContext
AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size min, Size initial, Size max)
{
	(void) name;
	(void) min;
	(void) initial;
	(void) max;
	return parent;
}

/* The callback that frees the horizon cache; only one process computes horizons and has a cache */
static MemoryContextCallback *reset_callback;
static int	reset_callback_process;

void
MemoryContextRegisterResetCallback(MemoryContext context, MemoryContextCallback *callback)
{
	(void) context;
	reset_callback = callback;
	reset_callback_process = current_process;
}

void
reset_transaction_memory(void)
{
	if (reset_callback != NULL && reset_callback_process == current_process)
	{
		reset_callback->func(reset_callback->arg);
		reset_callback = NULL;
	}
}

/* Free the memory of a run. */
void
reset_memory(void)
{
	reset_callback_process = current_process;
	reset_transaction_memory();
	memory_used = 0;
}

Size
add_size(Size a, Size b)
{
	return a + b;
}

Size
mul_size(Size a, Size b)
{
	return a * b;
}

void
RequestAddinShmemSpace(Size size)
{
	(void) size;
}

/* Allocate the library's shared memory, which follows the PGPROCs in the arena. */
void *
ShmemInitStruct(const char *name, Size size, bool *found)
{
	Size		arena_size;
	char	   *arena = shared_arena(&arena_size);
	Size		start = TYPEALIGN(PG_CACHE_LINE_SIZE, (MAX_PROCESSES + 1) * sizeof(PGPROC));

	(void) name;
	if (start + size > arena_size)
		violation("the arena is too small for %zu bytes", start + size);
	*found = false;
	return arena + start;
}

#if PG_VERSION_NUM >= 190000
void *
GetNamedDSMSegment(const char *name, size_t size, void (*init) (void *ptr, void *arg), bool *found, void *arg)
{
	violation("no segment %s: %zu %p %p %p", name, size, (void *) init, (void *) found, arg);
}
#elif PG_VERSION_NUM >= 170000
void *
GetNamedDSMSegment(const char *name, size_t size, void (*init) (void *ptr), bool *found)
{
	violation("no segment %s: %zu %p %p", name, size, (void *) init, (void *) found);
}
#endif

int			last_error;

/* --- errors --------------------------------------------------------------------- */

/* Report errors, but no warnings. */
bool
errstart(int level, const char *domain)
{
	(void) domain;
	return level >= ERROR;
}

bool
errstart_cold(int level, const char *domain)
{
	return errstart(level, domain);
}

int
errcode(int sqlstate)
{
	last_error = sqlstate;
	return 0;
}

int
errmsg(const char *format,...)
{
	trace("error: %s", format);
	return 0;
}

int
errmsg_internal(const char *format,...)
{
	trace("error: %s", format);
	return 0;
}

int
errdetail(const char *format,...)
{
	(void) format;
	return 0;
}

int
errhint(const char *format,...)
{
	(void) format;
	return 0;
}

int
set_errcontext_domain(const char *domain)
{
	(void) domain;
	return 0;
}

int
errcontext_msg(const char *format,...)
{
	(void) format;
	return 0;
}

int
geterrcode(void)
{
	return last_error;
}

void
errfinish(const char *file, int line, const char *function)
{
	(void) file;
	(void) line;
	(void) function;
	pg_re_throw();
}

void
pg_re_throw(void)
{
	siglongjmp(*PG_exception_stack, 1);
}

#if PG_VERSION_NUM >= 160000
void
ExceptionalCondition(const char *condition, const char *file, int line)
#else
void
ExceptionalCondition(const char *condition, const char *type, const char *file, int line)
#endif
{
	violation("assertion failed: %s, %s:%d", condition, file, line);
}

#undef vsnprintf

char *
psprintf(const char *format,...)
{
	const size_t size = 200;
	char	   *text = palloc(size);
	va_list		args;

	va_start(args, format);
	vsnprintf(text, size, format, args);
	va_end(args);
	return text;
}

void
PreventCommandIfReadOnly(const char *command)
{
	violation("%s in a read-only transaction", command);
}

text *
cstring_to_text_with_len(const char *string, int length)
{
	text	   *result = palloc(VARHDRSZ + length);

	SET_VARSIZE(result, VARHDRSZ + length);
	memcpy(VARDATA(result), string, length);
	return result;
}

/* No scenario calls the next functions, which read the text of a position or format errors. */
char *
get_database_name(Oid oid)
{
	violation("a position of database %u", oid);
}

struct varlena *
pg_detoast_datum_packed(struct varlena *datum)
{
	return datum;
}

int
pg_mbcliplen(const char *string, int length, int limit)
{
	violation("a text is no position: %p %d %d", (const void *) string, length, limit);
}

Datum
uuid_out(PG_FUNCTION_ARGS)
{
	violation("a UUID is greater than the horizon: %p", (void *) fcinfo);
}

Datum
DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum argument)
{
	(void) collation;
	(void) argument;
	return function(NULL);
}

/* --- locks ---------------------------------------------------------------------- */

void
LWLockInitialize(LWLock *lock, int tranche)
{
	(void) lock;
	(void) tranche;
}

#if PG_VERSION_NUM >= 190000
int
LWLockNewTrancheId(const char *name)
{
	(void) name;
	return 1;
}
#else
int
LWLockNewTrancheId(void)
{
	return 1;
}

void
LWLockRegisterTranche(int tranche, const char *name)
{
	(void) tranche;
	(void) name;
}
#endif
