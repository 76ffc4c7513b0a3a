/*
 * settings.h
 *		The settings of uuid9562.
 */
#ifndef UUID9562_SETTINGS_H
#define UUID9562_SETTINGS_H

#include "compat.h"

#include "core/layout.h"

extern int	uuid9562_v7_method; /* UuidMethod */
extern UuidNodeBits uuid9562_node;	/* node of v1 and v6 */
extern int	uuid9562_node_id;	/* 0 to 65535, or UNSET_NODE_ID */
extern int	uuid9562_max_ahead; /* seconds */
extern char *uuid9562_key_file; /* empty if not set */
extern bool uuid9562_purge_worker_enabled;

#define UNSET_NODE_ID	(-1)

extern void uuid9562_define_settings(void);
extern UuidNodeBits uuid9562_own_node_id(void);

#endif							/* UUID9562_SETTINGS_H */
