// SPDX-License-Identifier: Apache-2.0
// The head of a result file: what is known of the device, the machine, the program and the run. Keys are in
// docs/schema.md.
#ifndef LIFTOFF_METADATA_H
#define LIFTOFF_METADATA_H

#include <stddef.h>
#include <stdio.h>

#include "common/settings.h"

// Facts in the order they came; a key that comes again replaces its value.
struct facts {
    struct fact {
        char *key, *value;
    } * fact;
    size_t count;
};

void facts_add(void *facts, const char *key, const char *value); // a facts_emit and a gpu_fact_function
const char *facts_get(const struct facts *facts, const char *key, const char *otherwise);
void facts_free(struct facts *facts);

// Adds what is known of the host and of the device's place in it. Takes away what --anonymous leaves out.
void metadata_add_host(struct facts *facts, const struct settings *settings);

// A name for the run that no other run has: UTC and random digits.
void metadata_run_id(char *text, size_t room);

// Writes metadata and header of the result file, and those of its samples file unless SAMPLES is NULL.
void metadata_write(FILE *file, FILE *samples, const struct settings *settings, const struct facts *facts,
                    const char *run_id, unsigned device, char **argv);

#endif
