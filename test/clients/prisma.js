// Test of Prisma.
import { execFileSync } from 'node:child_process';
import { PrismaPg } from '@prisma/adapter-pg';
import { pool, push } from './prisma.push.js';
import { allPages, ascending, done, from, isV7, items, same, step, to, usesIndex } from './steps.js';

const adapter = new PrismaPg(pool);
execFileSync('node_modules/.bin/prisma', ['generate', '--schema=prisma.prisma'],
	{ env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' } });
const { PrismaClient } = await import('@prisma/client');
const db = new PrismaClient({ adapter });

// create the tables
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
const keysetPage = (last) => db.order.findMany({ where: { id: { gt: last } }, orderBy: { id: 'asc' }, take: 30 });
const incrementalRead = (last) =>
	db.$queryRaw`SELECT * FROM outbox WHERE id > ${last}::uuid AND id < uuidv7_horizon() ORDER BY id LIMIT 30`;

const hour = await period();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const plan = await db.$queryRaw`EXPLAIN SELECT * FROM orders WHERE id <@ tstzrange(${from}, ${to})`;
step(usesIndex(plan), 'period uses the index', plan);

// read in keyset pages
const pages = await allPages(order.id, keysetPage);
step(same(pages, bulk), 'keyset pages continue after the last ID', pages);

// read incrementally
const first = await db.outbox.create({ data: { message: 'first' } });
const sent = await db.outbox.createManyAndReturn({ data: items.map((message) => ({ message })) });
const read = await allPages(first.id, incrementalRead);
step(same(read, sent), 'incremental read finds the new rows', read);

await db.$disconnect();
done();
