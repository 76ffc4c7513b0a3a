/*
 * Properties of the table of kinds.
 */
#include "proofs.h"

#include "kind.h"

void
kinds_have_the_versions_and_clocks_of_their_names(void)
{
	int			i = any_from(0, UUID_KIND_COUNT - 1);
	const UuidKind *kind = &uuid_kinds[i];

	assert(kind->number == i);
	assert(strncmp(kind->name, "uuidv", 5) == 0 && kind->name[5] == '0' + kind->version);
	assert((kind->clock == UUID_CLOCK_GREGORIAN) == (kind->version == 1 || kind->version == 6));
	assert((kind->clock == UUID_CLOCK_V8) == (kind->version == 8 && kind->name[6] == '\0'));
	assert(UUID_V1->version == 1 && UUID_V6->version == 6 && UUID_V7->version == 7);
	assert(UUID_V8->version == 8 && UUID_V8->clock == UUID_CLOCK_V8);
	assert(UUID_V8_NODE->version == 8 && UUID_V8_NODE->clock == UUID_CLOCK_V7);
	assert(strcmp(UUID_V8_NODE->name, "uuidv8_node") == 0);
}
