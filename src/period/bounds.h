/*
 * bounds.h
 *		The bounds of a period as expressions of a plan.
 */
#ifndef UUID9562_BOUNDS_H
#define UUID9562_BOUNDS_H

#include "value/value.h"

#include "nodes/primnodes.h"

/* A call of within, its arguments in the order of uuidv7_within. */
typedef struct WithinCall
{
	Oid			funcid;
	const UuidKind *kind;
	Node	   *id;
	Node	   *period;
} WithinCall;

extern Expr *uuid9562_make_call(const WithinCall *call, const char *name, Oid result, List *args);
extern WithinCall uuid9562_within_call(Oid funcid, List *args, const UuidKind *kind);
extern bool uuid9562_is_constructed(const Node *period);
extern bool uuid9562_is_small(Node *expression);
extern bool uuid9562_make_bounds(const WithinCall *call, Expr **lower, Expr **upper);

#endif							/* UUID9562_BOUNDS_H */
