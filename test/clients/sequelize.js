// Test of Sequelize.
import { DataTypes, literal, Sequelize } from 'sequelize';
import { done, from, query, step, testOrders, testTracking, to } from './steps.js';

const db = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, process.env.PGPASSWORD,
	{ dialect: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, logging: (sql) => statements.push(sql) });
const statements = [];

// create the table
const Order = db.define('orders', {
	id: { type: DataTypes.UUID, primaryKey: true, defaultValue: literal('uuidv7_next()') },
	item: { type: DataTypes.TEXT, allowNull: false }
}, { timestamps: false });
await db.sync();
await query(`SELECT changes_track('orders')`);
statements.length = 0;
await db.sync({ alter: true });
step(!statements.some((sql) => /ALTER COLUMN "id"/.test(sql)), 'a second migration does not change the ID', statements);
await testTracking();

const period = () => Order.findAll({ where: literal('orders.id <@ tstzrange(:from, :to)'), replacements: { from, to } });
await testOrders({
	create: (item) => Order.create({ item }),
	insert: (items) => Order.bulkCreate(items.map((item) => ({ item }))),
	period,
	plan: () => query('EXPLAIN ' + statements.at(-1).replace(/^.*?: /, ''))
});

// pass parameters without and with a cast
const names = `SELECT public.uuidv5(uuid_namespace('url'), :name) AS text, public.uuidv5(uuid_namespace('url'), :name::bytea) AS bytes`;
const [[got]] = await db.query(names, { replacements: { name: Buffer.from('tea') } });
const [[tea]] = await db.query(`SELECT public.uuidv5(uuid_namespace('url'), 'tea') AS id`);
step(got.text !== tea.id, 'bytes without a cast become a text of hexadecimal digits', got);
step(got.bytes === tea.id, 'with a cast, the bytes are bytea', got);

await db.close();
await done();
