/*
 * source.c
 *		Tracked tables, as this session reads them.
 *
 * Before a page is read, the current state of the table is compared with the remembered ones,
 * unless the session has done so since the last invalidation of the table, its partitions or its
 * types.
 *
 * Readers know a table by an identity, which is drawn when a state is remembered.  A position is
 * valid as long as its identity has a remembered state.  If rows can have changed without an
 * entry, the state is deleted, and the readers of its identity must copy the table.  A table can
 * have several identities, and an identity several states, because readers that remember a state
 * at the same time do not wait for each other, and a reader whose transaction rolls back leaves
 * nothing behind.
 */
#include "changes/changes.h"

#include "access/table.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "ordered/ordered.h"
#include "runtime/runtime.h"

static HTAB *sources;			/* of Source */

/* --- cache ------------------------------------------------------------------------ */

static bool
depends_on(const Source *source, Oid relid)
{
	return source->is_computing || source->relid == relid ||
		(source->relid_count > 0 &&
		 bsearch(&relid, source->relids, source->relid_count, sizeof(Oid), oid_cmp) != NULL);
}

/* Relation cache callback: a table, or all of them, must be compared again. */
static void
forget_relation(Datum arg, Oid relid)
{
	HASH_SEQ_STATUS status;
	Source	   *source;

	uuid9562_trigger_invalidated(relid);
	hash_seq_init(&status, sources);
	while ((source = hash_seq_search(&status)) != NULL)
	{
		if (OidIsValid(relid) && !depends_on(source, relid))
			continue;
		source->valid = false;
	}
}

/* Syscache callback: a value of an enum can have been renamed. */
static void
forget_types(Datum arg, SysCacheIdentifier cacheid, uint32 hashvalue)
{
	uuid9562_forget_verified();
}

/* Let the session compare all tables again. */
void
uuid9562_forget_verified(void)
{
	HASH_SEQ_STATUS status;
	Source	   *source;

	hash_seq_init(&status, sources);
	while ((source = hash_seq_search(&status)) != NULL)
		source->valid = false;
}

/* Prepare the cache, when the library is loaded. */
void
uuid9562_sources_init(void)
{
	HASHCTL		control = {
		.keysize = sizeof(Oid),.entrysize = sizeof(Source),.hcxt = TopMemoryContext
	};

	sources = hash_create("uuid9562 tracked tables", 16, &control,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	CacheRegisterRelcacheCallback(forget_relation, (Datum) 0);
	CacheRegisterSyscacheCallback(ENUMOID, forget_types, (Datum) 0);
}

static Source *
cached_source(Oid relid)
{
	bool		found;
	Source	   *source = hash_search(sources, &relid, HASH_ENTER, &found);

	if (!found)
	{
		memset(source, 0, sizeof(Source));
		source->relid = relid;
	}
	return source;
}

/* Replace an array of a cached table. */
static void *
replace(void *old, const void *array, Size size)
{
	void	   *copy = MemoryContextAlloc(TopMemoryContext, Max(1, size));

	memcpy(copy, array, size);
	if (old != NULL)
		pfree(old);
	return copy;
}

bool
uuid9562_has_identity(const Source *source, UuidReaderId identity)
{
	for (int i = 0; i < source->identity_count; i++)
	{
		if (uuid_reader_id_equal(source->identities[i], identity))
			return true;
	}
	return false;
}

/* Return the table that an identity is of. */
Oid
uuid9562_identity_source(UuidReaderId identity)
{
	Oid			source;

	memcpy(&source, identity.bytes + UUID_BYTES - sizeof(Oid), sizeof(Oid));
	return source;
}

static UuidReaderId
draw_identity(Oid source)
{
	const uint64 random[] = {random_bits(), random_bits()};
	UuidReaderId identity;

	memcpy(identity.bytes, random, UUID_BYTES);
	memcpy(identity.bytes + UUID_BYTES - sizeof(Oid), &source, sizeof(Oid));
	return identity;
}

/* --- for changes_read() ----------------------------------------------------------- */

void
uuid9562_not_tracked(Oid relid)
{
	const char *name = uuid9562_table_name(relid);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("changes of table %s are not tracked", name),
			 get_rel_relispartition(relid) ? errhint("Read the changes of the partitioned table.") :
			 errhint("Call changes_track(%s) as the owner of the table.", quote_literal_cstr(name))));
}

static void
check_problem(Oid relid, const CurrentState *current)
{
	const char *name;
	char	   *detail;

	if (!OidIsValid(current->trigger.oid))
		uuid9562_not_tracked(relid);
	if (current->problem == NULL)
		return;
	name = uuid9562_table_name(relid);
	detail = psprintf("%s.", current->problem);
	detail[0] = pg_toupper((unsigned char) detail[0]);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("changes of table %s are not logged", name),
			 errdetail_internal("%s", detail),
			 errhint("Call changes_track(%s) as the owner of the table. All readers then copy the whole table.", quote_literal_cstr(name))));
}

/* Keep the identities of the remembered states. */
static void
cache_identities(Source *source, List *states)
{
	UuidReaderId *identities = palloc(Max(1, list_length(states)) * sizeof(UuidReaderId));
	ListCell   *cell;
	int			count = 0;

	foreach(cell, states)
		identities[count++] = ((RememberedState *) lfirst(cell))->state.identity;
	source->identities = replace(source->identities, identities, count * sizeof(UuidReaderId));
	source->identity_count = count;
}

/*
 * Keep what was computed.  uuid9562_verify_source() has set "valid", and an invalidation since then
 * has cleared it.
 */
static void
cache_state(Source *source, const CurrentState *current, List *states)
{
	List	   *relids = list_copy(current->relids);
	Oid		   *oids = palloc(Max(1, list_length(relids)) * sizeof(Oid));
	ListCell   *cell;
	int			count = 0;

	cache_identities(source, states);
	source->files = uuid9562_files_of_state(&current->state);
	source->hash = uuid9562_hash_state(&current->state);
	list_sort(relids, list_oid_cmp);
	foreach(cell, relids)
		oids[count++] = lfirst_oid(cell);
	source->relids = replace(source->relids, oids, count * sizeof(Oid));
	source->relid_count = count;
	source->key = current->key;
	source->has_added_rows = current->has_added_rows;
	source->reader_expiry = current->trigger.reader_expiry;
}

/*
 * Check whether the session has compared a state of each remembered identity since the last
 * invalidation.  A state that another session has stored meanwhile has been compared there.
 */
static bool
is_verified(const Source *source, List *states)
{
	ListCell   *cell;

	foreach(cell, states)
	{
		if (!uuid9562_has_identity(source, ((RememberedState *) lfirst(cell))->state.identity))
			return false;
	}
	return source->valid && states != NIL;
}

/* Compute the state of a table.  Raise an error if its changes cannot be read. */
static void
compute_current(Relation rel, uint64 branch, CurrentState *current)
{
	uuid9562_compute_state(rel, current, true);
	check_problem(RelationGetRelid(rel), current);
	current->state.branch = branch;
}

/*
 * Compare a table with the states that are remembered of it.  Whoever changes these waits for
 * changes_reset(), which would not see what is stored meanwhile.  While it waits, the table can
 * change, so its state is computed again.
 */
static void
compare_source(Source *source, Relation rel, uint64 branch, List *states)
{
	const Oid	relid = source->relid;
	CurrentState current;

	compute_current(rel, branch, &current);
	if (!uuid9562_are_current(&current, states))
	{
		uuid9562_lock_entries_shared(relid);
		compute_current(rel, branch, &current);
		states = uuid9562_renew_states(relid, &current);
	}
	if (states == NIL)
	{
		RememberedState *remembered = palloc0(sizeof(RememberedState));

		/*
		 * A READ ONLY transaction renews states, which lets nobody read
		 * anything else, but does not begin to remember a table.
		 */
		PreventCommandIfReadOnly("changes_read()");

		/*
		 * There is no horizon before the first ID.  Do not generate another
		 * one, because it holds the horizon until the transaction ends, in
		 * which the caller can copy the table.
		 */
		if (!uuid9562_has_generated())
			(void) uuid9562_next_ordered();
		remembered->state.identity = draw_identity(relid);
		uuid9562_remember_state(relid, &current, remembered->state.identity, NIL);
		states = list_make1(remembered);
	}
	CommandCounterIncrement();
	cache_state(source, &current, states);
}

/*
 * Compare a table, which the caller has locked, with what is remembered of it.  Raise an error if
 * its changes cannot be read.  The result has the identities that are valid.
 */
Source *
uuid9562_verify_source(Relation rel, uint64 branch)
{
	const Oid	relid = RelationGetRelid(rel);
	Source	   *source = cached_source(relid);
	List	   *states = uuid9562_load_states(relid);

	if (is_verified(source, states))
	{
		/* other sessions can have deleted some */
		cache_identities(source, states);
		source->has_added_rows = false;
		return source;
	}
	/* each invalidation counts until cache_state() */
	source->valid = source->is_computing = true;
	PG_TRY();
	{
		/* partitions are those of the active snapshot */
		PushActiveSnapshot(GetLatestSnapshot());
		compare_source(source, rel, branch, states);
		PopActiveSnapshot();
	}
	PG_CATCH();
	{
		source->valid = source->is_computing = false;
		PG_RE_THROW();
	}
	PG_END_TRY();
	source->is_computing = false;
	return source;
}

/* --- for other functions ---------------------------------------------------------- */

/*
 * Delete the remembered states of a table, so that all readers copy it.  With "wait", also those
 * that other sessions store, and let no session store one until this transaction ends: a reader
 * whose page comes before this transaction ends copies the table again.  Without it, states stay
 * that another session is deleting, even if it rolls back: the callers have given the table a new
 * trigger, or found it dropped, so these states are not valid.
 */
void
uuid9562_forget_states(Oid source, bool wait)
{
	Relation	rel;
	List	   *states;
	ListCell   *cell;

	if (wait)
		uuid9562_lock_entries_alone(source);
	rel = uuid9562_open_own("state", RowExclusiveLock);
	states = uuid9562_load_states(source);
	foreach(cell, states)
		(void) uuid9562_delete_own(rel, ((RememberedState *) lfirst(cell))->row, wait);
	table_close(rel, NoLock);
	CommandCounterIncrement();
	/* let all sessions compare the table again */
	if (get_rel_name(source) != NULL)
		CacheInvalidateRelcacheByRelid(source);
}
