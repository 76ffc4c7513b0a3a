/*
 * mark.c
 *		The record in the data directory of how far the generators have gone.
 *
 * Stable storage (RFC 9562, 6.3): written to a new file, synced, and renamed
 * over the old one, so there is always one whole record or none.
 */
#include "mark.h"

#include <fcntl.h>
#include <unistd.h>

#include "port/pg_crc32c.h"
#include "storage/fd.h"

/* In the data directory, which is the working directory of every process. */
#define MARK_FILE		"uuid9562.mark"
#define MARK_FILE_NEW	MARK_FILE ".new"

#define MARK_MAGIC		0x55554944	/* UUID */
#define MARK_FORMAT		1

/* As pg_control: in the byte order of the machine. */
typedef struct MarkRecord
{
	uint32		magic;
	uint32		format;
	Mark		mark;
	pg_crc32c	crc;
} MarkRecord;

static pg_crc32c
record_crc(const MarkRecord *record)
{
	pg_crc32c	crc;

	INIT_CRC32C(crc);
	COMP_CRC32C(crc, record, offsetof(MarkRecord, crc));
	FIN_CRC32C(crc);
	return crc;
}

/* That could not be done, for the reason in errno. */
static bool
fail(MarkFailure *failure, const char *what)
{
	failure->what = what;
	failure->error = errno;
	return false;
}

/* Read the record. */
MarkFound
uuid9562_read_mark(Mark *mark, MarkFailure *failure)
{
	MarkRecord	record;
	ssize_t		octets;
	int			file = BasicOpenFile(MARK_FILE, O_RDONLY | PG_BINARY);

	if (file < 0)
	{
		if (errno == ENOENT)
			return MARK_MISSING;
		fail(failure, "could not open file \"" MARK_FILE "\"");
		return MARK_FAILED;
	}
	octets = read(file, &record, sizeof(record));
	if (octets < 0)
		fail(failure, "could not read file \"" MARK_FILE "\"");
	close(file);
	if (octets < 0)
		return MARK_FAILED;

	if (octets != sizeof(record) || record.magic != MARK_MAGIC || record.format != MARK_FORMAT ||
		!EQ_CRC32C(record.crc, record_crc(&record)))
		return MARK_DAMAGED;
	*mark = record.mark;
	return MARK_FOUND;
}

/* Write the record, durably. */
bool
uuid9562_write_mark(const Mark *mark, MarkFailure *failure)
{
	MarkRecord	record;
	int			file;

	memset(&record, 0, sizeof(record));
	record.magic = MARK_MAGIC;
	record.format = MARK_FORMAT;
	memcpy(&record.mark, mark, sizeof(Mark));
	record.crc = record_crc(&record);

	file = BasicOpenFile(MARK_FILE_NEW, O_CREAT | O_TRUNC | O_WRONLY | PG_BINARY);
	if (file < 0)
		return fail(failure, "could not create file \"" MARK_FILE_NEW "\"");
	errno = 0;
	if (write(file, &record, sizeof(record)) != sizeof(record) || pg_fsync(file) != 0)
	{
		/* if write didn't set errno, assume problem is no disk space */
		if (errno == 0)
			errno = ENOSPC;
		fail(failure, "could not write file \"" MARK_FILE_NEW "\"");
		close(file);
		unlink(MARK_FILE_NEW);
		return false;
	}
	if (close(file) != 0)
		return fail(failure, "could not close file \"" MARK_FILE_NEW "\"");
	if (durable_rename(MARK_FILE_NEW, MARK_FILE, LOG_SERVER_ONLY) != 0)
	{
		errno = 0;
		return fail(failure, "could not rename file \"" MARK_FILE_NEW "\" to \"" MARK_FILE "\"");
	}
	return true;
}

void
uuid9562_report_damaged_mark(void)
{
	ereport(LOG,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("file \"%s\" is damaged", MARK_FILE),
			 errdetail("UUIDs of uuid9562.monotonic_scope = instance go on from the time of the clock.")));
}

void
uuid9562_report_failed_mark(const MarkFailure *failure, int elevel)
{
	errno = failure->error;
	if (errno != 0)
		ereport(elevel,
				(errcode_for_file_access(),
				 errmsg("%s: %m", failure->what)));
	else
		ereport(elevel,
				(errcode(ERRCODE_IO_ERROR),
				 errmsg("%s", failure->what),
				 errdetail("The server log has the reason.")));
}
