// SPDX-License-Identifier: Apache-2.0
// Faults and delays that tests ask for in LIFTOFF_HOST_INJECT, to show that the harness notices what it must notice:
//
//   launch_ns=N      a launch call, a graph's too, takes N longer before the device can see the launch
//   gap_ns=N         the device waits N between a kernel and the kernel that was already queued behind it
//   complete_ns=N    the device waits N before it publishes the end of a kernel with nothing queued behind it
//   byte_ps=N        a launch call takes N picoseconds longer for each byte of its arguments
//   live_ps=N        a launch call takes N picoseconds longer for each allocation that has not been freed
//   block_ns=N       the device takes N longer for each block of a grid
//   refuse_ns=N      a launch call that is refused takes N longer
//   ask_ns=N         asking for the current device takes N longer
//   ioctls=N         a launch call makes N ioctl calls, on no file
//   first_ns=N       the first launch call of each kernel takes N longer
//   open_ns=N        opening the device takes N longer
//   fence_ns=N       going on after a wait for a word or for another stream takes N longer
//   command_ns=N     a call that puts anything but a launch into a stream takes N longer
//   no_cache=1       nobody tells how large the cache is
//   launch_error=K   the Kth launch call fails
//   alloc_error=K    the Kth allocation fails, of those of the device and of mapped and managed memory
//   hang=K crash=K   the Kth launch never ends; raises SIGSEGV on the device
//   wrong_count=K    the Kth launch ends without having run
//
// separated by commas. Launches and allocations count from 1; K- means the Kth and all that follow.
#ifndef LIFTOFF_HOST_INJECT_H
#define LIFTOFF_HOST_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/gpu.h"

// What the device does to a launch instead of running it.
enum inject_fault { FAULT_NONE, FAULT_HANG, FAULT_CRASH, FAULT_SKIP };

struct inject {
    bool active; // any of what follows
    bool no_cache;
    uint64_t gap_ticks, complete_ticks, block_ticks, refuse_ticks, ask_ticks, open_ticks, fence_ticks, command_ticks;
};
extern struct inject inject;

// Reads the environment; GPU_FAILED with the reason if it is malformed. The clock is calibrated. Starts counting anew.
enum gpu_status inject_read(void);

// To be called by each launch call while active: delays it or fails it, or sets *FAULT for the device.
enum gpu_status inject_launch(const void *kernel, size_t argument_bytes, uint32_t *fault);

// To be called by each allocation and each release of memory.
enum gpu_status inject_allocation(void);
void inject_freed(void);

void inject_spin(uint64_t ticks);

#endif
