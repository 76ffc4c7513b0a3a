/*
 * faults.h
 *		Make a chosen call of the extension fail; see faults.pl.
 *
 * "gcc -include" includes this header first.  It includes the headers of the extension's
 * code, and then defines macros that replace the functions that can fail.  set_fault(n)
 * makes the n-th call of such a function fail.  A function fails as it would without
 * memory, disk or OpenSSL: it raises an error, or returns what it returns on failure.
 */
#ifndef FAULTS_H
#define FAULTS_H
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef USE_OPENSSL
#include <openssl/evp.h>
#endif

#include "access/htup_details.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "common/cryptohash.h"
#include "common/file_utils.h"
#include "fmgr.h"
#include "funcapi.h"
#include "storage/bufmgr.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"
#include "storage/smgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#endif

/* the number of calls until one fails; 0 if none fails */
extern int	uuid9562_fault;
__attribute__((weak)) int uuid9562_fault;

static inline bool
fault_is_due(void)
{
	return uuid9562_fault > 0 && --uuid9562_fault == 0;
}

static inline void
fault_raise(void)
{
	if (fault_is_due())
		ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("injected fault")));
}

static inline int
fault_result(int failure)
{
	errno = EIO;
	return failure;
}

static inline bool
fault_random(void *bytes, size_t count)
{
	return fault_is_due() ? false : pg_strong_random(bytes, count);
}

/* functions that raise an error */
#define palloc(...)							(fault_raise(), palloc(__VA_ARGS__))
#define palloc0(...)						(fault_raise(), palloc0(__VA_ARGS__))
#define pstrdup(...)						(fault_raise(), pstrdup(__VA_ARGS__))
#define psprintf(...)						(fault_raise(), psprintf(__VA_ARGS__))
#define MemoryContextAlloc(...)				(fault_raise(), MemoryContextAlloc(__VA_ARGS__))
#define MemoryContextAllocZero(...)			(fault_raise(), MemoryContextAllocZero(__VA_ARGS__))
#define AllocSetContextCreateInternal(...)	(fault_raise(), AllocSetContextCreateInternal(__VA_ARGS__))
#define text_to_cstring(...)				(fault_raise(), text_to_cstring(__VA_ARGS__))
#define cstring_to_text(...)				(fault_raise(), cstring_to_text(__VA_ARGS__))
#define cstring_to_text_with_len(...)		(fault_raise(), cstring_to_text_with_len(__VA_ARGS__))
#define heap_form_tuple(...)				(fault_raise(), heap_form_tuple(__VA_ARGS__))
#define InitMaterializedSRF(...)			(fault_raise(), InitMaterializedSRF(__VA_ARGS__))
#define RegisterXactCallback(...)			(fault_raise(), RegisterXactCallback(__VA_ARGS__))
#define RegisterResourceReleaseCallback(...)	(fault_raise(), RegisterResourceReleaseCallback(__VA_ARGS__))
#define GetNamedDSMSegment(...)				(fault_raise(), GetNamedDSMSegment(__VA_ARGS__))
#define smgrexists(...)						(fault_raise(), smgrexists(__VA_ARGS__))
#define smgrnblocks(...)					(fault_raise(), smgrnblocks(__VA_ARGS__))
#define smgrextend(...)						(fault_raise(), smgrextend(__VA_ARGS__))
#define ReadBufferWithoutRelcache(...)		(fault_raise(), ReadBufferWithoutRelcache(__VA_ARGS__))
#define durable_rename(...)					(fault_raise(), durable_rename(__VA_ARGS__))
#define XLogFlush(...)						(fault_raise(), XLogFlush(__VA_ARGS__))

/* functions that return a failure */
#define pg_strong_random					fault_random
#define clock_gettime(...)					(fault_is_due() ? fault_result(-1) : clock_gettime(__VA_ARGS__))
#define OpenTransientFile(...)				(fault_is_due() ? fault_result(-1) : OpenTransientFile(__VA_ARGS__))
#define read(...)							(fault_is_due() ? fault_result(-1) : read(__VA_ARGS__))
#define write(...)							(fault_is_due() ? fault_result(-1) : write(__VA_ARGS__))
#define fstat(...)							(fault_is_due() ? fault_result(-1) : fstat(__VA_ARGS__))
#define realpath(...)						(fault_is_due() ? (fault_result(0), NULL) : realpath(__VA_ARGS__))
#if PG_VERSION_NUM >= 160000
#define guc_malloc(...)						(fault_is_due() ? NULL : guc_malloc(__VA_ARGS__))
#else
#define malloc(...)							(fault_is_due() ? NULL : malloc(__VA_ARGS__))	/* guc_malloc() in compat.h */
#endif
#define pg_cryptohash_create(...)			(fault_is_due() ? NULL : pg_cryptohash_create(__VA_ARGS__))
#define pg_cryptohash_init(...)				(fault_is_due() ? -1 : pg_cryptohash_init(__VA_ARGS__))
#define pg_cryptohash_update(...)			(fault_is_due() ? -1 : pg_cryptohash_update(__VA_ARGS__))
#define pg_cryptohash_final(...)			(fault_is_due() ? -1 : pg_cryptohash_final(__VA_ARGS__))
#define EVP_CIPHER_CTX_new(...)				(fault_is_due() ? NULL : EVP_CIPHER_CTX_new(__VA_ARGS__))
#define EVP_EncryptInit_ex(...)				(fault_is_due() ? 0 : EVP_EncryptInit_ex(__VA_ARGS__))
#define EVP_CIPHER_CTX_set_padding(...)		(fault_is_due() ? 0 : EVP_CIPHER_CTX_set_padding(__VA_ARGS__))
#define EVP_EncryptUpdate(...)				(fault_is_due() ? 0 : EVP_EncryptUpdate(__VA_ARGS__))

/* set_fault(n integer) returns integer: the previous number of calls until one fails */
extern PGDLLEXPORT const Pg_finfo_record *pg_finfo_uuid9562_set_fault(void);
extern PGDLLEXPORT Datum uuid9562_set_fault(PG_FUNCTION_ARGS);

__attribute__((weak)) const Pg_finfo_record *
pg_finfo_uuid9562_set_fault(void)
{
	static const Pg_finfo_record record = {1};

	return &record;
}

__attribute__((weak)) Datum
uuid9562_set_fault(PG_FUNCTION_ARGS)
{
	int			left = uuid9562_fault;

	uuid9562_fault = PG_GETARG_INT32(0);
	PG_RETURN_INT32(left);
}

#endif							/* FAULTS_H */
