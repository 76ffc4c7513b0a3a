/*
 * Properties of branches, of the texts of positions and replay targets, and of positions.
 */
#include "proofs.h"

/* Few branches and entries suffice, since the functions treat all of them alike. */
#define UUID_BRANCH_MAX			2	/* instead of 339 */
#define UUID_SEALED_WORDS_MAX	6	/* two entries instead of eight */
#include "position.h"

/* --- branches ---------------------------------------------------------------------- */

static UuidBranches all;

/* Choose branches with different names. */
static void
any_branches(void)
{
	all.count = nondet_uint64();
	assume(all.count <= UUID_BRANCH_MAX);
	for (uint64_t i = 0; i < UUID_BRANCH_MAX; i++)
	{
		all.branches[i].name = nondet_uint64();
		all.branches[i].targets = nondet_uint64();
		all.branches[i].floor = nondet_uint64();
		for (uint64_t j = 0; j < i; j++)
			assume(all.branches[i].name != all.branches[j].name);
	}
}

/* [--unwind 6] */
void
branch_is_found_by_its_name(void)
{
	uint64_t	name = nondet_uint64();
	uint64_t	i = nondet_uint64();
	UuidBranch *found;

	any_branches();
	found = uuid_branches_find(&all, name);
	assume(i < UUID_BRANCH_MAX);
	assert((found == &all.branches[i]) == (i < all.count && all.branches[i].name == name));
	assert(found == NULL || found->name == name);
}

/* [--unwind 6] */
void
added_branch_is_the_last_and_displaces_only_the_oldest(void)
{
	uint64_t	name = nondet_uint64();
	uint64_t	i = nondet_uint64();
	UuidBranches before;
	UuidBranch *added;
	uint64_t	removed;

	any_branches();
	before = all;
	removed = before.count == UUID_BRANCH_MAX ? 1 : 0;
	added = uuid_branches_add(&all, name);
	assert(all.count == before.count + 1 - removed && all.count <= UUID_BRANCH_MAX);
	assert(added == &all.branches[all.count - 1]);
	assert(added->name == name && added->targets == 0 && added->floor == UUID_NO_TIME);
	assume(i < all.count - 1);
	assert(all.branches[i].name == before.branches[i + removed].name);
	assert(all.branches[i].targets == before.branches[i + removed].targets);
	assert(all.branches[i].floor == before.branches[i + removed].floor);
}

/* [--unwind 6] */
void
floors_are_lowered_to_the_start(void)
{
	uint64_t	start = nondet_uint64();
	uint64_t	i = nondet_uint64();
	UuidBranches before;
	bool		lowered;

	any_branches();
	before = all;
	lowered = uuid_branches_lower(&all, start);
	assume(i < all.count);
	assert(all.branches[i].floor == (start < before.branches[i].floor ? start : before.branches[i].floor));
	assert(all.branches[i].name == before.branches[i].name && all.branches[i].targets == before.branches[i].targets);
	assert(lowered || all.branches[i].floor == before.branches[i].floor);
	assert(all.count == before.count);
}

static UuidSealed position;

/* --- texts -------------------------------------------------------------------------- */

/*
 * uuid_sealed_read() accepts a text only if writing the numbers read gives the same text.  So the
 * property numbers_are_read_back() suffices for the content, and this one checks the bounds.
 * [--unwind 62]
 */
void
other_texts_are_read_within_their_bounds(void)
{
	size_t		length = nondet_size();
	char	   *string;
	UuidSealed	sealed;

	assume(length <= 45);
	string = malloc(length);
	assume(string != NULL);
	if (uuid_sealed_read("target", string, length, &sealed))
		assert(sealed.count >= 0 && length == 7 + 2 + 8 + 16 * (size_t) sealed.count + 8);
	free(string);
}

/* A text of at most 30 bytes has no room for a word, and a position has three. [--unwind 40] */
void
text_without_entries_is_no_position(void)
{
	size_t		length = nondet_size();
	char	   *string;

	assume(length <= 30);
	string = malloc(length);
	assume(string != NULL);
	assert(!uuid_position_read(&position, string, length));
	free(string);
}

/* [--unwind 18] */
void
numbers_are_read_back(void)
{
	char		string[16];
	uint64_t	number = nondet_uint64();
	int			digits = any_from(1, 16);

	assert(uuid_sealed_write_number(string, number, digits) == string + digits);
	assert(uuid_sealed_read_number(string, digits) == (digits == 16 ? number : number & UUID_FIELD_MAX(4 * digits)));
}

/* --- positions ----------------------------------------------------------------------- */

/* Choose a position whose entries have different branches. */
static void
any_position(void)
{
	position.count = UUID_POSITION_WORDS * any_from(0, UUID_POSITION_ENTRIES);
	for (int i = 0; i < UUID_SEALED_WORDS_MAX; i++)
		position.words[i] = nondet_uint64();
	for (int i = 0; i < UUID_SEALED_WORDS_MAX; i += UUID_POSITION_WORDS)
	{
		for (int j = 0; j < i; j += UUID_POSITION_WORDS)
			assume(position.words[i] != position.words[j]);
	}
}

/* Return the entry of a branch, or -1. */
static int
entry_of(const UuidSealed *any, uint64_t branch)
{
	for (int i = 0; i < UUID_SEALED_WORDS_MAX; i += UUID_POSITION_WORDS)
	{
		if (i < any->count && any->words[i] == branch)
			return i;
	}
	return -1;
}

/* [--unwind 26] */
void
advancing_keeps_the_entries_of_other_branches(void)
{
	uint64_t	branch = nondet_uint64();
	uint64_t	other = nondet_uint64();
	uint8_t		id[UUID_BYTES];
	UuidSealed	before;
	int			was;
	int			is;

	any_bytes(id, UUID_BYTES);
	any_position();
	before = position;
	uuid_position_advance(&position, branch, id);
	assert(position.count <= UUID_SEALED_WORDS_MAX && position.count % UUID_POSITION_WORDS == 0);
	assert(position.words[0] == branch);
	assert(position.words[1] == uuid_layout_load64(id) && position.words[2] == uuid_layout_load64(id + 8));
	assume(other != branch);
	was = entry_of(&before, other);
	is = entry_of(&position, other);
	if (was < 0)
		assert(is < 0);
	else if (was == UUID_SEALED_WORDS_MAX - UUID_POSITION_WORDS && entry_of(&before, branch) < 0)
		assert(is < 0);			/* the branch visited longest ago is forgotten */
	else
		assert(is >= 0 && position.words[is + 1] == before.words[was + 1] && position.words[is + 2] == before.words[was + 2]);
}

/* Set id to the ID after which a reader would continue if the position had only this entry. */
static void
limited(uint8_t *id, int entry, const UuidBranch *branch)
{
	uint8_t		floor[UUID_BYTES];

	uuid_layout_store64(id, position.words[entry + 1]);
	uuid_layout_store64(id + 8, position.words[entry + 2]);
	uuid_layout_pack(floor, 7, uuid_payload_before(branch->floor));
	if (branch->floor != UUID_NO_TIME && memcmp(floor, id, UUID_BYTES) < 0)
		memcpy(id, floor, UUID_BYTES);
}

/*
 * Two entries and two branches suffice, since the result for an entry depends only on its own
 * branch.  [--unwind 8 --unwindset memcmp.0:17 --object-bits 12]
 */
void
reader_continues_at_the_greatest_limited_entry(void)
{
	uint8_t		after[UUID_BYTES];
	uint8_t		id[UUID_BYTES];
	bool		known = false;
	bool		reached = false;
	bool		found;

	any_position();
	any_branches();
	for (int i = 0; i < UUID_BRANCH_MAX; i++)
		assume(all.branches[i].floor <= UUID_TIME_MAX || all.branches[i].floor == UUID_NO_TIME);
	found = uuid_position_after(&position, &all, after);
	for (int i = 0; i < position.count; i += UUID_POSITION_WORDS)
	{
		const UuidBranch *branch = uuid_branches_find(&all, position.words[i]);

		if (branch == NULL)
			continue;
		known = true;
		limited(id, i, branch);
		assert(memcmp(after, id, UUID_BYTES) >= 0);
		reached = reached || same_bytes(after, id);
	}
	assert(found == known);
	assert(found == reached);
}
