// node-postgres, "pg" of npm.
import pg from 'pg';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const client = new pg.Client();
await client.connect();

// the table
await client.query(`CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)`);

// insert
const { rows: [order] } = await client.query('INSERT INTO orders (item) VALUES ($1) RETURNING id', ['tea']);
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const { rows: bulk } = await client.query('INSERT INTO orders (item) SELECT unnest($1::text[]) RETURNING id', [items]);
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await client.query('SELECT test.a_week_of_orders()');
const period = 'SELECT id, item FROM orders WHERE id <@ tstzrange($1, $2)';
const { rows: hour } = await client.query(period, [from, to]);
step(hour.length === 60, 'an hour by two dates', hour.length);
const { rows: plan } = await client.query('EXPLAIN ' + period, [from, to]);
step(byIndex(plan), 'by the index', plan);

// reading on
const next = 'SELECT id, item FROM orders WHERE id > $1 AND id < uuidv7_horizon() ORDER BY id LIMIT 30';
const page = async (last) => (await client.query(next, [last])).rows;
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

// what goes wrong, and the way round
const first = async (sql, ...values) => Object.values((await client.query(sql, values)).rows[0])[0];
const error = async (sql, ...values) => first(sql, ...values).catch((e) => e.message);
const url = '6ba7b811-9dad-11d1-80b4-00c04fd430c8', name = Buffer.from([0xff, 0x00]);
let got = await error('SELECT $1 <@ tstzrange($2, $3)', order.id, from, to);
step(got === `malformed range literal: "${order.id}"`, 'an id without a type is taken for a range', got);
got = await first('SELECT $1::uuid <@ tstzrange($2, $3)', order.id, from, to);
step(got === false, 'but not where it is cast', got);
got = await error('SELECT public.uuidv5($1, $2)', url, name);
step(got === 'invalid byte sequence for encoding "UTF8": 0xff', 'bytes without a type are taken for text', got);
got = await first('SELECT public.uuidv5($1, $2::bytea)', url, name);
step(got === 'd5c9ca94-b48a-5647-b09c-b366ceb01cc8', 'but not where they are cast', got);

await client.end();
done();
