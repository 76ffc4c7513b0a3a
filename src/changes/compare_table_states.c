/*
 * compare_table_states.c
 *		Compares a remembered state of a tracked table with the current one: can rows have changed
 *		without an entry?
 */
#include "changes/changes.h"

#include "catalog/pg_class.h"
#include "utils/lsyscache.h"

static bool
has_number(const Numbers *numbers, uint64 number)
{
	for (int i = 0; i < numbers->count; i++)
	{
		if (numbers->values[i] == number)
			return true;
	}
	return false;
}

static bool
has_all(const Numbers *all, const Numbers *some)
{
	for (int i = 0; i < some->count; i++)
	{
		if (!has_number(all, some->values[i]))
			return false;
	}
	return true;
}

static bool
same_numbers(const Numbers *a, const Numbers *b)
{
	return a->count == b->count && memcmp(a->values, b->values, a->count * sizeof(uint64)) == 0;
}

/* Return the numbers of a part, or NULL if there is none with this OID. */
static const uint64 *
find_part(const State *state, uint64 relid)
{
	for (int i = 0; i < state->parts.count; i += PART_NUMBERS)
	{
		if (state->parts.values[i + PART_RELID] == relid)
			return &state->parts.values[i];
	}
	return NULL;
}

/*
 * Check whether rows of a part can have changed.  Its file changes if it is truncated, which a
 * trigger logs, or rewritten.  A rewrite keeps the rows, unless columns were altered, or altered
 * and altered back, or the server was restarted: a crash empties a table that was unlogged for
 * some time.
 */
static bool
part_is_lost(const uint64 *old, const uint64 *new, bool is_altered)
{
	const bool	other_file = old[PART_FILE] != new[PART_FILE];
	const bool	truncate_is_logged = new[PART_TRUNCATE_TRIGGER] != 0 &&
		old[PART_TRUNCATE_TRIGGER] == new[PART_TRUNCATE_TRIGGER];

	return old[PART_ROW_TRIGGERS] != new[PART_ROW_TRIGGERS] ||
		old[PART_EXPRESSIONS] != new[PART_EXPRESSIONS] ||
		(other_file && (is_altered || !truncate_is_logged));
}

/* Can a new partition have rows that a dropped and ignored one had? */
static bool
was_gone(const State *state, Oid relid)
{
	ListCell   *cell;

	foreach(cell, state->bounds)
	{
		const PartBound *part = lfirst(cell);

		if (part->is_gone && uuid9562_may_overlap(part, relid))
			return true;
	}
	return false;
}

/* Note that a partition was dropped and is ignored. */
static void
note_gone(State *state, uint64 relid)
{
	ListCell   *cell;

	foreach(cell, state->bounds)
	{
		PartBound  *part = lfirst(cell);

		part->is_gone |= part->relid == relid;
	}
}

/*
 * Compare the parts, and return false if rows of them can have changed without an entry.  Note
 * partitions that were dropped and are ignored in old->bounds, and add new partitions with rows
 * of their own to *added.
 *
 * First note what is gone: a new partition can have its rows.
 */
static bool
compare_parts(State *old, const CurrentState *current, bool is_altered, List **added)
{
	const State *new = &current->state;

	for (int i = 0; i < old->parts.count; i += PART_NUMBERS)
	{
		const uint64 *part = &old->parts.values[i];
		const uint64 *now = find_part(new, part[PART_RELID]);

		if (now != NULL ? part_is_lost(part, now, is_altered) :
			!current->trigger.ignores_dropped_partitions)
			return false;
		if (now == NULL)
			note_gone(old, part[PART_RELID]);
	}
	for (int i = 0; i < new->parts.count; i += PART_NUMBERS)
	{
		const uint64 *part = &new->parts.values[i];

		if (find_part(old, part[PART_RELID]) != NULL)
			continue;
		if (was_gone(old, (Oid) part[PART_RELID]))
			return false;
		if (get_rel_relkind((Oid) part[PART_RELID]) == RELKIND_RELATION)
			*added = lappend_oid(*added, (Oid) part[PART_RELID]);
	}
	return true;
}

/*
 * Compare a remembered state with the current one.  Append the partitions that were attached since
 * then to *added, and note in the state those that are gone and ignored.
 *
 * A column that was dropped loses no value, but a new one can have a value in each row.  A label
 * that was added to an enum is in no row, but one that is missing was renamed in all rows.  Any
 * change of an attribute of a composite type can change values.
 */
StateVerdict
uuid9562_compare_states(State *old, const CurrentState *current, List **added)
{
	const State *new = &current->state;
	const bool	is_altered = old->version != new->version || old->branch != new->branch;

	if (old->basis != new->basis ||
		!has_all(&old->columns, &new->columns) ||
		!has_all(&old->attributes, &new->attributes) ||
		!has_all(&new->attributes, &old->attributes) ||
		!has_all(&new->labels, &old->labels) ||
		!compare_parts(old, current, is_altered, added))
		return STATE_LOST;
	return is_altered || !same_numbers(&old->columns, &new->columns) ||
		!same_numbers(&old->attributes, &new->attributes) ||
		!same_numbers(&old->labels, &new->labels) ||
		!same_numbers(&old->parts, &new->parts) ? STATE_CHANGED : STATE_SAME;
}
