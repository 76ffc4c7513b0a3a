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
 * is lost if one of them is lost.
 */
static void
compare_all(const CurrentState *current, List *states)
{
	ListCell   *cell;
	ListCell   *other;

	foreach(cell, states)
	{
		RememberedState *remembered = lfirst(cell);

		remembered->added = NIL;
		remembered->verdict = uuid9562_compare_states(&remembered->state, current,
													  &remembered->added);
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
}

/* Check whether there are remembered states, and all are the same as the current one. */
bool
uuid9562_are_current(const CurrentState *current, List *states)
{
	ListCell   *cell;

	compare_all(current, states);
	foreach(cell, states)
	{
		if (((RememberedState *) lfirst(cell))->verdict != STATE_SAME)
			return false;
	}
	return states != NIL;
}

/* Return the partitions that an identity lacks, of which the current state is not remembered. */
static List *
added_partitions(List *states)
{
	List	   *current = NIL;
	List	   *added = NIL;
	ListCell   *cell;

	foreach(cell, states)
	{
		if (((RememberedState *) lfirst(cell))->verdict == STATE_SAME)
			current = lappend(current, lfirst(cell));
	}
	foreach(cell, states)
	{
		const RememberedState *remembered = lfirst(cell);

		if (remembered->verdict == STATE_CHANGED &&
			!has_identity(current, remembered->state.identity))
			added = list_concat_unique_oid(added, remembered->added);
	}
	return added;
}

/*
 * Compare the remembered states with the current one.  Delete those that are lost, and renew those
 * that have changed.  Collect the keys of new partitions.  Return the valid states.
 *
 * The caller has taken the lock of entries, and then computed the current state.  Other sessions
 * can do the same at this time, and none waits for another one.  So each stores what it has seen,
 * even if another one deletes the same state: that one can roll back, or has seen an older state of
 * the table.  What is stored without need is compared with the table by the next session.
 */
List *
uuid9562_renew_states(Oid source, CurrentState *current)
{
	List	   *states = uuid9562_load_states(source);
	Relation	rel = uuid9562_open_own("state", RowExclusiveLock);
	List	   *valid = NIL;
	List	   *stored = NIL;
	List	   *added;
	ListCell   *cell;

	compare_all(current, states);
	added = added_partitions(states);
	current->has_added_rows = added != NIL && log_partitions(source, added, states);
	foreach(cell, states)
	{
		RememberedState *remembered = lfirst(cell);

		if (remembered->verdict == STATE_SAME)
			stored = lappend(stored, remembered);
		else
			(void) uuid9562_delete_own(rel, remembered->row, false);
		if (remembered->verdict != STATE_LOST)
			valid = lappend(valid, remembered);
	}
	foreach(cell, valid)
	{
		RememberedState *remembered = lfirst(cell);

		if (has_identity(stored, remembered->state.identity))
			continue;
		stored = lappend(stored, remembered);
		uuid9562_remember_state(source, current, remembered->state.identity, states);
	}
	table_close(rel, NoLock);
	return valid;
}
