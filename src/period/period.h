/*
 * period.h
 *		The condition that the time of an ID is within a period.
 */
#ifndef UUID9562_PERIOD_H
#define UUID9562_PERIOD_H

#include "value/value.h"

#include "catalog/pg_type.h"
#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"
#include "utils/rangetypes.h"
#include "utils/typcache.h"

/* The smallest and the greatest UUID in a period. */
typedef struct UuidBounds
{
	Datum		lower;
	Datum		upper;
	bool		has_lower;		/* does lower exclude any UUID of the kind? */
	bool		has_upper;
} UuidBounds;

/* A call of uuidv7_within() or of a similar function or operator. */
typedef struct WithinCall
{
	PlannerInfo *root;			/* NULL if the call is not part of a query */
	Oid			funcid;
	const UuidKind *kind;
	Node	   *id;
	Node	   *period;
	List	   *comparisons;	/* of the ID with the bounds of the period */
} WithinCall;

/* period.c: the bounds as values */
extern UuidBounds uuid9562_period_bounds(const UuidKind *kind, TypeCacheEntry *typcache,
										 const RangeType *period);
extern bool uuid9562_side_bound(const UuidKind *kind, bool is_lower, TimestampTz time,
								bool inclusive, Datum *bound);

/* bounds.c: the bounds in expressions */
extern Expr *uuid9562_make_call(const WithinCall *call, const char *name, Oid result_type,
								List *args);
extern bool uuid9562_may_execute(const WithinCall *call, Oid function);
extern bool uuid9562_is_never_null(const Node *period);
extern bool uuid9562_is_small(Node *expression);
extern bool uuid9562_make_comparisons(WithinCall *call);

/* selectivity.c */
struct SupportRequestSelectivity;
extern void uuid9562_estimate_version(struct SupportRequestSelectivity *request,
									  const UuidKind *kind);

/* Return the btree operator family of uuid. */
static inline Oid
uuid9562_btree_family(void)
{
	return lookup_type_cache(UUIDOID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

/* Return the comparison operator of uuid for a btree strategy. */
static inline Oid
uuid9562_operator(int strategy)
{
	return get_opfamily_member(uuid9562_btree_family(), UUIDOID, UUIDOID, (int16) strategy);
}

#endif							/* UUID9562_PERIOD_H */
