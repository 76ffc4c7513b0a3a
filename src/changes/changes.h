/*
 * changes.h
 *		The logs of changed keys: which log belongs to which table, and what a transaction
 *		writes to them when it commits.
 *
 * A tracked table has a log beside it: an ordinary table of the same owner, whose columns are an
 * ordered ID and the columns of the tracked table's primary key.  For each key that a transaction
 * has changed, it contains an entry that the transaction wrote when it committed.  An entry whose
 * key is NULL means that any row can have changed.
 *
 * Invariant: for each committed change of a key, the log has an entry for the key, or one without a
 * key, whose ID is greater than the IDs of all entries for earlier changes of the key.
 *
 * This holds because a transaction generates the IDs of its entries after its last change and
 * before it releases its row locks.  Another transaction that changes the same key must wait for
 * these locks, so it generates its IDs later.  IDs increase across all sessions of the server.
 *
 * catalog.c finds the logs of a table, collect.c collects keys until the transaction commits, log.c
 * writes entries, and functions.c has the functions that SQL calls.
 */
#ifndef UUID9562_CHANGES_H
#define UUID9562_CHANGES_H

#include "compat.h"

#include "access/htup.h"
#include "utils/rel.h"

/* Columns of changes_catalog that C reads */
#define CATALOG_SOURCE	1
#define CATALOG_LOG		2
#define CATALOG_KEY		3

/* A log for the changes of a table, and the columns of the table that the log contains */
typedef struct LogKey
{
	Oid			catalog;		/* the changes_catalog that contains the log */
	Oid			log;
	int			count;			/* 0 if a column of the key is missing */
	AttrNumber	columns[INDEX_MAX_KEYS];
	Oid			types[INDEX_MAX_KEYS];	/* base types, if columns have domains */
} LogKey;

/* The logs for the changes of a table: its own, and those of its partitioned tables */
typedef struct TableLogs
{
	Oid			relid;			/* must be first */
	bool		valid;			/* if false, read the logs again */
	int			count;
	LogKey	   *keys;
	int64		verified;		/* count of invalidations when verified, or 0 */
	bool		compared;		/* is "columns" set? */
	uint64		columns;		/* hash of name and columns when verified */
} TableLogs;

/* catalog.c */
extern Oid	uuid9562_changes_catalog(void);
extern Oid	uuid9562_primary_key(Relation rel);
extern TableLogs *uuid9562_logs_of_table(Oid relid);
extern int64 uuid9562_count_invalidations(void);
extern void uuid9562_forget_verified(void);
extern void uuid9562_execute_as_owner(Relation catalog, const char *command, Oid type, Datum value);
extern void uuid9562_record_missing(Oid catalog, Oid log);

/* log.c */
extern bool uuid9562_is_log(Relation log);
extern int	uuid9562_use_log(const LogKey *key);
extern HeapTuple uuid9562_form_entry(int number, const LogKey *key, HeapTuple row, TupleDesc desc);
extern void uuid9562_open_logs(void);
extern void uuid9562_write_entry(int number, HeapTupleHeader entry, uint32 length);
extern void uuid9562_close_logs(void);
extern void uuid9562_forget_logs(void);

/* collect.c */
extern void uuid9562_collect(const TableLogs *logs, HeapTuple row, HeapTuple new_row,
							 TupleDesc desc);
extern void uuid9562_changes_init(void);

#endif							/* UUID9562_CHANGES_H */
