/*
 * administration.c
 *		Functions that show, restart and advance the ordered generator.
 */
#include "ordered/shared_state.h"

#include "catalog/pg_authid.h"
#include "utils/acl.h"

#include "runtime/runtime.h"
#include "settings.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_stats);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_reset);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_advance);

/* Check whether pg_stat_activity would show details of a process to the current role. */
static bool
is_visible(const PGPROC *proc)
{
	return has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
		has_privs_of_role(GetUserId(), proc->roleId);
}

/*
 * uuid_generator_stats(...) returns record
 *
 * Return the statistics of the ordered generator, and the transaction that holds the horizon.
 */
Datum
uuid9562_uuid_generator_stats(PG_FUNCTION_ARGS)
{
	enum
	{
		LAST_TIMESTAMP, GENERATED, AHEAD_OF_CLOCK, MARK_WRITES, HELD_SINCE, HELD_BY_PID,
		HELD_BY_PREPARED, COLUMNS
	};
	Datum		values[COLUMNS] = {0};
	bool		nulls[COLUMNS] = {false};
	GeneratorState state;
	uint64		held_time;
	int			holder;

	uuid9562_attach_shared();
	state = uuid9562_generator_state();
	holder = uuid9562_find_holder(&held_time);

	/* NULL before the first value after startup, and directly after a reset */
	nulls[LAST_TIMESTAMP] = state.generated == 0 || state.reserved_until == 0;
	values[LAST_TIMESTAMP] = ticks_timestamptz_datum(UUID_CLOCK_V7, state.previous.time);
	values[GENERATED] = Int64GetDatum(state.generated);
	values[AHEAD_OF_CLOCK] = Int64GetDatum(state.ahead_of_clock);
	values[MARK_WRITES] = Int64GetDatum(pg_atomic_read_u64(&uuid9562_shared->mark_writes));
	nulls[HELD_SINCE] = nulls[HELD_BY_PID] = nulls[HELD_BY_PREPARED] = true;
	if (holder >= 0)
	{
		const PGPROC *proc = GetPGProcByNumber(holder);
		bool		prepared = holder >= FIRST_PREPARED_XACT_PROC_NUMBER;

		nulls[HELD_SINCE] = held_time == UUID_NO_TIME;
		values[HELD_SINCE] = ticks_timestamptz_datum(UUID_CLOCK_V7, held_time);
		/* also NULL if only finished transactions hold the horizon */
		nulls[HELD_BY_PID] = prepared || !is_visible(proc) ||
			pg_atomic_read_u64(&slot_of(proc)->first) == UUID_NO_TIME;
		values[HELD_BY_PID] = Int32GetDatum(proc->pid);
		/* pg_prepared_xacts shows prepared transactions to every role */
		nulls[HELD_BY_PREPARED] = !prepared || !TransactionIdIsValid(proc->xid);
		values[HELD_BY_PREPARED] = TransactionIdGetDatum(proc->xid);
	}
	return row_datum(fcinfo, values, nulls);
}

/*
 * uuid_generator_reset() returns void
 *
 * Restart the ordered generator at the current time.  New values can be less than earlier
 * ones.  After the reset, rows with values ahead of the clock are above the horizon until the clock
 * reaches them, so all incremental readers should have read them before the reset.
 */
Datum
uuid9562_uuid_generator_reset(PG_FUNCTION_ARGS)
{
	PreventCommandIfReadOnly("uuid_generator_reset()");
	uuid9562_reset_generator();
	PG_RETURN_VOID();
}

/*
 * uuid_generator_advance(id uuid, force boolean) returns void
 *
 * Make the ordered generator continue after an ID of version 7, unless the generator is already
 * ahead of this ID.  Without force, refuse an ID more than uuid9562.max_ahead ahead of the clock.
 */
Datum
uuid9562_uuid_generator_advance(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = PG_GETARG_UUID_P(0);
	bool		force = PG_GETARG_BOOL(1);
	UuidPayload payload = uuid_layout_unpack(id->data, UUID_V7->version);
	int64		ahead = uuid9562_seconds_ahead(payload.time, clock_ticks(UUID_V7));

	PreventCommandIfReadOnly("uuid_generator_advance()");
	if (uuid_layout_version(id->data) != UUID_V7->version)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot advance the generator to UUID %s", uuid_string(id)),
				 errhint("uuid_generator_advance() accepts UUIDs of version 7.")));
	if (ahead > uuid9562_max_ahead && !force)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("UUID %s is %lld seconds ahead of the system clock",
						uuid_string(id), (long long) ahead),
				 errdetail("uuidv7_ordered() would continue from this value until the clock catches up."),
				 errhint("Check the system clock. To advance the generator anyway, pass \"force => true\".")));
	uuid9562_advance_generator(payload);
	PG_RETURN_VOID();
}
