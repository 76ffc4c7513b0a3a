// Sequelize.
import { DataTypes, literal, Op, Sequelize } from 'sequelize';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const db = new Sequelize(process.env.PGDATABASE, process.env.PGUSER, process.env.PGPASSWORD,
	{ dialect: 'postgres', host: process.env.PGHOST, port: process.env.PGPORT, logging: (sql) => statements.push(sql) });
const statements = [];

// the table
const Order = db.define('orders', {
	id: { type: DataTypes.UUID, primaryKey: true, defaultValue: literal('uuidv7_next()') },
	item: { type: DataTypes.TEXT, allowNull: false }
}, { timestamps: false });
await db.sync();
statements.length = 0;
await db.sync({ alter: true });
step(!statements.some((sql) => /ALTER COLUMN "id"/.test(sql)), 'a second migration leaves the id as it is', statements);

// insert
const order = await Order.create({ item: 'tea' });
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = await Order.bulkCreate(items.map((item) => ({ item })));
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await db.query('SELECT test.a_week_of_orders()');
const period = literal('id <@ tstzrange(:from, :to)');
const hour = await Order.findAll({ where: period, replacements: { from, to } });
step(hour.length === 60, 'an hour by two dates', hour.length);
const [plan] = await db.query('EXPLAIN ' + statements.at(-1).replace(/^.*?: /, ''));
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) => Order.findAll({
	where: { id: { [Op.gt]: last, [Op.lt]: literal('uuidv7_horizon()') } }, order: ['id'], limit: 30
});
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

// what goes wrong, and the way round
const names = `SELECT public.uuidv5(uuid_namespace('url'), :name) AS text, public.uuidv5(uuid_namespace('url'), :name::bytea) AS bytes`;
const [[got]] = await db.query(names, { replacements: { name: Buffer.from('tea') } });
const [[tea]] = await db.query(`SELECT public.uuidv5(uuid_namespace('url'), 'tea') AS id`);
step(got.text !== tea.id, 'bytes without a type are taken for text, of their octets in hexadecimal', got);
step(got.bytes === tea.id, 'but not where they are cast', got);

await db.close();
done();
