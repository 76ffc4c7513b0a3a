// Test of Prisma.
import { execFileSync } from 'node:child_process';
import { PrismaPg } from '@prisma/adapter-pg';
import { pool, push } from './prisma.push.js';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

const adapter = new PrismaPg(pool);
execFileSync('node_modules/.bin/prisma', ['generate', '--schema=prisma.prisma'],
	{ env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' } });
const { PrismaClient } = await import('@prisma/client');
const db = new PrismaClient({ adapter });

// create the table
await push(adapter, 'prisma.prisma');
const again = await push(adapter, 'prisma.prisma');
step(again === 0, 'a second migration changes nothing', again);

// insert a row
const order = await db.order.create({ data: { item: 'tea' } });
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await db.order.createManyAndReturn({ data: items.map((item) => ({ item })) });
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await db.$executeRaw`SELECT test.a_week_of_orders()`;
const period = () => db.$queryRaw`SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
const hour = await period();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const plan = await db.$queryRaw`EXPLAIN SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(usesIndex(plan), 'period uses the index', plan);

await db.$disconnect();
done();
