// SPDX-License-Identifier: Apache-2.0
// The contract that every backend fulfils: how one device is opened, fed and waited for.
//
// One process drives one device, from one thread unless a call says otherwise. A binary holds one backend: the linker
// chooses, and a function that a backend lacks is a link error. Calls answer GPU_OK, GPU_UNSUPPORTED (this device or
// toolkit cannot, gpu_error() says why) or GPU_FAILED (gpu_error() names the vendor's call and error).
#ifndef LIFTOFF_GPU_H
#define LIFTOFF_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gpu_status { GPU_OK, GPU_UNSUPPORTED, GPU_FAILED };

// Records why a call did not succeed and returns STATUS, so that a caller can write `return gpu_reason(…)`.
// The text is cut at 255 bytes; line breaks become spaces.
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
enum gpu_status
gpu_reason(enum gpu_status status, const char *format, ...);

// Why the calling thread's last call that did not answer GPU_OK did not. Never NULL; valid until its next such call.
const char *gpu_error(void);

// An answer with its reason, to be given again: later, on another thread or in another process.
struct gpu_outcome {
    enum gpu_status status;
    char reason[256]; // gpu_error() at the time; "" with GPU_OK
};

// Keeps STATUS, which the calling thread has just been answered, and returns it; gives what was kept again.
enum gpu_status gpu_outcome_keep(struct gpu_outcome *outcome, enum gpu_status status);
enum gpu_status gpu_outcome_tell(const struct gpu_outcome *outcome);

// --- The backend and its devices ---------------------------------------------------------------------------

// "cuda", "hip", "hip-nvidia" or "host": the column `backend` and the binary's suffix.
extern const char gpu_backend[];

// Environment variables that change how launches work here, ended by NULL; recorded in every result.
extern const char *const gpu_environment[];

// A way to run that is chosen by environment variables ("VARIABLE=value" each, ended by NULL) of a fresh process.
struct gpu_variant {
    const char *name;
    const char *const environment[4];
    bool connections; // of a queue's: it changes the connections to the device, not the queue's depth alone
};

// Those that change the queue between host and device, and those that decide when the code of kernels comes to the
// device (the first is the default); ended by a NULL name.
extern const struct gpu_variant gpu_queue_variants[], gpu_loading_variants[];

// What points the vendor's cache of compiled code at a folder; ended by NULL, empty where there is no cache. An entry
// that ends with = lacks the folder's path.
extern const char *const gpu_cache_environment[];

// The devices this process can see. Creates no context. GPU_FAILED where there is no driver or none is usable.
enum gpu_status gpu_count(unsigned *devices);

// Opens DEVICE (0 … gpu_count − 1), creates its context and makes host waits spin. Once a process.
enum gpu_status gpu_open(unsigned device);
void gpu_close(void);

// Tells EMIT what is known of DEVICE, as metadata keys (docs/schema.md); `device` (its name) is always among them, and
// `pci_bus_id` ("0000:06:00.0") where there is one. Needs no gpu_open; a fact that cannot be had is not told.
// VALUE is valid during the call only.
typedef void gpu_fact_function(void *context, const char *key, const char *value);
enum gpu_status gpu_facts(unsigned device, gpu_fact_function *emit, void *context);

// The state that changes while measuring: SM clock, temperature, power, throttle reasons, as `KEYPREFIX_…` facts.
// Sets *THROTTLED if the device reports that heat or power holds its clock down. Needs no gpu_open.
void gpu_state(unsigned device, const char *prefix, gpu_fact_function *emit, void *context, bool *throttled);

// True if this run is falsified on purpose (the host device's injection): what was asked for, else NULL.
const char *gpu_injection(void);

// --- Memory ------------------------------------------------------------------------------------------------

// Memory of the device, zeroed. The caller frees it with gpu_free.
enum gpu_status gpu_alloc(void **device_memory, size_t bytes);
void gpu_free(void *device_memory);

// Page-locked host memory that both sides see coherently, zeroed; *DEVICE_VIEW is its address on the device.
// GPU_UNSUPPORTED where there is no more room.
enum gpu_status gpu_alloc_mapped(void **host_view, void **device_view, size_t bytes);
void gpu_free_mapped(void *host_view);

// Copies BYTES from the device; returns when they are here.
enum gpu_status gpu_read(void *to, const void *device_memory, size_t bytes);

// --- Streams -----------------------------------------------------------------------------------------------

struct gpu_stream; // an in-order queue that does not wait for the default stream

enum gpu_status gpu_stream_create(struct gpu_stream **stream);
void gpu_stream_destroy(struct gpu_stream *stream);

// Returns when all that was submitted to STREAM has ended; answers the first error that the device met.
enum gpu_status gpu_stream_synchronize(struct gpu_stream *stream);

// Copies BYTES between device or mapped memory in STREAM's order. One call of the vendor's, which may return before it
// is done.
enum gpu_status gpu_stream_copy(struct gpu_stream *stream, void *to, const void *from, size_t bytes);

struct gpu_event; // a mark in a stream; TIMED: it also keeps the time

enum gpu_status gpu_event_create(struct gpu_event **event, bool timed);
void gpu_event_destroy(struct gpu_event *event);
enum gpu_status gpu_event_record(struct gpu_event *event, struct gpu_stream *stream); // one call of the vendor's

// Lets nothing submitted to STREAM later start before the 32-bit word at DEVICE_VIEW (mapped memory) is >= VALUE.
enum gpu_status gpu_stream_wait_value(struct gpu_stream *stream, void *device_view, uint32_t value);

// --- Kernels and launches ----------------------------------------------------------------------------------

// A kernel is known by the address of its symbol: GPU_KERNEL(stamp) at file scope, then gpu_kernel(stamp).
#define GPU_KERNEL(name) extern const char kernel_##name[]
#define gpu_kernel(name) ((const void *)kernel_##name)

// What one launch needs. Fill the first part, call gpu_launch_prepare, leave the struct where it is, and submit as
// often as you like: what `argument` points to is read again at each submission, so it may change between them.
enum { GPU_ARGUMENTS_MAX = 512 };

struct gpu_launch {
    const void *kernel;
    unsigned grid[3], block[3]; // blocks, and threads a block
    unsigned cluster[3];        // blocks a cluster, 0: no clusters; only gpu_launch_ex heeds it
    bool cooperative;           // all blocks are to be resident at once; only gpu_launch_ex heeds it
    bool dependent;      // may start before the kernel ahead of it in its stream has ended, and waits for that end
                         // where it says so (kernel.h); only gpu_launch_ex heeds it
    size_t shared_bytes; // dynamic shared memory a block
    void *argument;      // the one struct that the kernel takes, or NULL for a kernel that takes none
    size_t argument_bytes;
    unsigned argument_count; // above 1: ARGUMENT is an array of so many 8-byte values, each a parameter of its own
    struct gpu_stream *stream;

    // gpu_launch_prepare fills what follows; it belongs to the backend.
    void *arguments[GPU_ARGUMENTS_MAX + 1];
    void *function;          // the driver's handle of the kernel
    void *configuration[8];  // the vendor's own launch structure
    void *attributes[3][12]; // and what it points to
    void *packed[5];         // the driver's description of an argument buffer
};

enum gpu_status gpu_launch_prepare(struct gpu_launch *launch);

// Fills what gpu_launch_runtime alone needs, by no call of the vendor's: for a first launch that nothing is to come
// before, not even the look-up of its kernel.
void gpu_launch_fill(struct gpu_launch *launch);

// The ways to submit. Each is one call of the vendor's, and nothing else.
enum gpu_status gpu_launch_runtime(const struct gpu_launch *launch); // cudaLaunchKernel, hipLaunchKernel
enum gpu_status gpu_launch_driver(const struct gpu_launch *launch);  // cuLaunchKernel, hipModuleLaunchKernel
enum gpu_status gpu_launch_ex(const struct gpu_launch *launch);      // cudaLaunchKernelExC, hipLaunchKernelExC
enum gpu_status gpu_launch_chevron(
    const struct gpu_launch *launch); // empty<<<>>> as the compiler expands it; always GPU_OK or unsupported

enum gpu_status gpu_launch_packed(const struct gpu_launch *launch); // the driver's call with one buffer of arguments

// The error of the launches so far that could not answer for themselves, as <<<>>> cannot. Clears it.
enum gpu_status gpu_launch_error(void);

// The plainest loop that a person would write for this vendor: launches `empty` COUNT times through the runtime into
// LAUNCH's stream between two reads of clock_gettime and gives the nanoseconds that passed. It shares no code with the
// calls above, so that the harness can be held against it. It waits for nothing; COUNT stays under half the queue.
enum gpu_status gpu_plain_submit(const struct gpu_launch *launch, unsigned count, double *elapsed_ns);

// How many multiprocessors (compute units, worker threads) run blocks. The device is open.
unsigned gpu_multiprocessors(void);

// What the largest of the caches holds that this device is sure to have, in bytes; 0 where nobody tells. The device is
// open.
size_t gpu_cache_bytes(void);

// The bytes whose place in memory one entry of the device's address translation tells, of what gpu_alloc gives.
size_t gpu_page_bytes(void);

// --- The device's clock ------------------------------------------------------------------------------------

// Nanoseconds a tick of what kernels read with device_clock(). The tick is not the resolution: bench/harness.c measures
// that.
double gpu_clock_ns_per_tick(void);

#ifdef __cplusplus
}
#endif
#endif
