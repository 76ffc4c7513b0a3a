/*
 * transaction.c
 *		What is done at the end of each transaction and subtransaction.
 */
#include "changes/changes.h"

#include "access/xact.h"

static void
end_transaction(void)
{
	uuid9562_forget_pages();
	uuid9562_forget_collected();
	uuid9562_forget_notes();
}

static void
at_transaction_event(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_COMMIT:
		case XACT_EVENT_PRE_PREPARE:
			uuid9562_write_collected();
			break;
		case XACT_EVENT_COMMIT:
			uuid9562_start_purging();	/* uses what is forgotten below */
			end_transaction();
			break;
		case XACT_EVENT_ABORT:
		case XACT_EVENT_PREPARE:
			/* states that it has stored are gone, or not visible yet */
			uuid9562_forget_verified();
			end_transaction();
			break;
		default:
			break;
	}
}

static void
at_subtransaction_event(SubXactEvent event, SubTransactionId ended, SubTransactionId parent,
						void *arg)
{
	const bool	is_commit = event == SUBXACT_EVENT_COMMIT_SUB;

	if (!is_commit && event != SUBXACT_EVENT_ABORT_SUB)
		return;
	if (!is_commit)
		uuid9562_forget_verified();
	uuid9562_end_reading(is_commit, ended, parent);
	uuid9562_end_collecting(is_commit, ended, parent);
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
