// Guards against a call that is lost between "the queue is empty" and "it is ready": in every round the second thread
// calls while the last request of the drain has just run, and its callback must run exactly once, whoever runs it.
#include "check.h"
#include <stdatomic.h>

enum { ONCES = 1000 };
static lazy_once onces[ONCES];
static atomic_long begin_round, end_of_drain, caller_done;
static atomic_int ran;
static long total;

static void until(atomic_long *value, long wanted) {
    for (int spins = 0; atomic_load_explicit(value, memory_order_acquire) < wanted; ++spins)
        if (spins > 500) sched_yield();
}
static int32_t last_request(void *round) {
    atomic_store_explicit(&end_of_drain, (long)(intptr_t)round, memory_order_release);
    return 0;
}
static int32_t callback(void *ctx) {
    (void)ctx;
    atomic_fetch_add_explicit(&ran, 1, memory_order_relaxed);
    return 0;
}
static void *calling(void *ctx) {
    (void)ctx;
    for (long round = 1; round <= total; ++round) {
        /* Three rounds of four aim at the end of the drain, one at its beginning; then a little later each time. */
        until(round % 4 ? &end_of_drain : &begin_round, round);
        for (volatile long wait = round / 4 % 64; wait > 0; --wait) {}
        lazy_status status = lazy_once_call(&onces[round % ONCES], callback, NULL);
        CHECK(status == LAZY_OK || (status == LAZY_QUEUED && round % 4 == 0));
        atomic_store_explicit(&caller_done, round, memory_order_release);
    }
    return NULL;
}

int main(void) {
    total = rounds(200000);
    pthread_t caller = start(calling, NULL);
    for (long round = 1; round <= total; ++round) {
        lazy_once *once = &onces[round % ONCES];
        memset(once, 0, sizeof *once);
        atomic_store(&ran, 0);
        CHECK_IS(lazy_once_call(once, last_request, (void *)(intptr_t)round), LAZY_QUEUED);
        atomic_store_explicit(&begin_round, round, memory_order_release);
        CHECK_IS(lazy_once_init(once), LAZY_OK);
        until(&caller_done, round);
        CHECK_IS(atomic_load(&ran), 1);
        CHECK(lazy_once_is_initialized(once));
    }
    join(caller);
    return finish();
}
