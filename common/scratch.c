// SPDX-License-Identifier: Apache-2.0
// A folder that is made, measured and removed. See scratch.h.
#include "common/scratch.h"

#include <assert.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long long walked_bytes; // nftw hands no context on

static int add_bytes(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)path, (void)place;
    if (type == FTW_F) walked_bytes += status->st_size;
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

enum gpu_status scratch_make(struct scratch *scratch)
{
    const char *folder = getenv("TMPDIR");
    int length =
        snprintf(scratch->path, sizeof scratch->path, "%s/liftoff-XXXXXX", folder && *folder ? folder : P_tmpdir);
    bool cut = (size_t)length >= sizeof scratch->path;
    if (!cut && mkdtemp(scratch->path)) return GPU_OK;
    enum gpu_status status =
        gpu_reason(GPU_FAILED, "%s: no folder %s", strerror(cut ? ENAMETOOLONG : errno), scratch->path);
    scratch->path[0] = '\0';
    return status;
}

long long scratch_bytes(const struct scratch *scratch)
{
    walked_bytes = 0;
    if (scratch->path[0]) nftw(scratch->path, add_bytes, 8, FTW_PHYS);
    return walked_bytes;
}

unsigned scratch_complete(const struct scratch *scratch, const char *const *entries, const char **environment,
                          unsigned count)
{
    static char settings[SCRATCH_SETTINGS_MAX][300];
    unsigned used = 0;
    for (; *entries; entries++) {
        const char *entry = *entries;
        if (entry[strlen(entry) - 1] == '=') {
            assert(used < SCRATCH_SETTINGS_MAX);
            snprintf(settings[used], sizeof *settings, "%s%s", entry, scratch->path);
            entry = settings[used++];
        }
        environment[count++] = entry;
    }
    environment[count] = NULL;
    return count;
}

void scratch_remove(struct scratch *scratch)
{
    if (scratch->path[0]) nftw(scratch->path, remove_one, 8, FTW_PHYS | FTW_DEPTH);
    scratch->path[0] = '\0';
}
