// Test of node-postgres, the npm package pg.
import pg from 'pg';
import { done, from, step, testOrders, to } from './steps.js';

const client = new pg.Client();
await client.connect();

// create the tables
await client.query('CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)');
await client.query('CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL)');

const period = 'SELECT id, item FROM orders WHERE id <@ tstzrange($1, $2)';
const rows = async (sql, ...values) => (await client.query(sql, values)).rows;
await testOrders({
	insert: (items) => rows('INSERT INTO orders (item) SELECT unnest($1::text[]) RETURNING id', items),
	period: () => rows(period, from, to),
	plan: () => rows('EXPLAIN ' + period, from, to)
});

// read changes: a page that says reset, and one with other changes
const { rows: [first, second] } = await client.query(`INSERT INTO outbox (message) VALUES ('first'), ('second') RETURNING id`);
await client.query(`SELECT changes_track('outbox')`);
await client.query('CREATE TABLE outbox_copy (id uuid PRIMARY KEY, message text)');
async function copyPage() {
	try {
		await client.query('BEGIN');
		const { rows: page } = await client.query(`SELECT change_type, (data).* FROM changes_read('copy', NULL::outbox)`);
		for (const { change_type, id, message } of page)
			if (change_type === 'reset')
				await client.query('DELETE FROM outbox_copy; INSERT INTO outbox_copy SELECT id, message FROM outbox');
			else if (change_type === 'delete')
				await client.query('DELETE FROM outbox_copy WHERE id = $1', [id]);
			else
				await client.query('INSERT INTO outbox_copy VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET message = $2', [id, message]);
		await client.query(`SELECT changes_done('copy')`);
		await client.query('COMMIT');
	} catch (error) {
		await client.query('ROLLBACK');
		if (error.code !== '40001')  // the columns of the table have changed: call changes_read() again
			throw error;
	}
}
const rowsOf = (table) => rows(`SELECT id, message FROM ${table} ORDER BY id`);
const isCopied = async () => JSON.stringify(await rowsOf('outbox')) === JSON.stringify(await rowsOf('outbox_copy'));
await copyPage();
step(await isCopied(), 'a page that says reset copies the whole table', await rowsOf('outbox_copy'));
await client.query('DELETE FROM outbox WHERE id = $1', [first.id]);
await client.query('UPDATE outbox SET message = $2 WHERE id = $1', [second.id, 'changed']);
await client.query(`INSERT INTO outbox (message) VALUES ('third')`);
await copyPage();
step(await isCopied(), 'a page copies a delete, an update and an insert', await rowsOf('outbox_copy'));
const later = await rows(`SELECT FROM changes_read('copy', NULL::outbox)`);
step(later.length === 0, 'a confirmed page does not come again', later);
await client.query(`ALTER TABLE outbox ADD sent boolean; UPDATE outbox SET message = 'again'`);
await copyPage();    // fails with 40001, because the session has parsed the call for the old columns
await copyPage();
step(await isCopied(), 'after new columns, the next call copies the table', await rowsOf('outbox_copy'));

// pass parameters without and with a cast
const value = async (sql, ...values) => Object.values((await rows(sql, ...values))[0])[0];
const error = async (sql, ...values) => value(sql, ...values).catch((e) => e.message);
const id = await value('SELECT id FROM orders LIMIT 1'), url = '6ba7b811-9dad-11d1-80b4-00c04fd430c8', name = Buffer.from([0xff, 0x00]);
let got = await error('SELECT $1 <@ tstzrange($2, $3)', id, from, to);
step(got === `malformed range literal: "${id}"`, 'PostgreSQL resolves an ID without a cast as a range', got);
got = await value('SELECT $1::uuid <@ tstzrange($2, $3)', id, from, to);
step(got === false, 'with a cast, the ID is a UUID', got);
got = await error('SELECT public.uuidv5($1, $2)', url, name);
step(got === 'invalid byte sequence for encoding "UTF8": 0xff', 'PostgreSQL resolves bytes without a cast as text', got);
got = await value('SELECT public.uuidv5($1, $2::bytea)', url, name);
step(got === 'd5c9ca94-b48a-5647-b09c-b366ceb01cc8', 'with a cast, the bytes are bytea', got);

await client.end();
await done();
