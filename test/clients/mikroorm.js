// MikroORM.
import { defineEntity, MikroORM, p, sql } from '@mikro-orm/postgresql';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

// the table
const Order = defineEntity({
	name: 'Order',
	tableName: 'orders',
	properties: {
		id: p.uuid().primary().defaultRaw('uuidv7_next()'),
		item: p.text()
	}
});
const orm = await MikroORM.init({
	entities: [Order], dbName: process.env.PGDATABASE, host: process.env.PGHOST, port: +process.env.PGPORT,
	user: process.env.PGUSER, password: process.env.PGPASSWORD
});
const em = orm.em.fork();
await orm.schema.update();
const again = await orm.schema.getUpdateSchemaSQL();
step(again === '', 'a second migration proposes no change', again);

// insert
const order = em.create(Order, { item: 'tea' });
await em.flush();
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = items.map((item) => em.create(Order, { item }));
await em.flush();
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await em.execute('SELECT test.a_week_of_orders()');
const period = em.createQueryBuilder(Order)
	.where(sql`id <@ tstzrange(${from}, ${to})`);
const hour = await period.getResult();
step(hour.length === 60, 'an hour by two dates', hour.length);
const plan = await em.execute('EXPLAIN ' + period.getFormattedQuery());
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) => em.find(Order,
	{ id: { $gt: last, $lt: sql`uuidv7_horizon()` } }, { orderBy: { id: 'asc' }, limit: 30 });
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

await orm.close();
done();
