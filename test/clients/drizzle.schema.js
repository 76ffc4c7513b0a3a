import { check, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';

export const orders = pgTable('orders', {
	id: uuid('id').primaryKey().default(sql`uuidv7_next()`),
	item: text('item').notNull()
}, (table) => [
	check('orders_v7', sql`uuid_is_v7(${table.id}) AND ${table.id} IS NOT NULL`)
]);
