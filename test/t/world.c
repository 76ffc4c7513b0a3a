/*
 * A library that is loaded into a server with LD_PRELOAD, so that a test controls the
 * clock, random source and disk of the server, which flushes nothing to a real disk.
 * The file WORLD has the state.  The environment variable UUID9562_WORLD can name another file.
 *
 *	random		the random source fails
 *	clock		the clock fails
 *	slow		flushing WAL takes more than two seconds
 *	delay MS	flushing WAL takes this number of milliseconds
 *	stalled		flushing WAL takes until the state changes
 *	full		there is no space for dynamic shared memory or the high-water mark
 *	full PART	there is no space for files with PART in their paths
 *	kill N		a process is killed before its Nth change of the high-water mark's file; then the
 *				state ends, so that the server can start again
 *	SEC NSEC	the clock stands still at this time
 *	SEC NSEC stalled	both "SEC NSEC" and "stalled"
 *	by SEC		the clock is SEC seconds ahead, or behind if SEC is negative
 *	root's		every open file belongs to root
 *	committing	a transaction that wrote waits, after it has become visible, in a
 *				transaction callback of COMMIT that was registered before the extension's
 *
 * Without the file, the server has the real clock, random source and disk.
 *
 * In every state, if a file NAME.swap exists, it replaces the file NAME just before the
 * server opens NAME.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *
state_file(void)
{
	const char *own = getenv("UUID9562_WORLD");

	return own ? own : WORLD;
}

/*
 * Read the state.  A signal handler of PostgreSQL that asks for the time can interrupt anything, also
 * malloc(), so fopen() would not do.  open() is replaced below.
 */
static void
world(char *what, int size)
{
	int			saved = errno;
	int			file = syscall(SYS_openat, AT_FDCWD, state_file(), O_RDONLY | O_CLOEXEC);
	ssize_t		length = file < 0 ? 0 : read(file, what, size - 1);

	what[length < 0 ? 0 : length] = '\0';
	if (file >= 0)
		close(file);
	errno = saved;
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

/* A program whose file sizes have 64 bits on a 32-bit machine calls fstat64() instead of fstat(). */
#define FSTAT(function, type) \
int \
function(int fd, struct type *file) \
{ \
	int			(*real) (int, struct type *) = dlsym(RTLD_NEXT, #function); \
	int			result = real(fd, file); \
	char		what[64]; \
\
	world(what, sizeof(what)); \
	if (result == 0 && strcmp(what, "root's") == 0) \
		file->st_uid = 0; \
	return result; \
}
FSTAT(fstat, stat)
FSTAT(fstat64, stat64)

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

/*
 * Transaction callback: before the commit of a transaction with an ID is complete, wait while the
 * state is "committing".  XACT_EVENT_COMMIT has the number 0.
 */
static void
wait_in_commit(int event, void *arg)
{
	unsigned int (*xid) (void) = dlsym(RTLD_DEFAULT, "GetTopTransactionIdIfAny");
	char		what[64];

	if (event != 0 || xid() == 0)
		return;
	for (world(what, sizeof(what)); strcmp(what, "committing") == 0; world(what, sizeof(what)))
		usleep(10000);
}

/*
 * PostgreSQL calls this function at the start of each transaction, so it can register
 * wait_in_commit().  Only the state "by SEC" changes the result.
 */
int
gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	static int	registered;
	static int	(*real) (struct timeval *, void *);
	char		what[64];
	long long	sec;

	if (real == NULL)
		real = dlsym(RTLD_NEXT, "gettimeofday");
	if (real(now, zone) != 0)
		return -1;
	world(what, sizeof(what));
	if (strcmp(what, "committing") == 0 && !registered)
	{
		void		(*register_callback) (void (*) (int, void *), void *) = dlsym(RTLD_DEFAULT, "RegisterXactCallback");

		register_callback(wait_in_commit, NULL);
		registered = 1;
	}
	if (sscanf(what, "by %lld", &sec) == 1)
		now->tv_sec += sec;
	return 0;
}

/*
 * Return false if a write to a file must fail.  In the state "kill N", count the changes of
 * the folder of the high-water mark, and of files there with the mark's number in their names.
 */
static int
may_change(const char *path, int writes)
{
	static int	changes = 0;
	const char *name = strstr(path, "global");
	int			is_mark = name != NULL && (name[6] == '\0' || strstr(name, "9562") != NULL);
	char		what[64];
	int			last;

	world(what, sizeof(what));
	if (is_mark && sscanf(what, "kill %d", &last) == 1 && ++changes == last)
	{
		unlink(state_file());
		kill(getpid(), SIGKILL);
	}
	if (!writes || strncmp(what, "full", 4) != 0 ||
		!(what[4] == ' ' ? strstr(path, what + 5) != NULL : is_mark))
		return 1;
	errno = ENOSPC;
	return 0;
}

static int
may_change_file(int file, int writes)
{
	char		link[64];
	char		path[4096];
	int			saved = errno;
	ssize_t		length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
	length = readlink(link, path, sizeof(path) - 1);
	path[length < 0 ? 0 : length] = '\0';
	errno = saved;
	return may_change(path, writes);
}

/* On Linux, PostgreSQL allocates dynamic shared memory and extends tables with this function. */
int
posix_fallocate(int file, off_t offset, off_t length)
{
	int			(*real) (int, off_t, off_t) = dlsym(RTLD_NEXT, "posix_fallocate");
	char		what[64];

	world(what, sizeof(what));
	if (strcmp(what, "full") == 0 || !may_change_file(file, 1))
		return ENOSPC;
	return real(file, offset, length);
}

#define REPLACE(result, name, writes, arguments, ...) \
	result \
	name arguments \
	{ \
		result		(*real) arguments = dlsym(RTLD_NEXT, #name); \
\
		return may_change_file(file, writes) ? real(__VA_ARGS__) : -1; \
	}

REPLACE(ssize_t, write, 1, (int file, const void *bytes, size_t count), file, bytes, count)
REPLACE(ssize_t, pwrite, 1, (int file, const void *bytes, size_t count, off_t offset), file, bytes, count, offset)
REPLACE(ssize_t, pwrite64, 1, (int file, const void *bytes, size_t count, off64_t offset), file, bytes, count, offset)
REPLACE(ssize_t, pwritev, 1, (int file, const struct iovec *parts, int count, off_t offset), file, parts, count, offset)
REPLACE(ssize_t, pwritev64, 1, (int file, const struct iovec *parts, int count, off64_t offset), file, parts, count, offset)
/* The disk is only simulated: a real flush could take long, and shows nothing. */
int
fsync(int file)
{
	return may_change_file(file, 0) ? 0 : -1;
}

int
rename(const char *from, const char *to)
{
	int			(*real) (const char *, const char *) = dlsym(RTLD_NEXT, "rename");

	may_change(to, 0);
	return real(from, to);
}

static void
swap(const char *path)
{
	char		other[4096];

	snprintf(other, sizeof(other), "%s.swap", path);
	if (access(other, F_OK) == 0)
		rename(other, path);
}

#define REPLACE_OPEN(name) \
	int \
	name(const char *path, int flags, ...) \
	{ \
		int			(*real) (const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
		va_list		rest; \
		int			mode; \
\
		va_start(rest, flags); \
		mode = va_arg(rest, int); \
		va_end(rest); \
		swap(path); \
		return real(path, flags, mode); \
	}

REPLACE_OPEN(open)
REPLACE_OPEN(open64)

/* On Linux, PostgreSQL flushes WAL with this function by default. */
int
fdatasync(int file)
{
	char		what[64];
	int			milliseconds;

	(void) file;

	world(what, sizeof(what));
	if (strcmp(what, "slow") == 0)
		usleep(2200000);
	if (sscanf(what, "delay %d", &milliseconds) == 1)
		usleep(milliseconds * 1000);
	while (strstr(what, "stalled") != NULL)
	{
		usleep(10000);
		world(what, sizeof(what));
	}
	return 0;
}
