/*
 * citus.c
 *		Refuse ordered functions on connections that Citus opened.
 */
#include "ordered/shared_state.h"

#include "utils/guc.h"

/* Check whether an application_name is one that Citus gives to its connections. */
static bool
is_name_of_citus(const char *name)
{
	return strncmp(name, "citus_internal", strlen("citus_internal")) == 0 ||
		strncmp(name, "citus_run_command", strlen("citus_run_command")) == 0;
}

/*
 * Raise an error on a connection that Citus opened.  Citus evaluates functions in a WHERE
 * clause or INSERT ... SELECT on its workers, whose values and horizons are unrelated to
 * those of the coordinator.
 *
 * Citus sets application_name in the startup packet.  SET can change it, so also check the reset
 * value.  The reset value alone is not enough, because a pooler may pass on the name by SET.
 */
void
uuid9562_refuse_citus(const char *function, bool is_generator)
{
	if (is_name_of_citus(application_name) ||
		is_name_of_citus(GetConfigOptionResetString("application_name")))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot execute %s() on a connection of Citus", function),
				 errdetail("Each server has its own generators and horizons."),
				 is_generator ?
				 errhint("In INSERT ... SELECT, write \"INSERT ... WITH s AS MATERIALIZED (SELECT ...) SELECT ... FROM s\" "
						 "so that the coordinator generates an ID for each row. "
						 "If the query reads only one shard, insert its rows from a temporary table.") :
				 errhint("Execute the function on the coordinator in a separate statement. "
						 "If the query reads several shards, you can also write \"(SELECT %s(...))\".", function)));
}
