/*
 * request.c
 *		What a caller asks for: arguments, privileges, and the lock of the table.
 */
#include "changes/changes.h"

#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/timestamp.h"

#define NAME_MAX_BYTES	200		/* of a reader */
#define LEASE_MAX_DAYS	30

/* --- arguments -------------------------------------------------------------------- */

void
uuid9562_check_reader_name(const char *name)
{
	const int	length = (int) strlen(name);

	if (length == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("name of reader must not be null or empty")));
	if (length > NAME_MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid name of reader: \"%.*s\"", pg_mbcliplen(name, length, 100), name),
				 errdetail("The name has %d bytes, but at most %d are possible.", length, NAME_MAX_BYTES)));
}

/* Read a position that changes_read() has returned. */
void
uuid9562_read_position(UuidPagePosition *position, text *given)
{
	const char *string = VARDATA_ANY(given);
	const int	length = VARSIZE_ANY_EXHDR(given);

	if (!uuid_page_position_read(position, string, length))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for position of changes: \"%.*s\"", pg_mbcliplen(string, length, 200), string),
				 errhint("Pass, without changes, the text that changes_read() has returned.")));
}

/* Read the parameter "after". */
void
uuid9562_read_after(PageRequest *request, text *after)
{
	request->is_outside = after == NULL ||
		VARSIZE_ANY_EXHDR(after) != strlen("confirmed") ||
		memcmp(VARDATA_ANY(after), "confirmed", strlen("confirmed")) != 0;
	request->has_position = request->is_outside && after != NULL;
	if (request->has_position)
		uuid9562_read_position(&request->given, after);
}

/*
 * Convert an interval to microseconds, within 1,000 years.  A negative one lets all entries be
 * purged.
 */
int64
uuid9562_interval_micros(const Interval *interval)
{
	const int64 max_days = 365250;
	const int64 days = (int64) interval->month * DAYS_PER_MONTH + interval->day;
	const int64 time_days = interval->time / USECS_PER_DAY;

	if (days + time_days >= max_days || days >= max_days)
		return max_days * USECS_PER_DAY;
	if (days + time_days <= -max_days || days <= -max_days)
		return -max_days * USECS_PER_DAY;
	return days * USECS_PER_DAY + interval->time;
}

static int64
read_lease(const Interval *lease)
{
	const int64 result = uuid9562_interval_micros(lease);

	if (result <= 0 || result > LEASE_MAX_DAYS * USECS_PER_DAY)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value %s is out of range for lease",
						DatumGetCString(DirectFunctionCall1(interval_out, PointerGetDatum(lease)))),
				 errdetail("It must be greater than 0, and at most %d days.", LEASE_MAX_DAYS)));
	return result;
}

/*
 * Raise an error if a page cannot be read in this transaction.  The reader, the states and the rows
 * are read with later snapshots than that of the calling statement, which REPEATABLE READ would not
 * expect.
 */
void
uuid9562_check_transaction(void)
{
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("cannot execute %s() during recovery", "changes_read"),
				 errhint("Execute it on the primary.")));
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("cannot execute %s() at isolation level %s", "changes_read",
						XactIsoLevel == XACT_SERIALIZABLE ? "SERIALIZABLE" : "REPEATABLE READ"),
				 errhint("Execute it in a READ COMMITTED transaction.")));
}

/* Return the table with a row type. */
Oid
uuid9562_row_type_relation(Oid type)
{
	Oid			relid = get_typ_typrelid(type);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("type %s is not the row type of a table", format_type_be(type)),
				 errhint("Pass a null value of the table's row type, such as NULL::customer.")));
	return relid;
}

/* Read the arguments of changes_read(). */
void
uuid9562_read_request(FunctionCallInfo fcinfo, PageRequest *request)
{
	const Oid	type = get_fn_expr_argtype(fcinfo->flinfo, 1);
	text	   *after = PG_ARGISNULL(3) ? NULL : PG_GETARG_TEXT_PP(3);

	memset(request, 0, sizeof(PageRequest));
	request->reader = PG_ARGISNULL(0) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(0));
	uuid9562_check_reader_name(request->reader);
	request->limit = PG_ARGISNULL(2) ? 0 : PG_GETARG_INT32(2);
	if (request->limit < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("value %s is out of range for page", PG_ARGISNULL(2) ? "NULL" : psprintf("%d", PG_GETARG_INT32(2))),
				 errdetail("A page has at least one change.")));
	request->relid = uuid9562_row_type_relation(type);
	if (PG_ARGISNULL(4))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("lease must not be null")));
	request->lease = read_lease(PG_GETARG_INTERVAL_P(4));
	uuid9562_read_after(request, after);
}

/* --- privileges and locks --------------------------------------------------------- */

/* Lock a table, after checking that the caller can read all of its rows. */
Relation
uuid9562_open_source(Oid relid)
{
	Relation	rel;
	char	   *name = get_rel_name(relid);

	if (name != NULL && pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, name);
	rel = name == NULL ? NULL : try_table_open(relid, AccessShareLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (rel->rd_rel->relkind != RELKIND_RELATION &&
		rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		uuid9562_not_tracked(relid);
	if (check_enable_rls(relid, InvalidOid, true) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row-level security hides rows of table %s from role %s", uuid9562_table_name(relid), GetUserNameFromId(GetUserId(), false)),
				 errhint("Read the changes as a role that has the attribute BYPASSRLS or owns the table.")));
	return rel;
}

/* Raise an error if the current role does not own a table. */
void
uuid9562_check_owner(Oid relid)
{
	if (get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	if (!object_ownercheck(RelationRelationId, relid, GetUserId()))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of table %s", uuid9562_table_name(relid))));
}

/* Return the trigger of a tracked table.  Raise an error if the table is not tracked. */
TrackingTrigger
uuid9562_find_trigger(Oid relid)
{
	TableTriggers triggers;

	uuid9562_scan_triggers(relid, relid, &triggers);
	if (triggers.roots == 0)
		uuid9562_not_tracked(relid);
	return triggers.root;
}

/* Raise an error unless the current role has the rights of a reader's role or owns the table. */
void
uuid9562_check_reader_role(const ReaderState *reader)
{
	if (!has_privs_of_role(GetUserId(), reader->owner) &&
		(get_rel_name(reader->source) == NULL ||
		 !object_ownercheck(RelationRelationId, reader->source, GetUserId())))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("reader \"%s\" of table %s belongs to role %s", reader->name, uuid9562_table_name(reader->source),
						GetUserNameFromId(reader->owner, true) ?
						GetUserNameFromId(reader->owner, true) : "(dropped)"),
				 errhint("Choose another name for the reader.")));
}

/*
 * Lock a reader until the transaction ends, and load it.  Nobody locks another role's reader, so
 * check its role before, and again, because it can have been created or replaced in the meantime.
 */
void
uuid9562_lock_and_load_reader(ReaderState *reader, const char *name, Oid source)
{
	uuid9562_load_reader(reader, name, source);
	uuid9562_check_reader_role(reader);
	(void) uuid9562_lock_reader(name, source, true);
	uuid9562_load_reader(reader, name, source);
	uuid9562_check_reader_role(reader);
}

/*
 * Raise an error if the transaction has changed the table: a page would have uncommitted content.
 * A transaction that has changed nothing has no ID.
 */
void
uuid9562_check_own_changes(const Source *source)
{
	if (!TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return;
	for (int i = 0; i < source->relid_count; i++)
	{
		if (CheckRelationOidLockedByMe(source->relids[i], RowExclusiveLock, false) ||
			CheckRelationOidLockedByMe(source->relids[i], AccessExclusiveLock, false))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("cannot read changes of table %s in a transaction that has changed it", uuid9562_table_name(source->relid)),
					 errhint("Commit first.")));
	}
}
