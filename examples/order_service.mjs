// An HTTP service that shows public IDs, while the table keeps its v7 keys.
//
//	CREATE TABLE orders (
//	    id       uuid PRIMARY KEY DEFAULT uuidv7_next(),
//	    customer text NOT NULL,
//	    item     text NOT NULL
//	);
//	CREATE INDEX ON orders (customer, id);
//	GRANT SELECT, INSERT ON orders TO web;
//
//	npm install pg
//	KEY_FILE=/etc/shop/keys PGDATABASE=shop PGUSER=web PORT=8080 node order_service.mjs
//
//	curl -H 'X-User: ann' -d '{"item": "tea"}' http://127.0.0.1:8080/orders
//	curl -H 'X-User: ann' http://127.0.0.1:8080/orders
//	curl -H 'X-User: ann' http://127.0.0.1:8080/orders/PUBLIC_ID
//
// The key file has the line "shop orders = " with 64 random hexadecimal digits, as for
// public_ids.mjs, which this file imports.  A proxy must check who the user is, and set X-User.
import { createServer } from 'node:http';
import pg from 'pg';
import { publicIds } from './public_ids.mjs';

const ids = publicIds(process.env.KEY_FILE, process.env.PGDATABASE, 'orders');
const db = new pg.Pool();
db.on('error', (error) => console.error(error.message));

const pageSize = 30;
const shown = ({ id, item }) => ({ id: ids.encrypt(id), item });

class HttpError extends Error {
	constructor(status) {
		super(String(status));
		this.status = status;
	}
}

// Return the ID of the row with a public ID.  A client must not learn why there is no such row.
function rowId(publicId) {
	try {
		return ids.decrypt(publicId);
	} catch {
		throw new HttpError(404);
	}
}

// List the orders of a customer, the newest first.  The next page begins after a public ID.  If
// this is not the ID of an order of the customer, return no orders: the page after another
// decrypted ID would reveal its time.
async function list(customer, after) {
	const { rows } = await db.query(`
		SELECT id, item FROM orders
		WHERE customer = $1
		  AND ($2::uuid IS NULL OR id < (SELECT id FROM orders WHERE id = $2 AND customer = $1))
		ORDER BY id DESC LIMIT $3`,
		[customer, after && rowId(after), pageSize]);
	const orders = rows.map(shown);
	return { orders, next: rows.length < pageSize ? null : `/orders?after=${orders.at(-1).id}` };
}

// A public ID is no permission, so the query also compares the customer.
async function find(customer, publicId) {
	const { rows } = await db.query('SELECT id, item FROM orders WHERE id = $1 AND customer = $2', [rowId(publicId), customer]);
	if (rows.length === 0)
		throw new HttpError(404);
	return shown(rows[0]);
}

async function create(customer, body) {
	if (typeof body?.item !== 'string')
		throw new HttpError(400);
	const { rows } = await db.query('INSERT INTO orders (customer, item) VALUES ($1, $2) RETURNING id, item', [customer, body.item]);
	return shown(rows[0]);
}

async function readJson(request) {
	let text = '';
	for await (const chunk of request.setEncoding('utf8')) {
		text += chunk;
		if (text.length > 10000)
			throw new HttpError(413);
	}
	try {
		return JSON.parse(text);
	} catch {
		throw new HttpError(400);
	}
}

async function answer(request) {
	const url = new URL(request.url, 'http://localhost');
	const customer = request.headers['x-user'];
	const [, publicId] = /^\/orders(?:\/([^/]+))?$/.exec(url.pathname) ?? [, null];

	if (!customer)
		throw new HttpError(401);
	if (publicId === null)
		throw new HttpError(404);
	if (request.method === 'GET')
		return publicId ? find(customer, publicId) : list(customer, url.searchParams.get('after'));
	if (request.method === 'POST' && !publicId)
		return create(customer, await readJson(request));
	throw new HttpError(405);
}

createServer(async (request, response) => {
	let status = 200, body;
	try {
		body = await answer(request);
	} catch (error) {
		status = error.status ?? 500;
		body = { error: status };
		if (status === 500)
			console.error(error.message);
	}
	response.writeHead(status, { 'Content-Type': 'application/json' });
	response.end(JSON.stringify(body) + '\n');
}).listen(process.env.PORT ?? 8080, '127.0.0.1');
