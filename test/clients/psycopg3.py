# Test of Psycopg 3.
import psycopg
from psycopg.types.range import TimestamptzRange
from steps import done, end, items, start, step, test_orders

db = psycopg.connect(autocommit=True)

# create the table
db.execute("CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)")

(order,) = db.execute("INSERT INTO orders (item) VALUES (%s) RETURNING id", ["tea"]).fetchone()
with db.cursor() as cursor:
    cursor.executemany("INSERT INTO orders (item) VALUES (%s) RETURNING id", [[item] for item in items], returning=True)
    bulk = [cursor.fetchone()[0]] + [cursor.fetchone()[0] for _ in iter(cursor.nextset, None)]
period = "SELECT id, item FROM orders WHERE id <@ tstzrange(%s, %s)"
test_orders(order, bulk, db.execute, lambda: db.execute(period, [start, end]).fetchall(), lambda: db.execute("EXPLAIN " + period, [start, end]).fetchall())
hour = db.execute("SELECT id, item FROM orders WHERE id <@ %s", [TimestamptzRange(start, end)]).fetchall()
step(len(hour) == 60, "period of the driver's range type finds an hour", len(hour))

done()
