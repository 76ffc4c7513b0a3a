/*
 * feistel.h
 *		A permutation of UUIDs that cannot be computed or reversed without a key.
 *
 * The permutation is a Luby-Rackoff (Feistel) network.  It splits the 122 bits other than
 * version and variant into two halves.  Round i encrypts a block of two 64-bit big-endian
 * numbers: i and one half.  The round XORs the other half with the low 61 bits of the
 * first number of the result.  In the next round the halves exchange their roles.  Six
 * rounds are proven secure against chosen-ciphertext attacks with far fewer than 2^61
 * queries (J. Patarin, "Security of Random Feistel Schemes with 5 or More Rounds", CRYPTO
 * 2004).  This network has four more rounds as a safety margin.
 *
 * No branch depends on a secret.  So the duration of a call reveals nothing about secrets.
 */
#ifndef UUID9562_CORE_FEISTEL_H
#define UUID9562_CORE_FEISTEL_H

#include "layout.h"

#define UUID_FEISTEL_ROUNDS		10
#define UUID_FEISTEL_HALF_BITS	61
#define UUID_FEISTEL_HALF_MAX	UUID_FIELD_MAX(UUID_FEISTEL_HALF_BITS)

/* Encrypt a block of 16 bytes in place with a key.  Return false on failure. */
typedef bool (*UuidBlockCipher) (void *key, uint8_t *block);

/* Encrypt a v7 UUID as v4, or decrypt a v4 UUID to v7.  Return false on failure. */
static inline bool
uuid_feistel(UuidBlockCipher cipher, void *key, bool encrypt, uint8_t *bytes, const uint8_t *given)
{
	/* version 7 has the same layout as version 4 */
	UuidPayload payload = uuid_layout_unpack(given, 4);

	/* the time with the top bit of the tail, and the other bits of the tail */
	uint64_t	halves[] = {payload.time << 1 | payload.tail >> UUID_FEISTEL_HALF_BITS,
	payload.tail & UUID_FEISTEL_HALF_MAX};

	for (int round = 0; round < UUID_FEISTEL_ROUNDS; round++)
	{
		/* decryption reverses the order of the rounds */
		int			i = encrypt ? round : UUID_FEISTEL_ROUNDS - 1 - round;
		uint8_t		block[16];

		uuid_layout_store64(block, (uint64_t) i);
		uuid_layout_store64(block + 8, halves[1 - i % 2]);
		if (!cipher(key, block))
			return false;
		halves[i % 2] ^= uuid_layout_load64(block) & UUID_FEISTEL_HALF_MAX;
	}
	payload.time = halves[0] >> 1;
	payload.tail = (halves[0] & 1) << UUID_FEISTEL_HALF_BITS | halves[1];
	uuid_layout_pack(bytes, encrypt ? 4 : 7, payload);
	return true;
}

#endif							/* UUID9562_CORE_FEISTEL_H */
