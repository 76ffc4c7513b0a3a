// Test of Kysely.
import { execSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import pg from 'pg';
import { done, from, query, step, testOrders, to } from './steps.js';

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

const period = db.selectFrom('orders').selectAll('orders').where(sql`orders.id <@ tstzrange(${from}, ${to})`);
await testOrders({
	insert: (items) => db.insertInto('orders').values(items.map((item) => ({ item }))).returning('id').execute(),
	period: () => period.execute(),
	plan: () => period.explain(),
	joined: () => period.innerJoin('orders as others', 'others.id', 'orders.id').execute()
});

// generate the types
await query(`SELECT changes_track('orders')`);
execSync(`
	kysely-codegen --exclude-pattern '{uuid9562_changes.*,*.changes_*}'
`, { env: { ...process.env, DATABASE_URL: `postgres:///${process.env.PGDATABASE}` } });
const types = readFileSync('node_modules/kysely-codegen/dist/db.d.ts', 'utf8');
step(/interface Orders {\s+id: Generated<string>;/.test(types), 'kysely-codegen finds the default of the ID', types);
step(/interface DB {\s+orders: Orders;\s+}/.test(types), 'the setting excludes the tables and views of the extension', types);

await db.destroy();
await done();
