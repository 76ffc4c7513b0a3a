/*
 * high_water_mark.h
 *		How far the instance's generators may have gone, kept over crashes and by
 *		standbys.
 */
#ifndef UUID9562_MARK_H
#define UUID9562_MARK_H

#include "value/value.h"

/* For each generator a time field that it has not reached; 0 if it made nothing. */
typedef struct Mark
{
	uint64		limits[UUID_KIND_COUNT];
} Mark;

/* What can be done with the mark, by uuid9562_try_mark alone. */
extern void uuid9562_load_mark(Mark *mark);
extern void uuid9562_raise_mark(Mark *mark);
extern void uuid9562_replace_mark(Mark *mark);

extern ErrorData *uuid9562_try_mark(void (*action) (Mark *), Mark *mark);

#endif							/* UUID9562_MARK_H */
