#!/usr/bin/env python3
"""Deliver each row of an outbox, and store the position in a file, outside the database.

    CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL);
    GRANT SELECT ON outbox TO reader;
    SELECT uuidv7_ordered();    -- before the first ID, a reader would get an error

    ./outbox_reader.py 'host=db1,db2 dbname=shop user=reader' /var/lib/shop/outbox.position

The program prints each row as a line of JSON; change deliver() to send rows elsewhere.  It delivers
each row at least once, and misses none, also after a failover that lost rows.  After a crash it
delivers the last page again, so the receiver must ignore an ID that it has already got.

This requires the extension uuid9562, and the package psycopg (Debian: python3-psycopg).  The page
doc/positions.md explains the functions.
"""
import fcntl
import json
import os
import sys
import time

import psycopg

PAGE = """
    SELECT id, message, uuidv7_position(id, %(position)s) AS position FROM outbox
    WHERE id > uuidv7_after(%(position)s) AND id < uuidv7_horizon()
    ORDER BY id LIMIT 1000
"""


def deliver(id, message):
    print(json.dumps({"id": str(id), "message": message}), flush=True)


def load(file):
    """Return the stored position, or None for a new reader."""
    if not os.path.exists(file):
        return None
    with open(file, encoding="ascii") as stored:
        return stored.read()


def store(file, position):
    """Replace the stored position, so that a crash leaves the old one or the new one."""
    with open(file + ".new", "w", encoding="ascii") as new:
        new.write(position)
        new.flush()
        os.fsync(new.fileno())
    os.replace(file + ".new", file)
    folder = os.open(os.path.dirname(file) or ".", os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)


def read(connection, file):
    """Deliver pages until the connection fails."""
    position = load(file)
    while True:
        # rows and positions come from one statement, so they belong to the same server
        rows = connection.execute(PAGE, {"position": position}).fetchall()
        for id, message, position in rows:
            deliver(id, message)
        if rows:
            store(file, position)
        else:
            time.sleep(0.1)


def main(conninfo, file):
    lock = open(file + ".lock", "w")
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # one process for each position
    while True:
        try:
            # conninfo can name several hosts; connect to the primary, which computes the horizon
            with psycopg.connect(conninfo, autocommit=True, target_session_attrs="read-write", connect_timeout=5) as connection:
                read(connection, file)
        except psycopg.OperationalError as error:
            # the server stops, starts or fails over, so try again; if it does not know the
            # position, only an administrator can help
            print(error, file=sys.stderr)
            time.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: outbox_reader.py CONNINFO POSITION_FILE")
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        pass
