// Test of Knex.
import knex from 'knex';
import { done, from, step, testOrders, to } from './steps.js';

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

const period = db('orders').whereRaw('orders.id <@ tstzrange(?, ?)', [from, to]);
await testOrders({
	insert: (items) => db('orders').insert(items.map((item) => ({ item }))).returning('id'),
	period: () => period,
	plan: async () => (await db.raw('EXPLAIN ?', period)).rows,
	joined: () => period.clone().join('orders AS others', 'others.id', 'orders.id')
});

await db.destroy();
await done();
