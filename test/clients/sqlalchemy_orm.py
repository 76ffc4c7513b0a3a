# SQLAlchemy with Alembic.
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Text, create_engine, func, insert, select, text
from sqlalchemy.dialects.postgresql import UUID
from sqlalchemy.orm import Session, declarative_base
from steps import by_index, done, end, items, read_on, rising, start, step

engine = create_engine("postgresql+psycopg2://", future=True)
Base = declarative_base()


# the table
class Order(Base):
    __tablename__ = "orders"
    id = Column(UUID(as_uuid=True), primary_key=True, server_default=text("uuidv7_next()"))
    item = Column(Text, nullable=False)


def migration(connection):
    context = MigrationContext.configure(connection, opts={"compare_server_default": True})
    return context, produce_migrations(context, Base.metadata).upgrade_ops


with engine.begin() as connection:
    context, first = migration(connection)
    for operation in first.ops:
        Operations(context).invoke(operation)
    again = migration(connection)[1].as_diffs()
step(again == [], "a second migration proposes no change", again)

with Session(engine, future=True) as db:
    # insert
    order = Order(item="tea")
    db.add(order)
    db.commit()
    step(order.id.version == 7, "insert gives the id back", order.id)

    # bulk insert
    bulk = db.scalars(insert(Order).values([{"item": item} for item in items]).returning(Order.id)).all()
    db.commit()
    step(len(bulk) == 100 and rising(bulk), "bulk insert gives rising ids", bulk)

    # a period
    db.execute(text("SELECT test.a_week_of_orders()"))
    db.commit()
    period = select(Order).where(Order.id.bool_op("<@")(func.tstzrange(start, end)))
    hour = db.scalars(period).all()
    step(len(hour) == 60, "an hour by two datetimes", len(hour))
    query = period.compile(engine)
    plan = db.connection().exec_driver_sql(f"EXPLAIN {query}", query.params).all()
    step(by_index(plan), "by the index", plan)

    # reading on
    page = select(Order.id).where(Order.id < func.uuidv7_horizon()).order_by(Order.id).limit(30)
    read = read_on(order.id, lambda last: db.scalars(page.where(Order.id > last)).all())
    step(read == bulk, "reading on from the last id", read)

done()
