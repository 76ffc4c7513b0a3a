/*
 * A library that is loaded into a server with LD_PRELOAD, so that a test controls the
 * clock, random source and disk of the server.  The file WORLD has the state.  The
 * environment variable UUID9562_WORLD can name another file.
 *
 *	random		the random source fails
 *	clock		the clock fails
 *	slow		flushing WAL takes more than two seconds
 *	stalled		flushing WAL takes until the state changes
 *	full		there is no space for dynamic shared memory
 *	SEC NSEC	the clock stands still at this time
 *	SEC NSEC stalled	both "SEC NSEC" and "stalled"
 *	by SEC		the clock is SEC seconds ahead, or behind if SEC is negative
 *
 * Without the file, the server has the real clock, random source and disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void
world(char *what, int size)
{
	const char *own = getenv("UUID9562_WORLD");
	FILE	   *file = fopen(own ? own : WORLD, "r");

	what[0] = '\0';
	if (file == NULL)
		return;
	if (fgets(what, size, file) == NULL)
		what[0] = '\0';
	fclose(file);
}

int
RAND_bytes(unsigned char *octets, int count)
{
	int			(*real) (unsigned char *, int) = dlsym(RTLD_NEXT, "RAND_bytes");
	char		what[64];

	world(what, sizeof(what));
	if (strcmp(what, "random") == 0)
		return 0;
	return real(octets, count);
}

int
clock_gettime(clockid_t clock, struct timespec *now)
{
	static int	(*real) (clockid_t, struct timespec *);
	char		what[64];
	long long	sec;
	long		nsec;

	if (real == NULL)
		real = dlsym(RTLD_NEXT, "clock_gettime");
	if (clock != CLOCK_REALTIME)
		return real(clock, now);

	world(what, sizeof(what));
	if (strcmp(what, "clock") == 0)
	{
		errno = EPERM;
		return -1;
	}
	if (sscanf(what, "%lld %ld", &sec, &nsec) == 2)
	{
		now->tv_sec = sec;
		now->tv_nsec = nsec;
		return 0;
	}
	if (real(clock, now) != 0)
		return -1;
	if (sscanf(what, "by %lld", &sec) == 1)
		now->tv_sec += sec;
	return 0;
}

/* PostgreSQL's now() uses this function.  Only the state "by SEC" changes its result. */
int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	int			(*real) (struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
	char		what[64];
	long long	sec;

	if (real(now, zone) != 0)
		return -1;
	world(what, sizeof(what));
	if (sscanf(what, "by %lld", &sec) == 1)
		now->tv_sec += sec;
	return 0;
}

/* On Linux, PostgreSQL allocates dynamic shared memory with this function by default. */
int
posix_fallocate(int file, off_t offset, off_t length)
{
	int			(*real) (int, off_t, off_t) = dlsym(RTLD_NEXT, "posix_fallocate");
	char		what[64];

	world(what, sizeof(what));
	if (strcmp(what, "full") == 0)
		return ENOSPC;
	return real(file, offset, length);
}

/* On Linux, PostgreSQL flushes WAL with this function by default. */
int
fdatasync(int file)
{
	int			(*real) (int) = dlsym(RTLD_NEXT, "fdatasync");
	char		what[64];

	world(what, sizeof(what));
	if (strcmp(what, "slow") == 0)
		usleep(2200000);
	while (strstr(what, "stalled") != NULL)
	{
		usleep(10000);
		world(what, sizeof(what));
	}
	return real(file);
}
