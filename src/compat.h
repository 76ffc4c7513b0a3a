/*
 * compat.h
 *		PostgreSQL's basic headers, and the differences between its versions.
 *
 * If PostgreSQL renamed something, the code uses the newest name.  If PostgreSQL changed
 * the arguments of a function, the code calls the function through a macro.
 */
#ifndef UUID9562_COMPAT_H
#define UUID9562_COMPAT_H

#include "postgres.h"

#include "fmgr.h"
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* PostgreSQL 18 replaced pg_attribute_noreturn() by pg_noreturn. */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

#if PG_VERSION_NUM < 170000
#define INVALID_PROC_NUMBER InvalidBackendId
#define GetNumberFromPGProc(proc) ((int) ((proc) - &ProcGlobal->allProcs[0]))
#define FIRST_PREPARED_XACT_PROC_NUMBER	(MaxBackends + NUM_AUXILIARY_PROCS)
#else
#define HAVE_DSM_REGISTRY
#endif

#if PG_VERSION_NUM < 160000
#define RelFileLocator RelFileNode
#define PGIOAlignedBlock PGAlignedBlock
#define guc_malloc(elevel, size) malloc(size)
#endif

/* The code tests these names instead of version numbers. */
#if PG_VERSION_NUM >= 180000
#define HAVE_RTE_GROUP			/* grouped expressions have their own RTE */
#define HAVE_NOT_ENFORCED		/* CHECK constraints can be NOT ENFORCED */
#endif
#if PG_VERSION_NUM >= 190000
#define HAVE_DSM_INIT_ARG		/* GetNamedDSMSegment() has parameter arg */
#endif

/* PostgreSQL 19 changed the functions below.  LWLockNewTrancheId() now registers the name. */
#if PG_VERSION_NUM >= 190000
#define new_lwlock_tranche(name) LWLockNewTrancheId(name)
#define register_lwlock_tranche(id, name) ((void) (id))
#define two_phase_proc(xid) TwoPhaseGetDummyProc(xid, false)
#else
#define new_lwlock_tranche(name) LWLockNewTrancheId()
#define register_lwlock_tranche(id, name) LWLockRegisterTranche(id, name)
#define two_phase_proc(xid) TwoPhaseGetDummyProc(XidFromFullTransactionId(xid), false)
#endif

#if PG_VERSION_NUM >= 180000
#define MODULE_MAGIC(version_string) \
	PG_MODULE_MAGIC_EXT(.name = "uuid9562",.version = version_string)
#else
#define MODULE_MAGIC(version_string) PG_MODULE_MAGIC
#endif

#ifdef WIN32
#define PATH_MAX _MAX_PATH
#define realpath(path, resolved) _fullpath(resolved, path, _MAX_PATH)
#endif

/* libpq/libpq.h declares this, but includes GSSAPI headers that may not be installed. */
extern bool check_ssl_key_file_permissions(const char *ssl_key_file, bool isServerStart);

#endif							/* UUID9562_COMPAT_H */
