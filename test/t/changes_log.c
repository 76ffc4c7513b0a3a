/*
 * A library for changes_log.pl: its transaction callback executes the statement in the setting
 * "late.statement" before a transaction commits or is prepared, and its trigger does nothing.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(late_nothing);

void		_PG_init(void);

static char *statement;

static void
execute_late(XactEvent event, void *arg)
{
	if ((event != XACT_EVENT_PRE_COMMIT && event != XACT_EVENT_PRE_PREPARE) || statement[0] == '\0')
		return;
	PushActiveSnapshot(GetTransactionSnapshot());
	SPI_connect();
	SPI_execute(statement, false, 0);
	SPI_finish();
	PopActiveSnapshot();
}

Datum
late_nothing(PG_FUNCTION_ARGS)
{
	return PointerGetDatum(NULL);
}

void
_PG_init(void)
{
	DefineCustomStringVariable("late.statement", "Sets the statement that is executed before commit.", NULL,
							   &statement, "", PGC_USERSET, 0, NULL, NULL, NULL);
	RegisterXactCallback(execute_late, NULL);
}
