/*
 * uuid9562.c
 *		Initialization of the library.
 */
#include "compat.h"

#include "changes/changes.h"
#include "ordered/shared_state.h"
#include "settings.h"

MODULE_MAGIC(UUID9562_VERSION);

void		_PG_init(void);

/*
 * Initialize the library when a process loads it.  Raise no error: with
 * session_preload_libraries, an error would make every connection fail.
 */
void
_PG_init(void)
{
	uuid9562_define_settings();
	uuid9562_ordered_init();
	uuid9562_changes_init();
}
