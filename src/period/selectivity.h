/*
 * selectivity.h
 *		Row estimates, and the comparison operators of uuid.
 */
#ifndef UUID9562_SELECTIVITY_H
#define UUID9562_SELECTIVITY_H

#include "value/value.h"

#include "catalog/pg_type.h"
#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

/* Return the btree operator family of uuid. */
static inline Oid
uuid9562_btree_family(void)
{
	return lookup_type_cache(UUIDOID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/* Return the comparison operator of uuid with that btree strategy. */
static inline Oid
uuid9562_operator(int strategy)
{
	return get_opfamily_member(uuid9562_btree_family(), UUIDOID, UUIDOID, (int16) strategy);
}

extern double uuid9562_version_selectivity(PlannerInfo *root, Oid funcid, List *args,
										   const UuidKind *kind);

#endif							/* UUID9562_SELECTIVITY_H */
