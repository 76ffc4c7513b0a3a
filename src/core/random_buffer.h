/*
 * random_buffer.h
 *		A buffer of random bytes (RFC 9562, 6.9).
 *
 * A call of a cryptographically secure source is expensive even if it returns few bytes.
 * So the buffer fetches 16384 bytes at a time and returns 8 at a time.
 *
 *	- No byte is returned twice: each byte is erased when it is returned.
 *	- The buffer belongs to one process.  After a fork, parent and child have the
 *	  same bytes, so a process that is not the owner refills the buffer.
 *	- If the source fails, no bytes are returned.
 */
#ifndef UUID9562_CORE_RANDOM_BUFFER_H
#define UUID9562_CORE_RANDOM_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UUID_RANDOM_BUFFER_BYTES	16384
#define UUID_RANDOM_BUFFER_WORDS	(UUID_RANDOM_BUFFER_BYTES / sizeof(uint64_t))

/* Write count random bytes.  Return false on failure. */
typedef bool (*UuidRandomSource) (void *bytes, size_t count);

/* A zeroed buffer is empty. */
typedef struct UuidRandomBuffer
{
	int64_t		owner;			/* ID of the process that filled the buffer */
	size_t		left;			/* number of words not yet returned */
	uint64_t	words[UUID_RANDOM_BUFFER_WORDS];
} UuidRandomBuffer;

extern bool uuid_random_buffer_refill(UuidRandomBuffer *buffer, int64_t owner,
									  UuidRandomSource source);

/*
 * Take 8 random bytes from the buffer for process "owner".  Return false, and leave
 * *word unchanged, if the source fails.
 */
static inline bool
uuid_random_buffer_take(UuidRandomBuffer *buffer, int64_t owner, UuidRandomSource source,
						uint64_t *word)
{
	if ((buffer->left == 0 || buffer->owner != owner) &&
		!uuid_random_buffer_refill(buffer, owner, source))
		return false;
	*word = buffer->words[--buffer->left];
	buffer->words[buffer->left] = 0;
	return true;
}

#endif							/* UUID9562_CORE_RANDOM_BUFFER_H */
