/*
 * settings.c
 *		The settings of uuid9562 and their check hooks.
 */
#include "settings.h"

#include "utils/guc.h"

#include "core/generator.h"
#include "core/text.h"

int			uuid9562_v7_method = UUID_METHOD_FRACTION;
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

	*extra = guc_malloc(LOG, sizeof(UuidStamp));
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

/*
 * Return the node ID of uuid9562.node_id.  Raise an error if it is not set.
 */
uint32
uuid9562_own_node_id(void)
{
	if (uuid9562_node_id == UNSET_NODE_ID)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("parameter \"%s\" is not set", "uuid9562.node_id"),
				 errhint("Set a different node ID from 0 to 65535 on each server with ALTER SYSTEM, or pass it to uuidv8_node().")));
	return uuid9562_node_id;
}

/* Define the settings, and refuse any other name under our prefix. */
void
uuid9562_define_settings(void)
{
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
	DefineCustomIntVariable("uuid9562.max_ahead",
							"Sets how far ordered UUIDs may run ahead of the system clock before a warning is issued.",
							"uuid_generator_advance() refuses a UUID that is further ahead.",
							&uuid9562_max_ahead,
							60, 0, PG_INT32_MAX / 1000,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	MarkGUCPrefixReserved("uuid9562");
}
