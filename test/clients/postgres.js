// Test of Postgres.js, the npm package postgres.
import postgres from 'postgres';
import { allPages, ascending, done, from, isV7, items, same, step, to, usesIndex } from './steps.js';

const sql = postgres({ onnotice: () => {} });

// create the tables
await sql`CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)`;
await sql`CREATE TABLE outbox (id uuid PRIMARY KEY DEFAULT uuidv7_ordered(), message text NOT NULL)`;

// insert a row
const [order] = await sql`INSERT INTO orders ${sql({ item: 'tea' })} RETURNING id`;
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await sql`INSERT INTO orders ${sql(items.map((item) => ({ item })))} RETURNING id`;
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await sql`SELECT test.a_week_of_orders()`;
const period = () => sql`SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
const keysetPage = (last) => sql`SELECT id FROM orders WHERE id > ${last} ORDER BY id LIMIT 30`;
const incrementalRead = (last) => sql`SELECT id FROM outbox WHERE id > ${last} AND id < uuidv7_horizon() ORDER BY id LIMIT 30`;

const hour = await period();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const plan = await sql`EXPLAIN SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(usesIndex(plan), 'period uses the index', plan);

// read in keyset pages
const pages = await allPages(order.id, keysetPage);
step(same(pages, bulk), 'keyset pages continue after the last ID', pages);

// read incrementally
const [first] = await sql`INSERT INTO outbox (message) VALUES ('first') RETURNING id`;
const sent = await sql`INSERT INTO outbox ${sql(items.map((message) => ({ message })))} RETURNING id`;
const read = await allPages(first.id, incrementalRead);
step(same(read, sent), 'incremental read finds the new rows', read);

await sql.end();
done();
