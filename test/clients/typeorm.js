// Test of TypeORM.
import { DataSource, EntitySchema } from 'typeorm';
import { done, from, query, step, testOrders, testTracking, to } from './steps.js';

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
await query(`SELECT changes_track('orders')`);
const again = await db.driver.createSchemaBuilder().log();
step(again.upQueries.length === 0, 'a second migration changes nothing', again.upQueries);
await db.synchronize();
await testTracking();

const orders = db.getRepository(Order);
const period = orders.createQueryBuilder('o').where('o.id <@ tstzrange(:from, :to)', { from, to });
const [sql, parameters] = period.getQueryAndParameters();
await testOrders({
	insert: (items) => orders.save(items.map((item) => ({ item }))),
	period: () => period.getMany(),
	plan: () => db.query('EXPLAIN ' + sql, parameters)
});

// generated: 'uuid', which PrimaryGeneratedColumn('uuid') sets, replaces the default of the
// column
Order.options.columns.id = { type: 'uuid', primary: true, generated: 'uuid' };
const generated = await connect();
const defaultOfKey = async () => (await query(`SELECT column_default FROM information_schema.columns
	WHERE table_name = 'orders' AND column_name = 'id'`))[0].column_default;
await generated.synchronize();
let got = await defaultOfKey();
step(got === null, 'the migration of a generated column drops the default', got);
await generated.synchronize();
got = await defaultOfKey();
step(got === 'uuid_generate_v4()', 'the next migration sets version 4', got);

await generated.destroy();
await db.destroy();
await done();
