/*
 * administration.c
 *		Functions that show, restart and advance the ordered generators.
 */
#include "ordered/shared_state.h"

#include "catalog/pg_authid.h"
#include "funcapi.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "runtime/runtime.h"
#include "settings.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_stats);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_branches);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_reset);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_advance);

static Datum
timestamp_of(const UuidKind *kind, uint64 time)
{
	return TimestampTzGetDatum(unix_micros_to_timestamptz(uuid_clock_unix_micros(kind->clock, time)));
}

/* Check whether pg_stat_activity would show details of a process to the current role. */
static bool
is_visible(const PGPROC *proc)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		has_privs_of_role(GetUserId(), proc->roleId);
}

static void
put_row(ReturnSetInfo *result, const UuidKind *kind)
{
	OrderedGenerator state = uuid9562_generator_state(kind);
	uint64		held_time = 0;
	int			holder = uuid9562_find_holder(kind, &held_time);
	Datum		values[8];
	bool		nulls[8] = {[5] = true, true, true};

	values[0] = CStringGetTextDatum(psprintf("%s_ordered", kind->name));
	/* NULL before the first value after startup, and directly after a reset */
	nulls[1] = state.generated == 0 || state.reserved_until == 0;
	values[1] = timestamp_of(kind, state.previous.time);
	values[2] = Int64GetDatum(state.generated);
	values[3] = Int64GetDatum(state.ahead_of_clock);
	values[4] = Int64GetDatum(pg_atomic_read_u64(&uuid9562_shared->mark_writes));
	if (holder >= 0)
	{
		const PGPROC *proc = GetPGProcByNumber(holder);
		bool		prepared = holder >= FIRST_PREPARED_XACT_PROC_NUMBER;

		nulls[5] = false;
		values[5] = timestamp_of(kind, held_time);
		/* also NULL if only finished transactions hold the horizon */
		nulls[6] = prepared || !is_visible(proc) ||
			pg_atomic_read_u64(&slot_of(proc)->first[kind->number]) == UUID_NO_TIME;
		values[6] = Int32GetDatum(proc->pid);
		nulls[7] = !prepared || !TransactionIdIsValid(proc->xid);
		values[7] = TransactionIdGetDatum(proc->xid);
	}
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/*
 * uuid_generator_stats() returns setof record
 *
 * Return a row for each ordered generator.
 */
Datum
uuid9562_uuid_generator_stats(PG_FUNCTION_ARGS)
{
	InitMaterializedSRF(fcinfo, 0);
	uuid9562_attach_shared();
	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
		put_row((ReturnSetInfo *) fcinfo->resultinfo, &uuid_kinds[i]);
	return (Datum) 0;
}

/*
 * uuid_generator_branches(...) returns setof record
 *
 * Return the branches in the high-water mark, oldest first, with the floor of each generator.
 */
Datum
uuid9562_uuid_generator_branches(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	HighWaterMark mark;

	InitMaterializedSRF(fcinfo, 0);
	uuid9562_read_mark(&mark, false);
	for (uint64 i = 0; i < mark.branches.count; i++)
	{
		const UuidBranch *branch = &mark.branches.branches[i];
		Datum		values[2 + UUID_ORDERED_COUNT];
		bool		nulls[2 + UUID_ORDERED_COUNT] = {false};

		values[0] = CStringGetTextDatum(psprintf("%016llx", (unsigned long long) branch->name));
		values[1] = Int64GetDatum(branch->targets);
		for (int j = 0; j < UUID_ORDERED_COUNT; j++)
		{
			/* 0 is the start of a generator that has never been used */
			nulls[2 + j] = branch->floor[j] == UUID_NO_TIME || branch->floor[j] == 0;
			values[2 + j] = timestamp_of(&uuid_kinds[j], branch->floor[j]);
		}
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * uuid_generator_reset() returns void
 *
 * Restart the ordered generators at the current time.  New values can be less than
 * earlier ones.
 */
Datum
uuid9562_uuid_generator_reset(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("uuid_generator_reset()");
	uuid9562_reset_generators();
	PG_RETURN_VOID();
}

/* Return the kind that has an _ordered() function and the version of a UUID. */
static const UuidKind *
ordered_kind(const pg_uuid_t *uuid)
{
	const UuidKind *found = NULL;

	for (int i = 0; i < UUID_ORDERED_COUNT; i++)
	{
		if (uuid_kinds[i].version == uuid_layout_version(uuid->data))
			found = &uuid_kinds[i];
	}
	if (found == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot advance a generator to UUID %s",
						DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(uuid)))),
				 errhint("uuid_generator_advance() accepts UUIDs of version 6 or 7 and those of uuidv8_node().")));
	return found;
}

/*
 * uuid_generator_advance(id uuid, force boolean) returns void
 *
 * Make the ordered generator of the ID's version continue after the ID.  Refuse an ID
 * that is further ahead of the clock than uuid9562.max_ahead, unless force is true.
 */
Datum
uuid9562_uuid_generator_advance(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = PG_GETARG_UUID_P(0);
	bool		force = PG_GETARG_BOOL(1);
	const UuidKind *kind = ordered_kind(id);
	UuidPayload payload = uuid_layout_unpack(id->data, kind->version);
	int64		ahead = uuid9562_seconds_ahead(kind, payload.time, clock_ticks(kind));

	PreventCommandIfReadOnly("uuid_generator_advance()");
	if (ahead > uuid9562_max_ahead && !force)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("UUID %s is %lld seconds ahead of the system clock",
						DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(id))), (long long) ahead),
				 errdetail("%s_ordered() would continue from this value until the clock catches up.", kind->name),
				 errhint("Check the system clock. To advance the generator anyway, pass \"force => true\".")));
	uuid9562_advance_generator(kind, payload);
	PG_RETURN_VOID();
}
