# Test of SQLAlchemy with Alembic.
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Text, create_engine, func, insert, select, text
from sqlalchemy.dialects.postgresql import UUID
from sqlalchemy.orm import Session, declarative_base
from steps import ascending, done, end, items, start, step, uses_index

engine = create_engine("postgresql+psycopg2://", future=True)
Base = declarative_base()


# create the table
class Order(Base):
    __tablename__ = "orders"
    id = Column(UUID(as_uuid=True), primary_key=True, server_default=text("uuidv7_next()"))
    item = Column(Text, nullable=False)


period = select(Order).where(Order.id.bool_op("<@")(func.tstzrange(start, end)))


def migration(connection):
    context = MigrationContext.configure(connection, opts={"compare_server_default": True})
    return context, produce_migrations(context, Base.metadata).upgrade_ops


with engine.begin() as connection:
    context, first = migration(connection)
    for operation in first.ops:
        Operations(context).invoke(operation)
    connection.execute(text("SELECT changes_track('orders')"))
    again = migration(connection)[1].as_diffs()
step(again == [], "a second migration changes nothing", again)

with Session(engine, future=True) as db:
    # insert a row
    order = Order(item="tea")
    db.add(order)
    db.commit()
    step(order.id.version == 7, "insert returns the ID", order.id)

    # insert many rows
    bulk = db.scalars(insert(Order).values([{"item": item} for item in items]).returning(Order.id)).all()
    db.commit()
    step(len(bulk) == 100 and ascending(bulk), "bulk insert returns ascending IDs", bulk)

    # select the rows of a period
    db.execute(text("SELECT test.a_week_of_orders()"))
    db.commit()
    hour = db.scalars(period).all()
    step(len(hour) == 60, "period of two datetimes finds an hour", len(hour))
    query = period.compile(engine)
    plan = db.connection().exec_driver_sql(f"EXPLAIN {query}", query.params).all()
    step(uses_index(plan), "period uses the index", plan)

done()
