/*
 * Properties of layouts, for all payloads, all UUIDs, and all other values of 16 bytes.
 */
#include "proofs.h"

/* Return a byte of a number, counted from its most significant byte. */
static uint8_t
byte_of(uint64_t word, int i)
{
	return (uint8_t) (word >> (56 - 8 * i));
}

PROPERTY(words_are_in_network_byte_order)
{
	uint64_t	word = nondet_uint64();
	uint8_t		bytes[8];
	int			i = any_from(0, 7);

	uuid_layout_store64(bytes, word);
	assert(bytes[i] == byte_of(word, i));
	assert(uuid_layout_load64(bytes) == word);
	assert(uuid_layout_network_order(uuid_layout_network_order(word)) == word);
}

PROPERTY(packing_and_unpacking_are_inverse)
{
	UuidPayload payload = any_payload();
	int			version = any_from(1, 8);
	uint8_t		bytes[UUID_BYTES];

	uuid_layout_pack(bytes, version, payload);
	assert(same_payload(uuid_layout_unpack(bytes, version), payload));
}

PROPERTY(unpacking_and_packing_are_inverse)
{
	uint8_t		bytes[UUID_BYTES];
	uint8_t		packed[UUID_BYTES];
	int			version;

	any_bytes(bytes, UUID_BYTES);
	version = uuid_layout_version(bytes);
	assume(version >= 1 && version <= 8);
	uuid_layout_pack(packed, version, uuid_layout_unpack(bytes, version));
	assert(same_bytes(packed, bytes));
}

PROPERTY(packing_sets_version_and_variant)
{
	int			version = any_from(1, 8);
	uint8_t		bytes[UUID_BYTES];

	uuid_layout_pack(bytes, version, any_payload());
	assert(uuid_layout_version(bytes) == version);
	assert(uuid_layout_variant(bytes) == UUID_VARIANT_RFC9562);
}

PROPERTY(unpacking_ignores_version_and_variant)
{
	uint8_t		bytes[UUID_BYTES];
	int			version = any_from(1, 8);
	UuidPayload payload;

	any_bytes(bytes, UUID_BYTES);
	payload = uuid_layout_unpack(bytes, version);
	assert(payload.time <= UUID_TIME_MAX && payload.tail <= UUID_TAIL_MAX);
	bytes[6] = (uint8_t) ((bytes[6] & 0x0f) | (nondet_uint8() & 0xf0));
	bytes[8] = (uint8_t) ((bytes[8] & 0x3f) | (nondet_uint8() & 0xc0));
	assert(same_payload(uuid_layout_unpack(bytes, version), payload));
}

/* Table 1 of section 4.1, and section 4.2 */
PROPERTY(variant_and_version_are_those_of_the_rfc)
{
	uint8_t		bytes[UUID_BYTES];
	uint8_t		top;
	UuidVariant variant;

	any_bytes(bytes, UUID_BYTES);
	top = bytes[8] / 16;
	variant = uuid_layout_variant(bytes);
	assert((variant == UUID_VARIANT_NCS) == (top <= 7));
	assert((variant == UUID_VARIANT_RFC9562) == (top >= 8 && top <= 11));
	assert((variant == UUID_VARIANT_MICROSOFT) == (top == 12 || top == 13));
	assert((variant == UUID_VARIANT_RESERVED) == (top >= 14));
	assert(uuid_layout_version(bytes) == (top >= 8 && top <= 11 ? bytes[6] / 16 : -1));
}

/* Sections 5.6 to 5.8, byte by byte */
PROPERTY(time_is_the_most_significant_field)
{
	UuidPayload payload = any_payload();
	int			version = any_from(2, 8);
	int			i = any_from(0, 7);
	uint8_t		bytes[UUID_BYTES];

	uuid_layout_pack(bytes, version, payload);
	if (i < 6)
		assert(bytes[i] == byte_of(payload.time << 4, i));
	assert(bytes[6] == version * 16 + (payload.time >> 8) % 16);
	assert(bytes[7] == payload.time % 256);
	assert(bytes[8 + i] == byte_of(payload.tail + (UINT64_C(1) << 63), i));
}

/* Section 5.1: time_low, time_mid, version and time_high, then the fields of v6 */
PROPERTY(v1_has_the_least_significant_part_of_the_time_first)
{
	UuidPayload payload = any_payload();
	uint8_t		v1[UUID_BYTES];
	uint8_t		v6[UUID_BYTES];
	int			i = any_from(0, 3);

	uuid_layout_pack(v1, 1, payload);
	uuid_layout_pack(v6, 6, payload);
	assert(v1[i] == byte_of(payload.time, 4 + i));
	assert(v1[4 + i % 2] == byte_of(payload.time, 2 + i % 2));
	assert(v1[6] == 16 + byte_of(payload.time, 0));
	assert(v1[7] == byte_of(payload.time, 1));
	assert(memcmp(v1 + 8, v6 + 8, 8) == 0);
}

PROPERTY(bytes_are_in_the_order_of_time_and_tail)
{
	UuidPayload a = any_payload();
	UuidPayload b = any_payload();
	int			version = any_from(2, 8);
	bool		less = a.time < b.time || (a.time == b.time && a.tail < b.tail);
	uint8_t		bytes_a[UUID_BYTES];
	uint8_t		bytes_b[UUID_BYTES];
	int			result;

	uuid_layout_pack(bytes_a, version, a);
	uuid_layout_pack(bytes_b, version, b);
	result = memcmp(bytes_a, bytes_b, UUID_BYTES);
	assert((result < 0) == less);
	assert((result == 0) == same_payload(a, b));
}

/* Section 5.1: 14 bits, and the six bytes at the end */
PROPERTY(clock_sequence_and_node_are_parts_of_the_tail)
{
	UuidPayload payload = any_payload();
	uint8_t		bytes[UUID_BYTES];
	uint8_t		node[UUID_NODE_BYTES];

	uuid_layout_pack(bytes, nondet_bool() ? 1 : 6, payload);
	uuid_layout_node_bytes(payload, node);
	assert(memcmp(node, bytes + 10, UUID_NODE_BYTES) == 0);
	assert(uuid_layout_clock_seq(payload) == (bytes[8] & 0x3fU) * 256 + bytes[9]);
}

PROPERTY(node_of_six_bytes_replaces_only_the_node)
{
	UuidPayload payload = any_payload();
	UuidPayload with;
	uint8_t		node[UUID_NODE_BYTES];
	uint8_t		found[UUID_NODE_BYTES];

	any_bytes(node, UUID_NODE_BYTES);
	with = uuid_layout_with_node(payload, uuid_layout_node_bits(node));
	uuid_layout_node_bytes(with, found);
	assert(memcmp(found, node, UUID_NODE_BYTES) == 0);
	assert(with.tail <= UUID_TAIL_MAX);
	assert(with.time == payload.time);
	assert(uuid_layout_clock_seq(with) == uuid_layout_clock_seq(payload));
}

/* The 4 bits of the counter precede the 16 bits of the ID, and 42 bits follow. */
PROPERTY(node_id_replaces_only_the_node_id)
{
	UuidPayload payload = any_payload();
	UuidPayload with;
	uint32_t	id = nondet_uint32();

	assume(id <= UUID_NODE_ID_MAX);
	with = uuid_layout_with_node(payload, uuid_layout_node_id_bits(id));
	assert(UUID_NODE_ID_MAX == 65535);
	assert(uuid_layout_node_id(with) == id);
	assert(with.time == payload.time && with.tail >> 58 == payload.tail >> 58);
	assert(with.tail % (UINT64_C(1) << 42) == payload.tail % (UINT64_C(1) << 42));
}

/* Section 6.10: the least significant bit of the first byte */
PROPERTY(random_node_has_the_multicast_bit)
{
	UuidPayload payload = any_payload();
	UuidPayload with = uuid_layout_with_node(payload, uuid_random_node);
	uint8_t		bytes[UUID_BYTES];

	assert(same_payload(uuid_layout_with_node(payload, uuid_no_node), payload));
	uuid_layout_pack(bytes, 1, with);
	assert(bytes[10] % 2 == 1);
	assert(with.time == payload.time && (with.tail ^ payload.tail) % (UINT64_C(1) << 40) == 0);
	assert((with.tail ^ payload.tail) >> 41 == 0);
}
