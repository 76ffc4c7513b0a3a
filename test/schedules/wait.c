/*
 * wait.c
 *		Run changes_wait(), with simple versions of what reads the table and its log.
 */
#include "server.h"

#include "access/table.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "nodes/parsenodes.h"
#include "storage/ipc.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "changes/changes.h"
#include "ordered/ordered.h"

#define TABLE	1

extern Datum uuid9562_changes_wait(PG_FUNCTION_ARGS);

static TestSnapshot snapshot;	/* only one process waits */
static UuidPayload place;		/* the process has read all rows up to it */

/* --- transactions that end --------------------------------------------------------- */

static void (*wake) (void);

/* A transaction with an ID has written entries. */
static void
finish(void)
{
	if (U64FromFullTransactionId(GetTopFullTransactionIdIfAny()) != 0)
		uuid9562_note_wake(TABLE);
	wake();
}

/* Do transactions wake processes that wait? */
void
use_waiting(bool used)
{
	uuid9562_waking_init();
	wake = uuid9562_finish_hook;
	uuid9562_finish_hook = used ? finish : NULL;
}

/* --- what changes_wait() calls ------------------------------------------------------ */

/* A snapshot has only one horizon, which is in memory of the transaction. */
Snapshot
GetLatestSnapshot(void)
{
	reset_transaction_memory();
	take_snapshot(&snapshot);
	return &snapshot.data;
}

PageStart
uuid9562_start_page(const PageRequest *request, ReaderState *reader, const Source *source)
{
	PageStart	start = {.is_reset = false};
	UuidPayload horizon = ask_horizon(&snapshot);

	(void) request;
	(void) reader;
	(void) source;
	uuid_layout_pack(start.horizon.bytes, UUID_V7->version, horizon);
	start.horizon = uuid_reader_id_before(start.horizon);
	return start;
}

int64
uuid9562_count_entries(Oid source, UuidReaderId after, int64 limit, UuidReaderId *first)
{
	UuidPayload row;

	(void) source;
	(void) after;
	(void) limit;
	if (!find_row(&snapshot, place, &row))
		return 0;
	uuid_layout_pack(first->bytes, UUID_V7->version, row);
	return 1;
}

Relation
uuid9562_open_source(Oid relid)
{
	(void) relid;
	return NULL;
}

void
table_close(Relation rel, LOCKMODE mode)
{
	(void) rel;
	(void) mode;
}

Source *
uuid9562_verify_source(Relation rel, uint64 branch)
{
	(void) rel;
	(void) branch;
	return NULL;
}

void
uuid9562_load_reader(ReaderState *reader, const char *name, Oid source)
{
	(void) reader;
	(void) name;
	(void) source;
}

void
uuid9562_check_reader_role(const ReaderState *reader)
{
	(void) reader;
}

void
uuid9562_check_reader_name(const char *name)
{
	(void) name;
}

void
uuid9562_read_after(PageRequest *request, text *after)
{
	(void) request;
	(void) after;
}

char *
text_to_cstring(const text *value)
{
	(void) value;
	return "r";
}

int
SPI_connect_ext(int options)
{
	(void) options;
	return SPI_OK_CONNECT;
}

void
SPI_commit(void)
{
}

int
SPI_finish(void)
{
	return SPI_OK_FINISH;
}

void
MemoryContextDelete(MemoryContext context)
{
	(void) context;
}

void
before_shmem_exit(pg_on_exit_callback function, Datum arg)
{
	(void) function;
	(void) arg;
}

void
cancel_before_shmem_exit(pg_on_exit_callback function, Datum arg)
{
	(void) function;
	(void) arg;
}

/* The time never runs out. */
TimestampTz
GetCurrentTimestamp(void)
{
	return 0;
}

long
TimestampDifferenceMilliseconds(TimestampTz start, TimestampTz stop)
{
	(void) start;
	(void) stop;
	return 1;
}

Datum
timestamptz_pl_interval(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	return (Datum) 0;
}

Datum
DirectFunctionCall2Coll(PGFunction function, Oid collation, Datum first, Datum second)
{
	(void) function;
	(void) collation;
	(void) first;
	(void) second;
	return (Datum) 0;
}

uint32
hash_bytes_uint32(uint32 value)
{
	return value;
}

#if PG_VERSION_NUM >= 170000
uint32
WaitEventExtensionNew(const char *name)
{
	(void) name;
	return 1;
}
#endif

/* --- changes_wait() ---------------------------------------------------------------- */

static void
call(void *arg)
{
	LOCAL_FCINFO(fcinfo, 4);
	CallContext context = {.type = T_CallContext,.atomic = false};
	Interval	timeout = {0};

	(void) arg;
	InitFunctionCallInfoData(*fcinfo, NULL, 4, InvalidOid, (Node *) &context, NULL);
	for (int i = 0; i < 4; i++)
		fcinfo->args[i].isnull = i == 3;
	fcinfo->args[0].value = PointerGetDatum(cstring_to_text_with_len("r", 1));
	fcinfo->args[1].value = ObjectIdGetDatum(TABLE);
	fcinfo->args[2].value = PointerGetDatum(&timeout);
	(void) uuid9562_changes_wait(fcinfo);
}

/* Wait until there is a row after another one.  Return a later snapshot. */
TestSnapshot *
wait_for_page(UuidPayload after)
{
	place = after;
	if (!try_statement(call, NULL))
		violation("changes_wait() failed");
	(void) GetLatestSnapshot();
	return &snapshot;
}
