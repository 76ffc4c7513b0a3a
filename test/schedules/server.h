/*
 * server.h
 *		The parts of PostgreSQL that the code under test needs: backends and their transactions.
 */
#ifndef UUID9562_TEST_SERVER_H
#define UUID9562_TEST_SERVER_H

#include "explore.h"

#include "storage/condition_variable.h"
#include "utils/snapshot.h"

#include "ordered/shared_state.h"

#define MAX_TRANSACTIONS	24
#define NO_TRANSACTION		(-1)
#define FIRST_DATABASE		1	/* the database of the readers */

typedef enum TransactionState
{
	IN_PROGRESS,
	COMMITTED,
	ABORTED
} TransactionState;

typedef struct Transaction
{
	uint64		xid;			/* 0 if it has none */
	Oid			database;
	TransactionState state;
} Transaction;

/* A snapshot, and the transactions that it sees as committed */
typedef struct TestSnapshot
{
	SnapshotData data;
	TransactionId xip[MAX_TRANSACTIONS];
	bool		sees[MAX_TRANSACTIONS];
	bool		used;			/* had an ordered function been used before? */
} TestSnapshot;

/* The whole state of the server except the arena */
typedef struct Server
{
	uint64		next_xid;
	uint64		latest_finished;
	int			transaction_count;
	Transaction transactions[MAX_TRANSACTIONS];
	int			prepared;		/* number of the prepared transaction, or
								 * NO_TRANSACTION */
	bool		prepared_is_locked; /* is it being prepared or finished? */
	bool		used;			/* has an ordered function returned a value? */
	HighWaterMark mark;			/* on disk */
	HighWaterMark new_mark;		/* in WAL, up to write_lsn */
	XLogRecPtr	write_lsn;
	XLogRecPtr	flush_lsn;		/* the WAL up to here is on disk */
	int			flush_seconds;	/* how long a flush takes */
	int			other_flushes;	/* how often another process can still hold
								 * WALWriteLock */
	int			cancels;		/* how many waiting calls can still be
								 * canceled */
	const ConditionVariable *sleeps[MAX_PROCESSES]; /* where it waits for a
													 * broadcast, or NULL */
	bool		is_woken[MAX_PROCESSES];
	int			write_failures; /* how many writes of the mark may still fail */
	uint32		clock_reads;
	uint32		random_reads;
	int32		clock_seconds;
} Server;

extern Server server;

/* Define a simple version of a function of PostgreSQL, which returns a value. */
#define STUB(declaration, value) declaration { return value; }

/* server.c */
extern void create_server(int processes);
extern void remember_server(void);
extern void start_server(void);
extern bool try_statement(void (*statement) (void *arg), void *arg);
extern void run_statement(void (*statement) (void *arg), void *arg);

/* stubs.c */
extern int	last_error;			/* SQLSTATE of the process's last error, or 0 */
extern void reset_memory(void);
extern void reset_transaction_memory(void);

/* transactions.c */
extern int	begin_transaction(void);
extern int	own_transaction(void);
extern void assign_xid(void);
extern void commit_transaction(void);
extern void abort_transaction(void);
extern void prepare_transaction(void);
extern void restore_prepared(int number);
extern void finish_prepared(bool commit);
extern void exit_backend(Oid next_database);
extern void take_snapshot(TestSnapshot *snapshot);
extern void reset_transactions(void);
extern UuidPayload generate(void);
extern UuidPayload ask_horizon(TestSnapshot *snapshot);
extern UuidSealed ask_position(TestSnapshot *snapshot);

/* wait.c */
extern void use_waiting(bool used);
extern TestSnapshot *wait_for_page(UuidPayload after);

/* horizon.c */
extern bool find_row(const TestSnapshot *snapshot, UuidPayload after, UuidPayload *first);

#endif							/* UUID9562_TEST_SERVER_H */
