/*
 * renew_states.c
 *		Compares the remembered states of a table with the current one, and replaces them.
 */
#include "changes/changes.h"

#include "access/table.h"

/* If a new partition has more rows, readers copy the table instead of reading an entry for each. */
#define LOGGED_ROWS_MAX		5000

/* Check whether a list of remembered states has an identity. */
static bool
has_identity(List *states, UuidReaderId identity)
{
	ListCell   *cell;

	foreach(cell, states)
	{
		if (uuid_reader_id_equal(((RememberedState *) lfirst(cell))->state.identity, identity))
			return true;
	}
	return false;
}

/*
 * Collect the keys of new partitions.  If they have too many rows, all states are lost instead,
 * also those that have not changed, because no reader gets these rows.  Return whether there are
 * rows.
 */
static bool
log_partitions(Oid source, List *added, List *states)
{
	ListCell   *cell;
	int64		rows = 0;

	foreach(cell, added)
		rows += uuid9562_count_rows(lfirst_oid(cell), LOGGED_ROWS_MAX + 1 - rows);
	if (rows > LOGGED_ROWS_MAX)
	{
		foreach(cell, states)
			((RememberedState *) lfirst(cell))->verdict = STATE_LOST;
		return true;
	}
	foreach(cell, added)
		uuid9562_collect_rows(source, lfirst_oid(cell));
	return rows > 0;
}

static bool
has_bound(List *bounds, Oid relid)
{
	ListCell   *cell;

	foreach(cell, bounds)
	{
		if (((PartBound *) lfirst(cell))->relid == relid)
			return true;
	}
	return false;
}

/*
 * Remember the current state under the identity of another one, with the partitions that are gone
 * since one of the states with this identity was stored.
 */
void
uuid9562_remember_state(Oid source, CurrentState *current, UuidReaderId identity, List *states)
{
	State		state = current->state;
	ListCell   *cell;
	ListCell   *other;

	state.identity = identity;
	state.bounds = list_copy(state.bounds);
	foreach(cell, states)
	{
		const State *old = &((RememberedState *) lfirst(cell))->state;

		if (!uuid_reader_id_equal(old->identity, identity))
			continue;
		foreach(other, old->bounds)
		{
			PartBound  *part = lfirst(other);

			if (part->is_gone && !has_bound(state.bounds, part->relid))
				state.bounds = lappend(state.bounds, part);
		}
	}
	uuid9562_store_state(source, &state);
}

/*
 * Compare the remembered states with the current one.  Several can have the same identity: then it
 * is lost if one of them is lost.  Return whether all are the same as the current one.
 */
static bool
compare_all(const CurrentState *current, List *states, List **added)
{
	bool		same = states != NIL;
	ListCell   *cell;
	ListCell   *other;

	foreach(cell, states)
	{
		RememberedState *remembered = lfirst(cell);
		List	   *partitions = NIL;

		remembered->verdict = uuid9562_compare_states(&remembered->state, current, &partitions);
		same &= remembered->verdict == STATE_SAME;
		if (remembered->verdict != STATE_LOST)
			*added = list_concat_unique_oid(*added, partitions);
	}
	foreach(cell, states)
	{
		const RememberedState *lost = lfirst(cell);

		if (lost->verdict != STATE_LOST)
			continue;
		foreach(other, states)
		{
			RememberedState *remembered = lfirst(other);

			if (uuid_reader_id_equal(remembered->state.identity, lost->state.identity))
				remembered->verdict = STATE_LOST;
		}
	}
	return same;
}

/*
 * Delete a state that is not the current one.  Return whether its identity must be stored with the
 * current state: if it has been deleted, and also if another session is about to delete it, because
 * that session can still roll back.  If another session has deleted it, it has also stored it.
 */
static bool
replace_state(Relation rel, const RememberedState *remembered)
{
	TM_Result	result = uuid9562_delete_own(rel, remembered->row, false);

	return remembered->verdict == STATE_CHANGED &&
		(result == TM_Ok || result == TM_BeingModified);
}

/*
 * Compare the remembered states with the current one, which the caller has computed.  Delete those
 * that are lost, and renew those that have changed.  Collect the keys of new partitions.  Return
 * the valid states.
 *
 * Several sessions can do so at a time, and none waits for another one.  But whoever changes states
 * waits for changes_reset(), which would not see what this session stores.
 */
List *
uuid9562_renew_states(Oid source, CurrentState *current, List *states)
{
	Relation	rel;
	List	   *valid = NIL;
	List	   *stored = NIL;
	List	   *added = NIL;
	ListCell   *cell;

	if (compare_all(current, states, &added))
		return states;
	uuid9562_lock_entries(source);
	states = uuid9562_load_states(source);
	added = NIL;
	(void) compare_all(current, states, &added);
	current->has_added_rows = added != NIL && log_partitions(source, added, states);
	rel = uuid9562_open_own("state", RowExclusiveLock);
	foreach(cell, states)
	{
		RememberedState *remembered = lfirst(cell);
		const UuidReaderId identity = remembered->state.identity;

		if (remembered->verdict != STATE_LOST)
			valid = lappend(valid, remembered);
		if (remembered->verdict == STATE_SAME || !replace_state(rel, remembered) ||
			has_identity(stored, identity))
			continue;
		stored = lappend(stored, remembered);
		uuid9562_remember_state(source, current, identity, states);
	}
	table_close(rel, NoLock);
	return valid;
}
