/*
 * runtime.h
 *		The system clock and random bits, and the errors of a generator.
 *
 * If the clock or the random source fails, an error is raised.  A generator never uses
 * weaker random bits or another time instead.  The functions are inline because every
 * generated value needs them.
 */
#ifndef UUID9562_RUNTIME_H
#define UUID9562_RUNTIME_H

#include "compat.h"

#include <time.h>

#include "miscadmin.h"

#include "core/generator.h"
#include "core/kind.h"
#include "core/random_buffer.h"

extern UuidRandomBuffer uuid9562_random_buffer;

pg_noreturn extern void uuid9562_random_failed(void);
pg_noreturn extern void uuid9562_clock_failed(void);
pg_noreturn extern void uuid9562_clock_out_of_range(const UuidKind *kind, int64 sec);
pg_noreturn extern void uuid9562_time_exhausted(const UuidKind *kind, const char *hint);

/* Return 64 bits from PostgreSQL's secure random source (RFC 9562, 6.9). */
static inline uint64
random_bits(void)
{
	uint64_t	bits;

	if (unlikely(!uuid_random_buffer_take(&uuid9562_random_buffer, MyProcPid,
										  pg_strong_random, &bits)))
		uuid9562_random_failed();
	return bits;
}

/* Read the system clock, as seconds since 1970-01-01 and nanoseconds. */
static inline void
read_system_clock(int64 *sec, uint32 *nsec)
{
#ifdef WIN32
	/* FILETIME counts units of 100 ns since 1601-01-01 */
	const uint64 per_sec = UINT64CONST(10000000);
	const int64 offset_sec = INT64CONST(11644473600);
	FILETIME	file_time;
	uint64		ticks;

	GetSystemTimePreciseAsFileTime(&file_time);
	ticks = (uint64) file_time.dwHighDateTime << 32 | file_time.dwLowDateTime;
	*sec = (int64) (ticks / per_sec) - offset_sec;
	*nsec = (uint32) (ticks % per_sec) * 100;
#else
	struct timespec now;

	if (unlikely(clock_gettime(CLOCK_REALTIME, &now) != 0))
		uuid9562_clock_failed();
	*sec = now.tv_sec;
	*nsec = (uint32) now.tv_nsec;
#endif
}

/* Return the current time in the unit and epoch of a kind (RFC 9562, 6.1). */
static inline uint64
clock_ticks(const UuidKind *kind)
{
	int64		sec;
	uint32		nsec;
	uint64_t	ticks;

	read_system_clock(&sec, &nsec);
	if (unlikely(!uuid_clock_ticks(kind->clock, sec, nsec, &ticks)))
		uuid9562_clock_out_of_range(kind, sec);
	return ticks;
}

/* Return the random bits that a method needs for one value. */
static inline UuidRandom
random_for(UuidMethod method)
{
	UuidRandom	random = {random_bits(), method == UUID_METHOD_COUNTER ? random_bits() : 0};

	return random;
}

#endif							/* UUID9562_RUNTIME_H */
