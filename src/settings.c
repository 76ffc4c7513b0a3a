/*
 * settings.c
 *		The settings of uuid9562 and their hooks.
 */
#include "settings.h"

#include "utils/guc.h"

#include "core/generator.h"
#include "core/text.h"

int			uuid9562_v7_method = UUID_METHOD_FRACTION;
UuidNodeBits uuid9562_node;
int			uuid9562_node_id = UNSET_NODE_ID;
int			uuid9562_max_ahead;
char	   *uuid9562_key_file;
bool		uuid9562_purge_worker_enabled;

/* The value of uuid9562.mac_address, whose assign hook sets uuid9562_node. */
static char *mac_address;

static const struct config_enum_entry v7_methods[] = {
	{"fraction", UUID_METHOD_FRACTION, false},
	{"counter", UUID_METHOD_COUNTER, false},
	{"random", UUID_METHOD_RANDOM, false},
	{NULL, 0, false}
};

/*
 * Check a MAC address; empty means a random node.  Pass the node to the assign hook.
 *
 * Do not call macaddr_in(), because before PostgreSQL 16 that function can only raise an error.
 * With the setting exit_on_error, an error is FATAL even inside PG_TRY, and ends the postmaster.
 */
static bool
check_mac_address(char **newval, void **extra, GucSource source)
{
	UuidNodeBits node = uuid_random_node;

	if ((*newval)[0] != '\0')
	{
		uint8		bytes[UUID_NODE_BYTES];

		if (!uuid_hex_read("xx:xx:xx:xx:xx:xx", *newval, bytes))
		{
			GUC_check_errdetail("Value is not a valid MAC address.");
			GUC_check_errhint("Use a MAC address such as \"00:00:5e:00:53:01\", "
							  "or an empty string to use a random node in each UUID.");
			return false;
		}
		node = uuid_layout_node_bits(bytes);
	}

	*extra = guc_malloc(LOG, sizeof(UuidNodeBits));
	if (*extra == NULL)
		return false;
	memcpy(*extra, &node, sizeof(UuidNodeBits));
	return true;
}

static void
assign_mac_address(const char *newval, void *extra)
{
	memcpy(&uuid9562_node, extra, sizeof(UuidNodeBits));
}

/* Return the bits of uuid9562.node_id.  Raise an error if it is not set. */
UuidNodeBits
uuid9562_own_node_id(void)
{
	if (uuid9562_node_id == UNSET_NODE_ID)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("parameter \"%s\" is not set", "uuid9562.node_id"),
				 errhint("Set a different node ID from 0 to 65535 on each server with ALTER SYSTEM, or pass it to uuidv8_node().")));
	return uuid_layout_node_id_bits(uuid9562_node_id);
}

/* Define the settings, and refuse other settings with the prefix "uuid9562". */
void
uuid9562_define_settings(void)
{
	DefineCustomEnumVariable("uuid9562.v7_method",
							 "Sets how uuidv7() orders values generated within one millisecond.",
							 "In RFC 9562, section 6.2, \"fraction\" is method 3, \"counter\" is method 1, and \"random\" is method 2.",
							 &uuid9562_v7_method,
							 UUID_METHOD_FRACTION, v7_methods,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("uuid9562.mac_address",
							   "Sets the MAC address used as the node of UUIDs of version 1 and 6.",
							   "If empty, each UUID has a random node. With a fixed node, only 13 random bits distinguish UUIDs that two sessions generate within 100 ns.",
							   &mac_address, "",
							   PGC_USERSET, 0, check_mac_address, assign_mac_address, NULL);
	DefineCustomIntVariable("uuid9562.node_id",
							"Sets the node ID used by uuidv8_node().",
							"-1 means that no node ID is set.",
							&uuid9562_node_id,
							UNSET_NODE_ID, UNSET_NODE_ID, UUID_NODE_ID_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("uuid9562.max_ahead",
							"Sets how far ordered UUIDs may run ahead of the system clock before a warning is issued.",
							"uuid_generator_advance() refuses a UUID that is further ahead.",
							&uuid9562_max_ahead,
							60, 0, PG_INT32_MAX / 1000,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomStringVariable("uuid9562.key_file",
							   "Sets the file with the keys of uuidv7_encrypt() and uuidv7_decrypt().",
							   NULL,
							   &uuid9562_key_file, "",
							   PGC_SIGHUP, GUC_SUPERUSER_ONLY, NULL, NULL, NULL);
	DefineCustomBoolVariable("uuid9562.purge_worker",
							 "Sets whether background workers purge the log of changes.",
							 "If not, call changes_purge() regularly.",
							 &uuid9562_purge_worker_enabled,
							 true,
							 PGC_SIGHUP, 0, NULL, NULL, NULL);
	MarkGUCPrefixReserved("uuid9562");
}
