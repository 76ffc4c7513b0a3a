/*
 * estimate.h
 *		Row estimates of conditions on UUIDs, and the operators in them.
 */
#ifndef UUID9562_ESTIMATE_H
#define UUID9562_ESTIMATE_H

#include "uuid9562.h"

#include "nodes/pathnodes.h"

extern Oid	uuid9562_btree_family(void);
extern Oid	uuid9562_operator(int strategy);
extern double uuid9562_version_selectivity(PlannerInfo *root, Oid funcid, List *args,
										   const UuidKind *kind);

#endif							/* UUID9562_ESTIMATE_H */
