/*
 * high_water_mark.c
 *		The reserved range and the branches of the ordered generator, on disk and in
 *		WAL (RFC 9562, 6.3, stable storage).
 *
 * The mark is one page, in a file like that of a table but without an entry in the system
 * catalogs.  Each change is written to WAL as a full-page image.  So the page is also on
 * standbys, and survives crash recovery, restoring a backup and pg_rewind; none of these
 * needs the library.  The WAL record is flushed before a value of the new range is generated.
 * So a server that has a row with such a value also has this WAL record.  After a startup,
 * reservation.c makes the generator continue at the mark.
 *
 * If there is no file, no ordered value has been generated.  If the file has no valid page, it is
 * corrupted or has another format, and uuid9562_read_mark() raises an error.  A crash or a full
 * disk does not leave such a file: the file gets its name only after its first page, which reserves
 * nothing, has been flushed.  WAL is written after that, so crash recovery needs no new space.
 *
 * Callers that change the mark hold mark_lock.
 */
#include "ordered/shared_state.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_tablespace_d.h"
#include "common/file_utils.h"
#include "port/pg_crc32c.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/fd.h"
#include "storage/smgr.h"

/* The file is in tablespace pg_global.  PostgreSQL releases use no OID from 8000 to 9999. */
#define MARK_FOLDER		"global"
#define MARK_PATH		MARK_FOLDER "/9562"
/* The name until a page is flushed.  Programs such as pg_basebackup skip names with this prefix. */
#define NEW_PATH		MARK_FOLDER "/" PG_TEMP_FILE_PREFIX ".9562"

static const RelFileLocator mark_locator = {GLOBALTABLESPACE_OID, InvalidOid, 9562};

/* The content of the page after its header, in the byte order of the machine. */
typedef struct MarkRecord
{
	uint32		magic;
	uint32		format;
	pg_crc32c	crc;			/* of the mark */
	uint32		length;			/* of the mark, without unused branches */
	HighWaterMark mark;
} MarkRecord;

#define MARK_MAGIC		0x55554944	/* "UUID" in ASCII */
#define MARK_FORMAT		1

StaticAssertDecl(MAXALIGN(SizeOfPageHeaderData) + MAXALIGN(sizeof(MarkRecord)) <= BLCKSZ,
				 "the high-water mark fits in a page");

/* Return the length of a mark without its unused branches. */
static uint32
mark_length(const HighWaterMark *mark)
{
	return offsetof(HighWaterMark, branches.branches) + mark->branches.count * sizeof(UuidBranch);
}

static pg_crc32c
checksum(const MarkRecord *record)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, &record->mark, record->length);
	FIN_CRC32C(crc);
	return crc;
}

/* Check a record that was read.  The length comes first, since checksum() relies on it. */
static bool
is_valid(const MarkRecord *record)
{
	return record->length <= sizeof(HighWaterMark) && EQ_CRC32C(record->crc, checksum(record)) &&
		record->magic == MARK_MAGIC && record->format == MARK_FORMAT &&
		record->mark.branches.count <= UUID_BRANCH_MAX &&
		record->length == mark_length(&record->mark);
}

void
uuid9562_report_corruption(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("file \"%s\" does not contain valid generator state", MARK_PATH),
			 errdetail("The file is corrupted or was written by another version of uuid9562."),
			 errhint("A superuser can call uuid_generator_reset() to restart the generator at the current time "
					 "and uuid_generator_advance() to continue after the greatest existing UUID.")));
}

/*
 * Copy the page of the file, or leave "page" zeroed if the file is empty.
 *
 * Rely on the mark's own checksum instead of PostgreSQL's checksum of the page.  A program that
 * enables data checksums can skip this file, since it has no entry in the system catalogs.
 */
static void
read_page(SMgrRelation storage, Page page)
{
	Buffer		buffer;

	if (smgrnblocks(storage, MAIN_FORKNUM) == 0)
		return;
	buffer = ReadBufferWithoutRelcache(mark_locator, MAIN_FORKNUM, 0,
									   RBM_ZERO_ON_ERROR, NULL, true);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(page, BufferGetPage(buffer), BLCKSZ);

	/*
	 * If PostgreSQL's checksum was wrong, the buffer is zeroed: read the
	 * file.  Nobody writes it meanwhile, because nobody has changed the
	 * buffer, or can do so before its lock is released.
	 */
	if (PageIsNew(page))
		smgrread(storage, MAIN_FORKNUM, 0, page);
	UnlockReleaseBuffer(buffer);
}

/*
 * Read the mark.  If there is no file, return all zeros, because no value has been generated.  If
 * the page is not valid, raise an error or, with "repair", return all zeros for a reset.
 */
void
uuid9562_read_mark(HighWaterMark *mark, bool repair)
{
	SMgrRelation storage = smgropen(mark_locator, INVALID_PROC_NUMBER);
	PGIOAlignedBlock page = {{0}};
	const MarkRecord *record = (const MarkRecord *) PageGetContents(page.data);

	memset(mark, 0, sizeof(HighWaterMark));
	if (!smgrexists(storage, MAIN_FORKNUM))
		return;
	read_page(storage, page.data);
	if (is_valid(record))
		memcpy(mark, &record->mark, record->length);
	else if (PageIsNew(page.data) && RecoveryInProgress())
		return;					/* recovery has not restored the page yet */
	else if (!repair)
		uuid9562_report_corruption();
}

static void
fill_page(Page page, const HighWaterMark *mark)
{
	MarkRecord *record = (MarkRecord *) PageGetContents(page);

	PageInit(page, BLCKSZ, 0);
	record->magic = MARK_MAGIC;
	record->format = MARK_FORMAT;
	record->length = mark_length(mark);
	memcpy(&record->mark, mark, record->length);
	record->crc = checksum(record);
	/* the image in WAL omits the rest of the page */
	((PageHeader) page)->pd_lower += MAXALIGN(offsetof(MarkRecord, mark) + record->length);
}

/* Create the file, with a mark that reserves nothing.  An error leaves no invalid file. */
static void
create_mark_file(void)
{
	static const HighWaterMark none;
	PGIOAlignedBlock page;
	int			fd;

	fill_page(page.data, &none);
	PageSetChecksum(page.data, 0);
	fd = OpenTransientFile(NEW_PATH, O_WRONLY | O_CREAT | O_TRUNC | PG_BINARY);
	if (fd < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s\": %m", NEW_PATH)));
	errno = ENOSPC;				/* if a short write does not set it */
	if (write(fd, page.data, BLCKSZ) != BLCKSZ || CloseTransientFile(fd) != 0)
	{
		int			reason = errno;

		unlink(NEW_PATH);
		errno = reason;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", NEW_PATH)));
	}
	(void) durable_rename(NEW_PATH, MARK_PATH, ERROR);	/* flushes the page too */
}

/*
 * Replace the mark, and create the file if necessary.  Return the end of the WAL record, which the
 * caller must flush before it relies on the mark.
 */
XLogRecPtr
uuid9562_write_mark(const HighWaterMark *mark)
{
	SMgrRelation storage = smgropen(mark_locator, INVALID_PROC_NUMBER);
	Buffer		buffer;
	XLogRecPtr	lsn;

	Assert(LWLockHeldByMeInMode(&uuid9562_shared->mark_lock, LW_EXCLUSIVE));
	Assert(mark->branches.count <= UUID_BRANCH_MAX);
	if (!smgrexists(storage, MAIN_FORKNUM))
		create_mark_file();
	else if (smgrnblocks(storage, MAIN_FORKNUM) == 0)
	{
		/* repair a truncated file in place: other processes can have it open */
		PGIOAlignedBlock empty = {{0}};

		smgrextend(storage, MAIN_FORKNUM, 0, empty.data, false);
	}
	buffer = ReadBufferWithoutRelcache(mark_locator, MAIN_FORKNUM, 0,
									   RBM_ZERO_AND_LOCK, NULL, true);

	START_CRIT_SECTION();
	fill_page(BufferGetPage(buffer), mark);
	MarkBufferDirty(buffer);
	lsn = log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	return lsn;
}
