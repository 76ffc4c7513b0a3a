// Test of MikroORM.
import { defineEntity, MikroORM, p, sql } from '@mikro-orm/postgresql';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

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
await em.execute(`SELECT changes_track('orders')`);
const again = await orm.schema.getUpdateSchemaSQL();
step(again === '', 'a second migration changes nothing', again);

// without ignoreTriggers, the second migration drops the triggers of tracked tables
const other = await MikroORM.init({ ...options, schemaGenerator: { ignoreSchema: ['uuid9562_changes'], skipViews: [/^changes_/] } });
await other.schema.update();
await other.close();
const error = await em.execute(`SELECT FROM changes_read('billing', NULL::orders)`).catch((e) => e.message);
step(/changes of table (public\.)?orders are not tracked/.test(error), 'changes_read() fails after a migration that drops triggers', error);

// insert a row
const order = em.create(Order, { item: 'tea' });
await em.flush();
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = items.map((item) => em.create(Order, { item }));
await em.flush();
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await em.execute('SELECT test.a_week_of_orders()');
const period = em.createQueryBuilder(Order, 'o').where(sql`o.id <@ tstzrange(${from}, ${to})`);
const hour = await period.getResult();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const plan = await em.execute('EXPLAIN ' + period.getFormattedQuery());
step(usesIndex(plan), 'period uses the index', plan);

await orm.close();
done();
