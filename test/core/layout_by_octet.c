/*
 * layout_by_octet.c
 *		The tests of layout, where the compiler does not tell the byte order.
 */
#define UUID_LAYOUT_BY_OCTET

#include "layout.c"
