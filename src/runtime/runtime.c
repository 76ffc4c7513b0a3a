/*
 * runtime.c
 *		The buffer of random bits, and the errors of a generator.
 */
#include "runtime/runtime.h"

/* The random bytes that this process has fetched and not used yet. */
UuidRandomBuffer uuid9562_random_buffer;

void
uuid9562_random_failed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("could not generate random values")));
}

void
uuid9562_clock_failed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYSTEM_ERROR),
			 errmsg("could not read the system clock: %m")));
}

void
uuid9562_clock_out_of_range(const UuidKind *kind, int64 sec)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
			 errmsg("system clock is out of range for UUID version %d: %lld seconds since 1970-01-01",
					kind->version, (long long) sec),
			 errhint("Check the system clock of the server.")));
}

void
uuid9562_time_exhausted(const UuidKind *kind, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
			 errmsg("UUID version %d has reached its maximum timestamp", kind->version),
			 errdetail("A UUID with the greatest timestamp that the version supports has been generated."),
			 errhint("%s", hint)));
}
