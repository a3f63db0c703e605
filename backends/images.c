// SPDX-License-Identifier: Apache-2.0
// Puts the images that the build made of module.cu into the program. IMAGES is their folder; IMAGES_PORTABLE is defined
// where there is a portable one.
#include "backends/images.h"

#include <stddef.h>

#define EMBED(name, file)                                                                                              \
    extern const char image_##name[];                                                                                  \
    __asm__(".pushsection .rodata\n"                                                                                   \
            ".balign 64\n"                                                                                             \
            ".globl image_" #name "\n"                                                                                 \
            "image_" #name ":\n"                                                                                       \
            ".incbin \"" IMAGES "/" file "\"\n"                                                                        \
            ".byte 0\n"                                                                                                \
            ".popsection\n")

EMBED(native_1, "1.image");
EMBED(native_10, "10.image");
EMBED(native_100, "100.image");
EMBED(native_1000, "1000.image");
#ifdef IMAGES_PORTABLE
EMBED(portable_10, "10.ptx");
#else
static const char *const image_portable_10 = NULL;
#endif

enum gpu_status image_find(unsigned functions, enum gpu_image image, const void **data)
{
    const struct {
        unsigned functions;
        const char *native, *portable;
    } images[] = {{1, image_native_1, NULL},
                  {10, image_native_10, image_portable_10},
                  {100, image_native_100, NULL},
                  {1000, image_native_1000, NULL}};
    *data = NULL;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        if (images[i].functions == functions) *data = image == GPU_IMAGE_NATIVE ? images[i].native : images[i].portable;
    return *data ? GPU_OK
                 : gpu_reason(GPU_UNSUPPORTED, "the program holds no %s image of %u functions",
                              image == GPU_IMAGE_NATIVE ? "native" : "portable", functions);
}
