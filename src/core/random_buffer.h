/*
 * random_buffer.h
 *		A pool of random bytes (RFC 9562, 6.9).
 *
 * A cryptographically secure source spends most of its time on being called, up
 * to some thousand bytes, so they are fetched 16384 at a time and handed out 8
 * at a time.
 *
 *	- No byte is handed out twice: each is erased in the pool as it is taken.
 *	- The pool belongs to one process: after a fork, parent and child would
 *	  hold the same bytes, so whoever is not the owner starts afresh.
 *	- When the source fails, nothing is handed out.
 *
 * Plain C11: no PostgreSQL, no I/O, no static state; the source is a callback.
 */
#ifndef UUID9562_CORE_RANDOM_BUFFER_H
#define UUID9562_CORE_RANDOM_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UUID_RANDOM_BUFFER_BYTES	16384
#define UUID_RANDOM_BUFFER_WORDS	(UUID_RANDOM_BUFFER_BYTES / sizeof(uint64_t))

/* Fills count bytes with random ones; false when it cannot. */
typedef bool (*UuidRandomSource) (void *bytes, size_t count);

/* A zeroed pool is an empty one. */
typedef struct UuidRandomBuffer
{
	int64_t		owner;			/* process id that filled the pool */
	size_t		left;			/* words not yet handed out: the first ones */
	uint64_t	words[UUID_RANDOM_BUFFER_WORDS];
} UuidRandomBuffer;

extern bool uuid_random_buffer_refill(UuidRandomBuffer *pool, int64_t owner, UuidRandomSource source);

/*
 * Take 8 random bytes out of the pool of the process with id owner.  They
 * are in no byte order: use them as bits.  False, and *word untouched, when
 * the pool had to be refilled and the source failed.
 */
static inline bool
uuid_random_buffer_take(UuidRandomBuffer *pool, int64_t owner, UuidRandomSource source, uint64_t *word)
{
	if (pool->left == 0 || pool->owner != owner)
	{
		if (!uuid_random_buffer_refill(pool, owner, source))
			return false;
	}
	pool->left--;
	*word = pool->words[pool->left];
	pool->words[pool->left] = 0;
	return true;
}

#endif							/* UUID9562_CORE_RANDOM_BUFFER_H */
