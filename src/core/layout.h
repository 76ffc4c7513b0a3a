/*
 * layout.h
 *		The bits of a UUID: bytes to fields and back (RFC 9562, 4 and 5).
 *
 * Every version of RFC 9562 is the same 122-bit payload around a version
 * and a variant, most significant bit first:
 *
 *		time[59:12] 48 | version 4 | time[11:0] 12 | variant 2 | tail 62
 *
 *	version		time												tail
 *	v6			100 ns since 1582-10-15 (5.6)						clock_seq 14, node 48
 *	v7			unix_ts_ms 48, rand_a 12 (5.7)						rand_b 62
 *	v8			custom_a 48, custom_b 12 (5.8)						custom_c 62
 *	v3, v4, v5	hash or random bits									the same
 *
 * Only v1 orders its time differently, least significant part first (5.1).
 *
 * Plain C11: no PostgreSQL, no I/O, no static state.
 */
#ifndef UUID9562_CORE_LAYOUT_H
#define UUID9562_CORE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define UUID_BYTES			16
#define UUID_NODE_BYTES	6

/* Field widths in bits; the largest value of a field of that width. */
#define UUID_TIME_BITS		60
#define UUID_TAIL_BITS		62
#define UUID_NODE_BITS		48
#define UUID_SUBTIME_BITS	12	/* v7 rand_a, v8 custom_b: time[11:0] */
#define UUID_FIELD_MAX(bits)	((UINT64_C(1) << (bits)) - 1)

#define UUID_TIME_MAX		UUID_FIELD_MAX(UUID_TIME_BITS)
#define UUID_TAIL_MAX		UUID_FIELD_MAX(UUID_TAIL_BITS)
#define UUID_NODE_MAX		UUID_FIELD_MAX(UUID_NODE_BITS)
#define UUID_SUBTIME_MAX	UUID_FIELD_MAX(UUID_SUBTIME_BITS)
#define UUID_CUSTOM_A_MAX	UUID_FIELD_MAX(UUID_TIME_BITS - UUID_SUBTIME_BITS)
#define UUID_CUSTOM_B_MAX	UUID_SUBTIME_MAX
#define UUID_CUSTOM_C_MAX	UUID_TAIL_MAX

/* The least significant bit of the node's first byte (6.10). */
#define UUID_NODE_MULTICAST	(UINT64_C(1) << 40)

/* Where the version stands in bytes 0-7 and the variant in bytes 8-15. */
#define UUID_VERSION_SHIFT	12
#define UUID_VARIANT_SHIFT	62
#define UUID_VARIANT_RFC	UINT64_C(2)

/*
 * Our own version 8 layout that carries the id of the node that made it
 * (6.4): v7's time, the generator's 4-bit counter, this id, 42 random bits.
 */
#define UUID_NODE_ID_BITS	16
#define UUID_NODE_ID_SHIFT	42
#define UUID_NODE_ID_MAX	UUID_FIELD_MAX(UUID_NODE_ID_BITS)

/* The variants of RFC 9562, 4.1, table 1. */
typedef enum UuidVariant
{
	UUID_VARIANT_NCS,
	UUID_VARIANT_RFC9562,
	UUID_VARIANT_MICROSOFT,
	UUID_VARIANT_RESERVED
} UuidVariant;

/* All of a UUID but version and variant. */
typedef struct UuidPayload
{
	uint64_t	time;			/* 60 bits, most significant part first */
	uint64_t	tail;			/* 62 bits */
} UuidPayload;

/* Tail bits that are not random: tail & mask is replaced by bits. */
typedef struct UuidStamp
{
	uint64_t	mask;
	uint64_t	bits;			/* none outside mask */
} UuidStamp;

/*
 * Network byte order (4).  Where the compiler tells the machine's, eight bytes
 * are one word that is swapped or not: compilers make worse code of the shifts.
 */
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && !defined(UUID_LAYOUT_BY_BYTE)

/* Between the order of the machine and network byte order, either way. */
static inline uint64_t
uuid_layout_network_order(uint64_t word)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? word : __builtin_bswap64(word);
}

/* Read eight bytes. */
static inline uint64_t
uuid_layout_load64(const uint8_t *bytes)
{
	uint64_t	word;

	memcpy(&word, bytes, sizeof(word));
	return uuid_layout_network_order(word);
}

/* Write eight bytes. */
static inline void
uuid_layout_store64(uint8_t *bytes, uint64_t word)
{
	word = uuid_layout_network_order(word);
	memcpy(bytes, &word, sizeof(word));
}

#else

static inline uint64_t
uuid_layout_load64(const uint8_t *bytes)
{
	uint64_t	word = 0;

	for (int i = 0; i < 8; i++)
		word = word << 8 | bytes[i];
	return word;
}

static inline void
uuid_layout_store64(uint8_t *bytes, uint64_t word)
{
	for (int i = 7; i >= 0; i--, word >>= 8)
		bytes[i] = (uint8_t) word;
}

#endif

/* The variant of any 16 bytes (4.1).  Nil is NCS, Max is reserved. */
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
 * The version of any 16 bytes, 0 to 15; -1 under another variant, where
 * the field has no meaning (4.2).
 */
static inline int
uuid_layout_version(const uint8_t *bytes)
{
	if (uuid_layout_variant(bytes) != UUID_VARIANT_RFC9562)
		return -1;
	return bytes[6] >> 4;
}

/*
 * Bytes 0-7 from a 60-bit time, without the version.  In v1 the time stands
 * as time_low 32, time_mid 16, version 4, time_high 12 (5.1).
 */
static inline uint64_t
uuid_layout_spread_time(int version, uint64_t time)
{
	if (version == 1)
		return (time & 0xffffffff) << 32 | (time >> 32 & 0xffff) << 16 | time >> 48;
	return (time & ~UUID_SUBTIME_MAX) << 4 | (time & UUID_SUBTIME_MAX);
}

/* The 60-bit time of bytes 0-7, whatever their version bits. */
static inline uint64_t
uuid_layout_gather_time(int version, uint64_t word)
{
	if (version == 1)
		return (word & UUID_SUBTIME_MAX) << 48 | (word >> 16 & 0xffff) << 32 | word >> 32;
	return (word >> 4 & ~UUID_SUBTIME_MAX) | (word & UUID_SUBTIME_MAX);
}

/*
 * Write the UUID of that version (1 to 8) and payload into 16 bytes.
 * payload.time is at most UUID_TIME_MAX, payload.tail at most UUID_TAIL_MAX.
 */
static inline void
uuid_layout_pack(uint8_t *bytes, int version, UuidPayload payload)
{
	uuid_layout_store64(bytes, uuid_layout_spread_time(version, payload.time) |
						(uint64_t) version << UUID_VERSION_SHIFT);
	uuid_layout_store64(bytes + 8, UUID_VARIANT_RFC << UUID_VARIANT_SHIFT | payload.tail);
}

/*
 * The payload of any 16 bytes read in the layout of that version; what they
 * hold at version and variant is left out.
 */
static inline UuidPayload
uuid_layout_unpack(const uint8_t *bytes, int version)
{
	UuidPayload payload;

	payload.time = uuid_layout_gather_time(version, uuid_layout_load64(bytes));
	payload.tail = uuid_layout_load64(bytes + 8) & UUID_TAIL_MAX;
	return payload;
}

/*
 * The time of the last UUID of that version, not 1, that is not greater than 16
 * bytes; of those before the first one, the first one's.  It never falls as
 * bytes rise.
 */
static inline uint64_t
uuid_layout_last_time(const uint8_t *bytes, int version)
{
	uint64_t	time = uuid_layout_unpack(bytes, version).time;
	int			found = bytes[6] >> 4;
	bool		before;			/* all of that version and time */

	if (found > version)
		return time | UUID_SUBTIME_MAX;
	if (found < version)
		time &= ~UUID_SUBTIME_MAX;
	before = found < version ||
		uuid_layout_load64(bytes + 8) >> UUID_VARIANT_SHIFT < UUID_VARIANT_RFC;
	return before && time > 0 ? time - 1 : time;
}

/*
 * The same payload in the layout of another version: v1 to v6 and back, with
 * clock sequence and node kept (5.6).
 */
static inline void
uuid_layout_convert(uint8_t *bytes, int version, const uint8_t *given, int given_version)
{
	uuid_layout_pack(bytes, version, uuid_layout_unpack(given, given_version));
}

/*
 * The UUID made of 16 given bytes, a hash or random ones, with version and
 * variant set over them (5.3, 5.4, 5.5, 5.8).
 */
static inline void
uuid_layout_pack_bytes(uint8_t *bytes, int version, const uint8_t *given)
{
	uuid_layout_convert(bytes, version, given, version);
}

/* The clock sequence of v1 and v6, 14 bits (5.1). */
static inline uint32_t
uuid_layout_clock_seq(UuidPayload payload)
{
	return (uint32_t) (payload.tail >> UUID_NODE_BITS);
}

/* The node of v1 and v6 in six bytes (5.1). */
static inline void
uuid_layout_node_bytes(UuidPayload payload, uint8_t *bytes)
{
	for (int i = 0; i < UUID_NODE_BYTES; i++)
		bytes[i] = (uint8_t) (payload.tail >> (8 * (UUID_NODE_BYTES - 1 - i)));
}

/* A stamp that puts six given bytes in the node of v1 and v6 (5.1). */
static inline UuidStamp
uuid_layout_node_stamp(const uint8_t *bytes)
{
	UuidStamp	stamp = {UUID_NODE_MAX, 0};

	for (int i = 0; i < UUID_NODE_BYTES; i++)
		stamp.bits = stamp.bits << 8 | bytes[i];
	return stamp;
}

/* A stamp that marks a random node as no MAC address (6.10). */
static inline UuidStamp
uuid_layout_random_node_stamp(void)
{
	UuidStamp	stamp = {UUID_NODE_MULTICAST, UUID_NODE_MULTICAST};

	return stamp;
}

/* A stamp that puts a node id, 0 to UUID_NODE_ID_MAX, in our version 8. */
static inline UuidStamp
uuid_layout_node_id_stamp(uint32_t node_id)
{
	UuidStamp	stamp = {UUID_NODE_ID_MAX << UUID_NODE_ID_SHIFT,
	(uint64_t) node_id << UUID_NODE_ID_SHIFT};

	return stamp;
}

/* The node id of our version 8 layout. */
static inline uint32_t
uuid_layout_node_id(UuidPayload payload)
{
	return (uint32_t) (payload.tail >> UUID_NODE_ID_SHIFT & UUID_NODE_ID_MAX);
}

/* The payload with the stamp on its tail. */
static inline UuidPayload
uuid_layout_stamp(UuidPayload payload, UuidStamp stamp)
{
	payload.tail = (payload.tail & ~stamp.mask) | stamp.bits;
	return payload;
}

/* The payload of v8 from its three fields, each at most its _MAX (5.8). */
static inline UuidPayload
uuid_layout_custom(uint64_t custom_a, uint64_t custom_b, uint64_t custom_c)
{
	UuidPayload payload = {custom_a << UUID_SUBTIME_BITS | custom_b, custom_c};

	return payload;
}

#endif							/* UUID9562_CORE_LAYOUT_H */
