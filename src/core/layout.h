/*
 * layout.h
 *		The layout of a UUID (RFC 9562, 4 and 5).
 *
 * A UUID consists of a version, a variant and a payload of 122 bits: a time and a tail.
 * The fields with their widths in bits, most significant first, are:
 *
 *		time[59:12] 48 | version 4 | time[11:0] 12 | variant 2 | tail 62
 *
 *	version		time												tail
 *	v1, v6		100 ns since 1582-10-15 (5.1, 5.6)					clock_seq 14, node 48
 *	v7			unix_ts_ms 48, rand_a 12 (5.7)						rand_b 62
 *	v8			custom_a 48, custom_b 12 (5.8)						custom_c 62
 *	v3, v4, v5	hash or random bits									hash or random bits
 *
 * Only v1 stores its time in another order, least significant part first (5.1).
 *
 * The files of src/core are plain C11: no PostgreSQL headers, no I/O, no static state.
 */
#ifndef UUID9562_CORE_LAYOUT_H
#define UUID9562_CORE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Check what a comment demands of a caller: by PostgreSQL's Assert() in the extension, and by
 * assert() in programs without PostgreSQL.
 */
#ifdef Assert
#define UUID_ASSERT(condition)	Assert(condition)
#else
#include <assert.h>
#define UUID_ASSERT(condition)	assert(condition)
#endif

#define UUID_BYTES			16
#define UUID_NODE_BYTES	6

/* Widths of fields in bits, and the greatest value of a field */
#define UUID_TIME_BITS		60
#define UUID_TAIL_BITS		62
#define UUID_NODE_BITS		48
#define UUID_SUBTIME_BITS	12	/* v7 rand_a, v8 custom_b: time[11:0] */
#define UUID_FIELD_MAX(bits)	((UINT64_C(1) << (bits)) - 1)

#define UUID_TIME_MAX		UUID_FIELD_MAX(UUID_TIME_BITS)
#define UUID_TAIL_MAX		UUID_FIELD_MAX(UUID_TAIL_BITS)
#define UUID_NODE_MAX		UUID_FIELD_MAX(UUID_NODE_BITS)
#define UUID_SUBTIME_MAX	UUID_FIELD_MAX(UUID_SUBTIME_BITS)

/* Multicast bit: the least significant bit of the node's first byte (6.10) */
#define UUID_NODE_MULTICAST	(UINT64_C(1) << 40)

/* Number of bits below the version in bytes 0-7, and below the variant in bytes 8-15 */
#define UUID_VERSION_SHIFT	12
#define UUID_VARIANT_SHIFT	62
#define UUID_VARIANT_RFC	UINT64_C(2)

/*
 * Version 8 with a node ID (6.4): the time of v7, the 4-bit counter of the generator,
 * the node ID and 42 random bits.
 */
#define UUID_NODE_ID_BITS	16
#define UUID_NODE_ID_SHIFT	42
#define UUID_NODE_ID_MAX	UUID_FIELD_MAX(UUID_NODE_ID_BITS)

/* Variants (4.1, table 1) */
typedef enum UuidVariant
{
	UUID_VARIANT_NCS,
	UUID_VARIANT_RFC9562,
	UUID_VARIANT_MICROSOFT,
	UUID_VARIANT_RESERVED
} UuidVariant;

/* A UUID without version and variant */
typedef struct UuidPayload
{
	uint64_t	time;			/* 60 bits */
	uint64_t	tail;			/* 62 bits */
} UuidPayload;

/* The bits of a tail that contain a node or node ID instead of random bits */
typedef struct UuidNodeBits
{
	uint64_t	mask;			/* bits to set */
	uint64_t	bits;			/* their values; zero outside mask */
} UuidNodeBits;

static const UuidNodeBits uuid_no_node = {0, 0};

/* A random node has the multicast bit set (6.10). */
static const UuidNodeBits uuid_random_node = {UUID_NODE_MULTICAST, UUID_NODE_MULTICAST};

/*
 * Convert between the byte order of the machine and network byte order (RFC 9562, 4).  Use
 * intrinsics, since compilers generate slower code for shifts of single bytes.
 */
static inline uint64_t
uuid_layout_network_order(uint64_t word)
{
#if defined(_MSC_VER)
	return _byteswap_uint64(word);
#elif !defined(__BYTE_ORDER__)
#error "the byte order of the machine is unknown"
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return word;
#else
	return __builtin_bswap64(word);
#endif
}

/* Read eight bytes in network byte order. */
static inline uint64_t
uuid_layout_load64(const uint8_t *bytes)
{
	uint64_t	word;

	memcpy(&word, bytes, sizeof(word));
	return uuid_layout_network_order(word);
}

/* Write eight bytes in network byte order. */
static inline void
uuid_layout_store64(uint8_t *bytes, uint64_t word)
{
	word = uuid_layout_network_order(word);
	memcpy(bytes, &word, sizeof(word));
}

/* Return the variant of a UUID (4.1).  Nil has variant NCS, and Max has the reserved variant. */
static inline UuidVariant
uuid_layout_variant(const uint8_t *bytes)
{
	if ((bytes[8] & 0x80) == 0)
		return UUID_VARIANT_NCS;
	if ((bytes[8] & 0x40) == 0)
		return UUID_VARIANT_RFC9562;
	if ((bytes[8] & 0x20) == 0)
		return UUID_VARIANT_MICROSOFT;
	return UUID_VARIANT_RESERVED;
}

/*
 * Return the version of a UUID, 0 to 15.  Return -1 if its variant is not that of RFC
 * 9562, since the version bits then have no defined meaning (4.2).
 */
static inline int
uuid_layout_version(const uint8_t *bytes)
{
	if (uuid_layout_variant(bytes) != UUID_VARIANT_RFC9562)
		return -1;
	return bytes[6] >> 4;
}

/*
 * Convert a 60-bit time to bytes 0-7, with zeros as the version.  In v1 (RFC 9562, 5.1), the
 * order is time_low (32 bits), time_mid (16), version (4), time_high (12).
 */
static inline uint64_t
uuid_layout_spread_time(int version, uint64_t time)
{
	if (version == 1)
		return (time & 0xffffffff) << 32 | (time >> 32 & 0xffff) << 16 | time >> 48;
	return (time & ~UUID_SUBTIME_MAX) << 4 | (time & UUID_SUBTIME_MAX);
}

/* Reverse uuid_layout_spread_time(), ignoring the version bits. */
static inline uint64_t
uuid_layout_gather_time(int version, uint64_t word)
{
	if (version == 1)
		return (word & UUID_SUBTIME_MAX) << 48 | (word >> 16 & 0xffff) << 32 | word >> 32;
	return (word >> 4 & ~UUID_SUBTIME_MAX) | (word & UUID_SUBTIME_MAX);
}

/* Write the UUID with the given version and payload, and with the variant of RFC 9562. */
static inline void
uuid_layout_pack(uint8_t *bytes, int version, UuidPayload payload)
{
	UUID_ASSERT(version >= 1 && version <= 8);
	UUID_ASSERT(payload.time <= UUID_TIME_MAX && payload.tail <= UUID_TAIL_MAX);
	uuid_layout_store64(bytes, uuid_layout_spread_time(version, payload.time) |
						(uint64_t) version << UUID_VERSION_SHIFT);
	uuid_layout_store64(bytes + 8, UUID_VARIANT_RFC << UUID_VARIANT_SHIFT | payload.tail);
}

/*
 * Extract the payload of a UUID, or of 16 other bytes such as a hash, in the layout of the
 * given version.  Ignore the version and variant bits.
 */
static inline UuidPayload
uuid_layout_unpack(const uint8_t *bytes, int version)
{
	UuidPayload payload;

	payload.time = uuid_layout_gather_time(version, uuid_layout_load64(bytes));
	payload.tail = uuid_layout_load64(bytes + 8) & UUID_TAIL_MAX;
	return payload;
}

/* Return the clock sequence of v1 and v6, 14 bits (5.1). */
static inline uint32_t
uuid_layout_clock_seq(UuidPayload payload)
{
	return (uint32_t) (payload.tail >> UUID_NODE_BITS);
}

/* Extract the node of v1 and v6 (5.1). */
static inline void
uuid_layout_node_bytes(UuidPayload payload, uint8_t *bytes)
{
	for (int i = 0; i < UUID_NODE_BYTES; i++)
		bytes[i] = (uint8_t) (payload.tail >> (8 * (UUID_NODE_BYTES - 1 - i)));
}

/* Return the bits that set the node of v1 and v6 to the given bytes (5.1). */
static inline UuidNodeBits
uuid_layout_node_bits(const uint8_t *bytes)
{
	UuidNodeBits node = {UUID_NODE_MAX, 0};

	for (int i = 0; i < UUID_NODE_BYTES; i++)
		node.bits = node.bits << 8 | bytes[i];
	return node;
}

/* Return the bits that set the node ID of v8 (6.4), 0 to UUID_NODE_ID_MAX. */
static inline UuidNodeBits
uuid_layout_node_id_bits(uint32_t node_id)
{
	UUID_ASSERT(node_id <= UUID_NODE_ID_MAX);
	return (UuidNodeBits)
	{
		UUID_NODE_ID_MAX << UUID_NODE_ID_SHIFT, (uint64_t) node_id << UUID_NODE_ID_SHIFT
	};
}

static inline uint32_t
uuid_layout_node_id(UuidPayload payload)
{
	return (uint32_t) (payload.tail >> UUID_NODE_ID_SHIFT & UUID_NODE_ID_MAX);
}

/* Replace the bits of a tail that contain the node or node ID. */
static inline UuidPayload
uuid_layout_with_node(UuidPayload payload, UuidNodeBits node)
{
	UUID_ASSERT((node.bits & ~node.mask) == 0);
	payload.tail = (payload.tail & ~node.mask) | node.bits;
	return payload;
}

#endif							/* UUID9562_CORE_LAYOUT_H */
