/*
 * table_state_rows.c
 *		The remembered states of tracked tables: rows of the table "state".
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"

/* Read an array.  The numbers are those in the array, so none can be added. */
static Numbers
read_numbers(Datum array)
{
	ArrayType  *value = DatumGetArrayTypeP(array);
	Numbers		numbers = {0};

	numbers.count = numbers.size = ArrayGetNItems(ARR_NDIM(value), ARR_DIMS(value));
	numbers.values = array_elements(value);
	return numbers;
}

static Datum
numbers_datum(const Numbers *numbers)
{
	Datum	   *elements = palloc(Max(1, numbers->count) * sizeof(Datum));

	for (int i = 0; i < numbers->count; i++)
		elements[i] = Int64GetDatum((int64) numbers->values[i]);
	return PointerGetDatum(construct_array_builtin(elements, numbers->count, INT8OID));
}

/* Read bounds of partitions, as a list of PartBound. */
static List *
read_bounds(Datum array, Datum bounds)
{
	const uint64 *numbers = read_numbers(array).values;
	List	   *parts = NIL;
	Datum	   *texts;
	int			count;

	deconstruct_array_builtin(DatumGetArrayTypeP(bounds), TEXTOID, &texts, NULL, &count);
	for (int i = 0; i < count; i++)
	{
		PartBound  *part = palloc(sizeof(PartBound));

		part->relid = (Oid) *numbers++;
		part->parent = (Oid) *numbers++;
		part->is_gone = *numbers++ != 0;
		part->bound = TextDatumGetCString(texts[i]);
		parts = lappend(parts, part);
	}
	return parts;
}

/* Load the remembered states of a table, each in a RememberedState. */
List *
uuid9562_load_states(Oid source)
{
	ScanKeyData key;
	OwnScan		scan;
	HeapTuple	row;
	List	   *states = NIL;

	ScanKeyInit(&key, STATE_SOURCE, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(source));
	scan = uuid9562_scan_own("state", AccessShareLock, 1, &key);
	while (HeapTupleIsValid(row = uuid9562_next_own(&scan, ForwardScanDirection)))
	{
		RememberedState *remembered = palloc0(sizeof(RememberedState));
		State	   *state = &remembered->state;
		Datum		values[STATE_COLUMNS];
		bool		nulls[STATE_COLUMNS];

		remembered->row = heap_copytuple(row);
		heap_deform_tuple(remembered->row, RelationGetDescr(scan.rel), values, nulls);
		memcpy(state->identity.bytes, DatumGetPointer(values[STATE_IDENTITY - 1]), UUID_BYTES);
		state->basis = (uint64) DatumGetInt64(values[STATE_BASIS - 1]);
		state->version = (uint64) DatumGetInt64(values[STATE_VERSION - 1]);
		state->branch = (uint64) DatumGetInt64(values[STATE_BRANCH - 1]);
		for (int i = 0; i < STATE_ARRAYS; i++)
			*state_array(state, i) = read_numbers(values[STATE_FIRST_ARRAY - 1 + i]);
		state->bounds = read_bounds(values[STATE_BOUNDS - 1], values[STATE_BOUND_TEXTS - 1]);
		states = lappend(states, remembered);
	}
	uuid9562_end_own(&scan);
	return states;
}

/* Store a state of a table. */
void
uuid9562_store_state(Oid source, State *state)
{
	Relation	rel = uuid9562_open_own("state", RowExclusiveLock);
	Datum	   *texts = palloc(Max(1, list_length(state->bounds)) * sizeof(Datum));
	Numbers		numbers = {0};
	int			count = 0;
	ListCell   *cell;
	Datum		values[STATE_COLUMNS];
	bool		nulls[STATE_COLUMNS] = {false};

	values[STATE_SOURCE - 1] = ObjectIdGetDatum(source);
	values[STATE_IDENTITY - 1] = reader_id_datum(&state->identity);
	values[STATE_BASIS - 1] = Int64GetDatum((int64) state->basis);
	values[STATE_VERSION - 1] = Int64GetDatum((int64) state->version);
	values[STATE_BRANCH - 1] = Int64GetDatum((int64) state->branch);
	for (int i = 0; i < STATE_ARRAYS; i++)
		values[STATE_FIRST_ARRAY - 1 + i] = numbers_datum(state_array(state, i));
	foreach(cell, state->bounds)
	{
		const PartBound *part = lfirst(cell);

		uuid9562_add_number(&numbers, part->relid);
		uuid9562_add_number(&numbers, part->parent);
		uuid9562_add_number(&numbers, part->is_gone);
		texts[count++] = CStringGetTextDatum(part->bound);
	}
	values[STATE_BOUNDS - 1] = numbers_datum(&numbers);
	values[STATE_BOUND_TEXTS - 1] = PointerGetDatum(construct_array_builtin(texts, count, TEXTOID));
	uuid9562_insert_own(rel, values, nulls);
	table_close(rel, NoLock);
}
