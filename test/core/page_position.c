/*
 * Tests of the text of the position of a page.  position.c tests that damage of such texts is found.
 */
#include "support.h"

#include "page_position.h"

static UuidReaderId
random_id(void)
{
	UuidReaderId id;

	uuid_layout_store64(id.bytes, test_number(64));
	uuid_layout_store64(id.bytes + 8, test_number(64));
	return id;
}

static UuidPagePosition
random_position(void)
{
	UuidPagePosition page = {
		.database = (uint32_t) test_number(32),
		.timeline = (uint32_t) test_number(32),
		.lsn = test_number(64),
		.files = test_number(64),
		.branch = test_number(64),
		.identity = random_id(),
		.position = {test_number(64), random_id(), random_id()},
	};

	return page;
}

static void
assert_id_equal(UuidReaderId id, UuidReaderId expected)
{
	assert_memory_equal(id.bytes, expected.bytes, UUID_BYTES);
}

/* Programs store this text, so that later versions must be able to read it. */
TEST(text_stays_the_same)
{
	static const char expected[] = "changes:01"
		"0000000a"				/* database */
		"000102030405060708090a0b0c0d0e0f"	/* identity */
		"0123456789abcdef"		/* number */
		"01900000000370008000000000000003"	/* horizon */
		"01900000000270008000000000000002"	/* end */
		"fedcba9876543210"		/* branch */
		"0000000000000007"		/* timeline */
		"00000000016b3748"		/* LSN */
		"00000000000000ab"		/* files */
		"ca568631";				/* checksum */
	UuidPagePosition page = {
		.database = 10,
		.timeline = 7,
		.lsn = 0x16b3748,
		.files = 0xab,
		.branch = UINT64_C(0xfedcba9876543210),
		.position = {.number = UINT64_C(0x0123456789abcdef)},
	};
	char		text[UUID_PAGE_POSITION_LENGTH + 1];

	bytes_from_text("000102030405060708090a0b0c0d0e0f", page.identity.bytes, UUID_BYTES);
	bytes_from_text("01900000000370008000000000000003", page.position.horizon.bytes, UUID_BYTES);
	bytes_from_text("01900000000270008000000000000002", page.position.end.bytes, UUID_BYTES);
	uuid_page_position_write(&page, text);
	assert_string_equal(text, expected);
}

TEST(reads_what_was_written)
{
	for (int round = 0; round < 2000; round++)
	{
		UuidPagePosition page = random_position();
		UuidPagePosition back;
		char		text[UUID_PAGE_POSITION_LENGTH + 1];

		memset(&back, test_bits() % 256, sizeof(back));
		uuid_page_position_write(&page, text);
		assert_true(uuid_page_position_read(&back, text, strlen(text)));
		assert_int_equal(back.database, page.database);
		assert_int_equal(back.timeline, page.timeline);
		assert_true(back.lsn == page.lsn);
		assert_true(back.files == page.files);
		assert_true(back.branch == page.branch);
		assert_id_equal(back.identity, page.identity);
		assert_true(back.position.number == page.position.number);
		assert_id_equal(back.position.horizon, page.position.horizon);
		assert_id_equal(back.position.end, page.position.end);
	}
}

/* Positions of other kinds, with other words, or with a timeline that is too great, are refused. */
TEST(other_positions_are_refused)
{
	UuidPagePosition page;
	char		text[UUID_SEALED_TEXT_MAX + 1];

	for (int count = 0; count <= UUID_SEALED_WORDS_MAX; count++)
	{
		UuidSealed	sealed = {.count = count};
		size_t		length = uuid_sealed_write(UUID_PAGE_POSITION_NAME, &sealed, text);

		assert_int_equal(uuid_page_position_read(&page, text, length), count == UUID_PAGE_POSITION_WORDS);
	}
	for (int bit = 0; bit < 64; bit++)
	{
		UuidSealed	sealed = {.count = UUID_PAGE_POSITION_WORDS};
		size_t		length;

		sealed.words[8] = UINT64_C(1) << bit;
		length = uuid_sealed_write(UUID_PAGE_POSITION_NAME, &sealed, text);
		assert_int_equal(uuid_page_position_read(&page, text, length), bit < 32);
		length = uuid_sealed_write(UUID_POSITION_NAME, &sealed, text);
		assert_false(uuid_page_position_read(&page, text, length));
	}
}
