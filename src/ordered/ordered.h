/*
 * ordered.h
 *		What src/ordered offers to src/changes.
 */
#ifndef UUID9562_ORDERED_H
#define UUID9562_ORDERED_H

#include "compat.h"

#include "core/generator.h"

extern void uuid9562_prepare_ordered(void);
extern UuidPayload uuid9562_next_ordered(void);
extern uint64 uuid9562_snapshot_branch(bool record);
extern bool uuid9562_branch_ended_before(uint64 name, const uint8 *id);

#endif							/* UUID9562_ORDERED_H */
