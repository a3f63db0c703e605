// SPDX-License-Identifier: Apache-2.0
// From how many kernels on one way to launch them is cheaper than another, both being straight lines over them.
#ifndef LIFTOFF_BREAK_EVEN_H
#define LIFTOFF_BREAK_EVEN_H

enum { BREAK_EVEN_MOST = 10000 };

// What so many kernels cost, in ns: FIXED and PER_KERNEL for each.
struct break_even_line {
    double fixed, per_kernel;
};

// Through what two different numbers of kernels cost, the smaller first.
struct break_even_line break_even_line(const double cost_ns[2], const unsigned kernels[2]);

// The smallest number of kernels, from 1 on, for which NEW is not dearer than OLD, where what NEW costs ONCE is shared
// by so many LAUNCHES (1 and more). Above BREAK_EVEN_MOST: not up to there, or NEW costs no less a kernel.
double break_even_kernels(struct break_even_line new, struct break_even_line once, struct break_even_line old,
                          double launches);

#endif
