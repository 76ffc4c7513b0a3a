/*
 * renew_table_states.c
 *		Compares the remembered states of a table with the current one, and replaces them.
 */
#include "changes/changes.h"

#include "access/table.h"

/* If a new partition has more rows, readers copy the table instead of reading an entry for each. */
#define LOGGED_ROWS_MAX		5000

/* Check whether the current state is remembered under an identity. */
static bool
is_current(List *states, UuidReaderId identity)
{
	ListCell   *cell;

	foreach(cell, states)
	{
		const RememberedState *remembered = lfirst(cell);

		if (remembered->verdict == STATE_SAME &&
			uuid_reader_id_equal(remembered->state.identity, identity))
			return true;
	}
	return false;
}

/*
 * Collect the keys of new partitions, and return whether there are rows.  If there are too many,
 * the identities that lack them are lost instead.
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
		{
			RememberedState *remembered = lfirst(cell);

			if (!is_current(states, remembered->state.identity))
				remembered->verdict = STATE_LOST;
		}
		return false;
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

/* Add the partitions that are gone since a state was stored.  Return whether there were others. */
static bool
add_gone(State *state, const State *old)
{
	const int	before = list_length(state->bounds);
	ListCell   *cell;

	foreach(cell, old->bounds)
	{
		PartBound  *part = lfirst(cell);

		if (part->is_gone && !has_bound(state->bounds, part->relid))
			state->bounds = lappend(state->bounds, part);
	}
	return list_length(state->bounds) > before;
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

	state.identity = identity;
	state.bounds = list_copy(state.bounds);
	foreach(cell, states)
	{
		const RememberedState *remembered = lfirst(cell);

		if (uuid_reader_id_equal(remembered->state.identity, identity))
			(void) add_gone(&state, &remembered->state);
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

/* Return the partitions that identities lack whose current state is not remembered. */
static List *
added_partitions(List *states)
{
	List	   *added = NIL;
	ListCell   *cell;

	foreach(cell, states)
	{
		const RememberedState *remembered = lfirst(cell);

		if (remembered->verdict == STATE_CHANGED && !is_current(states, remembered->state.identity))
			added = list_concat_unique_oid(added, remembered->added);
	}
	return added;
}

/* Check whether another state of the identity has partitions that are gone, and this one lacks. */
static bool
lacks_gone(const RememberedState *remembered, List *states)
{
	State		state = remembered->state;
	ListCell   *cell;

	state.bounds = list_copy(state.bounds);
	foreach(cell, states)
	{
		const RememberedState *other = lfirst(cell);

		if (uuid_reader_id_equal(other->state.identity, state.identity) &&
			add_gone(&state, &other->state))
			return true;
	}
	return false;
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
	List	   *added;
	ListCell   *cell;

	compare_all(current, states);
	added = added_partitions(states);
	current->has_added_rows = added != NIL && log_partitions(source, added, states);
	foreach(cell, states)
	{
		RememberedState *remembered = lfirst(cell);

		if (remembered->verdict == STATE_SAME && lacks_gone(remembered, states))
			remembered->verdict = STATE_CHANGED;
		if (remembered->verdict != STATE_SAME)
			(void) uuid9562_delete_own(rel, remembered->row, false);
		if (remembered->verdict != STATE_LOST)
			valid = lappend(valid, remembered);
	}
	foreach(cell, valid)
	{
		RememberedState *remembered = lfirst(cell);

		if (is_current(valid, remembered->state.identity))
			continue;
		uuid9562_remember_state(source, current, remembered->state.identity, states);
		remembered->verdict = STATE_SAME;
	}
	table_close(rel, NoLock);
	return valid;
}
