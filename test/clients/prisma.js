// Test of Prisma.
import { execFileSync } from 'node:child_process';
import { PrismaPg } from '@prisma/adapter-pg';
import { pool, push } from './prisma.push.js';
import { done, from, step, testOrders, to } from './steps.js';

const adapter = new PrismaPg(pool);
execFileSync('node_modules/.bin/prisma', ['generate', '--schema=prisma.prisma'],
	{ env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' } });
const { PrismaClient } = await import('@prisma/client');
const db = new PrismaClient({ adapter });

// create the table
await push(adapter, 'prisma.prisma');
const again = await push(adapter, 'prisma.prisma');
step(again === 0, 'a second migration changes nothing', again);

const period = () => db.$queryRaw`SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
await testOrders({
	create: (item) => db.order.create({ data: { item } }),
	insert: (items) => db.order.createManyAndReturn({ data: items.map((item) => ({ item })) }),
	period,
	plan: () => db.$queryRaw`EXPLAIN SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`
});

await db.$disconnect();
await done();
