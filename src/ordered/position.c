/*
 * position.c
 *		Positions of incremental readers, and what a standby has replayed:
 *		uuidv7_position(), uuidv7_after(), uuid_replay_target(), uuid_has_replayed().
 *
 * core/position.h explains positions and branches.  A position or a replay target is on the
 * branch that was captured under the snapshot; see uuid9562_snapshot_state().
 *
 * A replay target is a branch and a number, which the primary increments in the high-water
 * mark for each target.  A standby whose mark has the number or a greater one has replayed all
 * earlier WAL, and so shows all rows that the primary's snapshot saw.  A WAL position is not
 * enough: a clone, or a standby of another server, can reach the position without these rows.
 */
#include "ordered/shared_state.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/pg_lsn.h"

#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_replay_target);
PG_FUNCTION_INFO_V1(uuid9562_uuid_has_replayed);

/* The name in the text of a replay target */
#define TARGET_NAME		"target"

/* --- positions ------------------------------------------------------------------ */

pg_noreturn static void
report_syntax(const char *type, text *given)
{
	const char *string = VARDATA_ANY(given);
	int			length = VARSIZE_ANY_EXHDR(given);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for UUID %s: \"%.*s\"", type, pg_mbcliplen(string, length, 100), string),
			 errhint("Pass, without changes, the text that %s.",
					 strcmp(type, TARGET_NAME) == 0 ? "uuid_replay_target() has returned" :
					 "uuidv6_position(), uuidv7_position() or uuidv8_node_position() has returned, or NULL before the first one")));
}

/* Read a position of a kind.  Raise an error for other texts. */
static void
read_position(UuidSealed *position, const UuidKind *kind, text *given)
{
	if (uuid_position_read(position, kind, VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given)))
		return;
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		const UuidKind *other = &uuid_kinds[i];

		if (uuid_position_read(position, other, VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("position of %s_ordered() values cannot be used for %s_ordered() values", other->name, kind->name),
					 errhint("Use %s_position() and %s_after().", other->name, other->name)));
	}
	report_syntax("position", given);
}

/* Return the branch of a snapshot.  If the high-water mark has no entry for it, add one. */
static uint64
recorded_branch(CachedHorizon *cached)
{
	if (!cached->recorded)
		uuid9562_record_branch(cached->branch, NULL);
	cached->recorded = true;
	return cached->branch;
}

/*
 * uuidv6_position(id uuid, previous text) returns text
 * uuidv7_position(id uuid, previous text) returns text
 * uuidv8_node_position(id uuid, previous text) returns text
 *
 * Return the position of a reader that has read the rows after the previous position up to
 * an ID.  NULL is the position before the first row.  If the ID is NULL, return the previous
 * position.
 */
static Datum
position_of(FunctionCallInfo fcinfo, const UuidKind *kind, const char *function)
{
	CachedHorizon *cached = uuid9562_snapshot_state(function);
	UuidSealed	position = {0};
	UuidPayload horizon;
	uint8		id[UUID_LEN];
	uint8		last[UUID_LEN];
	char		string[UUID_SEALED_TEXT_MAX + 1];

	if (!PG_ARGISNULL(1))
		read_position(&position, kind, PG_GETARG_TEXT_PP(1));
	if (PG_ARGISNULL(0) && PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_GETARG_DATUM(1));

	memcpy(id, PG_GETARG_UUID_P(0)->data, UUID_LEN);
	horizon = uuid9562_horizon(kind, cached);
	uuid_layout_pack(last, kind->version, horizon);
	if (memcmp(id, last, UUID_LEN) > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("UUID %s is greater than %s_horizon()",
						DatumGetCString(DirectFunctionCall1(uuid_out, PG_GETARG_DATUM(0))), kind->name),
				 errhint("Compute the position in the query that returns the rows, and read only rows below %s_horizon().", kind->name)));
	/* stay below the horizon, since a later value can equal the horizon */
	uuid_layout_pack(last, kind->version, uuid_generator_from(horizon.time));
	uuid_position_advance(&position, recorded_branch(cached), memcmp(id, last, UUID_LEN) > 0 ? last : id);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(string, uuid_sealed_write(kind->name, &position, string)));
}

SQL_FUNCTION(uuid9562_uuidv6_position, position_of, UUID_V6, "uuidv6_position")
SQL_FUNCTION(uuid9562_uuidv7_position, position_of, UUID_V7, "uuidv7_position")
SQL_FUNCTION(uuid9562_uuidv8_node_position, position_of, UUID_V8_NODE, "uuidv8_node_position")

/*
 * uuidv6_after(reader_position text) returns uuid
 * uuidv7_after(reader_position text) returns uuid
 * uuidv8_node_after(reader_position text) returns uuid
 *
 * Return the ID after which a reader with a position continues on this server.  If the
 * position is NULL, return the nil UUID.
 */
static Datum
after_position(FunctionCallInfo fcinfo, const UuidKind *kind, const char *function)
{
	UuidSealed	position;
	HighWaterMark mark;
	pg_uuid_t  *after = new_uuid();

	(void) uuid9562_snapshot_state(function);	/* before the mark is read */
	memset(after->data, 0, UUID_LEN);
	if (PG_ARGISNULL(0))
		PG_RETURN_UUID_P(after);
	read_position(&position, kind, PG_GETARG_TEXT_PP(0));
	uuid9562_read_mark(&mark, false);
	if (!uuid_position_after(&position, &mark.branches, kind, after->data))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("position is unknown on this server"),
				 errdetail("The server was created anew, or its generator state was, or the position is from other servers or too old."),
				 errhint("To begin again, pass an ID that is certainly old enough to %s_position(), with NULL as the position.", kind->name)));
	PG_RETURN_UUID_P(after);
}

SQL_FUNCTION(uuid9562_uuidv6_after, after_position, UUID_V6, "uuidv6_after")
SQL_FUNCTION(uuid9562_uuidv7_after, after_position, UUID_V7, "uuidv7_after")
SQL_FUNCTION(uuid9562_uuidv8_node_after, after_position, UUID_V8_NODE, "uuidv8_node_after")

/* --- reads on a standby ---------------------------------------------------------- */

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
	UuidSealed	sealed = {2, {cached->branch, 0}};
	char		string[UUID_SEALED_TEXT_MAX + 1];
	Datum		values[2];
	bool		nulls[2] = {false, false};
	TupleDesc	tupdesc;

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	values[1] = LSNGetDatum(uuid9562_record_branch(cached->branch, &sealed.words[1]));
	uuid_sealed_write(TARGET_NAME, &sealed, string);
	values[0] = CStringGetTextDatum(string);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(tupdesc), values, nulls)));
}

/*
 * uuid_has_replayed(target text) returns boolean
 *
 * Return whether later statements on this standby see all rows that the snapshot of the
 * replay target saw.
 */
Datum
uuid9562_uuid_has_replayed(PG_FUNCTION_ARGS)
{
	text	   *given = PG_GETARG_TEXT_PP(0);
	const UuidBranch *branch;
	HighWaterMark mark;
	UuidSealed	sealed;

	if (!uuid_sealed_read(TARGET_NAME, VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given), &sealed) || sealed.count != 2)
		report_syntax(TARGET_NAME, given);
	if (!RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is not in progress"),
				 errhint("uuid_has_replayed() can only be executed on a standby.")));
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("cannot execute uuid_has_replayed() at isolation level REPEATABLE READ"),
				 errdetail("Later statements of the transaction would not see the rows that have been replayed."),
				 errhint("Use isolation level READ COMMITTED.")));
	uuid9562_read_mark(&mark, false);
	branch = uuid_branches_find(&mark.branches, sealed.words[0]);
	PG_RETURN_BOOL(branch != NULL && branch->targets >= sealed.words[1]);
}
