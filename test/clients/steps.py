# Functions and values that the tests of Python packages share.
import re
from datetime import datetime, timezone

count = 0


def step(good, name, got=None):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    if not good:
        print(f"# got: {got}", flush=True)


def done():
    print(f"1..{count}", flush=True)


items = [f"bulk {n}" for n in range(100)]

# an hour in the week of a_week_of_orders()
start = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)
end = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)


def test_orders(order, bulk, execute, period, plan):
    """Test the IDs of an order and of the items, and the orders of the hour, which functions return."""
    step(order.version == 7, "insert returns the ID", order)
    step(len(bulk) == 100 and all(id.version == 7 for id in bulk) and bulk == sorted(bulk), "bulk insert returns ascending IDs", bulk)
    execute("SELECT test.a_week_of_orders()")
    hour = period()
    step(len(hour) == 60, "period of two datetimes finds an hour", len(hour))
    plan = plan()
    step(re.search("Index (Only )?Scan|Bitmap Index Scan", str(plan)), "period uses the index", plan)
