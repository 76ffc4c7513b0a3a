// TypeORM.
import { DataSource, EntitySchema } from 'typeorm';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

// the table
const Order = new EntitySchema({
	name: 'Order',
	tableName: 'orders',
	columns: {
		id: { type: 'uuid', primary: true, default: () => 'uuidv7_next()' },
		item: { type: 'text' }
	}
});
const connect = (entity) => new DataSource({
	type: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, username: process.env.PGUSER,
	password: process.env.PGPASSWORD, database: process.env.PGDATABASE, entities: [entity]
}).initialize();
const db = await connect(Order);
await db.synchronize();
const again = await db.driver.createSchemaBuilder().log();
step(again.upQueries.length === 0, 'a second migration proposes no change', again.upQueries);

// insert
const orders = db.getRepository(Order);
const order = await orders.save({ item: 'tea' });
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = await orders.save(items.map((item) => ({ item })));
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await db.query('SELECT test.a_week_of_orders()');
const period = orders.createQueryBuilder('o')
	.where('o.id <@ tstzrange(:from, :to)', { from, to });
const hour = await period.getMany();
step(hour.length === 60, 'an hour by two dates', hour.length);
const [sql, parameters] = period.getQueryAndParameters();
const plan = await db.query('EXPLAIN ' + sql, parameters);
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) => orders.createQueryBuilder('o')
	.where('o.id > :last AND o.id < uuidv7_horizon()', { last }).orderBy('o.id').limit(30).getMany();
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

// what goes wrong: PrimaryGeneratedColumn('uuid'), with any default
Order.options.columns.id.generated = 'uuid';
const generated = await connect(Order);
const { upQueries: [change] } = await generated.driver.createSchemaBuilder().log();
step(/SET DEFAULT uuid_generate_v4\(\)/.test(change.query), 'a generated column goes back to version 4', change);

await generated.destroy();
await db.destroy();
done();
