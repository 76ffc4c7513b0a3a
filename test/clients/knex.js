// Knex.
import knex from 'knex';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const db = knex({ client: 'pg', connection: {} });

// the table
const migration = {
	up: (db) => db.schema.createTable('orders', (table) => {
		table.uuid('id').primary().defaultTo(db.raw('uuidv7_next()'));
		table.text('item').notNullable();
	}),
	down: (db) => db.schema.dropTable('orders')
};
const migrationSource = {
	getMigrations: async () => ['orders'], getMigrationName: (name) => name, getMigration: async () => migration
};
await db.migrate.latest({ migrationSource });
const [, again] = await db.migrate.latest({ migrationSource });
step(again.length === 0, 'a second migration proposes no change', again);

// insert
const [order] = await db('orders').insert({ item: 'tea' }).returning('id');
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = await db('orders').insert(items.map((item) => ({ item }))).returning('id');
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await db.raw('SELECT test.a_week_of_orders()');
const period = db('orders').whereRaw('id <@ tstzrange(?, ?)', [from, to]);
const hour = await period;
step(hour.length === 60, 'an hour by two dates', hour.length);
const { rows: plan } = await db.raw('EXPLAIN ?', period);
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) => db('orders')
	.where('id', '>', last).where('id', '<', db.raw('uuidv7_horizon()')).orderBy('id').limit(30);
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

await db.destroy();
done();
