// SPDX-License-Identifier: Apache-2.0
// What it costs that kernels which follow each other prefer different carve-outs. See carve.h.
#include "common/carve.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/gpu_kernel.h"
#include "common/hold.h"
#include "common/launch.h"
#include "common/sync.h"

GPU_KERNEL(carve_first);
GPU_KERNEL(carve_second);

// A multiprocessor changes its carve-out only if both kernels run on it: each has a block for every one of them, or
// RESIDENT blocks. The kernels take shared memory, because one that takes none may leave the carve-out as it is.
enum { CHAIN = 100, SHARED_BYTES = 16384, RESIDENT = 4, SPIN_NS = 10000 };

static const struct carve {
    const char *variant;
    const void *kernel[2];
    unsigned percent[2];
} carves[] = {{"same", {gpu_kernel(carve_first), gpu_kernel(carve_first)}, {0, 0}},
              {"same", {gpu_kernel(carve_first), gpu_kernel(carve_first)}, {100, 100}},
              {"kernels_alternate", {gpu_kernel(carve_first), gpu_kernel(carve_second)}, {0, 0}},
              {"kernels_alternate", {gpu_kernel(carve_first), gpu_kernel(carve_second)}, {100, 100}},
              {"carveout_alternates", {gpu_kernel(carve_first), gpu_kernel(carve_second)}, {0, 100}}};
enum { CARVES = sizeof carves / sizeof *carves };

static struct chain chain;
static struct hold_stamp *device_stamps, *stamps; // as the kernels write and the host reads them
static struct {
    struct gpu_launch launch;
    struct hold_argument argument;
} pair[2];

static enum gpu_status prepare_pair(const struct carve *carve)
{
    enum gpu_status status = GPU_OK;
    for (unsigned k = 0; k < 2 && !status; k++) {
        status = gpu_kernel_prefer_shared(carve->kernel[k], carve->percent[k]);
        pair[k].argument.out = device_stamps + k * RESIDENT * gpu_multiprocessors();
        pair[k].argument.shared_bytes = SHARED_BYTES;
        pair[k].launch = chain.empty;
        pair[k].launch.kernel = carve->kernel[k];
        pair[k].launch.block[0] = HOLD_THREADS;
        pair[k].launch.shared_bytes = SHARED_BYTES;
        pair[k].launch.argument = &pair[k].argument;
        pair[k].launch.argument_bytes = sizeof pair[k].argument;
        if (!status) status = gpu_launch_prepare(&pair[k].launch);
    }
    return status;
}

static void aim_pair(unsigned blocks_each, double spin_ns)
{
    for (unsigned k = 0; k < 2; k++) {
        pair[k].launch.grid[0] = blocks_each * gpu_multiprocessors();
        pair[k].argument.sequence++;
        pair[k].argument.spin_ticks = (uint64_t)(spin_ns / gpu_clock_ns_per_tick());
    }
}

static enum gpu_status submit_in_turn(const struct gpu_launch *unused)
{
    static unsigned turn;
    (void)unused;
    return gpu_launch_runtime(&pair[turn++ % 2].launch);
}

// Brings the stamps of kernel K here, of its last launch.
static enum gpu_status read_pair(unsigned k)
{
    const unsigned blocks = pair[k].launch.grid[0];
    uint64_t begin, end;
    enum gpu_status status = gpu_read(stamps, pair[k].argument.out, blocks * sizeof *stamps);
    return status ? status : hold_span(stamps, blocks, pair[k].argument.sequence, &begin, &end);
}

// Tells in C's detail how many blocks of each kernel a multiprocessor holds while they come in turn: whether the
// carve-out really changes.
static enum gpu_status prove_change(struct bench_case *c)
{
    double resident[2] = {0};
    enum gpu_status status = GPU_OK;
    aim_pair(RESIDENT, SPIN_NS);
    for (unsigned n = 0; n < 4 && !status; n++) status = submit_in_turn(NULL);
    status = launch_drain(chain.stream, status);
    for (unsigned k = 0; k < 2 && !status; k++) {
        status = read_pair(k);
        if (!status) resident[k] = hold_resident(stamps, pair[k].launch.grid[0]);
    }
    snprintf(c->detail, sizeof c->detail, "first_blocks=%g;second_blocks=%g", resident[0], resident[1]);
    return status;
}

// period: 2N launches of two kernels in turn between two stamps, less N of them between two stamps, over N, by the
// stamps' begins; all queued behind a gate before the first starts.
static enum gpu_status measure_period(struct bench_case *c, unsigned samples, double *values)
{
    enum gpu_status status = prepare_pair(&carves[(unsigned)c->argument]);
    if (!status) status = prove_change(c);
    for (unsigned i = 0; i < samples && !status; i++) {
        double longer, shorter;
        aim_pair(1, 0);
        status = chain_elapsed_launch(&chain, &pair[0].launch, submit_in_turn, 2 * CHAIN, &longer);
        if (!status) status = chain_elapsed_launch(&chain, &pair[0].launch, submit_in_turn, CHAIN, &shorter);
        for (unsigned k = 0; k < 2 && !status; k++) status = read_pair(k);
        if (!status) values[i] = (longer - shorter) / CHAIN;
    }
    c->error_bound[0] = 2 * sync_device_resolution_ns() / CHAIN;
    return status;
}

static void add_carve(struct bench_plan *plan, unsigned index)
{
    const struct carve *carve = &carves[index];
    struct bench_case c = {.variant = carve->variant,
                           .batch = CHAIN,
                           .samples = 2,
                           .budget_share = 0.08,
                           .measure = measure_period,
                           .argument = index,
                           .outputs = {{"period", "ns", "lower", .resolution = sync_device_resolution_ns() / CHAIN}}};
    snprintf(c.params, sizeof c.params,
             "block_threads=128;blocks_per_multiprocessor=1;first_percent=%u;kernel=hold;second_percent=%u;"
             "shared_bytes=%d",
             carve->percent[0], carve->percent[1], SHARED_BYTES);
    bench_add(plan, &c);
}

enum gpu_status carve_plan(struct bench_plan *plan, bool quick)
{
    const size_t bytes = 2 * RESIDENT * gpu_multiprocessors() * sizeof *stamps;
    void *memory;
    enum gpu_status status = chain_open(&chain);
    if (!status) status = gpu_alloc(&memory, bytes);
    if (status) return status;
    device_stamps = memory;
    stamps = malloc(bytes);
    if (!stamps) return gpu_reason(GPU_FAILED, "no memory for %zu bytes of stamps", bytes);
    for (unsigned v = 0; v < CARVES; v++)
        if (!quick || carves[v].percent[0] == 0) add_carve(plan, v);
    return GPU_OK;
}

void carve_close(void)
{
    gpu_free(device_stamps);
    free(stamps);
    chain_close(&chain);
}
