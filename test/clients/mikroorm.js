// Test of MikroORM.
import { defineEntity, MikroORM, p, sql } from '@mikro-orm/postgresql';
import { done, from, query, step, testOrders, to } from './steps.js';

// create the table
const Order = defineEntity({
	name: 'Order',
	tableName: 'orders',
	properties: {
		id: p.uuid().primary().defaultRaw('uuidv7_next()'),
		item: p.text()
	}
});
const options = {
	entities: [Order], dbName: process.env.PGDATABASE, host: process.env.PGHOST, port: +process.env.PGPORT,
	user: process.env.PGUSER, password: process.env.PGPASSWORD
};
const orm = await MikroORM.init({
	...options,
	schemaGenerator: { ignoreSchema: ['uuid9562_changes'], skipViews: [/^changes_/], ignoreTriggers: true }
});
const em = orm.em.fork();
await orm.schema.update();
await query(`SELECT changes_track('orders')`);
const again = await orm.schema.getUpdateSchemaSQL();
step(again === '', 'a second migration changes nothing', again);

// without ignoreTriggers, the second migration drops the triggers of tracked tables
const other = await MikroORM.init({ ...options, schemaGenerator: { ignoreSchema: ['uuid9562_changes'], skipViews: [/^changes_/] } });
await other.schema.update();
await other.close();
const error = await query(`SELECT FROM changes_read('billing', NULL::orders)`).catch((e) => e.message);
step(/changes of table (public\.)?orders are not tracked/.test(error), 'changes_read() fails after a migration that drops triggers', error);

const period = em.createQueryBuilder(Order, 'o').where(sql`o.id <@ tstzrange(${from}, ${to})`);
await testOrders({
	insert: async (items) => {
		const rows = items.map((item) => em.create(Order, { item }));
		await em.flush();
		return rows;
	},
	period: () => period.getResult(),
	plan: () => query('EXPLAIN ' + period.getFormattedQuery())
});

await orm.close();
await done();
