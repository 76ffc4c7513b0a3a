/*
 * settings.h
 *		The settings of uuid9562.
 */
#ifndef UUID9562_SETTINGS_H
#define UUID9562_SETTINGS_H

#include "compat.h"

#include "core/layout.h"

/* Whose values each new one exceeds: uuid9562.monotonic_scope. */
enum Scope
{
	SCOPE_SESSION,
	SCOPE_INSTANCE
};

extern int	uuid9562_v7_method; /* UuidMethod */
extern int	uuid9562_monotonic_scope;	/* enum Scope */
extern UuidStamp uuid9562_node; /* the node of v1 and v6 */
extern int	uuid9562_node_id;	/* 0 to 65535, or UNSET_NODE_ID */
extern int	uuid9562_max_ahead; /* seconds */

#define UNSET_NODE_ID	(-1)

extern void uuid9562_define_settings(void);

#endif							/* UUID9562_SETTINGS_H */
