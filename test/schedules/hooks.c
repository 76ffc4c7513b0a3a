/*
 * hooks.c
 *		With -fsanitize=thread, compiled code calls these functions before each plain access.
 */
#include "server.h"

#define HOOK(declaration, value) \
	extern declaration; \
	STUB(declaration, value)

#define DEFINE_HOOKS(size) \
	HOOK(void __tsan_read##size(void *address), before_load(address, size)) \
	HOOK(void __tsan_write##size(void *address), before_store(address, size)) \
	HOOK(void __tsan_unaligned_read##size(void *address), before_load(address, size)) \
	HOOK(void __tsan_unaligned_write##size(void *address), before_store(address, size))

DEFINE_HOOKS(1)
DEFINE_HOOKS(2)
DEFINE_HOOKS(4)
DEFINE_HOOKS(8)
DEFINE_HOOKS(16)
HOOK(void __tsan_init(void),)
HOOK(void __tsan_func_entry(void *address),)
HOOK(void __tsan_func_exit(void),)
HOOK(void __tsan_read_range(void *address, size_t size), before_load(address, size))
HOOK(void __tsan_write_range(void *address, size_t size), before_store(address, size))

/*
 * The compiler does not call the functions above for the accesses of memcpy(), memmove() and
 * memset(), which it also uses to assign structs.  Define these three here, as the library of the
 * sanitizer does.  clang calls them with the prefix __tsan_.
 */
#undef memcpy
#undef memmove
#undef memset

STUB(void *memcpy(void *to, const void *from, size_t size), memmove(to, from, size))

void *
memmove(void *to, const void *from, size_t size)
{
	volatile char *target = to;
	const volatile char *source = from;

	before_store(to, size);
	before_load(from, size);
	if (target < source)
	{
		for (size_t i = 0; i < size; i++)
			target[i] = source[i];
	}
	else
	{
		while (size-- > 0)
			target[size] = source[size];
	}
	return to;
}

void *
memset(void *to, int value, size_t size)
{
	before_store(to, size);
	for (size_t i = 0; i < size; i++)
		((volatile char *) to)[i] = (char) value;
	return to;
}

HOOK(void *__tsan_memcpy(void *to, const void *from, size_t size), memmove(to, from, size))
HOOK(void *__tsan_memmove(void *to, const void *from, size_t size), memmove(to, from, size))
HOOK(void *__tsan_memset(void *to, int value, size_t size), memset(to, value, size))
