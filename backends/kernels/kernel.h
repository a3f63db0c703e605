// SPDX-License-Identifier: Apache-2.0
// The words that kernel sources are written in, so that nvcc, hipcc and the host's C compiler take the same source.
//
//   KERNEL(name, struct type) { … }     a kernel that takes one struct by value, called `argument`
//   KERNEL_EMPTY(name)                  a kernel that takes and does nothing
//   block_index() block_count()         of this block, along x
//   thread_index() block_threads()      of this thread, along x; on the host a block is one thread
//   device_clock()                      ticks of the clock that all blocks share, see gpu_clock_ns_per_tick
//   system_load(p) system_store(p, v)   of a 32- or 64-bit word that the host reads and writes meanwhile; nothing is
//   cached system_publish(p, v)                a system_store that is seen after every store before it relax() inside a
//   polling loop
#ifndef LIFTOFF_KERNEL_H
#define LIFTOFF_KERNEL_H

#include <stdint.h>

#if defined(__CUDACC__) || defined(__HIPCC__) // a device compiler

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif

#define KERNEL(name, type) extern "C" __global__ void kernel_##name(type argument)
#define KERNEL_EMPTY(name)                                                                                             \
    extern "C" __global__ void kernel_##name(void) {}

static __device__ inline unsigned block_index(void) { return blockIdx.x; }
static __device__ inline unsigned block_count(void) { return gridDim.x; }
static __device__ inline unsigned thread_index(void) { return threadIdx.x; }
static __device__ inline unsigned block_threads(void) { return blockDim.x; }

#if defined(__HIP_PLATFORM_AMD__)
static __device__ inline uint64_t device_clock(void)
{
#if defined(__GFX11__) || defined(__GFX12__)
    return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#elif defined(__HIP_DEVICE_COMPILE__)
    return __builtin_amdgcn_s_memrealtime();
#else
    return 0; // the host pass only parses this
#endif
}
static __device__ inline void relax(void) { __builtin_amdgcn_s_sleep(0); }
#else
static __device__ inline uint64_t device_clock(void)
{
    uint64_t ticks;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks)::"memory");
    return ticks;
}
static __device__ inline void relax(void) {}
#endif

template <class T> static __device__ inline T system_load(const T *p) { return *(const volatile T *)p; }
template <class T> static __device__ inline void system_store(T *p, T value) { *(volatile T *)p = value; }
template <class T> static __device__ inline void system_publish(T *p, T value)
{
    __threadfence_system();
    *(volatile T *)p = value;
}

#else // the host's C compiler: a kernel is a function that a worker thread calls once a block

#include <string.h>

#include "common/clock.h"

struct host_block {
    unsigned index, count;
};
extern _Thread_local struct host_block host_block; // set by the worker before each block

// The device hands over the bytes of the argument, unaligned.
#define KERNEL(name, type)                                                                                             \
    static void name##_body(type argument);                                                                            \
    void kernel_##name(const void *packed);                                                                            \
    void kernel_##name(const void *packed)                                                                             \
    {                                                                                                                  \
        type argument;                                                                                                 \
        memcpy(&argument, packed, sizeof argument);                                                                    \
        name##_body(argument);                                                                                         \
    }                                                                                                                  \
    static void name##_body(type argument)
#define KERNEL_EMPTY(name)                                                                                             \
    void kernel_##name(const void *packed);                                                                            \
    void kernel_##name(const void *packed) { (void)packed; }

static inline unsigned block_index(void) { return host_block.index; }
static inline unsigned block_count(void) { return host_block.count; }
static inline unsigned thread_index(void) { return 0; }
static inline unsigned block_threads(void) { return 1; }
static inline uint64_t device_clock(void) { return clock_ticks(); }
static inline void relax(void) { clock_relax(); }
#define system_load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define system_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define system_publish(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

#endif
#endif
