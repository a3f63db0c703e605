// SPDX-License-Identifier: Apache-2.0
// Kernels that pass items from a producer to a consumer, and kernels that do nothing but read or write as fast as they
// can.
#include "backends/kernels/carry.h"

#include "backends/kernels/kernel.h"

struct range {
    uint32_t begin, end;
};

// The items of block INDEX: whole tiles, or all of them where they are less than one.
KERNEL_FUNCTION struct range items_of(uint32_t count, uint32_t index)
{
    const uint32_t tile = count < CARRY_TILE ? count : CARRY_TILE, tiles = count / tile;
    struct range range;
    range.begin = tiles * index / block_count() * tile;
    range.end = tiles * (index + 1) / block_count() * tile;
    return range;
}

KERNEL_FUNCTION struct carry_item produce(uint32_t index, uint32_t seed)
{
    struct carry_item item;
    item.word[0] = (index ^ seed) * 0x9e3779b1u;
    item.word[1] = item.word[0] ^ index >> 3;
    item.word[2] = (index + seed) * 0x85ebca6bu;
    item.word[3] = item.word[2] + item.word[0];
    return item;
}

KERNEL_FUNCTION uint32_t consume(const uint32_t *word) { return (word[0] ^ word[2]) + (word[1] ^ word[3]); }

KERNEL_FUNCTION void produce_range(struct carry_item *items, struct range range, uint32_t seed)
{
    for (uint32_t i = range.begin + thread_index(); i < range.end; i += block_threads()) items[i] = produce(i, seed);
}

KERNEL_FUNCTION uint32_t consume_range(const struct carry_item *items, struct range range)
{
    const uint32_t threads = block_threads();
    uint32_t sum = 0, i = range.begin + thread_index();
    uint32_t word[CARRY_LOADS_AT_ONCE][4];
    for (; i + (CARRY_LOADS_AT_ONCE - 1) * threads < range.end; i += CARRY_LOADS_AT_ONCE * threads) {
        KERNEL_UNROLL for (int k = 0; k < CARRY_LOADS_AT_ONCE; k++)
            device_load_16(word[k], items + ((i + k * threads) ^ CARRY_NEIGHBOUR));
        KERNEL_UNROLL for (int k = 0; k < CARRY_LOADS_AT_ONCE; k++) sum += consume(word[k]);
    }
    for (; i < range.end; i += threads) {
        device_load_16(word[0], items + (i ^ CARRY_NEIGHBOUR));
        sum += consume(word[0]);
    }
    return sum;
}

// The last clock read comes when every thread has its sum; adding them up is no part of what is timed.
KERNEL_FUNCTION void leave_stamp(struct carry_stamp *stamps, uint64_t sequence, uint64_t begin, uint32_t sum)
{
    KERNEL_SHARED(uint32_t, sums, CARRY_THREADS);
    struct carry_stamp *out = stamps + block_index();
    sums[thread_index()] = sum;
    block_barrier();
    if (!thread_index()) out->end_ticks = device_clock();
    for (unsigned half = block_threads() / 2; half; half /= 2) {
        if (thread_index() < half) sums[thread_index()] += sums[thread_index() + half];
        block_barrier();
    }
    if (thread_index()) return;
    out->begin_ticks = begin;
    out->checksum = sums[0];
    out->sequence = sequence;
}

// A stamp with nothing behind it but its last store: the next kernel waits for all that this one does.
KERNEL_FUNCTION void leave_bare_stamp(struct carry_stamp *stamps, uint64_t sequence, uint64_t begin)
{
    struct carry_stamp *out = stamps + block_index();
    if (!thread_index()) {
        out->begin_ticks = begin;
        out->checksum = 0;
        out->sequence = sequence;
    }
    block_barrier();
    if (!thread_index()) out->end_ticks = device_clock();
}

// --- From a producer to a consumer -------------------------------------------------------------------------

KERNEL_BOUNDED(carry_registers, struct carry_argument, CARRY_THREADS)
{
    uint64_t begin = device_clock();
    const struct range range = items_of(argument.count, block_index());
    uint32_t sum = 0;
    for (uint32_t i = range.begin + thread_index(); i < range.end; i += block_threads()) {
        struct carry_item item = produce(i, argument.seed);
        sum += consume(item.word);
    }
    leave_stamp(argument.out, argument.sequence, begin, sum);
}

// Two tiles in turn: at the barrier of one, all have read the other.
KERNEL_BOUNDED(carry_shared, struct carry_argument, CARRY_THREADS)
{
    KERNEL_SHARED(struct carry_item, tiles, 2 * CARRY_TILE);
    uint64_t begin = device_clock();
    const struct range range = items_of(argument.count, block_index());
    uint32_t sum = 0, turn = 0;
    for (uint32_t at = range.begin; at < range.end; at += CARRY_TILE, turn ^= CARRY_TILE) {
        const uint32_t length = range.end - at < CARRY_TILE ? range.end - at : CARRY_TILE;
        for (uint32_t i = thread_index(); i < length; i += block_threads())
            tiles[turn + i] = produce(at + i, argument.seed);
        block_barrier();
        for (uint32_t i = thread_index(); i < length; i += block_threads()) {
            struct carry_item item = tiles[turn + (i ^ CARRY_NEIGHBOUR)];
            sum += consume(item.word);
        }
    }
    leave_stamp(argument.out, argument.sequence, begin, sum);
}

KERNEL_BOUNDED(carry_phases, struct carry_argument, CARRY_THREADS)
{
    uint64_t begin = device_clock();
    const struct range range = items_of(argument.count, block_index());
    produce_range(argument.items, range, argument.seed);
    fence_block();
    block_barrier();
    uint32_t sum = consume_range(argument.items, range);
    leave_stamp(argument.out, argument.sequence, begin, sum);
}

KERNEL_BOUNDED(carry_produce, struct carry_argument, CARRY_THREADS)
{
    uint64_t begin = device_clock();
    produce_range(argument.items, items_of(argument.count, block_index()), argument.seed);
    leave_bare_stamp(argument.out, argument.sequence, begin);
}

// Unless a block is to have its own: from the last block's items to the first's, of which hardly any was produced on
// the same multiprocessor.
KERNEL_BOUNDED(carry_consume, struct carry_argument, CARRY_THREADS)
{
    uint64_t begin = device_clock();
    const uint32_t from = argument.own ? block_index() : block_count() - 1 - block_index();
    const struct range range = items_of(argument.count, from);
    uint32_t sum = consume_range(argument.items, range);
    leave_stamp(argument.out, argument.sequence, begin, sum);
}

// --- As fast as the machine can ----------------------------------------------------------------------------

KERNEL_BOUNDED(bandwidth_load, struct bandwidth_argument, CARRY_THREADS)
{
    uint64_t begin = device_clock();
    const uint32_t all = block_count() * block_threads();
    uint32_t i = block_index() * block_threads() + thread_index(), sum = 0;
    uint32_t word[CARRY_LOADS_AT_ONCE][4];
    for (uint32_t done = 0; done < argument.each; done += CARRY_LOADS_AT_ONCE) {
        KERNEL_UNROLL for (int k = 0; k < CARRY_LOADS_AT_ONCE; k++) {
            device_load_16(word[k], argument.items + i);
            i += all;
            if (i >= argument.count) i -= argument.count;
        }
        KERNEL_UNROLL for (int k = 0; k < CARRY_LOADS_AT_ONCE; k++) sum += consume(word[k]);
    }
    leave_stamp(argument.out, argument.sequence, begin, sum);
}

// A store is done when a fence says so.
KERNEL_BOUNDED(bandwidth_store, struct bandwidth_argument, CARRY_THREADS)
{
    uint64_t begin = device_clock();
    const uint32_t all = block_count() * block_threads();
    uint32_t i = block_index() * block_threads() + thread_index();
    struct carry_item item = produce(i, (uint32_t)argument.sequence);
    for (uint32_t done = 0; done < argument.each; done++) {
        argument.items[i] = item;
        item.word[0] = done;
        i += all;
        if (i >= argument.count) i -= argument.count;
    }
    fence_device();
    leave_stamp(argument.out, argument.sequence, begin, 0);
}

KERNEL_BOUNDED(bandwidth_shared, struct bandwidth_argument, CARRY_THREADS)
{
    KERNEL_SHARED(struct carry_item, tile, CARRY_TILE);
    for (uint32_t i = thread_index(); i < CARRY_TILE; i += block_threads())
        tile[i] = produce(i, (uint32_t)argument.sequence);
    block_barrier();
    uint64_t begin = device_clock();
    uint32_t i = thread_index(), sum = 0;
    for (uint32_t done = 0; done < argument.each; done += CARRY_LOADS_AT_ONCE) {
        struct carry_item item[CARRY_LOADS_AT_ONCE];
        KERNEL_UNROLL for (int k = 0; k < CARRY_LOADS_AT_ONCE; k++)
        {
            item[k] = tile[i];
            i = (i + CARRY_NEIGHBOUR) % CARRY_TILE;
        }
        KERNEL_UNROLL for (int k = 0; k < CARRY_LOADS_AT_ONCE; k++) sum += consume(item[k].word);
    }
    leave_stamp(argument.out, argument.sequence, begin, sum);
}
