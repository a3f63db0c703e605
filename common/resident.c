// SPDX-License-Identifier: Apache-2.0
// Launches a kernel that stays, and reads what it saw. See resident.h.
#include "common/resident.h"

#include <stdio.h>
#include <unistd.h>

#include "backends/gpu_kernel.h"
#include "common/clock.h"
#include "common/launch.h"

GPU_KERNEL(resident);
GPU_KERNEL(resident_registers);
GPU_KERNEL(resident_shared);

// Two reads of the clock further apart are a switch: a pass of the loop takes well under a microsecond even where a
// full multiprocessor shares its issue slots, and to save and restore even a single warp takes a trip through memory
// and the scheduler of several times as long. The longest pass that was no switch is told, so that this can be judged.
static const double APART_NS = 10e3;

static enum gpu_status fill_device(struct resident *resident, size_t shared_bytes)
{
    struct gpu_launch *launch = &resident->launch;
    struct gpu_kernel_attributes told = {0};
    unsigned blocks;
    enum gpu_status status = gpu_kernel_attributes(launch->kernel, &told);
    if (!status) status = gpu_kernel_occupancy(launch->kernel, RESIDENT_THREADS, shared_bytes, &blocks);
    if (status) return status;
    launch->block[0] = RESIDENT_THREADS;
    launch->grid[0] = blocks * gpu_multiprocessors();
    launch->shared_bytes = resident->argument.shared_bytes = shared_bytes;
    snprintf(resident->detail, sizeof resident->detail, "blocks=%u;registers_per_thread=%u;shared_bytes=%zu",
             launch->grid[0], told.registers_per_thread, shared_bytes);
    return launch->grid[0] ? GPU_OK : gpu_reason(GPU_UNSUPPORTED, "not one such block fits a multiprocessor");
}

static enum gpu_status choose(struct resident *resident, enum resident_state state)
{
    struct gpu_limits limits;
    resident->launch.kernel = gpu_kernel(resident);
    snprintf(resident->detail, sizeof resident->detail, "blocks=1");
    if (state == RESIDENT_ONE_WARP) return GPU_OK;
    if (state == RESIDENT_FULL_REGISTERS) {
        resident->launch.kernel = gpu_kernel(resident_registers);
        return fill_device(resident, 0);
    }
    resident->launch.kernel = gpu_kernel(resident_shared);
    enum gpu_status status = gpu_limits(&limits);
    if (!status) status = gpu_kernel_allow_shared(resident->launch.kernel, limits.shared_per_block_most);
    return status ? status : fill_device(resident, limits.shared_per_block_most);
}

static enum gpu_status allocate(struct resident_argument *argument)
{
    void *slices = NULL, *told = NULL, *words = NULL;
    enum gpu_status status = gpu_alloc(&slices, SLICES_TRACK_MAX * sizeof *argument->slices);
    if (!status) status = gpu_alloc(&told, sizeof *argument->told);
    if (!status) status = gpu_alloc(&words, RESIDENT_WORDS * sizeof *argument->words);
    argument->slices = slices;
    argument->told = told;
    argument->words = words;
    return status;
}

enum gpu_status resident_open(struct resident *resident, enum resident_state state, double limit_ns)
{
    *resident = (struct resident){0};
    struct resident_argument *argument = &resident->argument;
    enum gpu_status status = gpu_stream_create(&resident->stream);
    if (!status) status = allocate(argument);
    argument->room = SLICES_TRACK_MAX;
    argument->seed = (uint32_t)getpid() * 2246822519u + (uint32_t)clock_ticks(); // contexts of one process differ, too
    argument->apart_ticks = (uint64_t)(APART_NS / gpu_clock_ns_per_tick());
    resident->launch = (struct gpu_launch){.grid = {1, 1, 1},
                                           .block = {LAUNCH_BLOCK_THREADS, 1, 1},
                                           .argument = argument,
                                           .argument_bytes = sizeof *argument,
                                           .stream = resident->stream};
    if (!status) status = choose(resident, state);
    if (!status) status = gpu_launch_prepare(&resident->launch);
    if (!status) status = launch_drain(resident->stream, resident_launch(resident)); // its code is there from now on
    argument->limit_ticks = (uint64_t)(limit_ns / gpu_clock_ns_per_tick());
    return status;
}

void resident_close(struct resident *resident)
{
    if (resident->argument.slices) gpu_free(resident->argument.slices);
    if (resident->argument.told) gpu_free(resident->argument.told);
    if (resident->argument.words) gpu_free(resident->argument.words);
    if (resident->stream) gpu_stream_destroy(resident->stream);
    *resident = (struct resident){0};
}

enum gpu_status resident_launch(struct resident *resident)
{
    resident->argument.sequence++;
    return gpu_launch_runtime(&resident->launch);
}

enum gpu_status resident_read(struct resident *resident, struct resident_record *record)
{
    struct resident_told told;
    enum gpu_status status = gpu_stream_synchronize(resident->stream);
    if (!status) status = gpu_read(&told, resident->argument.told, sizeof told);
    if (!status) status = gpu_read(record->slices, resident->argument.slices, sizeof record->slices);
    if (status) return status;
    if (told.sequence != resident->argument.sequence || told.slices < 1 || told.slices > SLICES_TRACK_MAX)
        return gpu_reason(GPU_FAILED, "the resident kernel did not run");
    if (told.lost == (uint32_t)told.sequence)
        return gpu_reason(GPU_FAILED, "what the resident kernel held did not come back from a switch as it was");
    record->count = (unsigned)told.slices;
    record->ns_per_tick = gpu_clock_ns_per_tick();
    record->longest_pass_ns = (double)told.longest_pass_ticks * record->ns_per_tick;
    snprintf(record->detail, sizeof record->detail, "%s", resident->detail);
    return GPU_OK;
}
