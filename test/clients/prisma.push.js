// Functions that replace the command "prisma db push", which downloads its schema engine as a
// program.  The functions use the npm package of the engine, which reads the catalogs through
// the client's adapter.
import { readFileSync } from 'node:fs';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import pg from 'pg';

// The adapter does not know the type "char" (OID 18) of some catalog columns, so report these
// columns as text (OID 25).
const chars = new Set();
export const pool = new pg.Pool();
pool.on('connect', (client) => client.connection.prependListener('rowDescription', ({ fields }) => {
	for (const field of fields.filter((field) => field.dataTypeID === 18)) {
		field.dataTypeID = 25;
		chars.add(field.name);
	}
}));

// Tell the engine that the columns in chars have type "char".
const labelled = (adapter) => ({
	...adapter,
	connect: async () => {
		const connection = await adapter.connect(), queryRaw = connection.queryRaw.bind(connection);

		connection.queryRaw = async (query) => {
			const result = await queryRaw(query);
			result.columnTypes = result.columnTypes.map((type, n) => chars.has(result.columnNames[n]) ? ColumnTypeEnum.Character : type);
			return result;
		};
		return connection;
	}
});

// Change the database to match the schema, and return the number of executed steps.
export async function push(adapter, path) {
	const content = readFileSync(path, 'utf8');
	const engine = await SchemaEngine.new({ datamodels: [[path, content]] }, () => {},
		bindMigrationAwareSqlAdapterFactory(labelled(adapter)));
	const { executedSteps } = await engine.schemaPush({
		schema: { files: [{ path, content }] }, filters: { externalTables: [], externalEnums: [] }, force: false
	});
	return executedSteps;
}
