/*
 * statistics.c
 *		What the generators have done, for administrators.
 */
#include "uuid9562.h"

#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "instance.h"

PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_stats);
PG_FUNCTION_INFO_V1(uuid9562_uuid_generator_reset);

static const char *const method_names[] = {"fraction", "counter", "random"};

/* One row for each generator of a scope. */
static void
put_rows(ReturnSetInfo *result, const char *scope, const GeneratorState *states,
		 const InstanceStatistics *instance)
{
	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		const GeneratorState *state = &states[i];
		Datum		values[10];
		bool		nulls[10] = {false};

		values[0] = CStringGetTextDatum(scope);
		values[1] = CStringGetTextDatum(uuid_kinds[i].name);
		values[2] = Int16GetDatum(uuid_kinds[i].version);
		values[3] = CStringGetTextDatum(method_names[i == UUID_KIND_V7 ? uuid9562_v7_method : UUID_METHOD_FRACTION]);
		/* what a mark said is no value, and what a reset forgot is none */
		nulls[4] = state->generated == 0 || (state->previous.time == 0 && state->previous.tail == 0);
		values[4] = TimestampTzGetDatum(unix_micros_to_timestamptz(uuid_clock_unix_micros(uuid_kinds[i].clock, state->previous.time)));
		values[5] = Int64GetDatum(state->generated);
		values[6] = Int64GetDatum(state->clock_backwards);
		values[7] = Int64GetDatum(state->ran_ahead);
		nulls[8] = nulls[9] = instance == NULL;
		values[8] = Int64GetDatum(instance ? instance->mark_writes : 0);
		values[9] = Int64GetDatum(instance ? instance->damaged_marks : 0);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
}

/*
 * uuid_generator_stats() returns setof record
 *
 * A row for each time-based generator of this session, and of the instance
 * where it has shared memory (6.2, 6.3).
 */
Datum
uuid9562_uuid_generator_stats(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	InstanceStatistics instance;

	InitMaterializedSRF(fcinfo, 0);
	put_rows(result, "session", uuid9562_session.generators, NULL);
	if (uuid9562_instance_statistics(&instance))
		put_rows(result, "instance", instance.generators, &instance);
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
