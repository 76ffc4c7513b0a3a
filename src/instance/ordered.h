/*
 * ordered.h
 *		The generators of ordered UUIDs.
 */
#ifndef UUID9562_ORDERED_H
#define UUID9562_ORDERED_H

#include "instance/shared_memory.h"

/* The kind of each ordered generator. */
extern const UuidKind *const uuid9562_ordered_kinds[UUID_ORDERED_COUNT];

extern void uuid9562_prepare_generators(void);
extern void uuid9562_advance_generator(const UuidKind *kind, UuidPayload payload);
extern void uuid9562_reset_generators(void);
extern int64 uuid9562_seconds_ahead(const UuidKind *kind, uint64 time, uint64 now);

#endif							/* UUID9562_ORDERED_H */
