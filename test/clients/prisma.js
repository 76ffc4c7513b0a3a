// Prisma.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { PrismaPg } from '@prisma/adapter-pg';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { byIndex, done, from, isV7, items, readOn, rising, same, step, to } from './steps.js';

const pool = new pg.Pool();
pool.on('connect', (client) => client.connection.prependListener('rowDescription', ({ fields }) =>
	fields.filter((field) => field.dataTypeID === 18).forEach((field) => { field.dataTypeID = 25; })));
const adapter = new PrismaPg(pool);
execFileSync('node_modules/.bin/prisma', ['generate', '--schema=prisma.prisma'],
	{ env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true' } });
const { PrismaClient } = await import('@prisma/client');
const db = new PrismaClient({ adapter });

const path = 'prisma.prisma', content = readFileSync(path, 'utf8'), schema = { files: [{ path, content }] };
const engine = await SchemaEngine.new({ datamodels: [[path, content]] }, () => {}, bindMigrationAwareSqlAdapterFactory(adapter));
const filters = { externalTables: [], externalEnums: [] };
const { executedSteps } = await engine.schemaPush({ schema, filters, force: false });
const again = await engine.schemaPush({ schema, filters, force: false });
step(executedSteps === 1 && again.executedSteps === 0, 'a second migration proposes no change', again);

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

await db.$disconnect();
done();
