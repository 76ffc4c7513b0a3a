/*
 * layout_by_byte.c
 *		The tests of layout, where the compiler does not tell the byte order.
 */
#define UUID_LAYOUT_BY_BYTE

#include "layout.c"
