/*
 * Tests of layouts: the vectors of RFC 9562 and its draft 04, the fields of any bytes, nodes and
 * node IDs.
 */
#include "support.h"

#define RANDOM_ROUNDS 1000000

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

/* Return the variant that the upper 4 bits of byte 8 contain. */
static UuidVariant
variant_of(int msb0to3)
{
	return msb0to3 <= 0x7 ? UUID_VARIANT_NCS :
		msb0to3 <= 0xb ? UUID_VARIANT_RFC9562 :
		msb0to3 <= 0xd ? UUID_VARIANT_MICROSOFT : UUID_VARIANT_RESERVED;
}

/* Return the number that bytes represent, the most significant byte first. */
static uint64_t
number(const uint8_t *bytes, int count)
{
	uint64_t	result = 0;

	for (int i = 0; i < count; i++)
		result = result << 8 | bytes[i];
	return result;
}

/*
 * Read random bytes: their variant (RFC 9562, 4.1, table 1), under that of the RFC their version
 * (4.2), and the fields of any version (5.1, 5.6 to 5.8).  Only v1 does not begin with the most
 * significant bits of its time; all others sort by time (6.11).  Then pack the fields again, which
 * replaces only the version and the variant.
 */
static void
fields_are_in_the_places_of_the_rfc(void **state)
{
	(void) state;
	for (int round = 0; round < RANDOM_ROUNDS; round++)
	{
		int			version = 1 + round % 8;
		uint8_t		bytes[UUID_BYTES];
		uint8_t		packed[UUID_BYTES];
		uint8_t		node[UUID_NODE_BYTES];
		UuidPayload payload;

		uuid_layout_store64(bytes, test_bits());
		uuid_layout_store64(bytes + 8, test_bits());
		assert_int_equal(uuid_layout_variant(bytes), variant_of(bytes[8] >> 4));
		assert_int_equal(uuid_layout_version(bytes),
						 variant_of(bytes[8] >> 4) == UUID_VARIANT_RFC9562 ? bytes[6] >> 4 : -1);

		payload = uuid_layout_unpack(bytes, version);
		bytes[6] &= 0x0f;
		bytes[8] &= 0x3f;
		if (version == 1)
			assert_true(payload.time == (number(bytes + 6, 2) << 48 |
										 number(bytes + 4, 2) << 32 | number(bytes, 4)));
		else
			assert_true(payload.time == (number(bytes, 6) << 12 | number(bytes + 6, 2)));
		assert_true(payload.tail == number(bytes + 8, 8));
		assert_int_equal(uuid_layout_clock_seq(payload), number(bytes + 8, 2));
		uuid_layout_node_bytes(payload, node);
		assert_memory_equal(node, bytes + 10, UUID_NODE_BYTES);

		uuid_layout_pack(packed, version, payload);
		bytes[6] |= (uint8_t) (version << 4);
		bytes[8] |= 0x80;
		assert_memory_equal(packed, bytes, UUID_BYTES);
	}
}

/* A node, a random node or a node ID replaces only its own bits. */
static void
stamps_only_its_own_bits(void **state)
{
	(void) state;
	for (int round = 0; round < 1000; round++)
	{
		UuidPayload payload = {test_bits() & UUID_TIME_MAX, test_bits() & UUID_TAIL_MAX};
		UuidPayload stamped;
		uint8_t		node[8];
		uint8_t		bytes[UUID_NODE_BYTES];
		uint32_t	node_id = (uint32_t) test_number(16);

		uuid_layout_store64(node, test_bits());
		stamped = uuid_layout_with_node(payload, uuid_layout_node_bits(node));
		uuid_layout_node_bytes(stamped, bytes);
		assert_memory_equal(bytes, node, UUID_NODE_BYTES);
		assert_int_equal(uuid_layout_clock_seq(stamped), uuid_layout_clock_seq(payload));
		assert_true(stamped.time == payload.time);

		/* a random node has the multicast bit (RFC 9562, 6.10) */
		stamped = uuid_layout_with_node(payload, uuid_random_node);
		uuid_layout_node_bytes(stamped, bytes);
		assert_int_equal(bytes[0] & 0x01, 0x01);
		assert_true((stamped.tail | UINT64_C(1) << 40) == (payload.tail | UINT64_C(1) << 40));

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
		cmocka_unit_test(fields_are_in_the_places_of_the_rfc),
		cmocka_unit_test(stamps_only_its_own_bits),
	};

	return run_core_tests(tests);
}
