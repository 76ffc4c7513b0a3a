/*
 * random_buffer.c
 *		Refill of the buffer of random bytes.
 *
 * Each generator contains uuid_random_buffer_take(), but calls the refill only once for 2048 words.
 * So the refill is a function of its own, which keeps the generators small.
 */
#include "random_buffer.h"

#include <string.h>

/*
 * Refill the buffer for process "owner".  If the source fails, erase the words.  They can contain a
 * part of the source's output or, after a fork, bytes that the parent process will return.
 */
bool
uuid_random_buffer_refill(UuidRandomBuffer *buffer, int64_t owner, UuidRandomSource source)
{
	buffer->left = 0;
	if (!source(buffer->words, sizeof(buffer->words)))
	{
		memset(buffer->words, 0, sizeof(buffer->words));
		return false;
	}
	buffer->owner = owner;
	buffer->left = UUID_RANDOM_BUFFER_WORDS;
	return true;
}
