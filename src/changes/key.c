/*
 * key.c
 *		Primary keys, and their bytes in the log.
 *
 * The bytes of a key are a hash of the key's columns and types, and then each value as
 * datumSerialize() writes it.  The values have the base types of the columns, so reading a key
 * calls no function of a type.  If the table has got another key since, the hash differs.
 *
 * Two keys are the same if their bytes are.  So 'a' and 'A' are different keys even if a
 * case-insensitive type regards them as equal, and fetch_rows.c compares both.
 */
#include "changes/changes.h"

#include "access/htup_details.h"
#include "access/nbtree.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_am.h"
#include "catalog/pg_constraint.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "common/pg_prng.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

/* Set the columns and types of a key from its constraint. */
static void
set_columns(Key *key, Oid source, ArrayType *numbers)
{
	const int	count = ARR_DIMS(numbers)[0];
	uint32		described[2 * INDEX_MAX_KEYS];

	for (int i = 0; i < count; i++)
	{
		AttrNumber	column = ((int16 *) array_elements(numbers))[i];

		key->columns[i] = column;
		key->types[i] = getBaseType(get_atttype(source, column));
		described[2 * i] = (uint32) column;
		described[2 * i + 1] = key->types[i];
	}
	key->count = count;
	key->hash = hash_bytes((const unsigned char *) described, 2 * count * (int) sizeof(uint32));
}

/*
 * Find the primary key of a table.  key->count is 0 if it has none.  The constraint tells the
 * columns, because REINDEX CONCURRENTLY replaces the index, and rd_pkindex is not set for
 * deferrable keys on all versions.
 */
void
uuid9562_primary_key(Oid source, Key *key)
{
	Relation	catalog = table_open(ConstraintRelationId, AccessShareLock);
	ScanKeyData scan_key;
	SysScanDesc scan;
	HeapTuple	row;

	memset(key, 0, sizeof(Key));
	ScanKeyInit(&scan_key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(source));
	scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, NULL, 1, &scan_key);
	while (HeapTupleIsValid(row = systable_getnext(scan)))
	{
		Form_pg_constraint form = (Form_pg_constraint) GETSTRUCT(row);
		bool		isnull;
		Datum		numbers;

		if (form->contype != CONSTRAINT_PRIMARY)
			continue;
		numbers = heap_getattr(row, Anum_pg_constraint_conkey, RelationGetDescr(catalog), &isnull);
		key->constraint = form->oid;
		key->index = form->conindid;
		set_columns(key, source, DatumGetArrayTypeP(numbers));
		break;
	}
	systable_endscan(scan);
	table_close(catalog, AccessShareLock);
}

/*
 * Translate the columns of a key to those of a partition, which have the same names but can have
 * other numbers.  Return false, and let the key stand for all rows, if a column is missing.
 */
bool
uuid9562_map_key(Key *key, Oid source, Oid relid)
{
	for (int i = 0; i < key->count && relid != source; i++)
	{
		char	   *name = get_attname(source, key->columns[i], true);

		key->columns[i] = name == NULL ? InvalidAttrNumber : get_attnum(relid, name);
		if (key->columns[i] <= 0)
			key->count = 0;
	}
	return key->count > 0;
}

/* Return the bytes of a row's key, or those for all rows if there is no key. */
KeyBytes
uuid9562_form_key(const Key *key, HeapTuple row, TupleDesc desc)
{
	Datum		values[INDEX_MAX_KEYS];
	Size		length = sizeof(uint32);
	KeyBytes	result = {0, NULL};
	char	   *end;

	if (key->count == 0)
		return result;
	for (int i = 0; i < key->count; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, key->columns[i] - 1);
		bool		isnull;

		values[i] = heap_getattr(row, key->columns[i], desc, &isnull);
		if (isnull)
			return result;

		/*
		 * so that equal keys have equal bytes, whether compressed, with a
		 * short header, or not
		 */
		if (column->attlen == -1)
			values[i] = PointerGetDatum(PG_DETOAST_DATUM(values[i]));
		length += datumEstimateSpace(values[i], false, column->attbyval, column->attlen);
	}
	result.bytes = end = palloc(length);
	result.length = (uint32) length;
	memcpy(end, &key->hash, sizeof(uint32));
	end += sizeof(uint32);
	for (int i = 0; i < key->count; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, key->columns[i] - 1);

		datumSerialize(values[i], false, column->attbyval, column->attlen, &end);
	}
	return result;
}

/* Read the values of a key.  Return false if the bytes are for all rows, or of another key. */
bool
uuid9562_read_key(const Key *key, KeyBytes bytes, Datum *values)
{
	char	   *next = bytes.bytes + sizeof(uint32);

	if (bytes.length == 0 || key->count == 0 ||
		memcmp(bytes.bytes, &key->hash, sizeof(uint32)) != 0)
		return false;
	for (int i = 0; values != NULL && i < key->count; i++)
	{
		bool		isnull;

		values[i] = datumRestore(&next, &isnull);
	}
	return true;
}

/* Hash a key, with a seed that nobody can guess, because many equal hashes would be slow. */
uint32
uuid9562_hash_key(KeyBytes key)
{
	static uint64 seed;

	while (seed == 0)
		seed = pg_prng_uint64(&pg_global_prng_state);
	return (uint32) hash_bytes_extended((const unsigned char *) key.bytes, (int) key.length, seed);
}

/* Check whether equal keys in an index have equal bytes; see _bt_allequalimage(). */
bool
uuid9562_equal_keys_are_same(Relation index)
{
	for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(index); i++)
	{
		const Oid	type = index->rd_opcintype[i];
		Oid			function = get_opfamily_proc(index->rd_opfamily[i], type, type,
												 BTEQUALIMAGE_PROC);

		/* the function says so of char(n), although blanks can follow a value */
		if (!OidIsValid(function) || type == BPCHAROID ||
			!DatumGetBool(OidFunctionCall1Coll(function, index->rd_indcollation[i],
											   ObjectIdGetDatum(type))))
			return false;
	}
	return true;
}

/*
 * Return why changes of a primary key cannot be read, as a predicate in a sentence, or NULL.
 *
 * A transaction can insert 1.00 before it deletes 1.0, if the key is deferrable.  A copy that
 * applies both in this order lacks the row.
 */
const char *
uuid9562_key_problem(Oid index)
{
	Relation	rel = index_open(index, AccessShareLock);
	const char *problem = NULL;

	if (rel->rd_rel->relam != BTREE_AM_OID)
		problem = "has WITHOUT OVERLAPS";
	else if (!rel->rd_index->indisvalid)
		problem = "is missing in a partition";
	else if (!rel->rd_index->indimmediate && !uuid9562_equal_keys_are_same(rel))
		problem = "is deferrable, and its equal values can have different bytes";
	index_close(rel, AccessShareLock);
	return problem;
}
