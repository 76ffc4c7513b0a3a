#!/usr/bin/env python3
"""Keep a copy of a table in another PostgreSQL or in SQLite.

    psql -v table=shop.customer -f track.sql
    GRANT SELECT ON shop.customer, shop.customer_changes TO reader;

    ./copy_table.py 'host=db1,db2 dbname=shop user=reader' shop.customer 'dbname=copies'
    ./copy_table.py 'host=db1,db2 dbname=shop user=reader' shop.customer sqlite:/var/lib/copies.db

The program copies each insert, update and delete, and runs until you stop it.  With --once, it ends
when there are no more changes.  With --check, it then also compares all keys and stamps with the
table, corrects the copy, and prints how many rows differed.

It creates the table customer in the copy, with a primary key, but no other constraints, since the
rows of a transaction can arrive on two pages.  It refuses to write to a table that it has not created
for the same source.  If you drop the copy, it creates and fills it again.  The table copy_state
stores how far each copy is.  A page and its state are stored in one transaction, so the program can
be killed at any time.

If the server has lost transactions that were copied, as after a failover to a standby that was
behind, the program notices this, and compares as with --check.

This requires the extension uuid9562 on the source, and the package psycopg (Debian:
python3-psycopg).  The page doc/changes.md explains how it works.
"""
import re
import sqlite3
import sys
import time

import psycopg

PAGE_ROWS = 1000

# messages of the server, libpq and PgBouncer; a connection that fails has no SQLSTATE
PERMANENT = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|permission denied"
    r"|(role|database) .* (does not exist|is not permitted)|no such (user|database)")

# the names of the source, columns that the view lacks, and the columns of the view in their order
DESCRIBE = """
    SELECT (SELECT string_agg(attname, ', ') FROM pg_attribute AS m WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
                AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = v.oid AND attname = m.attname)) AS missing,
           c.relname AS name, quote_ident(x.nspname) AS extension, format('%%I.%%I', n.nspname, c.relname) AS source,
           format('%%I.%%I', n.nspname, c.relname || '_changes') AS view,
           format('%%I.%%I', n.nspname, c.relname || '_after') AS after,
           a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
           CASE WHEN a.attcollation <> t.typcollation THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END AS collate_clause,
           array_position(p.conkey, (SELECT attnum FROM pg_attribute WHERE attrelid = c.oid AND attname = a.attname)) AS key,
           a.atttypid = ANY ('{bool,bytea,bpchar,date,int2,int4,int8,name,oid,text,timestamp,timestamptz,uuid,varchar}'::regtype[])
               AND (collisdeterministic IS NOT false) AND (typname <> 'bpchar' OR a.atttypmod >= 0) OR typtype = 'e' AS identical
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_constraint AS p ON p.conrelid = c.oid AND p.contype = 'p'
    JOIN pg_class AS v ON v.relnamespace = n.oid AND v.relname = c.relname || '_changes'
    JOIN pg_attribute AS a ON a.attrelid = v.oid AND a.attnum > 0
    JOIN pg_type AS t ON t.oid = a.atttypid
    LEFT JOIN pg_collation AS l ON l.oid = a.attcollation,
    pg_extension AS e JOIN pg_namespace AS x ON x.oid = e.extnamespace
    WHERE c.oid = to_regclass(%s) AND e.extname = 'uuid9562'
    ORDER BY a.attnum
"""

# All values are copied as text, so their text must not depend on settings.  The settings end with
# the transaction, since a pooler gives the session to others.
SETTINGS = ", ".join("set_config('%s', '%s', true)" % setting for setting in [
    ("array_nulls", "on"), ("bytea_output", "hex"), ("datestyle", "ISO"), ("extra_float_digits", "1"),
    ("intervalstyle", "postgres"), ("lc_monetary", "C"), ("row_security", "off"), ("timezone", "UTC")])


class Stop(Exception):
    """An error that only an administrator can correct."""


def quote(name):
    """Return a name as identifier."""
    return '"' + name.replace('"', '""') + '"'


def quote_psycopg(name):
    """Return a name as identifier in a statement of Psycopg, which has parameters such as %s."""
    return quote(name).replace("%", "%%")


class Source:
    """The table, its view, and statements that read them."""

    def __init__(self, connection, table):
        self.connection, self.argument = connection, table
        columns = self.description = self.describe()
        if not columns:
            raise Stop(f'table "{table}" is not tracked: run track.sql')
        missing, self.name, _, self.title = columns[0][:4]
        if missing:
            raise Stop(f'the view of table "{table}" lacks columns ({missing}): run track.sql again')
        self.extension, self.table, self.view, self.after = (name.replace("%", "%%") for name in columns[0][2:6])
        # a table of the same name in another database is not the source of a copy
        self.title = connection.execute("SELECT current_database()").fetchone()[0] + "." + self.title
        connection.execute(f"SELECT FROM {self.table} LIMIT 0")  # comparing requires this privilege
        self.stamp, self.deleted = columns[0][6], columns[1][6]
        # the copy has the columns of the view, without the one that marks deleted rows
        columns = [column[6:] for column in columns if column[6] != self.deleted]
        self.columns = [column[0] for column in columns]
        self.types = {column[0]: column[1] for column in columns}
        self.collate_clauses = {column[0]: column[2] for column in columns}
        key = sorted((key, name, identical) for name, _, _, key, identical in columns if key)
        self.key = [name for _, name, _ in key]
        # whether equal keys have equal texts, unlike 1.0 and 1.00
        self.identical = all(identical for _, _, identical in key)
        # the cast of bpchar to text removes spaces
        self.selected = ", ".join(f"textin(bpcharout(c.{quote_psycopg(name)}))" if self.types[name] == "bpchar" else
                                  f"c.{quote_psycopg(name)}::text" for name in self.columns)

    def describe(self):
        return self.connection.execute(DESCRIBE, [self.argument]).fetchall()

    def transaction(self):
        return self.connection.transaction()

    def begin(self, target):
        """Begin to read.  Return false if the server's history lacks the target."""
        if self.describe() != self.description:
            raise Stop(f'the columns of table "{self.argument}" have changed: start the program again')
        return self.connection.execute(
            f"SELECT {self.extension}.uuid_has_replayed(%s), {SETTINGS}", [target]).fetchone()[0] is not False

    def page(self, position):
        """Return the next changes as (deleted, *columns), and the position after them."""
        # rows and positions come from one statement, so they belong to the same server
        names = ", ".join(f"column_{n}" for n in range(len(self.columns)))
        rows = self.connection.execute(f"""
            SELECT CASE WHEN lead(stamp) OVER (ORDER BY stamp) IS NULL
                        THEN {self.extension}.uuidv7_position(stamp, %(position)s) END, page.*
            FROM (SELECT c.{quote_psycopg(self.stamp)}, c.{quote_psycopg(self.deleted)}, {self.selected} FROM {self.view} AS c
                  WHERE c.{quote_psycopg(self.stamp)} > {self.after}(%(position)s)
                  ORDER BY c.{quote_psycopg(self.stamp)} LIMIT {PAGE_ROWS}) AS page (stamp, deleted, {names})
            ORDER BY stamp""", {"position": position}).fetchall()
        return [row[2:] for row in rows], rows[-1][0] if rows else position

    def target(self):
        """Return a target whose replay shows all rows that earlier statements have returned."""
        return self.connection.execute(f"SELECT target FROM {self.extension}.uuid_replay_target()").fetchone()[0]

    def horizon(self):
        """Return the position of the horizon, unless customer_after() would refuse it."""
        return self.connection.execute(
            f"SELECT position FROM (SELECT {self.extension}.uuidv7_position({self.extension}.uuidv7_horizon(), NULL) AS position) AS h "
            f"WHERE {self.after}(position) IS NOT NULL").fetchone()[0]

    def keys(self):
        """Yield the key and the stamp of each row, from one snapshot."""
        columns = ", ".join(f"{quote_psycopg(name)}::text" for name in self.key + [self.stamp])
        # not a named cursor, which could take its snapshot before it locks partitions
        yield from self.connection.cursor().stream(f"SELECT {columns} FROM {self.table}", [])

    def rows(self, keys):
        """Return the rows that exist among keys."""
        arrays = ", ".join("%s::text[]" for name in self.key)
        names = ", ".join(f"key_{n}" for n in range(len(self.key)))
        # cast single values, since an array of arrays has no type of its own
        same = " AND ".join(f"c.{quote_psycopg(name)} = k.key_{n}::{self.types[name].replace('%', '%%')}" for n, name in enumerate(self.key))
        return self.connection.execute(
            f"SELECT {self.selected} FROM unnest({arrays}) AS k ({names}) JOIN {self.table} AS c ON {same}",
            [list(column) for column in zip(*keys)]).fetchall()


class Copy:
    """A copy in SQLite, and the statements that both kinds of copies understand."""

    parameter = "?"
    lock = ""
    quote = staticmethod(quote)

    def __init__(self, address, source):
        self.connection = sqlite3.connect(address, isolation_level=None, timeout=60)
        if not source.identical:
            raise Stop("equal keys can have different texts, so SQLite cannot identify the rows: "
                       "choose a copy in PostgreSQL")
        self.execute("BEGIN IMMEDIATE")
        self.create(source)
        self.execute("COMMIT")

    def create(self, source):
        """Create the copy and its state, unless both exist."""
        self.source = source
        self.table = self.quote(source.name)
        self.key = ", ".join(self.quote(name) for name in source.key)
        columns = [f"{self.quote(name)} {self.type(name)}" for name in source.columns]
        definition = f"({', '.join(columns)}, PRIMARY KEY ({self.key}))"
        self.execute("CREATE TABLE IF NOT EXISTS copy_state (copy text PRIMARY KEY, "
                     "source text NOT NULL, definition text NOT NULL, position text, target text)")
        created = self.execute(f"SELECT source, definition FROM copy_state WHERE copy = {self.parameter}", source.name).fetchone()
        if not self.exists():
            # a state can remain from a copy that was dropped
            self.execute(f"DELETE FROM copy_state WHERE copy = {self.parameter}", source.name)
            self.execute(f"INSERT INTO copy_state VALUES ({', '.join([self.parameter] * 3)}, NULL, NULL)",
                         source.name, source.title, definition)
            self.execute(f"CREATE TABLE {self.table} {definition}")
        elif created is None:
            raise Stop(f'table "{source.name}" exists in the place of the copy, but is no copy')
        elif created[0] != source.title:
            raise Stop(f'table "{source.name}" is a copy of {created[0]}')
        elif created[1] != definition:
            raise Stop(f'the columns or the key of {source.title} have changed: '
                       "drop the copy, and it will be created again")

    def exists(self):
        # names in SQLite do not distinguish upper and lower case
        return self.execute("SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE", self.source.name).fetchone() is not None

    def type(self, name):
        """Return the SQLite type that stores all values of a column unchanged."""
        return "integer" if self.source.types[name] in ("smallint", "integer", "bigint", "oid") else "text"

    def key_parameter(self, name):
        return self.parameter

    def execute(self, statement, *values):
        return self.connection.execute(statement, values)

    def execute_many(self, statement, rows):
        if rows:
            self.connection.cursor().executemany(statement, rows)

    def begin(self):
        """Lock the copy, and return the position, the target, and whether the copy has rows."""
        self.execute("BEGIN IMMEDIATE")
        return self.state()

    def state(self):
        position, target = self.execute(
            f"SELECT position, target FROM copy_state WHERE copy = {self.parameter}" + self.lock, self.source.name).fetchone()
        return position, target, self.execute(f"SELECT 1 FROM {self.table} LIMIT 1").fetchone() is not None

    def commit(self, position, target):
        self.execute(f"UPDATE copy_state SET position = {self.parameter}, target = {self.parameter} WHERE copy = {self.parameter}",
                     position, target, self.source.name)
        self.execute("COMMIT")

    def rollback(self):
        self.execute("ROLLBACK")

    def same_key(self, other):
        return " AND ".join(f"{self.table}.{self.quote(name)} = {other}.{self.quote(name)}" for name in self.source.key)

    def delete(self, keys):
        condition = " AND ".join(f"{self.quote(name)} = {self.key_parameter(name)}" for name in self.source.key)
        self.execute_many(f"DELETE FROM {self.table} WHERE {condition}", keys)

    def write(self, rows):
        """Insert rows, or replace those with the same keys."""
        columns = ", ".join(self.quote(name) for name in self.source.columns)
        parameters = ", ".join(self.parameter for name in self.source.columns)
        changes = ", ".join(f"{self.quote(name)} = excluded.{self.quote(name)}" for name in self.source.columns)
        self.execute_many(f"INSERT INTO {self.table} ({columns}) VALUES ({parameters}) "
                          f"ON CONFLICT ({self.key}) DO UPDATE SET {changes}", rows)

    def fill_existing(self, keys):
        parameters = ", ".join(self.parameter for name in self.source.key + [self.source.stamp])
        self.execute_many(f"INSERT INTO existing VALUES ({parameters})", keys)

    def compare(self, keys):
        """Delete rows whose keys are not given.  Return how many, and the keys with other stamps."""
        columns = ", ".join(self.quote(name) for name in self.source.key + [self.source.stamp])
        stamp = self.quote(self.source.stamp)
        self.execute(f"CREATE TEMPORARY TABLE existing AS SELECT {columns} FROM {self.table} WHERE false")
        self.fill_existing(keys)
        self.execute(f"CREATE INDEX existing_key ON existing ({self.key})")
        gone = self.execute(f"DELETE FROM {self.table} WHERE NOT EXISTS "
                            f"(SELECT 1 FROM existing WHERE {self.same_key('existing')})").rowcount
        names = ", ".join(f"CAST(existing.{self.quote(name)} AS text)" for name in self.source.key)
        differ = self.execute(f"SELECT {names} FROM existing LEFT JOIN {self.table} ON {self.same_key('existing')} "
                              f"WHERE {self.table}.{stamp} IS NULL OR {self.table}.{stamp} <> existing.{stamp}").fetchall()
        self.execute("DROP TABLE existing")
        return gone, differ


class PostgresCopy(Copy):
    """A copy in PostgreSQL."""

    parameter = "%s"
    lock = " FOR UPDATE"
    quote = staticmethod(quote_psycopg)

    def __init__(self, address, source):
        self.connection = connect(address)
        with self.connection.transaction():
            # programs that begin together would create the tables twice
            self.execute("SELECT pg_advisory_xact_lock(9562)")
            self.create(source)

    def type(self, name):
        return (self.source.types[name] + self.source.collate_clauses[name]).replace("%", "%%")

    def key_parameter(self, name):
        # without a cast, the parameter for a composite type would be a record
        return "%s::" + self.source.types[name].replace("%", "%%")

    def exists(self):
        # not elsewhere in the search_path
        return self.execute("SELECT to_regclass(format('%%I.%%I', current_schema(), %s::text))", self.source.name).fetchone() != (None,)

    def execute_many(self, statement, rows):
        # Psycopg's executemany() can hang if values have some megabytes
        for row in rows:
            self.execute(statement, *row)

    def begin(self):
        self.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        self.execute(f"SELECT {SETTINGS}")
        return self.state()

    def fill_existing(self, keys):
        with self.connection.cursor().copy("COPY existing FROM STDIN") as copy:
            for key in keys:
                copy.write_row(key)
        self.execute("ANALYZE existing")


def connect(conninfo):
    # Conninfo can name several hosts; connect to the primary.  Behind a pooler, a prepared statement
    # could be one of another program with the same name, so prepare none.
    connection = psycopg.connect(conninfo, autocommit=True, target_session_attrs="read-write", connect_timeout=5,
                                 prepare_threshold=None, client_encoding="UTF8")
    connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
    return connection


def compare(source, copy):
    """Make the copy equal to the table.  Return the number of differences, the position and the target.

    The position is that of the first statement: what a later statement does not see has a stamp above
    the horizon of the first one.  The target is that of the last statement, and covers all rows.
    """
    with source.transaction():
        source.begin(None)
        position = source.horizon()
        gone, differ = copy.compare(source.keys())
        for first in range(0, len(differ), PAGE_ROWS):
            keys = differ[first:first + PAGE_ROWS]
            copy.delete(keys)
            copy.write(source.rows(keys))
        print(f"{source.title}: compared, {len(differ)} rows fetched, {gone} rows deleted", file=sys.stderr, flush=True)
        return gone + len(differ), position, source.target()


def copy_changes(source, copy):
    """Copy the next page.  Return false if there was none."""
    position, target, has_rows = copy.begin()
    rows = None
    try:
        with source.transaction():
            # a copy without a position must be empty, or it can have rows that do not exist
            if source.begin(target) and (position is not None or not has_rows):
                rows, position = source.page(position)
                if rows:
                    target = source.target()
    except (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.InvalidParameterValue) as error:
        # the position is unknown, older than the last purge, or of the database before a restore
        print(error, file=sys.stderr, flush=True)
    if rows is None:
        count, position, target = compare(source, copy)
    elif rows:
        keys = [source.columns.index(name) for name in source.key]
        copy.delete([[row[1 + n] for n in keys] for row in rows if row[0]])
        copy.write([row[1:] for row in rows if not row[0]])
    else:
        copy.rollback()
        return False
    copy.commit(position, target)
    return True


def run(conninfo, table, address, option):
    with connect(conninfo) as connection:
        source = Source(connection, table)
        copy = Copy(address[len("sqlite:"):], source) if address.startswith("sqlite:") else PostgresCopy(address, source)
        try:
            while True:
                while copy_changes(source, copy):
                    pass
                if option == "--check":
                    copy.begin()
                    count, position, target = compare(source, copy)
                    copy.commit(position, target)
                    print(f"{count} rows differed")
                if option is not None:
                    return
                time.sleep(0.1)
        finally:
            copy.connection.close()


def main(option, arguments):
    while True:
        try:
            return run(*arguments, option)
        except Stop as error:
            sys.exit(str(error))
        except (psycopg.OperationalError, psycopg.errors.ReadOnlySqlTransaction,
                psycopg.errors.InvalidSqlStatementName) as error:
            # a server stops, starts or fails over, so try again
            if PERMANENT.search(str(error)):
                sys.exit(str(error))
            print(error, file=sys.stderr, flush=True)
            time.sleep(1)
        except (psycopg.Error, sqlite3.Error) as error:
            sys.exit(str(error))


if __name__ == "__main__":
    option = sys.argv.pop(1) if sys.argv[1:2] in (["--once"], ["--check"]) else None
    if len(sys.argv) != 4:
        sys.exit("usage: copy_table.py [--once | --check] CONNINFO TABLE CONNINFO|sqlite:FILE")
    try:
        main(option, sys.argv[1:])
    except KeyboardInterrupt:
        pass
