/*
 * points.h
 *		Replace PostgreSQL's atomics, barriers, spinlocks, clock and random bits.
 *
 * The Makefile includes this header before the first line of each file of the code under test.
 */
#ifndef UUID9562_TEST_POINTS_H
#define UUID9562_TEST_POINTS_H

#include "compat.h"

#include <time.h>

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/spin.h"

#include "core/random_buffer.h"

extern uint64 model_read(const volatile void *address);
extern void model_write(volatile void *address, uint64 value);
extern uint64 model_fetch_add(volatile void *address, int64 summand);
extern void model_read_barrier(void);
extern void model_write_barrier(void);
extern void model_full_barrier(void);
extern void model_acquire(const volatile void *lock);
extern void model_release(const volatile void *lock);
extern void model_wait(void);
extern int	model_clock(struct timespec *now);
extern bool model_random(uint64 *bits);

#define pg_atomic_init_u64(address, value) model_write(address, value)
#define pg_atomic_read_u64(address) model_read(address)
#define pg_atomic_write_u64(address, value) model_write(address, value)
#define pg_atomic_fetch_add_u64(address, summand) model_fetch_add(address, summand)

/* the model changes the following four bytes too, which no code under test accesses */
#define pg_atomic_init_u32(address, value) model_write(address, value)
#define pg_atomic_read_u32(address) ((uint32) model_read(address))
#define pg_atomic_fetch_add_u32(address, summand) model_fetch_add(address, summand)
#define pg_atomic_fetch_sub_u32(address, summand) model_fetch_add(address, -(summand))

#undef pg_read_barrier
#undef pg_write_barrier
#undef pg_memory_barrier
#define pg_read_barrier() model_read_barrier()
#define pg_write_barrier() model_write_barrier()
#define pg_memory_barrier() model_full_barrier()

/* These are macros before PostgreSQL 19. */
#undef SpinLockInit
#undef SpinLockAcquire
#undef SpinLockRelease
#define SpinLockInit(lock) ((void) (lock))
#define SpinLockAcquire(lock) model_acquire(lock)
#define SpinLockRelease(lock) model_release(lock)

/* A loop that waits for another process calls CHECK_FOR_INTERRUPTS(). */
#undef CHECK_FOR_INTERRUPTS
#define CHECK_FOR_INTERRUPTS() model_wait()

#define clock_gettime(clock, now) model_clock(now)
#define uuid_random_buffer_take(buffer, owner, source, bits) model_random(bits)

#endif							/* UUID9562_TEST_POINTS_H */
