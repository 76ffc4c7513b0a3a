/*
 * uuid9562.c
 *		Module entry.
 */
#include "compat.h"

#include "instance/shared_memory.h"
#include "instance/transaction_slot.h"
#include "settings.h"

#if PG_VERSION_NUM >= 180000
PG_MODULE_MAGIC_EXT(.name = "uuid9562",.version = UUID9562_VERSION);
#else
PG_MODULE_MAGIC;
#endif

void		_PG_init(void);

/* Set up what the module needs in every process that loads it. */
void
_PG_init(void)
{
	/* first what can fail, since a setting cannot be defined twice */
	uuid9562_shared_init();
	uuid9562_hold_init();
	uuid9562_define_settings();
}
