// SPDX-License-Identifier: Apache-2.0
// Between runtime.c, which CUDA and HIP share, and what each vendor adds to it.
#ifndef LIFTOFF_RUNTIME_H
#define LIFTOFF_RUNTIME_H

#include "backends/gpu_kernel.h"
#include "vendor.h"

#ifdef __cplusplus
extern "C" {
#endif

// GPU_OK for success; else GPU_FAILED, or GPU_UNSUPPORTED where the vendor says "not supported", with CALL and the
// vendor's name of the error as the reason. It also clears the runtime's last error.
enum gpu_status runtime_status(VENDOR(Error_t) error, const char *call);

// To be written by the vendor's own file: fetches what the driver alone can do, and adds it to a prepared launch.
enum gpu_status vendor_open(unsigned device);
enum gpu_status vendor_prepare(struct gpu_launch *launch);
void vendor_facts(unsigned device, const char *pci_bus_id, gpu_fact_function *emit, void *context);

// What of limits only the vendor's own attributes tell, and a launch in clusters.
void vendor_limits(int device, struct gpu_limits *limits);
int vendor_launch_code(const struct gpu_launch *launch);

// Tells one fact as a decimal number.
void runtime_fact(gpu_fact_function *emit, void *context, const char *key, long long value);

static inline VENDOR(Stream_t) runtime_native(struct gpu_stream *stream) { return (VENDOR(Stream_t))(void *)stream; }

static inline dim3 runtime_dimensions(const unsigned size[3])
{
    dim3 result;
    result.x = size[0];
    result.y = size[1];
    result.z = size[2];
    return result;
}

// CHECK(Call, argument …) makes the vendor's call and returns from the caller unless it succeeds.
#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)
#define CHECK_WITH(call, ...)                                                                                          \
    do {                                                                                                               \
        enum gpu_status check_status = runtime_status(call(__VA_ARGS__), TEXT(call));                                  \
        if (check_status) return check_status;                                                                         \
    } while (0)
#define CHECK(call, ...) CHECK_WITH(VENDOR(call), __VA_ARGS__)

// The same of an allocation whose failure for want of room is GPU_UNSUPPORTED.
#define CHECK_ROOM(call, ...)                                                                                          \
    do {                                                                                                               \
        VENDOR(Error_t) check_error = VENDOR(call)(__VA_ARGS__);                                                       \
        enum gpu_status check_status = runtime_status(check_error, TEXT(VENDOR(call)));                                \
        if (check_status) return check_error == VENDOR(ErrorMemoryAllocation) ? GPU_UNSUPPORTED : check_status;        \
    } while (0)

#ifdef __cplusplus
}
#endif
#endif
