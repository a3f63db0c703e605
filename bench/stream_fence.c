// SPDX-License-Identifier: Apache-2.0
// What order costs: commands between the kernels of a stream, dependencies between streams, fences within a kernel.
#include "backends/gpu_stream.h"
#include "common/bench.h"
#include "common/fences.h"
#include "common/launch.h"
#include "common/pin.h"
#include "common/sync.h"

// BATCH: calls in a sample of submit. LINKS: gaps in a sample. FANS: fans in a sample. LEAD_NS: how long the kernel in
// front of all others runs, so that what they wait for besides it has ended.
enum { BATCH = 50, LINKS = 20, FANS = 4, STREAMS_MAX = 32, COPIED = 0x5a5a5a5a };
static const double LEAD_NS = 100e3;
static const double BUDGET_SHARE = 0.07; // of a point

static struct chain chain;
static double stamp_cost_ns; // of a kernel's stores, its end and its beginning, which are in each gap
static double clock_error_ns;

// The chain's stream is 0, and `other` is 1. stamp_in: `stamp` in each of them.
static struct gpu_stream *streams[STREAMS_MAX + 1], *other;
static struct gpu_launch stamp_in[STREAMS_MAX + 1];

// Several of each kind, so that no record or wait is one that the driver has just seen.
static struct gpu_event *events[BATCH], *events_timed[BATCH], *events_other[BATCH], *event_held;
static uint32_t *words, *words_device; // mapped: the target of write_value, 1, what `value` counts
static uint32_t *memory;               // the device's; memset_4 and copy_4 write to its first words
static uint32_t called;                // by host_function
static uint32_t next_value = 1;        // the first that write_value and memset_4 leave next

// --- Commands behind a gate --------------------------------------------------------------------------------

static enum gpu_status stamp(unsigned stream)
{
    stamp_launch_aim(&chain.stamps);
    return gpu_launch_runtime(&stamp_in[stream]);
}

// The other stream records its events once the gate has opened: a wait for one that has ended could be none.
static enum gpu_status record_others(void)
{
    enum gpu_status status = gpu_event_record(event_held, chain.stream);
    if (!status) status = gpu_stream_wait_event(other, event_held);
    for (unsigned i = 0; i < BATCH && !status; i++) status = gpu_event_record(events_other[i], other);
    return status;
}

// Closes the gate and puts a long stamp behind it, and beside that, if WITH_OTHERS, the other stream's records.
static enum gpu_status begin(bool with_others)
{
    stamp_launch_reset(&chain.stamps);
    enum gpu_status status = chain_hold(&chain);
    if (!status && with_others) status = record_others();
    chain.stamps.argument.spin_ticks = (uint64_t)(LEAD_NS / gpu_clock_ns_per_tick());
    if (!status) status = stamp(0);
    chain.stamps.argument.spin_ticks = 0;
    return status;
}

// Opens the gate, drains all streams whatever happened, and brings the stamps here.
static enum gpu_status finish(enum gpu_status status)
{
    enum gpu_status released = chain_release(&chain), ended = gpu_device_synchronize();
    if (!status) status = released ? released : ended;
    return status ? status : stamp_launch_read(&chain.stamps);
}

// Adds to *SUM_NS, from the end of stamp FROM to the begin of stamp TO, SHARE of it. That it is not negative is all
// that proves that a dependency was heeded.
static enum gpu_status add_gap(unsigned from, unsigned to, double share, double *sum_ns)
{
    const struct stamp *stamps = chain.stamps.stamp;
    const int64_t ticks = (int64_t)(stamps[to].begin_ticks - stamps[from].end_ticks);
    *sum_ns += share * (double)ticks * gpu_clock_ns_per_tick();
    if (ticks >= 0) return GPU_OK;
    return gpu_reason(GPU_FAILED, "a kernel began %.0f ns before the one that it depends on had ended",
                      -(double)ticks * gpu_clock_ns_per_tick());
}

// The mean of all gaps but the first, behind the lead.
static enum gpu_status mean_gap(enum gpu_status status, double *mean_ns)
{
    *mean_ns = 0;
    for (unsigned i = 1; i <= LINKS && !status; i++) status = add_gap(i, i + 1, 1.0 / LINKS, mean_ns);
    return status;
}

// --- submit, gap of one stream -----------------------------------------------------------------------------

static void count_call(void *count) { ++*(uint32_t *)count; }

// The time of BATCH calls. Inlined, so that COMMAND is called directly and nothing else stands between the clock reads.
static inline __attribute__((always_inline)) enum gpu_status time_calls(enum gpu_status (*command)(unsigned),
                                                                        double *elapsed_ns)
{
    unsigned status = GPU_OK;
    uint64_t begin = clock_ticks();
    for (unsigned i = 0; i < BATCH; i++) status |= (unsigned)command(i);
    uint64_t end = clock_ticks();
    *elapsed_ns = clock_ns(end - begin);
    return launch_worst(status);
}

#define COMMAND(name, call)                                                                                            \
    static inline enum gpu_status name(unsigned i) { return (void)i, call; }                                           \
    static enum gpu_status name##_time(double *elapsed_ns) { return time_calls(name, elapsed_ns); }
COMMAND(none, GPU_OK)
COMMAND(event_record, gpu_event_record(events[i], chain.stream))
COMMAND(event_record_timed, gpu_event_record(events_timed[i], chain.stream))
COMMAND(event_wait, gpu_stream_wait_event(chain.stream, events_other[i]))
COMMAND(host_function, gpu_stream_call(chain.stream, count_call, &called))
COMMAND(write_value, gpu_stream_write_value(chain.stream, words_device, next_value + i))
COMMAND(wait_value, gpu_stream_wait_value(chain.stream, words_device + 1, 1))
COMMAND(memset_4, gpu_stream_set(chain.stream, memory, (int)(next_value + i) & 0xff, 4))
COMMAND(copy_4, gpu_stream_copy(chain.stream, memory + 1, memory + 2, 4))

#define COMMAND_ROW(name)                                                                                              \
    {                                                                                                                  \
#name, name, name##_time                                                                                       \
    }
static const struct command {
    const char *variant;
    enum gpu_status (*submit)(unsigned); // one of BATCH
    enum gpu_status (*time)(double *elapsed_ns);
} commands[] = {COMMAND_ROW(none),       COMMAND_ROW(event_record), COMMAND_ROW(event_record_timed),
                COMMAND_ROW(event_wait), COMMAND_ROW(wait_value),   COMMAND_ROW(write_value),
                COMMAND_ROW(memset_4),   COMMAND_ROW(copy_4),       COMMAND_ROW(host_function)};
enum { COMMANDS = sizeof commands / sizeof *commands };

// Whether COUNT commands of those that leave something behind did. The streams are drained.
static enum gpu_status check_done(const struct command *command, unsigned count)
{
    uint32_t expected = next_value + count - 1, seen = expected;
    enum gpu_status status = GPU_OK;
    if (command->submit == host_function) {
        expected = count;
        seen = called;
    } else if (command->submit == write_value) {
        seen = words[0];
    } else if (command->submit == memset_4) {
        expected = 0x01010101 * (expected & 0xff);
        status = gpu_read(&seen, memory, sizeof seen);
    } else if (command->submit == copy_4) {
        expected = COPIED;
        status = gpu_read(&seen, memory + 1, sizeof seen);
    }
    called = 0;
    next_value += count;
    if (status || seen == expected) return status;
    return gpu_reason(GPU_FAILED, "the commands did not do what they were to do");
}

// submit: starts before the first of a batch of calls into a stream that a gate holds and stops when the last has
// returned, over the batch. The queue takes them all; it is drained outside the clock.
static enum gpu_status measure_submit(struct bench_case *c, unsigned samples, double *values)
{
    const struct command *command = &commands[(unsigned)c->argument];
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        double elapsed = 0;
        status = begin(command->submit == event_wait);
        if (!status) status = command->time(&elapsed);
        status = finish(status);
        if (!status) status = check_done(command, BATCH);
        values[i] = elapsed / BATCH;
    }
    c->error_bound[0] = clock_error_ns / BATCH;
    return status;
}

// gap: from the last clock read of a kernel to the first of the next in the same stream, with the command between them;
// the mean of LINKS of them, all in the queue before the first kernel starts.
static enum gpu_status measure_gap(struct bench_case *c, unsigned samples, double *values)
{
    const struct command *command = &commands[(unsigned)c->argument];
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        status = begin(command->submit == event_wait);
        for (unsigned link = 0; link <= LINKS && !status; link++) {
            status = command->submit(link);
            if (!status) status = stamp(0);
        }
        status = finish(status);
        if (!status) status = check_done(command, LINKS + 1);
        status = mean_gap(status, &values[i]);
    }
    c->error_bound[0] = sync_device_resolution_ns() + stamp_cost_ns;
    return status;
}

// --- gap from stream to stream -----------------------------------------------------------------------------

enum dependency { IN_ORDER, EVENT, EVENT_TIMED, VALUE, DEPENDENCIES };
static const char *const dependencies[DEPENDENCIES] = {"in_order", "event", "event_timed", "value"};

// Lets what comes to stream TO wait for what is in stream FROM. What is waited for is submitted first, so that no
// stream waits for ever where only one of the two can be done, or where two streams share a queue.
static enum gpu_status depend(enum dependency dependency, unsigned link, struct gpu_stream *from, struct gpu_stream *to)
{
    static uint32_t value;
    struct gpu_event *event = (dependency == EVENT_TIMED ? events_timed : events)[link];
    enum gpu_status status;
    switch (dependency) {
    case EVENT:
    case EVENT_TIMED: status = gpu_event_record(event, from); return status ? status : gpu_stream_wait_event(to, event);
    case VALUE:
        status = gpu_stream_write_value(from, words_device + 2, ++value);
        return status ? status : gpu_stream_wait_value(to, words_device + 2, value);
    default: return GPU_OK;
    }
}

// gap: from the last clock read of a kernel to the first of the kernel in the other stream that depends on it, there
// and back; the mean of LINKS of them, all in the queues before the first kernel starts. in_order: both in one stream.
static enum gpu_status measure_ping_pong(struct bench_case *c, unsigned samples, double *values)
{
    const enum dependency dependency = (enum dependency)c->argument;
    const unsigned step = dependency == IN_ORDER ? 0 : 1;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        status = begin(false);
        for (unsigned link = 0; link <= LINKS && !status; link++) {
            unsigned from = step * (link % 2), to = step * ((link + 1) % 2);
            status = depend(dependency, link, streams[from], streams[to]);
            if (!status) status = stamp(to);
        }
        status = finish(status);
        status = mean_gap(status, &values[i]);
    }
    c->error_bound[0] = sync_device_resolution_ns() + stamp_cost_ns;
    return status;
}

// --- fan_out, join -----------------------------------------------------------------------------------------

// One kernel, then COUNT that depend on it, a stream each, then one that depends on them all.
static enum gpu_status submit_fan(unsigned count)
{
    enum gpu_status status = gpu_event_record(event_held, chain.stream);
    for (unsigned s = 1; s <= count && !status; s++) {
        status = gpu_stream_wait_event(streams[s], event_held);
        if (!status) status = stamp(s);
        if (!status) status = gpu_event_record(events[s], streams[s]);
    }
    for (unsigned s = 1; s <= count && !status; s++) status = gpu_stream_wait_event(chain.stream, events[s]);
    return status ? status : stamp(0);
}

// fan_out: from the last clock read of the one kernel to the first of the last of the many to start. join: from the
// last clock read of the last of the many to end to the first of the kernel behind them. Means of FANS in a row.
static enum gpu_status measure_fan(struct bench_case *c, unsigned samples, double *values)
{
    const unsigned count = (unsigned)c->axis_value;
    const struct stamp *stamps = chain.stamps.stamp;
    enum gpu_status status = GPU_OK;
    for (unsigned i = 0; i < samples && !status; i++) {
        status = begin(false);
        for (unsigned fan = 0; fan < FANS && !status; fan++) status = submit_fan(count);
        status = finish(status);
        if (status) break;
        values[i] = values[samples + i] = 0;
        for (unsigned fan = 0; fan < FANS && !status; fan++) {
            const unsigned first = fan * (count + 1), join = first + count + 1;
            unsigned starts_last = first + 1, ends_last = first + 1;
            double each = 0;
            for (unsigned k = first + 1; k < join && !status; k++) {
                if (stamps[k].begin_ticks > stamps[starts_last].begin_ticks) starts_last = k;
                if (stamps[k].end_ticks > stamps[ends_last].end_ticks) ends_last = k;
                status = add_gap(first, k, 1, &each);
            }
            if (!status) status = add_gap(first, starts_last, 1.0 / FANS, &values[i]);
            if (!status) status = add_gap(ends_last, join, 1.0 / FANS, &values[samples + i]);
        }
    }
    c->error_bound[0] = c->error_bound[1] = sync_device_resolution_ns() + stamp_cost_ns;
    return status;
}

// --- The plan ----------------------------------------------------------------------------------------------

static void add_commands(struct bench_plan *plan, bool quick)
{
    const double resolution = sync_device_resolution_ns() / LINKS;
    for (unsigned k = 0; k < COMMANDS; k++) {
        if (quick && commands[k].submit != none && commands[k].submit != event_record &&
            commands[k].submit != event_wait && commands[k].submit != wait_value)
            continue;
        struct bench_case c = {.variant = commands[k].variant,
                               .params = LAUNCH_PARAMS ";order=one_stream",
                               .batch = LINKS,
                               .samples = 5,
                               .budget_share = BUDGET_SHARE,
                               .measure = measure_gap,
                               .argument = k,
                               .outputs = {{"gap", "ns", "lower", .resolution = resolution}}};
        bench_add(plan, &c);
        if (commands[k].submit == none) continue;
        c.params[0] = '\0';
        c.batch = BATCH;
        c.measure = measure_submit;
        c.outputs[0] = (struct bench_output){"submit", "ns", "lower"};
        bench_add(plan, &c);
    }
    for (unsigned k = 0; k < DEPENDENCIES; k++)
        bench_add(plan, &(struct bench_case){.variant = dependencies[k],
                                             .params = LAUNCH_PARAMS ";order=ping_pong",
                                             .batch = LINKS,
                                             .samples = 5,
                                             .budget_share = BUDGET_SHARE,
                                             .measure = measure_ping_pong,
                                             .argument = k,
                                             .outputs = {{"gap", "ns", "lower", .resolution = resolution}}});
}

static void add_fans(struct bench_plan *plan, bool quick)
{
    const double resolution = sync_device_resolution_ns() / FANS;
    for (unsigned count = quick ? 4 : 1; count <= (quick ? 4 : STREAMS_MAX); count *= 2)
        bench_add(plan, &(struct bench_case){.variant = "event",
                                             .params = LAUNCH_PARAMS,
                                             .axis = "streams",
                                             .axis_value = count,
                                             .batch = FANS,
                                             .samples = 5,
                                             .budget_share = BUDGET_SHARE,
                                             .measure = measure_fan,
                                             .outputs = {{"fan_out", "ns", "lower", .resolution = resolution},
                                                         {"join", "ns", "lower", .resolution = resolution}}});
}

// --- Setting up --------------------------------------------------------------------------------------------

static enum gpu_status create_events(void)
{
    enum gpu_status status = gpu_event_create(&event_held, false);
    for (unsigned i = 0; i < BATCH && !status; i++) {
        status = gpu_event_create(&events[i], false);
        if (!status) status = gpu_event_create(&events_timed[i], true);
        if (!status) status = gpu_event_create(&events_other[i], false);
    }
    return status;
}

// Whatever is done for the first time is done here, with no gate closed: what it brings could wait for the gate.
static enum gpu_status do_once(void)
{
    enum gpu_status status = GPU_OK;
    stamp_launch_reset(&chain.stamps);
    for (unsigned s = 0; s <= STREAMS_MAX && !status; s++) status = stamp(s);
    for (unsigned k = 0; k < COMMANDS && !status; k++)
        if (commands[k].submit(0) == GPU_FAILED) status = GPU_FAILED;
    enum gpu_status ended = gpu_device_synchronize();
    called = 0;
    if (!status) status = ended;
    return status ? status : stamp_launch_read(&chain.stamps);
}

static enum gpu_status setup(struct bench_plan *plan, bool quick)
{
    void *mapped, *mapped_device, *device;
    enum gpu_status status = sync_open();
    if (!status) status = chain_open(&chain);
    if (!status) status = gpu_alloc_mapped(&mapped, &mapped_device, 3 * sizeof *words);
    if (!status) status = gpu_alloc(&device, 3 * sizeof *memory);
    if (!status) status = fences_open(chain.stream);
    if (!status) status = create_events();
    streams[0] = chain.stream;
    for (unsigned s = 0; s <= STREAMS_MAX && !status; s++) {
        if (s) status = gpu_stream_create(&streams[s]);
        if (!status) status = stamp_launch_into(&chain.stamps, streams[s], &stamp_in[s]);
    }
    if (status) return status;
    other = streams[1];
    words = mapped;
    words_device = mapped_device;
    words[1] = 1;
    memory = device;
    clock_error_ns = clock_cost_ns();
    status = gpu_stream_set(chain.stream, memory + 2, COPIED & 0xff, 4);
    if (!status) status = chain_stamps_cost(&chain, &chain.stamps.launch, &stamp_cost_ns);
    if (status) return status;
    // The driver may make the thread that calls host functions at the first of them: not bound to this thread's core.
    const int pu = pin_current();
    pin_release();
    status = do_once();
    if (!status && pu >= 0 && !pin_pu(pu)) status = gpu_reason(GPU_FAILED, "the thread cannot be bound to PU %d", pu);
    if (status) return status;
    add_commands(plan, quick);
    add_fans(plan, quick);
    fences_add(plan, quick);
    return GPU_OK;
}

static void teardown(void)
{
    for (unsigned i = 0; i < BATCH && events_other[i]; i++) {
        gpu_event_destroy(events[i]);
        gpu_event_destroy(events_timed[i]);
        gpu_event_destroy(events_other[i]);
    }
    if (event_held) gpu_event_destroy(event_held);
    for (unsigned s = 1; s <= STREAMS_MAX && streams[s]; s++) gpu_stream_destroy(streams[s]);
    fences_close();
    if (memory) gpu_free(memory);
    if (words) gpu_free_mapped(words);
    chain_close(&chain);
    sync_close();
}

const struct benchmark stream_fence_benchmark = {
    .name = "stream_fence",
    .summary = "what order costs: commands in a stream, dependencies between streams, fences in a kernel",
    .source = "claim C5",
    .seconds = 5,
    .quick_seconds = 0.8,
    .setup = setup,
    .teardown = teardown,
};
