// Test of TypeORM.
import { DataSource, EntitySchema } from 'typeorm';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

// create the table
const Order = new EntitySchema({
	name: 'Order',
	tableName: 'orders',
	columns: {
		id: { type: 'uuid', primary: true, default: () => 'uuidv7_next()' },
		item: { type: 'text' }
	}
});
const connect = () => new DataSource({
	type: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, username: process.env.PGUSER,
	password: process.env.PGPASSWORD, database: process.env.PGDATABASE, entities: [Order]
}).initialize();
const db = await connect();
await db.synchronize();
await db.query(`SELECT changes_track('orders')`);
const again = await db.driver.createSchemaBuilder().log();
step(again.upQueries.length === 0, 'a second migration changes nothing', again.upQueries);
await db.synchronize();
const tracked = await db.query('SELECT source::text, problem FROM changes_tables');
step(tracked.length === 1 && tracked[0].problem === null, 'a second migration leaves the tracking of changes', tracked);

// insert a row
const orders = db.getRepository(Order);
const order = await orders.save({ item: 'tea' });
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await orders.save(items.map((item) => ({ item })));
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await db.query('SELECT test.a_week_of_orders()');
const period = orders.createQueryBuilder('o').where('o.id <@ tstzrange(:from, :to)', { from, to });
const hour = await period.getMany();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const [sql, parameters] = period.getQueryAndParameters();
const plan = await db.query('EXPLAIN ' + sql, parameters);
step(usesIndex(plan), 'period uses the index', plan);

// generated: 'uuid', which PrimaryGeneratedColumn('uuid') sets, replaces the default of the
// column
Order.options.columns.id = { type: 'uuid', primary: true, generated: 'uuid' };
const generated = await connect();
const defaultOfKey = async () => (await generated.query(`SELECT column_default FROM information_schema.columns
	WHERE table_name = 'orders' AND column_name = 'id'`))[0].column_default;
await generated.synchronize();
let got = await defaultOfKey();
step(got === null, 'the migration of a generated column drops the default', got);
await generated.synchronize();
got = await defaultOfKey();
step(got === 'uuid_generate_v4()', 'the next migration sets version 4', got);

await generated.destroy();
await db.destroy();
done();
