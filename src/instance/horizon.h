/*
 * horizon.h
 *		What has surely been committed.
 */
#ifndef UUID9562_HORIZON_H
#define UUID9562_HORIZON_H

#include "value/value.h"

extern bool uuid9562_horizon_holder(const UuidKind *kind, TimestampTz *since, int *pid);

#endif							/* UUID9562_HORIZON_H */
