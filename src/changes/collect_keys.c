/*
 * collect_keys.c
 *		The keys that the transaction in progress has changed.
 *
 * The trigger appends an entry to a stack for each key of an old or new row.  Before the
 * transaction commits or is prepared, a callback writes the entries to the log, each key once.
 * Deferred triggers would not do: PostgreSQL refuses ALTER TABLE while the table has pending
 * trigger events, and a logical replication worker cannot execute deferred triggers with the rights
 * of another role.
 *
 * The stack consists of runs: entries that follow each other and belong to one subtransaction in
 * progress.  When a subtransaction rolls back, its run is the last one and is removed.  When it
 * commits, its run becomes its parent's.
 *
 * The end of the stack is in memory.  If this part reaches half of work_mem, the repeated keys of
 * each run are removed.  If this is not enough, the part is appended to a temporary file, so a key
 * can have several entries in the log, in the order of its changes.
 */
#include "changes/changes.h"

#include "access/xact.h"
#include "commands/tablespace.h"
#include "miscadmin.h"
#include "storage/buffile.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

/* An entry, which the bytes of its key follow.  Without bytes, any row can have changed. */
typedef struct Entry
{
	uint32		length:31;		/* of the bytes */
	uint32		repeated:1;		/* does the key follow again in its run? */
	Oid			source;			/* the tracked table */
} Entry;

StaticAssertDecl(sizeof(Entry) == MAXALIGN(sizeof(Entry)), "entries must be aligned");
#define ENTRY_SIZE(length)	(sizeof(Entry) + MAXALIGN(length))
#define ENTRY_BYTES(entry)	((char *) ((entry) + 1))

/* The entries of a subtransaction, up to the next run */
typedef struct Run
{
	SubTransactionId subtransaction;
	uint64		start;			/* offset of the first entry in the stack */
} Run;

/* All of this is in TopTransactionContext, and zeros between transactions. */
static struct
{
	BufFile    *file;			/* the first entries, or NULL */
	uint64		file_used;		/* the file can be longer */
	bool		file_failed;	/* was the last write incomplete? */
	char	   *entries;		/* the other entries */
	Size		used;
	Size		size;
	Run		   *runs;
	Size		run_count;
	Size		run_size;
	bool		written;		/* has COMMIT or PREPARE written the entries? */
}			stack;

/* --- keys ------------------------------------------------------------------------- */

static inline KeyBytes
entry_key(const Entry *entry)
{
	const KeyBytes key = {entry->length, ENTRY_BYTES(entry)};

	return key;
}

static inline bool
same_entry(const Entry *a, const Entry *b)
{
	return a->source == b->source && uuid9562_same_key(entry_key(a), entry_key(b));
}

static inline uint32
hash_entry(const Entry *entry)
{
	return uuid9562_hash_key(entry_key(entry)) ^ entry->source;
}

/* The last entry of a key, while a run is searched for repeated keys */
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

/* --- stack ------------------------------------------------------------------------ */

/*
 * Return an array that has room for "needed" elements instead of *size.  If memory cannot be
 * allocated, change nothing, since the transaction can go on after the error.
 */
static void *
enlarge(void *array, Size *size, Size needed, Size element_size)
{
	Size		enlarged = Max(needed, Min(2 * *size, MaxAllocHugeSize / element_size));

	if (needed <= *size)
		return array;
	array = array == NULL ?
		MemoryContextAllocHuge(TopTransactionContext, enlarged * element_size) :
		repalloc_huge(array, enlarged * element_size);
	*size = enlarged;
	return array;
}

static inline Entry *
entry_at(Size offset)
{
	return (Entry *) (stack.entries + offset);
}

/* Return where the part of a run that is in memory begins, or where the last run ends. */
static inline Size
run_offset(Size run)
{
	if (run == stack.run_count)
		return stack.used;
	return Max(stack.runs[run].start, stack.file_used) - stack.file_used;
}

/* Mark the entries in memory whose keys follow again in the same run. */
static void
mark_repeated(Size run)
{
	Size		start = run_offset(run);
	Size		end = run_offset(run + 1);
	uint32		count = 0;
	last_entries_hash *last;

	for (Size offset = start; offset < end; offset += ENTRY_SIZE(entry_at(offset)->length))
		count++;
	if (count < 2)
		return;
	last = last_entries_create(CurrentMemoryContext, count, NULL);
	for (Size offset = start; offset < end;)
	{
		Entry	   *entry = entry_at(offset);
		bool		found;
		LastEntry  *element = last_entries_insert(last, entry, &found);

		if (found)
			element->entry->repeated = true;
		element->entry = entry;
		offset += ENTRY_SIZE(entry->length);
		CHECK_FOR_INTERRUPTS();
	}
	last_entries_destroy(last);
}

/* Remove the entries in memory whose keys follow again in the same run. */
static void
remove_repeated(void)
{
	Size		used = 0;

	/* this can raise an error, so nothing may have moved yet */
	for (Size run = 0; run < stack.run_count; run++)
		mark_repeated(run);
	for (Size run = 0; run < stack.run_count; run++)
	{
		Size		offset = run_offset(run);
		Size		end = run_offset(run + 1);

		/* a run that begins in the file keeps its start */
		if (stack.runs[run].start > stack.file_used)
			stack.runs[run].start = stack.file_used + used;
		while (offset < end)
		{
			Entry	   *entry = entry_at(offset);
			Size		size = ENTRY_SIZE(entry->length);

			if (!entry->repeated)
			{
				memmove(stack.entries + used, entry, size);
				used += size;
			}
			offset += size;
		}
	}
	stack.used = used;
}

/* Create the file, which must not end with the subtransaction in progress. */
static BufFile *
create_temporary_file(void)
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
 * Raise an error if a write to the file was incomplete, for example because the disk was full.  The
 * transaction can have caught that error, but it cannot commit.
 */
static void
check_file(void)
{
	if (stack.file_failed)
		ereport(ERROR,
				(errcode(ERRCODE_IO_ERROR),
				 errmsg("could not write all changed keys to a temporary file earlier in this transaction")));
}

static void
seek(uint64 offset)
{
	if (BufFileSeek(stack.file, 0, (off_t) offset, SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in temporary file of changed keys")));
}

/* Move the entries in memory to the file. */
static void
write_file(void)
{
	check_file();
	if (stack.file == NULL)
		stack.file = create_temporary_file();
	stack.file_failed = true;	/* until all is written */
	seek(stack.file_used);
	BufFileWrite(stack.file, stack.entries, stack.used);
	stack.file_failed = false;
	stack.file_used += stack.used;
	stack.used = 0;
}

/* Make room in memory for a number of bytes, within half of work_mem if possible. */
static void
make_room(Size size)
{
	Size		limit = (Size) work_mem * 1024 / 2;

	if (stack.used + size > limit && stack.used > 0)
	{
		remove_repeated();
		/* if little room was gained, the next search would come too soon */
		if (stack.used + size > limit / 2)
			write_file();
	}
	stack.entries = enlarge(stack.entries, &stack.size, Max(stack.used + size, 1024), 1);
}

/* Append the entry for a key of a tracked table. */
static void
append(Oid source, KeyBytes key)
{
	SubTransactionId current = GetCurrentSubTransactionId();
	Entry	   *entry;

	make_room(ENTRY_SIZE(key.length));
	if (stack.run_count == 0 || stack.runs[stack.run_count - 1].subtransaction != current)
	{
		stack.runs = enlarge(stack.runs, &stack.run_size, stack.run_count + 1, sizeof(Run));
		stack.runs[stack.run_count].subtransaction = current;
		stack.runs[stack.run_count++].start = stack.file_used + stack.used;
	}
	entry = entry_at(stack.used);
	entry->length = key.length;
	entry->repeated = false;
	entry->source = source;
	if (key.length > 0)
		memcpy(ENTRY_BYTES(entry), key.bytes, key.length);
	stack.used += ENTRY_SIZE(key.length);
}

static void
remove_run(void)
{
	uint64		start = stack.runs[--stack.run_count].start;

	stack.used = start > stack.file_used ? start - stack.file_used : 0;
	stack.file_used = Min(start, stack.file_used);
}

/* --- end of transactions ---------------------------------------------------------- */

/* Write the entries in memory to the log, and remove them. */
static void
write_entries(void)
{
	remove_repeated();
	for (Size offset = 0; offset < stack.used;)
	{
		Entry	   *entry = entry_at(offset);

		uuid9562_note_wake(entry->source);
		uuid9562_write_entry(entry->source, entry_key(entry));
		offset += ENTRY_SIZE(entry->length);
		CHECK_FOR_INTERRUPTS();
	}
	stack.used = 0;
}

/* Write the entries in the file to the log, as many at a time as were in memory. */
static void
write_entries_of_file(void)
{
	seek(0);
	for (uint64 offset = 0; offset < stack.file_used;)
	{
		Entry		entry;
		Size		size;

		BufFileReadExact(stack.file, &entry, sizeof(Entry));
		size = ENTRY_SIZE(entry.length);
		if (stack.used + size > stack.size)
			write_entries();
		stack.entries = enlarge(stack.entries, &stack.size, stack.used + size, 1);
		*entry_at(stack.used) = entry;
		BufFileReadExact(stack.file, ENTRY_BYTES(entry_at(stack.used)), MAXALIGN(entry.length));
		stack.used += size;
		offset += size;
	}
	write_entries();
	BufFileClose(stack.file);
}

/*
 * Write an entry for each collected key, before the transaction commits or is prepared.
 *
 * A transaction can be READ ONLY by now: it has become so after it wrote, or changes_read() has
 * collected the keys of a new partition.  Writing the log does not depend on this, because no
 * user writes it.  An error aborts the transaction, and the next one sets XactReadOnly anew.  TOAST
 * of long keys requires the snapshot.
 */
static void
write_stack(void)
{
	bool		read_only = XactReadOnly;
	MemoryContext context;
	MemoryContext caller;

	check_file();
	if (stack.run_count == 0 && stack.file == NULL)
		return;
	Assert(stack.run_count <= 1);	/* no subtransaction is in progress */
	if (stack.file != NULL)
		write_file();			/* after the entries that came before */

	context = AllocSetContextCreate(TopTransactionContext, "uuid9562 writing changed keys",
									ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	XactReadOnly = false;
	PushActiveSnapshot(GetTransactionSnapshot());

	/*
	 * if the transaction has dropped the extension, nobody can read the
	 * entries
	 */
	if (uuid9562_open_log())
	{
		if (stack.file != NULL)
			write_entries_of_file();
		else
			write_entries();
		uuid9562_close_log();
		uuid9562_note_purge(false);
	}
	else if (stack.file != NULL)
		BufFileClose(stack.file);
	stack.file = NULL;
	stack.file_used = 0;
	stack.run_count = 0;
	stack.used = 0;
	PopActiveSnapshot();
	XactReadOnly = read_only;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* Write the collected keys to the log, and from now on each key at once. */
void
uuid9562_write_collected(void)
{
	write_stack();
	stack.written = true;
}

void
uuid9562_forget_collected(void)
{
	memset(&stack, 0, sizeof(stack));
	uuid9562_forget_log();
}

/*
 * Give the run of a subtransaction that commits to its parent, or remove that of one that rolls
 * back.
 *
 * The subtransaction's run is the last one, because all others belong to the parent and its
 * ancestors, which collect no keys meanwhile.
 */
void
uuid9562_end_collecting(bool is_commit, SubTransactionId ended, SubTransactionId parent)
{
	Run		   *last = stack.run_count > 0 ? &stack.runs[stack.run_count - 1] : NULL;

	if (last == NULL || last->subtransaction != ended)
		return;
	if (!is_commit)
		remove_run();
	else if (stack.run_count > 1 && last[-1].subtransaction == parent)
		stack.run_count--;		/* join the parent's own run */
	else
		last->subtransaction = parent;
}

/* --- for the trigger -------------------------------------------------------------- */

/*
 * Collect a key of a tracked table that the transaction has changed.  If new_key is not NULL, and
 * is another key, collect it too.
 */
void
uuid9562_collect(Oid source, KeyBytes key, const KeyBytes *new_key)
{
	uuid9562_prepare_log();
	append(source, key);
	if (new_key != NULL && !uuid9562_same_key(key, *new_key))
		append(source, *new_key);
	/* a later callback, of another extension, has changed the row */
	if (stack.written)
		write_stack();
}
