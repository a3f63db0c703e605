// SPDX-License-Identifier: Apache-2.0
// One measuring child from fork to reaping. See supervise.h.
#include "common/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/gpu.h"
#include "common/clock.h"
#include "common/pin.h"

static const double STOPPED_S = 2; // nobody looked for so long: this process did not run

static volatile sig_atomic_t caught;
static sigset_t stop_signals;

static void note_signal(int number) { caught = number; }

void supervise_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&stop_signals);
    sigaddset(&stop_signals, SIGINT);
    sigaddset(&stop_signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop_signals, NULL); // they arrive while this process waits, and only then
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); // a file may become too large, like a disk full: the write says so
    signal(SIGCHLD, SIG_DFL); // whoever started this program may have ignored it: then nobody could be reaped
}

int supervise_signal(void)
{
    sigset_t pending;
    sigpending(&pending);
    if (!caught && sigismember(&pending, SIGINT)) caught = SIGINT;
    if (!caught && sigismember(&pending, SIGTERM)) caught = SIGTERM;
    return caught;
}

static double now_s(void) { return (double)clock_gettime_ns() / 1e9; }

// The words of RUNNER, then PATH and what follows the program in ARGV.
static char **join_words(char *runner, char *path, char **argv)
{
    size_t room = strlen(runner) / 2 + 3, count = 0; // every other byte may end a word; PATH and the end
    for (char **word = argv; *word; word++) room++;
    char **words = malloc(room * sizeof *words), *rest;
    if (!words) abort();
    for (char *word = strtok_r(runner, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) words[count++] = word;
    words[count++] = path;
    for (char **word = argv; *word && *++word;) words[count++] = *word;
    words[count] = NULL;
    return words;
}

// In the child, between fork and exec: a group of its own, and no life longer than the parent's.
static void become(const struct child_order *order, char **argv, pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    sigprocmask(SIG_UNBLOCK, &stop_signals, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    fcntl(order->to_parent, F_SETFD, 0);
    fcntl(order->from_parent, F_SETFD, 0);
    if (order->members) fcntl(order->shared, F_SETFD, 0);

    char text[CHILD_ORDER_BYTES], path[PATH_MAX];
    child_order_write(order, text);
    setenv(CHILD_VARIABLE, text, 1);
    for (size_t i = 0; order->environment && order->environment[i]; i++) putenv((char *)order->environment[i]);
    if (order->probe[0]) pin_release(); // it binds its own thread, and its others go where they like
    static const char self[] = "/proc/self/exe";
    const char *program = self, *given = getenv("LIFTOFF_RUNNER");
    char *runner = strdup(given ? given : ""); // the child's own children read the variable, too
    if (!runner) abort();
    if (runner[strspn(runner, " ")] == '\0') {
        execv(self, argv); // not by its path: a rebuild may have put another there
    } else {
        ssize_t length = readlink(self, path, sizeof path - 1);
        if (length >= 0) {
            path[length] = '\0';
            char **words = join_words(runner, path, argv);
            program = words[0];
            execvp(program, words);
        }
    }
    fprintf(stderr, "%s: cannot start %s: %s\n", argv[0], program, strerror(errno));
    _exit(127);
}

static pid_t start(struct child_order *order, char **argv, int *from_child, int *to_child)
{
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC)) return -1;
    if (pipe2(down, O_CLOEXEC)) {
        close(up[0]), close(up[1]);
        return -1;
    }
    order->to_parent = up[1];
    order->from_parent = down[0];
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) become(order, argv, parent);
    close(up[1]), close(down[0]);
    if (pid < 0) {
        close(up[0]), close(down[1]);
        return -1;
    }
    setpgid(pid, pid); // whoever comes first
    fcntl(up[0], F_SETFL, O_NONBLOCK);
    fcntl(down[1], F_SETFL, O_NONBLOCK); // a child that does not read must not hold its parent
    *from_child = up[0];
    *to_child = down[1];
    return pid;
}

// Takes the child back. Its whole group is killed before it is reaped, so that the group's number is still its own.
static bool reap(pid_t pid, bool force, int *status)
{
    double limit = now_s() + 10;
    if (force) kill(-pid, SIGKILL);
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == pid) break;
        if (now_s() > limit && force) return false;
        if (now_s() > limit) {
            force = true;
            limit += 10;
            kill(-pid, SIGKILL);
        }
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    kill(-pid, SIGKILL);
    return waitpid(pid, status, 0) == pid;
}

// The signals that end programs; sigabbrev_np, which knows all, is not in every C library.
static const char *signal_name(int number, char *other, size_t room)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {{SIGSEGV, "SIGSEGV"}, {SIGABRT, "SIGABRT"}, {SIGKILL, "SIGKILL"}, {SIGBUS, "SIGBUS"},
                 {SIGFPE, "SIGFPE"},   {SIGILL, "SIGILL"},   {SIGTERM, "SIGTERM"}, {SIGINT, "SIGINT"},
                 {SIGPIPE, "SIGPIPE"}, {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"}, {SIGSYS, "SIGSYS"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number) return names[i].name;
    snprintf(other, room, "signal %d", number);
    return other;
}

static enum child_outcome describe_death(int status, char *reason)
{
    char other[24];
    if (WIFSIGNALED(status)) {
        snprintf(reason, 256, "the process died of %s", signal_name(WTERMSIG(status), other, sizeof other));
        return CHILD_CRASHED;
    }
    snprintf(reason, 256, "the process ended early with status %d", WEXITSTATUS(status));
    return CHILD_DIED;
}

// What the child has said so far decides how its end is to be read.
struct hearing {
    bool whole, refused, unsupported, abandoned, broken;
};

static void hear(struct wire_reader *reader, struct hearing *hearing, child_listener *listen, void *context,
                 int to_child, char *reason)
{
    struct wire_header header;
    const char *payload;
    while (!hearing->abandoned && wire_next(reader, &header, &payload, &hearing->broken)) {
        if (header.type == WIRE_END) {
            hearing->whole = true;
        } else if (header.type == WIRE_FATAL) {
            const char *text = "";
            wire_texts(payload, header.bytes, &text, 1);
            snprintf(reason, 256, "%s", text);
            hearing->refused = true;
            hearing->unsupported = header.row == GPU_UNSUPPORTED;
        } else if (!listen(context, &header, payload, to_child)) {
            hearing->abandoned = true;
        }
    }
}

// A child between its start and its end.
struct running {
    pid_t pid;
    int to_child;
    bool settled, late; // settled: nothing more is to be heard of it
    struct hearing hearing;
    struct wire_reader reader;
};
static struct running running[SUPERVISE_MAX];

static void begin(struct supervised *child, struct running *run, char **argv)
{
    *run = (struct running){.reader = {.fd = -1}};
    child->reason[0] = '\0';
    run->pid = start(&child->order, argv, &run->reader.fd, &run->to_child);
    if (run->pid >= 0) return;
    snprintf(child->reason, sizeof child->reason, "cannot start a process: %s", strerror(errno));
    run->settled = true;
}

// Takes what the child has to say. True if that settles it.
static bool attend(struct supervised *child, struct running *run, short events, child_listener *listen)
{
    if (events && !wire_fill(&run->reader)) return true;
    hear(&run->reader, &run->hearing, listen, child->context, run->to_child, child->reason);
    return run->reader.ended || run->hearing.whole || run->hearing.abandoned || run->hearing.broken;
}

static void settle(struct running *run, uint32_t *gone)
{
    run->settled = true;
    if (gone) __atomic_add_fetch(gone, 1, __ATOMIC_RELEASE);
}

static enum child_outcome end(struct supervised *child, struct running *run, const char *program, double timeout_s)
{
    const struct hearing *hearing = &run->hearing;
    int status = 0;
    if (run->pid < 0) return CHILD_DIED;
    if (!reap(run->pid, !hearing->whole || run->late, &status)) {
        snprintf(child->reason, sizeof child->reason,
                 "process %d was killed but does not end; the device is not used any more", (int)run->pid);
        return CHILD_STUCK;
    }
    if (caught) return CHILD_INTERRUPTED;
    if (hearing->abandoned || hearing->broken) return CHILD_ABANDONED;
    if (hearing->refused) return hearing->unsupported ? CHILD_UNSUPPORTED : CHILD_REFUSED;
    if (run->late) {
        snprintf(child->reason, sizeof child->reason, "the process was killed after %g s", timeout_s);
        return CHILD_TIMEOUT;
    }
    enum child_outcome death = describe_death(status, child->reason);
    if (!hearing->whole) return death;
    if (status != 0) fprintf(stderr, "%s: %s, after all was measured\n", program, child->reason);
    return CHILD_DONE;
}

// Until all are settled, the time is up, or a signal came.
static void attend_all(struct supervised *children, unsigned count, double timeout_s, child_listener *listen,
                       child_ticker *tick, uint32_t *gone)
{
    sigset_t waiting;
    sigprocmask(SIG_SETMASK, NULL, &waiting);
    sigdelset(&waiting, SIGINT);
    sigdelset(&waiting, SIGTERM);
    double looked = now_s(), deadline = looked + timeout_s;
    while (!supervise_signal()) {
        struct pollfd polled[SUPERVISE_MAX];
        unsigned left = 0;
        for (unsigned i = 0; i < count; i++) {
            polled[i] = (struct pollfd){running[i].settled ? -1 : running[i].reader.fd, POLLIN, 0};
            left += !running[i].settled;
        }
        if (left == 0) return;
        if (ppoll(polled, count, &(struct timespec){0, 200000000}, &waiting) < 0)
            for (unsigned i = 0; i < count; i++) polled[i].revents = 0;
        for (unsigned i = 0; i < count; i++)
            if (!running[i].settled && attend(&children[i], &running[i], polled[i].revents, listen))
                settle(&running[i], gone);
        if (tick) tick(children[0].context);
        double now = now_s();
        if (now - looked > STOPPED_S) deadline += now - looked; // this process was stopped, not the child
        looked = now;
        if (now <= deadline) continue;
        for (unsigned i = 0; i < count; i++) running[i].late = !running[i].settled;
        return;
    }
}

void supervise_group(struct supervised *children, unsigned count, char **argv, double timeout_s, child_listener *listen,
                     child_ticker *tick, uint32_t *gone)
{
    for (unsigned i = 0; i < count; i++) {
        begin(&children[i], &running[i], argv);
        if (running[i].settled) settle(&running[i], gone);
    }
    attend_all(children, count, timeout_s, listen, tick, gone);
    for (unsigned i = 0; i < count; i++) {
        if (running[i].pid < 0) continue;
        close(running[i].to_child);
        close(running[i].reader.fd);
        if (!running[i].hearing.whole) kill(-running[i].pid, SIGKILL); // all at once: none is to wait for another
    }
    for (unsigned i = 0; i < count; i++) children[i].outcome = end(&children[i], &running[i], argv[0], timeout_s);
}

enum child_outcome supervise(const struct child_order *order, char **argv, double timeout_s, child_listener *listen,
                             child_ticker *tick, void *context, char *reason)
{
    static struct supervised child;
    child.order = *order;
    child.context = context;
    supervise_group(&child, 1, argv, timeout_s, listen, tick, NULL);
    snprintf(reason, 256, "%s", child.reason);
    return child.outcome;
}
