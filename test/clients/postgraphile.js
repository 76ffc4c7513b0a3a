// Test of PostGraphile, as a role that is not a superuser.
import pg from 'pg';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafast } from 'postgraphile/grafast';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';
import { done, isV7, query, step } from './steps.js';

// create the table, with a reader of its changes
await query(`SET password_encryption = 'scram-sha-256'; DROP ROLE IF EXISTS web; CREATE ROLE web LOGIN PASSWORD '${process.env.PGPASSWORD}'`);
await query(`CREATE TABLE orders (id uuid PRIMARY KEY DEFAULT uuidv7_next(), item text NOT NULL);
	GRANT SELECT, INSERT, UPDATE, DELETE ON orders TO web`);
await query(`SELECT changes_track('orders')`);
const changes = `SELECT change_type, (data).id FROM changes_read('billing', NULL::orders)`;
await query('BEGIN');
await query(changes);
await query(`SELECT changes_done('billing')`);
await query('COMMIT');

// generate the GraphQL schema
const pool = new pg.Pool({ user: 'web' });
const api = postgraphile({ extends: [PostGraphileAmberPreset], pgServices: [makePgService({ pool, schemas: ['public'] })] });
const { schema, resolvedPreset } = await api.getSchemaResult();
const fields = ['Query', 'Mutation'].flatMap((type) => Object.keys(schema.getType(type).getFields())).sort().join(' ');
step(fields === 'allOrders createOrder deleteOrder deleteOrderByRowId id node order orderByRowId query updateOrder updateOrderByRowId',
	'the schema has the table, but nothing of the extension', fields);

// change rows
const graphql = (source) => grafast({ schema, resolvedPreset, source, requestContext: {} });
const create = (item) => graphql(`mutation { createOrder(input: { order: { item: "${item}" } }) { order { rowId } } }`);
const { data: { createOrder: { order: { rowId: tea } } } } = await create('tea');
step(isV7(tea), 'createOrder returns the ID', tea);
const { data: { createOrder: { order: { rowId: milk } } } } = await create('milk');
await graphql(`mutation { deleteOrderByRowId(input: { rowId: "${tea}" }) { clientMutationId } }`);
const { data: { allOrders: { nodes } } } = await graphql('{ allOrders { nodes { rowId item } } }');
step(nodes.length === 1 && nodes[0].rowId === milk && nodes[0].item === 'milk', 'allOrders returns the rows', nodes);

// read the changes
const read = (await query(changes)).map(({ change_type, id }) => `${change_type} ${id}`);
step(read.sort().join() === `delete ${tea},upsert ${milk}`, 'changes_read() returns the changes of mutations', read);

await api.release();
await pool.end();
await done();
