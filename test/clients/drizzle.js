// Drizzle: drizzle-orm, with the kit's push and pull.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { and, gt, lt, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { orders } from './drizzle.schema.js';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const pool = new pg.Pool();
const db = drizzle(pool);
const kit = (command, ...options) => execFileSync('node_modules/.bin/drizzle-kit', [command, '--dialect=postgresql',
	`--url=postgresql://${process.env.PGUSER}:${process.env.PGPASSWORD}@${process.env.PGHOST}:${process.env.PGPORT}/${process.env.PGDATABASE}`,
	...options], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

// the table
kit('push', '--schema=drizzle.schema.js', '--force');
const again = kit('push', '--schema=drizzle.schema.js', '--force');
step(again.includes('No changes detected'), 'a second push proposes no change', again);
const pulled = mkdtempSync('/tmp/drizzle.');
kit('pull', `--out=${pulled}`);
const schema = readFileSync(`${pulled}/schema.ts`, 'utf8');
rmSync(pulled, { recursive: true });
step(schema.includes('id: uuid().default(sql`uuidv7_next()`).primaryKey()'), 'pull gives the default again', schema);

// insert
const [order] = await db.insert(orders).values({ item: 'tea' }).returning({ id: orders.id });
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = await db.insert(orders).values(items.map((item) => ({ item }))).returning({ id: orders.id });
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await db.execute(sql`SELECT test.a_week_of_orders()`);
const period = db.select().from(orders)
	.where(sql`${orders.id} <@ tstzrange(${from.toISOString()}, ${to.toISOString()})`);
const hour = await period;
step(hour.length === 60, 'an hour by two dates', hour.length);
const { rows: plan } = await db.execute(sql`EXPLAIN ${period.getSQL()}`);
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) => db.select().from(orders)
	.where(and(gt(orders.id, last), lt(orders.id, sql`uuidv7_horizon()`))).orderBy(orders.id).limit(30);
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

await pool.end();
done();
