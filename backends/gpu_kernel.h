// SPDX-License-Identifier: Apache-2.0
// The part of the contract (gpu.h) about kernels as things that take room: what one takes of a multiprocessor, what the
// device grants, what callers ask before they launch, and launches that are refused.
#ifndef LIFTOFF_GPU_KERNEL_H
#define LIFTOFF_GPU_KERNEL_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// As the compiler left the kernel. One call of the vendor's.
struct gpu_kernel_attributes {
    unsigned registers_per_thread, block_threads_max;
    size_t shared_static_bytes; // a block
    size_t local_bytes;         // a thread: its stack and what registers could not hold
};
enum gpu_status gpu_kernel_attributes(const void *kernel, struct gpu_kernel_attributes *attributes);

// How many bytes of code the kernel called NAME (as in GPU_KERNEL) has on this device: from the symbol table of what
// was built. Known of the kernels in the Makefile's SIZED; else GPU_UNSUPPORTED. The device is open.
enum gpu_status gpu_kernel_code_bytes(const char *name, size_t *bytes);

// How many blocks the vendor says a multiprocessor holds at once. One call of the vendor's.
enum gpu_status gpu_kernel_occupancy(const void *kernel, unsigned block_threads, size_t shared_bytes, unsigned *blocks);

// Lets KERNEL be launched with so much dynamic shared memory, above what every kernel may have.
enum gpu_status gpu_kernel_allow_shared(const void *kernel, size_t bytes);

// Asks that, while KERNEL runs, so much of a multiprocessor's common store is shared memory, the rest being L1.
enum gpu_status gpu_kernel_prefer_shared(const void *kernel, unsigned percent);

// What the device grants. GPU_UNSUPPORTED on a device without multiprocessors' resources to speak of.
struct gpu_limits {
    size_t shared_per_block, shared_per_block_most; // most: with gpu_kernel_allow_shared
    unsigned threads_per_block;
    unsigned block_max[3], grid_max[3];
};
enum gpu_status gpu_limits(struct gpu_limits *limits);

// Sets the stack of each thread of the kernels that call functions which nobody can foresee.
enum gpu_status gpu_stack_allow(size_t bytes);

// --- What callers ask before they launch: one call of the vendor's each ------------------------------------

enum gpu_status gpu_pointer_known(const void *pointer); // cudaPointerGetAttributes, hipPointerGetAttributes
enum gpu_status gpu_device_current(int *device);        // cudaGetDevice
enum gpu_status gpu_device_select(int device);          // cudaSetDevice

// Memory that moves between host and device by itself. GPU_UNSUPPORTED where there is no more room. Freed with
// gpu_free.
enum gpu_status gpu_alloc_managed(void **memory, size_t bytes);

// Memory of the device that nobody has written to: the vendor's one call. GPU_UNSUPPORTED where there is no more room.
// Freed with gpu_free.
enum gpu_status gpu_alloc_raw(void **device_memory, size_t bytes);

// --- Refusals ----------------------------------------------------------------------------------------------

// Submits LAUNCH by one call of the vendor's and answers its own code, 0 for success; nothing is recorded, and an error
// stays the runtime's last one until gpu_code_last or gpu_launch_error clears it. It takes clusters and cooperative
// launches too. The launch went through gpu_launch_prepare, whatever that answered, but for a launch in clusters, which
// it must have answered with GPU_OK.
int gpu_launch_code(const struct gpu_launch *launch);

// As gpu_stack_allow and gpu_kernel_allow_shared, but one call of the vendor's that answers its own code.
int gpu_stack_code(size_t bytes);
int gpu_allow_shared_code(const void *kernel, size_t bytes);

// Fetches the runtime's last error and clears it. 0 where there is none.
int gpu_code_last(void);

// The code of all that STREAM still had to do: waits for it. 0 for success.
int gpu_stream_code(struct gpu_stream *stream);

// GPU_UNSUPPORTED where a kernel of this process that faults would end other programs' contexts, too.
enum gpu_status gpu_fault_confined(void);

// The vendor's name of a code ("cudaErrorInvalidValue"). Static.
const char *gpu_code_name(int code);

#ifdef __cplusplus
}
#endif
#endif
