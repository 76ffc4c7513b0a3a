/*
 * odds.c
 *		The odds that two generators which know nothing of one another make the
 *		same UUID: the tables of doc/collisions.md, and a simulation that holds
 *		its formula against the generator core.
 *
 * SEED (1) chooses the random bits of the simulation.  The number of bits that the
 * formula takes is found by asking the core which of them change a value;
 * test/core/generator.c says how many they have to be.
 *
 * Plain C11, no PostgreSQL: scripts/odds builds and runs it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/core/random_buffer.h"
#include "../src/core/generator.h"
#include "../src/core/kind.h"

/* --- the generators --------------------------------------------------------- */

/* What src/generate.c passes to the core. */
typedef struct Generator
{
	const char *name;
	const UuidKind *kind;
	UuidMethod	method;
	UuidStamp	stamp;
} Generator;

enum
{
	V7_FRACTION, V7_COUNTER, V7_RANDOM, V8, V6, V6_FIXED_NODE, V8_NODE, GENERATORS
};

static const Generator generators[GENERATORS] = {
	{"v7, `fraction`", UUID_V7, UUID_METHOD_FRACTION, {0, 0}},
	{"v7, `counter`", UUID_V7, UUID_METHOD_COUNTER, {0, 0}},
	{"v7, `random`", UUID_V7, UUID_METHOD_RANDOM, {0, 0}},
	{"v8", UUID_V8, UUID_METHOD_FRACTION, {0, 0}},
	{"v1, v6, random node", UUID_V6, UUID_METHOD_FRACTION, {UUID_NODE_MULTICAST, UUID_NODE_MULTICAST}},
	{"v1, v6, same fixed node", UUID_V6, UUID_METHOD_FRACTION, {UUID_NODE_MAX, 1}},
	{"v8 with node, same id", UUID_V8_NODE, UUID_METHOD_FRACTION, {UUID_NODE_ID_MAX << UUID_NODE_ID_SHIFT, 0}}
};

/* Random bits that a tick's first value alone takes, and those that each value takes. */
static UuidRandom once[GENERATORS];
static UuidRandom each[GENERATORS];

/* A tick in units of the time field: with method counter a millisecond. */
static uint64_t
tick_units(const Generator *generator)
{
	return generator->method == UUID_METHOD_COUNTER ? UUID_CLOCK_V7_PER_MS : 1;
}

/* The same in seconds. */
static double
tick_seconds(const Generator *generator)
{
	uint64_t	first;
	uint64_t	second;

	(void) uuid_clock_ticks(generator->kind->clock, 0, 0, &first);
	(void) uuid_clock_ticks(generator->kind->clock, 1, 0, &second);
	return (double) tick_units(generator) / (double) (second - first);
}

/* The next value as 16 octets. */
static void
draw(const Generator *generator, UuidPayload *previous, uint64_t now, UuidRandom random, uint8_t *octets)
{
	if (uuid_generator_next(previous, now, random, generator->method) == UUID_NEXT_EXHAUSTED)
		abort();
	uuid_layout_pack(octets, generator->kind->version, uuid_layout_stamp(*previous, generator->stamp));
}

/* Which random bits make a difference to a value at that time, after another one? */
static UuidRandom
bits_that_count(const Generator *generator, UuidPayload before, uint64_t now)
{
	UuidRandom	found = {0, 0};

	for (int i = 0; i < 128; i++)
	{
		const uint64_t bit = UINT64_C(1) << i % 64;
		const UuidRandom random[2] = {{0, 0}, {i < 64 ? bit : 0, i < 64 ? 0 : bit}};
		uint8_t		octets[2][UUID_OCTETS];

		for (int j = 0; j < 2; j++)
		{
			UuidPayload previous = before;

			draw(generator, &previous, now, random[j], octets[j]);
		}
		if (memcmp(octets[0], octets[1], UUID_OCTETS) != 0)
			*(i < 64 ? &found.tail : &found.seed) |= bit;
	}
	return found;
}

static void
find_bits(void)
{
	const UuidPayload before = {1000 * UUID_CLOCK_V7_PER_MS, 0};

	for (int i = 0; i < GENERATORS; i++)
	{
		once[i] = bits_that_count(&generators[i], before, before.time + UUID_CLOCK_V7_PER_MS);
		each[i] = bits_that_count(&generators[i], before, before.time);
		once[i].tail &= ~each[i].tail;
		once[i].seed &= ~each[i].seed;
	}
}

static int
count_bits(UuidRandom set)
{
	return __builtin_popcountll(set.tail) + __builtin_popcountll(set.seed);
}

/* The chance that two values of a tick share all random bits. */
static double
chance_alike(int which)
{
	return ldexp(1, -count_bits(once[which]) - count_bits(each[which]));
}

/* --- the formula ------------------------------------------------------------ */

static double
pairs(double count)
{
	return count * (count - 1) / 2;
}

/* The most collisions that so many generators of so many values a second each make. */
static double
collisions(int which, double count, double rate, double seconds)
{
	return pairs(count) * rate * rate * tick_seconds(&generators[which]) * seconds * chance_alike(which);
}

/* --- numbers for people ----------------------------------------------------- */

/* To two digits: 0.0012, 12,000, 1.2 * 10^7. */
static const char *
text_of_number(double number)
{
	static char string[64];
	char		digits[32];

	snprintf(digits, sizeof(digits), "%.1e", number);
	number = strtod(digits, NULL);
	if (number >= 1e6 || number < 0.001)
		snprintf(string, sizeof(string), "%.3s * 10^%d", digits, atoi(strchr(digits, 'e') + 1));
	else if (number >= 1000)
		snprintf(string, sizeof(string), "%d,%03d", (int) number / 1000, (int) number % 1000);
	else
		snprintf(string, sizeof(string), number >= 10 ? "%.0f" : "%.2g", number);
	return string;
}

/* An expected number as a chance. */
static const char *
text_of_chance(double expected)
{
	static const char *const names[] = {"", " million", " billion", " trillion"};
	static char string[80];
	double		chances = 1 / expected;
	int			name = 0;

	if (expected == 0)
		return "never";
	if (expected >= 0.5)
		snprintf(string, sizeof(string), "expect %s", text_of_number(expected));
	else
	{
		if (chances >= 1e6 && chances < 1e15)
			for (name = chances >= 1e12 ? 3 : chances >= 1e9 ? 2 : 1; chances >= 1000; chances /= 1000)
				;
		snprintf(string, sizeof(string), "1 in %s%s", text_of_number(chances), names[name]);
	}
	return string;
}

/* --- the tables ------------------------------------------------------------- */

#define YEAR		(365.25 * 86400)
#define HOUR		3600.0
#define RATE		100000.0	/* values a second of a server */
#define SESSIONS	16			/* of it */

/* Method random has no bits of each value but steps from its seed. */
static void
print_bits(void)
{
	printf("\n| generator | tick t | seed s | each value b | two values of a tick are alike | chance |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < GENERATORS; i++)
	{
		const double tick = tick_seconds(&generators[i]);
		const int	b = i == V7_RANDOM ? 0 : count_bits(each[i]);
		const int	s = count_bits(once[i]) + count_bits(each[i]) - b;

		printf("| %s | %.0f %s | %d | %d | 2^-%d | %s |\n", generators[i].name, tick < 1e-3 ? tick * 1e9 : tick * 1e3,
			   tick < 1e-3 ? "ns" : "ms", s, b, s + b, text_of_chance(chance_alike(i)));
	}
}

static void
print_fleets(void)
{
	const struct
	{
		const char *name;
		int			generator;
		int			sessions;
		bool		apart;		/* no server makes another's */
	}			rows[] = {
		{"v7, any method", V7_FRACTION, SESSIONS, false},
		{"`uuidv7_ordered()`", V7_FRACTION, 1, false},
		{"v8", V8, SESSIONS, false},
		{"v1, v6, random node", V6, SESSIONS, false},
		{"v1, v6, a fixed node for each server", V6_FIXED_NODE, SESSIONS, true},
		{"v8 with node, an id for each server", V8_NODE, SESSIONS, true},
		{"`uuidv6_ordered()` with a fixed node, `uuidv8_node_ordered()`", V8_NODE, 1, true}
	};
	const double years = 10 * YEAR;

	printf("\n| chance in ten years | 1 server | 10 servers | 100 servers | 1,000 servers | 10,000 servers |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
	{
		const double rate = RATE / rows[i].sessions;

		printf("| %s |", rows[i].name);
		for (int servers = 1; servers <= 10000; servers *= 10)
		{
			const int	apart = rows[i].apart ? servers : 1;

			printf(" %s |", text_of_chance(apart * collisions(rows[i].generator, servers / apart * rows[i].sessions, rate, years)));
		}
		printf("\n");
	}
	printf("| v4, to compare |");
	for (int servers = 1; servers <= 10000; servers *= 10)
		printf(" %s |", text_of_chance(ldexp(pairs(servers * RATE * years), -UUID_TIME_BITS - UUID_TAIL_BITS)));
	printf("\n");
}

static void
print_order(void)
{
	const double apart[] = {1e-6, 1e-3, 1e-2};

	printf("\n| rows out of order | clocks 1 us apart | 1 ms | 10 ms |\n| --- | ---: | ---: | ---: |\n");
	for (int rate = 1000; rate <= 100000; rate *= 10)
	{
		printf("| %d,000 a second of each server |", rate / 1000);
		for (int i = 0; i < 3; i++)
			printf(" %.3g %% |", 50 * (1 - exp(-rate * apart[i])));
		printf("\n");
	}
}

static void
print_worst(void)
{
	const double rate = RATE / SESSIONS;
	const double in_an_hour = rate * HOUR;
	const double in_a_tick = rate * tick_seconds(&generators[V7_FRACTION]);
	const double alike = chance_alike(V7_FRACTION);
	const double of_pairs = pairs(SESSIONS);
	const struct
	{
		const char *name;
		double		expected;
	}			rows[] = {
		{"in an hour", collisions(V7_FRACTION, SESSIONS, rate, HOUR)},
		{"in an hour, every session in the very ticks of all others", of_pairs * in_an_hour * alike},
		{"in an hour of bulk load, 25 million a second in each session", collisions(V7_FRACTION, SESSIONS, 25e6, HOUR)},
		/* each tick full: a counter of 16 starts at one of the first 8 */
		{"while the clock, set back by an hour, catches up: `fraction`", of_pairs * in_an_hour * 12.5 * alike},
		/* all in one tick; two sessions share it at r t / 2 */
		{"while the clock, set back by an hour, catches up: `random`",
		of_pairs * in_an_hour * in_an_hour * in_a_tick / 2 * alike},
		{"in a second, where the random source gives the same bits each time", of_pairs * rate * in_a_tick},
		/* value i of both shares a tick at r t / sqrt(4 pi i) */
		{"between two copies of the running server: `fraction` and `random`",
		SESSIONS * in_a_tick * sqrt((UUID_RANDOM_BUFFER_WORDS - 1) / acos(-1))},
		{"after a promoted standby whose clock was 10 ms behind: `uuidv8_node_ordered()`",
		collisions(V8_NODE, 2, RATE, 0.010)},
		{"a billion rows of one year by `uuidv7_at`, at times in whole seconds", ldexp(1e18 / YEAR, -UUID_TAIL_BITS - 1)},
		{"the same at times in whole days", ldexp(1e18 / 365.25, -UUID_TAIL_BITS - 1)}
	};

	printf("\n| 16 sessions of one server, 100,000 v7 a second in all | expected, at most |\n| --- | ---: |\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("| %s | %s |\n", rows[i].name, text_of_number(rows[i].expected));
}

/* --- the simulation --------------------------------------------------------- */

#define MEETING		8			/* generators */
#define TRIALS		50
#define TICKS		50000		/* of a trial */
#define ONE_IN		20			/* ticks in which a generator makes values */
#define LEFT		3			/* bits of the seed, and of each value */
#define ERRORS_MAX	4.0			/* standard errors that a row may be off */

/* SplitMix64: repeatable, and no secret. */
static uint64_t random_state;

static uint64_t
random_word(void)
{
	uint64_t	word = (random_state += UINT64_C(0x9e3779b97f4a7c15));

	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

static int
compare_octets(const void *left, const void *right)
{
	return memcmp(left, right, UUID_OCTETS);
}

/* The lowest three bits of a set. */
static UuidRandom
lowest_bits(UuidRandom set)
{
	UuidRandom	left = {0, 0};

	for (int i = 0; i < LEFT; i++)
	{
		uint64_t   *from = set.tail != 0 ? &set.tail : &set.seed;
		uint64_t	lowest = *from & -*from;

		*from -= lowest;
		*(from == &set.tail ? &left.tail : &left.seed) |= lowest;
	}
	return left;
}

/*
 * Generators that make some values in one of twenty ticks each, with random bits of
 * which all but six are zero: does each pair come out alike as often as the formula
 * says?
 */
static bool
simulate(int which, int values)
{
	static uint8_t made[MEETING * TICKS][UUID_OCTETS];
	const Generator *generator = &generators[which];
	const double seeds = ldexp(1, LEFT);
	const UuidRandom of_seed = lowest_bits(once[which]);
	const UuidRandom of_value = lowest_bits(each[which]);
	UuidPayload previous[MEETING] = {{0, 0}};
	uint64_t	now = 1000 * UUID_CLOCK_V7_PER_MS;
	double		sum = 0;
	double		squares = 0;
	double		expected;
	double		error;

	/* of two generators in a tick that both make values in */
	expected = ldexp(values * values / seeds - values * (values * values - 1) / (3 * seeds * seeds), -LEFT);
	expected *= pairs(MEETING) * TRIALS * TICKS / (ONE_IN * ONE_IN);
	for (int trial = 0; trial < TRIALS; trial++)
	{
		size_t		count = 0;
		double		found = 0;

		for (int tick = 0; tick < TICKS; tick++, now += tick_units(generator))
			for (int i = 0; i < MEETING; i++)
			{
				if (random_word() % ONE_IN != 0)
					continue;
				for (int value = 0; value < values; value++)
				{
					UuidRandom	random = {
						random_word() & (of_seed.tail | of_value.tail),
						random_word() & (of_seed.seed | of_value.seed)
					};

					draw(generator, &previous[i], now, random, made[count++]);
				}
			}
		qsort(made, count, UUID_OCTETS, compare_octets);
		for (size_t i = 0; i < count; i++)
			for (size_t j = i + 1; j < count && compare_octets(made[i], made[j]) == 0; j++)
				found++;
		sum += found;
		squares += found * found;
	}
	error = sqrt(squares - sum * sum / TRIALS);
	printf("| %s | %d | %.0f | %.0f | %.0f |\n", generator->name, values, expected, sum, error);
	return fabs(sum - expected) <= ERRORS_MAX * error;
}

int
main(void)
{
	const char *seed = getenv("SEED") ? getenv("SEED") : "1";
	bool		holds = true;

	find_bits();
	print_bits();
	print_fleets();
	print_order();
	print_worst();

	random_state = strtoull(seed, NULL, 0);
	printf("\n| the simulation | values in a tick | pairs alike, expected | found | standard error |\n");
	printf("| --- | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < GENERATORS; i++)
	{
		holds &= simulate(i, 1);
		/* with method random a further value is no step of a counter */
		if (i != V7_RANDOM)
			holds &= simulate(i, 6);
	}
	if (!holds)
		fprintf(stderr, "odds: with SEED=%s a row is more than %.0f standard errors off\n", seed, ERRORS_MAX);
	return holds ? 0 : 1;
}
