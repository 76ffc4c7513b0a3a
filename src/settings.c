/*
 * settings.c
 *		The settings of uuid9562 and their check hooks.
 */
#include "settings.h"

#include "access/parallel.h"
#include "utils/guc.h"

#include "core/text.h"
#include "instance/ordered.h"
#include "instance/transaction_slot.h"

int			uuid9562_v7_method = UUID_METHOD_FRACTION;
int			uuid9562_monotonic_scope = SCOPE_SESSION;
UuidStamp	uuid9562_node;
int			uuid9562_node_id = UNSET_NODE_ID;
int			uuid9562_max_ahead;

/* What the user wrote for uuid9562.node; the hooks keep uuid9562_node. */
static char *node_setting;

static const struct config_enum_entry v7_methods[] = {
	{"fraction", UUID_METHOD_FRACTION, false},
	{"counter", UUID_METHOD_COUNTER, false},
	{"random", UUID_METHOD_RANDOM, false},
	{NULL, 0, false}
};

static const struct config_enum_entry scopes[] = {
	{"session", SCOPE_SESSION, false},
	{"instance", SCOPE_INSTANCE, false},
	{NULL, 0, false}
};

/* Are we in _PG_init, where values that were set before are checked? */
static bool loading;

/*
 * uuid9562.monotonic_scope: instance needs shared memory.  A SET is refused.
 * A value from a file, a role or before the library was loaded is taken, and
 * the generators refuse: dropping it would drop the promise.  Whoever gives it
 * to a role or a database is told.
 */
static bool
check_scope(int *newval, void **extra, GucSource source)
{
	if (*newval != SCOPE_INSTANCE || (source != PGC_S_SESSION && source != PGC_S_TEST) ||
		loading || InitializingParallelWorker)
		return true;
	if (uuid9562_shared_available())
	{
		/* so that this session's workers find that it knows of the memory */
		if (source == PGC_S_SESSION)
			(void) uuid9562_instance();
		return true;
	}
	if (source == PGC_S_TEST)
	{
		ereport(NOTICE,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg(NO_SHARED_MEMORY_MESSAGE),
				 errdetail("Where the setting applies, the time-based generators will refuse."),
				 errhint(NO_SHARED_MEMORY_HINT)));
		return true;
	}
	GUC_check_errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE);
	GUC_check_errmsg(NO_SHARED_MEMORY_MESSAGE);
	GUC_check_errhint(NO_SHARED_MEMORY_HINT);
	return false;
}

/* A MAC address, in the forms that PostgreSQL's manual gives for macaddr. */
static const char *const node_forms[] = {
	"xx:xx:xx:xx:xx:xx",
	"xx-xx-xx-xx-xx-xx",
	"xxxxxx:xxxxxx",
	"xxxxxx-xxxxxx",
	"xxxx.xxxx.xxxx",
	"xxxx-xxxx-xxxx",
	"xxxxxxxxxxxx",
};

/*
 * Read a node; false when it has none of the forms.  Not macaddr_in: an error
 * raised and caught in a check hook still ends the postmaster when
 * exit_on_error is on.
 */
static bool
parse_node(const char *string, uint8 *octets)
{
	for (size_t i = 0; i < lengthof(node_forms); i++)
	{
		if (uuid_text_read(node_forms[i], string, octets))
			return true;
	}
	return false;
}

/*
 * uuid9562.node: empty for a random node, or a MAC address.  Hands the stamp
 * to the assign hook.
 */
static bool
check_node(char **newval, void **extra, GucSource source)
{
	UuidStamp	stamp = uuid_layout_random_node_stamp();

	if ((*newval)[0] != '\0')
	{
		uint8		octets[UUID_NODE_OCTETS];

		if (!parse_node(*newval, octets))
		{
			GUC_check_errdetail("It is not a MAC address.");
			GUC_check_errhint("Use a MAC address such as \"02:00:5e:10:00:01\", "
							  "or an empty string for a random node in each UUID.");
			return false;
		}
		stamp = uuid_layout_node_stamp(octets);
	}

#if PG_VERSION_NUM >= 160000
	*extra = guc_malloc(LOG, sizeof(UuidStamp));
#else
	*extra = malloc(sizeof(UuidStamp));
#endif
	if (*extra == NULL)
		return false;
	memcpy(*extra, &stamp, sizeof(UuidStamp));
	return true;
}

static void
assign_node(const char *newval, void *extra)
{
	memcpy(&uuid9562_node, extra, sizeof(UuidStamp));
}

/* Define the settings, and refuse any other name under our prefix. */
void
uuid9562_define_settings(void)
{
	loading = true;
	DefineCustomEnumVariable("uuid9562.v7_method",
							 "How values of one moment are ordered by uuidv7().",
							 "RFC 9562, 6.2: fraction is method 3, counter method 1, random method 2.",
							 &uuid9562_v7_method,
							 UUID_METHOD_FRACTION, v7_methods,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("uuid9562.node",
							   "The node of uuidv1() and uuidv6(), a MAC address.",
							   "Empty means a random node in each UUID (RFC 9562, 6.10). A fixed one leaves 13 random bits to tell two sessions apart within 100 ns.",
							   &node_setting,
							   "",
							   PGC_USERSET, 0, check_node, assign_node, NULL);
	DefineCustomIntVariable("uuid9562.node_id",
							"The node id of uuidv8_node() and uuidv8_node_at(), 0 to 65535.",
							"-1 means that none is set.",
							&uuid9562_node_id,
							UNSET_NODE_ID, UNSET_NODE_ID, UUID_NODE_ID_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("uuid9562.monotonic_scope",
							 "Whose values each new time-based one exceeds: those of the session, or of all sessions of the instance.",
							 "RFC 9562, 6.3. The instance's order holds over restarts, crashes and a clock that is set back.",
							 &uuid9562_monotonic_scope,
							 SCOPE_SESSION, scopes,
							 PGC_USERSET, 0, check_scope, NULL, NULL);
	DefineCustomIntVariable("uuid9562.max_ahead",
							"How far ahead of the clock the instance's generators may be without a warning.",
							"They continue from the last values that were made, whatever the clock shows.",
							&uuid9562_max_ahead,
							60, 0, PG_INT32_MAX / 1000,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	MarkGUCPrefixReserved("uuid9562");
	loading = false;
}
