/*
 * high_water_mark.c
 *		How far the instance's generators may have gone: stable storage (RFC 9562,
 *		6.3) that standbys, backups and pg_rewind have too.
 *
 * The mark is one page of shared storage, which PostgreSQL keeps like a page of
 * a table, without a table.  It is written to WAL as an image of the page, and
 * PostgreSQL's own recovery puts that in place, on a server without this library
 * too.  The record is flushed before any value above the old mark is handed out.
 * So a row with such a value has a later place in WAL than the mark above it:
 * whoever has the row has the mark.
 *
 * The caller sees to it that one process at a time is in here, and never in
 * recovery.
 */
#include "instance/high_water_mark.h"

#include <fcntl.h>
#include <unistd.h>

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/pg_tablespace_d.h"
#include "miscadmin.h"
#include "port/pg_crc32c.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/fd.h"
#include "storage/lwlock.h"
#include "storage/smgr.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#if PG_VERSION_NUM >= 160000
#include "utils/relfilenumbermap.h"
#else
#include "utils/relfilenodemap.h"
#endif

#include "core/generator.h"

#if PG_VERSION_NUM < 170000
#define INVALID_PROC_NUMBER InvalidBackendId
#endif
#if PG_VERSION_NUM < 160000
#define RelFileLocator RelFileNode
#define RelidByRelfilenumber RelidByRelfilenode
#define PGIOAlignedBlock PGAlignedBlock
#endif

/* In pg_global.  No release gives an OID from 8000 to 9999 to anything. */
#define MARK_NUMBER		9562
#define MARK_FOLDER		"global"
#define MARK_PATH		MARK_FOLDER "/9562"

static const RelFileLocator mark_locator = {GLOBALTABLESPACE_OID, InvalidOid, MARK_NUMBER};

/* What stands in the page after its header, in the byte order of the machine. */
typedef struct MarkRecord
{
	uint32		magic;
	uint32		format;
	Mark		mark;
	pg_crc32c	crc;
} MarkRecord;

#define MARK_MAGIC		0x55554944	/* UUID */
#define MARK_FORMAT		2

/* What uuid9562 1.0 had instead: a file, with the values to go on after. */
#define OLD_MARK_PATH	"uuid9562.mark"
#define OLD_MARK_FORMAT	1

typedef struct OldMarkRecord
{
	uint32		magic;
	uint32		format;
	UuidPayload previous[UUID_KIND_COUNT];
	pg_crc32c	crc;
} OldMarkRecord;

static pg_crc32c
checksum(const void *record, size_t octets)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, record, octets);
	FIN_CRC32C(crc);
	return crc;
}

static void
raise_limits(Mark *mark, const Mark *other)
{
	for (int i = 0; i < UUID_KIND_COUNT; i++)
		mark->limits[i] = Max(mark->limits[i], other->limits[i]);
}

/* The mark is there, and cannot be used. */
static void
refuse_mark(const char *path)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("file \"%s\" does not hold the mark of uuid9562.monotonic_scope = instance", path),
			 errdetail("It is damaged, or of another version of uuid9562.")));
}

/* The way out, where the page is damaged, whoever found that. */
static void
explain_damage(void *arg)
{
	if (geterrcode() == ERRCODE_DATA_CORRUPTED)
		errhint("A superuser can call uuid_generator_reset() to begin at the clock, "
				"and uuid_generator_advance() to go on after the greatest id that there is.");
}

/* Raise a mark to that of a page, locked by the caller; one never written has none. */
static void
raise_to_page(Mark *mark, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	MarkRecord *record = (MarkRecord *) PageGetContents(page);

	if (PageIsNew(page))
		return;
	if (record->magic != MARK_MAGIC || record->format != MARK_FORMAT ||
		!EQ_CRC32C(record->crc, checksum(record, offsetof(MarkRecord, crc))))
	{
		UnlockReleaseBuffer(buffer);
		refuse_mark(MARK_PATH);
	}
	raise_limits(mark, &record->mark);
}

/* The page, locked; made where there is none. */
static Buffer
lock_page(ReadBufferMode mode)
{
	SMgrRelation storage = smgropen(mark_locator, INVALID_PROC_NUMBER);
	Buffer		buffer;

	if (!smgrexists(storage, MAIN_FORKNUM))
		smgrcreate(storage, MAIN_FORKNUM, false);
	if (smgrnblocks(storage, MAIN_FORKNUM) == 0)
	{
		PGIOAlignedBlock empty = {{0}};

		fsync_fname(MARK_FOLDER, true);
		smgrextend(storage, MAIN_FORKNUM, 0, empty.data, false);
	}
	buffer = ReadBufferWithoutRelcache(mark_locator, MAIN_FORKNUM, 0, mode, NULL, true);
	if (mode == RBM_NORMAL)
		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

/* Write the mark into the page, and into WAL; durable when it returns. */
static void
write_page(Buffer buffer, const Mark *mark)
{
	Page		page = BufferGetPage(buffer);
	MarkRecord *record = (MarkRecord *) PageGetContents(page);
	XLogRecPtr	lsn;

	START_CRIT_SECTION();
	PageInit(page, BLCKSZ, 0);
	((PageHeader) page)->pd_lower += MAXALIGN(sizeof(MarkRecord));
	record->magic = MARK_MAGIC;
	record->format = MARK_FORMAT;
	record->mark = *mark;
	record->crc = checksum(record, offsetof(MarkRecord, crc));
	MarkBufferDirty(buffer);
	lsn = log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
	XLogFlush(lsn);
}

/* Move the page up to the mark, never down. */
void
uuid9562_raise_mark(Mark *mark)
{
	Buffer		buffer = lock_page(RBM_NORMAL);
	Mark		raised = *mark;

	raise_to_page(&raised, buffer);
	write_page(buffer, &raised);
}

/* Write the mark, whatever was there, but over no relation's storage. */
void
uuid9562_replace_mark(Mark *mark)
{
	Oid			relation = RelidByRelfilenumber(GLOBALTABLESPACE_OID, MARK_NUMBER);

	if (OidIsValid(relation))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_IN_USE),
				 errmsg("file \"%s\" belongs to relation %u", MARK_PATH, relation)));
	write_page(lock_page(RBM_ZERO_AND_LOCK), mark);
	if (unlink(OLD_MARK_PATH) == 0)
		fsync_fname(".", true);
	else if (errno != ENOENT)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not remove file \"%s\": %m", OLD_MARK_PATH)));
}

/* Raise a mark to that of a file of uuid9562 1.0; false where there is none. */
static bool
raise_to_old_file(Mark *mark)
{
	OldMarkRecord record;
	ssize_t		octets;
	int			file = OpenTransientFile(OLD_MARK_PATH, O_RDONLY | PG_BINARY);

	if (file < 0)
	{
		if (errno == ENOENT)
			return false;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", OLD_MARK_PATH)));
	}
	octets = read(file, &record, sizeof(record));
	if (octets < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read file \"%s\": %m", OLD_MARK_PATH)));
	CloseTransientFile(file);
	if (octets != sizeof(record) || record.magic != MARK_MAGIC || record.format != OLD_MARK_FORMAT ||
		!EQ_CRC32C(record.crc, checksum(&record, offsetof(OldMarkRecord, crc))))
		refuse_mark(OLD_MARK_PATH);
	for (int i = 0; i < UUID_KIND_COUNT; i++)
	{
		if (record.previous[i].time > 0)
			mark->limits[i] = Max(mark->limits[i], uuid_clock_later(uuid_kinds[i].clock, record.previous[i].time, 1));
	}
	return true;
}

/* What the page says, and what a server of uuid9562 1.0 left, once. */
void
uuid9562_load_mark(Mark *mark)
{
	Buffer		buffer = lock_page(RBM_NORMAL);

	memset(mark, 0, sizeof(Mark));
	raise_to_page(mark, buffer);
	UnlockReleaseBuffer(buffer);
	if (raise_to_old_file(mark))
	{
		uuid9562_raise_mark(mark);
		durable_unlink(OLD_MARK_PATH, ERROR);
	}
}

/*
 * Do that with the mark, and catch what goes wrong.  The buffer manager needs a
 * ResourceOwner, which the caller may not have, and which lets go of the page
 * after an error.  The caller holds one LWLock, that of the mark, and no longer
 * holds it after an error.
 */
ErrorData *
uuid9562_try_mark(void (*action) (Mark *), Mark *mark)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner outer = CurrentResourceOwner;
	ResourceOwner owner = ResourceOwnerCreate(outer, "uuid9562 mark");
	const uint32 holdoff_count = InterruptHoldoffCount;
	ErrorContextCallback explain = {error_context_stack, explain_damage, NULL};
	ErrorData  *error = NULL;

	CurrentResourceOwner = owner;
	error_context_stack = &explain;
	PG_TRY();
	{
		action(mark);
	}
	PG_CATCH();
	{
		/*
		 * The buffer manager may hold a lock of another page, which it was
		 * writing to make room.  The mark's own lock goes with it, and so
		 * does its hold on interrupts, which the error has forgotten.
		 */
		LWLockReleaseAll();
		InterruptHoldoffCount = holdoff_count - 1;
#if PG_VERSION_NUM < 160000
		AbortBufferIO();
#endif
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	error_context_stack = explain.previous;
	CurrentResourceOwner = outer;
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
	ResourceOwnerDelete(owner);
	return error;
}
