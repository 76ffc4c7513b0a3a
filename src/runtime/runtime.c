/*
 * runtime.c
 *		The generators of this session, and what stops a generator.
 *
 * Each of these errors ends the statement before a value is made: never a
 * weaker random source, never a wrapped or repeated time.
 */
#include "runtime/runtime.h"

#include "settings.h"

SessionState uuid9562_session;

/* pg_strong_random failed (RFC 9562, 6.9). */
void
uuid9562_random_failed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("could not generate random values")));
}

/* clock_gettime failed and left its reason in errno. */
void
uuid9562_clock_failed(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYSTEM_ERROR),
			 errmsg("could not read the system clock: %m")));
}

/* The clock shows a time that the version's field cannot hold (6.1). */
void
uuid9562_clock_out_of_range(const UuidKind *kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
			 errmsg("system clock is out of range for UUID version %d", kind->version),
			 errhint("Set the clock of the server to the current time.")));
}

/* The previous value was the last one of the version's time field. */
void
uuid9562_time_exhausted(const UuidKind *kind)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
			 errmsg("no greater UUID version %d exists", kind->version),
			 uuid9562_monotonic_scope == SCOPE_INSTANCE ?
			 errdetail("This instance has made a UUID with the last time that the version can hold.") :
			 errdetail("This session has made a UUID with the last time that the version can hold."),
			 uuid9562_monotonic_scope == SCOPE_INSTANCE ?
			 errhint("Check the clock of the server, then call uuid_generator_reset() as a superuser.") :
			 errhint("Check the clock of the server, then start a new session.")));
}
