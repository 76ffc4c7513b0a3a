#!/usr/bin/env python3
"""Deliver each row of an outbox, and store the position in a file, outside the database.

    CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL);
    GRANT SELECT ON outbox TO reader;
    SELECT uuidv7_ordered();    -- before the first ID, a reader would get an error

    ./outbox_reader.py 'host=db1,db2 dbname=shop user=reader' /var/lib/shop/outbox.position

The program prints each row as a line of JSON; change deliver() to send rows elsewhere.  It delivers
each row at least once, and misses none, also after a failover that lost rows, and behind a
connection pooler.  After a crash it delivers the last page again, so the receiver must ignore an ID
that it has already got.  To deliver all rows again, remove the file with the position.

This requires the extension uuid9562, and the package psycopg (Debian: python3-psycopg).  The page
doc/positions.md explains the functions, and doc/incremental-reads.md lists what can hide rows from
every reader, such as a reset after the clock was ahead.
"""
import fcntl
import json
import os
import re
import sys
import time

import psycopg

# Execute this as a plain SELECT in READ COMMITTED, and not in a cursor, COPY or function, which could
# miss the rows of a table that is rewritten meanwhile.  Read the table itself, one row for each ID.
PAGE = """
    SELECT id, message, uuidv7_position(id, %(position)s) AS position FROM outbox
    WHERE id > uuidv7_after(%(position)s) AND id < uuidv7_horizon()
    ORDER BY id LIMIT 1000
"""

# messages of the server, libpq and PgBouncer; a connection that fails has no SQLSTATE
PERMANENT = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|permission denied"
    r"|(role|database) .* (does not exist|is not permitted)|no such (user|database)")


def deliver(id, message):
    print(json.dumps({"id": str(id), "message": message}), flush=True)


def load(file):
    """Return the stored position, or None for a new reader."""
    if not os.path.exists(file):
        return None
    with open(file, encoding="ascii") as stored:
        return stored.read()


def store(file, previous, position):
    """Replace the previous position, so that a crash leaves the previous one or the new one.

    If somebody has removed or replaced the file meanwhile, leave it as it is.
    """
    with open(file + ".new", "w", encoding="ascii") as new:
        new.write(position)
        new.flush()
        os.fsync(new.fileno())
    if load(file) != previous:
        return
    os.replace(file + ".new", file)
    folder = os.open(os.path.dirname(file) or ".", os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def read(connection, file):
    """Deliver pages until the connection fails."""
    while True:
        previous = load(file)
        # rows and positions come from one statement, so they belong to the same server
        with connection.transaction():
            rows = connection.execute(PAGE, {"position": previous}).fetchall()
        for id, message, position in rows:
            deliver(id, message)
        if rows:
            store(file, previous, position)
        else:
            time.sleep(0.1)


def main(conninfo, file):
    lock = open(file + ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # one process for each position
    while True:
        try:
            # Conninfo can name several hosts; connect to the primary, which computes the horizon.
            # Behind a pooler, a prepared statement could be one of another program with the same
            # name, so prepare none.
            with psycopg.connect(conninfo, autocommit=True, target_session_attrs="read-write", connect_timeout=5,
                                 prepare_threshold=None) as connection:
                # another level takes the snapshot too early, whatever the default of the server is
                connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
                read(connection, file)
        except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction,
                psycopg.errors.InvalidSqlStatementName) as error:
            # the server stops, starts or fails over, so try again; if it does not know the
            # position, only an administrator can help
            if PERMANENT.search(str(error)):
                sys.exit(str(error))
            print(error, file=sys.stderr)
            time.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: outbox_reader.py CONNINFO POSITION_FILE")
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
