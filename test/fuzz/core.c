/*
 * core.c
 *		Any octets through the generator core, for libFuzzer; see scripts/fuzz.
 *
 * The first 16 octets are a UUID, the rest are numbers and text.  What must hold
 * of every input is asserted.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "generator.h"
#include "text.h"

#define must(condition) \
	do { if (!(condition)) abort(); } while (0)

static const int versions[] = {1, 6, 7, 8};

/* The next eight octets of the input as a number; 0 where it ends. */
static uint64_t
number(const uint8_t **data, size_t *size)
{
	uint64_t	value = 0;
	size_t		taken = *size < sizeof(value) ? *size : sizeof(value);

	memcpy(&value, *data, taken);
	*data += taken;
	*size -= taken;
	return value;
}

static int
order(UuidPayload a, UuidPayload b)
{
	if (a.time != b.time)
		return a.time < b.time ? -1 : 1;
	return a.tail < b.tail ? -1 : a.tail > b.tail;
}

/* Octets to fields and back. */
static void
layout(const uint8_t *given)
{
	int			version = uuid_layout_version(given);
	uint8_t		octets[UUID_OCTETS];
	uint8_t		back[UUID_OCTETS];
	UuidVariant variant = uuid_layout_variant(given);

	must(version >= -1 && version <= 15);
	must((version == -1) == (variant != UUID_VARIANT_RFC9562));
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
	{
		UuidPayload payload = uuid_layout_unpack(given, versions[i]);

		must(payload.time <= UUID_TIME_MAX && payload.tail <= UUID_TAIL_MAX);
		uuid_layout_pack(octets, versions[i], payload);
		must(uuid_layout_version(octets) == versions[i]);
		must(order(uuid_layout_unpack(octets, versions[i]), payload) == 0);
		/* but for version and variant, nothing is lost */
		memcpy(back, given, UUID_OCTETS);
		back[6] = (uint8_t) (octets[6] & 0xf0) | (given[6] & 0x0f);
		back[8] = 0x80 | (given[8] & 0x3f);
		must(memcmp(octets, back, UUID_OCTETS) == 0);
		must(uuid_layout_clock_seq(payload) < 1 << 14);
		must(uuid_layout_node_id(payload) <= UUID_NODE_ID_MAX);
	}
	/* v1 to v6 and back */
	uuid_layout_convert(octets, 6, given, 1);
	uuid_layout_convert(back, 1, octets, 6);
	must(order(uuid_layout_unpack(back, 1), uuid_layout_unpack(given, 1)) == 0);
}

/* Time fields to microseconds and back, and spans of them. */
static void
clocks(uint64_t time, int64_t micros, int64_t last)
{
	time &= UUID_TIME_MAX;
	for (UuidClock clock = UUID_CLOCK_GREGORIAN; clock <= UUID_CLOCK_V8; clock++)
	{
		uint64_t	ticks;
		uint64_t	lowest;
		uint64_t	highest;
		int64_t		reading = uuid_clock_unix_micros(clock, time);

		/* the first tick of a reading is not after the one that was read */
		must(uuid_clock_micros_ticks(clock, reading, &ticks) && ticks <= time);
		must(uuid_clock_unix_micros(clock, ticks) == reading);
		if (uuid_clock_micros_ticks(clock, micros, &ticks))
		{
			must(ticks <= UUID_TIME_MAX);
			must(clock == UUID_CLOCK_V8 || uuid_clock_unix_micros(clock, ticks) <= micros);
		}
		must(uuid_clock_later(clock, time, 2) <= UUID_TIME_MAX + 1);
		must(uuid_clock_later(clock, time, 2) > time);
		if (clock == UUID_CLOCK_V8)
			continue;
		if (uuid_clock_span(clock, micros, last, &lowest, &highest))
		{
			must(lowest <= highest && highest <= UUID_TIME_MAX);
			must(uuid_clock_unix_micros(clock, lowest) >= micros);
			must(uuid_clock_unix_micros(clock, highest) <= last);
			must(lowest == 0 || uuid_clock_unix_micros(clock, lowest - 1) < micros);
			must(highest == UUID_TIME_MAX || uuid_clock_unix_micros(clock, highest + 1) > last);
			must((reading >= micros && reading <= last) == (time >= lowest && time <= highest));
		}
		else
			must(reading < micros || reading > last);
	}
	{
		uint64_t	shifted;
		uint64_t	back;

		must(uuid_clock_v7_unix_micros(time) / 1000 == uuid_clock_unix_micros(UUID_CLOCK_V7, time) / 1000);
		if (uuid_clock_v7_shift(time, micros, true, &shifted) && micros % 1000 == 0 &&
			uuid_clock_v7_shift(shifted, -micros, true, &back))
			must(back == time);
	}
}

/* A step is greater, whatever was before and whatever the clock says. */
static void
generator(uint64_t time, uint64_t tail, uint64_t now, uint64_t random1, uint64_t random2)
{
	const UuidPayload before = {time & UUID_TIME_MAX, tail & UUID_TAIL_MAX};
	const UuidRandom random = {random1, random2};

	now &= UUID_TIME_MAX;
	for (int method = UUID_METHOD_FRACTION; method <= UUID_METHOD_RANDOM; method++)
	{
		UuidPayload next = before;
		UuidNext	outcome = uuid_generator_next(&next, now, random, method);

		if (outcome == UUID_NEXT_EXHAUSTED)
		{
			must(order(next, before) == 0);
			must(before.time > UUID_TIME_MAX - (UUID_SUBTIME_MAX + 1));
			continue;
		}
		must(order(next, before) > 0);
		must(next.time <= UUID_TIME_MAX && next.tail <= UUID_TAIL_MAX);
		if (method != UUID_METHOD_COUNTER)
		{
			must((outcome == UUID_NEXT_LATER) == (now > before.time));
			must(next.time == (outcome == UUID_NEXT_LATER ? now : before.time + (outcome == UUID_NEXT_AHEAD)));
			must(outcome == UUID_NEXT_STEPPED || next.tail <= UUID_FRESH_TAIL_MAX);
		}
	}
	must(before.time == 0 || order(uuid_generator_from(before.time), before) < 0);
}

/* Text of any kind, read in any form. */
static void
text(const uint8_t *data, size_t size)
{
	static const char *const forms[] = {UUID_TEXT_HEX_AND_DASH, "xx:xx:xx:xx:xx:xx", "xxxx.xxxx.xxxx"};
	char	   *string = malloc(size + 1);

	must(string != NULL);
	memcpy(string, data, size);
	string[size] = '\0';
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
	{
		uint8_t    *octets = calloc(1, UUID_OCTETS);

		must(octets != NULL);
		if (uuid_text_read(forms[i], string, octets))
			must(strlen(string) == strlen(forms[i]));
		free(octets);
	}
	free(string);
}

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t	a;
	uint64_t	b;
	uint64_t	c;
	uint64_t	d;
	uint64_t	e;

	text(data, size);
	if (size < UUID_OCTETS)
		return 0;
	layout(data);
	data += UUID_OCTETS;
	size -= UUID_OCTETS;
	a = number(&data, &size);
	b = number(&data, &size);
	c = number(&data, &size);
	d = number(&data, &size);
	e = number(&data, &size);
	clocks(a, (int64_t) b, (int64_t) c);
	generator(a, d, b, c, e);
	return 0;
}
