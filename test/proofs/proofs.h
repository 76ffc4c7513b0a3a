/*
 * proofs.h
 *		Arbitrary values for the properties in this folder.
 *
 * A property is a function without arguments.  proofs.pl lets CBMC decide whether an assertion of
 * the property can fail for any values that the functions below can return, and whether anything
 * that the property calls overflows, shifts too far or accesses memory out of bounds.  The comment
 * before a property may end with options of CBMC, in brackets, and with two more options:
 *
 *	--integers		translate the property to a problem of integers, and let cvc5 decide it.  This
 *					is fast where a property divides or multiplies by constants.
 *	--wraps			accept unsigned overflow, where the code uses it
 *
 * test/core/properties.c tests the properties with random values on all machines.
 */
#ifndef UUID9562_PROOFS_H
#define UUID9562_PROOFS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

#ifndef PROPERTY
#include <assert.h>

/* CBMC lets a function without a body return any value if its name begins with "nondet_". */
extern uint8_t nondet_uint8(void);
extern uint32_t nondet_uint32(void);
extern uint64_t nondet_uint64(void);
extern int64_t nondet_int64(void);
extern int	nondet_int(void);
extern bool nondet_bool(void);

#define assume(condition) __CPROVER_assume(condition)

#define PROPERTY(name) void name(void)

/* Any value.  test/core/properties.c often chooses one near the given value. */
#define any_near(value) nondet_int64()

/* Return any number from the first to the last. */
static inline int
any_from(int first, int last)
{
	int			number = nondet_int();

	assume(number >= first && number <= last);
	return number;
}

static inline void
any_bytes(uint8_t *bytes, int count)
{
	for (int i = 0; i < count; i++)
		bytes[i] = nondet_uint8();
}

static inline uint64_t
any_time(void)
{
	uint64_t	time = nondet_uint64();

	assume(time <= UUID_TIME_MAX);
	return time;
}

static inline UuidPayload
any_payload(void)
{
	UuidPayload payload = {any_time(), nondet_uint64()};

	assume(payload.tail <= UUID_TAIL_MAX);
	return payload;
}
#endif

static inline bool
same_payload(UuidPayload a, UuidPayload b)
{
	return a.time == b.time && a.tail == b.tail;
}

static inline bool
same_bytes(const uint8_t *a, const uint8_t *b)
{
	return memcmp(a, b, UUID_BYTES) == 0;
}

#endif							/* UUID9562_PROOFS_H */
