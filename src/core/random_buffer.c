/*
 * random_buffer.c
 *		Refilling the pool of random bytes.
 */
#include "random_buffer.h"

#include <string.h>

/*
 * Replace all of the pool by fresh bytes for the process with id owner.
 * When the source fails the pool is left empty and erased, since what the
 * source had written by then must not be handed out.
 */
bool
uuid_random_buffer_refill(UuidRandomBuffer *pool, int64_t owner, UuidRandomSource source)
{
	pool->left = 0;
	if (!source(pool->words, sizeof(pool->words)))
	{
		memset(pool->words, 0, sizeof(pool->words));
		return false;
	}
	pool->owner = owner;
	pool->left = UUID_RANDOM_BUFFER_WORDS;
	return true;
}
