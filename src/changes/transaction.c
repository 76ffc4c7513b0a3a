/*
 * transaction.c
 *		What is done at the end of each transaction and subtransaction.
 */
#include "changes/changes.h"

#include "access/xact.h"

static void
at_transaction_event(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			uuid9562_write_collected();
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
		case XACT_EVENT_COMMIT:
			if (event == XACT_EVENT_COMMIT)
				uuid9562_start_purging();
			else
				uuid9562_forget_verified();
			uuid9562_end_of_reading(false, InvalidSubTransactionId, InvalidSubTransactionId);
			uuid9562_forget_collected();
			uuid9562_forget_purge();
			break;
		default:
			break;
	}
}

static void
at_subtransaction_event(SubXactEvent event, SubTransactionId ended, SubTransactionId parent,
						void *arg)
{
	if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	if (event == SUBXACT_EVENT_ABORT_SUB)
	{
		parent = InvalidSubTransactionId;
		uuid9562_forget_verified();
	}
	uuid9562_end_of_reading(true, ended, parent);
	uuid9562_end_collecting(ended, parent);
}

void
uuid9562_changes_init(void)
{
	uuid9562_tables_init();
	uuid9562_sources_init();
	uuid9562_row_types_init();
	uuid9562_waking_init();
	RegisterXactCallback(at_transaction_event, NULL);
	RegisterSubXactCallback(at_subtransaction_event, NULL);
}
