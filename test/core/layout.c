/*
 * Tests of layouts: the vectors of RFC 9562 and its draft 04, packing, the conversion of v1 to v6
 * and back, nodes and node IDs.
 */
#include "support.h"

#define RANDOM_ROUNDS 1000000

static void
fill_random(uint8_t *bytes)
{
	uuid_layout_store64(bytes, test_bits());
	uuid_layout_store64(bytes + 8, test_bits());
}

/* A UUID, its version and its fields. */
typedef struct Vector
{
	const char *uuid;
	int			version;
	uint64_t	time;
	uint64_t	tail;
} Vector;

/* Test vectors in appendices A and B of RFC 9562, and in its draft 04. */
static const Vector vectors[] = {
	/* A.1: clock_seq 0x33c8, node 9f:6b:de:ce:d8:46 */
	{"c232ab00-9414-11ec-b3c8-9f6bdeced846", 1, UINT64_C(0x1ec9414c232ab00), UINT64_C(0x33c89f6bdeced846)},
	/* A.5 */
	{"1ec9414c-232a-6b00-b3c8-9f6bdeced846", 6, UINT64_C(0x1ec9414c232ab00), UINT64_C(0x33c89f6bdeced846)},
	/* A.6: unix_ts_ms 0x017f22e279b0, rand_a 0xcc3, rand_b 0x18c4dc0c0c07398f */
	{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 7, UINT64_C(0x017f22e279b0cc3), UINT64_C(0x18c4dc0c0c07398f)},
	/* B.1 */
	{"2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", 8, UINT64_C(0x2489e9ad2ee2e00), UINT64_C(0x0ec932d5f69181c0)},
	/* draft 04, B.3 */
	{"320c3d4d-cc00-875b-8ec9-32d5f69181c0", 8, UINT64_C(0x320c3d4dcc0075b), UINT64_C(0x0ec932d5f69181c0)},
};

static void
packs_and_unpacks_the_vectors(void **state)
{
	(void) state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++)
	{
		const Vector *v = &vectors[i];
		UuidPayload payload = {v->time, v->tail};
		uint8_t		bytes[UUID_BYTES];

		uuid_layout_pack(bytes, v->version, payload);
		assert_uuid_equal(bytes, v->uuid);
		payload = uuid_layout_unpack(bytes, v->version);
		assert_true(payload.time == v->time);
		assert_true(payload.tail == v->tail);
		assert_int_equal(uuid_layout_version(bytes), v->version);
	}
}

/* Version and variant are replaced, and all other bits are kept. */
static void
sets_version_and_variant_over_given_bytes(void **state)
{
	static const struct
	{
		const char *given;
		int			version;
		const char *uuid;
	}			cases[] = {
		/* A.2: MD5 of DNS and www.example.com */
		{"5df418813aed051548a72f4a814cf09e", 3, "5df41881-3aed-3515-88a7-2f4a814cf09e"},
		/* A.3 */
		{"919108f752d133205bacf847db4148a8", 4, "919108f7-52d1-4320-9bac-f847db4148a8"},
		/* A.4: SHA-1 of the same name, left 128 bits */
		{"2ed6657de927468b55e12665a8aea6a2", 5, "2ed6657d-e927-568b-95e1-2665a8aea6a2"},
		/* B.2: SHA-256 of the same name, left 128 bits */
		{"5c146b143c524afd938a375d0df1fbf6", 8, "5c146b14-3c52-8afd-938a-375d0df1fbf6"},
		{"00000000000000000000000000000000", 8, "00000000-0000-8000-8000-000000000000"},
		{"ffffffffffffffffffffffffffffffff", 8, "ffffffff-ffff-8fff-bfff-ffffffffffff"},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		uint8_t		given[UUID_BYTES];
		uint8_t		bytes[UUID_BYTES];

		bytes_from_text(cases[i].given, given, UUID_BYTES);
		uuid_layout_pack(bytes, cases[i].version, uuid_layout_unpack(given, cases[i].version));
		assert_uuid_equal(bytes, cases[i].uuid);
	}
}

/* The upper 4 bits of byte 8 contain the variant of RFC 9562, 4.1, table 1. */
static void
names_the_variant_of_any_bytes(void **state)
{
	(void) state;
	for (int byte = 0; byte < 256; byte++)
	{
		uint8_t		bytes[UUID_BYTES];
		int			msb0to3 = byte >> 4;
		UuidVariant expected = msb0to3 <= 0x7 ? UUID_VARIANT_NCS :
			msb0to3 <= 0xb ? UUID_VARIANT_RFC9562 :
			msb0to3 <= 0xd ? UUID_VARIANT_MICROSOFT : UUID_VARIANT_RESERVED;

		fill_random(bytes);
		bytes[8] = (uint8_t) byte;
		assert_int_equal(uuid_layout_variant(bytes), expected);
	}
}

static void
names_the_version_only_under_the_variant_of_the_rfc(void **state)
{
	(void) state;
	for (int byte6 = 0; byte6 < 256; byte6++)
	{
		for (int byte8 = 0; byte8 < 256; byte8++)
		{
			uint8_t		bytes[UUID_BYTES];

			fill_random(bytes);
			bytes[6] = (uint8_t) byte6;
			bytes[8] = (uint8_t) byte8;
			assert_int_equal(uuid_layout_version(bytes),
							 (byte8 & 0xc0) == 0x80 ? byte6 >> 4 : -1);
		}
	}
}

/* Test random payloads, some of which have the smallest or greatest value of a field. */
static void
unpack_is_the_inverse_of_pack(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		int			version = 1 + round % 8;
		UuidPayload payload = {test_bits() & UUID_TIME_MAX, test_bits() & UUID_TAIL_MAX};
		UuidPayload back;
		uint8_t		bytes[UUID_BYTES];

		if (round % 5 == 0)
			payload.time = round % 10 ? 0 : UUID_TIME_MAX;
		if (round % 7 == 0)
			payload.tail = round % 14 ? 0 : UUID_TAIL_MAX;
		uuid_layout_pack(bytes, version, payload);
		back = uuid_layout_unpack(bytes, version);
		assert_true(back.time == payload.time);
		assert_true(back.tail == payload.tail);
		assert_int_equal(uuid_layout_version(bytes), version);
		assert_int_equal(uuid_layout_variant(bytes), UUID_VARIANT_RFC9562);
	}
}

/* Converting any v1 to v6 and back returns the same UUID (RFC 9562, 5.6). */
static void
v1_to_v6_to_v1_is_the_identity(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		uint8_t		v1[UUID_BYTES];
		uint8_t		v6[UUID_BYTES];
		uint8_t		back[UUID_BYTES];

		fill_random(v1);
		v1[6] = (uint8_t) (0x10 | (v1[6] & 0x0f));
		v1[8] = (uint8_t) (0x80 | (v1[8] & 0x3f));
		uuid_layout_pack(v6, 6, uuid_layout_unpack(v1, 1));
		uuid_layout_pack(back, 1, uuid_layout_unpack(v6, 6));
		assert_memory_equal(back, v1, UUID_BYTES);
		assert_int_equal(uuid_layout_version(v6), 6);
		assert_memory_equal(v6 + 8, v1 + 8, 8);
		assert_true(uuid_layout_unpack(v6, 6).time == uuid_layout_unpack(v1, 1).time);
	}
}

/* RFC 9562, 6.11: the order of bytes is the order of time and tail. */
static void
v6_v7_and_v8_sort_as_bytes(void **state)
{
	static const int versions[] = {6, 7, 8};

	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		int			version = versions[round % 3];
		UuidPayload a = {test_bits() & UUID_TIME_MAX, test_bits() & UUID_TAIL_MAX};
		UuidPayload b = {test_bits() & UUID_TIME_MAX, test_bits() & UUID_TAIL_MAX};
		uint8_t		a_bytes[UUID_BYTES];
		uint8_t		b_bytes[UUID_BYTES];
		bool		less;

		if (round % 2)
			b.time = a.time;
		less = a.time < b.time || (a.time == b.time && a.tail < b.tail);
		uuid_layout_pack(a_bytes, version, a);
		uuid_layout_pack(b_bytes, version, b);
		assert_true((memcmp(a_bytes, b_bytes, UUID_BYTES) < 0) == less);
	}
}

static void
reads_clock_sequence_and_node(void **state)
{
	UuidPayload payload = {0, UINT64_C(0x33c89f6bdeced846)};
	static const uint8_t node[] = {0x9f, 0x6b, 0xde, 0xce, 0xd8, 0x46};
	uint8_t		bytes[UUID_NODE_BYTES];

	(void) state;
	assert_int_equal(uuid_layout_clock_seq(payload), 0x33c8);
	uuid_layout_node_bytes(payload, bytes);
	assert_memory_equal(bytes, node, UUID_NODE_BYTES);
	payload.tail = UUID_TAIL_MAX;
	assert_int_equal(uuid_layout_clock_seq(payload), 0x3fff);
}

/* A node, a random node or a node ID replaces only its own bits. */
static void
stamps_only_its_own_bits(void **state)
{
	static const uint8_t node[] = {0x02, 0x00, 0x5e, 0x10, 0x00, 0x01};

	(void) state;
	for (int round = 0; round < 1000; round++)
	{
		UuidPayload payload = {test_bits() & UUID_TIME_MAX, test_bits() & UUID_TAIL_MAX};
		UuidPayload stamped;
		uint8_t		bytes[UUID_NODE_BYTES];
		uint32_t	node_id = (uint32_t) (test_bits() & UUID_NODE_ID_MAX);

		stamped = uuid_layout_with_node(payload, uuid_layout_node_bits(node));
		uuid_layout_node_bytes(stamped, bytes);
		assert_memory_equal(bytes, node, UUID_NODE_BYTES);
		assert_int_equal(uuid_layout_clock_seq(stamped), uuid_layout_clock_seq(payload));
		assert_true(stamped.time == payload.time);

		/* a random node has the multicast bit (RFC 9562, 6.10) */
		stamped = uuid_layout_with_node(payload, uuid_random_node);
		uuid_layout_node_bytes(stamped, bytes);
		assert_int_equal(bytes[0] & 0x01, 0x01);
		assert_true((stamped.tail & ~UUID_NODE_MULTICAST) == (payload.tail & ~UUID_NODE_MULTICAST));

		stamped = uuid_layout_with_node(payload, uuid_layout_node_id_bits(node_id));
		assert_int_equal(uuid_layout_node_id(stamped), node_id);
		assert_true((stamped.tail >> 58) == (payload.tail >> 58));
		assert_true((stamped.tail & UUID_FIELD_MAX(42)) == (payload.tail & UUID_FIELD_MAX(42)));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packs_and_unpacks_the_vectors),
		cmocka_unit_test(sets_version_and_variant_over_given_bytes),
		cmocka_unit_test(names_the_variant_of_any_bytes),
		cmocka_unit_test(names_the_version_only_under_the_variant_of_the_rfc),
		cmocka_unit_test(unpack_is_the_inverse_of_pack),
		cmocka_unit_test(v1_to_v6_to_v1_is_the_identity),
		cmocka_unit_test(v6_v7_and_v8_sort_as_bytes),
		cmocka_unit_test(reads_clock_sequence_and_node),
		cmocka_unit_test(stamps_only_its_own_bits),
	};

	return run_core_tests(tests);
}
