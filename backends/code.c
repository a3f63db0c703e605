// SPDX-License-Identifier: Apache-2.0
// Puts the sizes of the kernels' code into the program. CODE_SIZES is the file that scripts/code-sizes wrote.
#include "backends/code.h"

#include <string.h>

static const struct {
    const char *architecture, *kernel;
    size_t bytes;
} sizes[] = {
#include CODE_SIZES
};

enum gpu_status code_find(const char *architecture, const char *kernel, size_t *bytes)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (strcmp(sizes[i].architecture, architecture) || strcmp(sizes[i].kernel, kernel)) continue;
        *bytes = sizes[i].bytes;
        return GPU_OK;
    }
    return gpu_reason(GPU_UNSUPPORTED, "the program holds no code of %s for %s: how long it is is not known", kernel,
                      architecture);
}
