/*
 * Tests of the Feistel network of public IDs.  They replace AES by its recorded results or by
 * another function.  test/t/key_file.pl tests the network with AES, and
 * test/t/faults.pl lets AES fail.
 */
#include "support.h"

#include "feistel.h"

/*
 * The ten rounds of a test vector in doc/public-ids.md, computed by OpenSSL.  AES-256
 * with the key 00 01 ... 1f encrypts a block of two numbers: the number of the round, and
 * one half of the payload.  Each row has this half, and the first 8 bytes of the result.
 */
static const uint64_t aes[UUID_FEISTEL_ROUNDS][2] = {
	{UINT64_C(0x1de06b9bb85af70d), UINT64_C(0x64f035a96cfabfdf)},
	{UINT64_C(0x04c475e617c2b1e7), UINT64_C(0x8c6574cedb6f26f0)},
	{UINT64_C(0x11851f556335d1fd), UINT64_C(0x943c8a434c88d125)},
	{UINT64_C(0x10f8ffa55b4a60c2), UINT64_C(0x428d54173bd4c257)},
	{UINT64_C(0x13084b4258e113aa), UINT64_C(0xebdce8cd91122d98)},
	{UINT64_C(0x1b241768ca584d5a), UINT64_C(0xd6122a2895acaa89)},
	{UINT64_C(0x051a616acd4db923), UINT64_C(0x2b806529e4e61bfb)},
	{UINT64_C(0x10a472412ebe56a1), UINT64_C(0xa7343cffc87f867a)},
	{UINT64_C(0x022e5d9505323f59), UINT64_C(0xc53c95f441057bd1)},
	{UINT64_C(0x1598e7b56fbb2d70), UINT64_C(0x058bd8c6c4d1b341)},
};

/* A UuidBlockCipher that returns the recorded results above, and counts its calls. */
static bool
replay_aes(void *key, uint8_t *block)
{
	uint64_t	round = uuid_layout_load64(block);

	assert_true(round < UUID_FEISTEL_ROUNDS);
	assert_true(uuid_layout_load64(block + 8) == aes[round][0]);
	uuid_layout_store64(block, aes[round][1]);
	(*(int *) key)++;
	return true;
}

TEST(has_the_vectors_of_the_manual)
{
	static const char *const id = "01a2027b-d9c0-771c-9de0-6b9bb85af70d";
	static const char *const public_id = "acc73dab-7dd9-46b8-87a5-8553c1e38c18";
	uint8_t		bytes[UUID_BYTES];
	int			rounds = 0;

	bytes_from_text(id, bytes, UUID_BYTES);
	assert_true(uuid_feistel(replay_aes, &rounds, true, bytes, bytes));
	assert_uuid_equal(bytes, public_id);
	assert_true(uuid_feistel(replay_aes, &rounds, false, bytes, bytes));
	assert_uuid_equal(bytes, id);
	assert_int_equal(rounds, 2 * 10);
}

/* A UuidBlockCipher that mixes a key of 64 bits with both halves of the block. */
static bool
mix(void *key, uint8_t *block)
{
	uint64_t	word = (*(uint64_t *) key ^ uuid_layout_load64(block)) * UINT64_C(0x9e3779b97f4a7c15);

	word += uuid_layout_load64(block + 8);
	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	uuid_layout_store64(block, word ^ word >> 31);
	return true;
}

static void
assert_permuted(uint64_t key, UuidPayload payload)
{
	uint8_t		id[UUID_BYTES];
	uint8_t		public_id[UUID_BYTES];
	uint8_t		back[UUID_BYTES];

	uuid_layout_pack(id, 7, payload);
	assert_true(uuid_feistel(mix, &key, true, public_id, id));
	assert_int_equal(uuid_layout_version(public_id), 4);
	assert_true(uuid_feistel(mix, &key, false, back, public_id));
	assert_memory_equal(back, id, UUID_BYTES);

	uuid_layout_pack(public_id, 4, payload);
	assert_true(uuid_feistel(mix, &key, false, id, public_id));
	assert_int_equal(uuid_layout_version(id), 7);
	assert_true(uuid_feistel(mix, &key, true, back, id));
	assert_memory_equal(back, public_id, UUID_BYTES);
}

/* Encrypt and decrypt random payloads, all bits zero, all bits one, and single bits. */
TEST(is_a_permutation_in_both_directions)
{
	static const UuidPayload zeros = {0, 0};
	static const UuidPayload ones = {UUID_TIME_MAX, UUID_TAIL_MAX};

	for (int round = 0; round < 100; round++)
	{
		uint64_t	key = test_bits();

		assert_permuted(key, zeros);
		assert_permuted(key, ones);
		for (int bit = 0; bit < UUID_TIME_BITS + UUID_TAIL_BITS; bit++)
		{
			UuidPayload payload = {test_bits() & UUID_TIME_MAX, test_bits() & UUID_TAIL_MAX};
			UuidPayload one_bit = zeros;

			if (bit < UUID_TAIL_BITS)
				one_bit.tail = UINT64_C(1) << bit;
			else
				one_bit.time = UINT64_C(1) << (bit - UUID_TAIL_BITS);
			assert_permuted(key, one_bit);
			assert_permuted(key, payload);
		}
	}
}
