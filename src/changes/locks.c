/*
 * locks.c
 *		The locks of the entries of a table, and of its states.
 *
 * Each lock is one of an object: the OID of the table in the table "purged", with a number.
 */
#include "changes/changes.h"

#include "storage/lmgr.h"

#define LOCK_OF_ENTRIES	0
#define LOCK_OF_PURGE	1

/*
 * Take the lock of entries together with other sessions, until the transaction ends: before a page
 * that resets a copy, because nobody else sees yet that the reader needs entries after its horizon,
 * and before states are replaced.  For such a page, take the lock before the snapshot.
 */
void
uuid9562_lock_entries_shared(Oid source)
{
	LockDatabaseObject(uuid9562_own_table("purged"), source, LOCK_OF_ENTRIES, ShareLock);
}

/* Take it alone until the transaction ends, so that all states are known, and none is added. */
void
uuid9562_lock_entries_alone(Oid source)
{
	LockDatabaseObject(uuid9562_own_table("purged"), source, LOCK_OF_ENTRIES, ExclusiveLock);
}

/*
 * Take it alone, while a purge finds out which entries the readers need.  Return false if another
 * session has it.
 */
bool
uuid9562_try_lock_entries(Oid source)
{
	return ConditionalLockDatabaseObject(uuid9562_own_table("purged"), source, LOCK_OF_ENTRIES,
										 ExclusiveLock);
}

void
uuid9562_unlock_entries(Oid source)
{
	UnlockDatabaseObject(uuid9562_own_table("purged"), source, LOCK_OF_ENTRIES, ExclusiveLock);
}

/* Let no other session purge a table until the transaction ends.  Return false if one does so. */
bool
uuid9562_lock_purge(Oid source)
{
	return ConditionalLockDatabaseObject(uuid9562_own_table("purged"), source, LOCK_OF_PURGE,
										 ExclusiveLock);
}
