// SPDX-License-Identifier: Apache-2.0
// NVIDIA's multi-process service as gpu_share.h's server, for CUDA and for HIP over CUDA: its daemon runs as a child of
// this process, in this process's group, so that it ends whenever the group does.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/gpu_share.h"

const char *const gpu_server_environment[] = {"CUDA_MPS_PIPE_DIRECTORY=", "CUDA_MPS_LOG_DIRECTORY=", NULL};

#define PROGRAM "nvidia-cuda-mps-control"
enum { LOOK_MS = 10, START_MS = 5000, STOP_MS = 5000, NOT_FOUND = 127 };

static pid_t daemon_pid;
static char directory[256];

// Runs the program with ARGUMENT, or NULL, and TEXT as its input, or /dev/null.
static pid_t run(const char *argument, const char *text)
{
    int input[2];
    if (pipe2(input, O_CLOEXEC)) return -1;
    // Before anybody can have closed the other end, and less than a pipe holds.
    if (text && write(input[1], text, strlen(text)) < 0) text = NULL;
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(NOT_FOUND);
        int nowhere = open("/dev/null", O_RDWR);
        dup2(input[0], 0);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        setenv("CUDA_MPS_PIPE_DIRECTORY", directory, 1);
        setenv("CUDA_MPS_LOG_DIRECTORY", directory, 1);
        execlp(PROGRAM, PROGRAM, argument, (char *)NULL);
        _exit(NOT_FOUND);
    }
    close(input[0]);
    close(input[1]);
    return pid;
}

// Whether PID ended within LIMIT_MS; *STATUS is its wait status then.
static bool ended_within(pid_t pid, int limit_ms, int *status)
{
    for (int waited = 0; waited < limit_ms; waited += LOOK_MS) {
        if (waitpid(pid, status, WNOHANG) == pid) return true;
        nanosleep(&(struct timespec){0, LOOK_MS * 1000000}, NULL);
    }
    return false;
}

enum gpu_status gpu_server_start(const char *folder)
{
    char control[sizeof directory + 16];
    int status = 0;
    if (daemon_pid > 0) return gpu_reason(GPU_FAILED, "the server runs already");
    if (snprintf(directory, sizeof directory, "%s", folder) >= (int)sizeof directory)
        return gpu_reason(GPU_FAILED, "the server's folder has too long a path");
    snprintf(control, sizeof control, "%s/control", directory);
    pid_t pid = run("-f", NULL);
    if (pid < 0) return gpu_reason(GPU_FAILED, "%s: %s", PROGRAM, strerror(errno));
    for (int waited = 0; waited < START_MS; waited += LOOK_MS) {
        if (ended_within(pid, LOOK_MS, &status)) {
            if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND)
                return gpu_reason(GPU_UNSUPPORTED, "%s is not installed", PROGRAM);
            return gpu_reason(GPU_FAILED, "%s ended at once with status %d", PROGRAM, WEXITSTATUS(status));
        }
        if (access(control, F_OK) == 0) {
            daemon_pid = pid;
            return GPU_OK;
        }
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return gpu_reason(GPU_FAILED, "%s did not open its control pipe within %d s", PROGRAM, START_MS / 1000);
}

enum gpu_status gpu_server_stop(void)
{
    int status;
    if (daemon_pid <= 0) return GPU_OK;
    pid_t asker = run(NULL, "quit\n"), daemon = daemon_pid;
    daemon_pid = 0;
    bool ended = ended_within(daemon, STOP_MS, &status);
    if (asker > 0 && !ended_within(asker, STOP_MS, &status)) {
        kill(asker, SIGKILL);
        waitpid(asker, &status, 0);
    }
    if (ended) return GPU_OK;
    kill(daemon, SIGKILL);
    waitpid(daemon, &status, 0);
    return gpu_reason(GPU_FAILED, "%s did not end when it was asked to", PROGRAM);
}
