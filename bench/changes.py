"""Measure the log of changes for scripts/bench: changes.py SUITE HOST ROUND ROWS.

Each suite is a function.  Round 0 prepares it, and the later rounds add figures to a table of the database,
which bench/changes.sql has filled.  A CPU time is that of the server process of a connection.
"""
import itertools
import multiprocessing
import re
import select
import statistics
import subprocess
import sys
import time

import psycopg
import psycopg2.extras

suite, host, turn, rows = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
target = f"host={host} dbname={suite}"
db = psycopg.connect(target, autocommit=True)
other = psycopg.connect(target, autocommit=True)
short = rows < 100000
seconds = 1 if short else 5  # of a measurement with concurrent clients
CALL = "us of CPU time, prepared"

PAGE = "SELECT change_type, (data).id, (data).body FROM changes_read({}, NULL::{})"
HAND = """SELECT e.no, e.id, t.body
FROM (SELECT id, max(no) AS no
      FROM (SELECT id, no FROM copied_keys WHERE no > (SELECT no FROM copied_reader WHERE reader = {}) ORDER BY no LIMIT 1000) AS a
      GROUP BY id) AS e LEFT JOIN copied AS t USING (id)
ORDER BY e.no"""


def run(statement, *values):
    """Execute a prepared statement of the measured connection, and return its rows."""
    cursor = db.execute(statement, values or None, prepare=True)
    return cursor.fetchall() if cursor.description else []


def ask(statement):
    return other.execute(statement).fetchone()[0]


def record(measure, side, value):
    other.execute("INSERT INTO figures (measure, side, round, value) VALUES (%s, %s, %s, %s)", (measure, side, turn, value))


def cpu():
    """Return the CPU time of the measured connection's server process, in microseconds."""
    return time.clock_gettime((~db.info.backend_pid << 3) | 2) * 1e6


def used(times, what, before=lambda: None, after=lambda result: None):
    """Return the CPU time of a call, in microseconds, without that of the calls before and after it.

    The calls are divided into five runs.  The mean of the fastest one counts.
    """
    runs = min(times, 5)
    took = [0] * runs
    for n in range(times):
        before()
        began = cpu()
        result = what()
        took[n * runs // times] += cpu() - began
        after(result)
    return min(took) * runs / times


def elapsed(what):
    began = time.monotonic()
    what()
    return time.monotonic() - began


def page(reader="bench", table="logged"):
    return run(PAGE.format(f"'{reader}'", table))


def apply(read=page, confirm=lambda rows: run("SELECT changes_done('bench')")):
    """Read a page and confirm it in one transaction."""
    run("BEGIN")
    rows = read()
    if rows:
        confirm(rows)
    run("COMMIT")
    return rows


def apply_by_hand():
    return apply(lambda: run(HAND.format("'bench'")),
                 lambda rows: run("UPDATE copied_reader SET no = %s WHERE reader = 'bench'", rows[-1][0]))


def apply_batch():
    """Read and confirm a batch of PgQ."""
    run("BEGIN")
    batch = run("SELECT pgq.next_batch('bench', 'bench')")[0][0]
    rows = run("SELECT ev_type, ev_extra1, ev_data FROM pgq.get_batch_events(%s)", batch)
    run("SELECT pgq.finish_batch(%s)", batch)
    run("COMMIT")
    return rows


def register(reader="bench", table="logged"):
    """Let a reader confirm everything."""
    while apply(lambda: page(reader, table), lambda rows: run(f"SELECT changes_done('{reader}')")):
        pass


def change(table="logged", body=itertools.count()):
    other.execute(f"UPDATE {table} SET body = %s WHERE id = 1", (f"Changed {next(body)}, 30 characters",))


def expect(number, result):
    if len(result) != number:
        sys.exit(f"{len(result)} rows instead of {number}")


def start(script, clients, duration):
    """Start pgbench."""
    process = subprocess.Popen(["pgbench", "-n", "-h", host, "-c", str(clients), "-j", "1", "-T", str(duration), "-M", "prepared", "-f", "-", suite],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    process.stdin.write(script)
    process.stdin.close()
    return process


def rate(script, clients, beside=None):
    """Return the transactions a second of clients, optionally beside 50 clients that execute another script."""
    if beside:
        readers = start(beside, 50, seconds + 60)
        time.sleep(2)  # in the meantime, the readers begin
    output = start(script, clients, seconds).stdout.read()
    if beside:
        readers.terminate()
        readers.wait()
    return float(re.search(r"^tps = ([\d.]+)", output, re.MULTILINE)[1])


# --- suites -----------------------------------------------------------------


def calls():
    """Measure the calls of a reader."""
    register()
    for call in lambda: run("SELECT 1"), page:
        used(20, call)
    record(CALL, "SELECT 1", used(2000, lambda: run("SELECT 1")))
    record(CALL, "an empty page", used(1000, page))
    position = PAGE.format("'bench'", "logged").replace(" FROM", ", change_position FROM")

    def confirm(rows):
        expect(1, rows)
        run("SELECT changes_done('bench', %s)", rows[0][3])
    record(CALL, "a page with a change, right after its commit", used(200, lambda: run(position), change, confirm))
    record(CALL, "reading and confirming a change", used(200, apply, change, lambda rows: expect(1, rows)))


def update_single_rows(tables):
    """Measure transactions that update one row, for all tables alternately."""
    took = {}
    numbers = itertools.count()
    for _ in range(5):
        for side, table in tables.items():
            update = f"UPDATE {table} SET body = 'Changed again, 30 characters' WHERE id = %s"
            took[side] = min(took.get(side, float("inf")), used(1000, lambda: run(update, next(numbers) % 1000 + 1)))
    for side, us in took.items():
        record(f"us of CPU time, UPDATE of one row, wal_level {ask('SHOW wal_level')}", side, us)


TABLES = {"no trigger": "plain", "floor: an AFTER trigger that does nothing": "empty", "the log of changes_track()": "logged",
          "updated_at, set by a trigger, with an index": "stamped", "statement triggers that log keys": "copied", "PgQ": "queued"}


def writing():
    """Measure transactions that change a table with and without a log of changes."""
    if turn == 0:
        for n in range(8):
            db.execute(f"CREATE TABLE table{n} (LIKE plain INCLUDING ALL)")
            db.execute(f"INSERT INTO table{n} SELECT * FROM plain WHERE id <= 1000")
            db.execute(f"SELECT changes_track('table{n}')")
        change()  # changes_purge() of earlier commits fails before the first change
        return
    many = min(rows, 50000)
    level = ask("SHOW wal_level")
    statements = {"INSERT": f"INSERT INTO {{}} SELECT n, 'A message of 30 characters...' FROM generate_series(1, {many}) AS n",
                  "UPDATE": "UPDATE {} SET body = 'Another message of 30 letters'", "DELETE": "DELETE FROM {}"}
    tables = {side: table for side, table in TABLES.items() if ask(f"SELECT to_regclass('{table}') IS NOT NULL")}
    for side, table in tables.items():
        took = {}
        for _ in range(3):
            for statement in f"TRUNCATE {table}", "TRUNCATE copied_keys", "SELECT changes_purge('logged', '0')", "VACUUM", "CHECKPOINT":
                db.execute(statement)
            for name, statement in statements.items():
                took[name] = min(took.get(name, float("inf")), used(1, lambda: db.execute(statement.format(table))))
        for name, us in took.items():
            record(f"ms of CPU time, {name} of {many} rows, wal_level {level}", side, us / 1000)
        db.execute(statements["INSERT"].format(table))
    update_single_rows(tables)
    record(f"transactions a second of 8 clients on 8 tables, wal_level {level}", "the log of changes_track()",
           rate("\\set n random(1, 1000)\n" + "".join(
               f"\\if :client_id = {n}\nUPDATE table{n} SET body = 'Changed again, 30 characters' WHERE id = :n;\n\\endif\n" for n in range(8)), 8))


logical = writing


def reading():
    """Measure the calls of a reader, and pages of many changes."""
    if turn == 0:
        db.execute("CREATE TABLE big (LIKE plain INCLUDING ALL)")
        db.execute("SELECT changes_track('big')")
        register("unread", "big")
        db.execute("INSERT INTO big SELECT n, 'A message of 30 characters...' FROM generate_series(1, %s) AS n", [5 * rows])
        return
    calls()
    change("copied")
    apply_by_hand()
    record(CALL, "reading and confirming a change by hand", used(200, apply_by_hand, lambda: change("copied"), lambda rows: expect(1, rows)))
    record(CALL, f"1,000 of {5 * rows} unread changes", used(5, lambda: page("unread", "big"), after=lambda rows: expect(1000, rows)))
    pages = min(10, rows // 1000)
    for side, table, read in ("by hand", "copied", apply_by_hand), ("changes_read()", "logged", apply), ("PgQ", "queued", apply_batch):
        if not ask(f"SELECT to_regclass('{table}') IS NOT NULL"):
            continue
        if table == "queued":
            other.execute("SELECT pgq.force_tick('bench'), pgq.ticker('bench')")
            while run("SELECT pgq.next_batch('bench', 'bench')")[0][0]:
                apply_batch()
        for n in range(pages):
            other.execute(f"UPDATE {table} SET body = body || '.' WHERE id BETWEEN %s AND %s", (n * 1000 + 1, n * 1000 + 1000))
            if table == "queued":
                other.execute("SELECT pgq.ticker('bench')")
        record("us of CPU time a change, in pages of 1,000", side, used(pages, read, after=lambda rows: expect(1000, rows)) / 1000)


UPDATES = "\\set n random(1, {})\nUPDATE {} SET body = 'Changed again, 30 characters' WHERE id = :n;\n"
POLLS = """BEGIN;
SELECT count(*) AS changes, sum(length(body)) AS size{} FROM ({}) AS page \\gset
\\if :changes > 0
{};
\\endif
COMMIT;
\\sleep 100 ms
"""
POLLER = "'poller ' || :client_id"


def polling():
    """Measure writers beside 50 clients of which each reads ten times a second."""
    if turn == 0:
        return
    many = min(rows, 50000)
    polls = {table: POLLS.format("", PAGE.format(POLLER, table), f"SELECT changes_done({POLLER})") for table in ("logged", "quiet")}
    polls["copied"] = POLLS.format(", max(no) AS no", HAND.format(POLLER), f"UPDATE copied_reader SET no = :no WHERE reader = {POLLER}")
    tps = {}
    for table, beside in ("logged", None), ("copied", None), ("logged", "quiet"), ("copied", "copied"), ("logged", "logged"):
        # let no reader begin with changes of the previous measurements
        db.execute("SELECT changes_forget(reader, source) FROM changes_readers")
        db.execute("UPDATE copied_reader SET no = coalesce((SELECT max(no) FROM copied_keys), 0)")
        tps[table, beside] = rate(UPDATES.format(many, table), 4, polls.get(beside))
    measure = "updates a second of four clients"
    record(measure, "the log of changes_track(), without readers", tps["logged", None])
    record(measure, "beside 50 readers of a table that does not change", tps["logged", "quiet"])
    measure += ", beside 50 readers of the table"
    record(measure, "by hand", tps["copied", "copied"])
    record(measure, "changes_read()", tps["logged", "logged"])
    measure += ", times those without readers"
    record(measure, "by hand", tps["copied", "copied"] / tps["copied", None])
    record(measure, "changes_read()", tps["logged", "logged"] / tps["logged", None])


def partitions():
    """Measure an empty page of a table with many partitions, and the view of many tables."""
    if turn == 0:
        db.execute("CREATE TABLE parts (LIKE plain INCLUDING ALL) PARTITION BY RANGE (id)")
        for n in range(500):
            db.execute(f"CREATE TABLE part{n} PARTITION OF parts FOR VALUES FROM ({n}) TO ({n + 1})")
        db.execute("SELECT changes_track('parts')")
        for n in range(397):
            db.execute(f"CREATE TABLE table{n} (LIKE plain INCLUDING ALL)")
            db.execute(f"SELECT changes_track('table{n}')")
        return
    for side, table in ("a table", "logged"), ("500 partitions", "parts"):
        register(table, table)
        numbers = itertools.count()
        record("us of CPU time, an empty page after another session creates a temporary table", side,
               used(20, lambda: page(table, table), lambda: other.execute(f"CREATE TEMPORARY TABLE {table}_{next(numbers)} ()")))
    record("s, changes_tables", "400 tables", min(elapsed(lambda: expect(400, run("TABLE changes_tables"))) for _ in range(3)))


def commit(table, many, pause, times):
    """Commit changes of single rows, and store when each COMMIT was sent."""
    with psycopg2.connect(target) as writer, writer.cursor() as cursor:
        begin = time.monotonic()
        for n in range(many):
            time.sleep(max(0, begin + n * pause - time.monotonic()))
            cursor.execute(f"UPDATE {table} SET body = 'Changed again, 30 characters' WHERE id = %s", [n + 1])
            times[n] = time.monotonic()
            writer.commit()


class Reader:
    """A client of libpq that returns the rows of its page."""
    table = "logged"
    page, confirm = PAGE.format("'bench'", "logged"), "SELECT changes_done('bench')"

    def __init__(self):
        self.db = psycopg2.connect(target)
        self.db.autocommit = True
        self.cursor = self.db.cursor()
        self.cursor.execute(f"PREPARE page AS {self.page}; LISTEN {self.table}")

    def wait(self):
        self.cursor.execute("CALL changes_wait('bench', 'logged')")

    def rows(self):
        self.wait()
        self.cursor.execute("BEGIN; EXECUTE page")
        page = self.cursor.fetchall()
        yield from (row[1] for row in page)
        if page:
            self.cursor.execute(self.confirm, {"last": page[-1][0]})
        self.cursor.execute("COMMIT")


class Poller(Reader):
    def wait(self):
        time.sleep(0.1)


class Listener(Reader):
    table = "copied"
    page, confirm = HAND.format("'bench'"), "UPDATE copied_reader SET no = %(last)s WHERE reader = 'bench'"

    def wait(self):
        while not self.db.notifies:
            select.select([self.db], [], [])
            self.db.poll()
        self.db.notifies.clear()


class Receiver:
    """A client of logical decoding."""
    table = "plain"

    def __init__(self):
        self.db = psycopg2.connect(target, connection_factory=psycopg2.extras.LogicalReplicationConnection)
        self.cursor = self.db.cursor()
        self.cursor.execute("CREATE_REPLICATION_SLOT bench TEMPORARY LOGICAL pgoutput")
        self.cursor.start_replication("bench", options={"proto_version": "1", "publication_names": "bench"})

    def rows(self):
        message = self.cursor.read_message()
        if not message:
            select.select([self.cursor], [], [])
        elif message.payload[:1] == b"U":  # relation, "N", number of columns, "t", length and text of the key
            yield int(message.payload[13:13 + int.from_bytes(message.payload[9:13], "big")])


def waiting():
    """Measure the time from COMMIT to the row in the client, and writers beside readers that wait."""
    if turn == 0:
        db.execute("CREATE TRIGGER tell AFTER UPDATE ON copied FOR EACH STATEMENT EXECUTE FUNCTION tell()")
        db.execute("CREATE PUBLICATION bench FOR TABLE plain")
        return
    clients = [("LISTEN", "LISTEN, then a query by hand", Listener), ("pgoutput", "pgoutput", Receiver),
               ("", "changes_wait()", Reader), ("", "polling each 100 ms", Poller)]
    first = (turn - 1) % len(clients)  # each round begins with another client
    for pause, many in (1, 3 * seconds), (0.01, 100 * seconds):
        measure = f"ms from COMMIT to the row in the client, {1 / pause:g} commits a second"
        for compared, side, client in clients[first:] + clients[:first]:
            register()
            reader = client()
            fork = multiprocessing.get_context("fork")
            times = fork.Array("d", many, lock=False)
            writer = fork.Process(target=commit, args=(reader.table, many, pause, times))
            writer.start()
            took = {}
            while len(took) < many:
                for n in reader.rows():
                    took.setdefault(n, time.monotonic() - times[n - 1])
            writer.join()
            reader.db.close()
            ms = sorted(1000 * t for t in took.values())
            for other_side in [compared] if compared else ["LISTEN", "pgoutput"]:
                record(f"{measure}, compared with {other_side}", side, statistics.median(ms))
                record(f"{measure}, 99th percentile, compared with {other_side}", side, ms[int(len(ms) * 0.99)])
    measure = "updates a second of four clients"
    updates = UPDATES.format(min(rows, 50000), "logged")
    for n in range(50):
        register(f"poller {n}", "quiet")  # nobody waits for "reset"
    record(measure, "without readers", rate(updates, 4))
    record(measure, "beside 50 readers that wait for changes of another table", rate(updates, 4, f"CALL changes_wait({POLLER}, 'quiet');\n"))


def purging():
    """Measure how long the worker purges, and the calls of others in the meantime."""
    if turn == 0:
        db.execute("CREATE TABLE big (LIKE plain INCLUDING ALL)")
        db.execute("SELECT changes_track('big')")
    if turn != 1:
        return
    register("late", "big")
    db.execute("INSERT INTO big SELECT n, 'A message of 30 characters...' FROM generate_series(1, %s) AS n", [5 * rows])
    register("beside", "big")
    register()
    took = {}

    def sample(when):
        for side, call in (("a page of the table", lambda: page("beside", "big")),
                           ("changes_track() of the table", lambda: run("SELECT changes_track('big')")),
                           ("reading and confirming a change of another table", apply)):
            change()
            took.setdefault((side, when), []).append(1000 * elapsed(call))
        time.sleep(0.02)

    for _ in range(100):
        sample("before")
    if ask("SELECT count(*) FROM uuid9562_changes.log WHERE source = 'big'::regclass") < 5 * rows:
        sys.exit("the log does not contain all entries")
    change("big")
    db.execute("SELECT changes_forget('late', 'big')")
    register("beside", "big")
    began = time.monotonic()
    while ask("SELECT EXISTS (SELECT FROM uuid9562_changes.log WHERE source = 'big'::regclass)"):
        sample("while the worker deletes entries")
    record("s, from a confirmation to an empty log", f"{5 * rows} changes", time.monotonic() - began)
    for (side, when), ms in took.items():
        record(f"ms, {side}", when, statistics.median(ms))
        record(f"ms, {side}, 99th percentile", when, sorted(ms)[int(len(ms) * 0.99)])


def managed():
    """Measure the functions without C."""
    if turn > 0:
        calls()
        update_single_rows({side: table for side, table in TABLES.items() if table in ("plain", "logged")})


if suite not in ("waiting", "purging") or ask("SELECT to_regproc('changes_wait') IS NOT NULL"):
    globals()[suite]()
