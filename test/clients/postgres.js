// Test of Postgres.js, the npm package postgres.
import postgres from 'postgres';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

const sql = postgres({ onnotice: () => {} });

// create the table
await sql`CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)`;

// insert a row
const [order] = await sql`INSERT INTO orders ${sql({ item: 'tea' })} RETURNING id`;
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await sql`INSERT INTO orders ${sql(items.map((item) => ({ item })))} RETURNING id`;
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await sql`SELECT test.a_week_of_orders()`;
const period = () => sql`SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
const hour = await period();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const plan = await sql`EXPLAIN SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(usesIndex(plan), 'period uses the index', plan);

await sql.end();
done();
