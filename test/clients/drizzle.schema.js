import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { sql } from 'drizzle-orm';

export const orders = pgTable('orders', {
	id: uuid('id').primaryKey().default(sql`uuidv7_next()`),
	item: text('item').notNull()
});

export const outbox = pgTable('outbox', {
	id: uuid('id').primaryKey().default(sql`uuidv7_ordered()`),
	message: text('message').notNull()
});
