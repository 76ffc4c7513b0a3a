// Prisma.
import { execFileSync } from 'node:child_process';
import { PrismaPg } from '@prisma/adapter-pg';
import { pool, push } from './prisma.push.js';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const adapter = new PrismaPg(pool);
execFileSync('node_modules/.bin/prisma', ['generate', '--schema=prisma.prisma'],
	{ env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' } });
const { PrismaClient } = await import('@prisma/client');
const db = new PrismaClient({ adapter });

// the table
await push(adapter, 'prisma.prisma');
const again = await push(adapter, 'prisma.prisma');
step(again === 0, 'a second migration proposes no change', again);

// insert
const order = await db.order.create({ data: { item: 'tea' } });
step(isV7(order.id), 'insert gives the id back', order);

// bulk insert
const bulk = await db.order.createManyAndReturn({ data: items.map((item) => ({ item })) });
step(bulk.length === 100 && rising(bulk.map((row) => row.id)), 'bulk insert gives rising ids', bulk);

// a period
await db.$executeRaw`SELECT test.a_week_of_orders()`;
const hour = await db.$queryRaw`SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(hour.length === 60, 'an hour by two dates', hour.length);
const plan = await db.$queryRaw`EXPLAIN SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(byIndex(plan), 'by the index', plan);

// reading on
const page = (last) =>
	db.$queryRaw`SELECT * FROM orders WHERE id > ${last}::uuid AND id < uuidv7_horizon() ORDER BY id LIMIT 30`;
const read = await readOn(order.id, page);
step(same(read, bulk), 'reading on from the last id', read);

await db.$disconnect();
done();
