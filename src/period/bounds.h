/*
 * bounds.h
 *		The bounds of a period, as the planner writes them.
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

extern Oid	uuid9562_sibling_function(Oid funcid, const char *name, Oid argument);
extern Expr *uuid9562_make_call(Oid function, Oid result, const Node *argument);
extern WithinCall uuid9562_within_call(Oid funcid, List *args, const UuidKind *kind);
extern bool uuid9562_is_constructed(const Node *period);
extern bool uuid9562_make_bounds(const WithinCall *call, Expr **lowest, Expr **highest);

#endif							/* UUID9562_BOUNDS_H */
