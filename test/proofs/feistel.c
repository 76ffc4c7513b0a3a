/*
 * Properties of the permutation, for every block cipher.
 */
#include "proofs.h"

#include "feistel.h"

/* The block and the result of each round, by the round's number in the block. */
static struct
{
	uint8_t		block[16];
	uint8_t		result[16];
}			known[UUID_FEISTEL_ROUNDS];
static int	calls;

/*
 * Return any results in the first ten calls.  A cipher returns the same result for the same block,
 * so each of the next ten calls must pass the block of an earlier call, and gets its result.
 */
static bool
any_cipher(void *key, uint8_t *block)
{
	uint64_t	round = uuid_layout_load64(block);

	assert(key == &known && round < UUID_FEISTEL_ROUNDS);
	if (calls++ < UUID_FEISTEL_ROUNDS)
	{
		memcpy(known[round].block, block, 16);
		any_bytes(known[round].result, 16);
	}
	else
		assert(same_bytes(known[round].block, block));
	memcpy(block, known[round].result, 16);
	return true;
}

/* [--unwind 17] */
void
decryption_reverses_encryption_with_every_cipher(void)
{
	uint8_t		v7[UUID_BYTES];
	uint8_t		v4[UUID_BYTES];
	uint8_t		back[UUID_BYTES];

	uuid_layout_pack(v7, 7, any_payload());
	assert(uuid_feistel(any_cipher, &known, true, v4, v7));
	assert(calls == 10);
	assert(uuid_layout_version(v4) == 4);
	assert(uuid_feistel(any_cipher, &known, false, back, v4));
	assert(calls == 20);
	assert(same_bytes(back, v7));
}

/* [--unwind 17] */
void
encryption_reverses_decryption_with_every_cipher(void)
{
	uint8_t		v4[UUID_BYTES];
	uint8_t		v7[UUID_BYTES];
	uint8_t		back[UUID_BYTES];

	uuid_layout_pack(v4, 4, any_payload());
	assert(uuid_feistel(any_cipher, &known, false, v7, v4));
	assert(uuid_layout_version(v7) == 7);
	assert(uuid_feistel(any_cipher, &known, true, back, v7));
	assert(same_bytes(back, v4));
}

/* For each call of record_blocks(): the round and the half in the block, and the result */
static int	rounds[UUID_FEISTEL_ROUNDS];
static uint64_t inputs[UUID_FEISTEL_ROUNDS];
static uint64_t outputs[UUID_FEISTEL_ROUNDS];

static bool
record_blocks(void *key, uint8_t *block)
{
	uint64_t	output = nondet_uint64();

	(void) key;
	assert(calls < UUID_FEISTEL_ROUNDS);
	rounds[calls] = (int) uuid_layout_load64(block);
	inputs[calls] = uuid_layout_load64(block + 8);
	outputs[calls] = output;
	calls++;
	uuid_layout_store64(block, output);
	uuid_layout_store64(block + 8, nondet_uint64());
	return true;
}

/*
 * Check the order of the rounds, and that each round changes the two halves in turn, using all 61
 * bits of the half in the block and of the result.  [--unwind 17]
 */
void
each_round_changes_one_half_by_a_block_of_the_other(void)
{
	UuidPayload payload = any_payload();
	uint64_t	left = payload.time * 2 + (payload.tail >> 61);
	uint64_t	right = payload.tail % (UINT64_C(1) << 61);
	bool		encrypt = nondet_bool();
	UuidPayload result;
	uint8_t		given[UUID_BYTES];
	uint8_t		bytes[UUID_BYTES];

	uuid_layout_pack(given, encrypt ? 7 : 4, payload);
	assert(uuid_feistel(record_blocks, NULL, encrypt, bytes, given));
	assert(calls == 10);
	for (int i = 0; i < 10; i++)
	{
		int			round = encrypt ? i : 9 - i;
		uint64_t	change = outputs[i] % (UINT64_C(1) << 61);

		assert(rounds[i] == round);
		assert(inputs[i] == (round % 2 == 0 ? right : left));
		if (round % 2 == 0)
			left ^= change;
		else
			right ^= change;
	}
	result = uuid_layout_unpack(bytes, 4);
	assert(uuid_layout_version(bytes) == (encrypt ? 4 : 7));
	assert(result.time == left >> 1);
	assert(result.tail == (left & 1) << 61 | right);
}

static int	failing_call;

static bool
fail_once(void *key, uint8_t *block)
{
	(void) key;
	(void) block;
	return calls++ != failing_call;
}

/* [--unwind 17] */
void
failure_of_the_cipher_is_returned(void)
{
	uint8_t		given[UUID_BYTES];
	uint8_t		bytes[UUID_BYTES];

	any_bytes(given, UUID_BYTES);
	failing_call = any_from(0, 10);
	assert(uuid_feistel(fail_once, NULL, nondet_bool(), bytes, given) == (failing_call == 10));
	assert(calls == (failing_call == 10 ? 10 : failing_call + 1));
}
