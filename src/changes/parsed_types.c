/*
 * parsed_types.c
 *		Which row types the session's statements that call changes_read() or changes_entries() were
 *		parsed with.
 *
 * A statement that was parsed before a table was altered takes columns from a page by the numbers
 * that they had then.  PostgreSQL does not parse the statement again, because it does not notice
 * that the statement depends on the table: it only names the row type.  So a hook remembers the
 * row type of each call that is parsed.  If a page is read while the table has another one, all
 * plans of the session are discarded, and the caller gets an error.
 *
 * The row types are in the memory of the process, because prepared statements survive ROLLBACK
 * and DISCARD.  Statements that were parsed before the library was loaded are not known.
 */
#include "changes/changes.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "parser/analyze.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/portal.h"
#include "utils/typcache.h"

/* A row type with which the session has parsed a call.  The struct has no padding. */
typedef struct ParsedType
{
	uint64		relid;
	uint64		row_type;
} ParsedType;

static bool knows_all;			/* are all statements of the session known? */
static HTAB *parsed_types;		/* of ParsedType */
static post_parse_analyze_hook_type previous_hook;

/* --- hashes ----------------------------------------------------------------------- */

/* Return the type of the elements of an array, range or multirange, or the type itself. */
static Oid
element_of(Oid type)
{
	Oid			element = get_element_type(type);

	if (!OidIsValid(element) && type_is_multirange(type))
		element = get_multirange_range(type);
	if (!OidIsValid(element) && type_is_range(type))
		element = get_range_subtype(type);
	return OidIsValid(element) ? element_of(getBaseType(element)) : type;
}

/* Hash the names and types of columns, and those of composite types in them, each of these once. */
static uint64
hash_columns(TupleDesc desc, List **known)
{
	uint64		hash = 0;

	check_stack_depth();
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		Oid			type;
		uint64		parts[] = {
			i, column->atttypid, (uint64) column->atttypmod,
			hash_bytes_extended((const unsigned char *) NameStr(column->attname),
								(int) strlen(NameStr(column->attname)), 0)
		};

		if (column->attisdropped)
			continue;
		hash = hash_combine64(hash, hash_bytes_extended((const unsigned char *) parts,
														sizeof(parts), 0));
		type = getBaseType(column->atttypid);
		type = element_of(type);
		if (get_typtype(type) == TYPTYPE_COMPOSITE && !list_member_oid(*known, type))
		{
			TupleDesc	attributes = lookup_rowtype_tupdesc_copy(type, -1);

			*known = lappend_oid(*known, type);
			hash = hash_combine64(hash, hash_columns(attributes, known));
			FreeTupleDesc(attributes);
		}
	}
	return hash;
}

/*
 * Hash the row type of a table, with its name, since a statement names the table by its row type.
 */
static uint64
hash_row_type(Oid relid, TupleDesc desc)
{
	char	   *name = get_rel_name(relid);
	List	   *known = NIL;

	return hash_combine64(hash_columns(desc, &known), name == NULL ? 0 :
						  hash_bytes_extended((const unsigned char *) name, (int) strlen(name),
											  get_rel_namespace(relid)));
}

/* --- parsing ---------------------------------------------------------------------- */

/* Remember a type with which a call was parsed, if it is the row type of a table. */
static void
remember_type(Oid type)
{
	Oid			relid = get_typ_typrelid(type);
	ParsedType	parsed = {relid, 0};
	TupleDesc	desc;

	if (!OidIsValid(relid) || get_rel_name(relid) == NULL)
		return;
	desc = lookup_rowtype_tupdesc_copy(type, -1);
	parsed.row_type = hash_row_type(relid, desc);
	FreeTupleDesc(desc);
	hash_search(parsed_types, &parsed, HASH_ENTER, NULL);
}

/* Does an expression call a function with the name of one that returns rows of a table? */
static bool
is_call(const FuncExpr *expression)
{
	const char *name = expression->funcretset ? get_func_name(expression->funcid) : NULL;

	return name != NULL && (strcmp(name, "changes_read") == 0 ||
							strcmp(name, "changes_entries") == 0);
}

/*
 * Remember the row type of each call in a query.  No argument but the table has a row type.
 */
static bool
find_calls(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, find_calls, context, 0);
	if (IsA(node, FuncExpr) && is_call((const FuncExpr *) node))
	{
		ListCell   *cell;

		foreach(cell, ((const FuncExpr *) node)->args)
			remember_type(exprType(lfirst(cell)));
	}
	return expression_tree_walker(node, find_calls, context);
}

/*
 * Check whether a query can call a function that returns rows, without looking at its
 * expressions.
 */
static bool
may_call(const Query *query)
{
	ListCell   *cell;

	if (query->hasTargetSRFs || query->hasSubLinks || query->cteList != NIL ||
		query->utilityStmt != NULL)
		return true;
	foreach(cell, query->rtable)
	{
		const RangeTblEntry *rte = lfirst(cell);

		if (rte->rtekind == RTE_FUNCTION || rte->rtekind == RTE_SUBQUERY)
			return true;
	}
	return false;
}

/* Return the query in a utility statement, or NULL. */
static Node *
query_in_utility(Node *statement)
{
	if (IsA(statement, ExplainStmt))
		return ((ExplainStmt *) statement)->query;
	if (IsA(statement, CreateTableAsStmt))
		return ((CreateTableAsStmt *) statement)->query;
	if (IsA(statement, DeclareCursorStmt))
		return ((DeclareCursorStmt *) statement)->query;
	return NULL;
}

static void
after_parsing(ParseState *state, Query *query, PARSE_HOOK_JUMBLE)
{
	Node	   *searched = (Node *) query;

	if (previous_hook)
		previous_hook(state, query, jumble);
	if (!may_call(query))
		return;
	if (query->utilityStmt != NULL)
		searched = query_in_utility(query->utilityStmt);
	if (searched != NULL && IsA(searched, Query))
		(void) find_calls(searched, NULL);
}

/* --- reading ---------------------------------------------------------------------- */

/*
 * Check whether the calling statement was prepared: by the protocol, whose portals name it, or by
 * PREPARE, because EXECUTE runs it in a portal that is not visible.
 */
static bool
is_prepared(void)
{
	return ActivePortal != NULL && ActivePortal->cplan != NULL &&
		(ActivePortal->prepStmtName != NULL || !ActivePortal->visible);
}

/* Forget other row types with which calls for a table were parsed.  Were there any? */
static bool
forget_other_types(Oid relid, uint64 row_type)
{
	HASH_SEQ_STATUS status;
	ParsedType *parsed;
	bool		found = false;

	hash_seq_init(&status, parsed_types);
	while ((parsed = hash_seq_search(&status)) != NULL)
	{
		if (parsed->relid != relid || parsed->row_type == row_type)
			continue;
		found = true;
		hash_search(parsed_types, parsed, HASH_REMOVE, NULL);
	}
	return found;
}

/*
 * Raise an error if the calling statement can have been parsed with another row type of the table,
 * which the caller has locked.
 */
void
uuid9562_check_row_type(Relation rel)
{
	const Oid	relid = RelationGetRelid(rel);
	const bool	is_stale = forget_other_types(relid, hash_row_type(relid, RelationGetDescr(rel)));
	const bool	is_unknown = !knows_all && is_prepared();

	if (is_stale || !knows_all)
		ResetPlanCache();
	knows_all = true;
	if (is_stale)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("row type of table %s has changed", uuid9562_table_name(relid)),
				 errhint("Execute the statement again.")));
	if (is_unknown)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("statement was prepared before the library uuid9562 was loaded"),
				 errdetail("The row type of table %s can have changed since then.", uuid9562_table_name(relid)),
				 errhint("Execute the statement again. To avoid this error, preload the library.")));
}

/* Install the hook, when the library is loaded. */
void
uuid9562_row_types_init(void)
{
	HASHCTL		control = {
		.keysize = sizeof(ParsedType),.entrysize = sizeof(ParsedType),.hcxt = TopMemoryContext
	};

	parsed_types = hash_create("uuid9562 row types", 16, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);

	/*
	 * the server or the session has preloaded the library, before any
	 * statement
	 */
	knows_all = process_shared_preload_libraries_in_progress || IsInitProcessingMode();
	previous_hook = post_parse_analyze_hook;
	post_parse_analyze_hook = after_parsing;
}
