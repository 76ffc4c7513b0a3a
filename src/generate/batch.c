/*
 * batch.c
 *		uuidv7_batch(): generation of many version 7 UUIDs, for applications that
 *		fetch IDs in advance.
 *
 * The function generates each value when the executor requests the next row.  So it does
 * not need memory for the batch, and can be canceled.  If the session calls uuidv7()
 * between two rows, the value of uuidv7() is between those of the rows.
 */
#include "compat.h"

#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"

#include "generate/session_generator.h"
#include "settings.h"
#include "value/value.h"

PG_FUNCTION_INFO_V1(uuid9562_uuidv7_batch);
PG_FUNCTION_INFO_V1(uuid9562_uuidv7_batch_support);

/*
 * Maximum number of values for each reading of the clock.  A greater maximum has no effect
 * with method fraction, whose counter is full after at most 16 values.
 */
#define VALUES_PER_READING	16

/*
 * uuidv7_batch(n bigint) returns setof uuid
 *
 * Generate n values as uuidv7() does, in ascending order, or none if n is not
 * positive (RFC 9562, 5.7 and 6.2).  Read the clock for the first value, and again
 * whenever the counter is full or 16 values have been generated since the last reading.
 */
Datum
uuid9562_uuidv7_batch(PG_FUNCTION_ARGS)
{
	FuncCallContext *batch;
	int		   *unread;			/* values left before the clock is read */
	UuidPayload payload;

	if (SRF_IS_FIRSTCALL())
	{
		batch = SRF_FIRSTCALL_INIT();
		batch->max_calls = Max(PG_GETARG_INT64(0), 0);
		batch->user_fctx = MemoryContextAllocZero(batch->multi_call_memory_ctx, sizeof(int));
	}

	batch = SRF_PERCALL_SETUP();
	if (batch->call_cntr >= batch->max_calls)
		SRF_RETURN_DONE(batch);
	unread = (int *) batch->user_fctx;
	if (*unread > 0 && next_payload_of_tick(UUID_V7, uuid9562_v7_method, &payload))
		*unread -= 1;
	else
	{
		payload = next_payload(UUID_V7, uuid9562_v7_method);
		*unread = VALUES_PER_READING - 1;
	}
	SRF_RETURN_NEXT(batch, return_uuid(7, payload));
}

/*
 * uuidv7_batch_support(internal) returns internal
 *
 * Estimate n rows, if n is known at plan time.
 */
Datum
uuid9562_uuidv7_batch_support(PG_FUNCTION_ARGS)
{
	SupportRequestRows *request = (SupportRequestRows *) PG_GETARG_POINTER(0);
	Const	   *n;

	if (!IsA(request, SupportRequestRows) || !is_funcclause(request->node))
		PG_RETURN_POINTER(NULL);
	n = (Const *) estimate_expression_value(request->root, linitial(((FuncExpr *) request->node)->args));
	if (!IsA(n, Const))
		PG_RETURN_POINTER(NULL);
	request->rows = n->constisnull ? 0 : (double) Max(DatumGetInt64(n->constvalue), 0);
	PG_RETURN_POINTER(request);
}
