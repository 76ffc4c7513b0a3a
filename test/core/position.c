/*
 * Tests of positions: their text, and where a reader continues after it has visited branches.
 */
#define UUID_BRANCH_MAX 16

#include "support.h"

#include "position.h"

/* --- text -------------------------------------------------------------------- */

TEST(checksum_is_that_of_fowler_noll_and_vo)
{
	/* vectors of FNV-1a with 32 bits: of a zero, and of "foobar" and a zero */
	assert_int_equal(uuid_sealed_checksum("", &(UuidSealed) {.count = 0}), 0x050c5d1f);
	assert_int_equal(uuid_sealed_checksum("fo", &(UuidSealed) {'o', 2, {(uint64_t) 'b' << 32 | 'a', (uint64_t) 'r' << 32}}),
					 (uint32_t) (0xbf9cf968 * UINT64_C(16777619)));
}

/* Each changed character is detected, and each longer or shorter text. */
TEST(reads_only_what_was_written)
{
	static const char longer[UUID_SEALED_LENGTH(6, UUID_SEALED_WORDS_MAX + 1)];
	UuidSealed	back;

	assert_false(uuid_position_read(&back, longer, sizeof(longer)));
	for (int round = 0; round < 250; round++)
	{
		UuidSealed	position = {.count = round % (UUID_SEALED_WORDS_MAX + 1)};
		char		text[UUID_SEALED_TEXT_MAX + 1];
		char		expected[UUID_SEALED_TEXT_MAX + 1];
		char	   *end = expected;
		size_t		length;

		position.database = (uint32_t) test_number(32);
		end += sprintf(end, "uuidv7:01%08" PRIx32, position.database);
		for (int i = 0; i < position.count; i++)
		{
			position.words[i] = test_number(64);
			end += sprintf(end, "%016" PRIx64, position.words[i]);
		}
		sprintf(end, "%08" PRIx32, uuid_sealed_checksum("uuidv7", &position));
		length = uuid_sealed_write(UUID_POSITION_NAME, &position, text);
		assert_string_equal(text, expected);
		assert_int_equal(length, strlen(expected));

		/* a position has entries of three words */
		assert_int_equal(uuid_position_read(&back, text, length),
						 position.count > 0 && position.count % 3 == 0);
		assert_int_equal(back.database, position.database);
		assert_int_equal(back.count, position.count);
		assert_memory_equal(back.words, position.words, position.count * sizeof(uint64_t));
		assert_false(uuid_sealed_read("target", text, length, &back));
		/* with the NUL */
		assert_false(uuid_position_read(&back, text, length + 1));
		for (size_t i = 0; i < length; i++)
		{
			char		original = text[i];
			char	   *shorter = memcpy(malloc(i + 1), text, i);

			/* a sanitizer finds a read far behind the text */
			assert_false(uuid_position_read(&back, shorter, i));
			free(shorter);
			text[i] ^= (char) (1 + test_bits() % 255);
			assert_false(uuid_position_read(&back, text, length));
			text[i] = original;
		}
	}
}

/* --- branches ---------------------------------------------------------------- */

#define BRANCHES	(UUID_BRANCH_MAX + 4)
#define VISITS		16
#define TIMES		100

/*
 * Add branches with the names 1, 2, 3 and so on.  The floor of each is the earliest later start,
 * also of a branch that is not added.  The list forgets all but the last 16.
 */
static void
add_branches(UuidBranches *all, uint64_t *floors)
{
	for (int count = 0; count < BRANCHES;)
	{
		const uint64_t start = test_bits() % TIMES;
		bool		lowers = false;

		for (int i = 0; i < count; i++)
		{
			if (start >= floors[i])
				continue;
			floors[i] = start;
			lowers |= i >= count - 16;
		}
		assert_int_equal(uuid_branches_lower(all, start), lowers);
		if (test_bits() % 2)
			continue;
		floors[count++] = UUID_NO_TIME;
		assert_int_equal(uuid_branches_add(all, count)->name, count);
	}
	for (int i = 0; i < BRANCHES; i++)
	{
		const UuidBranch *branch = uuid_branches_find(all, i + 1);

		assert_int_equal(branch != NULL, i >= BRANCHES - 16);
		assert_true(branch == NULL || (branch->floor == floors[i] && branch->targets == 0));
	}
}

/*
 * A position has the 8 branches that were visited last.  For each of them that is not forgotten,
 * the reader has read all rows that are before the floor and not after the last ID.
 */
TEST(continues_after_the_last_row_known_to_be_read)
{
	for (int round = 0; round < 20000; round++)
	{
		const int	visits = test_bits() % (VISITS + 1);
		UuidBranches all = {0};
		uint64_t	floors[BRANCHES];
		UuidSealed	position = {0};
		int			visited[VISITS];
		UuidPayload last[VISITS];
		bool		has_entry[BRANCHES] = {false};
		bool		found = false;
		UuidPayload read = {0, 0};
		uint8_t		id[UUID_BYTES];
		uint8_t		after[UUID_BYTES];

		add_branches(&all, floors);
		for (int i = 0; i < visits; i++)
		{
			visited[i] = test_bits() % BRANCHES;
			last[i].time = test_bits() % TIMES;
			last[i].tail = test_number(62);
			uuid_layout_pack(id, 7, last[i]);
			uuid_position_advance(&position, visited[i] + 1, id);
		}
		/* the last visits come first; earlier visits of the same branches do not count */
		for (int i = visits - 1, entries = 0; i >= 0 && entries < 8; i--)
		{
			const UuidPayload before_floor = uuid_payload_before(floors[visited[i]]);
			const bool	before_last = uuid_payload_less(before_floor, last[i]);

			if (has_entry[visited[i]])
				continue;
			has_entry[visited[i]] = true;
			entries++;
			if (visited[i] < BRANCHES - 16)
				continue;
			found = true;
			uuid_payload_advance(&read, before_last ? before_floor : last[i]);
		}
		assert_int_equal(uuid_position_after(&position, &all, after), found);
		uuid_layout_pack(id, 7, read);
		assert_true(!found || memcmp(after, id, UUID_BYTES) == 0);
	}
}
