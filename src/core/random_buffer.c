/*
 * random_buffer.c
 *		Refill of the buffer of random bytes.
 */
#include "random_buffer.h"

#include <string.h>

/*
 * Refill the buffer for process "owner".  If the source fails, erase the buffer: it can
 * contain bytes that the parent process will return too, or a part of the source's output.
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
