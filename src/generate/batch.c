/*
 * batch.c
 *		uuidv7_batch: new UUIDs of version 7 by the number, for applications that
 *		fetch ids ahead.
 *
 * One value a call, so any number of them takes no memory, can be cancelled,
 * and stands in order with those of uuidv7() made meanwhile.
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
 * How many values follow one reading of the clock at most.  Method fraction
 * ends there anyhow, and for more there is nothing to gain.
 */
#define VALUES_PER_READING	16

/*
 * uuidv7_batch(n bigint) returns setof uuid
 *
 * n values as uuidv7() gives them, in order; none for n of 0 or less.  The clock
 * is read for the first one, and again when the counter is full or 16 values have
 * been generated (RFC 9562, 5.7 and 6.2).
 */
Datum
uuid9562_uuidv7_batch(PG_FUNCTION_ARGS)
{
	FuncCallContext *batch;
	int		   *unread;			/* values until the clock must be read again */
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
 * How many rows to expect: n, where it is known.
 */
Datum
uuid9562_uuidv7_batch_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *answer = NULL;

	if (IsA(request, SupportRequestRows))
	{
		SupportRequestRows *rows = (SupportRequestRows *) request;

		if (is_funcclause(rows->node))
		{
			List	   *arguments = ((FuncExpr *) rows->node)->args;
			Node	   *n = estimate_expression_value(rows->root, (Node *) linitial(arguments));

			if (IsA(n, Const))
			{
				rows->rows = ((Const *) n)->constisnull ? 0 :
					(double) Max(DatumGetInt64(((Const *) n)->constvalue), 0);
				answer = request;
			}
		}
	}
	PG_RETURN_POINTER(answer);
}
