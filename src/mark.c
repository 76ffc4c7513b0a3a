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

/*
 * Read the record.  A damaged one is reported in the log; a file that cannot
 * be read is an error, since nobody knows what it says.
 */
MarkFound
uuid9562_read_mark(Mark *mark)
{
	MarkRecord	record;
	ssize_t		octets;
	int			file = OpenTransientFile(MARK_FILE, O_RDONLY | PG_BINARY);

	if (file < 0)
	{
		if (errno == ENOENT)
			return MARK_MISSING;
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not open file \"%s\": %m", MARK_FILE)));
	}
	octets = read(file, &record, sizeof(record));
	if (octets < 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read file \"%s\": %m", MARK_FILE)));
	CloseTransientFile(file);

	if (octets != sizeof(record) || record.magic != MARK_MAGIC || record.format != MARK_FORMAT ||
		!EQ_CRC32C(record.crc, record_crc(&record)))
	{
		ereport(LOG,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("file \"%s\" is damaged", MARK_FILE),
				 errdetail("UUIDs of uuid9562.monotonic_scope = instance go on from the time of the clock.")));
		return MARK_DAMAGED;
	}
	*mark = record.mark;
	return MARK_FOUND;
}

/* Write the record, durably.  When that fails, report it at elevel. */
bool
uuid9562_write_mark(const Mark *mark, int elevel)
{
	MarkRecord	record;
	int			file;
	bool		written;

	memset(&record, 0, sizeof(record));
	record.magic = MARK_MAGIC;
	record.format = MARK_FORMAT;
	memcpy(&record.mark, mark, sizeof(Mark));
	record.crc = record_crc(&record);

	file = OpenTransientFile(MARK_FILE_NEW, O_CREAT | O_TRUNC | O_WRONLY | PG_BINARY);
	if (file < 0)
	{
		ereport(elevel,
				(errcode_for_file_access(),
				 errmsg("could not create file \"%s\": %m", MARK_FILE_NEW)));
		return false;
	}
	errno = 0;
	written = write(file, &record, sizeof(record)) == sizeof(record) && pg_fsync(file) == 0;
	if (!written)
	{
		/* if write didn't set errno, assume problem is no disk space */
		int			save_errno = errno ? errno : ENOSPC;

		CloseTransientFile(file);
		unlink(MARK_FILE_NEW);
		errno = save_errno;
		ereport(elevel,
				(errcode_for_file_access(),
				 errmsg("could not write file \"%s\": %m", MARK_FILE_NEW)));
		return false;
	}
	if (CloseTransientFile(file) != 0)
	{
		ereport(elevel,
				(errcode_for_file_access(),
				 errmsg("could not close file \"%s\": %m", MARK_FILE_NEW)));
		return false;
	}
	return durable_rename(MARK_FILE_NEW, MARK_FILE, elevel) == 0;
}
