/*
 * Tests of the text of the position of a page.  position.c tests that damage of such texts is found.
 */
#include "support.h"

#include "page_position.h"

/* Programs store this text, so that later versions must be able to read it. */
TEST(text_stays_the_same)
{
	static const char expected[] = "changes:01"
		"f000000a"				/* database */
		"000102030405060708090a0b0c0d0e0f"	/* identity */
		"a123456789abcdef"		/* number */
		"01900000000370008000000000000003"	/* horizon */
		"01900000000270008000000000000002"	/* end */
		"fedcba9876543210"		/* branch */
		"00000000f0000007"		/* timeline */
		"8000004c016b3748"		/* LSN */
		"91000000000000ab"		/* files */
		"b018dfad";				/* checksum */
	UuidPagePosition page = {
		.database = 0xf000000a,
		.timeline = 0xf0000007,
		.lsn = UINT64_C(0x8000004c016b3748),
		.files = UINT64_C(0x91000000000000ab),
		.position = {.number = UINT64_C(0xa123456789abcdef), .branch = UINT64_C(0xfedcba9876543210)},
	};
	UuidPagePosition back;
	char		text[UUID_PAGE_POSITION_LENGTH + 1];

	bytes_from_text("000102030405060708090a0b0c0d0e0f", page.identity.bytes, UUID_BYTES);
	bytes_from_text("01900000000370008000000000000003", page.position.horizon.bytes, UUID_BYTES);
	bytes_from_text("01900000000270008000000000000002", page.position.end.bytes, UUID_BYTES);
	uuid_page_position_write(&page, text);
	assert_string_equal(text, expected);

	/* the fields of the text differ, so a wrong one is written at another place */
	memset(&back, 0xff, sizeof(back));
	assert_true(uuid_page_position_read(&back, text, strlen(text)));
	memset(text, 0, sizeof(text));
	uuid_page_position_write(&back, text);
	assert_string_equal(text, expected);
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
