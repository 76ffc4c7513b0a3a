"""Use changes_track(), changes_read() and changes_done() as any program would.

    three_calls.py CONNINFO

The database has the functions of the C extension, or those of the folder managed, in the search
path.  The role may create schemas and tables, and the role clerk exists.  The results are lines of
TAP.
"""
import sys
import threading
import time

import psycopg

count = failures = 0


def check(name, got, expected):
    global count, failures
    count += 1
    failures += got != expected
    print(f"{'ok' if got == expected else 'not ok'} {count} - {name}", flush=True)
    if got != expected:
        print(f"# got {str(got)[:1000]}\n# expected {str(expected)[:1000]}", flush=True)


class Session:
    """A connection in autocommit mode, which a program opens again if it breaks."""

    def __init__(self, conninfo):
        self.conninfo = conninfo
        self.connection = None

    def run(self, statement, *parameters):
        if self.connection is None or self.connection.closed:
            self.connection = psycopg.connect(self.conninfo, autocommit=True)
        cursor = self.connection.execute(statement, parameters or None)
        return cursor.fetchall() if cursor.description else []

    def close(self):
        if self.connection is not None:
            self.connection.close()


class Copy:
    """A copy of a table in memory.  The first column of the table is its key."""

    def __init__(self, session, reader, table, outside=False, page=1000):
        self.session, self.reader, self.table, self.page = session, reader, table, page
        self.outside = outside  # store the position beside the copy, and pass it as "after"
        self.position = None
        self.rows = {}

    def fetch(self):
        after = ", after => %s" if self.outside else ""
        return self.session.run(f"SELECT change_type, (data).*, change_position FROM changes_read(%s, NULL::{self.table}, %s{after})",
                                self.reader, self.page, *[self.position] * self.outside)

    def apply(self, changes):
        """Apply changes, and return what they were."""
        for kind, *row, position in changes:
            if kind == "reset":
                self.rows = {row[0]: tuple(row) for row in self.session.run(f"SELECT * FROM {self.table}")}
            elif kind == "upsert":
                self.rows[row[0]] = tuple(row)
            else:
                self.rows.pop(row[0], None)
            if self.outside:
                self.position = position
        return [kind if kind == "reset" else f"{kind} {row[0]}" for kind, *row, position in changes]

    def confirm(self, position=None):
        if not self.outside:
            self.session.run("SELECT changes_done(%s, %s)", self.reader, position)

    def read(self):
        """Read and confirm a page."""
        changes = self.fetch()
        applied = self.apply(changes)
        if changes:
            self.confirm(changes[-1][-1])
        return applied

    def read_all(self):
        # a new partition can follow an empty page
        pages = [self.read()]
        while pages[-2:] == [[]] or any(pages[-2:]):
            pages.append(self.read())
        return [change for page in pages for change in page]

    def differences(self):
        now = {row[0]: tuple(row) for row in self.session.run(f"SELECT * FROM {self.table}")}
        return sorted(set(now.items()) ^ set(self.rows.items()), key=str)


def error_of(session, statement, *parameters):
    try:
        session.run(statement, *parameters)
    except psycopg.Error as error:
        return error.diag.sqlstate
    return None


# --- each kind of change ------------------------------------------------------------


def test(conninfo):
    one, two, three = (Session(conninfo) for _ in range(3))
    clerk = Session(conninfo + " user=clerk")
    one.run("CREATE TABLE item (id int PRIMARY KEY, name text)")
    one.run("INSERT INTO item SELECT n, 'old' FROM generate_series(1, 10) AS n")
    one.run("GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON item TO clerk")
    check("the log is returned", one.run("SELECT changes_track('item')::text"), [("changes.item",)])
    inside, outside = Copy(three, "inside", "item"), Copy(three, "outside", "item", outside=True)

    def both(name, expected):
        for copy in (inside, outside):
            check(f"{name} ({copy.reader})", copy.read_all(), expected)
            check(f"the copy is right ({copy.reader})", copy.differences(), [])

    both("a new reader copies the table", ["reset"])
    one.run("INSERT INTO item VALUES (11, 'a')")
    one.run("UPDATE item SET name = 'b' WHERE id = 1")
    one.run("UPDATE item SET id = 12 WHERE id = 2")
    one.run("DELETE FROM item WHERE id = 3")
    one.run("UPDATE item SET name = 'c' WHERE id = 11")
    both("each change arrives", ["upsert 1", "delete 2", "upsert 12", "delete 3", "upsert 11"])
    clerk.run("UPDATE item SET name = 'd' WHERE id < 6")
    both("a role without rights on the log changes rows", ["upsert 1", "upsert 4", "upsert 5"])

    one.run("BEGIN")
    one.run("UPDATE item SET name = 'e' WHERE id = 4")
    one.run("SAVEPOINT s")
    one.run("DELETE FROM item")
    one.run("ROLLBACK TO s")
    one.run("INSERT INTO item VALUES (13, 'e')")
    two.run("UPDATE item SET name = 'f' WHERE id = 5")
    both("a change arrives beside a transaction in progress", ["upsert 5"])
    one.run("COMMIT")
    both("the changes of a transaction arrive after it, without what it has rolled back", ["upsert 4", "upsert 13"])
    one.run("BEGIN")
    one.run("DELETE FROM item")
    one.run("ROLLBACK")
    both("nothing arrives from a transaction that rolls back", [])

    # two transactions change a row, and the one that wrote first changes it last
    one.run("BEGIN")
    one.run("UPDATE item SET name = 'first' WHERE id = 4")
    two.run("BEGIN")
    two.run("UPDATE item SET name = 'second' WHERE id = 5")
    both("no change arrives before its transaction has committed", [])
    two.run("COMMIT")
    both("the second transaction", ["upsert 5"])
    one.run("UPDATE item SET name = 'third' WHERE id = 5")
    one.run("COMMIT")
    both("the first transaction", ["upsert 4", "upsert 5"])
    check("the last change wins", inside.rows[5], (5, "third"))

    # an INSERT waits until the row is deleted
    two.run("BEGIN")
    two.run("DELETE FROM item WHERE id = 4")
    waiting = threading.Thread(target=one.run, args=("INSERT INTO item VALUES (4, 'again')",))
    waiting.start()
    while three.run("SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)") == [(False,)]:
        time.sleep(0.01)
    two.run("COMMIT")
    waiting.join()
    both("an INSERT that waits for a DELETE", ["upsert 4"])

    # confirm the middle of a page, while a transaction that wrote before it commits
    one.run("BEGIN")
    one.run("UPDATE item SET name = 'slow' WHERE id = 6")
    two.run("UPDATE item SET name = 'quick' WHERE id IN (7, 8, 9)")
    changes = inside.fetch()
    inside.apply(changes[:2])
    inside.confirm(changes[1][-1])
    one.run("COMMIT")
    check("a page is confirmed in its middle", inside.read_all(), ["upsert 9", "upsert 6"])
    check("nothing is skipped", inside.differences(), [])
    outside.read_all()
    inside.page = outside.page = 2
    two.run("UPDATE item SET name = 'pages'")
    inside.read_all(), outside.read_all()
    check("small pages skip nothing", inside.differences() + outside.differences(), [])
    inside.page = outside.page = 1000

    # the work is done in the transaction that reads
    one.run("CREATE TABLE target (id int PRIMARY KEY, name text)")
    work = ("INSERT INTO target SELECT id, name FROM item WHERE (SELECT count(*) FROM changes_read('work', NULL::item)) >= 0 "
            "ON CONFLICT (id) DO UPDATE SET name = excluded.name")
    one.run(work), one.run("SELECT changes_done('work')")
    two.run("UPDATE item SET name = 'g' WHERE id = 7")
    one.run("BEGIN")
    check("a page", one.run("SELECT change_type, data::text FROM changes_read('work', NULL::item)"), [("upsert", "(7,g)")])
    one.run("SELECT changes_done('work')")
    one.run("ROLLBACK")
    two.run("UPDATE item SET name = 'h' WHERE id = 8")
    check("a page that is rolled back is returned again", one.run("SELECT data::text FROM changes_read('work', NULL::item)"), [("(7,g)",), ("(8,h)",)])
    inside.read_all(), outside.read_all()

    # a position outside the database is never believed blindly
    before = outside.position
    two.run("BEGIN")
    two.run("UPDATE item SET name = 'i' WHERE id = 9")
    two.run("COMMIT")
    outside.read_all()
    outside.position = before
    check("an earlier position returns its changes again", outside.read_all(), ["upsert 9"])
    inside.read_all()
    check("a position of another log is refused", error_of(three, "SELECT changes_done('outside', 'changes1.x')"), "22P02")

    two.run("TRUNCATE item")
    two.run("INSERT INTO item VALUES (1, 'new')")
    both("TRUNCATE", ["reset"])
    one.run("ALTER TABLE item ADD COLUMN more int DEFAULT 1")
    three.close()
    both("a column is added", ["reset"])
    one.run("ALTER TABLE item DISABLE TRIGGER ALL")
    check("changes that are not logged are refused", error_of(three, "SELECT changes_read('inside', NULL::item)"), "55000")
    one.run("SELECT changes_track('item')")
    both("changes_track() again", ["reset"])
    # a position is confirmed both ways, and then the target is new
    one.run("SELECT changes_done('outside', %s)", outside.position)
    check("nothing has changed", outside.read_all(), [])
    new_target = Copy(three, "outside", "item", outside=True)
    check("a reader whose target is new", new_target.read_all(), ["reset"])
    check("the new target is right", new_target.differences(), [])
    check("another target has read as this reader", error_of(three, "SELECT changes_read('inside', NULL::item, after => NULL)"), "55000")
    one.run("SELECT changes_reset('item')")
    one.run("TRUNCATE changes.item")
    both("changes_reset()", ["reset"])
    one.run("UPDATE item SET name = 'g'")
    one.run("DELETE FROM changes.item")
    both("the log is emptied before an entry was read", ["reset"])
    one.run("DROP TABLE changes.item")
    two.run("UPDATE item SET name = 'unlogged'")
    check("a dropped log does not stop writers, but readers", error_of(three, "SELECT changes_read('inside', NULL::item)"), "55000")
    one.run("SELECT changes_track('item')")
    both("a new log", ["reset"])
    two.run("INSERT INTO item VALUES (2, 'two')")
    both("then changes arrive again", ["upsert 2"])

    # entries are purged when all readers have confirmed them
    one.run("DELETE FROM target")
    one.run("SELECT changes_read('late', NULL::item)"), one.run("SELECT changes_done('late')")
    two.run("INSERT INTO item VALUES (3, 'three')")
    inside.read_all(), outside.read_all(), outside.read_all()
    one.run("SELECT changes_purge('item', '0')")
    check("entries stay for a reader", one.run("SELECT data::text FROM changes_read('late', NULL::item)"), [("(3,three,1)",)])
    check("readers are shown", one.run("SELECT waits_for, entries_waiting FROM changes_readers WHERE reader = 'late'"), [("confirmation", 1)])
    one.run("SELECT changes_done('late')")
    one.run("SELECT changes_purge('item', '0')")
    check("confirmed entries are removed", one.run("SELECT count(*) FROM changes.item"), [(0,)])
    two.run("INSERT INTO item VALUES (4, 'four')")
    both("after a purge", ["upsert 4"])
    two.run("DELETE FROM item")
    check("waiting entries are shown", one.run("SELECT waits_for, entries_waiting FROM changes_readers WHERE reader = 'inside'"), [("changes_read()", 4)])
    both("all rows are deleted", [f"delete {n}" for n in (1, 2, 3, 4)])
    check("nothing waits", one.run("SELECT waits_for, entries_waiting FROM changes_readers WHERE reader = 'inside'"), [(None, 0)])
    check("the table is shown", one.run("SELECT source::text, log::text, problem FROM changes_tables"), [("item", "changes.item", None)])

    # a transaction that began before changes_track()
    one.run("CREATE TABLE early (id int PRIMARY KEY)")
    two.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    two.run("SELECT 1 FROM item")
    one.run("SELECT changes_track('early')")
    early = Copy(three, "early", "early")
    early.read_all()
    if error_of(two, "INSERT INTO early VALUES (1)") == "40001":
        two.run("ROLLBACK")
        two.run("INSERT INTO early VALUES (1)")
    else:
        two.run("COMMIT")
    check("a transaction with an old snapshot logs its changes, or fails", early.read_all(), ["upsert 1"])

    # keys
    one.run("CREATE DOMAIN code AS varchar(10) NOT NULL")
    one.run("""CREATE TABLE "Odd ""x"" name" (change_id code, "b b" numeric, xid bytea, v text, PRIMARY KEY ("b b", change_id, xid))""")
    odd = Copy(three, "odd", '"Odd ""x"" name"')
    one.run("""SELECT changes_track('"Odd ""x"" name"')""")
    three.run("SELECT changes_read('odd', NULL::" + odd.table + ")"), three.run("SELECT changes_done('odd')")
    one.run(f"INSERT INTO {odd.table} VALUES ('ä', 1.0, 'x', 'a'), ('b', 2, 'y', 'b')")
    one.run(f"""UPDATE {odd.table} SET "b b" = 1.00 WHERE v = 'a'""")
    one.run(f"UPDATE {odd.table} SET change_id = 'longer' WHERE v = 'b'")
    check("keys with several columns, a domain, and equal numbers that are written differently",
          three.run("SELECT change_type, data::text FROM changes_read('odd', NULL::" + odd.table + ")"),
          [("delete", '(ä,1.0,"\\\\x78",)'), ("upsert", '(ä,1.00,"\\\\x78",a)'), ("delete", '(b,2,"\\\\x79",)'), ("upsert", '(longer,2,"\\\\x79",b)')])
    one.run("CREATE TABLE word (id varchar(3) PRIMARY KEY, v int)")
    one.run("SELECT changes_track('word')")
    word = Copy(three, "word", "word")
    word.read_all()
    one.run("ALTER TABLE word ALTER id TYPE varchar(30)")
    two.run("INSERT INTO word VALUES ('a longer word', 1)")
    word.read_all()
    check("a longer key", word.differences(), [])
    one.run("ALTER TABLE early ALTER id TYPE text")
    two.run("INSERT INTO early VALUES ('x')")
    check("a key of another type stops readers, not writers", error_of(three, "SELECT changes_read('early', NULL::early)"), "55000")
    one.run("SELECT changes_track('early')")
    three.close()  # its prepared statement has a result of the old type, so PostgreSQL refuses it
    early.read_all()
    check("until changes_track() is called", early.differences(), [])

    # partitions
    one.run("CREATE TABLE visit (id int PRIMARY KEY, v text) PARTITION BY RANGE (id)")
    one.run("CREATE TABLE visit_1 PARTITION OF visit FOR VALUES FROM (0) TO (10)")
    one.run("CREATE TABLE visit_2 (v text, gone int, id int NOT NULL)")
    one.run("ALTER TABLE visit_2 DROP gone")
    one.run("ALTER TABLE visit ATTACH PARTITION visit_2 FOR VALUES FROM (10) TO (20)")
    one.run("SELECT changes_track('visit')")
    visit = Copy(three, "visit", "visit")
    visit.read_all()
    one.run("INSERT INTO visit VALUES (1, 'a'), (11, 'b')")
    one.run("INSERT INTO visit_2 VALUES ('c', 12)")
    one.run("UPDATE visit SET id = 13 WHERE id = 1")
    check("changes of partitions", visit.read_all(), ["upsert 11", "upsert 12", "delete 1", "upsert 13"])
    one.run("CREATE TABLE visit_3 (id int NOT NULL, v text)")
    one.run("INSERT INTO visit_3 VALUES (20, 'attached')")
    one.run("ALTER TABLE visit ATTACH PARTITION visit_3 FOR VALUES FROM (20) TO (30)")
    check("rows of a partition that is attached", visit.read_all(), ["upsert 20"])
    one.run("TRUNCATE visit_1")
    check("TRUNCATE of a partition", visit.read_all(), ["reset"])
    one.run("ALTER TABLE visit DETACH PARTITION visit_2")
    check("a partition is detached", visit.read_all(), ["reset"])
    check("the copy of partitions is right", visit.differences(), [])

    # what is refused
    one.run("CREATE TABLE keyless (id int)")
    check("a table without a key", error_of(one, "SELECT changes_track('keyless')"), "42809")
    check("a table of another role", error_of(clerk, "SELECT changes_track('item')"), "42501")
    check("a reader without rights", error_of(clerk, "SELECT changes_read('clerk', NULL::item)"), "42501")
    check("a reader without a name", error_of(one, "SELECT changes_read('', NULL::item)"), "22023")
    one.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    check("an old snapshot", error_of(one, "SELECT changes_read('inside', NULL::item)"), "25001")
    one.run("ROLLBACK")
    one.run("GRANT SELECT ON changes.item TO clerk")
    check("a reader of another role", error_of(clerk, "SELECT changes_read('inside', NULL::item)"), "42501")
    check("it cannot be forgotten", error_of(clerk, "SELECT changes_forget('inside', 'item')"), "42501")
    check("a role with SELECT reads", clerk.run("SELECT change_type FROM changes_read('clerk', NULL::item)"), [("reset",)])
    late = clerk.run("SELECT change_position FROM changes_read('clerk', NULL::item)")[0][0]
    one.run("SELECT changes_forget('clerk', 'item')")
    clerk.run("SELECT change_type FROM changes_read('clerk', NULL::item)")
    clerk.run("SELECT changes_done('clerk', %s)", late)
    check("a late confirmation of a forgotten reader does not count", clerk.run("SELECT change_type FROM changes_read('clerk', NULL::item)"), [("reset",)])
    one.run("SELECT changes_forget('clerk', 'item')")
    check("the owner of the table forgets its reader", error_of(one, "SELECT changes_done('clerk')"), "42704")
    check("a reader that does not exist", error_of(one, "SELECT changes_forget('clerk', 'item')"), "42704")
    one.run("DROP TABLE visit_2")
    for table in ("item", "early", odd.table, "word", "visit"):
        one.run("SELECT changes_untrack(%s)", table)
    check("nothing is left", one.run("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'uuid9562%' UNION ALL SELECT count(*) FROM changes_readers"
                                     " UNION ALL SELECT count(*) FROM changes_tables"), [(0,), (0,), (0,)])
    for session in (one, two, three, clerk):
        session.close()


test(sys.argv[1])
print(f"1..{count}")
sys.exit(failures > 0)
