// SPDX-License-Identifier: Apache-2.0
// Random orders.
#ifndef LIFTOFF_SHUFFLE_H
#define LIFTOFF_SHUFFLE_H

#include <stdint.h>

// Puts ORDER's COUNT numbers in a random order. *RANDOM, which it changes, may begin as anything.
static inline void shuffle(unsigned *order, unsigned count, uint64_t *random)
{
    for (unsigned i = count; i > 1; i--) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        unsigned other = (unsigned)((*random >> 33) % i);
        unsigned kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

#endif
