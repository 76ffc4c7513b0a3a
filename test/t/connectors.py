"""Read an outbox with the queries of six tools while transactions commit late.

    connectors.py CONNINFO SECONDS

The database has the tables and views of doc/connectors.md.  Each tool reads the table with the
cursor that the table offers without the extension, and also a view of the page.  Print for each
of them how many rows the tool missed.  The queries are those that the tools send; the names of
their parameters and Python's loops around them replace the rest of each tool.
"""
import random
import sys
import threading
import time

import psycopg

WRITERS = 6
PAGE = 50  # page size of Logstash, and limit of Singer; the others read without a limit


class Tool:
    """A reader.  Subclasses implement poll(), which yields the IDs of the rows that it reads."""

    def __init__(self, conninfo, relation, cursor, start):
        self.connection = psycopg.connect(conninfo, autocommit=True)
        self.relation, self.cursor, self.last = relation, cursor, start
        self.ids = []
        self.name = f"{type(self).__name__}, {relation}.{cursor}"

    def select(self, query, *parameters, prepare=None):
        """Return the rows of a query as dictionaries."""
        cursor = self.connection.cursor(row_factory=psycopg.rows.dict_row)
        return cursor.execute(query, parameters, prepare=prepare).fetchall()

    def read(self):
        """Read once, and return whether there was a new row."""
        before = len(self.ids)
        last = self.last
        self.ids += self.poll()
        return self.last != last or len(self.ids) > before


class KafkaIncrementing(Tool):
    """mode=incrementing of Kafka Connect JDBC"""

    def poll(self):
        column = f'"public"."{self.relation}"."{self.cursor}"'
        query = f'SELECT * FROM "public"."{self.relation}" WHERE {column} > %s ORDER BY {column} ASC'
        for row in self.select(query, self.last, prepare=True):
            self.last = row[self.cursor]
            yield row["id"]


class KafkaTimestamp(Tool):
    """mode=timestamp of Kafka Connect JDBC"""

    def poll(self):
        column = f'"public"."{self.relation}"."{self.cursor}"'
        [now] = self.select("SELECT CURRENT_TIMESTAMP AS now")
        query = f'SELECT * FROM "public"."{self.relation}" WHERE {column} > %s AND {column} < %s ORDER BY {column} ASC'
        for row in self.select(query, self.last, now["now"], prepare=True):
            self.last = row[self.cursor]
            yield row["id"]


class KafkaBoth(Tool):
    """mode=timestamp+incrementing of Kafka Connect JDBC; the cursor is "timestamp,integer"."""

    def poll(self):
        names = self.cursor.split(",")
        time_column, number = (f'"public"."{self.relation}"."{name}"' for name in names)
        [now] = self.select("SELECT CURRENT_TIMESTAMP AS now")
        query = f"""SELECT * FROM "public"."{self.relation}"
            WHERE {time_column} < %s AND (({time_column} = %s AND {number} > %s) OR {time_column} > %s)
            ORDER BY {time_column},{number} ASC"""
        for row in self.select(query, now["now"], self.last[0], self.last[1], self.last[0], prepare=True):
            self.last = tuple(row[name] for name in names)
            yield row["id"]


class Logstash(Tool):
    """jdbc input of Logstash, with use_column_value and jdbc_paging_enabled"""

    def poll(self):
        statement = f"SELECT * FROM {self.relation} WHERE {self.cursor} > {self.last} ORDER BY {self.cursor}"
        [total] = self.select(f'SELECT count(*) AS "count" FROM ({statement}) AS "t1" LIMIT 1')
        for offset in range(0, total["count"], PAGE):
            for row in self.select(f'SELECT * FROM ({statement}) AS "t1" LIMIT {PAGE} OFFSET {offset}'):
                self.last = row[self.cursor]
                yield row["id"]


class Airbyte(Tool):
    """source-postgres of Airbyte: "user-defined cursor" """

    count = 0

    def poll(self):
        table = f'"public"."{self.relation}"'
        operator = ">"
        if self.count > 0:
            [found] = self.select(f'SELECT COUNT(*) AS record_count FROM {table} WHERE "{self.cursor}" = %s', self.last, prepare=True)
            operator = ">" if found["record_count"] == self.count else ">="
        query = f'SELECT * FROM {table} WHERE "{self.cursor}" {operator} %s ORDER BY "{self.cursor}" ASC'
        for row in self.select(query, self.last, prepare=True):
            self.count = self.count + 1 if row[self.cursor] == self.last else 1
            self.last = row[self.cursor]
            yield row["id"]


class Dlt(Tool):
    """sql_table of dlt with dlt.sources.incremental, which ignores the rows that it has at the boundary"""

    boundary = frozenset()

    def poll(self):
        rows = self.select(f"SELECT * FROM public.{self.relation} WHERE public.{self.relation}.{self.cursor} >= %s", self.last)
        if not rows:
            return
        known = self.boundary
        self.last = max(row[self.cursor] for row in rows)
        self.boundary = frozenset(row["id"] for row in rows if row[self.cursor] == self.last)
        yield from (row["id"] for row in rows if row["id"] not in known)


class Dbt(Tool):
    """an incremental model of dbt: its table keeps the greatest cursor"""

    def poll(self):
        target = "model_" + self.relation
        with self.connection.transaction():
            self.connection.execute(f"CREATE TABLE IF NOT EXISTS {target} AS SELECT * FROM {self.relation} WHERE false")
            self.connection.execute(f"""CREATE TEMPORARY TABLE {target}__dbt_tmp ON COMMIT DROP AS
                SELECT * FROM {self.relation}
                WHERE {self.cursor} > (SELECT coalesce(max({self.cursor}), -1) FROM {target})""")
            rows = self.select(f"INSERT INTO {target} SELECT * FROM {target}__dbt_tmp RETURNING id")
        yield from (row["id"] for row in rows)


class Singer(Tool):
    """tap-postgres of PipelineWise, replication method INCREMENTAL with a limit: with a named cursor, rows at the boundary again"""

    def poll(self):
        query = f"""SELECT * FROM (
                SELECT * FROM "public"."{self.relation}"
                WHERE "{self.cursor}" >= '{self.last}'::{self.type}
                ORDER BY "{self.cursor}" ASC LIMIT {PAGE}) pg_speedup_trick"""
        ids = []
        with self.connection.transaction(), self.connection.cursor("pipelinewise", row_factory=psycopg.rows.dict_row) as cursor:
            for row in cursor.execute(query):
                self.last = row[self.cursor]
                ids.append(row["id"])
        yield from (id for id in ids if id not in self.known)
        self.known.update(ids)

    known = set()

    @property
    def type(self):
        return "bigint" if isinstance(self.last, int) else "timestamp with time zone"


def write(conninfo, stop, seed):
    """Insert rows in transactions of different lengths."""
    chance = random.Random(seed)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        while not stop.is_set():
            with connection.transaction():
                for _ in range(chance.randint(1, 3)):
                    connection.execute("INSERT INTO outbox (message) VALUES ('row')")
                    time.sleep(chance.choice([0, 0, 0.005, 0.05]))


def follow(tool, stop):
    while not stop.is_set():
        tool.read()
        time.sleep(0.01)


def main(conninfo, seconds):
    early = "1970-01-02 00:00:00+00"
    tools = [
        KafkaIncrementing(conninfo, "outbox", "number", -1),
        KafkaTimestamp(conninfo, "outbox", "created_at", early),
        KafkaBoth(conninfo, "outbox", "created_at,number", (early, -1)),
        Logstash(conninfo, "outbox", "number", -1),
        Airbyte(conninfo, "outbox", "number", -1),
        Dlt(conninfo, "outbox", "created_at", early),
        Dbt(conninfo, "outbox", "number", -1),
        Singer(conninfo, "outbox", "created_at", early),
        KafkaIncrementing(conninfo, "outbox_numbered", "ordinal", -1),
        KafkaBoth(conninfo, "outbox_timed", "generated_at,ordinal", (early, -1)),
        Logstash(conninfo, "outbox_numbered", "ordinal", -1),
        Airbyte(conninfo, "outbox_numbered", "ordinal", -1),
        Dlt(conninfo, "outbox_settled", "id", "00000000-0000-0000-0000-000000000000"),
        Dbt(conninfo, "outbox_numbered", "ordinal", -1),
        Singer(conninfo, "outbox_numbered", "ordinal", -1),
    ]
    for tool in tools:
        tool.known = set()
    with psycopg.connect(conninfo, autocommit=True) as connection:
        # many rows in each millisecond
        connection.execute("INSERT INTO outbox (message) SELECT 'row' FROM generate_series(1, 1000)")
    stop = threading.Event()
    seed = random.randrange(1 << 30)
    print("seed", seed, file=sys.stderr)
    writers = [threading.Thread(target=write, args=(conninfo, stop, seed + i)) for i in range(WRITERS)]
    readers = [threading.Thread(target=follow, args=(tool, stop)) for tool in tools]
    for thread in writers + readers:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in writers + readers:
        thread.join()
    with psycopg.connect(conninfo) as connection:
        # a later value, so that the last rows are below the horizon and in a past millisecond
        connection.execute("SELECT pg_sleep(0.01), uuidv7_ordered()")
        connection.commit()
        rows = {id for [id] in connection.execute("SELECT id FROM outbox")}
    for tool in tools:
        while tool.read():
            pass
        print(f"{tool.name}: {len(rows - set(tool.ids))} of {len(rows)} missed, {len(tool.ids) - len(set(tool.ids))} twice")


main(sys.argv[1], float(sys.argv[2]))
