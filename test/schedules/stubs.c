/*
 * stubs.c
 *		Simple versions of PostgreSQL's variables and functions: allocation, errors and the
 *		creation of shared memory.
 *
 * The linker discards functions of src/ordered that no test calls.  This file omits what only
 * such functions need.
 */
#include "server.h"

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

STUB(const char *GetConfigOptionResetString(const char *name), application_name)

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

STUB(void pfree(void *pointer),)

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	void	   *allocated = palloc(size);

	memset(allocated, 0, size);
	return allocated;
}

STUB(MemoryContext AllocSetContextCreateInternal(MemoryContext parent, const char *name, Size min, Size initial, Size max), parent)

/* The callback that frees the horizon cache; only one process computes horizons and has a cache */
static MemoryContextCallback *reset_callback;
static int	reset_callback_process;

void
MemoryContextRegisterResetCallback(MemoryContext context, MemoryContextCallback *callback)
{
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

STUB(Size add_size(Size a, Size b), a + b)
STUB(Size mul_size(Size a, Size b), a * b)
STUB(void RequestAddinShmemSpace(Size size),)

/* Allocate the library's shared memory, which follows the PGPROCs in the arena. */
void *
ShmemInitStruct(const char *name, Size size, bool *found)
{
	Size		arena_size;
	char	   *arena = shared_arena(&arena_size);
	Size		start = TYPEALIGN(PG_CACHE_LINE_SIZE, (MAX_PROCESSES + 1) * sizeof(PGPROC));

	if (start + size > arena_size)
		violation("the arena is too small for %zu bytes", start + size);
	*found = false;
	return arena + start;
}

int			last_error;

/* --- errors --------------------------------------------------------------------- */

/* Report errors, but no warnings. */
STUB(bool errstart(int level, const char *domain), level >= ERROR)
STUB(bool errstart_cold(int level, const char *domain), errstart(level, domain))
STUB(int errcode(int sqlstate), (last_error = sqlstate, 0))
STUB(int errmsg(const char *format,...), (trace("error: %s", format), 0))
STUB(int errmsg_internal(const char *format,...), (trace("error: %s", format), 0))
STUB(int errdetail(const char *format,...), 0)
STUB(int errhint(const char *format,...), 0)
STUB(int set_errcontext_domain(const char *domain), 0)
STUB(int errcontext_msg(const char *format,...), 0)
STUB(int geterrcode(void), last_error)
STUB(void errfinish(const char *file, int line, const char *function), pg_re_throw())

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

text *
cstring_to_text_with_len(const char *string, int length)
{
	text	   *result = palloc(VARHDRSZ + length);

	SET_VARSIZE(result, VARHDRSZ + length);
	memcpy(VARDATA(result), string, length);
	return result;
}

/* No scenario calls these functions. */
#define UNEXPECTED(declaration) declaration { violation("unexpected call of %s()", __func__); }

UNEXPECTED(void PreventCommandIfReadOnly(const char *command))
UNEXPECTED(char *get_database_name(Oid oid))
UNEXPECTED(int pg_mbcliplen(const char *string, int length, int limit))
UNEXPECTED(Datum uuid_out(PG_FUNCTION_ARGS))
#if PG_VERSION_NUM >= 190000
UNEXPECTED(void *GetNamedDSMSegment(const char *name, size_t size, void (*init) (void *ptr, void *arg), bool *found, void *arg))
#elif PG_VERSION_NUM >= 170000
UNEXPECTED(void *GetNamedDSMSegment(const char *name, size_t size, void (*init) (void *ptr), bool *found))
#endif
STUB(struct varlena *pg_detoast_datum_packed(struct varlena *datum), datum)

STUB(Datum DirectFunctionCall1Coll(PGFunction function, Oid collation, Datum argument), function(NULL))

/* --- locks ---------------------------------------------------------------------- */

STUB(void LWLockInitialize(LWLock *lock, int tranche),)
#if PG_VERSION_NUM >= 190000
STUB(int LWLockNewTrancheId(const char *name), 1)
#else
STUB(int LWLockNewTrancheId(void), 1)
STUB(void LWLockRegisterTranche(int tranche, const char *name),)
#endif
