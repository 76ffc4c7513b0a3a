/*
 * page_position.h
 *		The text of the position of a page of changes, or of a row in it.
 *
 * Beside what reader.h needs, the text says in which history the page was read, so that a server
 * that lacks a part of it can notice this: the identity of the table's log, the branch of the
 * generator of its IDs, the timeline and WAL position of the server, and the files of a table
 * that is copied.  position.h describes the format.
 */
#ifndef UUID9562_CORE_PAGE_POSITION_H
#define UUID9562_CORE_PAGE_POSITION_H

#include "position.h"
#include "reader.h"

#define UUID_PAGE_POSITION_NAME		"changes"
#define UUID_PAGE_POSITION_WORDS	11
#define UUID_PAGE_POSITION_LENGTH \
	UUID_SEALED_LENGTH(sizeof(UUID_PAGE_POSITION_NAME) - 1, UUID_PAGE_POSITION_WORDS)

typedef struct UuidPagePosition
{
	uint32_t	database;		/* OID */
	uint32_t	timeline;
	uint64_t	lsn;
	uint64_t	files;			/* of a reset: hash of the table's files;
								 * otherwise 0 */
	UuidReaderId identity;		/* 16 bytes, in which only equality matters */
	UuidReaderPosition position;
} UuidPagePosition;

/* Write the text and a NUL to UUID_PAGE_POSITION_LENGTH + 1 bytes. */
static inline void
uuid_page_position_write(const UuidPagePosition *page, char *string)
{
	const UuidReaderPosition *position = &page->position;
	UuidSealed	sealed = {.database = page->database,.count = UUID_PAGE_POSITION_WORDS};
	uint64_t   *words = uuid_reader_id_to_words(sealed.words, page->identity);

	*words++ = position->number;
	words = uuid_reader_id_to_words(words, position->horizon);
	words = uuid_reader_id_to_words(words, position->end);
	*words++ = position->branch;
	*words++ = page->timeline;
	*words++ = page->lsn;
	*words++ = page->files;
	UUID_ASSERT(words == sealed.words + UUID_PAGE_POSITION_WORDS);
	uuid_sealed_write(UUID_PAGE_POSITION_NAME, &sealed, string);
}

/* Read a text that uuid_page_position_write() wrote.  Return false for any other text. */
static inline bool
uuid_page_position_read(UuidPagePosition *page, const char *string, size_t length)
{
	UuidSealed	sealed;

	if (!uuid_sealed_read(UUID_PAGE_POSITION_NAME, string, length, &sealed) ||
		sealed.count != UUID_PAGE_POSITION_WORDS ||
		sealed.words[8] > UINT32_MAX)
		return false;
	page->database = sealed.database;
	page->identity = uuid_reader_id_from_words(&sealed.words[0]);
	page->position.number = sealed.words[2];
	page->position.horizon = uuid_reader_id_from_words(&sealed.words[3]);
	page->position.end = uuid_reader_id_from_words(&sealed.words[5]);
	page->position.branch = sealed.words[7];
	page->timeline = (uint32_t) sealed.words[8];
	page->lsn = sealed.words[9];
	page->files = sealed.words[10];
	return true;
}

#endif							/* UUID9562_CORE_PAGE_POSITION_H */
