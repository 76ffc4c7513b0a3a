/*
 * period.h
 *		The condition that the time of a version 7 ID is within a period.
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
	bool		has_lower;		/* is there a v7 UUID below lower? */
	bool		has_upper;		/* is there a v7 UUID above upper? */
} UuidBounds;

/* A call of uuidv7_within() or of an operator */
typedef struct WithinCall
{
	PlannerInfo *root;			/* NULL if the call is not part of a query */
	Oid			funcid;
	Node	   *id;
	Node	   *period;
	List	   *comparisons;	/* of the ID with the bounds of the period */
} WithinCall;

/* period.c: the bounds as values */
extern UuidBounds uuid9562_period_bounds(TypeCacheEntry *typcache, const RangeType *period);
extern bool uuid9562_side_bound(bool is_lower, TimestampTz time, bool inclusive, Datum *bound);

/* comparisons.c: the bounds in expressions */
extern Expr *uuid9562_make_call(const WithinCall *call, const char *name, Oid result_type,
								List *args);
extern bool uuid9562_may_execute(const WithinCall *call, Oid function);
extern bool uuid9562_is_never_null(const Node *period);
extern bool uuid9562_is_small(Node *expression);
extern bool uuid9562_make_comparisons(WithinCall *call);

/* selectivity.c */
struct SupportRequestSelectivity;
extern void uuid9562_estimate_is_v7(struct SupportRequestSelectivity *request);

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
