/*
 * instance.h
 *		Ordered UUIDs, which increase across all sessions of a server.
 */
#ifndef UUID9562_INSTANCE_H
#define UUID9562_INSTANCE_H

extern void uuid9562_instance_init(void);

#endif							/* UUID9562_INSTANCE_H */
