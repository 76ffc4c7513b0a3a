// Test of examples/order_service.mjs, as a role that is not a superuser.  The public IDs must be
// equal to those of the extension.
import { spawn } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { done, query, step } from './steps.js';

// the key file, for the service and for the server
const keys = `${process.env.TMPDIR}/keys`;
const digits = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
writeFileSync(keys, `shop orders = ${digits}\n`, { mode: 0o600 });

// create the tables that the example's comment shows
copyFileSync('../../examples/public_ids.mjs', 'public_ids.mjs');
copyFileSync('../../examples/order_service.mjs', 'order_service.mjs');
await query(`SET password_encryption = 'scram-sha-256'; DROP ROLE IF EXISTS web; CREATE ROLE web LOGIN PASSWORD '${process.env.PGPASSWORD}'`);
await query(`CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), customer text NOT NULL, item text NOT NULL);
	CREATE INDEX ON orders (customer, id); GRANT SELECT, INSERT ON orders TO web`);
await query('LOAD \'uuid9562\'');
await query(`ALTER SYSTEM SET uuid9562.key_file = '${keys}'`);
await query('SELECT pg_reload_conf()');

// start the service
const socket = createServer().listen(0, '127.0.0.1');
await new Promise((resolve) => socket.once('listening', resolve));
const { port } = socket.address();
await new Promise((resolve) => socket.close(resolve));
const service = spawn('node', ['order_service.mjs'],
	{ env: { ...process.env, KEY_FILE: keys, PGUSER: 'web', PORT: String(port) }, stdio: ['ignore', 'inherit', 'inherit'] });
async function call(user, path, options = {}) {
	const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...options, headers: user ? { 'X-User': user } : {} });
	return { status: response.status, body: await response.json() };
}
for (let n = 0; n < 100; n++) {
	if (await call('ann', '/orders').catch(() => null))
		break;
	await new Promise((resolve) => setTimeout(resolve, 100));
}

try {
	const post = (user, body) => call(user, '/orders', { method: 'POST', body });
	const made = await post('ann', '{"item": "tea"}');
	step(made.status === 200 && made.body.item === 'tea', 'POST creates an order', made);
	const [{ id, public_id }] = await query(`SELECT id, public.uuidv7_encrypt(id, 'orders') AS public_id FROM orders`);
	step(made.body.id === public_id, 'the public ID is that of the extension', [made.body.id, public_id]);
	const found = await call('ann', `/orders/${public_id}`);
	step(found.body.id === public_id && found.body.item === 'tea', 'GET finds an order by its public ID', found);
	step((await call('bob', `/orders/${public_id}`)).status === 404, 'another user does not find the order');
	step((await call('ann', `/orders/${id}`)).status === 404, 'the ID of the row finds nothing');
	step((await call('ann', '/orders/1')).status === 404, 'a malformed ID finds nothing');
	step((await call(null, '/orders')).status === 401, 'a request without a user is refused');
	step((await post('ann', '{')).status === 400 && (await post('ann', 'null')).status === 400, 'a malformed order is refused');

	await query(`INSERT INTO orders (customer, item) SELECT 'ann', 'item ' || n FROM generate_series(1, 99) AS n`);
	const listed = [];
	for (let path = '/orders'; path;) {
		const { body } = await call('ann', path);
		listed.push(...body.orders);
		path = body.next;
	}
	const rows = await query(`SELECT public.uuidv7_encrypt(id, 'orders') AS id FROM orders ORDER BY orders.id DESC`);
	const { body: { id: other } } = await post('bob', '{"item": "milk"}');
	const page = await call('ann', `/orders?after=${other}`);
	step(page.status === 200 && page.body.orders.length === 0, 'no page begins after the order of another user', page);
	step(listed.map((order) => order.id).join() === rows.map((row) => row.id).join(), 'pages list each order once, the newest first', listed.length);
} finally {
	service.kill();
	await query('ALTER SYSTEM RESET uuid9562.key_file');
}
await done();
