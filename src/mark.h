/*
 * mark.h
 *		The record in the data directory of how far the generators have gone.
 */
#ifndef UUID9562_MARK_H
#define UUID9562_MARK_H

#include "session.h"

/*
 * For each generator the payload that it goes on from: its last one, if nobody
 * was generating, and otherwise one that it has not reached.
 */
typedef struct Mark
{
	UuidPayload from[UUID_KIND_COUNT];
} Mark;

typedef enum MarkFound
{
	MARK_FOUND,
	MARK_MISSING,				/* nothing was ever handed out */
	MARK_DAMAGED,
	MARK_FAILED					/* nobody knows what it says */
} MarkFound;

/*
 * What could not be done with the file.  Whoever asked for it reports it, after
 * letting go of locks: a report may wait for the client.
 */
typedef struct MarkFailure
{
	const char *what;			/* NULL for none */
	int			error;			/* errno; 0 if the server log has it already */
} MarkFailure;

extern MarkFound uuid9562_read_mark(Mark *mark, MarkFailure *failure);
extern bool uuid9562_write_mark(const Mark *mark, MarkFailure *failure);
extern void uuid9562_report_damaged_mark(void);
extern void uuid9562_report_failed_mark(const MarkFailure *failure, int elevel);

#endif							/* UUID9562_MARK_H */
