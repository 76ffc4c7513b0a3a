// Test of Postgres.js, the npm package postgres.
import postgres from 'postgres';
import { done, from, testOrders, to } from './steps.js';

const sql = postgres({ onnotice: () => {} });

// create the table
await sql`CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL)`;

await testOrders({
	insert: (items) => sql`INSERT INTO orders ${sql(items.map((item) => ({ item })))} RETURNING id`,
	period: () => sql`SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`,
	plan: () => sql`EXPLAIN SELECT id, item FROM orders WHERE id <@ tstzrange(${from}, ${to})`
});

await sql.end();
await done();
