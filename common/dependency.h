// SPDX-License-Identifier: Apache-2.0
// What the stamps of two kernels that follow each other in a chain say: how they lie to each other, and in which order
// they were.
#ifndef LIFTOFF_DEPENDENCY_H
#define LIFTOFF_DEPENDENCY_H

#include <stdint.h>

#include "backends/kernels/dependent_launch.h"

// From a producer to its consumer, in ticks.
struct dependency {
    int64_t gap;     // the producer's last end … the consumer's first block past its wait
    int64_t overlap; // the consumer's first begin … the producer's last end; negative where it began after that
    int64_t period;  // the producer's first begin … the consumer's
    unsigned broken; // blocks of the consumer that did not read what the producer left in the end
};

// Of two grids of BLOCKS (1 …) each, all of which ran.
struct dependency dependency_between(const struct dependent_stamp *producer, const struct dependent_stamp *consumer,
                                     unsigned blocks);

#endif
