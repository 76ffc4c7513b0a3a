// Test of Knex.
import knex from 'knex';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

const db = knex({ client: 'pg', connection: {} });

// create the table
const migration = {
	up: async (db) => {
		await db.schema.createTable('orders', (table) => {
			table.uuid('id').primary().defaultTo(db.raw('uuidv7_next()'));
			table.text('item').notNullable();
		});
	},
	down: (db) => db.schema.dropTable('orders')
};
const migrationSource = {
	getMigrations: async () => ['orders'], getMigrationName: (name) => name, getMigration: async () => migration
};
await db.migrate.latest({ migrationSource });
const [, again] = await db.migrate.latest({ migrationSource });
step(again.length === 0, 'a second migration changes nothing', again);

// insert a row
const [order] = await db('orders').insert({ item: 'tea' }).returning('id');
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await db('orders').insert(items.map((item) => ({ item }))).returning('id');
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await db.raw('SELECT test.a_week_of_orders()');
const period = db('orders').whereRaw('orders.id <@ tstzrange(?, ?)', [from, to]);
const hour = await period;
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const { rows: plan } = await db.raw('EXPLAIN ?', period);
step(usesIndex(plan), 'period uses the index', plan);
const joined = await period.clone().join('orders AS others', 'others.id', 'orders.id');
step(joined.length === 60, 'period works in a join', joined.length);

await db.destroy();
done();
