// SPDX-License-Identifier: Apache-2.0
// The words that kernel sources are written in, so that nvcc, hipcc and the host's C compiler take the same source.
//
//   KERNEL(name, struct type) { … }     a kernel that takes one struct by value, called `argument`
//   KERNEL_EMPTY(name)                  a kernel that takes and does nothing
//   KERNEL_BARE(name) { … }             a kernel that takes nothing
//   KERNEL_SCALARS(name, count) { … }   a kernel that takes 1, 2, 4 … 512 parameters of 8 bytes, the last called `last`
//   KERNEL_BOUNDED(name, struct type, threads) { … }  as KERNEL, in blocks of so many threads at most
//   KERNEL_INDEXED(name, struct type, threads) { … }  as KERNEL_BOUNDED, its argument for indexed_load, too
//   KERNEL_CODE_512(v, by, plus)        512 bytes of straight code: multiply-adds on v, 8 floats, of which no two that
//   KERNEL_CODE_8192(v, by, plus)       follow each other share one; and 8192 bytes; on the host as many of nops
//   KERNEL_CODE_256(v, by, plus)        half of the first; no compiler makes one of two of them with other operands
//   KERNEL_MIX_FMA(v, w, by, plus)      512 independent instructions: multiply-adds on v, 8 floats; additions and
//   KERNEL_MIX_ADD_XOR                  exclusive ors on w, 8 uint32_t; one of each in turn. The host does nothing
//   KERNEL_MIX_FMA_ADD_XOR
//   KERNEL_INSTRUCTION_BYTES            of each instruction of the straight code
//   KERNEL_ARGUMENT_BYTES_MAX           how many bytes of parameters a kernel can be declared with here
//   KERNEL_GLOBAL KERNEL_FUNCTION       begin a variable of the device's, and a function for kernels to call
//   device_trap()                       ends the kernel as a fault
//   KERNEL_SHARED(type, name, count)    in a kernel: an array in the block's shared memory, undefined at first
//   KERNEL_SHARED_DYNAMIC(type, name)   the same, as long as the launch says; NULL on the host
//   KERNEL_CONSTANT(type, name, count)  at file scope: an array in constant memory; on the host a plain table
//   KERNEL_LOOP                         before a loop that is to stay one
//   KERNEL_UNROLL                       before a loop of constant length whose array is to lie in registers
//   KERNEL_HELD(registers)              how many values make a kernel that holds little else take so many registers
//   KERNEL_CONFUSED(value)              VALUE, an unsigned, of which no compiler can tell that threads share it
//   block_index() block_count()         of this block, along x
//   thread_index() block_threads()      of this thread, along x; on the host a block is one thread
//   multiprocessor_index()              of the one that runs this block, from 0, with holes, below 4096; ~0u where
//                                       the target does not tell
//   block_barrier()                     all threads of the block come here before one goes on
//   device_clock()                      ticks of the clock that all blocks share, see gpu_clock_ns_per_tick
//   warp_threads()                      of those that issue together
//   scheduler_count()                   how many parts of a multiprocessor issue, each for its own warps; 0 where
//                                       cycle_count() does not count cycles of what runs the kernel
//   cycle_count()                       cycles of the multiprocessor that runs this thread; on the host ticks
//   fence_block() fence_device() fence_system()   orders this thread's memory for the block, the device, everybody
//   dependency_wait()                   until the kernel ahead has ended, in a launch that did not wait for it before
//   dependency_trigger()                such a launch behind this kernel may start now
//   system_load(p) system_store(p, v)   of a 32- or 64-bit word that the host reads and writes meanwhile
//   system_publish(p, v)                a system_store that is seen after every store before it
//   device_load_16(to, from)            reads four 32-bit words, aligned to 16 bytes, from where all blocks meet: past
//                                       the multiprocessor's own cache
//   cached_load(p)                      of a 64-bit word, through the multiprocessor's own cache
//   read_only_load(p)                   the same through the way for what no kernel writes meanwhile, if there is one
//   indexed_load(words, byte)           of the 32-bit word at BYTE of a KERNEL_CONSTANT or a KERNEL_INDEXED's argument
//   relax()                             inside a polling loop
//   graph_condition_set(handle, value)  of a graph's conditional node; nothing where there are none
#ifndef LIFTOFF_KERNEL_H
#define LIFTOFF_KERNEL_H

#include <stdint.h>

#if defined(__CUDACC__) || defined(__HIPCC__) // a device compiler

#if defined(__HIP__)
#include <hip/hip_runtime.h>
#endif

#define KERNEL(name, type) extern "C" __global__ void kernel_##name(type argument)
#define KERNEL_BARE(name) extern "C" __global__ void kernel_##name(void)
#define KERNEL_EMPTY(name)                                                                                             \
    KERNEL_BARE(name) {}
#define KERNEL_SCALARS(name, count) extern "C" __global__ void kernel_##name(KERNEL_SCALARS_##count)
#define KERNEL_BOUNDED(name, type, threads)                                                                            \
    extern "C" __global__ void __launch_bounds__(threads) kernel_##name(type argument)
#if defined(__HIP_PLATFORM_AMD__)
#define KERNEL_INDEXED(name, type, threads)                                                                            \
    extern "C" __global__ void __launch_bounds__(threads) kernel_##name(const type argument)
#else
#define KERNEL_INDEXED(name, type, threads)                                                                            \
    extern "C" __global__ void __launch_bounds__(threads) kernel_##name(const __grid_constant__ type argument)
#endif
#define KERNEL_GLOBAL static __device__
#define KERNEL_FUNCTION static __device__ inline
#define KERNEL_SHARED(type, name, count) __shared__ type name[count]
#define KERNEL_SHARED_DYNAMIC(type, name) extern __shared__ type name[]
#define KERNEL_CONSTANT(type, name, count) static __constant__ type name[count]
#define KERNEL_UNROLL _Pragma("unroll")
#define KERNEL_LOOP _Pragma("unroll 1")

// All but the last have no name, so that no compiler complains that they are unused.
#define KERNEL_UNNAMED_1 uint64_t,
#define KERNEL_UNNAMED_2 KERNEL_UNNAMED_1 KERNEL_UNNAMED_1
#define KERNEL_UNNAMED_4 KERNEL_UNNAMED_2 KERNEL_UNNAMED_2
#define KERNEL_UNNAMED_8 KERNEL_UNNAMED_4 KERNEL_UNNAMED_4
#define KERNEL_UNNAMED_16 KERNEL_UNNAMED_8 KERNEL_UNNAMED_8
#define KERNEL_UNNAMED_32 KERNEL_UNNAMED_16 KERNEL_UNNAMED_16
#define KERNEL_UNNAMED_64 KERNEL_UNNAMED_32 KERNEL_UNNAMED_32
#define KERNEL_UNNAMED_128 KERNEL_UNNAMED_64 KERNEL_UNNAMED_64
#define KERNEL_UNNAMED_256 KERNEL_UNNAMED_128 KERNEL_UNNAMED_128
#define KERNEL_SCALARS_1 uint64_t last
#define KERNEL_SCALARS_2 KERNEL_UNNAMED_1 KERNEL_SCALARS_1
#define KERNEL_SCALARS_4 KERNEL_UNNAMED_2 KERNEL_SCALARS_2
#define KERNEL_SCALARS_8 KERNEL_UNNAMED_4 KERNEL_SCALARS_4
#define KERNEL_SCALARS_16 KERNEL_UNNAMED_8 KERNEL_SCALARS_8
#define KERNEL_SCALARS_32 KERNEL_UNNAMED_16 KERNEL_SCALARS_16
#define KERNEL_SCALARS_64 KERNEL_UNNAMED_32 KERNEL_SCALARS_32
#define KERNEL_SCALARS_128 KERNEL_UNNAMED_64 KERNEL_SCALARS_64
#define KERNEL_SCALARS_256 KERNEL_UNNAMED_128 KERNEL_SCALARS_128
#define KERNEL_SCALARS_512 KERNEL_UNNAMED_256 KERNEL_SCALARS_256

// In assembler, and much of it at once, because compilers take minutes for so many statements. NVIDIA's instructions
// take 16 bytes, AMD's of this form 8.
#define KERNEL_EACH_OF_8(fma) fma(0) fma(1) fma(2) fma(3) fma(4) fma(5) fma(6) fma(7)
#define KERNEL_32(fma) KERNEL_EACH_OF_8(fma) KERNEL_EACH_OF_8(fma) KERNEL_EACH_OF_8(fma) KERNEL_EACH_OF_8(fma)
#define KERNEL_TIMES_4(text) text text text text
#define KERNEL_TIMES_16(text) KERNEL_TIMES_4(KERNEL_TIMES_4(text))
#if defined(__HIP_PLATFORM_AMD__)
#define KERNEL_INSTRUCTION_BYTES 8
#define KERNEL_FMA(i) "v_fma_f32 %" #i ", %" #i ", %8, %9\n\t"
#define KERNEL_CODE KERNEL_32(KERNEL_FMA) KERNEL_32(KERNEL_FMA)
#define KERNEL_HALF_CODE KERNEL_32(KERNEL_FMA)
#define KERNEL_REGISTER "v"
#define KERNEL_REGISTER_INTEGER "v"
#define KERNEL_ADD(i) "v_xad_u32 %" #i ", %" #i ", %8, %9\n\t" // an addition behind an exclusive or
#define KERNEL_XOR(i) KERNEL_ADD(i)
#define KERNEL_ADD_OF_4(i) "v_xad_u32 %" #i ", %" #i ", %10, %11\n\t"
#define KERNEL_XOR_OF_4(i) KERNEL_ADD_OF_4(i)
#else
#define KERNEL_INSTRUCTION_BYTES 16
#define KERNEL_FMA(i) "fma.rn.f32 %" #i ", %" #i ", %8, %9;\n\t"
#define KERNEL_CODE KERNEL_32(KERNEL_FMA)
#define KERNEL_HALF_CODE KERNEL_EACH_OF_8(KERNEL_FMA) KERNEL_EACH_OF_8(KERNEL_FMA)
#define KERNEL_REGISTER "f"
#define KERNEL_REGISTER_INTEGER "r"
#define KERNEL_ADD(i) "add.u32 %" #i ", %" #i ", %8;\n\t"
#define KERNEL_XOR(i) "xor.b32 %" #i ", %" #i ", %9;\n\t" // between additions, which else become one
#define KERNEL_ADD_OF_4(i) "add.u32 %" #i ", %" #i ", %10;\n\t"
#define KERNEL_XOR_OF_4(i) "xor.b32 %" #i ", %" #i ", %11;\n\t"
#endif
#define KERNEL_ASSEMBLE(code, kind, v, by, plus)                                                                       \
    asm volatile(code                                                                                                  \
                 : "+" kind((v)[0]), "+" kind((v)[1]), "+" kind((v)[2]), "+" kind((v)[3]), "+" kind((v)[4]),           \
                   "+" kind((v)[5]), "+" kind((v)[6]), "+" kind((v)[7])                                                \
                 : kind(by), kind(plus));
#define KERNEL_CODE_256(v, by, plus) KERNEL_ASSEMBLE(KERNEL_HALF_CODE, KERNEL_REGISTER, v, by, plus)
#define KERNEL_CODE_512(v, by, plus) KERNEL_ASSEMBLE(KERNEL_CODE, KERNEL_REGISTER, v, by, plus)
#define KERNEL_CODE_8192(v, by, plus) KERNEL_ASSEMBLE(KERNEL_TIMES_16(KERNEL_CODE), KERNEL_REGISTER, v, by, plus)

// Of 32 instructions, of which none needs one of the seven before it.
#define KERNEL_INTEGERS                                                                                                \
    KERNEL_EACH_OF_8(KERNEL_ADD)                                                                                       \
    KERNEL_EACH_OF_8(KERNEL_XOR) KERNEL_EACH_OF_8(KERNEL_ADD) KERNEL_EACH_OF_8(KERNEL_XOR)
#define KERNEL_PAIRS(integer)                                                                                          \
    KERNEL_FMA(0)                                                                                                      \
    integer(4) KERNEL_FMA(1) integer(5) KERNEL_FMA(2) integer(6) KERNEL_FMA(3) integer(7)
#define KERNEL_BOTH                                                                                                    \
    KERNEL_PAIRS(KERNEL_ADD_OF_4)                                                                                      \
    KERNEL_PAIRS(KERNEL_XOR_OF_4) KERNEL_PAIRS(KERNEL_ADD_OF_4) KERNEL_PAIRS(KERNEL_XOR_OF_4)
#define KERNEL_MIX_FMA(v, w, by, plus)                                                                                 \
    KERNEL_ASSEMBLE(KERNEL_TIMES_16(KERNEL_32(KERNEL_FMA)), KERNEL_REGISTER, v, by, plus)
#define KERNEL_MIX_ADD_XOR(v, w, by, plus)                                                                             \
    KERNEL_ASSEMBLE(KERNEL_TIMES_16(KERNEL_INTEGERS), KERNEL_REGISTER_INTEGER, w, (uint32_t)(by), (uint32_t)(plus))
#define KERNEL_MIX_FMA_ADD_XOR(v, w, by, plus)                                                                         \
    asm volatile(KERNEL_TIMES_16(KERNEL_BOTH)                                                                          \
                 : "+" KERNEL_REGISTER((v)[0]), "+" KERNEL_REGISTER((v)[1]), "+" KERNEL_REGISTER((v)[2]),              \
                   "+" KERNEL_REGISTER((v)[3]), "+" KERNEL_REGISTER_INTEGER((w)[0]),                                   \
                   "+" KERNEL_REGISTER_INTEGER((w)[1]), "+" KERNEL_REGISTER_INTEGER((w)[2]),                           \
                   "+" KERNEL_REGISTER_INTEGER((w)[3])                                                                 \
                 : KERNEL_REGISTER(by), KERNEL_REGISTER(plus), KERNEL_REGISTER_INTEGER((uint32_t)(by)),                \
                   KERNEL_REGISTER_INTEGER((uint32_t)(plus)));

#if defined(__HIP_PLATFORM_AMD__) || __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ < 1201
#define KERNEL_ARGUMENT_BYTES_MAX 4096
#else
#define KERNEL_ARGUMENT_BYTES_MAX 32764
#endif

static __device__ inline unsigned block_index(void) { return blockIdx.x; }
static __device__ inline unsigned block_count(void) { return gridDim.x; }
static __device__ inline unsigned thread_index(void) { return threadIdx.x; }
static __device__ inline unsigned block_threads(void) { return blockDim.x; }
static __device__ inline void block_barrier(void) { __syncthreads(); }
static __device__ inline unsigned warp_threads(void) { return warpSize; }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 600
static __device__ inline unsigned scheduler_count(void) { return 2; }
#else
static __device__ inline unsigned scheduler_count(void) { return 4; } // of RDNA's too: a block has a pair of units
#endif

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
static __device__ inline void device_load_16(uint32_t *to, const void *from)
{
    const uint64_t *words = (const uint64_t *)from;
    for (int i = 0; i < 2; i++) {
        uint64_t word = __hip_atomic_load(words + i, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        to[2 * i] = (uint32_t)word;
        to[2 * i + 1] = (uint32_t)(word >> 32);
    }
}
static __device__ inline uint64_t cached_load(const uint64_t *p)
{
    return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT);
}
static __device__ inline uint64_t read_only_load(const uint64_t *p) { return cached_load(p); }
static __device__ inline void relax(void) { __builtin_amdgcn_s_sleep(0); }
static __device__ inline void device_trap(void) { __builtin_trap(); }

// Of the wave's hardware number (register, first bit and bits less one): the compute unit of its array, and the array;
// from RDNA on the pair of them that shares a block. With several dies also the die.
static __device__ inline unsigned multiprocessor_index(void)
{
#if defined(__GFX9__)
    unsigned index = __builtin_amdgcn_s_getreg(4 | 8 << 6 | 7 << 11);
#if defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__)
    index |= __builtin_amdgcn_s_getreg(20 | 0 << 6 | 3 << 11) << 8;
#endif
    return index;
#elif defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
    return __builtin_amdgcn_s_getreg(23 | 10 << 6 | 10 << 11);
#else
    return ~0u;
#endif
}
#if defined(__HIP_DEVICE_COMPILE__)
#define KERNEL_CONFUSED(value) kernel_confused(value)
static __device__ inline unsigned kernel_confused(unsigned value)
{
    asm volatile("" : "+v"(value));
    return value;
}
#else
#define KERNEL_CONFUSED(value) (value)
#endif
#define KERNEL_HELD(registers) ((registers)-2)
#else
static __device__ inline uint64_t device_clock(void)
{
    uint64_t ticks;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ticks)::"memory");
    return ticks;
}
static __device__ inline void device_load_16(uint32_t *to, const void *from)
{
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "l"(from)
                 : "memory");
}
static __device__ inline uint64_t cached_load(const uint64_t *p)
{
    uint64_t word;
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(word) : "l"(p) : "memory");
    return word;
}
static __device__ inline uint64_t read_only_load(const uint64_t *p)
{
    uint64_t word;
    asm volatile("ld.global.nc.u64 %0, [%1];" : "=l"(word) : "l"(p) : "memory");
    return word;
}
static __device__ inline void relax(void) {}
static __device__ inline void device_trap(void) { __trap(); }
static __device__ inline unsigned multiprocessor_index(void)
{
    unsigned index;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(index));
    return index;
}
#define KERNEL_CONFUSED(value) (value)
#define KERNEL_HELD(registers) ((registers) - ((registers) > 32 ? 11 : 10)) // addresses and the clock take the rest
#endif

#define indexed_load(words, byte) (*(const uint32_t *)((const char *)(words) + (byte)))
static __device__ inline uint64_t cycle_count(void) { return (uint64_t)clock64(); }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
static __device__ inline void dependency_wait(void) { asm volatile("griddepcontrol.wait;" ::: "memory"); }
static __device__ inline void dependency_trigger(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#else
static __device__ inline void dependency_wait(void) {}
static __device__ inline void dependency_trigger(void) {}
#endif
#if !defined(__HIP_PLATFORM_AMD__) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1204
static __device__ inline void graph_condition_set(uint64_t handle, unsigned value)
{
    cudaGraphSetConditional(handle, value);
}
#else
static __device__ inline void graph_condition_set(uint64_t handle, unsigned value) { (void)handle, (void)value; }
#endif
static __device__ inline void fence_block(void) { __threadfence_block(); }
static __device__ inline void fence_device(void) { __threadfence(); }
static __device__ inline void fence_system(void) { __threadfence_system(); }
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
extern _Thread_local unsigned host_worker;         // 0 …

// The device hands over the bytes of the argument, unaligned.
#define KERNEL(name, type)                                                                                             \
    static inline __attribute__((always_inline)) void name##_body(type argument);                                      \
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
#define KERNEL_BARE(name)                                                                                              \
    static void name##_body(void);                                                                                     \
    void kernel_##name(const void *packed);                                                                            \
    void kernel_##name(const void *packed)                                                                             \
    {                                                                                                                  \
        (void)packed;                                                                                                  \
        name##_body();                                                                                                 \
    }                                                                                                                  \
    static void name##_body(void)
#define KERNEL_SCALARS(name, count)                                                                                    \
    static void name##_body(uint64_t last);                                                                            \
    void kernel_##name(const void *packed);                                                                            \
    void kernel_##name(const void *packed)                                                                             \
    {                                                                                                                  \
        uint64_t last;                                                                                                 \
        memcpy(&last, (const char *)packed + sizeof last * ((count)-1), sizeof last);                                  \
        name##_body(last);                                                                                             \
    }                                                                                                                  \
    static void name##_body(uint64_t last)
#define KERNEL_BOUNDED(name, type, threads) KERNEL(name, type)
#define KERNEL_INDEXED(name, type, threads) KERNEL(name, type)
#if defined(__x86_64__)
#define KERNEL_INSTRUCTION_BYTES 8
#define KERNEL_NOP ".byte 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0" // the nop of 8 bytes that both makers recommend
#define KERNEL_NOPS "64"
#else
#define KERNEL_INSTRUCTION_BYTES 4
#define KERNEL_NOP "nop"
#define KERNEL_NOPS "128"
#endif
#define KERNEL_NOPS_512(v, by, plus, times)                                                                            \
    (void)(v);                                                                                                         \
    (void)(by);                                                                                                        \
    (void)(plus);                                                                                                      \
    __asm__ volatile(".rept " KERNEL_NOPS " * " times "\n\t" KERNEL_NOP "\n\t.endr");
#define KERNEL_CODE_256(v, by, plus) KERNEL_NOPS_512(v, by, plus, "1 / 2 /* " #by " */")
#define KERNEL_CODE_512(v, by, plus) KERNEL_NOPS_512(v, by, plus, "1")
#define KERNEL_MIX_FMA(v, w, by, plus) (void)(v), (void)(w);
#define KERNEL_MIX_ADD_XOR(v, w, by, plus) (void)(v), (void)(w);
#define KERNEL_MIX_FMA_ADD_XOR(v, w, by, plus) (void)(v), (void)(w);
#define KERNEL_CODE_8192(v, by, plus) KERNEL_NOPS_512(v, by, plus, "16")
#define KERNEL_ARGUMENT_BYTES_MAX 4096
#define KERNEL_SHARED_DYNAMIC(type, name) type *name = NULL
#define KERNEL_GLOBAL static
#define KERNEL_FUNCTION static inline
#define KERNEL_SHARED(type, name, count) static _Thread_local type name[count]
#define KERNEL_CONSTANT(type, name, count) static volatile type name[count]
#define KERNEL_UNROLL
#define KERNEL_LOOP
#define KERNEL_HELD(registers) (registers)
#define KERNEL_CONFUSED(value) (value)

static inline unsigned block_index(void) { return host_block.index; }
static inline unsigned block_count(void) { return host_block.count; }
static inline unsigned thread_index(void) { return 0; }
static inline unsigned block_threads(void) { return 1; }
static inline unsigned multiprocessor_index(void) { return host_worker; }
static inline void block_barrier(void) {}
static inline unsigned warp_threads(void) { return 1; }
static inline unsigned scheduler_count(void) { return 0; }
static inline uint64_t device_clock(void) { return clock_ticks(); }
static inline uint64_t cycle_count(void) { return clock_ticks(); }
static inline void dependency_wait(void) {}
static inline void dependency_trigger(void) {}
static inline void fence_block(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void fence_device(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void fence_system(void) { clock_wait_stores(); }
static inline void device_load_16(uint32_t *to, const void *from) { memcpy(to, from, 16); }
static inline uint64_t cached_load(const uint64_t *p) { return *(const volatile uint64_t *)p; }
static inline uint64_t read_only_load(const uint64_t *p) { return cached_load(p); }
#define indexed_load(words, byte) (*(const volatile uint32_t *)((const volatile char *)(words) + (byte)))
static inline void relax(void) { clock_relax(); }
static inline void graph_condition_set(uint64_t handle, unsigned value) { (void)handle, (void)value; }
static inline void device_trap(void) { __builtin_trap(); }
#define system_load(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define system_store(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define system_publish(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

#endif
#endif
