// Kysely.
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });

// the table
const migration = {
	up: (db) => db.schema.createTable('orders')
		.addColumn('id', 'uuid', (column) => column.primaryKey().defaultTo(sql`uuidv7_next()`))
		.addColumn('item', 'text', (column) => column.notNull())
		.execute()
};
const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ orders: migration }) } });
await migrator.migrateToLatest();
const { results: again } = await migrator.migrateToLatest();
step(again.length === 0, 'a second migration proposes no change', again);

// insert
const order = await db.insertInto('orders').values({ item: 'tea' }).returning('id').executeTakeFirstOrThrow();
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = await db.insertInto('orders').values(items.map((item) => ({ item }))).returning('id').execute();
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await sql`SELECT test.a_week_of_orders()`.execute(db);
const period = db.selectFrom('orders').selectAll()
	.where(sql`id <@ tstzrange(${from}, ${to})`);
const hour = await period.execute();
step(hour.length === 60, 'an hour by two dates', hour.length);
const plan = await period.explain();
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) => db.selectFrom('orders').selectAll()
	.where('id', '>', last).where('id', '<', sql`uuidv7_horizon()`).orderBy('id').limit(30).execute();
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

await db.destroy();
done();
