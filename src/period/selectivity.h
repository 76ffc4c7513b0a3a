/*
 * selectivity.h
 *		What the planner's files share: the operators of uuid, and row estimates.
 */
#ifndef UUID9562_ESTIMATE_H
#define UUID9562_ESTIMATE_H

#include "value/value.h"

#include "catalog/pg_type.h"
#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* The btree operator family of uuid: PostgreSQL's comparison operators. */
static inline Oid
uuid9562_btree_family(void)
{
	return lookup_type_cache(UUIDOID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/* One of them, by its btree strategy. */
static inline Oid
uuid9562_operator(int strategy)
{
	return get_opfamily_member(uuid9562_btree_family(), UUIDOID, UUIDOID, (int16) strategy);
}

extern double uuid9562_version_selectivity(PlannerInfo *root, Oid funcid, List *args,
										   const UuidKind *kind);

#endif							/* UUID9562_ESTIMATE_H */
