// Test of node-postgres, the npm package pg.
import pg from 'pg';
import { allPages, ascending, done, from, isV7, items, same, step, to, usesIndex } from './steps.js';

const client = new pg.Client();
await client.connect();

// create the tables
await client.query('CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)');
await client.query('CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL)');

// insert a row
const { rows: [order] } = await client.query('INSERT INTO orders (item) VALUES ($1) RETURNING id', ['tea']);
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const { rows: bulk } = await client.query('INSERT INTO orders (item) SELECT unnest($1::text[]) RETURNING id', [items]);
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await client.query('SELECT test.a_week_of_orders()');
const period = 'SELECT id, item FROM orders WHERE id <@ tstzrange($1, $2)';
const keysetPage = 'SELECT id, item FROM orders WHERE id > $1 ORDER BY id LIMIT 30';
const incrementalRead = 'SELECT id, message FROM outbox WHERE id > $1 AND id < uuidv7_horizon() ORDER BY id LIMIT 30';

const { rows: hour } = await client.query(period, [from, to]);
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const { rows: plan } = await client.query('EXPLAIN ' + period, [from, to]);
step(usesIndex(plan), 'period uses the index', plan);

// read in keyset pages
const pages = await allPages(order.id, async (last) => (await client.query(keysetPage, [last])).rows);
step(same(pages, bulk), 'keyset pages continue after the last ID', pages);

// read incrementally
const { rows: [first] } = await client.query(`INSERT INTO outbox (message) VALUES ('first') RETURNING id`);
const { rows: sent } = await client.query('INSERT INTO outbox (message) SELECT unnest($1::text[]) RETURNING id', [items]);
const read = await allPages(first.id, async (last) => (await client.query(incrementalRead, [last])).rows);
step(same(read, sent), 'incremental read finds the new rows', read);

// read changes
await client.query(`SELECT changes_track('outbox')`);
await client.query(`SELECT changes_done('billing') FROM changes_read('billing', NULL::outbox)`);
await client.query('DELETE FROM outbox WHERE id = $1', [first.id]);
await client.query(`INSERT INTO outbox (message) VALUES ('second')`);
const { rows: page } = await client.query(`SELECT change_type, change_position, (data).* FROM changes_read('billing', NULL::outbox)`);
for (const { change_type, change_position, ...row } of page)
	console.log(`# ${change_type}`, row);
if (page.length > 0)
	await client.query(`SELECT changes_done('billing', $1)`, [page.at(-1).change_position]);
step(page.length === 2 && page[0].change_type === 'delete' && page[0].id === first.id && page[1].message === 'second', 'changes are rows with the columns of the table', page);
const { rows: later } = await client.query(`SELECT FROM changes_read('billing', NULL::outbox)`);
step(later.length === 0, 'a confirmed page does not come again', later);

// pass parameters without and with a cast
const value = async (sql, ...values) => Object.values((await client.query(sql, values)).rows[0])[0];
const error = async (sql, ...values) => value(sql, ...values).catch((e) => e.message);
const url = '6ba7b811-9dad-11d1-80b4-00c04fd430c8', name = Buffer.from([0xff, 0x00]);
let got = await error('SELECT $1 <@ tstzrange($2, $3)', order.id, from, to);
step(got === `malformed range literal: "${order.id}"`, 'PostgreSQL resolves an ID without a cast as a range', got);
got = await value('SELECT $1::uuid <@ tstzrange($2, $3)', order.id, from, to);
step(got === false, 'with a cast, the ID is a UUID', got);
got = await error('SELECT public.uuidv5($1, $2)', url, name);
step(got === 'invalid byte sequence for encoding "UTF8": 0xff', 'PostgreSQL resolves bytes without a cast as text', got);
got = await value('SELECT public.uuidv5($1, $2::bytea)', url, name);
step(got === 'd5c9ca94-b48a-5647-b09c-b366ceb01cc8', 'with a cast, the bytes are bytea', got);

await client.end();
done();
