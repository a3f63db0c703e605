// SPDX-License-Identifier: Apache-2.0
// The files of one run. See output.h.
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"

// A file that grows by whole flushes only.
struct part {
    char *path, *final_path; // final_path: NULL if it is written where it stays
    int fd;
    off_t whole; // bytes that are known to be whole
    FILE *text;  // what the next flush writes
    char *buffer;
    size_t bytes;
};

struct output {
    struct part csv, samples; // samples.fd < 0 if there is none
    uint64_t synced_ns;
};

char *output_beside(const char *path, const char *suffix)
{
    size_t length = strlen(path);
    if (length > 4 && strcmp(path + length - 4, ".csv") == 0) length -= 4;
    char *name = malloc(length + strlen(suffix) + 1);
    if (!name) abort();
    memcpy(name, path, length);
    strcpy(name + length, suffix);
    return name;
}

static bool complain(const char *path, const char *what)
{
    fprintf(stderr, "liftoff: %s: %s: %s\n", path, what, strerror(errno));
    return false;
}

static void part_text(struct part *part)
{
    part->text = open_memstream(&part->buffer, &part->bytes);
    if (!part->text) abort();
}

static bool part_create(struct part *part, char *path, bool replace)
{
    part->path = path;
    if (replace) {
        part->final_path = path;
        part->path = malloc(strlen(path) + 5);
        if (!part->path) abort();
        sprintf(part->path, "%s.tmp", path);
        unlink(part->path); // left by a resume that was killed
    }
    part_text(part);
    part->fd = open(part->path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return part->fd >= 0 || complain(part->path, "cannot be created");
}

static bool part_write(struct part *part)
{
    for (size_t done = 0; done < part->bytes;) {
        ssize_t written = write(part->fd, part->buffer + done, part->bytes - done);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            complain(part->path, "cannot be written");
            if (ftruncate(part->fd, part->whole)) complain(part->path, "cannot be cut back to its last whole row");
            return false;
        }
        done += (size_t)written;
    }
    part->whole += (off_t)part->bytes;
    return true;
}

static bool part_flush(struct part *part)
{
    if (part->fd < 0) return true;
    bool fine = fclose(part->text) == 0 ? part_write(part) : complain(part->path, "no memory for a row");
    free(part->buffer);
    part_text(part);
    return fine;
}

static bool part_sync(struct part *part)
{
    if (part->fd < 0 || fdatasync(part->fd) == 0) return true;
    return errno == EINVAL || errno == EROFS ||
           complain(part->path, "cannot be brought to the disk"); // EINVAL: no disk behind it
}

// KEEP: a file that is to replace another does so; else it goes, and the other stays.
static bool part_close(struct part *part, bool keep)
{
    bool fine = part->fd < 0 || close(part->fd) == 0 || complain(part->path, "cannot be closed");
    if (part->fd >= 0 && part->final_path && !keep) unlink(part->path);
    if (part->fd >= 0 && part->final_path && keep)
        fine = fine && (rename(part->path, part->final_path) == 0 || complain(part->final_path, "cannot be replaced"));
    if (part->text) fclose(part->text);
    free(part->buffer);
    free(part->final_path);
    free(part->path);
    return fine;
}

struct output *output_create(const char *path, bool samples, bool replace)
{
    struct output *output = calloc(1, sizeof *output);
    if (!output) abort();
    output->csv.fd = output->samples.fd = -1;
    char *copy = strdup(path);
    if (!copy) abort();
    bool fine = part_create(&output->csv, copy, replace);
    if (fine && samples && !part_create(&output->samples, output_beside(path, ".samples.csv"), replace)) {
        unlink(output->csv.path);
        fine = false;
    }
    if (fine) return output;
    if (output->csv.fd >= 0) close(output->csv.fd);
    free(output);
    return NULL;
}

FILE *output_text(struct output *output) { return output->csv.text; }

FILE *output_samples_text(struct output *output) { return output->samples.text; }

bool output_flush(struct output *output) { return part_flush(&output->csv) && part_flush(&output->samples); }

bool output_tick(struct output *output)
{
    uint64_t now = clock_gettime_ns();
    if (now - output->synced_ns < 1000000000u) return true;
    output->synced_ns = now;
    return part_sync(&output->csv) && part_sync(&output->samples);
}

bool output_close(struct output *output)
{
    bool fine = output_flush(output);
    fine = part_sync(&output->csv) && part_sync(&output->samples) && fine;
    // The first flush of a file that replaces another brings what that one held.
    bool keep = output->csv.whole > 0 && (output->samples.fd < 0 || output->samples.whole > 0);
    fine = part_close(&output->csv, keep) && fine;
    fine = part_close(&output->samples, keep) && fine;
    free(output);
    return fine;
}
