/*
 * statistics.c
 *		What the generators have done, for administrators.
 */
#include "compat.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/tuplestore.h"

#include "instance/horizon.h"
#include "instance/ordered.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_stats);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_reset);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_advance);

static const char *const method_names[] = {"fraction", "counter", "random"};

/* One row for each generator: of the instance, where that is given, or of the session. */
static void
put_rows(ReturnSetInfo *result, InstanceState *instance)
{
	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		GeneratorState state = uuid9562_session.generators[i];
		TimestampTz held_since = 0;
		int			held_by = 0;
		bool		held = false;
		Datum		values[12];
		bool		nulls[12] = {false};

		if (instance != NULL)
		{
			SharedGenerator *shared = &instance->generators[i].generator;

			SpinLockAcquire(&shared->lock);
			state = shared->state;
			SpinLockRelease(&shared->lock);
			held = uuid9562_horizon_holder(&uuid_kinds[i], &held_since, &held_by);
		}
		values[0] = CStringGetTextDatum(instance ? "instance" : "session");
		values[1] = CStringGetTextDatum(uuid_kinds[i].name);
		values[2] = Int16GetDatum(uuid_kinds[i].version);
		values[3] = CStringGetTextDatum(method_names[i == UUID_KIND_V7 ? uuid9562_v7_method : UUID_METHOD_FRACTION]);
		/* what a mark said is no value, and what a reset forgot is none */
		nulls[4] = state.generated == 0 || (state.previous.time == 0 && state.previous.tail == 0);
		values[4] = TimestampTzGetDatum(unix_micros_to_timestamptz(uuid_clock_unix_micros(uuid_kinds[i].clock, state.previous.time)));
		values[5] = Int64GetDatum(state.generated);
		values[6] = Int64GetDatum(state.clock_backwards);
		values[7] = Int64GetDatum(state.ran_ahead);
		nulls[8] = nulls[9] = instance == NULL;
		values[8] = Int64GetDatum(instance ? pg_atomic_read_u64(&instance->mark_writes) : 0);
		values[9] = Int64GetDatum(instance ? pg_atomic_read_u64(&instance->damaged_marks) : 0);
		nulls[10] = !held;
		values[10] = TimestampTzGetDatum(held_since);
		nulls[11] = held_by == 0;
		values[11] = Int32GetDatum(held_by);
		/* 1.0's function has ten columns */
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/*
 * uuid_generator_stats() returns setof record
 *
 * A row for each time-based generator of this session, and of the instance
 * where it has shared memory (6.2, 6.3).  It waits for nothing.
 */
Datum
uuid9562_uuid_generator_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	put_rows(result, NULL);
	if (uuid9562_shared_available())
		put_rows(result, uuid9562_instance());
	return (Datum) 0;
}

/*
 * uuid_generator_reset() returns void
 *
 * The instance's generators begin at the clock again, and their order with
 * what they made before is given up.
 */
Datum
uuid9562_uuid_generator_reset(PG_FUNCTION_ARGS)
{
	uuid9562_instance_reset();
	PG_RETURN_VOID();
}

/*
 * The kind of a UUID.  Version 8 has two, by which a time reads centuries apart:
 * the one that is nearer to the clock.
 */
static const UuidKind *
generator_kind(const pg_uuid_t *uuid)
{
	const UuidKind *nearest = NULL;
	int64		least = PG_INT64_MAX;

	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		const UuidKind *kind = &uuid_kinds[i];
		int64		distance;

		if (kind->version != uuid_layout_version(uuid->data))
			continue;
		distance = seconds_ahead(kind, uuid_layout_unpack(uuid->data, kind->version).time, clock_ticks(kind));
		if (distance < 0)
			distance = -distance;
		if (distance < least)
		{
			least = distance;
			nearest = kind;
		}
	}
	if (nearest == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no generator makes UUIDs like %s",
						DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(uuid)))),
				 errhint("uuid_generator_advance() takes a UUID of version 1, 6 or 7, or one of uuidv8() or uuidv8_node().")));
	return nearest;
}

/*
 * uuid_generator_advance(id uuid) returns void
 *
 * The generator that makes such values, of the session or of the instance, goes
 * on after this one.
 */
Datum
uuid9562_uuid_generator_advance(PG_FUNCTION_ARGS)
{
	pg_uuid_t  *id = PG_GETARG_UUID_P(0);
	const UuidKind *kind = generator_kind(id);
	UuidPayload payload = uuid_layout_unpack(id->data, kind->version);
	int64		ahead = seconds_ahead(kind, payload.time, clock_ticks(kind));

	if (uuid9562_monotonic_scope == SCOPE_INSTANCE)
		uuid9562_instance_advance(kind, payload);
	else
		uuid_generator_lift(&uuid9562_session.generators[kind->number].previous, payload);
	if (ahead > uuid9562_max_ahead)
		ereport(WARNING,
				(errmsg("the UUID is %lld seconds ahead of the clock", (long long) ahead),
				 errdetail("Those of %s() go on after it, until the clock has caught up.", kind->name)));
	PG_RETURN_VOID();
}
