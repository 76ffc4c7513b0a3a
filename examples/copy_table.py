#!/usr/bin/env python3
"""Keep a copy of a table in another PostgreSQL database.

    SELECT changes_track('shop.customer');    -- once, as the owner of the table
    GRANT SELECT ON shop.customer TO reader;

    ./copy_table.py 'host=db1,db2 dbname=shop user=reader' shop.customer 'dbname=copies'

The program creates the table of the copy, here customer, which must not exist in the target.  With
--once, the program ends when it has copied all changes that were committed before it began.  With
--check, it then also compares all rows, corrects the copy, and prints how many rows differed.  You can
kill it at any time.  It stops if another process keeps the same copy, or if the columns of the source
change.

The copy has no constraints other than the key, because rows that exchange their values can be on
different pages, and because copies of different tables are not copied together.  For the same reasons,
the program stops if the copy has foreign keys or triggers.  The table copy_state has the position of
each copy, stored in the transaction that stores a page.

This requires the extension uuid9562_changes in a schema of the source's search path, the package
psycopg (Debian: python3-psycopg), and psql.  The page doc/changes.md explains the functions.
"""
import contextlib
import subprocess
import sys
import time
import uuid

import psycopg

PAGE_BYTES = 4_000_000
PAGE_ROWS = 20_000
LOADED = '"rows of the source"'  # a temporary table

DESCRIBE = """
    SELECT quote_ident(relname), quote_ident(nspname) || '.' || quote_ident(relname),
           array_agg(quote_ident(attname) ORDER BY attnum), array_agg(format_type(type, typmod) ORDER BY attnum),
           array_agg(quote_ident(attname) ORDER BY array_position(indkey, attnum)) FILTER (WHERE attnum = ANY (indkey)),
           format('%%s.%%s.%%s', current_database(), quote_ident(nspname), quote_ident(relname))
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace JOIN pg_attribute ON attrelid = c.oid
    JOIN (SELECT indrelid, (indkey::int2[])[0:indnkeyatts - 1] AS indkey FROM pg_index WHERE indisprimary) AS i ON indrelid = c.oid,
    LATERAL (WITH RECURSIVE base (type, typmod, kind) AS (
            SELECT atttypid, atttypmod, (SELECT typtype FROM pg_type WHERE oid = atttypid)
            UNION ALL
            SELECT t.typbasetype, t.typtypmod, (SELECT typtype FROM pg_type WHERE oid = t.typbasetype)
            FROM base JOIN pg_type AS t ON t.oid = base.type WHERE kind = 'd')
        SELECT type, typmod FROM base WHERE kind <> 'd') AS base
    WHERE c.oid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped
    GROUP BY c.oid, relname, nspname"""

# Rows are copied as text, which must not depend on the session, or change it behind a pooler.
SETTINGS = "; ".join("SET LOCAL %s = '%s'" % setting for setting in [
    ("array_nulls", "on"), ("bytea_output", "hex"), ("datestyle", "ISO"), ("extra_float_digits", "1"),
    ("intervalstyle", "postgres"), ("lc_monetary", "C"), ("row_security", "off"), ("timezone", "UTC")])

# A page of changes, as an array of deleted rows and one of the others, up to PAGE_BYTES
CHANGES = """
    SELECT count(*), max(bytes), bool_or(change_type = 'reset'), (array_agg(change_position ORDER BY n DESC))[1],
           (array_agg(data ORDER BY n) FILTER (WHERE change_type = 'delete'))::text,
           (array_agg(data ORDER BY n) FILTER (WHERE change_type = 'upsert'))::text
    FROM (SELECT *, sum(octet_length(data)) OVER (ORDER BY n) AS bytes
          FROM (SELECT n, change_type, change_position, data::text
                FROM changes_read(%(reader)s, NULL::{table}, page => %(rows)s, after => %(position)s)
                     WITH ORDINALITY AS c (change_type, data, change_position, n) OFFSET 0) AS c) AS c
    WHERE bytes <= %(bytes)s OR n = 1"""


class Stop(Exception):
    pass


def run(connection, statement, parameters=()):
    return connection.execute(statement, parameters)  # percent signs of names must be doubled


class Copy:
    def __init__(self, source, target, table, conninfo):
        self.source, self.target, self.argument, self.conninfo, self.rows = source, target, table, conninfo, 100
        self.description = run(source, DESCRIBE, [table]).fetchone()
        if self.description is None:
            raise Stop(f'table "{table}" does not exist, or has no primary key')
        self.state_key, self.state_columns, self.title = self.description[0], str(self.description[2:5]), self.description[5]
        self.changed = Stop(f"the columns or the key of {self.title} have changed: drop the copy")
        self.name, self.table = (text.replace("%", "%%") for text in self.description[:2])
        self.columns, self.types, self.key = ([text.replace("%", "%%") for text in texts] for texts in self.description[2:5])
        run(target, "CREATE TABLE IF NOT EXISTS copy_state (copy text PRIMARY KEY, source text, columns text, reader text, position text)")
        exists, *state = run(target, "SELECT to_regclass(key) IS NOT NULL, source, columns, reader, position"
                             " FROM (VALUES (%s)) AS name (key) LEFT JOIN copy_state ON copy = key", [self.state_key]).fetchone()
        if exists and state[3] is None:
            raise Stop(f"table {self.state_key} is no copy")
        if state[0] not in (None, self.title):
            raise Stop(f"table {self.state_key} is a copy of {state[0]}")
        if exists and state[1] != self.state_columns:
            raise self.changed
        # the triggers of changes_track() change nothing
        if run(target, "SELECT FROM pg_trigger WHERE tgrelid = to_regclass(%s) AND tgname !~ '^uuid9562_changes_'", [self.state_key]).rowcount > 0:
            raise Stop(f"table {self.state_key} must have no foreign keys and no triggers")
        # a reader with a new name must copy the whole table
        self.reader, self.position = state[2:] if exists else (f"copy_table {uuid.uuid4()}", None)
        if not exists:
            begun = run(target, "INSERT INTO copy_state AS s VALUES (%s, %s, %s, %s) ON CONFLICT (copy) DO UPDATE SET source = excluded.source,"
                        " columns = excluded.columns, reader = excluded.reader, position = NULL WHERE s.reader = %s AND s.position IS NOT DISTINCT FROM %s",
                        [self.state_key, self.title, self.state_columns, self.reader, *state[2:]])
            if begun.rowcount == 0:
                raise Stop(f"another process keeps the copy {self.state_key}")
            run(source, "SELECT changes_forget(reader, source) FROM changes_readers WHERE reader = %s", [state[2]])

    def check_columns(self):
        if run(self.source, DESCRIBE, [self.argument]).fetchone() != self.description:
            raise self.changed

    def fetch(self):
        """Return a page of changes, and choose the number of rows of the next one."""
        try:
            with self.source.transaction():
                run(self.source, SETTINGS)
                page = run(self.source, CHANGES.format(table=self.table), {
                    "reader": self.reader, "position": self.position, "rows": self.rows, "bytes": PAGE_BYTES}).fetchone()
                self.check_columns()  # they cannot change now, because the query has locked the table
        except psycopg.errors.SerializationFailure:
            self.check_columns()
            return self.fetch()
        self.rows = max(page[0], 1) if (page[1] or 0) > PAGE_BYTES / 2 else min(2 * self.rows, PAGE_ROWS)
        return page

    def wait(self, timeout):
        """Wait for the next page, outside of a transaction."""
        run(self.source, "CALL changes_wait(%s, %s::regclass, %s, after => %s)", [self.reader, self.argument, timeout, self.position])

    def is_held(self, time):
        """Check whether a transaction from before a time is in progress, so that committed changes must wait for it."""
        # only the extension has this function, and only with the extension do changes wait
        exists = run(self.source, "SELECT to_regproc('uuid9562_changes.generator_stats') IS NOT NULL").fetchone()[0]
        return exists and run(self.source, "SELECT held_since <= %s FROM uuid9562_changes.generator_stats()", [time]).fetchone()[0]

    def load(self, table):
        """Load all rows of the source into a table.  psql reads them, because it is faster than Python.

        COPY takes its snapshot before it waits for the lock of the table.  If another session rewrites the
        table in the meantime, COPY would find no rows, so lock the table first.
        """
        run(self.target, SETTINGS)
        columns = ", ".join(self.columns)
        psql = subprocess.Popen(["psql", "-Xqw", "-v", "ON_ERROR_STOP=1", "-d", self.conninfo], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        with psql, self.target.cursor().copy(f"COPY {table} ({columns}) FROM STDIN".replace("%%", "%")) as copy:
            with contextlib.suppress(BrokenPipeError):  # if psql could not connect
                psql.stdin.write(f"BEGIN; LOCK TABLE {self.table} IN ACCESS SHARE MODE; {SETTINGS}; COPY (SELECT {columns} FROM {self.table}) TO STDOUT;".replace("%%", "%").encode())
                psql.stdin.close()
            while rows := psql.stdout.read(1_000_000):
                copy.write(rows)
        if psql.returncode:
            raise psycopg.OperationalError("psql has lost the connection to the source") if psql.returncode == 2 else Stop("psql could not read the source")
        self.check_columns()

    def same_key(self, other):
        return " AND ".join(f"c.{column} = {other}.{column}" for column in self.key)

    def create(self):
        """Create the copy, and fill it.  The stored position must be from before this call."""
        run(self.target, f"CREATE TABLE {self.name} ({', '.join(map(' '.join, zip(self.columns, self.types)))})")
        self.load(self.name)
        run(self.target, f"ALTER TABLE {self.name} ADD PRIMARY KEY ({', '.join(self.key)})")

    def compare(self):
        """Make the copy equal to the table.  The stored position must be from before this call."""
        run(self.target, f"CREATE TEMPORARY TABLE {LOADED} (LIKE {self.name}) ON COMMIT DROP")
        self.load(LOADED)
        run(self.target, f"ANALYZE {LOADED}")
        removed, _, corrected = (run(self.target, statement).rowcount for statement in [
            f"DELETE FROM {self.name} AS c WHERE NOT EXISTS (SELECT FROM {LOADED} AS l WHERE {self.same_key('l')})",
            f"DELETE FROM {self.name} AS c USING {LOADED} AS l WHERE {self.same_key('l')} AND NOT (c.*) *= (l.*)",
            f"INSERT INTO {self.name} SELECT * FROM {LOADED} AS l WHERE NOT EXISTS (SELECT FROM {self.name} AS c WHERE {self.same_key('l')})"])
        print(f"{self.title}: compared, {corrected} rows corrected, {removed} rows removed", flush=True)

    def read(self):
        """Copy the next page, and return the number of changes."""
        count, _, is_reset, position, deleted, others = self.fetch()
        if count == 0:
            return 0
        with self.target.transaction():
            stored = run(self.target, "UPDATE copy_state SET position = %s WHERE copy = %s AND reader = %s AND position IS NOT DISTINCT FROM %s",
                         [position, self.state_key, self.reader, self.position])
            if stored.rowcount == 0:
                raise Stop(f"another process keeps the copy {self.state_key}")
            if self.position is None:
                self.create()
            elif is_reset:
                self.compare()
            else:
                run(self.target, SETTINGS)
                run(self.target, f"DELETE FROM {self.name} AS c USING unnest(%s::{self.name}[]) AS d WHERE {self.same_key('d')}", [deleted])
                # a row is there twice if its key was replaced by an equal one, such as 1.0 by 1.00
                run(self.target, f"INSERT INTO {self.name} AS c SELECT DISTINCT ON ({', '.join(self.key)}) * FROM unnest(%s::{self.name}[]) ON CONFLICT ({', '.join(self.key)}) DO UPDATE SET "
                    + ", ".join(f"{column} = excluded.{column}" for column in self.columns), [others])
        self.position = position
        return count


def keep(copy, once):
    """Copy changes.  If "once" is true, end when those that were committed before are copied."""
    begun = run(copy.source, "SELECT clock_timestamp()").fetchone()[0]
    while True:
        must_wait = not once or copy.is_held(begun)
        if copy.read() > 0:
            continue
        if not must_wait:
            return
        copy.wait("1 s" if once else "30 s")


def main(source, table, target, option=None):
    while True:
        try:
            # behind a pooler, a prepared statement can be another program's, so prepare none
            settings = {"autocommit": True, "connect_timeout": 5, "prepare_threshold": None, "client_encoding": "utf8"}
            with psycopg.connect(source, target_session_attrs="read-write", **settings) as s, psycopg.connect(target, **settings) as t:
                s.isolation_level = t.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
                copy = Copy(s, t, table, psycopg.conninfo.make_conninfo(source, target_session_attrs="read-write", connect_timeout=5, client_encoding="utf8"))
                keep(copy, option is not None)
                if option == "--check":
                    with t.transaction():
                        copy.compare()
                return
        except psycopg.OperationalError as error:
            if " are not tracked" in str(error) or " does not exist" in str(error):
                raise Stop(str(error)) from error
            print(error, file=sys.stderr)  # the server stops, starts or fails over
            time.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[4:] not in ([], ["--once"], ["--check"]):
        sys.exit("usage: copy_table.py SOURCE TABLE TARGET [--once | --check]")
    try:
        main(*sys.argv[1:])
    except (Stop, FileNotFoundError, KeyboardInterrupt) as error:
        sys.exit(str(error))
