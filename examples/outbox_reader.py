#!/usr/bin/env python3
"""Deliver each row of an outbox, and store the position in a file, outside the database.

    CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_next(), message text NOT NULL);
    SELECT changes_track('outbox', operations => '{insert}');
    GRANT SELECT ON outbox TO reader;

    ./outbox_reader.py 'host=db1,db2 dbname=shop user=reader' /var/lib/shop/outbox.position

The program prints each row as a line of JSON; change deliver() to send rows elsewhere.  It delivers
each row at least once, and misses none, also after a failover that lost rows, and behind a
connection pooler.  After a crash it delivers the last page again, and after a failover that may have
lost rows it delivers all rows that the table has, so the receiver must ignore IDs that it already
has.  The IDs are UUIDs, because a sequence could generate the numbers of lost rows again.  You can
delete delivered rows.  To deliver all rows again, remove the file.

This requires the extension uuid9562_changes, and the package psycopg (Debian: python3-psycopg).  The
page doc/changes.md explains the functions.
"""
import fcntl
import json
import os
import re
import sys
import time
import uuid

import psycopg

# With "after", the position in the file is the confirmation.
PAGE = """
    SELECT change_type, change_position, (data).id, (data).message
    FROM changes_read(%(reader)s, NULL::outbox, after => %(position)s)
"""
WAIT = "CALL changes_wait(%(reader)s, 'outbox', after => %(position)s)"
ALL_ROWS = "SELECT id, message FROM outbox WHERE id > %(last)s OR %(last)s IS NULL ORDER BY id LIMIT 1000"

# messages of the server, libpq and PgBouncer; a connection that fails has no SQLSTATE
PERMANENT = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|permission denied"
    r"|(role|database) .* (does not exist|is not permitted)|no such (user|database)")


def deliver(id, message):
    print(json.dumps({"id": str(id), "message": message}), flush=True)


def deliver_all(connection):
    last = None
    while rows := connection.execute(ALL_ROWS, {"last": last}).fetchall():
        for last, message in rows:
            deliver(last, message)


def load(file):
    """Return the stored name and position of the reader, or None."""
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
        # a reader with a new name gets "reset", which means all rows
        reader, position = previous.split() if previous else (f"outbox_reader:{uuid.uuid4()}", None)
        try:
            with connection.transaction():
                page = connection.execute(PAGE, {"reader": reader, "position": position}).fetchall()
        except psycopg.errors.SerializationFailure:
            continue  # the columns of the table have changed: call changes_read() again
        for change_type, position, id, message in page:
            if change_type == "reset":
                deliver_all(connection)
            elif change_type == "upsert":  # otherwise the row has been deleted
                deliver(id, message)
        if page:
            store(file, previous, f"{reader} {position}")
        else:
            connection.execute(WAIT, {"reader": reader, "position": position})


def main(conninfo, file):
    lock = open(file + ".lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"another process uses {file}")
    while True:
        try:
            # Conninfo can name several hosts; connect to the primary.
            # Behind a pooler, a prepared statement could be one of another program with the same
            # name, so prepare none.
            with psycopg.connect(conninfo, autocommit=True, target_session_attrs="read-write", connect_timeout=5,
                                 prepare_threshold=None, client_encoding="utf8") as connection:
                # changes_read() refuses other levels, one of which can be the server's default
                connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
                read(connection, file)
        except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction,
                psycopg.errors.InvalidSqlStatementName) as error:
            # the server stops, starts or fails over, so try again
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
