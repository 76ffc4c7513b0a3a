/*
 * high_water_mark.h
 *		The reserved ranges of the ordered generators, on disk and in WAL.
 */
#ifndef UUID9562_HIGH_WATER_MARK_H
#define UUID9562_HIGH_WATER_MARK_H

#include "compat.h"

#include "core/kind.h"

/* For each generator, a time field greater than all its values; 0: unused. */
typedef struct HighWaterMark
{
	uint64		reserved_until[UUID_ORDERED_COUNT];
} HighWaterMark;

extern HighWaterMark uuid9562_read_mark(void);
extern void uuid9562_write_mark(const HighWaterMark *mark);

#endif							/* UUID9562_HIGH_WATER_MARK_H */
