// Postgres.js, "postgres" of npm.
import postgres from 'postgres';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const sql = postgres({ onnotice: () => {} });

// the table
await sql`CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)`;

// insert
const [order] = await sql`INSERT INTO orders ${sql({ item: 'tea' })} RETURNING id`;
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = await sql`INSERT INTO orders ${sql(items.map((item) => ({ item })))} RETURNING id`;
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await sql`SELECT test.a_week_of_orders()`;
const hour = await sql`SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(hour.length === 60, 'an hour by two dates', hour.length);
const plan = await sql`EXPLAIN SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) => sql`SELECT id FROM orders WHERE id > ${last} AND id < uuidv7_horizon() ORDER BY id LIMIT 30`;
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

await sql.end();
done();
