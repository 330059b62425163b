/* A signal at random instructions of a thread that is busy with the library, and that work. The allocator is made to take its
   lock for every call, by a second thread and without a cache, so that an interrupted allocation is one that a handler must not
   repeat. For C11. */
#ifndef INTERRUPTED_H
#define INTERRUPTED_H
#include "callers.h"
#include <signal.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t handled;

/* Starts the program again with the allocator's setting, which is read once. */
static inline void without_allocator_cache(char **arguments) {
    if (getenv("GLIBC_TUNABLES")) return;
    CHECK_IS(setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1), 0);
    execv("/proc/self/exe", arguments);
    CHECK(!"the program starts again");
}
static inline void *sleeps(void *ctx) {
    for (;;) pause();
    return ctx;
}
/* Calls `work` over and over while `handler` interrupts it about every 50 microseconds, `enough` times. A hang is killed. */
static inline void interrupt(void (*handler)(int), void (*work)(int round), long enough) {
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    struct itimerval timer = { { 0, 47 }, { 0, 47 } }, off = { { 0, 0 }, { 0, 0 } };
    time_t end = time(NULL) + 15;
    static int has_company;
    sigset_t set, before;
    if (!has_company++) {
        sigfillset(&set);
        CHECK_IS(pthread_sigmask(SIG_SETMASK, &set, &before), 0); /* the signals are this thread's */
        start(sleeps, NULL);
        CHECK_IS(pthread_sigmask(SIG_SETMASK, &before, NULL), 0);
    }
    handled = 0;
    CHECK_IS(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_IS(setitimer(ITIMER_REAL, &timer, NULL), 0);
    for (int round = 0; handled < enough && time(NULL) < end; round++) work(round);
    CHECK_IS(setitimer(ITIMER_REAL, &off, NULL), 0);
    CHECK(handled > 0);
}
#endif
