# Test of Psycopg 3.
import psycopg
from psycopg.types.range import TimestamptzRange
from steps import ascending, done, end, items, start, step, uses_index

db = psycopg.connect(autocommit=True)

# create the tables
db.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)")
db.execute("CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL)")

# insert a row
(order,) = db.execute("INSERT INTO orders (item) VALUES (%s) RETURNING id", ["tea"]).fetchone()
step(order.version == 7, "insert returns the ID", order)

# insert many rows
with db.cursor() as cursor:
    cursor.executemany("INSERT INTO orders (item) VALUES (%s) RETURNING id", [[item] for item in items], returning=True)
    bulk = [cursor.fetchone()[0]] + [cursor.fetchone()[0] for _ in iter(cursor.nextset, None)]
step(len(bulk) == 100 and ascending(bulk), "bulk insert returns ascending IDs", bulk)

# select the rows of a period
db.execute("SELECT test.a_week_of_orders()")
period = "SELECT id, item FROM orders WHERE id <@ tstzrange(%s, %s)"
hour = db.execute("SELECT id, item FROM orders WHERE id <@ %s", [TimestamptzRange(start, end)]).fetchall()
step(len(hour) == 60, "period of the driver's range type finds an hour", len(hour))
hour = db.execute(period, [start, end]).fetchall()
step(len(hour) == 60, "period of two datetimes finds an hour", len(hour))
plan = db.execute("EXPLAIN " + period, [start, end]).fetchall()
step(uses_index(plan), "period uses the index", plan)

# insert rows with COPY
(first,) = db.execute("INSERT INTO outbox (message) VALUES ('first') RETURNING id").fetchone()
with db.cursor().copy("COPY outbox (message) FROM STDIN") as copy:
    for item in items:
        copy.write_row([item])
sent = [id for (id,) in db.execute("SELECT id FROM outbox WHERE id > %s ORDER BY substr(message, 6)::int", [first])]
step(len(sent) == 100 and ascending(sent), "COPY generates ascending IDs", sent)

# read changes
db.execute("SELECT changes_track('outbox')")
db.execute("SELECT changes_done('billing') FROM changes_read('billing', NULL::outbox)")
db.execute("DELETE FROM outbox WHERE id = %s; ", [first])
db.execute("INSERT INTO outbox (message) VALUES ('second')")
page = db.execute("SELECT change_type, change_position, (data).* FROM changes_read('billing', NULL::outbox)").fetchall()
for change_type, position, *row in page:
    print("#", change_type, row)
db.execute("SELECT changes_done('billing', %s)", [page[-1][1]])
step([row[0] for row in page] == ["delete", "upsert"] and page[0][2:] == (first, None) and page[1][3] == "second", "changes are rows with the columns of the table", page)
page = db.execute("SELECT FROM changes_read('billing', NULL::outbox)").fetchall()
step(page == [], "a confirmed page does not come again", page)

done()
