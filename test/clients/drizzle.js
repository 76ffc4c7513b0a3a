// Test of Drizzle: drizzle-orm, and push and pull of drizzle-kit.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { alias } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { orders } from './drizzle.schema.js';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

const pool = new pg.Pool();
const db = drizzle(pool);
const pulled = mkdtempSync('/tmp/drizzle.');
const kit = (...options) => execFileSync('node_modules/.bin/drizzle-kit', [...options, '--config=drizzle.config.js'],
	{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PULLED: pulled } });

// create the table
kit('push', '--force');
await pool.query(`SELECT changes_track('orders')`);
const again = kit('push', '--force');
step(again.includes('No changes detected'), 'a second push changes nothing', again);
const { rows: tracked } = await pool.query('SELECT source::text, problem FROM changes_tables');
step(tracked.length === 1 && tracked[0].problem === null, 'a second push leaves the tracking of changes', tracked);
kit('pull');
const schema = readFileSync(`${pulled}/schema.ts`, 'utf8');
rmSync(pulled, { recursive: true });
step(schema.includes('check("orders_v7", sql`uuid_is_v7(id) AND (id IS NOT NULL)`)'), 'pull reads the check constraint back', schema);
step(schema.includes('id: uuid().default(sql`uuidv7_next()`).primaryKey()'), 'pull reads the default back', schema);

// insert a row
const [order] = await db.insert(orders).values({ item: 'tea' }).returning({ id: orders.id });
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await db.insert(orders).values(items.map((item) => ({ item }))).returning({ id: orders.id });
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await db.execute(sql`SELECT test.a_week_of_orders()`);
const period = db.select().from(orders)
	.where(sql`${orders.id} <@ tstzrange(${from.toISOString()}, ${to.toISOString()})`);
const hour = await period;
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const { rows: plan } = await db.execute(sql`EXPLAIN ${period.getSQL()}`);
step(usesIndex(plan), 'period uses the index', plan);

const other = alias(orders, 'others');
const joined = await db.select({ id: orders.id }).from(orders).innerJoin(other, eq(other.id, orders.id))
	.where(sql`${orders.id} <@ tstzrange(${from.toISOString()}, ${to.toISOString()})`);
step(joined.length === 60, 'period works in a join', joined.length);

await pool.end();
done();
