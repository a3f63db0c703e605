// SPDX-License-Identifier: Apache-2.0
// The interposed ioctl, and the tracer of a forked process. See syscalls.h.
#include "common/syscalls.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// MARKER: an option that prctl does not have. CONTROL: the phase of the deliberate calls.
enum { MARKER = 0x6c696674, CONTROL = SYSCALLS_PHASES - 1, CONTROL_CALLS = 7 };

// --- The interposed entry ----------------------------------------------------------------------------------

#ifdef __GLIBC__
typedef unsigned long ioctl_request;
#else
typedef int ioctl_request;
#endif
typedef int ioctl_function(int file, ioctl_request request, ...);

static uint64_t ioctls;

// What the name `ioctl` stands for, seen from WHERE.
static ioctl_function *find_ioctl(void *where)
{
    void *entry = dlsym(where, "ioctl");
    ioctl_function *function;
    memcpy(&function, &entry, sizeof function); // ISO C has no cast from an object to a function pointer
    return function;
}

int ioctl(int file, ioctl_request request, ...)
{
    static ioctl_function *next;
    ioctl_function *call = __atomic_load_n(&next, __ATOMIC_RELAXED);
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *); // the system call takes it always
    va_end(list);
    if (!call) __atomic_store_n(&next, call = find_ioctl(RTLD_NEXT), __ATOMIC_RELAXED);
    __atomic_add_fetch(&ioctls, 1, __ATOMIC_RELAXED);
    if (call) return call(file, request, argument);
    errno = ENOSYS;
    return -1;
}

// --- The process that works --------------------------------------------------------------------------------

// What it leaves for its tracer, in memory that both see: telling it makes no system call.
struct told {
    uint64_t interposed[SYSCALLS_PHASES];
    int refused;
    bool ended;
    enum gpu_status status;
    char reason[256];
};
static struct told *told;

void syscalls_phase(unsigned next)
{
    static unsigned phase;
    static uint64_t began;
    uint64_t now = __atomic_load_n(&ioctls, __ATOMIC_RELAXED);
    syscall(SYS_prctl, MARKER, next, 0, 0, 0);
    told->interposed[phase] += now - began;
    phase = next;
    began = now;
}

// Calls what any shared object would, on no file.
static void call_deliberately(void)
{
    ioctl_function *call = find_ioctl(RTLD_DEFAULT);
    syscalls_phase(CONTROL);
    for (int i = 0; call && i < CONTROL_CALLS; i++) call(-1, 0, NULL);
    syscalls_phase(0);
}

static void work_traced(enum gpu_status (*work)(void), pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) told->refused = errno;
    else raise(SIGSTOP);
    call_deliberately();
    told->status = work();
    syscalls_phase(0);
    snprintf(told->reason, sizeof told->reason, "%s", gpu_error());
    told->ended = true;
    _exit(0); // no more, as a sanitizer's own tracer would be refused
}

// --- The tracer --------------------------------------------------------------------------------------------

// The kernel's struct ptrace_syscall_info as far as it is needed: the headers that have it contradict each other.
enum { GET_SYSCALL_INFO = 0x420e, ENTRY = 1 };
struct syscall_info {
    uint8_t operation, padding[3];
    uint32_t architecture;
    uint64_t instruction, stack;
    uint64_t number, arguments[6];
};

// False before Linux 5.3, which does not tell, and where THREAD was killed meanwhile.
static bool look(pid_t thread, struct syscall_info *info)
{
    *info = (struct syscall_info){0};
    return ptrace((int)GET_SYSCALL_INFO, thread, (void *)sizeof *info, info) >= 0;
}

// THREAD stands before or behind a system call.
static void count_call(pid_t thread, unsigned *phase, struct syscalls_counts *counts)
{
    struct syscall_info info;
    if (!look(thread, &info) || info.operation != ENTRY) return;
    if (info.number == SYS_prctl && info.arguments[0] == MARKER) {
        *phase = info.arguments[1] % SYSCALLS_PHASES;
        return;
    }
    counts->phase[*phase].syscalls++;
    if (info.number == SYS_ioctl) counts->phase[*phase].ioctls++;
}

// Lets CHILD, which has stopped, and its threads go from one system call to the next until it ends; *STATUS is
// waitpid's. Its own children are not traced. Answers why it could not be traced and runs free, 0 if it was.
static int trace(pid_t child, struct syscalls_counts *counts, int *status)
{
    const long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    struct syscall_info info;
    unsigned phase = 0;
    pid_t thread = child;
    int deliver = 0;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options) || !look(child, &info)) {
        int refused = errno;
        ptrace(PTRACE_DETACH, child, NULL, NULL);
        waitpid(child, status, 0);
        return refused;
    }
    for (;;) {
        ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(long)deliver);
        do thread = waitpid(-1, status, __WALL);
        while ((thread < 0 && errno == EINTR) || (thread > 0 && thread != child && !WIFSTOPPED(*status)));
        if (thread < 0 || !WIFSTOPPED(*status)) return 0;
        int number = WSTOPSIG(*status);
        deliver = 0;
        if (number == (SIGTRAP | 0x80)) count_call(thread, &phase, counts);
        else if (*status >> 16 == 0 && number != SIGSTOP) deliver = number; // a thread begins with a SIGSTOP
    }
}

static enum gpu_status compare(const struct syscalls_counts *counts)
{
    for (unsigned p = CONTROL; p > 0; p--) {
        unsigned long long interposed = counts->phase[p].interposed, traced = counts->phase[p].ioctls;
        if (p == CONTROL && interposed != CONTROL_CALLS)
            return gpu_reason(GPU_FAILED, "the interposed ioctl counted %llu of %d deliberate calls", interposed,
                              CONTROL_CALLS);
        if (!counts->refused && interposed != traced)
            return gpu_reason(GPU_FAILED,
                              "the counts of ioctl calls disagree in phase %u: %llu interposed, %llu traced", p,
                              interposed, traced);
    }
    return GPU_OK;
}

enum gpu_status syscalls_count(enum gpu_status (*work)(void), struct syscalls_counts *counts)
{
    int status = 0;
    *counts = (struct syscalls_counts){0};
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (told == MAP_FAILED) return gpu_reason(GPU_FAILED, "mmap: %s", strerror(errno));
    pid_t parent = getpid(), child = fork();
    if (child < 0) return gpu_reason(GPU_FAILED, "fork: %s", strerror(errno));
    if (child == 0) work_traced(work, parent);

    if (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) {
        counts->refused = trace(child, counts, &status);
    } else {
        counts->refused = told->refused;
    }
    enum gpu_status answer = GPU_OK;
    if (told->ended && told->status) answer = gpu_reason(told->status, "%s", told->reason);
    if (!told->ended)
        answer = gpu_reason(GPU_FAILED, "the counted process ended early with status %d, signal %d",
                            WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    for (unsigned p = 0; p < SYSCALLS_PHASES; p++) counts->phase[p].interposed = told->interposed[p];
    munmap(told, sizeof *told);
    return answer ? answer : compare(counts);
}
