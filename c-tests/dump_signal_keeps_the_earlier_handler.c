// not-under: tsan: it handles signals itself
// Guards against a handler that loses its effect because the dump is written at its signal, too: a call that it was to end early goes on, a
// call that it was to leave alone ends, its mask is gone, or it is no longer interrupted by itself.
#include "two_copies.h"

static atomic_int runs, depth, deepest;
static int also_blocked, flags, ends[2];

static void handles(int number) {
    sigset_t now;
    int inner = ++depth;
    if (inner > deepest) deepest = inner;
    CHECK_IS(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    CHECK_IS(sigismember(&now, SIGUSR2), also_blocked);
    CHECK_IS(sigismember(&now, number), !(flags & SA_NODEFER));
    if (runs++ == 0) CHECK_IS(raise(number), 0);
    depth--;
}
static void *reads(void *ctx) {
    char byte;
    errno = 0;
    atomic_store((atomic_int *)ctx, thread_id());
    return (void *)(intptr_t)(read(ends[0], &byte, 1) == 1 ? 0 : errno);
}
static void until_reading(int thread) {
    char path[64], now[256] = "running";
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", thread);
    while (now[0] == 'r' || atol(now) != SYS_read) {
        int fd = open(path, O_RDONLY);
        ssize_t size = read(fd, now, sizeof now - 1);
        close(fd);
        CHECK(size > 0);
        now[size] = 0;
        sched_yield();
    }
}
/* The signal meets a read, which ends with that. */
static void check_read(int error) {
    atomic_int id = 0;
    void *result;
    CHECK_IS(pipe(ends), 0);
    pthread_t reader = start(reads, &id);
    while (!atomic_load(&id)) sched_yield();
    until_reading(atomic_load(&id));
    CHECK_IS(pthread_kill(reader, SIGUSR1), 0);
    while (flags >= 0 && atomic_load(&runs) < 2) sched_yield();
    if (!error) {
        usleep(100000); /* for a read that would end */
        CHECK_IS(write(ends[1], "", 1), 1);
    }
    CHECK_IS(pthread_join(reader, &result), 0);
    CHECK_IS((intptr_t)result, error);
}
static void with_handler(void) {
    copy ours = copy_in(RTLD_DEFAULT);
    int null = open("/dev/null", O_WRONLY);
    if (flags >= 0) {
        struct sigaction action = { .sa_handler = handles, .sa_flags = flags };
        if (also_blocked) sigaddset(&action.sa_mask, SIGUSR2);
        CHECK_IS(sigaction(SIGUSR1, &action, NULL), 0);
    }
    setenv("LAZYONCE_DUMP_SIGNAL", "USR1", 1);
    load_copy(ours.file);
    int error = dup(2);
    CHECK_IS(dup2(null, 2), 2);
    check_read(flags >= 0 && !(flags & SA_RESTART) ? EINTR : 0);
    CHECK_IS(dup2(error, 2), 2);
    CHECK_IS(deepest, flags < 0 ? 0 : flags & SA_NODEFER ? 2 : 1);
}

int main(void) {
    static const int all[] = { -1, 0, SA_RESTART, SA_NODEFER, SA_NODEFER | SA_RESTART };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        flags = all[i];
        also_blocked = i % 2;
        in_child(with_handler);
    }
    return finish();
}
