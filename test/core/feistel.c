/*
 * The Feistel network of public IDs.  Its block cipher here is an implementation of
 * AES-256 for this test only, so that the test needs no library.
 */
#include "support.h"

#include "feistel.h"

/* --- AES-256 (FIPS 197) ---------------------------------------------------- */

#define AES_ROUNDS	14

typedef struct Aes
{
	uint8_t		sbox[256];
	uint8_t		keys[AES_ROUNDS + 1][16];
} Aes;

/* Multiply by x in the field of 256 elements. */
static uint8_t
times_x(uint8_t a)
{
	return (uint8_t) (a << 1 ^ (a >> 7) * 0x1b);
}

static uint8_t
rotate(uint8_t a, int by)
{
	return (uint8_t) (a << by | a >> (8 - by));
}

/* The inverse of each element and an affine map; 3 generates all elements but 0. */
static void
fill_sbox(uint8_t *sbox)
{
	uint8_t		power = 1;		/* 3^i */
	uint8_t		inverse = 1;	/* 3^-i */

	for (int i = 0; i < 255; i++)
	{
		sbox[power] = inverse ^ rotate(inverse, 1) ^ rotate(inverse, 2) ^ rotate(inverse, 3) ^ rotate(inverse, 4) ^ 0x63;
		power ^= times_x(power);
		/* divide by 3: multiply by 0xf6 */
		inverse ^= (uint8_t) (inverse << 1);
		inverse ^= (uint8_t) (inverse << 2);
		inverse ^= (uint8_t) (inverse << 4);
		inverse ^= inverse & 0x80 ? 0x09 : 0;
	}
	sbox[0] = 0x63;
}

static void
expand_key(Aes *aes, const uint8_t *key)
{
	uint8_t    *words = aes->keys[0];
	uint8_t		constant = 1;

	fill_sbox(aes->sbox);
	memcpy(words, key, 32);
	for (int i = 8; i < 4 * (AES_ROUNDS + 1); i++)
	{
		uint8_t		word[4];

		memcpy(word, words + 4 * (i - 1), 4);
		if (i % 8 == 0)
		{
			uint8_t		first = word[0];

			word[0] = aes->sbox[word[1]] ^ constant;
			word[1] = aes->sbox[word[2]];
			word[2] = aes->sbox[word[3]];
			word[3] = aes->sbox[first];
			constant = times_x(constant);
		}
		else if (i % 8 == 4)
			for (int j = 0; j < 4; j++)
				word[j] = aes->sbox[word[j]];
		for (int j = 0; j < 4; j++)
			words[4 * i + j] = words[4 * (i - 8) + j] ^ word[j];
	}
}

static void
mix_column(uint8_t *column)
{
	uint8_t		all = column[0] ^ column[1] ^ column[2] ^ column[3];
	uint8_t		first = column[0];

	for (int i = 0; i < 4; i++)
		column[i] ^= all ^ times_x(column[i] ^ (i < 3 ? column[i + 1] : first));
}

/* A UuidBlockCipher. */
static bool
aes_encrypt(void *key, uint8_t *block)
{
	const Aes  *aes = key;

	for (int i = 0; i < 16; i++)
		block[i] ^= aes->keys[0][i];
	for (int round = 1; round <= AES_ROUNDS; round++)
	{
		uint8_t		shifted[16];

		for (int i = 0; i < 16; i++)
			shifted[i] = aes->sbox[block[(i + 4 * (i % 4)) % 16]];
		for (int i = 0; i < 4 && round < AES_ROUNDS; i++)
			mix_column(shifted + 4 * i);
		for (int i = 0; i < 16; i++)
			block[i] = shifted[i] ^ aes->keys[round][i];
	}
	return true;
}

/* The AES with the key 00 01 ... 1f. */
static Aes *
counting_aes(void)
{
	static Aes	aes;
	uint8_t		key[32];

	for (int i = 0; i < 32; i++)
		key[i] = (uint8_t) i;
	expand_key(&aes, key);
	return &aes;
}

static Aes *
random_aes(void)
{
	static Aes	aes;
	uint8_t		key[32];

	for (int i = 0; i < 32; i += 8)
		uuid_layout_store64(key + i, test_bits());
	expand_key(&aes, key);
	return &aes;
}

static void
aes_is_that_of_fips_197(void **state)
{
	uint8_t		block[16];
	static const uint8_t expected[] = {
		0x8e, 0xa2, 0xb7, 0xca, 0x51, 0x67, 0x45, 0xbf, 0xea, 0xfc, 0x49, 0x90, 0x4b, 0x49, 0x60, 0x89
	};

	(void) state;
	for (int i = 0; i < 16; i++)
		block[i] = (uint8_t) (i * 0x11);
	aes_encrypt(counting_aes(), block);
	assert_memory_equal(block, expected, 16);
}

/* --- the network ------------------------------------------------------------ */

/* Also computed by OpenSSL and by Node's crypto, independently. */
static void
has_the_vectors_of_the_manual(void **state)
{
	static const char *const vectors[][2] = {
		{"00000000-0000-7000-8000-000000000000", "eba6ee56-1adc-4af6-b28d-a6cfbb1a3bde"},
		{"ffffffff-ffff-7fff-bfff-ffffffffffff", "f00c6b93-3b61-417b-8076-1fbf64f89a89"},
		{"01a2027b-d9c0-771c-9de0-6b9bb85af70d", "acc73dab-7dd9-46b8-87a5-8553c1e38c18"},
	};
	Aes		   *aes = counting_aes();

	(void) state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
	{
		uint8_t		bytes[UUID_BYTES];

		bytes_from_text(vectors[i][0], bytes, UUID_BYTES);
		assert_true(uuid_feistel(aes_encrypt, aes, true, bytes, bytes));
		assert_uuid_equal(bytes, vectors[i][1]);
		assert_true(uuid_feistel(aes_encrypt, aes, false, bytes, bytes));
		assert_uuid_equal(bytes, vectors[i][0]);
	}
}

static void
assert_permuted(Aes *aes, UuidPayload payload)
{
	uint8_t		id[UUID_BYTES];
	uint8_t		public_id[UUID_BYTES];
	uint8_t		back[UUID_BYTES];

	uuid_layout_pack(id, 7, payload);
	assert_true(uuid_feistel(aes_encrypt, aes, true, public_id, id));
	assert_int_equal(uuid_layout_version(public_id), 4);
	assert_true(uuid_feistel(aes_encrypt, aes, false, back, public_id));
	assert_memory_equal(back, id, UUID_BYTES);

	uuid_layout_pack(public_id, 4, payload);
	assert_true(uuid_feistel(aes_encrypt, aes, false, id, public_id));
	assert_int_equal(uuid_layout_version(id), 7);
	assert_true(uuid_feistel(aes_encrypt, aes, true, back, id));
	assert_memory_equal(back, public_id, UUID_BYTES);
}

/* Random keys and random payloads, all bits zero, all bits one, and each single bit. */
static void
is_a_permutation_in_both_directions(void **state)
{
	static const UuidPayload zeros = {0, 0};
	static const UuidPayload ones = {UUID_TIME_MAX, UUID_TAIL_MAX};

	(void) state;
	for (int round = 0; round < 100; round++)
	{
		Aes		   *aes = random_aes();

		assert_permuted(aes, zeros);
		assert_permuted(aes, ones);
		for (int bit = 0; bit < UUID_TIME_BITS + UUID_TAIL_BITS; bit++)
		{
			UuidPayload payload = {test_bits() & UUID_TIME_MAX, test_bits() & UUID_TAIL_MAX};
			UuidPayload one_bit = zeros;

			if (bit < UUID_TAIL_BITS)
				one_bit.tail = UINT64_C(1) << bit;
			else
				one_bit.time = UINT64_C(1) << (bit - UUID_TAIL_BITS);
			assert_permuted(aes, one_bit);
			assert_permuted(aes, payload);
		}
	}
}

/* A cipher that fails at the given call. */
static bool
fail_at(void *key, uint8_t *block)
{
	int		   *calls_left = key;

	(void) block;
	return (*calls_left)-- > 0;
}

static void
fails_when_the_cipher_fails(void **state)
{
	uint8_t		bytes[UUID_BYTES] = {0};

	(void) state;
	for (int calls = 0; calls <= UUID_FEISTEL_ROUNDS; calls++)
	{
		int			calls_left = calls;

		assert_int_equal(uuid_feistel(fail_at, &calls_left, true, bytes, bytes), calls == UUID_FEISTEL_ROUNDS);
		calls_left = calls;
		assert_int_equal(uuid_feistel(fail_at, &calls_left, false, bytes, bytes), calls == UUID_FEISTEL_ROUNDS);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aes_is_that_of_fips_197),
		cmocka_unit_test(has_the_vectors_of_the_manual),
		cmocka_unit_test(is_a_permutation_in_both_directions),
		cmocka_unit_test(fails_when_the_cipher_fails),
	};

	return run_core_tests(tests);
}
