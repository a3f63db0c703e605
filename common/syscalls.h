// SPDX-License-Identifier: Apache-2.0
// Counts the system calls of a piece of work, phase by phase, in two ways that know nothing of each other: libc's ioctl
// is interposed, and the work runs in a forked process under ptrace.
//
// The interposed ioctl is the one that the binary exports (the link's --export-dynamic-symbol): shared objects that
// call ioctl by name call it. It counts in every process of a binary that has it, and passes on.
#ifndef LIFTOFF_SYSCALLS_H
#define LIFTOFF_SYSCALLS_H

#include <stdint.h>

#include "backends/gpu.h"

enum { SYSCALLS_PHASES = 8 };

struct syscalls_counts {
    struct {
        uint64_t interposed;       // calls of ioctl through libc's name
        uint64_t ioctls, syscalls; // of any of the process's threads, as the tracer saw them
    } phase[SYSCALLS_PHASES];
    int refused; // why nothing was traced (errno); 0: it was
};

// Forks, runs WORK there and counts. WORK names its phases; what it does in phase 0 counts for nothing. GPU_FAILED if a
// counter misses any of the deliberate calls that are made before WORK, or if the two disagree in a phase; WORK's own
// status and gpu_error() otherwise. This process must have one thread, and no other child.
enum gpu_status syscalls_count(enum gpu_status (*work)(void), struct syscalls_counts *counts);

// For WORK: what follows belongs to PHASE, 0 … SYSCALLS_PHASES − 2.
void syscalls_phase(unsigned phase);

#endif
