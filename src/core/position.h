/*
 * position.h
 *		Positions of incremental readers, and the branches that they refer to.
 *
 * A branch is the set of values that a server generates between two starts of its generator.  None
 * of these values has an earlier time than the start of the branch.  The floor of a branch is the
 * earliest start of all later branches, so rows before it are from this or earlier branches.
 *
 * A position has an entry for each of the last branches that a reader has visited: the name of the
 * branch, and the last ID read on it.  The entry states that the reader has read all rows of this
 * and earlier branches up to the ID.  This always remains true.  So on a server that knows the
 * branch, the reader can continue after the ID.  But if a later branch began before the ID, for
 * example after a failover, the reader must continue at the floor.  If a branch was lost with its
 * server, the reader uses the entry of an older branch.
 *
 * src/ordered/position.c explains replay targets.
 */
#ifndef UUID9562_CORE_POSITION_H
#define UUID9562_CORE_POSITION_H

#include "generator.h"
#include "kind.h"

/* --- branches ---------------------------------------------------------------- */

#ifndef UUID_BRANCH_MAX
#define UUID_BRANCH_MAX		339 /* as many as fit in 8 kB; tests use fewer */
#endif

typedef struct UuidBranch
{
	uint64_t	name;			/* random bits, not 0 */
	uint64_t	targets;		/* number of replay targets returned */
	uint64_t	floor;			/* UUID_NO_TIME if there is no later branch */
} UuidBranch;

/* The last branches that got an entry in the high-water mark, oldest first; see reservation.c */
typedef struct UuidBranches
{
	uint64_t	count;
	UuidBranch	branches[UUID_BRANCH_MAX];
} UuidBranches;

/* Find a branch by its name.  Return NULL if it is not in the list. */
static inline UuidBranch *
uuid_branches_find(UuidBranches *all, uint64_t name)
{
	for (uint64_t i = all->count; i > 0; i--)
	{
		if (all->branches[i - 1].name == name)
			return &all->branches[i - 1];
	}
	return NULL;
}

/* Add a branch, and remove the oldest one if there is no room. */
static inline UuidBranch *
uuid_branches_add(UuidBranches *all, uint64_t name)
{
	UuidBranch	branch = {name, 0, UUID_NO_TIME};

	if (all->count == UUID_BRANCH_MAX)
		memmove(&all->branches[0], &all->branches[1], --all->count * sizeof(UuidBranch));
	all->branches[all->count] = branch;
	return &all->branches[all->count++];
}

/* Lower each floor above the start of a new branch to this start.  Return whether one changed. */
static inline bool
uuid_branches_lower(UuidBranches *all, uint64_t start)
{
	bool		lowered = false;

	for (uint64_t i = 0; i < all->count; i++)
	{
		if (start < all->branches[i].floor)
		{
			all->branches[i].floor = start;
			lowered = true;
		}
	}
	return lowered;
}

/* --- text -------------------------------------------------------------------- */

/*
 * The text of a position or replay target consists of a name, a colon, and hexadecimal digits.  The
 * digits are those of a format number, the OID of a database, a few 64-bit words, and a checksum of
 * all this.  The checksum detects an edited or truncated text, which could make a reader skip rows.
 * It does not prevent forgery.
 */
#define UUID_SEALED_FORMAT		"01"
#ifndef UUID_SEALED_WORDS_MAX
#define UUID_SEALED_WORDS_MAX	24
#endif
#define UUID_SEALED_NAME_MAX	32

/* Hexadecimal digits of each part */
#define UUID_SEALED_FORMAT_DIGITS	(sizeof(UUID_SEALED_FORMAT) - 1)
#define UUID_SEALED_DATABASE_DIGITS	8
#define UUID_SEALED_WORD_DIGITS		16
#define UUID_SEALED_SUM_DIGITS		8

/* Length of a text with a number of words.  The name is followed by a colon. */
#define UUID_SEALED_LENGTH(name_length, words) \
	((name_length) + 1 + UUID_SEALED_FORMAT_DIGITS + UUID_SEALED_DATABASE_DIGITS + \
	 UUID_SEALED_WORD_DIGITS * (words) + UUID_SEALED_SUM_DIGITS)
#define UUID_SEALED_TEXT_MAX	UUID_SEALED_LENGTH(UUID_SEALED_NAME_MAX, UUID_SEALED_WORDS_MAX)

/* The content of the text of a position or replay target */
typedef struct UuidSealed
{
	uint32_t	database;		/* OID */
	int			count;			/* number of words */
	uint64_t	words[UUID_SEALED_WORDS_MAX];
} UuidSealed;

/*
 * Return the FNV-1a checksum of a number after a part with another checksum.  A number has 32 bits
 * instead of a byte.  So the checksum differs if a single number does.
 */
static inline uint32_t
uuid_sealed_add(uint32_t sum, uint32_t number)
{
	return (sum ^ number) * 16777619;
}

static inline uint32_t
uuid_sealed_checksum(const char *name, const UuidSealed *sealed)
{
	uint32_t	sum = 2166136261;

	while (*name)
		sum = uuid_sealed_add(sum, (uint8_t) *name++);
	sum = uuid_sealed_add(sum, sealed->database);
	for (int i = 0; i < sealed->count; i++)
	{
		sum = uuid_sealed_add(sum, (uint32_t) (sealed->words[i] >> 32));
		sum = uuid_sealed_add(sum, (uint32_t) sealed->words[i]);
	}
	return sum;
}

/* Write a number as eight hexadecimal digits, all of them at once, and return their end. */
static inline char *
uuid_sealed_write_number(char *string, uint32_t number)
{
	uint64_t	digits = number;
	uint64_t	letters;

	/* first a digit in each byte */
	digits = (digits << 16 | digits) & 0x0000ffff0000ffff;
	digits = (digits << 8 | digits) & 0x00ff00ff00ff00ff;
	digits = (digits << 4 | digits) & 0x0f0f0f0f0f0f0f0f;
	/* from 10 on, a digit plus 6 has bit 4 */
	letters = (digits + 0x0606060606060606) >> 4 & 0x0101010101010101;
	uuid_layout_store64((uint8_t *) string, digits + 0x3030303030303030 +
						letters * ('a' - '0' - 10));
	return string + 8;
}

/* Read hexadecimal digits.  The result is arbitrary if there are other characters. */
static inline uint64_t
uuid_sealed_read_number(const char *string, int digits)
{
	uint64_t	number = 0;

	for (int i = 0; i < digits; i++)
	{
		int			digit = string[i] <= '9' ? string[i] - '0' : string[i] - 'a' + 10;

		number = number << 4 | ((uint64_t) digit & 15);
	}
	return number;
}

/* Write the text and a NUL to UUID_SEALED_TEXT_MAX + 1 bytes.  Return the length of the text. */
static inline size_t
uuid_sealed_write(const char *name, const UuidSealed *sealed, char *string)
{
	char	   *end = string + strlen(name);

	UUID_ASSERT(strlen(name) <= UUID_SEALED_NAME_MAX && sealed->count <= UUID_SEALED_WORDS_MAX);
	memcpy(string, name, end - string);
	*end++ = ':';
	memcpy(end, UUID_SEALED_FORMAT, UUID_SEALED_FORMAT_DIGITS);
	end = uuid_sealed_write_number(end + UUID_SEALED_FORMAT_DIGITS, sealed->database);
	for (int i = 0; i < sealed->count; i++)
	{
		end = uuid_sealed_write_number(end, (uint32_t) (sealed->words[i] >> 32));
		end = uuid_sealed_write_number(end, (uint32_t) sealed->words[i]);
	}
	end = uuid_sealed_write_number(end, uuid_sealed_checksum(name, sealed));
	*end = '\0';
	return end - string;
}

/*
 * Read a text that uuid_sealed_write() wrote with the given name.  Return false for any other text.
 *
 * First read the numbers at their places without checking them.  Then write the text again from
 * these numbers.  If any character or the length was wrong, the two texts differ.
 */
static inline bool
uuid_sealed_read(const char *name, const char *string, size_t length, UuidSealed *sealed)
{
	const size_t shortest = UUID_SEALED_LENGTH(strlen(name), 0);
	const char *digits;
	char		written[UUID_SEALED_TEXT_MAX + 1];

	if (length < shortest || length > UUID_SEALED_LENGTH(strlen(name), UUID_SEALED_WORDS_MAX))
		return false;
	sealed->count = (int) ((length - shortest) / UUID_SEALED_WORD_DIGITS);
	digits = string + strlen(name) + 1 + UUID_SEALED_FORMAT_DIGITS;
	sealed->database = (uint32_t) uuid_sealed_read_number(digits, UUID_SEALED_DATABASE_DIGITS);
	digits += UUID_SEALED_DATABASE_DIGITS;
	for (int i = 0; i < sealed->count; i++, digits += UUID_SEALED_WORD_DIGITS)
		sealed->words[i] = uuid_sealed_read_number(digits, UUID_SEALED_WORD_DIGITS);
	return uuid_sealed_write(name, sealed, written) == length &&
		memcmp(written, string, length) == 0;
}

/* --- positions --------------------------------------------------------------- */

/*
 * A position has an entry of three words for each branch: the name of the branch, and bytes 0-7
 * and 8-15 of the last ID on it.  The entry of the branch that was visited last comes first.
 */
#define UUID_POSITION_NAME		"uuidv7"
#define UUID_POSITION_WORDS		3
#define UUID_POSITION_ENTRIES	(UUID_SEALED_WORDS_MAX / UUID_POSITION_WORDS)

/*
 * Set the last ID read on a branch, and move the entry of the branch to the front.  If there is no
 * room for a new entry, replace the last entry, whose branch was visited longest ago.
 */
static inline void
uuid_position_advance(UuidSealed *position, uint64_t branch, const uint8_t *id)
{
	int			entry = 0;		/* word at which the entry of the branch
								 * begins */

	while (entry < position->count && position->words[entry] != branch)
		entry += UUID_POSITION_WORDS;
	if (entry == UUID_SEALED_WORDS_MAX) /* not found, and no room */
		entry -= UUID_POSITION_WORDS;
	else if (entry == position->count)	/* not found */
		position->count += UUID_POSITION_WORDS;
	/* move the entries before this entry, to make room at the front */
	memmove(&position->words[UUID_POSITION_WORDS], position->words, entry * sizeof(uint64_t));
	position->words[0] = branch;
	position->words[1] = uuid_layout_load64(id);
	position->words[2] = uuid_layout_load64(id + 8);
}

/*
 * Find the ID after which a reader continues.  Each entry whose branch is known gives one ID: its
 * own ID or the last ID before the floor of the branch, whichever is less.  The reader has read all
 * rows up to each of these IDs, so choose the greatest.  Return false if no branch is known.
 */
static inline bool
uuid_position_after(const UuidSealed *position, UuidBranches *known, uint8_t *after)
{
	bool		found = false;

	for (int i = 0; i < position->count; i += UUID_POSITION_WORDS)
	{
		const UuidBranch *branch = uuid_branches_find(known, position->words[i]);
		uint8_t		id[UUID_BYTES];
		uint8_t		before_floor[UUID_BYTES];

		if (branch == NULL)
			continue;
		uuid_layout_store64(id, position->words[i + 1]);
		uuid_layout_store64(id + 8, position->words[i + 2]);
		if (branch->floor != UUID_NO_TIME)
		{
			uuid_layout_pack(before_floor, UUID_V7->version, uuid_payload_before(branch->floor));
			if (memcmp(before_floor, id, UUID_BYTES) < 0)
				memcpy(id, before_floor, UUID_BYTES);
		}
		if (!found || memcmp(id, after, UUID_BYTES) > 0)
			memcpy(after, id, UUID_BYTES);
		found = true;
	}
	return found;
}

/* Read a position.  Return false for other texts. */
static inline bool
uuid_position_read(UuidSealed *position, const char *string, size_t length)
{
	return uuid_sealed_read(UUID_POSITION_NAME, string, length, position) &&
		position->count > 0 && position->count % UUID_POSITION_WORDS == 0;
}

#endif							/* UUID9562_CORE_POSITION_H */
