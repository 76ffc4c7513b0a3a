/*
 * key_file.h
 *		The keys of public IDs.
 */
#ifndef UUID9562_KEY_FILE_H
#define UUID9562_KEY_FILE_H

#include "compat.h"

extern void *uuid9562_find_key(const text *name);

#endif							/* UUID9562_KEY_FILE_H */
