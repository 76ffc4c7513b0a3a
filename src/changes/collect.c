/*
 * collect.c
 *		The keys that the transaction in progress has changed.
 *
 * The trigger appends an entry to a buffer for each key of an old or new row.  Before the
 * transaction commits or is prepared, a callback writes the entries to the logs, each key once.
 * Deferred triggers would not do: PostgreSQL refuses ALTER TABLE while the table has pending
 * trigger events, and a logical replication worker cannot execute deferred triggers with the rights
 * of another role.
 *
 * The buffer consists of runs: entries that follow each other and belong to one subtransaction in
 * progress.  When a subtransaction rolls back, its runs are removed.  When it commits, its runs
 * become its parent's.  If the buffer reaches half of work_mem, the repeated keys of each run are
 * removed.  If this is not enough, the buffer is written to a temporary file as a batch.  Entries
 * in the file keep their subtransactions, so the file also needs a list of those that have rolled
 * back.
 *
 * Each batch is written with each key once.  So if a transaction has several batches, a key can
 * have several entries, in the order of its changes.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "commands/tablespace.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

/* An entry in the buffer.  Its tuple follows at the next aligned address. */
typedef struct Entry
{
	uint32		length;			/* of the tuple */
	int			log;			/* number of the log */
	bool		repeated;		/* does the key follow again? */
} Entry;

#define ENTRY_SIZE(length)	(MAXALIGN(sizeof(Entry)) + MAXALIGN(length))
#define ENTRY_TUPLE(entry)	((HeapTupleHeader) ((char *) (entry) + MAXALIGN(sizeof(Entry))))

typedef struct Run
{
	SubTransactionId subtransaction;
	Size		start;			/* of the first entry */
} Run;

/* Entries in memory */
typedef struct KeyBuffer
{
	char	   *entries;
	Size		used;
	Size		size;
	Run		   *runs;
	Size		run_count;
	Size		run_size;
} KeyBuffer;

/* Subtransactions that have rolled back: first to last.  A later range has greater numbers. */
typedef struct AbortedRange
{
	SubTransactionId first;
	SubTransactionId last;
} AbortedRange;

/* Numbers of a batch in the file.  Its runs and then its entries follow. */
typedef struct BatchHeader
{
	Size		used;
	Size		run_count;
} BatchHeader;

/* All of this is in TopTransactionContext, and zeros between transactions. */
static struct
{
	KeyBuffer	buffer;
	BufFile    *file;			/* earlier batches, or NULL */
	bool		file_failed;	/* has a batch been written incompletely? */
	int			batch_count;
	Size		runs_in_file;
	SubTransactionId last_in_file;
	AbortedRange *aborted;
	Size		aborted_count;
	Size		aborted_size;
	bool		committing;		/* have the entries been written? */
}			collected;

/* --- keys --------------------------------------------------------------------------- */

/* Where the bytes of an entry begin that depend on the key: the bitmap of NULLs and the values. */
#define KEY_START	offsetof(HeapTupleHeaderData, t_bits)

/*
 * Check whether two entries of one log have the same key.  Keys are the same if their bytes are the
 * same, so 'a' and 'A' are different keys even if a case-insensitive type regards them as equal.
 */
static inline bool
same_key(HeapTupleHeader a, uint32 length_a, HeapTupleHeader b, uint32 length_b)
{
	return length_a == length_b && a->t_hoff == b->t_hoff &&
		memcmp((const char *) a + KEY_START, (const char *) b + KEY_START,
			   length_a - KEY_START) == 0;
}

static inline bool
same_entry(const Entry *a, const Entry *b)
{
	return a->log == b->log && same_key(ENTRY_TUPLE(a), a->length, ENTRY_TUPLE(b), b->length);
}

static inline uint32
hash_entry(const Entry *entry)
{
	return hash_bytes((const unsigned char *) ENTRY_TUPLE(entry) + KEY_START,
					  (int) (entry->length - KEY_START));
}

typedef struct LastEntry
{
	Entry	   *entry;
	uint32		hash;
	char		status;
} LastEntry;

#define SH_PREFIX				last_entries
#define SH_ELEMENT_TYPE			LastEntry
#define SH_KEY_TYPE				Entry *
#define SH_KEY					entry
#define SH_HASH_KEY(table, key)	hash_entry(key)
#define SH_EQUAL(table, a, b)	same_entry(a, b)
#define SH_STORE_HASH
#define SH_GET_HASH(table, element)	(element)->hash
#define SH_SCOPE				static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* --- buffer ------------------------------------------------------------------------- */

/*
 * Return an array that has room for a number of elements.  If memory cannot be allocated, nothing
 * has changed, because the transaction can go on after the error.
 */
static void *
enlarge(void *array, Size *size, Size needed, Size element)
{
	Size		enlarged = Max(needed, Min(2 * *size, MaxAllocHugeSize / element));

	if (needed <= *size)
		return array;
	array = array == NULL ?
		MemoryContextAllocHuge(TopTransactionContext, enlarged * element) :
		repalloc_huge(array, enlarged * element);
	*size = enlarged;
	return array;
}

static inline Entry *
entry_at(const KeyBuffer *buffer, Size offset)
{
	return (Entry *) (buffer->entries + offset);
}

static inline Size
run_end(const KeyBuffer *buffer, Size run)
{
	return run + 1 < buffer->run_count ? buffer->runs[run + 1].start : buffer->used;
}

/* Mark the entries of a run whose keys follow again in the run. */
static void
mark_repeated(const KeyBuffer *buffer, Size run)
{
	Size		start = buffer->runs[run].start;
	Size		end = run_end(buffer, run);
	Size		first_size = ENTRY_SIZE(entry_at(buffer, start)->length);
	last_entries_hash *last;

	if (end - start == first_size)
		return;					/* the only entry */
	last = last_entries_create(CurrentMemoryContext, (end - start) / first_size, NULL);
	for (Size offset = start; offset < end;)
	{
		Entry	   *entry = entry_at(buffer, offset);
		bool		found;
		LastEntry  *element = last_entries_insert(last, entry, &found);

		if (found)
			element->entry->repeated = true;
		element->entry = entry;
		offset += ENTRY_SIZE(entry->length);
	}
	last_entries_destroy(last);
}

/* Remove the entries of each run whose keys follow again in the run. */
static void
remove_repeated(KeyBuffer *buffer)
{
	Size		used = 0;

	for (Size run = 0; run < buffer->run_count; run++)
		mark_repeated(buffer, run);
	for (Size run = 0; run < buffer->run_count; run++)
	{
		Size		end = run_end(buffer, run);
		Size		offset = buffer->runs[run].start;

		buffer->runs[run].start = used;
		while (offset < end)
		{
			Entry	   *entry = entry_at(buffer, offset);
			Size		size = ENTRY_SIZE(entry->length);

			if (!entry->repeated)
			{
				memmove(buffer->entries + used, entry, size);
				used += size;
			}
			offset += size;
		}
	}
	buffer->used = used;
}

/* Make room for a number of bytes in total. */
static void
enlarge_entries(KeyBuffer *buffer, Size size)
{
	buffer->entries = enlarge(buffer->entries, &buffer->size, size, 1);
}

/* Make room for a number of runs in total. */
static void
enlarge_runs(KeyBuffer *buffer, Size count)
{
	buffer->runs = enlarge(buffer->runs, &buffer->run_size, count, sizeof(Run));
}

/* --- file --------------------------------------------------------------------------- */

/* Create the file, which must not end with the subtransaction in progress. */
static BufFile *
create_file(void)
{
	MemoryContext caller = MemoryContextSwitchTo(TopTransactionContext);
	ResourceOwner owner = CurrentResourceOwner;
	BufFile    *file;

	PrepareTempTablespaces();	/* reads catalogs, so before the next line */
	CurrentResourceOwner = TopTransactionResourceOwner;
	file = BufFileCreateTemp(false);
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(caller);
	return file;
}

/*
 * Raise an error if a batch has been written incompletely, for example because the disk was full.
 * The transaction can have caught that error, but it cannot commit.
 */
static void
check_file(void)
{
	if (collected.file_failed)
		ereport(ERROR,
				(errcode(ERRCODE_IO_ERROR),
				 errmsg("could not write all changed keys to a temporary file earlier in this transaction")));
}

/* Write the buffer to the file as a batch, and empty it. */
static void
write_batch(KeyBuffer *buffer)
{
	BatchHeader header = {buffer->used, buffer->run_count};

	check_file();
	if (collected.file == NULL)
		collected.file = create_file();
	/* make room for a range of each run, since add_aborted() must not fail */
	collected.aborted = enlarge(collected.aborted, &collected.aborted_size,
								collected.runs_in_file + buffer->run_count, sizeof(AbortedRange));
	collected.file_failed = true;
	BufFileWrite(collected.file, &header, sizeof(header));
	BufFileWrite(collected.file, buffer->runs, buffer->run_count * sizeof(Run));
	BufFileWrite(collected.file, buffer->entries, buffer->used);
	collected.file_failed = false;
	collected.batch_count++;
	collected.runs_in_file += buffer->run_count;
	collected.last_in_file = Max(collected.last_in_file,
								 buffer->runs[buffer->run_count - 1].subtransaction);
	buffer->used = 0;
	buffer->run_count = 0;
}

/* Read the next batch of the file. */
static void
read_batch(KeyBuffer *buffer)
{
	BatchHeader header;

	BufFileReadExact(collected.file, &header, sizeof(header));
	enlarge_runs(buffer, header.run_count);
	enlarge_entries(buffer, header.used);
	BufFileReadExact(collected.file, buffer->runs, header.run_count * sizeof(Run));
	BufFileReadExact(collected.file, buffer->entries, header.used);
	buffer->run_count = header.run_count;
	buffer->used = header.used;
}

/* Remember that a subtransaction with entries in the file has rolled back. */
static void
add_aborted(SubTransactionId subtransaction)
{
	/* subtransactions that it contained have greater numbers */
	AbortedRange range = {subtransaction, collected.last_in_file};

	if (collected.file == NULL || collected.last_in_file < subtransaction)
		return;
	while (collected.aborted_count > 0 &&
		   collected.aborted[collected.aborted_count - 1].last + 1 >= range.first)
	{
		collected.aborted_count--;
		range.first = Min(range.first, collected.aborted[collected.aborted_count].first);
	}
	Assert(collected.aborted_count < collected.aborted_size);
	collected.aborted[collected.aborted_count++] = range;
}

/* Check whether a subtransaction with entries in the file has rolled back. */
static bool
is_aborted(SubTransactionId subtransaction)
{
	Size		low = 0;
	Size		high = collected.aborted_count;

	while (low < high)
	{
		Size		middle = (low + high) / 2;

		if (subtransaction > collected.aborted[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < collected.aborted_count && subtransaction >= collected.aborted[low].first;
}

/* --- callbacks ---------------------------------------------------------------------- */

/* Remove the runs of aborted subtransactions, and join the others, which have committed. */
static void
remove_aborted(KeyBuffer *buffer)
{
	Size		used = 0;

	for (Size run = 0; run < buffer->run_count; run++)
	{
		Size		start = buffer->runs[run].start;
		Size		size = run_end(buffer, run) - start;

		if (is_aborted(buffer->runs[run].subtransaction))
			continue;
		memmove(buffer->entries + used, buffer->entries + start, size);
		used += size;
	}
	buffer->used = used;
	buffer->run_count = used > 0 ? 1 : 0;
	buffer->runs[0].start = 0;
}

/* Write the entries of the buffer, which consist of at most one run, to the logs, and empty it. */
static void
write_buffer(KeyBuffer *buffer)
{
	remove_repeated(buffer);
	for (Size offset = 0; offset < buffer->used;)
	{
		Entry	   *entry = entry_at(buffer, offset);

		uuid9562_write_entry(entry->log, ENTRY_TUPLE(entry), entry->length);
		offset += ENTRY_SIZE(entry->length);
		CHECK_FOR_INTERRUPTS();
	}
	uuid9562_write_pending_entries();
	buffer->used = 0;
	buffer->run_count = 0;
}

/* Write the batches of the file to the logs. */
static void
write_file(KeyBuffer *buffer)
{
	if (BufFileSeek(collected.file, 0, 0, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not rewind temporary file of changed keys")));
	for (int i = 0; i < collected.batch_count; i++)
	{
		read_batch(buffer);
		remove_aborted(buffer);
		write_buffer(buffer);
	}
	BufFileClose(collected.file);
	collected.file = NULL;
	collected.batch_count = 0;
	collected.runs_in_file = 0;
	collected.aborted_count = 0;
}

/* Write all entries to the logs. */
static void
write_collected(void)
{
	KeyBuffer  *buffer = &collected.buffer;
	bool		read_only = XactReadOnly;
	MemoryContext context;
	MemoryContext caller;

	check_file();
	if (buffer->used == 0 && collected.file == NULL)
		return;
	if (buffer->used > 0 && collected.file != NULL)
		write_batch(buffer);

	context = AllocSetContextCreate(TopTransactionContext, "uuid9562 writing logs",
									ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	/* a transaction can become read-only after it has written */
	XactReadOnly = false;
	PushActiveSnapshot(GetTransactionSnapshot());
	uuid9562_open_logs();
	if (collected.file != NULL)
		write_file(buffer);
	else
		write_buffer(buffer);
	uuid9562_close_logs();
	PopActiveSnapshot();
	XactReadOnly = read_only;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			write_collected();
			collected.committing = true;
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_COMMIT:
			if (event != XACT_EVENT_COMMIT)
				uuid9562_forget_verified();
			memset(&collected, 0, sizeof(collected));
			uuid9562_forget_logs();
			break;
		default:
			break;
	}
}

/*
 * Subtransaction callback: remove the runs of a subtransaction that rolls back, and give the runs
 * of one that commits to its parent.
 *
 * These runs are the last ones of the buffer, because the older runs belong to the parent and its
 * ancestors, which collect no keys meanwhile and have smaller numbers.
 */
static void
at_subtransaction_event(SubXactEvent event, SubTransactionId ended, SubTransactionId parent,
						void *arg)
{
	KeyBuffer  *buffer = &collected.buffer;
	bool		committed = event == SUBXACT_EVENT_COMMIT_SUB;
	Size		older = buffer->run_count;	/* number of older runs */

	if (!committed && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	while (older > 0 && buffer->runs[older - 1].subtransaction >= ended)
		older--;
	if (!committed)
	{
		if (older < buffer->run_count)
			buffer->used = buffer->runs[older].start;
		buffer->run_count = older;
		add_aborted(ended);
		uuid9562_forget_verified();
	}
	else if (older < buffer->run_count)
	{
		/* join the runs, also with the run before them if that is the parent's */
		buffer->runs[older].subtransaction = parent;
		buffer->run_count = older + 1;
		if (older > 0 && buffer->runs[older - 1].subtransaction == parent)
			buffer->run_count = older;
	}
	uuid9562_end_subtransaction_of_logs(committed, ended, parent);
}

/* --- for the trigger ---------------------------------------------------------------- */

/* Make room for a number of bytes, within half of work_mem if possible. */
static void
make_room(KeyBuffer *buffer, Size size)
{
	Size		limit = (Size) work_mem * 1024 / 2;

	if (buffer->used + size > limit && buffer->used > 0)
	{
		remove_repeated(buffer);
		/* if little room was gained, the next search would come too soon */
		if (buffer->used + size > limit / 2)
			write_batch(buffer);
	}
	enlarge_entries(buffer, Max(buffer->used + size, 1024));
}

/* Append an entry to the buffer. */
static void
append(int log, HeapTuple tuple)
{
	KeyBuffer  *buffer = &collected.buffer;
	SubTransactionId current = GetCurrentSubTransactionId();
	Entry	   *entry;

	make_room(buffer, ENTRY_SIZE(tuple->t_len));
	if (buffer->run_count == 0 || buffer->runs[buffer->run_count - 1].subtransaction != current)
	{
		enlarge_runs(buffer, buffer->run_count + 1);
		buffer->runs[buffer->run_count].subtransaction = current;
		buffer->runs[buffer->run_count++].start = buffer->used;
	}
	entry = entry_at(buffer, buffer->used);
	entry->length = tuple->t_len;
	entry->log = log;
	entry->repeated = false;
	memcpy(ENTRY_TUPLE(entry), tuple->t_data, tuple->t_len);
	buffer->used += ENTRY_SIZE(tuple->t_len);
}

/*
 * Collect the key of a row for all logs of its table, and then the key of its new version, unless
 * new_row is NULL.  If row is NULL, collect that any row can have changed.
 */
void
uuid9562_collect(const ChangesSource *source, HeapTuple row, HeapTuple new_row, TupleDesc desc)
{
	for (int i = 0; i < source->count; i++)
	{
		const ChangesTarget *target = &source->targets[i];
		int			number;
		const ChangesLog *log = uuid9562_use_log(target, &number);
		HeapTuple	entry;
		HeapTuple	new_entry;

		if (log == NULL)
			continue;
		entry = uuid9562_form_entry(log, target, row, desc);
		append(number, entry);
		if (new_row != NULL)
		{
			new_entry = uuid9562_form_entry(log, target, new_row, desc);
			if (!same_key(entry->t_data, entry->t_len, new_entry->t_data, new_entry->t_len))
				append(number, new_entry);
			heap_freetuple(new_entry);
		}
		heap_freetuple(entry);
	}

	/*
	 * after our callback, only a callback of another extension can change
	 * rows
	 */
	if (collected.committing)
		write_collected();
}

/* Register the callbacks when the library is loaded. */
void
uuid9562_changes_init(void)
{
	RegisterXactCallback(at_transaction_event, NULL);
	RegisterSubXactCallback(at_subtransaction_event, NULL);
}
