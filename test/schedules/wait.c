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

	uuid_layout_pack(start.horizon.bytes, UUID_V7->version, horizon);
	start.horizon = uuid_reader_id_before(start.horizon);
	return start;
}

int64
uuid9562_count_entries(Oid source, UuidReaderId after, int64 limit, UuidReaderId *first)
{
	UuidPayload row;

	if (!find_row(&snapshot, place, &row))
		return 0;
	uuid_layout_pack(first->bytes, UUID_V7->version, row);
	return 1;
}

STUB(Relation uuid9562_open_source(Oid relid), NULL)
STUB(void table_close(Relation rel, LOCKMODE mode),)
STUB(Source *uuid9562_verify_source(Relation rel, uint64 branch), NULL)
STUB(void uuid9562_load_reader(ReaderState *reader, const char *name, Oid source),)
STUB(void uuid9562_check_reader_role(const ReaderState *reader),)
STUB(void uuid9562_check_reader_name(const char *name),)
STUB(void uuid9562_read_after(PageRequest *request, text *after),)
STUB(char *text_to_cstring(const text *value), "r")
STUB(int SPI_connect_ext(int options), SPI_OK_CONNECT)
STUB(void SPI_commit(void),)
STUB(int SPI_finish(void), SPI_OK_FINISH)
STUB(void MemoryContextDelete(MemoryContext context),)
STUB(void before_shmem_exit(pg_on_exit_callback function, Datum arg),)
STUB(void cancel_before_shmem_exit(pg_on_exit_callback function, Datum arg),)

/* The time never runs out. */
STUB(TimestampTz GetCurrentTimestamp(void), 0)
STUB(long TimestampDifferenceMilliseconds(TimestampTz start, TimestampTz stop), 1)
STUB(Datum timestamptz_pl_interval(PG_FUNCTION_ARGS), (Datum) 0)
STUB(Datum DirectFunctionCall2Coll(PGFunction function, Oid collation, Datum first, Datum second), (Datum) 0)
STUB(uint32 hash_bytes_uint32(uint32 value), value)
#if PG_VERSION_NUM >= 170000
STUB(uint32 WaitEventExtensionNew(const char *name), 1)
#endif

/* --- changes_wait() ---------------------------------------------------------------- */

static void
call(void *arg)
{
	LOCAL_FCINFO(fcinfo, 4);
	CallContext context = {.type = T_CallContext,.atomic = false};
	Interval	timeout = {0};

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
	run_statement(call, NULL);
	(void) GetLatestSnapshot();
	return &snapshot;
}
