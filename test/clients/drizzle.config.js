import { defineConfig } from 'drizzle-kit';

const { PGUSER: user, PGPASSWORD: password, PGHOST: host, PGPORT: port, PGDATABASE: database } = process.env;

export default defineConfig({
	dialect: 'postgresql',
	schema: 'drizzle.schema.js',
	out: process.env.PULLED,
	dbCredentials: { host, port: +port, user, password, database, ssl: false },
	tablesFilter: ['!changes_*']
});
