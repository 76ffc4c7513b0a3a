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


def ascending(ids):
    return all(id.version == 7 for id in ids) and all(a < b for a, b in zip(ids, ids[1:]))


def uses_index(plan):
    return re.search("Index (Only )?Scan|Bitmap Index Scan", str(plan)) is not None
