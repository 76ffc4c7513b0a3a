// Test of Drizzle: drizzle-orm, and push and pull of drizzle-kit.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { alias } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { orders } from './drizzle.schema.js';
import { done, from, query, step, testOrders, testTracking, to } from './steps.js';

const pool = new pg.Pool();
const db = drizzle(pool);
const pulled = mkdtempSync('/tmp/drizzle.');
const kit = (...options) => execFileSync('node_modules/.bin/drizzle-kit', [...options, '--config=drizzle.config.js'],
	{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PULLED: pulled } });

// create the table
kit('push', '--force');
await query(`SELECT changes_track('orders')`);
const again = kit('push', '--force');
step(again.includes('No changes detected'), 'a second push changes nothing', again);
await testTracking();
kit('pull');
const schema = readFileSync(`${pulled}/schema.ts`, 'utf8');
rmSync(pulled, { recursive: true });
step(schema.includes('check("orders_v7", sql`uuid_is_v7(id) AND (id IS NOT NULL)`)'), 'pull reads the check constraint back', schema);
step(schema.includes('id: uuid().default(sql`uuidv7_next()`).primaryKey()'), 'pull reads the default back', schema);

const other = alias(orders, 'others');
const period = db.select().from(orders)
	.where(sql`${orders.id} <@ tstzrange(${from.toISOString()}, ${to.toISOString()})`);
await testOrders({
	insert: (items) => db.insert(orders).values(items.map((item) => ({ item }))).returning({ id: orders.id }),
	period: () => period,
	plan: () => db.execute(sql`EXPLAIN ${period.getSQL()}`),
	joined: () => db.select({ id: orders.id }).from(orders).innerJoin(other, eq(other.id, orders.id))
		.where(sql`${orders.id} <@ tstzrange(${from.toISOString()}, ${to.toISOString()})`)
});

await pool.end();
await done();
