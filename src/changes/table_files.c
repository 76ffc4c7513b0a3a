/*
 * table_files.c
 *		The files of a tracked table, in which the rows of a copy were: a copy does not count if the
 *		table was rewritten or truncated before it is confirmed.
 */
#include "changes/changes.h"

#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "common/hashfn.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

static uint64
add_file(uint64 hash, uint64 relid, uint64 file)
{
	return hash_combine64(hash_combine64(hash, relid), file);
}

/*
 * Hash the files of a table and its partitions, the table first.  A file changes when it is
 * rewritten or truncated.
 */
uint64
uuid9562_hash_files(Oid source)
{
	List	   *relids = NIL;
	ListCell   *cell;
	uint64		hash = 0;

	if (get_rel_relkind(source) == RELKIND_PARTITIONED_TABLE)
		relids = list_delete_oid(find_all_inheritors(source, NoLock, NULL), source);
	list_sort(relids, list_oid_cmp);
	relids = lcons_oid(source, relids);
	foreach(cell, relids)
	{
		HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));

		if (!HeapTupleIsValid(row))
			continue;
		hash = add_file(hash, lfirst_oid(cell), ((Form_pg_class) GETSTRUCT(row))->relfilenode);
		ReleaseSysCache(row);
	}
	return hash | 1;			/* not 0 */
}

/* Return the same hash for a state, whose parts are in this order. */
uint64
uuid9562_files_of_state(const State *state)
{
	uint64		hash = 0;

	for (int i = 0; i < state->parts.count; i += PART_NUMBERS)
		hash = add_file(hash, state->parts.values[i + PART_RELID],
						state->parts.values[i + PART_FILE]);
	return hash | 1;
}
