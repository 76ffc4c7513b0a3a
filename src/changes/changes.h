/*
 * changes.h
 *		The log of changed keys, and the readers of changes: what the files of this folder offer
 *		each other.
 *
 * A table is tracked if it has a row trigger of log_trigger().  The trigger is dumped with the
 * table, and is all that decides whether changes are logged.  One table of the extension, "log",
 * has the entries of all tracked tables: the table's OID, an ordered ID, and a key.  A NULL key
 * means that any row can have changed.
 *
 * A reader gets pages, each with the changes up to a horizon, and confirms how far it has applied
 * them (core/reader.h).  The remembered state of a table (source.c) tells whether rows can have
 * changed without an entry: then the next page is a reset, and the reader copies the table.
 *
 * The way of a changed key:
 *
 *	 trigger.c			finds the tracked table and its key, and forms the bytes of the key (key.c)
 *	 collect_keys.c		keeps them until the transaction commits or is prepared
 *	 log.c				then writes an entry for each, with an ID that is greater than all before
 *
 * transaction.c calls them before and after the end of a transaction.  When src/ordered has
 * released the horizon, after_commit.c wakes other processes.  renew_table_states.c also collects
 * keys, those of the rows of a new partition.
 *
 * The way of a page to a reader:
 *
 *	 read.c			changes_read(); request.c checks what the caller asks for
 *	 parsed_types.c	notices statements that were parsed with another row type
 *	 reader.c		loads how far the reader is (core/reader.h), and stores it at the end
 *	 source.c		compares the table (table_state.c, compare_table_states.c) with its remembered
 *					states (table_state_rows.c), and these are replaced (renew_table_states.c)
 *	 page_start.c	finds out where the page begins, with the history of the server (place.c) and
 *					the files of a copy (table_files.c)
 *	 entries.c		reads the entries up to the horizon of the snapshot, below which none is missing
 *	 fetch_rows.c	reads the row of each key with a later snapshot, so a page can be newer than it
 *					says
 *	 confirm.c		changes_done()
 *
 * purge.c deletes entries, purge_worker.c does so in the background, and wait.c is changes_wait().
 * administration.c has the other functions.
 *
 * A session that reads locks the table, the reader, and the entries (locks.c), or the entries
 * before the reader if the target stores positions.  A function that waits for readers or entries
 * of others has no lock, or the lock of the table that excludes readers.  A transaction that has
 * called other functions can have more.
 *
 * A page is read again if the table has changed since its state was compared.  While the page
 * waited for locks, rows can have come that the compared state does not tell about.
 *
 * Invariant: for each committed change of a key, the log has an entry for the key, or one without a
 * key, whose ID is greater than the IDs of all entries for earlier changes of the key.
 *
 * This holds because a transaction generates the IDs of its entries after its last change and
 * before it releases its row locks.  Another transaction that changes the same key must wait for
 * these locks, so it generates its IDs later.  IDs increase across all sessions of the server,
 * except after a reset of the generator or a loss of WAL, which place.c notices.
 *
 * Only C writes the tables of the extension (own_tables.c, log.c), and nobody has privileges on
 * them.  So no trigger, rule, policy or expression of another role runs while entries are written
 * or read.
 */
#ifndef UUID9562_CHANGES_H
#define UUID9562_CHANGES_H

#include "compat.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "catalog/indexing.h"
#include "utils/array.h"
#include "utils/rel.h"
#include "utils/snapshot.h"
#include "utils/timestamp.h"

#include "core/page_position.h"

/* --- own_tables.c: the tables of the extension ---------------------------------------- */

/*
 * Return the version of a row of a system catalog: the transaction that has written it.  Each
 * change of a column, type or trigger writes a new row, and freezing keeps the number.  After 2^32
 * transactions, two versions could be equal.
 */
static inline TransactionId
row_version(HeapTuple row)
{
	return HeapTupleHeaderGetRawXmin(row->t_data);
}

/* Columns of log */
enum
{
	LOG_SOURCE = 1,
	LOG_ID,
	LOG_KEY,
	LOG_COLUMNS = LOG_KEY
};

/* Columns of reader */
enum
{
	READER_NAME = 1,
	READER_SOURCE,
	READER_OWNER,
	READER_IDENTITY,
	READER_CONFIRMED,
	READER_ACCEPTED_RESET,
	READER_BRANCH,
	READER_TIMELINE,
	READER_LSN,
	READER_SEEN,
	READER_IS_OUTSIDE,
	READER_PAGES,
	READER_COLUMNS = READER_PAGES
};

/* Columns of purged */
enum
{
	PURGED_SOURCE = 1,
	PURGED_ID,
	PURGED_BRANCH,
	PURGED_COLUMNS = PURGED_BRANCH
};

/* Scan of one of the tables by its index, in the order of the index */
typedef struct OwnScan
{
	Relation	rel;
	Relation	index;
	Snapshot	snapshot;
	SysScanDesc scan;
} OwnScan;

extern char *uuid9562_table_name(Oid relid);
extern void uuid9562_tables_init(void);
extern Oid	uuid9562_own_schema(void);
extern Oid	uuid9562_own_table(const char *name);
extern Relation uuid9562_try_open_own(const char *name, LOCKMODE mode);
extern Relation uuid9562_open_own(const char *name, LOCKMODE mode);
pg_noreturn extern void uuid9562_no_own_table(const char *name);
extern OwnScan uuid9562_scan_own(const char *name, LOCKMODE mode, int key_count, ScanKey keys);
extern HeapTuple uuid9562_next_own(OwnScan *scan, ScanDirection direction);
extern void uuid9562_end_own(OwnScan *scan);
extern List *uuid9562_gone_sources(void);
extern CatalogIndexState uuid9562_open_own_indexes(Relation rel);
extern void uuid9562_insert_own(Relation rel, Datum *values, bool *nulls);
extern TM_Result uuid9562_delete_own(Relation rel, HeapTuple tuple, bool wait);

/* --- key.c: primary keys ---------------------------------------------------------- */

/*
 * The key of a tracked table, and the columns that have it in the table or in a partition.  The
 * types are base types: a domain's CHECK must not run when a key is read.
 */
typedef struct Key
{
	Oid			constraint;
	Oid			index;			/* of the tracked table */
	int			count;			/* 0 if there is no usable key */
	uint32		hash;			/* of the tracked table's columns and of the
								 * types */
	AttrNumber	columns[INDEX_MAX_KEYS];
	Oid			types[INDEX_MAX_KEYS];
} Key;

/* The bytes of a key.  If length is 0, they stand for all rows. */
typedef struct KeyBytes
{
	uint32		length;
	char	   *bytes;
} KeyBytes;

extern void uuid9562_primary_key(Oid source, Key *key);
extern bool uuid9562_map_key(Key *key, Oid source, Oid relid);
extern KeyBytes uuid9562_form_key(const Key *key, HeapTuple row, TupleDesc desc);
extern bool uuid9562_read_key(const Key *key, KeyBytes bytes, Datum *values);
extern uint32 uuid9562_hash_key(KeyBytes key);
extern bool uuid9562_equal_keys_are_same(Relation index);
extern const char *uuid9562_key_problem(Oid index);

static inline bool
uuid9562_same_key(KeyBytes a, KeyBytes b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

/* --- trigger.c -------------------------------------------------------------------- */

/* The row trigger of a tracked table */
typedef struct TrackingTrigger
{
	Oid			oid;
	TransactionId xmin;			/* of its row in pg_trigger */
	int16		type;			/* as in pg_trigger */
	bool		is_usable;		/* ENABLE ALWAYS, without condition and
								 * columns */
	bool		has_arguments;	/* are its arguments valid? else they are
								 * zeros */
	bool		ignores_dropped_partitions;
	int64		reader_expiry;	/* in microseconds */
} TrackingTrigger;

/* What the triggers of a table or partition do for a tracked table; see uuid9562_scan_triggers() */
typedef struct TableTriggers
{
	int			roots;			/* number of row triggers that are no clones */
	TrackingTrigger root;		/* the last of them */
	int16		events;			/* of the usable row triggers, as in
								 * pg_trigger */
	bool		has_truncate;	/* is there a usable TRUNCATE trigger? */
	uint64		row_hash;		/* of the usable row triggers */
	uint64		truncate_hash;
	List	   *sources;		/* tracked tables for which all row triggers
								 * log */
} TableTriggers;

extern void uuid9562_scan_triggers(Oid relid, Oid source, TableTriggers *triggers);
extern int64 uuid9562_count_rows(Oid relid, int64 limit);
extern void uuid9562_collect_rows(Oid source, Oid relid);
extern void uuid9562_trigger_invalidated(Oid relid);

/* --- transaction.c, collect_keys.c and log.c -------------------------------------- */

extern void uuid9562_changes_init(void);

extern void uuid9562_collect(Oid source, KeyBytes key, const KeyBytes *new_key);
extern void uuid9562_write_collected(void);
extern void uuid9562_forget_collected(void);
extern void uuid9562_end_collecting(bool is_commit, SubTransactionId ended,
									SubTransactionId parent);

extern void uuid9562_prepare_log(void);
extern bool uuid9562_open_log(void);
extern void uuid9562_write_entry(Oid source, KeyBytes key);
extern void uuid9562_close_log(void);
extern void uuid9562_forget_log(void);

/*
 * Return the elements of an array that has no nulls.  ARR_DATA_PTR() mixes signed and unsigned
 * numbers.
 */
static inline void *
array_elements(ArrayType *array)
{
	return (char *) array + ARR_OVERHEAD_NONULLS(ARR_NDIM(array));
}

/* --- source.c, and the files of states of tables ---------------------------------- */

/* An array of numbers, most of which are hashes */
typedef struct Numbers
{
	int			count;
	int			size;
	uint64	   *values;
} Numbers;

/* Numbers of a part in State.parts, and of a partition in State.bounds */
enum
{
	PART_RELID,
	PART_FILE,					/* TRUNCATE and rewriting change it */
	PART_ROW_TRIGGERS,
	PART_TRUNCATE_TRIGGER,		/* 0 if there is none */
	PART_EXPRESSIONS,			/* of generated columns */
	PART_NUMBERS
};

/* The bound of a partition */
typedef struct PartBound
{
	Oid			relid;
	Oid			parent;
	bool		is_gone;		/* was the partition dropped and ignored? */
	char	   *bound;			/* as in pg_class */
} PartBound;

/*
 * What is remembered of a tracked table, in order to notice that rows can have changed without an
 * entry.  A number is a hash unless said otherwise.
 */
typedef struct State
{
	UuidReaderId identity;		/* what readers know it by */
	uint64		basis;			/* server, database, trigger, key */
	uint64		version;		/* versions of the columns of all parts */
	uint64		branch;			/* of ordered IDs, which changes at a restart */
	Numbers		columns;		/* each column of the table */
	Numbers		attributes;		/* each attribute of composite types */
	Numbers		labels;			/* each value of enums */
	Numbers		parts;			/* the table and its partitions */
	List	   *bounds;			/* of PartBound, if dropped partitions are
								 * ignored */
} State;

/* The arrays of a state, in the order of the columns of the table "state" */
#define STATE_ARRAYS	4

static inline Numbers *
state_array(State *state, int number)
{
	Numbers    *arrays[STATE_ARRAYS] = {
		&state->columns, &state->attributes, &state->labels, &state->parts
	};

	return arrays[number];
}

/* Columns of the table "state" */
enum
{
	STATE_SOURCE = 1,
	STATE_IDENTITY,
	STATE_BASIS,
	STATE_VERSION,
	STATE_BRANCH,
	STATE_FIRST_ARRAY,
	STATE_BOUNDS = STATE_FIRST_ARRAY + STATE_ARRAYS,	/* numbers of each
														 * PartBound */
	STATE_BOUND_TEXTS,
	STATE_COLUMNS = STATE_BOUND_TEXTS
};

typedef enum StateVerdict
{
	STATE_SAME,
	STATE_CHANGED,				/* remember the new state */
	STATE_LOST					/* rows can have changed without an entry */
} StateVerdict;

/* A remembered state, and its row */
typedef struct RememberedState
{
	State		state;
	HeapTuple	row;
	StateVerdict verdict;		/* of comparing it with the current state */
	List	   *added;			/* partitions that it lacks */
} RememberedState;

/* A state, with what is computed beside it */
typedef struct CurrentState
{
	State		state;
	char	   *problem;		/* why changes cannot be read, or NULL */
	const char *key_problem;	/* why those of this primary key cannot */
	TrackingTrigger trigger;
	Key			key;
	List	   *relids;			/* relations that it depends on */
	bool		wait;			/* for locks? */
	bool		has_added_rows; /* has a new partition rows? */
	List	   *locked;			/* what was locked without waiting */
	List	   *without_truncate;	/* parts without a TRUNCATE trigger */
} CurrentState;

/* A tracked table that this session reads.  It is valid until the next call. */
typedef struct Source
{
	Oid			relid;			/* must be first */
	bool		valid;			/* is the rest as in the catalogs? */
	bool		has_added_rows; /* did the last comparison find a new
								 * partition with rows? */
	bool		is_computing;
	int			relid_count;
	Oid		   *relids;			/* sorted; relations that it depends on */
	uint64		files;			/* hash of its files */
	uint64		hash;			/* of the state that was compared */
	int			identity_count;
	UuidReaderId *identities;	/* those compared with the current state */
	int64		reader_expiry;	/* in microseconds */
	Key			key;
} Source;

extern void uuid9562_add_number(Numbers *numbers, uint64 number);
extern void uuid9562_compute_state(Relation rel, CurrentState *current, bool wait);
extern void uuid9562_unlock_state(const CurrentState *current);
extern uint64 uuid9562_hash_files(Oid source);	/* table_files.c */
extern uint64 uuid9562_files_of_state(const State *state);
extern uint64 uuid9562_hash_state(const State *state);
extern bool uuid9562_may_overlap(const PartBound *gone, Oid relid);
extern StateVerdict uuid9562_compare_states(State *old, const CurrentState *current, List **added);
extern List *uuid9562_load_states(Oid source);
extern void uuid9562_store_state(Oid source, State *state);

extern bool uuid9562_are_current(const CurrentState *current, List *states);
extern List *uuid9562_renew_states(Oid source, CurrentState *current);
extern void uuid9562_remember_state(Oid source, CurrentState *current, UuidReaderId identity,
									List *states);

extern void uuid9562_sources_init(void);
extern Source *uuid9562_verify_source(Relation rel, uint64 branch);
extern bool uuid9562_has_identity(const Source *source, UuidReaderId identity);
extern Oid	uuid9562_identity_source(UuidReaderId identity);
extern void uuid9562_forget_states(Oid source, bool wait);
extern void uuid9562_forget_verified(void);
pg_noreturn extern void uuid9562_not_tracked(Oid relid);

/* --- locks.c ---------------------------------------------------------------------- */

extern void uuid9562_lock_entries_shared(Oid source);
extern void uuid9562_lock_entries_alone(Oid source);
extern bool uuid9562_try_lock_entries(Oid source);
extern void uuid9562_unlock_entries(Oid source);
extern bool uuid9562_lock_purge(Oid source);

/* --- parsed_types.c: statements that call changes_read() -------------------------- */

extern void uuid9562_row_types_init(void);
extern void uuid9562_check_row_type(Relation rel);

/* --- place.c: the history of the server ------------------------------------------- */

/* Where a server is, as positions have it */
typedef struct Place
{
	uint64		branch;
	uint32		timeline;
	XLogRecPtr	lsn;
} Place;

extern Place uuid9562_flushed_place(const char *function);
extern bool uuid9562_place_is_current(const char *function, const Place *place);
extern bool uuid9562_place_is_lost(const char *function, const Place *place, UuidReaderId id);

/* --- reader.c --------------------------------------------------------------------- */

/* The row of a reader */
typedef struct ReaderState
{
	char	   *name;
	Oid			source;
	bool		exists;			/* is there a row? */
	Oid			owner;
	UuidReaderId identity;
	uint64		accepted_reset; /* number of the page of the last reset that
								 * was confirmed, or 0 */
	Place		place;			/* where the confirmed ID was read */
	int64		seen;			/* timestamptz */
	bool		is_outside;		/* does the target store positions? */
	UuidReader	machine;
} ReaderState;

/* Up to which ID entries of a table can have been deleted */
typedef struct Purged
{
	UuidReaderId id;
	uint64		branch;			/* of ordered IDs, when it was stored */
} Purged;

extern bool uuid9562_lock_reader(const char *name, Oid source, bool wait);
extern void uuid9562_unlock_reader(const char *name, Oid source);
extern void uuid9562_load_reader(ReaderState *reader, const char *name, Oid source);
extern bool uuid9562_reader_exists(const char *name);
extern void uuid9562_store_reader(const ReaderState *reader);
extern void uuid9562_remove_reader(const char *name, Oid source);
extern void uuid9562_remove_readers(Oid source, bool wait);
extern Purged uuid9562_load_purged(Oid source);
extern UuidReaderId uuid9562_purged_for_readers(uint64 current, Purged purged);
extern UuidReaderId uuid9562_purged(const char *function, Oid source);
extern void uuid9562_store_purged(Oid source, Purged purged);
extern UuidReaderId uuid9562_id_before(int64 microseconds);
extern UuidReaderId uuid9562_kept_by_readers(Oid source, int64 reader_expiry, char **name);

/* --- entries.c and fetch_rows.c --------------------------------------------------- */

/* A key that a page has, with the ID of its last entry */
typedef struct PageKey
{
	UuidReaderId id;
	KeyBytes	key;
} PageKey;

typedef struct ChangesPage
{
	int			count;
	PageKey    *keys;			/* each key once, by ID */
	UuidReaderId end;			/* of the last entry */
	bool		is_reset;		/* does the page begin with an entry for all
								 * rows? */
} ChangesPage;

/* Where the rows of a page go */
typedef void (*RowReceiver) (void *arg, bool is_delete, Datum data, UuidReaderId end);

extern void uuid9562_read_page(const Source *source, UuidReaderId after, UuidReaderId horizon,
							   int64 limit, ChangesPage *page);
extern void uuid9562_each_entry(Relation rel, const Key *key,
								void (*receive) (void *arg, const UuidReaderId *id, Datum data,
												 bool has_data), void *arg);
extern Datum uuid9562_row_of_key(Relation rel, const Key *key, const Datum *key_values);
extern int64 uuid9562_delete_entries(Oid source, UuidReaderId after, UuidReaderId *last,
									 int64 limit);
extern int64 uuid9562_count_entries(Oid source, UuidReaderId after, int64 limit,
									UuidReaderId *first);
extern void uuid9562_fetch_rows(Relation rel, const Source *source, const ChangesPage *page,
								void (*begin) (void *arg), RowReceiver receive, void *arg);

/* --- request.c, page_start.c, read.c, confirm.c, wait.c and purge.c --------------- */

/* A page that the transaction in progress has read as a reader */
typedef struct PageRead
{
	char	   *reader;
	Oid			source;
	SubTransactionId subtransaction;
	bool		is_done;		/* is it empty, or confirmed? */
	SubTransactionId done_by;	/* what has confirmed it */
	UuidPagePosition position;	/* of its last row */
} PageRead;

/* What the caller of changes_read() or changes_wait() has asked for */
typedef struct PageRequest
{
	char	   *reader;
	Oid			relid;
	int64		limit;
	int64		lease;			/* in microseconds */
	bool		is_outside;		/* does the target store positions? */
	bool		has_position;
	UuidPagePosition given;
} PageRequest;

/* Where a page begins */
typedef struct PageStart
{
	bool		is_reset;
	bool		has_added_rows; /* has the call found a new partition with
								 * rows, whose keys it has collected? */
	UuidReaderId after;			/* unless it is a reset: its entries are after
								 * this ID */
	UuidReaderId horizon;
} PageStart;

extern void uuid9562_read_request(FunctionCallInfo fcinfo, PageRequest *request);
extern void uuid9562_check_transaction(void);
extern void uuid9562_check_owner(Oid relid);
extern TrackingTrigger uuid9562_find_trigger(Oid relid);
extern int64 uuid9562_interval_micros(const Interval *interval);
extern void uuid9562_check_own_changes(const Source *source);
extern Oid	uuid9562_row_type_relation(Oid type);
extern Relation uuid9562_open_source(Oid relid);
extern void uuid9562_read_after(PageRequest *request, text *after);
extern UuidReaderId uuid9562_inclusive_horizon(const char *function);
extern PageStart uuid9562_start_page(const PageRequest *request, ReaderState *reader,
									 const Source *source);
extern void uuid9562_restart_page(PageStart *start, Oid source);
extern void uuid9562_lose_pages(const char *function, UuidReader *machine);
extern void uuid9562_check_reader_name(const char *name);
extern void uuid9562_check_reader_role(const ReaderState *reader);
extern void uuid9562_lock_and_load_reader(ReaderState *reader, const char *name, Oid source);
extern bool uuid9562_reset_counts(const char *function, const UuidPagePosition *position);
extern void uuid9562_read_position(UuidPagePosition *position, text *given);
extern void uuid9562_remember_page(const char *reader, Oid source,
								   const UuidPagePosition *position);
extern void uuid9562_forget_pages(void);
extern void uuid9562_end_reading(bool is_commit, SubTransactionId ended, SubTransactionId parent);

/* after_commit.c */
struct GuestWorker;
extern void uuid9562_waking_init(void);
extern int	uuid9562_wait_queue(Oid source);
extern void uuid9562_note_wake(Oid source);
extern void uuid9562_note_purge(bool confirmed);
extern void uuid9562_start_purging(void);
extern void uuid9562_forget_notes(void);
extern struct GuestWorker *uuid9562_shared_worker(void);
extern void uuid9562_register_worker(void);
extern void uuid9562_request_worker(struct GuestWorker *worker);

/* purge.c */
extern int64 uuid9562_purge(const char *function, Oid source, int64 reader_expiry, int64 keep,
							int64 limit);

/* Convert an ID of the core to a Datum of type uuid. */
static inline Datum
reader_id_datum(const UuidReaderId *id)
{
	return PointerGetDatum(id->bytes);
}

#endif							/* UUID9562_CHANGES_H */
