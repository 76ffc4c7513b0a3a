import django
from django.contrib.postgres.fields import DateTimeRangeField
from django.db import connection, models
from django.db.models import Func
from django.db.models.lookups import PostgresOperatorLookup


# Django before 5.0 does not have db_default, so call the function for each new object
def uuidv7_next():
    with connection.cursor() as cursor:
        cursor.execute("SELECT uuidv7_next()")
        return cursor.fetchone()[0]


class Order(models.Model):
    if django.VERSION >= (5, 0):
        id = models.UUIDField(primary_key=True, db_default=Func(function="uuidv7_next"), editable=False)
    else:
        id = models.UUIDField(primary_key=True, default=uuidv7_next, editable=False)
    item = models.TextField()

    class Meta:
        db_table = "orders"


class Line(models.Model):
    order = models.ForeignKey(Order, on_delete=models.CASCADE)


@models.UUIDField.register_lookup
class Within(PostgresOperatorLookup):
    lookup_name = "within"
    postgres_operator = "<@"


class TstzRange(Func):
    function = "tstzrange"
    output_field = DateTimeRangeField()
