# Test of Django.
import os
import sys
import tempfile

import django
from django.conf import settings
from django.core.exceptions import FieldError
from django.core.management import call_command
from django.db import connection
from steps import done, end, items, start, step, test_orders

migrations = tempfile.TemporaryDirectory()
sys.path.insert(0, migrations.name)
settings.configure(
    INSTALLED_APPS=["django_shop"], MIGRATION_MODULES={"django_shop": "shop_migrations"}, USE_TZ=True,
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
        "USER": os.environ["PGUSER"], "PASSWORD": os.environ["PGPASSWORD"], "NAME": os.environ["PGDATABASE"]}})
django.setup()

from django_shop.models import Line, Order, TstzRange


def in_period(start, end):
    return Order.objects.filter(id__within=TstzRange(start, end))


# create the tables
os.mkdir(os.path.join(migrations.name, "shop_migrations"))
open(os.path.join(migrations.name, "shop_migrations", "__init__.py"), "w").close()
call_command("makemigrations", "django_shop", verbosity=0)
call_command("migrate", verbosity=0)
try:
    call_command("makemigrations", "django_shop", check=True, dry_run=True, verbosity=0)
    again = 0
except SystemExit as exit:
    again = exit.code
step(again == 0, "a second migration changes nothing", again)

order = Order.objects.create(item="tea")
with connection.cursor() as cursor:
    cursor.execute("SELECT uuidv7_next() FROM generate_series(1, %s)", [len(items)])
    bulk = [id for (id,) in cursor]
Order.objects.bulk_create([Order(id=id, item=item) for id, item in zip(bulk, items)])
hour = in_period(start, end)
test_orders(order.id, bulk, connection.cursor().execute, hour.all, hour.explain)

Line.objects.bulk_create([Line(order=row) for row in hour])
lines = Line.objects.filter(order__id__within=TstzRange(start, end))
step(len(lines) == 60, "period of a foreign key finds an hour", len(lines))
try:
    error = Line.objects.filter(order__within=TstzRange(start, end)).count()
except FieldError as e:
    error = e
step(isinstance(error, FieldError), "the foreign key itself does not have the lookup", error)

if django.VERSION >= (5, 0):
    [row] = Order.objects.bulk_create([Order(item="tea")])
    step("DatabaseDefault" in repr(row.id), "bulk_create does not return the default", row.id)

done()
