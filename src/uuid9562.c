/*
 * uuid9562.c
 *		Module entry.
 */
#include "compat.h"

#include "instance/instance.h"
#include "settings.h"

MODULE_MAGIC(UUID9562_VERSION);

void		_PG_init(void);

/*
 * Prepare a process that loads the library.  This raises no error, since with
 * session_preload_libraries an error would make every connection fail.
 */
void
_PG_init(void)
{
	uuid9562_define_settings();
	uuid9562_instance_init();
}
