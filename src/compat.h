/*
 * compat.h
 *		PostgreSQL's basic headers, and what differs between its versions.
 *
 * Every test of PG_VERSION_NUM belongs here, so that a new version of
 * PostgreSQL is one file to read.
 */
#ifndef UUID9562_COMPAT_H
#define UUID9562_COMPAT_H

#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* PostgreSQL 18 renamed it and moved it before the declaration. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

#endif							/* UUID9562_COMPAT_H */
