/*
 * table_state.c
 *		The state of a tracked table: what tells that rows can have changed without an entry.
 *
 * The current state is computed from the catalogs.  The remembered states are rows of the table
 * "state"; source.c compares them.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "nodes/primnodes.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/partcache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "runtime/runtime.h"

static uint64
hash_text(const char *text)
{
	return text == NULL ? 0 : hash_bytes_extended((const unsigned char *) text,
												  (int) strlen(text), 0);
}

static uint64
hash_numbers(const uint64 *numbers, int count)
{
	return hash_bytes_extended((const unsigned char *) numbers, count * (int) sizeof(uint64), 0);
}

void
uuid9562_add_number(Numbers *numbers, uint64 number)
{
	if (numbers->count == numbers->size)
	{
		numbers->size = Max(8, 2 * numbers->size);
		numbers->values = numbers->values == NULL ?
			palloc(numbers->size * sizeof(uint64)) :
			repalloc(numbers->values, numbers->size * sizeof(uint64));
	}
	numbers->values[numbers->count++] = number;
}

static void
set_problem(CurrentState *current, const char *format, Oid relid)
{
	if (current->problem == NULL)
		current->problem = psprintf(format, uuid9562_table_name(relid));
}

/*
 * If the caller does not want to wait, take the lock that opening a relation needs, which
 * uuid9562_unlock_state() releases.  If another session has it, note the problem, and return false.
 */
static bool
lock_to_open(CurrentState *current, Oid relid)
{
	if (current->wait)
		return true;
	if (!ConditionalLockRelationOid(relid, AccessShareLock))
	{
		set_problem(current, "relation %s is locked", relid);
		return false;
	}
	current->locked = lappend_oid(current->locked, relid);
	return true;
}

/* --- columns ---------------------------------------------------------------------- */

/*
 * Return the version of a column: the transaction that altered it last.  So it changes even if a
 * column is altered and altered back.  A transaction can alter a column again after it has read
 * changes, so its own changes give a version that is never the same.
 */
static uint64
column_version(HeapTuple row)
{
	const TransactionId version = row_version(row);

	return TransactionIdIsCurrentTransactionId(version) ? random_bits() : version;
}

/* Add the columns of a relation. */
static void
add_columns(State *state, Oid relid, bool is_source)
{
	Relation	catalog = table_open(AttributeRelationId, AccessShareLock);
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&keys[0], Anum_pg_attribute_attrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(relid));
	ScanKeyInit(&keys[1], Anum_pg_attribute_attnum, BTGreaterStrategyNumber, F_INT2GT,
				Int16GetDatum(0));
	scan = systable_beginscan(catalog, AttributeRelidNumIndexId, true, NULL, 2, keys);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		Form_pg_attribute column = (Form_pg_attribute) GETSTRUCT(row);
		uint64		described[] = {
			column->attnum, column->atttypid, (uint64) column->atttypmod, column->attgenerated,
			hash_text(NameStr(column->attname))
		};

		if (column->attisdropped)
			continue;
		state->version = hash_combine64(state->version, column_version(row));
		if (is_source)
			uuid9562_add_number(&state->columns, hash_numbers(described, lengthof(described)));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Hash the expressions of generated columns. */
static uint64
hash_expressions(Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	uint64		hash = 0;

	for (int i = 0; desc->constr != NULL && i < desc->constr->num_defval; i++)
	{
		const AttrDefault *expression = &desc->constr->defval[i];

		if (TupleDescAttr(desc, expression->adnum - 1)->attgenerated != '\0')
			hash = hash_combine64(hash, hash_text(expression->adbin) + expression->adnum);
	}
	return hash;
}

/* --- types of columns ------------------------------------------------------------- */

static void add_type(CurrentState *current, List **known, Oid type);

static void
add_labels(State *state, Oid type)
{
	Relation	catalog = table_open(EnumRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	row;

	ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(type));
	scan = systable_beginscan(catalog, EnumTypIdLabelIndexId, true, NULL, 1, &key);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		Form_pg_enum label = (Form_pg_enum) GETSTRUCT(row);
		uint64		described[] = {
			label->oid, row_version(row), hash_text(NameStr(label->enumlabel))
		};

		uuid9562_add_number(&state->labels, hash_numbers(described, lengthof(described)));
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/* Add the attributes of a composite type.  ALTER TYPE invalidates its relation. */
static void
add_attributes(CurrentState *current, List **known, Oid type, Oid relid)
{
	TupleDesc	desc;

	if (!lock_to_open(current, relid))
		return;
	desc = lookup_rowtype_tupdesc_copy(type, -1);
	current->relids = lappend_oid(current->relids, relid);
	for (int i = 0; i < desc->natts; i++)
	{
		const FormData_pg_attribute *attribute = TupleDescAttr(desc, i);
		uint64		described[] = {
			relid, i, attribute->atttypid, (uint64) attribute->atttypmod,
			hash_text(NameStr(attribute->attname))
		};

		if (attribute->attisdropped)
			continue;
		uuid9562_add_number(&current->state.attributes,
							hash_numbers(described, lengthof(described)));
		add_type(current, known, attribute->atttypid);
	}
}

/* Add a type that the columns use, and the types that it consists of. */
static void
add_type(CurrentState *current, List **known, Oid type)
{
	HeapTuple	row;
	FormData_pg_type form;

	check_stack_depth();
	if (!OidIsValid(type) || list_member_oid(*known, type) ||
		!HeapTupleIsValid(row = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type))))
		return;
	memcpy(&form, GETSTRUCT(row), sizeof(FormData_pg_type));
	ReleaseSysCache(row);
	*known = lappend_oid(*known, type);
	if (form.typtype == TYPTYPE_ENUM)
		add_labels(&current->state, type);
	else if (form.typtype == TYPTYPE_COMPOSITE)
		add_attributes(current, known, type, form.typrelid);
	else if (form.typtype == TYPTYPE_RANGE)
		add_type(current, known, get_range_subtype(type));
	else if (form.typtype == TYPTYPE_MULTIRANGE)
		add_type(current, known, get_range_subtype(get_multirange_range(type)));
	add_type(current, known, form.typelem);
	add_type(current, known, form.typbasetype);
}

/* --- parts ------------------------------------------------------------------------ */

/* Return the bound of a partition, or NULL. */
static PartBound *
find_bound(Oid relid)
{
	HeapTuple	row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	PartBound  *part = NULL;
	bool		isnull;
	Datum		bound;

	if (!HeapTupleIsValid(row))
		return NULL;
	bound = SysCacheGetAttr(RELOID, row, Anum_pg_class_relpartbound, &isnull);
	if (!isnull)
	{
		part = palloc0(sizeof(PartBound));
		part->relid = relid;
		part->parent = get_partition_parent(relid, true);
		part->bound = TextDatumGetCString(bound);
	}
	ReleaseSysCache(row);
	return part;
}

/* Add the table itself or a partition. */
static void
add_part(CurrentState *current, Relation rel, Oid source)
{
	const Oid	relid = RelationGetRelid(rel);
	const FormData_pg_class *form = rel->rd_rel;
	TableTriggers triggers;
	uint64		part[PART_NUMBERS];

	uuid9562_scan_triggers(relid, source, &triggers);
	if (form->relkind != RELKIND_RELATION && form->relkind != RELKIND_PARTITIONED_TABLE)
		set_problem(current, "partition %s is a foreign table", relid);
	else if (form->relpersistence != RELPERSISTENCE_PERMANENT)
		set_problem(current, "table %s is not logged in WAL", relid);
	else if (form->relkind == RELKIND_RELATION && form->relhassubclass &&
			 find_inheritance_children(relid, NoLock) != NIL)
		set_problem(current, "a table inherits from table %s", relid);
	if (relid == source)
	{
		current->trigger = triggers.root;
		if (triggers.roots > 1)
			set_problem(current, "table %s has two triggers that log all changes", relid);
	}
	if (triggers.roots > 0 && relid == source && !triggers.root.has_arguments)
		set_problem(current, "the trigger of table %s has invalid arguments", relid);
	if (((triggers.events & current->trigger.type) != current->trigger.type) ||
		current->trigger.type == 0)
		set_problem(current, "table %s lacks the trigger that logs all changes, "
					"or the trigger is not enabled with ENABLE ALWAYS", relid);
	if (!triggers.has_truncate)
		current->without_truncate = lappend_oid(current->without_truncate, relid);
	part[PART_RELID] = relid;
	part[PART_FILE] = form->relfilenode;
	part[PART_ROW_TRIGGERS] = triggers.row_hash;
	part[PART_TRUNCATE_TRIGGER] = triggers.has_truncate ? triggers.truncate_hash | 1 : 0;
	part[PART_EXPRESSIONS] = hash_expressions(rel);
	for (int i = 0; i < PART_NUMBERS; i++)
		uuid9562_add_number(&current->state.parts, part[i]);
	current->relids = lappend_oid(current->relids, relid);
	add_columns(&current->state, relid, relid == source);
}

/* Set the basis, and add the types.  add_part() of the table has set the trigger and the key. */
static void
set_basis_and_types(CurrentState *current, Relation rel)
{
	TupleDesc	desc = RelationGetDescr(rel);
	List	   *known = NIL;
	uint64		basis[] = {
		GetSystemIdentifier(), MyDatabaseId, current->trigger.oid, current->trigger.xmin,
		current->key.constraint, current->key.hash
	};

	current->state.basis = hash_numbers(basis, lengthof(basis));
	for (int i = 0; i < desc->natts; i++)
	{
		if (!TupleDescAttr(desc, i)->attisdropped)
			add_type(current, &known, TupleDescAttr(desc, i)->atttypid);
	}
}

static void
check_key(CurrentState *current, Oid source)
{
	if (current->key.count == 0)
		set_problem(current, "table %s has no primary key", source);
	else if (lock_to_open(current, current->key.index) &&
			 (current->key_problem = uuid9562_key_problem(current->key.index)) != NULL)
		set_problem(current, psprintf("the primary key of table %%s %s",
									  current->key_problem), source);
}

/*
 * Lock the partitions of a table, after the table as other commands do, and return all with the
 * table.
 */
static List *
lock_parts(CurrentState *current, Oid source)
{
	List	   *relids;
	ListCell   *cell;

	relids = find_all_inheritors(source, current->wait ? AccessShareLock : NoLock, NULL);
	foreach(cell, relids)
	{
		if (lfirst_oid(cell) != source && !lock_to_open(current, lfirst_oid(cell)))
			relids = foreach_delete_current(relids, cell);
	}
	return relids;
}

/* Release the locks that uuid9562_compute_state() took without waiting. */
void
uuid9562_unlock_state(const CurrentState *current)
{
	ListCell   *cell;

	foreach(cell, current->locked)
		UnlockRelationOid(lfirst_oid(cell), AccessShareLock);
}

/*
 * Compute the current state of a table, which the caller has locked.  Lock its partitions.  If
 * "wait" is false, do not wait for locks, and let the caller release them.
 */
void
uuid9562_compute_state(Relation rel, CurrentState *current, bool wait)
{
	const Oid	source = RelationGetRelid(rel);
	List	   *relids = list_make1_oid(source);
	ListCell   *cell;

	memset(current, 0, sizeof(CurrentState));
	current->wait = wait;
	if (rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE)
		relids = lock_parts(current, source);
	list_sort(relids, list_oid_cmp);
	/* first what changes_track() cannot repair */
	uuid9562_primary_key(source, &current->key);
	check_key(current, source);

	/*
	 * the table before its partitions, since its trigger tells which
	 * operations they must log
	 */
	add_part(current, rel, source);
	foreach(cell, relids)
	{
		Relation	part;

		if (lfirst_oid(cell) == source || (part =
										   try_relation_open(lfirst_oid(cell), NoLock)) == NULL)
			continue;
		add_part(current, part, source);
		relation_close(part, NoLock);
	}
	foreach(cell, relids)
	{
		PartBound  *bound = current->trigger.ignores_dropped_partitions ?
			find_bound(lfirst_oid(cell)) : NULL;

		if (bound != NULL)
			current->state.bounds = lappend(current->state.bounds, bound);
	}
	set_basis_and_types(current, rel);
}

/*
 * Compare the upper bound of a range with the lower bound of another one: can the ranges overlap?
 */
static bool
reaches(PartitionKey key, List *upper, List *lower)
{
	const PartitionRangeDatum *end = linitial(upper);
	const PartitionRangeDatum *start = linitial(lower);
	int			order;

	if (end->kind != PARTITION_RANGE_DATUM_VALUE || start->kind != PARTITION_RANGE_DATUM_VALUE)
		return end->kind != PARTITION_RANGE_DATUM_MINVALUE &&
			start->kind != PARTITION_RANGE_DATUM_MAXVALUE;
	order = DatumGetInt32(FunctionCall2Coll(&key->partsupfunc[0], key->partcollation[0],
											castNode(Const, end->value)->constvalue,
											castNode(Const, start->value)->constvalue));
	/* an upper bound is exclusive, but other columns can follow */
	return order > 0 || (order == 0 && key->partnatts > 1);
}

/*
 * Check whether a partition can have rows that a dropped partition had: it has come back, or
 * their bounds overlap, as far as their first column tells.
 */
bool
uuid9562_may_overlap(const PartBound *gone, Oid relid)
{
	const PartBound *part = find_bound(relid);
	PartitionBoundSpec *old;
	PartitionBoundSpec *new;
	PartitionKey key;
	Relation	parent;
	bool		result = true;

	if (gone->relid == relid)
		return true;
	if (part == NULL || part->parent != gone->parent)
		return false;
	parent = relation_open(part->parent, AccessShareLock);
	key = RelationGetPartitionKey(parent);
	old = stringToNode(gone->bound);
	new = stringToNode(part->bound);
	if (key->strategy == PARTITION_STRATEGY_RANGE && old->strategy == PARTITION_STRATEGY_RANGE &&
		!old->is_default && !new->is_default)
		result = reaches(key, old->upperdatums, new->lowerdatums) &&
			reaches(key, new->upperdatums, old->lowerdatums);
	relation_close(parent, NoLock);
	return result;
}

/* Hash all of a state that can change while the table is locked. */
uint64
uuid9562_hash_state(const State *state)
{
	const Numbers *arrays[] = {&state->columns, &state->attributes, &state->labels, &state->parts};
	uint64		hash = state->basis;

	for (int i = 0; i < (int) lengthof(arrays); i++)
		hash = hash_combine64(hash, hash_numbers(arrays[i]->values, arrays[i]->count));
	return hash;
}
