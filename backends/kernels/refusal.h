// SPDX-License-Identifier: Apache-2.0
// The arguments of the kernels in refusal.cu.
#ifndef LIFTOFF_KERNELS_REFUSAL_H
#define LIFTOFF_KERNELS_REFUSAL_H

#include <stdint.h>

// `refusal_registers`: keeps 64 values of 8 bytes at once in COUNT turns; writes OUT if that is not NULL.
struct refusal_registers_argument {
    uint64_t *out;
    uint64_t count;
};

// `fault_shared`: writes and reads BYTES of dynamic shared memory, however much it was given.
// `fault_store`: stores 4 bytes to ADDRESS.
struct fault_argument {
    uint32_t *out;
    uint64_t address;
    uint64_t bytes;
};

#endif
