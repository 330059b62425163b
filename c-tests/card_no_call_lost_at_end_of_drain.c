// Guards against a call that is lost between "the queue is empty" and "it is ready": in every round the second thread
// calls just as the last request of the drain returns, and its callback must run exactly once, whoever runs it.
#include "check.h"
#include <stdatomic.h>
#include <time.h>

enum { ONCES = 1000 };
static lazy_once onces[ONCES];
static atomic_long begun, draining, calling_now, called;
static atomic_int ran;
static long total, met;

/* Gives the processor away where the other thread has none of its own. */
static void until(atomic_long *value, long wanted) {
    for (int spins = 0; atomic_load_explicit(value, memory_order_acquire) < wanted; ++spins)
        if (spins > 500) sched_yield();
}
static void linger(long steps) {
    for (volatile long left = steps; left > 0; --left) {}
}
/* Threads that wake each other are drawn to one processor, where only one of them runs; this race needs two. */
static void take_processor(int number) {
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed) && number-- == 0) CPU_SET(cpu, &one);
    if (CPU_COUNT(&one) == 1) sched_setaffinity(0, sizeof one, &one);
}
/* In one round of four the call meets a once that is not initializing yet; in the others both threads leave from here. */
static bool aims_at_the_end(long round) { return round % 4 != 0; }

static int32_t last_request(void *ctx) {
    long round = (long)(intptr_t)ctx;
    if (!aims_at_the_end(round)) return 0;
    atomic_store_explicit(&draining, round, memory_order_release);
    until(&calling_now, round);
    linger(round / 4 % 8 * 8);
    return 0;
}
static int32_t callback(void *ctx) {
    (void)ctx;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}
static void *calling(void *ctx) {
    (void)ctx;
    take_processor(1);
    for (long round = 1; round <= total; ++round) {
        lazy_once *once = &onces[round % ONCES];
        until(aims_at_the_end(round) ? &draining : &begun, round);
        atomic_store_explicit(&calling_now, round, memory_order_release);
        linger(round / 32 % 64 * 16);
        if (aims_at_the_end(round) && !lazy_once_is_initialized(once)) ++met;
        lazy_status status = lazy_once_call(once, callback, NULL);
        CHECK(status == LAZY_OK || (status == LAZY_QUEUED && !aims_at_the_end(round)));
        atomic_store_explicit(&called, round, memory_order_release);
    }
    return NULL;
}

int main(void) {
    const time_t soon = time(NULL) + 40; /* of the 60 s that a program has; on an idle machine this takes 5 */
    total = rounds(200000);
    pthread_t caller = start(calling, NULL);
    take_processor(0);
    for (long round = 1; round <= total; ++round) {
        lazy_once *once = &onces[round % ONCES];
        memset(once, 0, sizeof *once);
        atomic_store(&ran, 0);
        CHECK_IS(lazy_once_call(once, last_request, (void *)(intptr_t)round), LAZY_QUEUED);
        atomic_store_explicit(&begun, round, memory_order_release);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        until(&called, round);
        CHECK_IS(atomic_load(&ran), 1);
        CHECK(lazy_once_is_initialized(once));
        if (round % 1000 == 0 && round < total && time(NULL) > soon) {
            printf("%ld of %ld rounds: this machine has no more time\n", round, total);
            CHECK(round >= 1000);
            CHECK(met > round / 100);
            exit(finish());
        }
    }
    join(caller);
    CHECK(met > total / 100); /* else the two never met, and nothing was shown */
    return finish();
}
