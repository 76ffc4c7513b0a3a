/*
 * Properties of the buffer of random bytes, for all its states and for a source that can fail.
 */
#include "proofs.h"

#include "random_buffer.h"

static UuidRandomBuffer *buffer;
static bool failing;
static int	calls;
static size_t watched;			/* the index of any word */
static uint64_t before;			/* its value at the beginning */
static uint64_t fresh;			/* what the source writes there */

static bool
source(void *bytes, size_t count)
{
	calls++;
	assert(bytes == buffer->words && count == sizeof(buffer->words) && buffer->left == 0);
	buffer->words[watched] = fresh;
	return !failing;
}

static void
any_buffer(void)
{
	buffer = malloc(sizeof(UuidRandomBuffer));
	assume(buffer != NULL && buffer->left <= UUID_RANDOM_BUFFER_WORDS);
	watched = nondet_size();
	assume(watched < UUID_RANDOM_BUFFER_WORDS);
	before = buffer->words[watched];
	fresh = nondet_uint64();
	failing = nondet_bool();
}

/* [--arrays-uf-always] */
void
a_word_is_taken_from_the_end_and_erased(void)
{
	uint64_t	word;

	any_buffer();
	assume(buffer->left == watched + 1);
	assert(uuid_random_buffer_take(buffer, buffer->owner, source, &word));
	assert(calls == 0 && word == before);
	assert(buffer->words[watched] == 0 && buffer->left == watched);
}

/* [--arrays-uf-always] */
void
taking_a_word_keeps_the_others(void)
{
	uint64_t	word;

	any_buffer();
	assume(buffer->left > 0 && watched != buffer->left - 1);
	assert(uuid_random_buffer_take(buffer, buffer->owner, source, &word));
	assert(calls == 0 && buffer->words[watched] == before);
}

/* [--arrays-uf-always] */
void
an_empty_or_foreign_buffer_is_refilled(void)
{
	int64_t		owner = nondet_int64();
	uint64_t	word;

	any_buffer();
	assume(buffer->left == 0 || buffer->owner != owner);
	assume(!failing);
	assert(uuid_random_buffer_take(buffer, owner, source, &word));
	assert(calls == 1 && buffer->owner == owner && buffer->left == 2047);
	if (watched == 2047)
		assert(word == fresh && buffer->words[watched] == 0);
	else
		assert(buffer->words[watched] == fresh);
}

/* [--arrays-uf-always] */
void
a_failing_source_leaves_an_erased_buffer(void)
{
	int64_t		owner = nondet_int64();
	uint64_t	given = nondet_uint64();
	uint64_t	word = given;

	any_buffer();
	assume(buffer->left == 0 || buffer->owner != owner);
	assume(failing);
	assert(!uuid_random_buffer_take(buffer, owner, source, &word));
	assert(calls == 1 && word == given && buffer->left == 0);
	assert(buffer->words[watched] == 0);
}
