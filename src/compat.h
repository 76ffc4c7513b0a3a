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
#define new_wait_event(name) ((void) (name), PG_WAIT_EXTENSION)
#define INVALID_PROC_NUMBER InvalidBackendId
#define GetNumberFromPGProc(proc) ((int) ((proc) - &ProcGlobal->allProcs[0]))
#define FIRST_PREPARED_XACT_PROC_NUMBER	(MaxBackends + NUM_AUXILIARY_PROCS)
#else
#include "utils/wait_event.h"
#define new_wait_event(name) WaitEventExtensionNew(name)
#endif

#if PG_VERSION_NUM < 160000
#define object_aclcheck(classid, oid, role, mode) pg_proc_aclcheck(oid, role, mode) /* functions */
#define object_ownercheck(classid, oid, role) pg_class_ownercheck(oid, role)	/* relations */
#define RelFileLocator RelFileNode
#define PGIOAlignedBlock PGAlignedBlock
#define guc_malloc(elevel, size) malloc(size)
#define attrmap_by_name(indesc, outdesc) build_attrmap_by_name_if_req(indesc, outdesc)
#else
#define attrmap_by_name(indesc, outdesc) build_attrmap_by_name_if_req(indesc, outdesc, false)
#endif

/*
 * PostgreSQL 17 added GetNamedDSMSegment().  PostgreSQL 19 added an argument to this function and
 * to its callback.  Before PostgreSQL 17, named_dsm_segment() returns NULL.
 */
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif
#if PG_VERSION_NUM >= 190000
#define DSM_INIT_ARGS	void *segment, void *arg
#define named_dsm_segment(name, size, init, found) GetNamedDSMSegment(name, size, init, found, NULL)
#elif PG_VERSION_NUM >= 170000
#define DSM_INIT_ARGS	void *segment
#define named_dsm_segment(name, size, init, found) GetNamedDSMSegment(name, size, init, found)
#else
#define DSM_INIT_ARGS	void *segment
#define named_dsm_segment(name, size, init, found) ((void) (init), (void) (found), NULL)
#endif

/* PostgreSQL 19 changed what is below.  LWLockNewTrancheId() now registers the name. */
#if PG_VERSION_NUM >= 190000
#define PARSE_HOOK_JUMBLE	const JumbleState *jumble
#define new_lwlock_tranche(name) LWLockNewTrancheId(name)
#define begin_table_scan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL, 0)
#define begin_index_scan(rel, index, snapshot, keys) \
	index_beginscan(rel, index, snapshot, NULL, keys, 0, 0)
#define delete_tuple(rel, tid, cid, wait, failure) \
	heap_delete(rel, tid, cid, 0, InvalidSnapshot, wait, failure)
#define register_lwlock_tranche(id, name) ((void) (id))
#define two_phase_proc(xid) TwoPhaseGetDummyProc(xid, false)
#else
#define PARSE_HOOK_JUMBLE	JumbleState *jumble
#define new_lwlock_tranche(name) LWLockNewTrancheId()
#define begin_table_scan(rel, snapshot) table_beginscan(rel, snapshot, 0, NULL)
#define delete_tuple(rel, tid, cid, wait, failure) \
	heap_delete(rel, tid, cid, InvalidSnapshot, wait, failure, false)
#define register_lwlock_tranche(id, name) LWLockRegisterTranche(id, name)
typedef int SysCacheIdentifier;
#define two_phase_proc(xid) TwoPhaseGetDummyProc(XidFromFullTransactionId(xid), false)
#define PageSetChecksum(page, block) PageSetChecksumInplace(page, block)
#endif

/*
 * PostgreSQL 18 added PG_MODULE_MAGIC_EXT, an RTE for grouped expressions, and virtual generated
 * columns, and instruments index scans.
 */
#if PG_VERSION_NUM >= 180000
#include "rewrite/rewriteHandler.h"
#define is_virtual_column(attribute) ((attribute)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
#define virtual_column_expression(rel, number) build_generation_expression(rel, number)
#if PG_VERSION_NUM < 190000
#define begin_index_scan(rel, index, snapshot, keys) \
	index_beginscan(rel, index, snapshot, NULL, keys, 0)
#endif
#define MODULE_MAGIC(version_string) \
	PG_MODULE_MAGIC_EXT(.name = "uuid9562",.version = version_string)
#define HAVE_RTE_GROUP true
#define rte_group_exprs(rte) ((rte)->groupexprs)
#else
#define MODULE_MAGIC(version_string) PG_MODULE_MAGIC
#define HAVE_RTE_GROUP false
#define rte_group_exprs(rte) ((void) (rte), NIL)
#define is_virtual_column(attribute) ((void) (attribute), false)
#define virtual_column_expression(rel, number) ((void) (rel), (void) (number), (Node *) NULL)
#define begin_index_scan(rel, index, snapshot, keys) index_beginscan(rel, index, snapshot, keys, 0)
#endif

/* PostgreSQL 16 added BufFileReadExact(). */
#if PG_VERSION_NUM < 160000
#define BufFileReadExact(file, pointer, size) \
	do { \
		size_t		bytes_read_ = BufFileRead(file, pointer, size); \
		if (bytes_read_ != (size)) \
			ereport(ERROR, \
					(errcode_for_file_access(), \
					 errmsg("could not read from temporary file: read only %zu of %zu bytes", bytes_read_, (size_t) (size)))); \
	} while (0)
#endif

#ifdef WIN32
#define PATH_MAX _MAX_PATH
#define realpath(path, resolved) _fullpath(resolved, path, _MAX_PATH)
#define O_NONBLOCK 0			/* folders of Windows contain no FIFOs */
#endif

#endif							/* UUID9562_COMPAT_H */
