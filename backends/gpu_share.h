// SPDX-License-Identifier: Apache-2.0
// The part of the contract (gpu.h) about sharing a device: several contexts, parts of its multiprocessors, and a server
// that merges the work of several processes.
#ifndef LIFTOFF_GPU_SHARE_H
#define LIFTOFF_GPU_SHARE_H

#include "backends/gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

// A context beside the one that gpu_open made. What is allocated, created and prepared while a thread uses it belongs
// to it, and is launched while it is used. The calling thread uses it at once; destroyed with all that it holds.
struct gpu_context;
enum gpu_status gpu_context_create(struct gpu_context **context);
void gpu_context_destroy(struct gpu_context *context);

// From now on the calling thread uses CONTEXT; NULL: the one that gpu_open made.
enum gpu_status gpu_context_use(struct gpu_context *context);

// PARTS (1 …) streams, each of which runs its kernels on multiprocessors that no other of them uses: an equal share
// each, *MULTIPROCESSORS of them. Destroyed as other streams; the parts last until the process ends.
enum gpu_status gpu_stream_create_parts(struct gpu_stream **streams, unsigned parts, unsigned *multiprocessors);

// Whether processes that open the same device share it. GPU_UNSUPPORTED where each has one of its own. Needs no
// gpu_open.
enum gpu_status gpu_processes_share(void);

// GPU_UNSUPPORTED if what processes that are started now launch goes through a server that is not of this program, so
// that they take no turns.
enum gpu_status gpu_server_absent(void);

// A server through which processes share the device at once. It keeps its files in FOLDER (empty, of this process's
// own) and dies with the calling process's group; a process uses it if it starts with gpu_server_environment, whose
// entries (ended by NULL) lack the folder's path behind their =. GPU_UNSUPPORTED where the vendor has none.
extern const char *const gpu_server_environment[];
enum gpu_status gpu_server_start(const char *folder);
enum gpu_status gpu_server_stop(void); // returns when it has ended, after a few seconds by force

#ifdef __cplusplus
}
#endif
#endif
