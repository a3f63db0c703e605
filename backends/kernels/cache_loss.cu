// SPDX-License-Identifier: Apache-2.0
// Kernels that follow chains of dependent loads through what an earlier pass, or an earlier launch, has loaded.
#include "backends/kernels/cache_loss.h"

#include "backends/kernels/kernel.h"

#define LINK_BY(line, bytes, cycle, first)                                                                             \
    RELOAD_NEXT((line)*1u, ((unsigned)RELOAD_CONSTANT_BYTES_MIN << (cycle)) / (bytes)) * (bytes) +                     \
        4 * ((first) + (cycle))
#define LINK(line, cycle) LINK_BY(line, RELOAD_INDEXED_LINE_BYTES, cycle, 0)
#define LONG(line, cycle) LINK_BY((line) / 4, RELOAD_LONG_LINE_BYTES, cycle, RELOAD_CONSTANT_CYCLES)
#define LINE(line)                                                                                                     \
    LINK(line, 0), LINK(line, 1), LINK(line, 2), LINK(line, 3), LINK(line, 4), LINK(line, 5), LINK(line, 6),           \
        LONG(line, 0), LONG(line, 1), LONG(line, 2), LONG(line, 3), LONG(line, 4), LONG(line, 5), LONG(line, 6), 0,    \
        (line + 1) * RELOAD_INDEXED_LINE_BYTES - 4,
#define LINES_4(line) LINE(line) LINE(line + 1) LINE(line + 2) LINE(line + 3)
#define LINES_16(line) LINES_4(line) LINES_4(line + 4) LINES_4(line + 8) LINES_4(line + 12)
#define LINES_64(line) LINES_16(line) LINES_16(line + 16) LINES_16(line + 32) LINES_16(line + 48)
#define LINES_256(line) LINES_64(line) LINES_64(line + 64) LINES_64(line + 128) LINES_64(line + 192)
#define LINES_1024 LINES_256(0) LINES_256(256) LINES_256(512) LINES_256(768)

KERNEL_CONSTANT(uint32_t, constant_words, 1024 * RELOAD_INDEXED_LINE_BYTES / 4) = {LINES_1024};

#define GLOBAL_LOAD(at) cached_load((const uint64_t *)(at))
#define READ_ONLY_LOAD(at) read_only_load((const uint64_t *)(at))
#define CONSTANT_LOAD(at) indexed_load(constant_words, at)
#define PARAMETER_LOAD(at) indexed_load(argument.words, at)
#define INDEXED_PLACE(line, stride) ((uint64_t)(line) * (stride))

// Before the chase is timed the thread takes one step of it, so that the loop's code and a line are there, and times
// one and two loads of a word of that line: what each timing takes beside its loads. What was loaded goes to shared
// memory before the clock is read: or that would not wait for it.
enum { STEP, SELF, SELF_TIMES = 8, TIMED = SELF + SELF_TIMES };

#define RELOAD(name, define, type, of, load, place)                                                                    \
    define(name, type, RELOAD_THREADS)                                                                                 \
    {                                                                                                                  \
        KERNEL_SHARED(volatile uint64_t, arrived, 1);                                                                  \
        const uint64_t begin_ticks = device_clock();                                                                   \
        dependency_trigger();                                                                                          \
        dependency_wait();                                                                                             \
        const unsigned multiprocessor = multiprocessor_index();                                                        \
        const unsigned set = multiprocessor < MULTIPROCESSORS_MAX ? (of).sets[multiprocessor] : RELOAD_NO_SET;      \
        const uint64_t first = (of).first + set * (of).set_bytes;                                                      \
        if (set != RELOAD_NO_SET && (of).actions & RELOAD_TOUCH) {                                                     \
            uint64_t touched = 0;                                                                                      \
            for (uint32_t line = thread_index(); line < (of).lines; line += block_threads())                           \
                touched |= load(first + place(line, (of).stride));                                                     \
            arrived[0] = touched;                                                                                      \
        }                                                                                                              \
        block_barrier();                                                                                               \
        if (thread_index()) return;                                                                                    \
        struct reload_stamp *out = (of).out + block_index();                                                           \
        uint64_t next = first + (of).start;                                                                            \
        const uint64_t self = next + (of).self;                                                                        \
        uint32_t least[2] = {~0u, ~0u};                                                                                \
        KERNEL_LOOP for (uint32_t chase = STEP; chase <= TIMED && set != RELOAD_NO_SET && (of).actions & RELOAD_CHASE; \
                         chase++)                                                                                      \
        {                                                                                                              \
            const uint32_t loads = chase == TIMED ? (of).hops : chase == STEP ? 1u : 1u + (chase & 1);                 \
            uint64_t at = chase == TIMED || chase == STEP ? next : self;                                               \
            const uint64_t before = cycle_count(), begin = cycle_count();                                              \
            KERNEL_LOOP for (uint32_t i = 0; i < loads; i++) at = load(at);                                            \
            arrived[0] = at;                                                                                           \
            const uint32_t cycles = (uint32_t)(cycle_count() - begin);                                                 \
            if (chase == STEP) next = arrived[0];                                                                      \
            else if (chase != TIMED && cycles < least[loads - 1]) least[loads - 1] = cycles;                           \
            out->cycles = cycles;                                                                                      \
            out->read_cycles = (uint32_t)(begin - before);                                                             \
        }                                                                                                              \
        out->self[0] = least[0];                                                                                       \
        out->self[1] = least[1];                                                                                       \
        out->end = arrived[0] - first;                                                                                 \
        out->multiprocessor = multiprocessor;                                                                          \
        out->has_set = set != RELOAD_NO_SET;                                                                           \
        out->begin_ticks = begin_ticks;                                                                                \
        out->end_ticks = device_clock();                                                                               \
        out->sequence = (of).sequence;                                                                                 \
    }
#define RELOAD_PLAIN(name, load, place) RELOAD(name, KERNEL_BOUNDED, struct reload_argument, argument, load, place)
RELOAD_PLAIN(reload_global, GLOBAL_LOAD, RELOAD_PLACE)
RELOAD_PLAIN(reload_global_other, GLOBAL_LOAD, RELOAD_PLACE)
RELOAD_PLAIN(reload_read_only, READ_ONLY_LOAD, RELOAD_PLACE)
RELOAD_PLAIN(reload_constant, CONSTANT_LOAD, INDEXED_PLACE)
RELOAD_PLAIN(reload_constant_other, CONSTANT_LOAD, INDEXED_PLACE)
RELOAD(reload_parameters, KERNEL_INDEXED, struct reload_parameters, argument.chase, PARAMETER_LOAD, INDEXED_PLACE)

KERNEL(reload_link, struct reload_link_argument)
{
    const uint64_t all = (uint64_t)block_count() * block_threads(), lines = (uint64_t)argument.sets * argument.lines;
    for (uint64_t i = (uint64_t)block_index() * block_threads() + thread_index(); i < lines; i += all) {
        const uint32_t line = (uint32_t)(i & (argument.lines - 1));
        const uint64_t first = argument.first + i / argument.lines * argument.set_bytes;
        uint64_t *words = (uint64_t *)(first + RELOAD_PLACE(line, argument.stride));
        words[0] = first + RELOAD_PLACE(RELOAD_NEXT(line, argument.lines), argument.stride);
        words[RELOAD_SELF_BYTES / sizeof *words] = (uint64_t)&words[RELOAD_SELF_BYTES / sizeof *words];
    }
    block_barrier();
    if (!thread_index()) argument.out[block_index()] = argument.sequence;
}
