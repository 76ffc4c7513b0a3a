/*
 * mark.h
 *		The record in the data directory of how far the generators have gone.
 */
#ifndef UUID9562_MARK_H
#define UUID9562_MARK_H

#include "state.h"

/*
 * For each generator the payload that it goes on from: its last one, if nobody
 * was generating, and otherwise one that it has not reached.
 */
typedef struct Mark
{
	UuidPayload from[GENERATOR_COUNT];
} Mark;

typedef enum MarkFound
{
	MARK_FOUND,
	MARK_MISSING,				/* nothing was ever handed out */
	MARK_DAMAGED				/* reported in the log */
} MarkFound;

extern MarkFound uuid9562_read_mark(Mark *mark);
extern bool uuid9562_write_mark(const Mark *mark, int elevel);

#endif							/* UUID9562_MARK_H */
