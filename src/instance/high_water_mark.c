/*
 * high_water_mark.c
 *		The reserved ranges of the ordered generators, on disk and in WAL
 *		(RFC 9562, 6.3, stable storage).
 *
 * The high-water mark contains reserved_until of each generator.  It is one page, in a
 * file like that of a table but without an entry in the system catalogs.  Each change of
 * the page is written to WAL as a full-page image.  So the page is also on standbys, and
 * survives crash recovery, restoring a backup and pg_rewind; none of these needs the library.
 *
 * The WAL record is flushed before a value of the new range is generated.  So a server that
 * has a row with such a value also has this WAL record.
 *
 * If there is no file, no ordered value has been generated.  If the file has no valid
 * page, uuid9562_read_mark() raises an error.  Such a file is corrupted, has another
 * format, or was left by a crash or an error (such as a full disk) during its first write.
 *
 * Callers hold mark_lock.  They do not call these functions during recovery.
 */
#include "instance/instance.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_tablespace_d.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/fd.h"
#include "storage/smgr.h"

/* The file is in tablespace pg_global.  PostgreSQL releases use no OID from 8000 to 9999. */
#define MARK_FOLDER		"global"
#define MARK_PATH		MARK_FOLDER "/9562"

static const RelFileLocator mark_locator = {GLOBALTABLESPACE_OID, InvalidOid, 9562};

/* The content of the page after its header, in the byte order of the machine. */
typedef struct MarkRecord
{
	uint32		magic;
	uint32		format;
	HighWaterMark mark;
	pg_crc32c	crc;
} MarkRecord;

#define MARK_MAGIC		0x55554944	/* "UUID" in ASCII */
#define MARK_FORMAT		3

static pg_crc32c
checksum(const MarkRecord *record)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, record, offsetof(MarkRecord, crc));
	FIN_CRC32C(crc);
	return crc;
}

/* Report that the page is not valid. */
pg_noreturn static void
report_corruption(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("file \"%s\" does not contain valid generator state", MARK_PATH),
			 errdetail("The file is corrupted or was written by another version of uuid9562."),
			 errhint("A superuser can call uuid_generator_reset() to restart the generators at the current time "
					 "and uuid_generator_advance() to continue after the greatest existing UUID.")));
}

/* Error context callback: add a hint if PostgreSQL finds that the page is corrupted. */
static void
add_hint(void *arg)
{
	if (geterrcode() == ERRCODE_DATA_CORRUPTED)
		errhint("A superuser can call uuid_generator_reset() to restart the generators at the current time "
				"and uuid_generator_advance() to continue after the greatest existing UUID.");
}

/* Return the mark, which is all zeros if there is no file. */
HighWaterMark
uuid9562_read_mark(void)
{
	SMgrRelation storage = smgropen(mark_locator, INVALID_PROC_NUMBER);
	ErrorContextCallback context = {error_context_stack, add_hint, NULL};
	HighWaterMark none = {{0}};
	MarkRecord	record;
	Buffer		buffer;

	if (!smgrexists(storage, MAIN_FORKNUM))
		return none;
	if (smgrnblocks(storage, MAIN_FORKNUM) == 0)
		report_corruption();

	error_context_stack = &context;
	buffer = ReadBufferWithoutRelcache(mark_locator, MAIN_FORKNUM, 0, RBM_NORMAL, NULL, true);
	error_context_stack = context.previous;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(&record, PageGetContents(BufferGetPage(buffer)), sizeof(record));
	UnlockReleaseBuffer(buffer);
	if (record.magic != MARK_MAGIC || record.format != MARK_FORMAT ||
		!EQ_CRC32C(record.crc, checksum(&record)))
		report_corruption();
	return record.mark;
}

/*
 * Replace the mark, and create the file if necessary.  Flush the WAL record of the
 * change before returning.
 */
void
uuid9562_write_mark(const HighWaterMark *mark)
{
	SMgrRelation storage = smgropen(mark_locator, INVALID_PROC_NUMBER);
	MarkRecord *record;
	Buffer		buffer;
	Page		page;
	XLogRecPtr	lsn;

	if (!XLogInsertAllowed())
		elog(ERROR, "cannot write generator state during recovery");
	if (!smgrexists(storage, MAIN_FORKNUM))
	{
		smgrcreate(storage, MAIN_FORKNUM, false);
		fsync_fname(MARK_FOLDER, true);
	}
	if (smgrnblocks(storage, MAIN_FORKNUM) == 0)
	{
		PGIOAlignedBlock empty = {{0}};

		smgrextend(storage, MAIN_FORKNUM, 0, empty.data, false);
	}
	buffer = ReadBufferWithoutRelcache(mark_locator, MAIN_FORKNUM, 0, RBM_ZERO_AND_LOCK, NULL, true);
	page = BufferGetPage(buffer);
	record = (MarkRecord *) PageGetContents(page);

	START_CRIT_SECTION();
	PageInit(page, BLCKSZ, 0);
	((PageHeader) page)->pd_lower += MAXALIGN(sizeof(MarkRecord));
	record->magic = MARK_MAGIC;
	record->format = MARK_FORMAT;
	record->mark = *mark;
	record->crc = checksum(record);
	MarkBufferDirty(buffer);
	lsn = log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	XLogFlush(lsn);
}
