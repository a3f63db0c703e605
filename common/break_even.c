// SPDX-License-Identifier: Apache-2.0
// When another way to launch pays. See break_even.h.
#include "common/break_even.h"

#include <math.h>

struct break_even_line break_even_line(const double cost_ns[2], const unsigned kernels[2])
{
    const double slope = (cost_ns[1] - cost_ns[0]) / (kernels[1] - kernels[0]);
    return (struct break_even_line){cost_ns[0] - slope * kernels[0], slope};
}

double break_even_kernels(struct break_even_line new, struct break_even_line once, struct break_even_line old,
                          double launches)
{
    const double more = new.fixed + once.fixed / launches - old.fixed;
    const double less = old.per_kernel - new.per_kernel - once.per_kernel / launches;
    if (less <= 0) return BREAK_EVEN_MOST + 1;
    return fmin(fmax(ceil(more / less), 1), BREAK_EVEN_MOST + 1);
}
