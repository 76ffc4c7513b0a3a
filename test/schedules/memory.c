/*
 * memory.c
 *		Shared memory in which stores can be delayed and loads can return old values; see
 *		explore.h.
 *
 * The arena is the shared memory of a run.  It is divided into words of 4 bytes, so that the two
 * halves of a plain access of 8 bytes can differ in age, as on a 32-bit machine.  For each word
 * that a run touches, this file keeps all values that the word has had.  Just before the code under
 * test loads a word, this file chooses the value that the load sees, and copies it into the arena.
 * Before a plain store, this file learns only its address, so it reads the stored value from the
 * arena at the next point.
 */
#include "explore.h"

#define ARENA_SIZE		(16 * 1024)
#define WORDS			(ARENA_SIZE / 4)
#define MAX_VERSIONS	64
#define MAX_PENDING		256

typedef struct Version
{
	uint32		value;
	uint32		visible;		/* time from which others can see it, or 0 */
	int			writer;
} Version;

typedef struct Word
{
	uint32		run;			/* run that touched it last */
	int			count;
	int			read[MAX_PROCESSES];	/* newest version that each process saw */
	int			unseen[MAX_PROCESSES];	/* newest version that each missed */
	Version		versions[MAX_VERSIONS];
} Word;

static char arena[ARENA_SIZE] pg_attribute_aligned(PG_CACHE_LINE_SIZE);
static char first_arena[ARENA_SIZE] pg_attribute_aligned(PG_CACHE_LINE_SIZE);
static Word words[WORDS];
static int	touched[WORDS];
static int	touched_count;
static uint32 run;
static uint32 now;
static uint32 seen_all[MAX_PROCESSES];	/* time of the last read barrier */
static bool synchronized[MAX_PROCESSES];	/* no access since that barrier? */
static int	pending[MAX_PROCESSES][MAX_PENDING];	/* words with stores that
													 * others may not see */
static int	pending_count[MAX_PROCESSES];

/* The first and the last byte of each plain store that was announced since the last point */
static struct
{
	int			from;
	int			to;
}			unsettled[MAX_PENDING];
static int	unsettled_count;

char *
shared_arena(size_t *size)
{
	*size = ARENA_SIZE;
	return arena;
}

/* Save the content of the arena, with which every run begins. */
void
remember_arena(void)
{
	for (size_t i = 0; i < ARENA_SIZE / sizeof(uint64); i++)
		((volatile uint64 *) first_arena)[i] = ((const uint64 *) arena)[i];
}

void
start_memory(void)
{
	for (size_t i = 0; i < ARENA_SIZE / sizeof(uint64); i++)
		((volatile uint64 *) arena)[i] = ((const uint64 *) first_arena)[i];
	run++;
	now = 1;
	touched_count = unsettled_count = 0;
	for (int i = 0; i < MAX_PROCESSES; i++)
	{
		seen_all[i] = 1;
		synchronized[i] = true;
		pending_count[i] = 0;
	}
}

/* End a run: leave the newest value of each word in the arena. */
void
finish_memory(void)
{
	unsettled_count = 0;
	for (int i = 0; i < touched_count; i++)
	{
		const Word *word = &words[touched[i]];

		((uint32 *) arena)[touched[i]] = word->versions[word->count - 1].value;
	}
}

/* Return the number of the word at an address.  Return -1 outside the arena or outside a run. */
static int
word_number(const volatile void *address)
{
	size_t		offset = (size_t) ((const volatile char *) address - arena);

	return current_process != NO_PROCESS && offset < ARENA_SIZE ? (int) (offset / 4) : -1;
}

static Word *
touch(int number)
{
	Word	   *word = &words[number];

	if (word->run != run)
	{
		word->run = run;
		word->count = 1;
		for (int i = 0; i < MAX_PROCESSES; i++)
			word->read[i] = word->unseen[i] = 0;
		word->versions[0].value = ((const uint32 *) first_arena)[number];
		word->versions[0].visible = 1;
		word->versions[0].writer = NO_PROCESS;
		touched[touched_count++] = number;
	}
	return word;
}

/* --- loads and stores of words ------------------------------------------------- */

/*
 * Choose which version of a word a load sees.  If an earlier load of the process has missed the
 * newest version, missing the same version again does not count as another reordering.
 */
static int
choose_version(Word *word)
{
	int			newest = word->count - 1;
	int			oldest = newest;
	int			older;

	while (oldest > word->read[current_process] && word->versions[oldest].writer != current_process &&
		   (word->versions[oldest].visible == 0 || word->versions[oldest].visible > seen_all[current_process]))
		oldest--;
	if (oldest == newest)
		return newest;
	older = choose_age(newest - oldest + 1, word->unseen[current_process] == newest);
	if (older == 0)
		return newest;
	word->unseen[current_process] = newest;
	trace("  (sees version %d of %d)", newest - older, newest);
	return newest - older;
}

/*
 * Return the value of a version of a word.  If another process wrote this version, all processes
 * can see it from now on.
 */
static uint32
see(Word *word, int version)
{
	for (int i = version; i >= 0 && word->versions[i].visible == 0; i--)
	{
		if (word->versions[i].writer != current_process)
			word->versions[i].visible = ++now;
	}
	word->read[current_process] = Max(word->read[current_process], version);
	return word->versions[version].value;
}

/* Store the bytes of a word that a mask selects. */
static void
store(int number, uint32 value, uint32 mask)
{
	Word	   *word = touch(number);
	Version    *version = &word->versions[word->count];

	if (word->count >= MAX_VERSIONS || pending_count[current_process] >= MAX_PENDING)
		violation("too many stores in a run");
	version->value = (word->versions[word->count - 1].value & ~mask) | (value & mask);
	version->visible = 0;
	version->writer = current_process;
	word->count++;
	pending[current_process][pending_count[current_process]++] = number;
}

/* Let all processes see the stores of this process. */
static void
flush(void)
{
	now++;
	for (int i = 0; i < pending_count[current_process]; i++)
	{
		Word	   *word = touch(pending[current_process][i]);

		for (int j = word->count - 1; j >= 0; j--)
		{
			if (word->versions[j].writer == current_process && word->versions[j].visible == 0)
				word->versions[j].visible = now;
		}
	}
	pending_count[current_process] = 0;
}

/* Let later loads of this process see all stores that are visible now. */
void
synchronize(void)
{
	seen_all[current_process] = now;
	synchronized[current_process] = true;
	act();
}

/*
 * Let other processes run before the first plain access after synchronize().  This process may or
 * may not see their stores until it synchronizes again.
 */
static void
point_after_synchronize(void)
{
	if (synchronized[current_process])
	{
		point("plain access");
		synchronized[current_process] = false;
	}
}

/* --- plain accesses, which -fsanitize=thread announces ------------------------- */

/* Record the plain stores since the last point.  Their values are in the arena now. */
void
settle_stores(void)
{
	for (int i = 0; i < unsettled_count; i++)
	{
		for (int number = unsettled[i].from / 4; number <= unsettled[i].to / 4; number++)
		{
			uint32		mask = 0;

			for (int byte = 0; byte < 4; byte++)
			{
				if (number * 4 + byte >= unsettled[i].from && number * 4 + byte <= unsettled[i].to)
					((char *) &mask)[byte] = (char) 0xff;
			}
			store(number, ((const uint32 *) arena)[number], mask);
		}
	}
	unsettled_count = 0;
}

/* Record the announced stores now if one of them shares a word with the next access. */
static void
settle_overlap(int from, int to)
{
	for (int i = 0; i < unsettled_count; i++)
	{
		if (from / 4 <= unsettled[i].to / 4 && unsettled[i].from / 4 <= to / 4)
		{
			settle_stores();
			return;
		}
	}
}

/* Copy the value that a plain load is to see into the arena. */
void
before_load(const volatile void *address, size_t size)
{
	int			number = word_number(address);
	int			from = (int) ((const volatile char *) address - arena);

	if (number < 0 || size == 0)
		return;
	point_after_synchronize();
	act();
	settle_overlap(from, from + (int) size - 1);
	for (; number <= (from + (int) size - 1) / 4; number++)
	{
		Word	   *word = touch(number);

		((uint32 *) arena)[number] = see(word, choose_version(word));
	}
}

/* Remember a plain store.  settle_stores() reads its value from the arena later. */
void
before_store(volatile void *address, size_t size)
{
	int			from = (int) ((volatile char *) address - arena);

	if (word_number(address) < 0 || size == 0)
		return;
	point_after_synchronize();
	act();
	settle_overlap(from, from + (int) size - 1);
	if (unsettled_count >= MAX_PENDING)
		violation("too many stores between two points");
	unsettled[unsettled_count].from = from;
	unsettled[unsettled_count].to = from + (int) size - 1;
	unsettled_count++;
}

/* --- atomic accesses and barriers ------------------------------------------------ */

/* Load 8 bytes.  Each atomic store writes both words, so these have equally many versions. */
uint64
model_read(const volatile void *address)
{
	int			number;
	int			version;
	uint32		halves[2];
	uint64		value;

	point("atomic load");
	number = word_number(address);
	if (number < 0)
		return *(const volatile uint64 *) address;
	synchronized[current_process] = false;
	act();
	version = choose_version(touch(number));
	if (touch(number)->count != touch(number + 1)->count)
		violation("an atomic variable has a plain store");
	halves[0] = see(touch(number), version);
	halves[1] = see(touch(number + 1), version);
	memcpy(&value, halves, sizeof(value));
	return value;
}

void
model_write(volatile void *address, uint64 value)
{
	int			number;
	uint32		halves[2];

	point("atomic store");
	number = word_number(address);
	if (number < 0)
	{
		*(volatile uint64 *) address = value;
		return;
	}
	act();
	memcpy(halves, &value, sizeof(value));
	store(number, halves[0], PG_UINT32_MAX);
	store(number + 1, halves[1], PG_UINT32_MAX);
}

void
model_write_barrier(void)
{
	if (current_process == NO_PROCESS)
		return;
	point("write barrier");
	flush();
	act();
}

/* Execute a point and a full barrier, so that the caller can then act in a single step. */
void
event(const char *label)
{
	if (current_process == NO_PROCESS)
		return;
	point(label);
	flush();
	synchronize();
}

void
model_read_barrier(void)
{
	if (current_process == NO_PROCESS)
		return;
	settle_stores();
	trace("read barrier");
	synchronize();
}

/* Let all processes see the stores of this process, before it releases a lock. */
void
publish(void)
{
	flush();
	act();
}

void
model_full_barrier(void)
{
	event("full barrier");
}

uint64
model_fetch_add(volatile void *address, int64 summand)
{
	uint64		value;

	model_full_barrier();
	value = model_read(address);
	model_write(address, value + summand);
	model_full_barrier();
	return value;
}

/* Store a word, and let all processes see it at once. */
void
store_now(volatile void *address, uint32 value)
{
	int			number = word_number(address);

	if (number < 0)
	{
		*(volatile uint32 *) address = value;
		return;
	}
	store(number, value, PG_UINT32_MAX);
	flush();
}
