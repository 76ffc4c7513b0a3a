// Test of Sequelize.
import { DataTypes, literal, Sequelize } from 'sequelize';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

const db = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, process.env.PGPASSWORD,
	{ dialect: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, logging: (sql) => statements.push(sql) });
const statements = [];

// create the table
const Order = db.define('orders', {
	id: { type: DataTypes.UUID, primaryKey: true, defaultValue: literal('uuidv7_next()') },
	item: { type: DataTypes.TEXT, allowNull: false }
}, { timestamps: false });
await db.sync();
await db.query(`SELECT changes_track('orders')`);
statements.length = 0;
await db.sync({ alter: true });
step(!statements.some((sql) => /ALTER COLUMN "id"/.test(sql)), 'a second migration does not change the ID', statements);
const [tracked] = await db.query('SELECT source::text, problem FROM changes_tables');
step(tracked.length === 1 && tracked[0].problem === null, 'a second migration leaves the tracking of changes', tracked);

// insert a row
const order = await Order.create({ item: 'tea' });
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await Order.bulkCreate(items.map((item) => ({ item })));
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await db.query('SELECT test.a_week_of_orders()');
const period = () => Order.findAll({ where: literal('orders.id <@ tstzrange(:from, :to)'), replacements: { from, to } });
const hour = await period();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const [plan] = await db.query('EXPLAIN ' + statements.at(-1).replace(/^.*?: /, ''));
step(usesIndex(plan), 'period uses the index', plan);

// pass parameters without and with a cast
const names = `SELECT public.uuidv5(uuid_namespace('url'), :name) AS text, public.uuidv5(uuid_namespace('url'), :name::bytea) AS bytes`;
const [[got]] = await db.query(names, { replacements: { name: Buffer.from('tea') } });
const [[tea]] = await db.query(`SELECT public.uuidv5(uuid_namespace('url'), 'tea') AS id`);
step(got.text !== tea.id, 'bytes without a cast become a text of hexadecimal digits', got);
step(got.bytes === tea.id, 'with a cast, the bytes are bytea', got);

await db.close();
done();
