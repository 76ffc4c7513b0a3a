/*
 * Properties of branches, of the texts of positions and replay targets, and of positions.
 */
#include "proofs.h"

/* Few branches suffice, since the functions treat all of them alike. */
#define UUID_BRANCH_MAX		16	/* instead of 339 */
#include "position.h"

/* --- branches ---------------------------------------------------------------------- */

static UuidBranches all;
static UuidBranches before;
static uint64_t watched;		/* any index, which may be that of no branch */

extern UuidBranches nondet_branches(void);

static void
any_branches(void)
{
	all = nondet_branches();
	assume(all.count <= UUID_BRANCH_MAX);
	watched = nondet_uint64();
	assume(watched < UUID_BRANCH_MAX);
	before = all;
}

static bool
same_branch(const UuidBranch *a, const UuidBranch *b)
{
	return a->name == b->name && a->targets == b->targets && a->floor == b->floor;
}

/*
 * Names are different, since they are random.  Otherwise the last branch is found.
 * [--unwind 18 --z3]
 */
void
branch_is_found_by_its_name(void)
{
	uint64_t	name = nondet_uint64();
	UuidBranch *found;
	bool		last;
	bool		exists = false;

	any_branches();
	last = watched < all.count && all.branches[watched].name == name;
	for (uint64_t i = 0; i < UUID_BRANCH_MAX; i++)
	{
		exists = exists || (i < all.count && all.branches[i].name == name);
		last = last && (i <= watched || i >= all.count || all.branches[i].name != name);
	}
	found = uuid_branches_find(&all, name);
	assert((found == &all.branches[watched]) == last);
	assert((found != NULL) == exists);
}

/* [--unwind 18] */
void
added_branch_is_the_last_and_displaces_only_the_oldest(void)
{
	uint64_t	name = nondet_uint64();
	uint64_t	removed;
	UuidBranch *added;

	any_branches();
	removed = all.count == UUID_BRANCH_MAX ? 1 : 0;
	added = uuid_branches_add(&all, name);
	assert(all.count == before.count + 1 - removed);
	assert(added == &all.branches[all.count - 1]);
	assert(added->name == name && added->targets == 0 && added->floor == UUID_NO_TIME);
	if (watched >= removed && watched < before.count)
		assert(same_branch(&all.branches[watched - removed], &before.branches[watched]));
}

/* [--unwind 18] */
void
floors_are_lowered_to_the_start(void)
{
	uint64_t	start = nondet_uint64();
	bool		lowered;

	any_branches();
	lowered = uuid_branches_lower(&all, start);
	assert(all.count == before.count);
	if (watched < all.count && start < before.branches[watched].floor)
	{
		assert(lowered);
		before.branches[watched].floor = start;
	}
	assert(same_branch(&all.branches[watched], &before.branches[watched]));
}

/* [--unwind 18] */
void
floors_that_stay_are_not_reported(void)
{
	uint64_t	start = nondet_uint64();

	any_branches();
	for (uint64_t i = 0; i < UUID_BRANCH_MAX; i++)
		assume(i >= all.count || all.branches[i].floor <= start);
	assert(!uuid_branches_lower(&all, start));
}

/* --- texts -------------------------------------------------------------------------- */

/* [--unwind 18] */
void
numbers_are_read_back(void)
{
	char		string[16];
	uint64_t	number = nondet_uint64();
	int			digits = any_from(1, 16);
	int			i = any_from(0, 15);
	uint64_t	low = digits == 16 ? number : number & UUID_FIELD_MAX(4 * digits);

	assume(i < digits);
	assert(uuid_sealed_write_number(string, number, digits) == string + digits);
	assert(string[i] == "0123456789abcdef"[number >> 4 * (digits - 1 - i) & 15]);
	assert(uuid_sealed_read_number(string, digits) == low);
}

/* FNV-1a of 32 bits [--unwind 2 --wraps] */
void
checksum_of_one_character_has_the_constants_of_fowler_noll_and_vo(void)
{
	char		character = nondet_char();

	assert(uuid_sealed_checksum(&character, 0) == 0x811c9dc5);
	assert(uuid_sealed_checksum(&character, 1) == (0x811c9dc5 ^ (uint8_t) character) * 0x01000193);
}

/* This holds for all texts that fit into a position. [--unwind 429 --z3 --wraps] */
void
checksum_is_that_of_fowler_noll_and_vo(void)
{
	char		string[UUID_SEALED_TEXT_MAX - 8];
	size_t		length = nondet_size();
	uint32_t	sum = 0x811c9dc5;

	assume(length <= sizeof(string));
	any_chars(string, sizeof(string));
	for (size_t i = 0; i < length; i++)
	{
		sum ^= (uint8_t) string[i];
		sum *= 0x01000193;
	}
	assert(uuid_sealed_checksum(string, length) == sum);
}

static char text[UUID_SEALED_TEXT_MAX + 1];
static UuidSealed sealed;
static uint32_t sum;

static void
any_sealed(void)
{
	sealed.database = nondet_uint32();
	sealed.count = any_from(0, UUID_SEALED_WORDS_MAX);
	for (int i = 0; i < UUID_SEALED_WORDS_MAX; i++)
		sealed.words[i] = nondet_uint64();
	sum = nondet_uint32();
}

uint32_t
any_checksum(const char *string, size_t length)
{
	assert(string == text && length == 17 + 16 * (size_t) sealed.count);
	return sum;
}

/* [--unwind 26 --replace uuid_sealed_checksum:any_checksum] */
void
text_has_a_name_a_format_a_database_words_and_a_checksum(void)
{
	size_t		i = nondet_size();
	size_t		length;
	char		expected;

	any_sealed();
	length = uuid_sealed_write("target", &sealed, text);
	assert(length == 17 + 16 * (size_t) sealed.count + 8 && text[length] == '\0');
	assume(i < length);
	if (i < 9)
		expected = "target:01"[i];
	else if (i < 17)
		expected = "0123456789abcdef"[sealed.database >> 4 * (16 - i) & 15];
	else if (i < length - 8)
		expected = "0123456789abcdef"[sealed.words[(i - 17) / 16] >> 4 * (15 - (i - 17) % 16) & 15];
	else
		expected = "0123456789abcdef"[sum >> 4 * (length - 1 - i) & 15];
	assert(text[i] == expected);
}

static const char *given;
static char *written;
static UuidSealed back;
static int	numbers;			/* read up to now */
static bool same;

/* Check that the numbers are read in their order, and return any numbers. */
uint64_t
any_number(const char *string, int digits)
{
	uint64_t	number = numbers == 0 ? sealed.database : sealed.words[numbers - 1];

	assert(string == given + (numbers == 0 ? 9 : 17 + 16 * (numbers - 1)));
	assert(digits == (numbers == 0 ? 8 : 16));
	numbers++;
	return number;
}

size_t
length_of_text(const char *name, const UuidSealed *words, char *string)
{
	int			i = any_from(0, UUID_SEALED_WORDS_MAX - 1);

	assert(strcmp(name, "target") == 0 && words == &back);
	assert(back.database == sealed.database && back.count == numbers - 1);
	assert(i >= back.count || back.words[i] == sealed.words[i]);
	written = string;
	return 17 + 16 * (size_t) back.count + 8;
}

int
compare_texts(const void *a, const void *b, size_t length)
{
	assert(a == written && b == given && length == 17 + 16 * (size_t) back.count + 8);
	return same ? 0 : any_from(1, 2) * 2 - 3;
}

/*
 * A text is refused if no text has its length, or if it differs from the text that is written for
 * the numbers read.  Since each number is read back, each text that was written is read.
 * [--unwind 26 --replace uuid_sealed_read_number:any_number
 * --replace uuid_sealed_write:length_of_text --replace memcmp:compare_texts]
 */
void
text_is_read_if_it_is_written_for_its_numbers(void)
{
	size_t		length = nondet_size();
	bool		valid = length >= 25 && length <= 25 + 16 * 24 && (length - 25) % 16 == 0;

	any_sealed();
	given = malloc(length);
	assume(given != NULL);
	same = nondet_bool();
	assert(uuid_sealed_read("target", given, length, &back) == (valid && same));
}

bool
any_reading(const char *name, const char *string, size_t length, UuidSealed *words)
{
	assert(strcmp(name, "uuidv7") == 0 && string == given && length == 1 && words == &back);
	words->count = sealed.count;
	return same;
}

/* [--unwind 26 --replace uuid_sealed_read:any_reading] */
void
position_has_at_least_one_entry_and_only_whole_entries(void)
{
	char		string;

	any_sealed();
	given = &string;
	same = nondet_bool();
	assert(uuid_position_read(&back, &string, 1) ==
		   (same && sealed.count > 0 && sealed.count % 3 == 0));
}

/* --- positions ----------------------------------------------------------------------- */

/* Choose a position whose entries have different branches. */
static void
any_position(void)
{
	any_sealed();
	assume(sealed.count % UUID_POSITION_WORDS == 0);
	for (int i = 0; i < UUID_SEALED_WORDS_MAX; i += UUID_POSITION_WORDS)
	{
		for (int j = 0; j < i; j += UUID_POSITION_WORDS)
			assume(i >= sealed.count || sealed.words[i] != sealed.words[j]);
	}
}

/* Return the entry of a branch, or -1. */
static int
entry_of(const UuidSealed *position, uint64_t branch)
{
	for (int i = 0; i < UUID_SEALED_WORDS_MAX; i += UUID_POSITION_WORDS)
	{
		if (i < position->count && position->words[i] == branch)
			return i;
	}
	return -1;
}

/* CBMC decides moves of words faster than moves of bytes. */
void *
move_words(void *to, const void *from, size_t count)
{
	uint64_t   *target = to;
	const uint64_t *source = from;

	assert(to >= from && count % sizeof(uint64_t) == 0);
	assert(count <= sizeof(sealed.words));
	for (size_t i = UUID_SEALED_WORDS_MAX; i > 0; i--)
	{
		if (i <= count / sizeof(uint64_t))
			target[i - 1] = source[i - 1];
	}
	return to;
}

/*
 * Check that the new entry comes first, and that the others follow in their order.
 * [--unwind 26 --unwindset uuid_position_advance.0:9 --replace memmove:move_words]
 */
void
advancing_displaces_the_entry_of_the_branch_or_the_last_one(void)
{
	uint64_t	branch = nondet_uint64();
	uint8_t		id[UUID_BYTES];
	UuidSealed	position;
	int			i = any_from(0, UUID_SEALED_WORDS_MAX - 1);
	int			old;

	any_bytes(id, UUID_BYTES);
	any_position();
	position = sealed;
	old = entry_of(&sealed, branch);
	uuid_position_advance(&position, branch, id);
	assert(position.database == sealed.database);
	assert(position.words[0] == branch && position.words[1] == uuid_layout_load64(id));
	assert(position.words[2] == uuid_layout_load64(id + 8));
	if (old >= 0 || sealed.count == UUID_SEALED_WORDS_MAX)
		assert(position.count == sealed.count);
	else
	{
		assert(position.count == sealed.count + 3);
		old = sealed.count;
	}
	if (old < 0)
		old = UUID_SEALED_WORDS_MAX - 3;
	assume(i >= 3 && i < position.count);
	assert(position.words[i] == sealed.words[i < old + 3 ? i - 3 : i]);
}

/* Solvers compare two words faster than 16 bytes. */
int
compare_uuids(const void *a, const void *b, size_t length)
{
	uint64_t	high_a = uuid_layout_load64(a);
	uint64_t	high_b = uuid_layout_load64(b);
	uint64_t	low_a = uuid_layout_load64((const uint8_t *) a + 8);
	uint64_t	low_b = uuid_layout_load64((const uint8_t *) b + 8);

	assert(length == UUID_BYTES);
	if (high_a != high_b)
		return high_a < high_b ? -1 : 1;
	return low_a < low_b ? -1 : low_a > low_b;
}

static uint8_t after[UUID_BYTES];
static uint8_t greatest[UUID_BYTES];	/* ID allowed by an entry up to now */
static bool known;				/* is the branch of an entry known? */
static int	entries;			/* up to now */

/* Let any entry allow its own ID or, before a floor, at most the last v7 UUID. */
static void
allow(uint64_t floor)
{
	const UuidPayload last = {floor > 0 ? floor - 1 : 0, floor > 0 ? UUID_TAIL_MAX : 0};
	uint8_t		before_floor[UUID_BYTES];
	uint8_t		id[UUID_BYTES];

	uuid_layout_store64(id, sealed.words[3 * entries + 1]);
	uuid_layout_store64(id + 8, sealed.words[3 * entries + 2]);
	if (floor != UUID_NO_TIME)
	{
		uuid_layout_pack(before_floor, 7, last);
		if (compare_uuids(before_floor, id, UUID_BYTES) < 0)
			memcpy(id, before_floor, UUID_BYTES);
	}
	if (!known || compare_uuids(id, greatest, UUID_BYTES) > 0)
		memcpy(greatest, id, UUID_BYTES);
	known = true;
}

/*
 * Return any branch for the next entry.  Check the result of the previous entries, and go on with
 * any one, so that the solver decides each entry for itself.
 */
UuidBranch *
any_branch(UuidBranches *branches, uint64_t name)
{
	static UuidBranch branch;

	assert(branches == &all && entries < 8 && name == sealed.words[3 * entries]);
	assert(!known || same_bytes(after, greatest));
	any_bytes(greatest, UUID_BYTES);
	memcpy(after, greatest, UUID_BYTES);
	branch.floor = nondet_uint64();
	assume(branch.floor <= UUID_TIME_MAX + 1 || branch.floor == UUID_NO_TIME);
	if (nondet_bool())
	{
		entries++;
		return NULL;
	}
	allow(branch.floor);
	entries++;
	return &branch;
}

/*
 * [--unwind 26 --unwindset uuid_position_after.0:9 --object-bits 10
 * --replace uuid_branches_find:any_branch --replace memcmp:compare_uuids]
 */
void
reader_continues_at_the_greatest_id_that_an_entry_allows(void)
{
	any_sealed();
	assume(sealed.count % UUID_POSITION_WORDS == 0);
	assert(uuid_position_after(&sealed, &all, after) == known);
	assert(entries == sealed.count / UUID_POSITION_WORDS);
	assert(!known || same_bytes(after, greatest));
}
