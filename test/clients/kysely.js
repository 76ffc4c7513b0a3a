// Test of Kysely.
import { execSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { ascending, done, from, isV7, items, step, to, usesIndex } from './steps.js';

const db = new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool() }) });

// create the table
const migration = {
	up: async (db) => {
		await db.schema.createTable('orders')
			.addColumn('id', 'uuid', (column) => column.primaryKey().defaultTo(sql`uuidv7_next()`))
			.addColumn('item', 'text', (column) => column.notNull())
			.execute();
	}
};
const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ orders: migration }) } });
await migrator.migrateToLatest();
const { results: again } = await migrator.migrateToLatest();
step(again.length === 0, 'a second migration changes nothing', again);

// insert a row
const order = await db.insertInto('orders').values({ item: 'tea' }).returning('id').executeTakeFirstOrThrow();
step(isV7(order.id), 'insert returns the ID', order);

// insert many rows
const bulk = await db.insertInto('orders').values(items.map((item) => ({ item }))).returning('id').execute();
step(bulk.length === 100 && ascending(bulk.map((row) => row.id)), 'bulk insert returns ascending IDs', bulk);

// select the rows of a period
await sql`SELECT test.a_week_of_orders()`.execute(db);
const period = db.selectFrom('orders').selectAll('orders').where(sql`orders.id <@ tstzrange(${from}, ${to})`);
const hour = await period.execute();
step(hour.length === 60, 'period of two dates finds an hour', hour.length);
const plan = await period.explain();
step(usesIndex(plan), 'period uses the index', plan);
const joined = await period.innerJoin('orders as others', 'others.id', 'orders.id').execute();
step(joined.length === 60, 'period works in a join', joined.length);

// generate the types
await sql`SELECT changes_track('orders')`.execute(db);
execSync(`
	kysely-codegen --exclude-pattern '{uuid9562_changes.*,*.changes_*}'
`, { env: { ...process.env, DATABASE_URL: `postgres:///${process.env.PGDATABASE}` } });
const types = readFileSync('node_modules/kysely-codegen/dist/db.d.ts', 'utf8');
step(/interface Orders {\s+id: Generated<string>;/.test(types), 'kysely-codegen finds the default of the ID', types);
step(/interface DB {\s+orders: Orders;\s+}/.test(types), 'the setting excludes the tables and views of the extension', types);

await db.destroy();
done();
