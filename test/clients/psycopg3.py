# Psycopg 3.
import psycopg
from psycopg.types.range import TimestamptzRange
from steps import by_index, done, end, items, read_on, rising, start, step

db = psycopg.connect(autocommit=True)

# the table
db.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)")

# insert
(order,) = db.execute("INSERT INTO orders (item) VALUES (%s) RETURNING id", ["tea"]).fetchone()
step(order.version == 7, "insert gives the id back", order)

# bulk insert
with db.cursor().copy("COPY orders (item) FROM STDIN") as copy:
    for item in items:
        copy.write_row([item])
bulk = [id for (id,) in db.execute("SELECT id FROM orders WHERE id > %s ORDER BY substr(item, 6)::int", [order])]
step(len(bulk) == 100 and rising(bulk), "bulk insert gives rising ids", bulk)

# a period
db.execute("SELECT test.a_week_of_orders()")
period = "SELECT id, item FROM orders WHERE id <@ %s"
hour = db.execute(period, [TimestamptzRange(start, end)]).fetchall()
step(len(hour) == 60, "an hour by a range of the driver", len(hour))
plan = db.execute("EXPLAIN " + period, [TimestamptzRange(start, end)]).fetchall()
step(by_index(plan), "by the index", plan)
hour = db.execute("SELECT id, item FROM orders WHERE id <@ tstzrange(%s, %s)", [start, end]).fetchall()
step(len(hour) == 60, "an hour by two datetimes", len(hour))

# reading on
next_page = "SELECT id FROM orders WHERE id > %s AND id < uuidv7_horizon() ORDER BY id LIMIT 30"
read = read_on(order, lambda last: [id for (id,) in db.execute(next_page, [last])])
step(read == bulk, "reading on from the last id", read)

done()
