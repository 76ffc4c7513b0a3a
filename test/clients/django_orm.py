# Django.
import os
import sys
import tempfile

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.models import Func
from steps import by_index, done, end, items, read_on, rising, start, step

migrations = tempfile.TemporaryDirectory()
sys.path.insert(0, migrations.name)
settings.configure(
    INSTALLED_APPS=["django_shop"], MIGRATION_MODULES={"django_shop": "shop_migrations"}, USE_TZ=True,
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
        "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"], "NAME": os.environ["PGDATABASE"]}})
django.setup()

from django_shop.models import Order, TstzRange

# the table
os.mkdir(os.path.join(migrations.name, "shop_migrations"))
open(os.path.join(migrations.name, "shop_migrations", "__init__.py"), "w").close()
call_command("makemigrations", "django_shop", verbosity=0)
call_command("migrate", verbosity=0)
try:
    call_command("makemigrations", "django_shop", check=True, dry_run=True, verbosity=0)
    again = 0
except SystemExit as exit:
    again = exit.code
step(again == 0, "a second migration proposes no change", again)

# insert
with transaction.atomic():
    order = Order.objects.create(item="tea")
step(order.id.version == 7, "insert gives the id back", order.id)

# bulk insert
with transaction.atomic():
    with connection.cursor() as cursor:
        cursor.execute("SELECT uuidv7_batch(%s)", [len(items)])
        bulk = [id for (id,) in cursor]
    Order.objects.bulk_create([Order(id=id, item=item) for id, item in zip(bulk, items)])
step(len(bulk) == 100 and rising(bulk), "bulk insert gives rising ids", bulk)

# a period
with connection.cursor() as cursor:
    cursor.execute("SELECT test.a_week_of_orders()")
hour = Order.objects.filter(id__within=TstzRange(start, end))
step(len(hour) == 60, "an hour by two datetimes", len(hour))
step(by_index(hour.explain()), "by the index", hour.explain())

# reading on
settled = Order.objects.filter(id__lt=Func(function="uuidv7_horizon")).order_by("id")
read = read_on(order.id, lambda last: [row.id for row in settled.filter(id__gt=last)[:30]])
step(read == bulk, "reading on from the last id", read)

# what goes wrong
if django.VERSION >= (5, 0):
    [row] = Order.objects.bulk_create([Order(item="tea")])
    step("DatabaseDefault" in repr(row.id), "bulk_create does not give the default back", row.id)

done()
