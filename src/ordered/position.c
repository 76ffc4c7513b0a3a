/*
 * position.c
 *		Positions of incremental readers, and what a server has replayed:
 *		uuidv7_position(), uuidv7_after(), uuid_replay_target(), uuid_has_replayed().
 *
 * core/position.h explains positions and branches, and writes and reads their text.  A position or
 * a replay target is on the branch that was captured for the snapshot; see
 * uuid9562_snapshot_state().  It is valid only in the database in which it was computed, because
 * the transactions of one database do not hold the horizon of another.
 *
 * A replay target consists of a branch and a number.  For each target, the primary increments the
 * number of the branch in its high-water mark.  If the mark of a server has the branch with the
 * target's number or a greater one, the server has written or replayed all WAL before the target.
 * So it shows all rows that the target's snapshot saw.  A WAL position is not enough: a clone, or a
 * standby of another server, can reach the position without these rows.
 */
#include "ordered/shared_state.h"

#include "access/xact.h"
#include "commands/dbcommands.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/pg_lsn.h"

#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_position);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_after);
PG_FUNCTION_INFO_V1(uuid9562_uuid_replay_target);
PG_FUNCTION_INFO_V1(uuid9562_uuid_has_replayed);

#define TARGET_NAME		"target"
#define TARGET_WORDS	2		/* the name of a branch, and a number */

/*
 * Read a position or a replay target.  Raise an error for other texts, and for those of another
 * database.
 */
static void
read_sealed(UuidSealed *sealed, bool is_target, text *given)
{
	const char *string = VARDATA_ANY(given);
	const int	length = VARSIZE_ANY_EXHDR(given);
	char	   *database;

	if (is_target ?
		!uuid_sealed_read(TARGET_NAME, string, length, sealed) || sealed->count != TARGET_WORDS :
		!uuid_position_read(sealed, string, length))
	{
		const int	shown = pg_mbcliplen(string, length, 100);

		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 is_target ? errmsg("invalid input syntax for UUID target: \"%.*s\"", shown, string) :
				 errmsg("invalid input syntax for UUID position: \"%.*s\"", shown, string),
				 is_target ? errhint("Pass, without changes, the text that uuid_replay_target() has returned.") :
				 errhint("Pass, without changes, the text that uuidv7_position() has returned, or NULL before the first one.")));
	}
	if (sealed->database == MyDatabaseId)
		return;
	database = get_database_name(sealed->database);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 is_target && database ? errmsg("UUID target was computed in database \"%s\"", database) :
			 is_target ? errmsg("UUID target was computed in database with OID %u", sealed->database) :
			 database ? errmsg("UUID position was computed in database \"%s\"", database) :
			 errmsg("UUID position was computed in database with OID %u", sealed->database),
			 errhint("Use it only in the database in which it was computed, because each database has its own horizon.")));
}

/* --- positions ------------------------------------------------------------------ */

/* If the high-water mark has no entry for the branch of a snapshot, add one.  Return the branch. */
static uint64
record_snapshot_branch(CachedHorizon *cached)
{
	if (!cached->recorded)
	{
		uuid9562_record_branch(cached->branch, NULL);
		cached->recorded = true;
		/* let known_branches() read the new entry */
		if (cached->branches != NULL)
			pfree(cached->branches);
		cached->branches = NULL;
	}
	return cached->branch;
}

/*
 * Return the branches in the high-water mark.  Read the mark once for each snapshot, because a
 * query can call uuidv7_after() for each row.  The snapshot sees no row of a branch that begins
 * later, so the branches that it needs stay the same until record_snapshot_branch() adds its own.
 */
static UuidBranches *
known_branches(CachedHorizon *cached)
{
	HighWaterMark mark;
	Size		size;

	if (cached->branches == NULL)
	{
		uuid9562_read_mark(&mark, false);
		size = offsetof(UuidBranches, branches) + mark.branches.count * sizeof(UuidBranch);
		cached->branches = MemoryContextAlloc(TopTransactionContext, size);
		memcpy(cached->branches, &mark.branches, size);
	}
	return cached->branches;
}

/*
 * uuidv7_position(id uuid, reader_position text) returns text
 *
 * Return the new position of a reader that was at reader_position (NULL: before the first row) and
 * has since read all rows up to id.  If id is NULL, return reader_position.
 */
Datum
uuid9562_uuidv7_position(PG_FUNCTION_ARGS)
{
	CachedHorizon *cached = uuid9562_snapshot_state("uuidv7_position");
	UuidSealed	position = {.database = MyDatabaseId};
	UuidPayload horizon;
	const uint8 *id;
	uint8		limit[UUID_LEN];	/* the horizon */
	uint8		last[UUID_LEN]; /* the last ID before the horizon */
	char		string[UUID_SEALED_TEXT_MAX + 1];
	size_t		length;

	if (!PG_ARGISNULL(1))
		read_sealed(&position, false, PG_GETARG_TEXT_PP(1));
	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));

	id = PG_GETARG_UUID_P(0)->data;
	horizon = uuid9562_horizon(cached);
	uuid_layout_pack(limit, UUID_V7->version, horizon);
	if (memcmp(id, limit, UUID_LEN) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("UUID %s is greater than uuidv7_horizon()", uuid_string(PG_GETARG_UUID_P(0))),
				 errhint("Compute the position in the query that returns the rows, and read only rows below uuidv7_horizon().")));
	/* the ID can be the horizon itself, which a later value can equal */
	uuid_layout_pack(last, UUID_V7->version, uuid_payload_before(horizon.time));
	uuid_position_advance(&position, record_snapshot_branch(cached),
						  memcmp(id, last, UUID_LEN) > 0 ? last : id);
	length = uuid_sealed_write(UUID_POSITION_NAME, &position, string);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(string, length));
}

/*
 * uuidv7_after(reader_position text) returns uuid
 *
 * Return the ID after which a reader with a position continues on this server.  If the position is
 * NULL, return the nil UUID, but raise the errors of uuid9562_snapshot_state() nevertheless.
 */
Datum
uuid9562_uuidv7_after(PG_FUNCTION_ARGS)
{
	/* first, since a first use lowers the floors that known_branches() reads */
	CachedHorizon *cached = uuid9562_snapshot_state("uuidv7_after");
	UuidSealed	position;
	pg_uuid_t  *after = new_uuid();

	memset(after->data, 0, UUID_LEN);
	if (PG_ARGISNULL(0))
		PG_RETURN_UUID_P(after);
	read_sealed(&position, false, PG_GETARG_TEXT_PP(0));
	if (!uuid_position_after(&position, known_branches(cached), after->data))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("position is unknown on this server"),
				 errdetail("The server or its generator state was created anew, or the position is from another server or too old."),
				 errhint("To begin again, pass an ID that is certainly old enough to uuidv7_position(), with NULL as the position.")));
	PG_RETURN_UUID_P(after);
}

/* Return the branch of the active snapshot.  Errors name the SQL function. */
uint64
uuid9562_snapshot_branch(const char *function)
{
	return uuid9562_snapshot_state(function)->branch;
}

/* Return the horizon of the active snapshot. */
UuidPayload
uuid9562_snapshot_horizon(const char *function)
{
	return uuid9562_horizon(uuid9562_snapshot_state(function));
}

/*
 * Record the branch of the active snapshot in the high-water mark, so that this server knows it
 * later.
 */
void
uuid9562_record_snapshot_branch(const char *function)
{
	record_snapshot_branch(uuid9562_snapshot_state(function));
}

/*
 * Return the current branch, or 0 if the generator of ordered IDs is not running, or this session
 * is not attached to it.  Unlike uuid9562_snapshot_branch(), this raises no error.
 */
uint64
uuid9562_published_branch(void)
{
	if (uuid9562_shared == NULL || !uuid9562_shared->loaded)
		return 0;
	/* pairs with publish_branch()'s second barrier */
	pg_read_barrier();
	return pg_atomic_read_u64(&uuid9562_shared->branch);
}

/*
 * Find the end of a branch, where a later branch begins: the first ID that is not before it.  If
 * the branch is unknown to this server, set all bytes to 0, and if it has not ended, as the current
 * one, to 0xff.
 *
 * A branch consists of the values that a server generates between two starts of its generator; see
 * core/position.h.  It ends, for example, when a standby is promoted.  So after its end, this
 * server can lack rows that were read on the branch, and it can insert new rows with smaller IDs.
 */
void
uuid9562_branch_end(uint64 current, uint64 name, uint8 *end)
{
	HighWaterMark mark;
	const UuidBranch *branch;
	UuidPayload first = {0, 0};

	memset(end, 0xff, UUID_LEN);
	if (name == current)
		return;
	uuid9562_read_mark(&mark, false);
	branch = uuid_branches_find(&mark.branches, name);
	if (branch == NULL)
		memset(end, 0, UUID_LEN);
	else if (branch->floor != UUID_NO_TIME)
	{
		/*
		 * The last value before the floor is not the bound, because readers
		 * of changes confirm the ID just before a horizon, which is no value
		 * and can be between both.
		 */
		first.time = branch->floor;
		uuid_layout_pack(end, UUID_V7->version, first);
	}
}

/* Check whether a branch has ended before an ID, or is unknown to this server. */
bool
uuid9562_branch_ended_before(const char *function, uint64 name, const uint8 *id)
{
	uint8		end[UUID_LEN];

	uuid9562_branch_end(uuid9562_snapshot_branch(function), name, end);
	return memcmp(id, end, UUID_LEN) >= 0;
}

/* --- replay targets --------------------------------------------------------------- */

/*
 * uuid_replay_target(OUT target text, OUT lsn pg_lsn)
 *
 * Return a replay target, and the end of its WAL record.  A standby that has replayed the target
 * shows all rows that the calling statement's snapshot sees.
 */
Datum
uuid9562_uuid_replay_target(PG_FUNCTION_ARGS)
{
	CachedHorizon *cached = uuid9562_snapshot_state("uuid_replay_target");
	UuidSealed	sealed = {MyDatabaseId, TARGET_WORDS, {cached->branch, 0}};
	char		string[UUID_SEALED_TEXT_MAX + 1];
	Datum		values[2];
	bool		nulls[2] = {false, false};

	values[1] = LSNGetDatum(uuid9562_record_branch(cached->branch, &sealed.words[1]));
	uuid_sealed_write(TARGET_NAME, &sealed, string);
	values[0] = CStringGetTextDatum(string);
	return row_datum(fcinfo, values, nulls);
}

/*
 * uuid_has_replayed(target text) returns boolean
 *
 * Check whether this server has written or replayed a target.  If so, later statements see all rows
 * that the target's snapshot saw, except rows changed since then.  A primary returns false if its
 * WAL never had the target, for example after a failover that lost transactions.
 */
Datum
uuid9562_uuid_has_replayed(PG_FUNCTION_ARGS)
{
	const UuidBranch *branch;
	HighWaterMark mark;
	UuidSealed	sealed;

	read_sealed(&sealed, true, PG_GETARG_TEXT_PP(0));
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("cannot execute uuid_has_replayed() at isolation level %s",
						IsolationIsSerializable() ? "SERIALIZABLE" : "REPEATABLE READ"),
				 errdetail("Later statements of the transaction would not see the rows that have been replayed."),
				 errhint("Use isolation level READ COMMITTED.")));
	uuid9562_read_mark(&mark, false);
	branch = uuid_branches_find(&mark.branches, sealed.words[0]);
	PG_RETURN_BOOL(branch != NULL && branch->targets >= sealed.words[1]);
}
