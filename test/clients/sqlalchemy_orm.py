# Test of SQLAlchemy with Alembic.
from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import Column, Text, create_engine, func, insert, select, text
from sqlalchemy.dialects.postgresql import UUID
from sqlalchemy.orm import Session, declarative_base
from steps import done, end, items, start, step, test_orders

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
    order = Order(item="tea")
    db.add(order)
    db.commit()
    bulk = db.scalars(insert(Order).values([{"item": item} for item in items]).returning(Order.id)).all()
    query = period.compile(engine)
    test_orders(order.id, bulk, lambda sql: db.execute(text(sql)), lambda: db.scalars(period).all(),
                lambda: db.connection().exec_driver_sql(f"EXPLAIN {query}", query.params).all())

done()
