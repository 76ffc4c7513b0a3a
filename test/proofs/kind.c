/*
 * Properties of the table of kinds.
 */
#include "proofs.h"

#include "kind.h"

void
kinds_have_their_versions_and_clocks(void)
{
	int			i = any_from(0, UUID_KIND_COUNT - 1);
	const UuidKind *kind = &uuid_kinds[i];

	assert(kind->number == i);
	assert((kind->clock == UUID_CLOCK_GREGORIAN) == (kind->version == 1 || kind->version == 6));
	assert((kind->clock == UUID_CLOCK_V8) == (i == UUID_KIND_V8));
	assert(UUID_V1->version == 1 && UUID_V6->version == 6 && UUID_V7->version == 7);
	assert(UUID_V8->version == 8 && UUID_V8->clock == UUID_CLOCK_V8);
	assert(UUID_V8_NODE->version == 8 && UUID_V8_NODE->clock == UUID_CLOCK_V7);
}
