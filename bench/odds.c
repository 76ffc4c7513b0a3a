/*
 * odds.c
 *		The odds that two generators which know nothing of one another make the
 *		same UUID: the formulas, the tables of doc/collisions.md made of them, and
 *		a simulation that holds the formulas against the generator core.
 *
 *	odds tables
 *	odds simulate		SEED (1) chooses the random bits
 *
 * The simulation runs the core as it is, but on random words of which most bits
 * are zero, so that values collide often enough to be counted.  The formulas
 * take the number of random bits as an argument: what holds for a few of them
 * holds for all.
 *
 * Plain C11, no PostgreSQL: scripts/odds builds and runs it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../src/core/clock.h"
#include "../src/core/entropy.h"
#include "../src/core/generator.h"

/* Values of one generator in one tick, at most, in what is computed below. */
#define MADE_MAX		65536
/* A row whose result is farther off than so many standard errors has failed. */
#define Z_MAX			4.0
/* Probabilities below this are left out of sums. */
#define NEGLIGIBLE		1e-15

/* --- what kinds of generators there are ------------------------------------- */

/* As src/generate.c calls the core. */
typedef struct Kind
{
	const char *name;
	int			version;		/* in the UUID */
	int			time_version;	/* whose clock unit it has */
	UuidMethod	method;
	UuidStamp	stamp;
} Kind;

typedef enum KindName
{
	V7_FRACTION,
	V7_COUNTER,
	V7_RANDOM,
	V8,
	V6,
	V1,
	V6_FIXED_NODE,
	V8_NODE
} KindName;

#define KIND_COUNT (V8_NODE + 1)

static Kind kinds[KIND_COUNT] = {
	{"v7, `fraction`", 7, 7, UUID_METHOD_FRACTION, {0, 0}},
	{"v7, `counter`", 7, 7, UUID_METHOD_COUNTER, {0, 0}},
	{"v7, `random`", 7, 7, UUID_METHOD_RANDOM, {0, 0}},
	{"v8", 8, 8, UUID_METHOD_FRACTION, {0, 0}},
	{"v6, random node", 6, 6, UUID_METHOD_FRACTION, {0, 0}},
	{"v1, random node", 1, 1, UUID_METHOD_FRACTION, {0, 0}},
	{"v6, same fixed node", 6, 6, UUID_METHOD_FRACTION, {0, 0}},
	{"v8 with node, same id", 8, 7, UUID_METHOD_FRACTION, {0, 0}}
};

/* A node, by its last octet. */
static UuidStamp
fixed_node(uint8_t number)
{
	const uint8_t octets[UUID_NODE_OCTETS] = {3, 0, 0, 0, 0, number};

	return uuid_layout_node_stamp(octets);
}

static void
stamp_kinds(void)
{
	kinds[V6].stamp = kinds[V1].stamp = uuid_layout_random_node_stamp();
	kinds[V6_FIXED_NODE].stamp = fixed_node(1);
	kinds[V8_NODE].stamp = uuid_layout_node_id_stamp(1);
}

/* How many times a second its time field counts, and a moment in such ticks. */
static double
ticks_per_second(const Kind *kind)
{
	if (kind->method == UUID_METHOD_COUNTER)
		return (double) (UUID_CLOCK_V7_PER_SEC / UUID_CLOCK_V7_PER_MS);
	if (kind->time_version == 7)
		return (double) UUID_CLOCK_V7_PER_SEC;
	if (kind->time_version == 8)
		return (double) UUID_CLOCK_V8_PER_SEC;
	return (double) UUID_CLOCK_GREGORIAN_PER_SEC;
}

static int
count_bits(uint64_t word)
{
	int			count = 0;

	for (; word != 0; word &= word - 1)
		count++;
	return count;
}

/* The random bits below the counter that no stamp covers. */
static uint64_t
random_part(const Kind *kind)
{
	return UUID_RANDOM_MAX & ~kind->stamp.mask;
}

/* How many bits a generator draws once for a tick, and how many for each value. */
static int
seed_bits(const Kind *kind)
{
	if (kind->method == UUID_METHOD_RANDOM)
		return count_bits(UUID_FRESH_TAIL_MAX);
	if (kind->method == UUID_METHOD_COUNTER)
		return count_bits(UUID_LONG_SEED_MAX);
	return count_bits(UUID_FRESH_TAIL_MAX >> UUID_COUNTER_SHIFT);
}

static int
value_bits(const Kind *kind)
{
	return kind->method == UUID_METHOD_RANDOM ? 0 : count_bits(random_part(kind));
}

static int
counter_max(const Kind *kind)
{
	return kind->method == UUID_METHOD_COUNTER ? (int) UUID_LONG_COUNTER_MAX :
		(int) UUID_FIELD_MAX(UUID_COUNTER_BITS);
}

/* --- how many values a generator makes in a tick ---------------------------- */

/* more[i]: the probability that it makes more than i of them. */
typedef struct Made
{
	int			most;			/* where more[] ends */
	double		more[MADE_MAX];
} Made;

/* So many on average, at moments that know nothing of one another. */
static void
made_poisson(Made *made, double mean)
{
	double		exactly = exp(-mean);
	double		more = 1 - exactly;

	made->most = 0;
	while (made->most < MADE_MAX && (more > NEGLIGIBLE || made->most < mean))
	{
		made->more[made->most++] = more;
		exactly *= mean / made->most;
		more -= exactly;
	}
}

/* So many on average, evenly spaced. */
static void
made_evenly(Made *made, double mean)
{
	made->most = (int) ceil(mean);
	for (int i = 0; i < made->most; i++)
		made->more[i] = i < (int) mean ? 1 : mean - floor(mean);
}

/* As many as the tick can hold. */
static void
made_full(Made *made, const Kind *kind)
{
	made_evenly(made, counter_max(kind) + 1);
}

/* --- the formulas ----------------------------------------------------------- */

/*
 * What two generators are expected to make alike of one tick, in which they
 * make a and b values, with a counter of so many seed bits and so many random
 * bits in each value: a counter value that both come by is a value alike when
 * the random bits are.
 */
static double
alike_counted(const Kind *kind, int seed, int random, const Made *a, const Made *b)
{
	const int	seeds = 1 << seed;
	const Made *made[2] = {a, b};
	double		has[2] = {0, 0};
	double		both = 0;

	/* has: the probability that the counter takes that value in the tick */
	for (int counter = 0; counter <= counter_max(kind); counter++)
	{
		for (int i = 0; i < 2; i++)
		{
			if (counter < made[i]->most)
				has[i] += made[i]->more[counter] / seeds;
			if (counter >= seeds && counter - seeds < made[i]->most)
				has[i] -= made[i]->more[counter - seeds] / seeds;
		}
		both += has[0] * has[1];
	}
	return ldexp(both, -random);
}

/*
 * The same with UUID_METHOD_RANDOM, whose tail starts at one of 2^start places
 * and grows by 1 to 2^step.  Value i of one and j of the other are alike when the
 * starts differ by as much as the ways from there do, and of 2^(2 start) pairs of
 * starts 2^start - d differ by d.
 */
static double
alike_grown(int start, int step, const Made *a, const Made *b)
{
	const int	steps = 1 << step;
	const int	most = a->most > b->most ? a->most : b->most;
	const int	reach = most * steps + 1;
	double	   *way = calloc((size_t) most * reach, sizeof(double));
	double		alike = 0;

	if (way == NULL)
		abort();
	/* way[i * reach + d]: the probability that i steps lead d farther */
	way[0] = 1;
	for (int i = 1; i < most; i++)
	{
		double		sum = 0;

		for (int d = 1; d < reach; d++)
		{
			sum += way[(i - 1) * reach + d - 1];
			if (d > steps)
				sum -= way[(i - 1) * reach + d - 1 - steps];
			way[i * reach + d] = sum / steps;
		}
	}

	for (int i = 0; i < a->most; i++)
		for (int j = 0; j < b->most; j++)
		{
			double		pair = 0;

			for (int d = i; d <= i * steps; d++)
				for (int e = j; e <= j * steps; e++)
					pair += way[i * reach + d] * way[j * reach + e] * fmax(0, ldexp(1, start) - abs(d - e));
			alike += a->more[i] * b->more[j] * ldexp(pair, -2 * start);
		}
	free(way);
	return alike;
}

/* What two generators are expected to make alike of one tick. */
static double
alike_in_tick(const Kind *kind, const Made *a, const Made *b)
{
	if (kind->method == UUID_METHOD_RANDOM)
	{
		double		means[2] = {0, 0};

		/* a step of 2^32 is nothing beside 2^61 starts */
		for (int i = 0; i < a->most; i++)
			means[0] += a->more[i];
		for (int i = 0; i < b->most; i++)
			means[1] += b->more[i];
		return ldexp(means[0] * means[1], -seed_bits(kind));
	}
	return alike_counted(kind, seed_bits(kind), value_bits(kind), a, b);
}

static double
pairs(double generators)
{
	return generators * (generators - 1) / 2;
}

/*
 * Collisions expected of so many generators of so many values a second each in so
 * many seconds, when none knows what the others do and two values of a tick have so
 * many bits that must agree: the most that the number of values in a tick allows.
 */
static double
collisions_of_bits(double generators, double rate, double tick, double seconds, int bits)
{
	return pairs(generators) * rate * rate * tick * seconds * ldexp(1, -bits);
}

static double
collisions(const Kind *kind, double generators, double rate, double seconds)
{
	return collisions_of_bits(generators, rate, 1 / ticks_per_second(kind), seconds,
							  seed_bits(kind) + value_bits(kind));
}

/* The same when each makes its values in the very ticks of all others. */
static double
collisions_in_step(const Kind *kind, double generators, double rate, double seconds)
{
	const double tick = 1 / ticks_per_second(kind);
	const double together = fmax(1, rate * tick);

	return pairs(generators) * rate * together * seconds *
		ldexp(1, -seed_bits(kind) - value_bits(kind));
}

/*
 * Two copies of a generator draw the same random bits: how many of so many values
 * does each make in the tick in which the other makes the one of the same number?
 * rate is that of values in a tick, far below 1.  The moments of value i of both,
 * each a sum of i waits, are next to one another with a density of
 * (2i - 2 over i - 1) / 2^(2i - 1) times the rate.
 */
static double
alike_of_copies(double rate, int count)
{
	double		density = rate / 2;
	double		sum = 0;

	for (int i = 1; i <= count; i++)
	{
		sum += density;
		density *= (2.0 * i - 1) / (2.0 * i);
	}
	return sum;
}

/*
 * The same for UUID_METHOD_COUNTER, of which a tick holds several values: the one
 * of some number is the same in both if it is in the same tick and that tick began
 * with the value of the same number, since the counter starts with that.
 */
static double
alike_of_counting_copies(double rate, int count)
{
	static Made made;
	double		both[MADE_MAX + 1] = {0};	/* of the first so many of a tick */
	double		sum = 0;

	made_poisson(&made, rate);
	for (int i = 0; i < MADE_MAX; i++)
		both[i + 1] = both[i] + (i < made.most ? made.more[i] * made.more[i] : 0);
	/* before the tick both have made as many */
	for (int tick = 0; tick * rate < count + 10 * sqrt(count); tick++)
	{
		const double mean = tick * rate;

		for (int before = 0; before < count; before++)
		{
			const double exactly = mean > 0 ? exp(before * log(mean) - mean - lgamma(before + 1)) : before == 0;

			sum += exactly * exactly * both[count - before];
		}
	}
	return sum;
}

/*
 * The share of rows whose id is less than one made before it, where each of the
 * servers makes so many ids a second at moments that know nothing of one
 * another, and is ahead of the true time by so many seconds.  Only what a server
 * whose clock is farther on made, no longer ago than the clocks differ, is
 * greater.
 */
static double
rows_out_of_order(int servers, const double *rate, const double *ahead)
{
	double		all = 0;
	double		share = 0;

	for (int i = 0; i < servers; i++)
		all += rate[i];
	for (int i = 0; i < servers; i++)
	{
		double		greater = 0;

		for (int j = 0; j < servers; j++)
			greater += rate[j] * fmax(0, ahead[j] - ahead[i]);
		share += rate[i] / all * (1 - exp(-greater));
	}
	return share;
}

/* The share of rows whose id is less than that of the row just before. */
static double
pairs_out_of_order(int servers, const double *rate, const double *ahead)
{
	double		all = 0;
	double		share = 0;

	for (int i = 0; i < servers; i++)
		all += rate[i];
	for (int i = 0; i < servers; i++)
		for (int j = 0; j < servers; j++)
			share += rate[i] * rate[j] / (all * all) * (1 - exp(-all * fmax(0, ahead[j] - ahead[i])));
	return share;
}

/* --- numbers for people ----------------------------------------------------- */

/* A number with its thousands apart. */
static void
put_grouped(char *string, double number)
{
	char		digits[32];
	int			count = snprintf(digits, sizeof(digits), "%.0f", number);

	for (int i = 0; i < count; i++)
	{
		*string++ = digits[i];
		if ((count - 1 - i) % 3 == 0 && i < count - 1)
			*string++ = ',';
	}
	*string = '\0';
}

/* To two digits. */
static double
rounded(double number)
{
	char		string[32];

	snprintf(string, sizeof(string), "%.1e", number);
	return strtod(string, NULL);
}

static const char *
text_of_number(double number)
{
	static char strings[8][64];
	static int	next;
	char	   *string = strings[next++ % 8];

	number = rounded(number);
	if (number == 0)
		strcpy(string, "none");
	else if (number >= 1e6 || number < 0.001)
	{
		int			power = (int) floor(log10(number) + 1e-9);

		snprintf(string, sizeof(strings[0]), "%.1f * 10^%d", number / pow(10, power), power);
	}
	else if (number >= 10)
		put_grouped(string, number);
	else
		snprintf(string, sizeof(strings[0]), "%.2g", number);
	return string;
}

/* An expected number as a chance. */
static const char *
text_of_chance(double expected)
{
	static const char *const names[] = {"million", "billion", "trillion"};
	static char string[64];
	double		chances = rounded(1 / expected);
	int			name;

	if (expected == 0)
		return "never";
	if (expected >= 0.5)
	{
		snprintf(string, sizeof(string), "expect %s", text_of_number(expected));
		return string;
	}
	for (name = 2; name >= 0 && chances < pow(10, 6 + 3 * name); name--)
		;
	if (name < 0 || chances >= 1e15)
		snprintf(string, sizeof(string), "1 in %s", text_of_number(chances));
	else
	{
		double		count = chances / pow(10, 6 + 3 * name);

		snprintf(string, sizeof(string), count < 10 ? "1 in %.1f %s" : "1 in %.0f %s", count, names[name]);
	}
	return string;
}

/* --- the tables ------------------------------------------------------------- */

#define YEARS_SECONDS		(10 * 365.25 * 86400)
#define HOUR_SECONDS		3600.0
#define SERVER_RATE			100000.0	/* values a second */
#define SERVER_SESSIONS		16
#define BULK_RATE			25e6

static const int fleets[] = {1, 10, 100, 1000, 10000};

#define FLEET_COUNT ((int) (sizeof(fleets) / sizeof(fleets[0])))

static void
table_one_tick(void)
{
	printf("\n| generator | tick | bits drawn for a tick | bits drawn for a value | two values of a tick are alike | chance |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < KIND_COUNT; i++)
	{
		const Kind *kind = &kinds[i];
		int			bits = seed_bits(kind) + value_bits(kind);
		double		tick = 1e9 / ticks_per_second(kind);
		char		ns[32];

		put_grouped(ns, tick);
		printf("| %s | %s ns | %d | %d | 2^-%d | %s |\n", kind->name, ns,
			   seed_bits(kind), value_bits(kind), bits, text_of_chance(ldexp(1, -bits)));
	}
}

/* A row of what is expected of each fleet, as number or as chance. */
static void
row_of_fleets(const char *name, const double *expected, bool chance)
{
	printf("| %s |", name);
	for (int i = 0; i < FLEET_COUNT; i++)
		printf(" %s |", chance ? text_of_chance(expected[i]) : text_of_number(expected[i]));
	printf("\n");
}

static void
head_of_fleets(const char *of)
{
	printf("\n| %s |", of);
	for (int i = 0; i < FLEET_COUNT; i++)
	{
		char		servers[32];

		put_grouped(servers, fleets[i]);
		printf(" %s server%s |", servers, fleets[i] == 1 ? "" : "s");
	}
	printf("\n| --- |");
	for (int i = 0; i < FLEET_COUNT; i++)
		printf(" ---: |");
	printf("\n");
}

static void
table_fleets(bool chance)
{
	const double session_rate = SERVER_RATE / SERVER_SESSIONS;
	double		expected[FLEET_COUNT];

	head_of_fleets(chance ? "chance in ten years" : "expected in ten years");
	if (!chance)
	{
		for (int i = 0; i < FLEET_COUNT; i++)
			expected[i] = fleets[i] * SERVER_RATE * YEARS_SECONDS;
		row_of_fleets("ids made", expected, false);
	}
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = collisions(&kinds[V7_FRACTION], fleets[i] * SERVER_SESSIONS, session_rate, YEARS_SECONDS);
	row_of_fleets("v7, any method", expected, chance);
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = collisions(&kinds[V7_FRACTION], fleets[i], SERVER_RATE, YEARS_SECONDS);
	row_of_fleets("v7, instance scope", expected, chance);
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = collisions(&kinds[V8], fleets[i] * SERVER_SESSIONS, session_rate, YEARS_SECONDS);
	row_of_fleets("v8", expected, chance);
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = collisions(&kinds[V6], fleets[i] * SERVER_SESSIONS, session_rate, YEARS_SECONDS);
	row_of_fleets("v1, v6, random node", expected, chance);
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = fleets[i] * collisions(&kinds[V6_FIXED_NODE], SERVER_SESSIONS, session_rate, YEARS_SECONDS);
	row_of_fleets("v1, v6, a fixed node for each server", expected, chance);
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = fleets[i] * collisions(&kinds[V8_NODE], SERVER_SESSIONS, session_rate, YEARS_SECONDS);
	row_of_fleets("v8 with node, an id for each server", expected, chance);
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = fleets[i] * collisions(&kinds[V8_NODE], 1, SERVER_RATE, YEARS_SECONDS);
	row_of_fleets("the last two, instance scope", expected, chance);
	for (int i = 0; i < FLEET_COUNT; i++)
		expected[i] = ldexp(pairs(fleets[i] * SERVER_RATE * YEARS_SECONDS), -UUID_TIME_BITS - UUID_TAIL_BITS);
	row_of_fleets("v4, to compare", expected, chance);
}

static void
table_in_step(void)
{
	const KindName shown[] = {V7_FRACTION, V7_COUNTER, V7_RANDOM, V8, V6};
	double		expected[FLEET_COUNT];

	head_of_fleets("expected in ten years, in step");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
	{
		for (int j = 0; j < FLEET_COUNT; j++)
			expected[j] = collisions_in_step(&kinds[shown[i]], fleets[j] * SERVER_SESSIONS,
											 SERVER_RATE / SERVER_SESSIONS, YEARS_SECONDS);
		row_of_fleets(kinds[shown[i]].name, expected, false);
	}
}

static void
table_bulk(void)
{
	static Made made,
				full;
	const int	loads[] = {2, 16, 160, 1600};

	printf("\n| expected in an hour of bulk load | values a tick | 2 sessions | 16 sessions | 160 sessions | 1,600 sessions | 16 sessions, at most |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < KIND_COUNT; i++)
	{
		const Kind *kind = &kinds[i];
		const double mean = BULK_RATE / ticks_per_second(kind);
		const double ticks = ticks_per_second(kind) * HOUR_SECONDS;
		double		alike;

		if (i == V1 || i == V6_FIXED_NODE)
			continue;
		made_evenly(&made, mean);
		alike = alike_in_tick(kind, &made, &made);
		printf("| %s | %s |", kind->name, text_of_number(mean));
		for (int j = 0; j < 4; j++)
			printf(" %s |", text_of_number(pairs(loads[j]) * ticks * alike));
		if (kind->method == UUID_METHOD_RANDOM)
			printf(" no such limit |\n");
		else
		{
			made_full(&full, kind);
			printf(" %s |\n", text_of_number(pairs(SERVER_SESSIONS) * ticks * alike_in_tick(kind, &full, &full)));
		}
	}
}

static void
table_order(void)
{
	const double offsets[] = {1e-6, 1e-3, 1e-2};
	const char *const names[] = {"1 us", "1 ms", "10 ms"};
	const double rates[] = {1000, 10000, 100000};

	printf("\n| two servers, ids a second of each | clocks apart | less than some row before | less than the row before | ids of a server in that time |\n");
	printf("| ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
		{
			const double rate[2] = {rates[i], rates[i]};
			const double ahead[2] = {0, offsets[j]};
			char		string[32];

			put_grouped(string, rates[i]);
			printf("| %s | %s | %.3g %% | %.3g %% | %s |\n", string, names[j],
				   100 * rows_out_of_order(2, rate, ahead), 100 * pairs_out_of_order(2, rate, ahead),
				   text_of_number(rates[i] * offsets[j]));
		}
}

static void
table_at(void)
{
	const double rows[] = {1e6, 1e8, 1e9, 1e10};
	const double apart[] = {1e-6, 1e-3, 1, 86400};
	const char *const names[] = {"microseconds", "milliseconds", "seconds", "days"};

	printf("\n| times of a year in whole | a million rows | 100 million | a billion | ten billion |\n| --- | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < 4; i++)
	{
		const double times = YEARS_SECONDS / 10 / apart[i];

		printf("| %s |", names[i]);
		for (int j = 0; j < 4; j++)
			printf(" %s |", text_of_chance(ldexp(rows[j] * rows[j] / times / 2, -UUID_TAIL_BITS)));
		printf("\n");
		if (i < 2)
			continue;
		printf("| %s, `uuidv8_node_at` with one id |", names[i]);
		for (int j = 0; j < 4; j++)
			printf(" %s |", text_of_chance(ldexp(rows[j] * rows[j] / times / 2, -UUID_TAIL_BITS + UUID_NODE_ID_BITS)));
		printf("\n");
	}
}

static void
table_weak(void)
{
	const double rate = SERVER_RATE / SERVER_SESSIONS;
	const double stood = rate * HOUR_SECONDS;
	const double tick = 1 / ticks_per_second(&kinds[V7_FRACTION]);
	const KindName counted[] = {V7_FRACTION, V7_COUNTER};

	printf("\n| 16 sessions of one server, 100,000 v7 a second in all | expected |\n| --- | ---: |\n");
	printf("| in an hour | %s |\n",
		   text_of_number(collisions(&kinds[V7_FRACTION], SERVER_SESSIONS, rate, HOUR_SECONDS)));

	/* all sessions fill tick after tick, from nearly the same one on */
	for (int i = 0; i < 2; i++)
	{
		static Made full;
		const Kind *kind = &kinds[counted[i]];
		const double mean_seed = (ldexp(1, seed_bits(kind)) - 1) / 2;
		const double in_full_tick = counter_max(kind) + 1 - mean_seed;

		made_full(&full, kind);
		printf("| while the clock, set back by an hour, catches up: %s | %s |\n", kind->name,
			   text_of_number(pairs(SERVER_SESSIONS) * stood / in_full_tick * alike_in_tick(kind, &full, &full)));
	}

	/*
	 * All values in one tick, that of the last value before.  Of two
	 * sessions, each with its last value some time ago, that is the same one
	 * with a probability of r t / 2.
	 */
	printf("| while the clock, set back by an hour, catches up: %s | %s |\n", kinds[V7_RANDOM].name,
		   text_of_number(pairs(SERVER_SESSIONS) * stood * stood * (rate * tick / 2) * ldexp(1, -seed_bits(&kinds[V7_RANDOM]))));
	printf("| in a second, where the random source gives the same bits each time | %s |\n",
		   text_of_number(pairs(SERVER_SESSIONS) * rate * rate * tick));
	printf("| between two copies of the running server, at most: `fraction` and `random` | %s |\n",
		   text_of_number(SERVER_SESSIONS * alike_of_copies(rate * tick, UUID_ENTROPY_WORDS - 1)));
	printf("| between two copies of the running server, at most: `counter` | %s |\n",
		   text_of_number(SERVER_SESSIONS * alike_of_counting_copies(rate / ticks_per_second(&kinds[V7_COUNTER]), UUID_ENTROPY_WORDS / 2 - 1)));
	/* the old primary's generator and the new one's, with one node id */
	printf("| after a promoted standby whose clock was 10 ms behind: `uuidv8_node()`, instance scope | %s |\n",
		   text_of_number(collisions(&kinds[V8_NODE], 2, SERVER_RATE, 0.010)));
}

static void
print_tables(void)
{
	table_one_tick();
	table_fleets(false);
	table_fleets(true);
	table_in_step();
	table_bulk();
	table_order();
	table_at();
	table_weak();
}

/* --- the simulation: drawing ------------------------------------------------ */

/* SplitMix64: repeatable, and no secret. */
static uint64_t simulation_seed;

static uint64_t
random_word(void)
{
	uint64_t	word = (simulation_seed += UINT64_C(0x9e3779b97f4a7c15));

	word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
	return word ^ word >> 31;
}

/* From 0 to 1, neither of them. */
static double
random_share(void)
{
	return ((double) (random_word() >> 12) + 0.5) / 4503599627370496.0;
}

/* How many random bits are left: short enough that collisions are many. */
typedef struct Shortened
{
	int			seed;			/* of method counter; the start, of random */
	int			value;			/* of each value; the step, of random */
} Shortened;

typedef struct Simulated
{
	const Kind *kind;
	Shortened	bits;
	UuidStamp	stamp;
	UuidPayload previous;
} Simulated;

static Simulated
new_generator(const Kind *kind, Shortened bits)
{
	Simulated	generator = {kind, bits, kind->stamp, {0, 0}};

	return generator;
}

/* A UUID as two words, to be compared. */
typedef struct Value
{
	uint64_t	words[2];
	int			maker;
} Value;

/* Of the bits in field, all zero but so many at its low end; others stay random. */
static uint64_t
shorten(uint64_t word, uint64_t field, int bits)
{
	uint64_t	kept = 0;

	for (int i = 0; i < bits; i++)
		kept |= (field & ~kept) & -(field & ~kept);
	return word & ~(field & ~kept);
}

static int
compare_values(const void *left, const void *right)
{
	const Value *a = left;
	const Value *b = right;

	for (int i = 0; i < 2; i++)
		if (a->words[i] != b->words[i])
			return a->words[i] < b->words[i] ? -1 : 1;
	return 0;
}

/* The next value of a generator, as src/generate.c makes it. */
static Value
draw(Simulated *generator, uint64_t now)
{
	const Kind *kind = generator->kind;
	UuidRandom	random;
	uint8_t		octets[UUID_OCTETS];
	Value		value;

	random.tail = random_word();
	random.seed = random_word();
	if (kind->method != UUID_METHOD_RANDOM)
		random.tail = shorten(random.tail, UUID_RANDOM_MAX & ~generator->stamp.mask, generator->bits.value);
	else if (now > generator->previous.time)
		random.tail = shorten(random.tail, UUID_FRESH_TAIL_MAX, generator->bits.seed);
	else
		random.tail = shorten(random.tail, UUID_INCREMENT_MASK, generator->bits.value);
	if (kind->method == UUID_METHOD_COUNTER)
		random.seed = shorten(random.seed, UUID_LONG_SEED_MAX, generator->bits.seed);

	if (uuid_generator_next(&generator->previous, now, random, kind->method) == UUID_NEXT_EXHAUSTED)
		abort();
	uuid_layout_pack(octets, kind->version, uuid_layout_stamp(generator->previous, generator->stamp));
	value.words[0] = uuid_layout_load64(octets);
	value.words[1] = uuid_layout_load64(octets + 8);
	value.maker = 0;
	return value;
}

/* The clock, in nanoseconds after 2026-01-01, in the time field of the kind. */
static uint64_t
clock_at(const Kind *kind, int64_t ns)
{
	uint64_t	ticks;

	if (!uuid_clock_ticks(kind->time_version == 7 ? UUID_CLOCK_V7 : kind->time_version == 8 ? UUID_CLOCK_V8 : UUID_CLOCK_GREGORIAN, 1767225600 + ns / 1000000000, (uint32_t) (ns % 1000000000), &ticks))
		abort();
	return ticks;
}

/* The expectation for the shortened bits. */
static double
alike_shortened(const Kind *kind, Shortened bits, const Made *a, const Made *b)
{
	if (kind->method == UUID_METHOD_RANDOM)
		return alike_grown(bits.seed, bits.value, a, b);
	return alike_counted(kind, kind->method == UUID_METHOD_COUNTER ? bits.seed : seed_bits(kind), bits.value, a, b);
}

/* Those that two values of a tick must agree in. */
static int
bits_of(const Kind *kind, Shortened bits)
{
	if (kind->method == UUID_METHOD_RANDOM)
		return bits.seed;
	return (kind->method == UUID_METHOD_COUNTER ? bits.seed : seed_bits(kind)) + bits.value;
}

/* --- the simulation: counting ----------------------------------------------- */

/* What was found, trial by trial. */
typedef struct Tally
{
	double		trials;
	double		sum;
	double		squares;
} Tally;

static int	rows_failed;

static void
add_trial(Tally *tally, double found)
{
	tally->trials++;
	tally->sum += found;
	tally->squares += found * found;
}

/*
 * Expected against found, in standard errors: those of the sum of the trials, as
 * their own spread gives them.  What is found must not be above the most either.
 */
static void
report(const char *name, const Tally *tally, double expected_per_trial, double most_per_trial, double scale)
{
	const double mean = tally->sum / tally->trials;
	const double error = sqrt((tally->squares / tally->trials - mean * mean) * tally->trials);
	const double expected = expected_per_trial * tally->trials;
	const double z = error > 0 ? (tally->sum - expected) / error : tally->sum == expected ? 0 : INFINITY;

	printf("| %s | %.0f | %.*f | %.*f | %.*f | %.2f |\n", name, tally->trials,
		   scale == 1 ? 1 : 5, expected * scale, scale == 1 ? 0 : 5, tally->sum * scale, scale == 1 ? 1 : 5, error * scale, z);
	fflush(stdout);
	if (!(fabs(z) <= Z_MAX) || tally->sum > most_per_trial * tally->trials + Z_MAX * error)
		rows_failed++;
}

static Value values[1 << 17];

/* Pairs of the first count values that are the same and not of one maker. */
static double
count_alike(size_t count)
{
	double		found = 0;

	qsort(values, count, sizeof(Value), compare_values);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count && compare_values(&values[i], &values[j]) == 0; j++)
		{
			if (values[i].maker == values[j].maker)
			{
				fprintf(stderr, "odds: a generator has repeated itself\n");
				exit(1);
			}
			found++;
		}
	return found;
}

/* --- the simulation: rows --------------------------------------------------- */

/*
 * Two generators make a and b values in one tick, again and again.  Stamps apart
 * make all of them differ.
 */
static void
simulate_tick(const char *name, KindName which, Shortened bits, int a, int b, bool apart)
{
	static Made made[2];
	const Kind *kind = &kinds[which];
	Simulated	generators[2] = {new_generator(kind, bits), new_generator(kind, bits)};
	Tally		tally = {0, 0, 0};
	double		expected;

	if (apart)
		generators[1].stamp = which == V8_NODE ? uuid_layout_node_id_stamp(2) : fixed_node(2);
	made_evenly(&made[0], a);
	made_evenly(&made[1], b);
	expected = apart ? 0 : alike_shortened(kind, bits, &made[0], &made[1]);

	for (int trial = 0; trial < 1000000; trial++)
	{
		uint64_t	now = clock_at(kind, trial * INT64_C(1000000));
		int			count = 0;

		for (int i = 0; i < 2; i++)
			for (int j = 0; j < (i == 0 ? a : b); j++)
			{
				values[count] = draw(&generators[i], now);
				values[count++].maker = i;
			}
		add_trial(&tally, count_alike((size_t) count));
	}
	report(name, &tally, expected, INFINITY, 1);
}

/* How a row of simulate_load() differs from the plain case. */
typedef struct Load
{
	bool		evenly;			/* evenly spaced, else at random moments */
	int			clock_step;		/* ns */
	int			offset;			/* ns from each clock to the next */
} Load;

#define LOAD_GENERATORS	8
#define LOAD_TRIALS		200

/* Generators of so many values a second each, for some microseconds. */
static void
simulate_load(const char *name, KindName which, Shortened bits, double rate, int micros, Load load)
{
	static Made made;
	const Kind *kind = &kinds[which];
	Simulated	generators[LOAD_GENERATORS];
	const double duration = micros * 1e-6;
	const double tick = fmax(1 / ticks_per_second(kind), load.clock_step * 1e-9);
	double		shared = 0;		/* of the times on the clocks, over all pairs */
	Tally		tally = {0, 0, 0};

	for (int i = 0; i < LOAD_GENERATORS; i++)
	{
		generators[i] = new_generator(kind, bits);
		for (int j = 0; j < i; j++)
			shared += duration - (i - j) * load.offset * 1e-9;
	}
	(load.evenly ? made_evenly : made_poisson) (&made, rate * tick);

	for (int trial = 0; trial < LOAD_TRIALS; trial++)
	{
		size_t		count = 0;

		for (int i = 0; i < LOAD_GENERATORS; i++)
		{
			double		moment = (load.evenly ? random_share() : -log(random_share())) / rate;

			while (moment < duration)
			{
				int64_t		ns = (int64_t) (moment * 1e9);

				ns -= ns % load.clock_step;
				values[count] = draw(&generators[i], clock_at(kind, trial * INT64_C(1000000000) + i * load.offset + ns));
				values[count++].maker = i;
				moment += (load.evenly ? 1 : -log(random_share())) / rate;
			}
		}
		add_trial(&tally, count_alike(count));
	}
	report(name, &tally, shared / tick * alike_shortened(kind, bits, &made, &made),
		   collisions_of_bits(LOAD_GENERATORS, rate, tick, duration, bits_of(kind, bits)), 1);
}

/* Two generators fill tick after tick, ahead of a clock that stands still. */
static void
simulate_full(const char *name, KindName which, Shortened bits, int ticks, int trials)
{
	static Made made;
	const Kind *kind = &kinds[which];
	const uint64_t tick = kind->method == UUID_METHOD_COUNTER ? UUID_CLOCK_V7_PER_MS : 1;
	Simulated	generators[2] = {new_generator(kind, bits), new_generator(kind, bits)};
	Tally		tally = {0, 0, 0};

	made_full(&made, kind);
	for (int trial = 0; trial < trials; trial++)
	{
		uint64_t	now = clock_at(kind, trial * INT64_C(1000000000));
		size_t		count = 0;

		for (int i = 0; i < 2; i++)
			for (;;)
			{
				Value		value = draw(&generators[i], now);

				if (generators[i].previous.time >= now + (uint64_t) ticks * tick)
					break;
				values[count] = value;
				values[count++].maker = i;
			}
		add_trial(&tally, count_alike(count));
	}
	report(name, &tally, ticks * alike_shortened(kind, bits, &made, &made), INFINITY, 1);
}

/* Two copies of a generator and of its random bits, which go on at one moment. */
static void
simulate_copies(const char *name, KindName which, double rate, int values_each)
{
	const Kind *kind = &kinds[which];
	const Shortened all = {seed_bits(kind), UUID_COUNTER_SHIFT};
	const double in_tick = rate / ticks_per_second(kind);
	double		moments[2][50];
	Tally		tally = {0, 0, 0};

	for (int trial = 0; trial < 200000; trial++)
	{
		uint64_t	seed;
		size_t		count = 0;

		for (int i = 0; i < 2; i++)
			for (int j = 0; j < values_each; j++)
				moments[i][j] = (j > 0 ? moments[i][j - 1] : 0.001) - log(random_share()) / rate;
		seed = simulation_seed;
		for (int i = 0; i < 2; i++)
		{
			Simulated	copy = new_generator(kind, all);

			simulation_seed = seed;
			for (int j = 0; j < values_each; j++)
			{
				values[count] = draw(&copy, clock_at(kind, (int64_t) (moments[i][j] * 1e9)));
				values[count++].maker = i;
			}
		}
		add_trial(&tally, count_alike(count));
	}
	report(name, &tally, kind->method == UUID_METHOD_COUNTER ? alike_of_counting_copies(in_tick, values_each) :
		   alike_of_copies(in_tick, values_each), INFINITY, 1);
}

/* Servers of one rate whose clocks are apart: how many rows are out of order? */
static void
simulate_order(const char *name, KindName which, int servers, double rate, const double *ahead)
{
	const int	batch = 5000;
	const Kind *kind = &kinds[which];
	const Shortened all = {seed_bits(kind), UUID_COUNTER_SHIFT};
	Simulated	generators[4];
	double		rates[4];
	double		moment = 1;
	Value		greatest = {{0, 0}, 0};
	Value		before = {{0, 0}, 0};
	Tally		rows = {0, 0, 0};
	Tally		adjacent = {0, 0, 0};
	char		title[128];

	for (int i = 0; i < servers; i++)
	{
		generators[i] = new_generator(kind, all);
		rates[i] = rate;
	}
	/* the first batch fills the past of those that are counted */
	for (int trial = 0; trial <= 400; trial++)
	{
		double		behind = 0;
		double		inverted = 0;

		for (int i = 0; i < batch; i++)
		{
			int			maker = (int) (random_word() % (uint64_t) servers);
			Value		value;

			moment -= log(random_share()) / (servers * rate);
			value = draw(&generators[maker], clock_at(kind, (int64_t) ((moment + ahead[maker]) * 1e9)));
			behind += compare_values(&value, &greatest) < 0;
			inverted += compare_values(&value, &before) < 0;
			if (compare_values(&value, &greatest) > 0)
				greatest = value;
			before = value;
		}
		if (trial > 0)
		{
			add_trial(&rows, behind / batch);
			add_trial(&adjacent, inverted / batch);
		}
	}
	if (kind->method == UUID_METHOD_COUNTER)
	{
		/* whose tick is not short, so that no formula is claimed to hold */
		printf("| %s | %.0f | %.2f | %.1f | %.2f | %.1f |\n", name, rows.trials,
			   100 * rows_out_of_order(servers, rates, ahead), 100 * rows.sum / rows.trials,
			   100 * pairs_out_of_order(servers, rates, ahead), 100 * adjacent.sum / adjacent.trials);
		return;
	}
	snprintf(title, sizeof(title), "%s: less than a row before", name);
	report(title, &rows, rows_out_of_order(servers, rates, ahead), INFINITY, 100 / rows.trials);
	snprintf(title, sizeof(title), "%s: less than the row before", name);
	report(title, &adjacent, pairs_out_of_order(servers, rates, ahead), INFINITY, 100 / adjacent.trials);
}

/* How many of the bits given to the core make a difference to the next value. */
static int
bits_that_count(const Kind *kind, UuidPayload previous, uint64_t now)
{
	int			count = 0;

	for (int bit = 0; bit < 128; bit++)
	{
		UuidPayload made[2] = {previous, previous};

		for (int i = 0; i < 2; i++)
		{
			UuidRandom	random = {0, 0};

			if (i == 1)
				*(bit < 64 ? &random.tail : &random.seed) = UINT64_C(1) << bit % 64;
			if (uuid_generator_next(&made[i], now, random, kind->method) == UUID_NEXT_EXHAUSTED)
				abort();
			made[i] = uuid_layout_stamp(made[i], kind->stamp);
		}
		count += made[0].time != made[1].time || made[0].tail != made[1].tail;
	}
	return count;
}

/* The bits that the formulas are about are those that the core uses. */
static void
count_all_bits(void)
{
	printf("\n| bits that change a value | first of a tick | found | found, ahead of the clock | further ones | found |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < KIND_COUNT; i++)
	{
		const Kind *kind = &kinds[i];
		const bool	counts = kind->method == UUID_METHOD_COUNTER;
		const UuidPayload before = {clock_at(kind, 0), 0};
		const UuidPayload full = {before.time | (counts ? UUID_SUBTIME_MAX : 0), UUID_TAIL_MAX};
		const int	first = seed_bits(kind) + value_bits(kind);
		const int	further = kind->method == UUID_METHOD_RANDOM ? count_bits(UUID_INCREMENT_MASK) : value_bits(kind);
		const int	found[] = {
			bits_that_count(kind, before, clock_at(kind, 5000000)),
			bits_that_count(kind, full, before.time),
			bits_that_count(kind, before, before.time)
		};

		printf("| %s | %d | %d | %d | %d | %d |\n", kind->name, first, found[0], found[1], further, found[2]);
		if (found[0] != first || found[1] != first || found[2] != further)
			rows_failed++;
	}
}

static void
simulate_collisions(void)
{
	const Shortened few = {5, 3};
	const Shortened grown = {8, 3};
	const Load	plain = {false, 1, 0};
	const Load	apart = {false, 1, 20000};
	const Load	coarse = {false, 1000, 0};
	const Load	evenly = {true, 1, 0};

	printf("\n| collisions | trials | expected | found | standard error | off by, standard errors |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (int i = 0; i < KIND_COUNT; i++)
	{
		char		name[128];
		const Shortened *bits = i == V7_RANDOM ? &grown : &few;

		snprintf(name, sizeof(name), "%s: one value each in a tick", kinds[i].name);
		simulate_tick(name, i, *bits, 1, 1, false);
		snprintf(name, sizeof(name), "%s: 3 and 6 values in a tick", kinds[i].name);
		simulate_tick(name, i, *bits, 3, 6, false);
	}
	simulate_tick("v6, two fixed nodes: 6 and 6 values in a tick", V6_FIXED_NODE, few, 6, 6, true);
	simulate_tick("v8 with node, two ids: 6 and 6 values in a tick", V8_NODE, few, 6, 6, true);

	simulate_load("v7, `fraction`: 8 at 1 million a second", V7_FRACTION, few, 1e6, 2500, plain);
	simulate_load("the same, clocks 20 us apart", V7_FRACTION, few, 1e6, 2500, apart);
	simulate_load("the same, clocks that step by 1 us", V7_FRACTION, few, 1e6, 2500, coarse);
	simulate_load("v7, `counter`: 8 at 50,000 a second", V7_COUNTER, few, 5e4, 50000, plain);
	simulate_load("v7, `random`: 8 at 1 million a second", V7_RANDOM, grown, 1e6, 2500, plain);
	simulate_load("v8: 8 at 10 million a second", V8, few, 1e7, 250, plain);
	simulate_load("v6, random node: 8 at 3 million a second", V6, few, 3e6, 800, plain);
	simulate_load("v8 with node, same id: 8 at 1 million a second", V8_NODE, few, 1e6, 2500, plain);
	simulate_load("v7, `fraction`: 8 bulk loads at 25 million a second", V7_FRACTION, few, BULK_RATE, 100, evenly);
	simulate_full("v7, `fraction`: 2 that fill each tick", V7_FRACTION, few, 100, 5000);
	simulate_full("v7, `counter`: 2 that fill a tick", V7_COUNTER, few, 1, 50);
	simulate_copies("v7, `fraction`: 2 copies, 50 values each at 10,000 a second", V7_FRACTION, 1e4, 50);
	simulate_copies("v7, `counter`: 2 copies, 50 values each at 6,250 a second", V7_COUNTER, 6250, 50);
}

static void
simulate_orders(void)
{
	const double millisecond[] = {0, 1e-3};
	const double ten[] = {0, 1e-2};
	const double microsecond[] = {0, 1e-6};
	const double four[] = {0, 3e-4, 6e-4, 1e-3};

	printf("\n| rows out of order, %% | trials | expected | found | standard error | off by, standard errors |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
	simulate_order("2 servers, 1,000 a second each, 1 ms apart", V7_FRACTION, 2, 1e3, millisecond);
	simulate_order("2 servers, 100 a second each, 10 ms apart", V7_FRACTION, 2, 100, ten);
	simulate_order("2 servers, 100,000 a second each, 1 us apart", V7_FRACTION, 2, 1e5, microsecond);
	simulate_order("4 servers, 1,000 a second each, 0 to 1 ms apart", V7_FRACTION, 4, 1e3, four);

	printf("\n| 2 servers with `counter` | trials | than some row before, in short ticks, %% | found, %% | than the row before, in short ticks, %% | found, %% |\n");
	printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
	simulate_order("1,000 a second each, 1 us apart", V7_COUNTER, 2, 1e3, microsecond);
	simulate_order("1,000 a second each, 1 ms apart", V7_COUNTER, 2, 1e3, millisecond);
	simulate_order("100,000 a second each, 1 us apart", V7_COUNTER, 2, 1e5, microsecond);
}

int
main(int argc, char **argv)
{
	const char *given = getenv("SEED");

	stamp_kinds();
	if (argc == 2 && strcmp(argv[1], "tables") == 0)
	{
		print_tables();
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "simulate") == 0)
	{
		simulation_seed = given ? strtoull(given, NULL, 0) : 1;
		printf("SEED=%" PRIu64 "\n", simulation_seed);
		count_all_bits();
		simulate_collisions();
		simulate_orders();
		if (rows_failed > 0)
			fprintf(stderr, "odds: %d rows are not as expected, or more than %.0f standard errors off\n", rows_failed, Z_MAX);
		return rows_failed > 0;
	}
	fprintf(stderr, "usage: odds tables | odds simulate\n");
	return 2;
}
