// Functions and values that the tests of npm packages share.
import pg from 'pg';

let steps = 0;

export function step(good, name, got) {
	console.log(`${good ? 'ok' : 'not ok'} ${++steps} - ${name}`);
	if (!good)
		console.log('# got: ' + JSON.stringify(got));
}

const client = new pg.Client();
await client.connect();
export const query = async (sql) => (await client.query(sql)).rows;
export const done = async () => {
	await client.end();
	console.log(`1..${steps}`);
};

export const isV7 = (id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id);

// an hour in the week of a_week_of_orders()
export const from = new Date('2026-03-02T09:00Z');
export const to = new Date('2026-03-02T10:00Z');

// Test what each client must do, with functions that return rows: insert items, or a single one with
// create(), and select the orders of the hour, also in a join.
export async function testOrders({ insert, create = async (item) => (await insert([item]))[0], period, plan, joined }) {
	const order = await create('tea');
	step(isV7(order.id), 'insert returns the ID', order);
	const bulk = (await insert(Array.from({ length: 100 }, (_, n) => `bulk ${n}`))).map((row) => row.id);
	step(bulk.length === 100 && bulk.every((id, n) => isV7(id) && (n === 0 || id > bulk[n - 1])), 'bulk insert returns ascending IDs', bulk);

	await query('SELECT test.a_week_of_orders()');
	const hour = await period();
	step(hour.length === 60, 'period of two dates finds an hour', hour.length);
	const explained = JSON.stringify(await plan());
	step(/Index (Only )?Scan|Bitmap Index Scan/.test(explained), 'period uses the index', explained);
	if (joined)
		step((await joined()).length === 60, 'period works in a join');
}

// Test whether a second migration has left the triggers that track the table.
export async function testTracking() {
	const tracked = await query('SELECT source::text, problem FROM changes_tables');
	step(tracked.length === 1 && tracked[0].problem === null, 'a second migration leaves the tracking of changes', tracked);
}
