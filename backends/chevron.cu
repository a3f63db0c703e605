// SPDX-License-Identifier: Apache-2.0
// empty<<<>>> as the device compiler expands it, for CUDA and HIP.
#include "backends/runtime.h"

#include "backends/kernels/kernel.h"

extern "C" __global__ void kernel_empty(void);

extern "C" enum gpu_status gpu_launch_chevron(const struct gpu_launch *launch)
{
    kernel_empty<<<dim3(launch->grid[0]), dim3(launch->block[0]), launch->shared_bytes,
                   (VENDOR(Stream_t))(void *)launch->stream>>>();
    return GPU_OK;
}
