#!/usr/bin/env python3
"""Keep a copy of the table "item" with changes_read() and changes_done(), for changes_torture.pl.

    changes_reader.py SOURCE TARGET

Several processes run with the same reader's name.  Each one waits at random before it applies a page,
and before it confirms the page or the first part of it.  If it has lost its session meanwhile, it
confirms the page in the next session, since another process can have read newer rows.
"""
import random
import sys
import time

import psycopg


def sleep():
    if random.random() < 0.2:
        time.sleep(random.random() ** 3)


def read(source, target):
    changes = source.execute("SELECT change_type, (data).id, (data).n, change_position FROM changes_read('pair', NULL::item, page => %s)",
                             [random.choice([1, 7, 50, 1000])]).fetchall()
    if not changes:
        time.sleep(0.05)
        return
    sleep()
    rows = source.execute("SELECT id, n FROM item").fetchall() if changes[0][0] == "reset" else []
    sleep()
    if random.random() < 0.3:
        changes = changes[:random.randint(1, len(changes))]
    with target.transaction():
        target.execute("LOCK TABLE pair")
        if changes[0][0] == "reset":
            target.execute("DELETE FROM pair")
            target.cursor().executemany("INSERT INTO pair VALUES (%s, %s)", rows)
        for kind, key, n, _ in changes:
            target.execute("DELETE FROM pair WHERE id = %s", [key])
            if kind == "upsert":
                target.execute("INSERT INTO pair VALUES (%s, %s)", [key, n])
    sleep()
    confirm(source, changes[-1][3])


def confirm(source, position):
    global unconfirmed
    unconfirmed = position
    source.execute("SELECT changes_done('pair', %s)", [position])
    unconfirmed = None


unconfirmed = None
while True:
    try:
        with psycopg.connect(sys.argv[1], target_session_attrs="read-write", connect_timeout=5, autocommit=True) as s:
            with psycopg.connect(sys.argv[2], autocommit=True) as t:
                if unconfirmed:
                    confirm(s, unconfirmed)
                while random.random() > 0.02:
                    read(s, t)
    except psycopg.errors.UndefinedObject:
        unconfirmed = None  # the table was tracked again, so there are no readers
    except psycopg.Error as error:
        print(error, file=sys.stderr, flush=True)
        time.sleep(0.2)
