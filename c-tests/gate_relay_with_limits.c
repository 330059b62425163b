// Guards against a waiter that was chosen to wake others and leaves because its own limit passed: a wake too few, and the
// rest sleep for ever. Half of sixty-four waiters have limits that run out about when the attempt ends, by success,
// failure, a failure after which they take turns, or close; every one returns, and only a limited one may come back with
// a time-out.
#include "waiters.h"

enum { WAITERS = 64, READY, FAILED, CLOSED, TAKES_TURNS, ENDINGS = 4 };
static lazy_once once;
static pthread_barrier_t round_begins, round_ends, attempt_runs;
static atomic_int ending, turns;
static atomic_ullong limit_ns;
static const lazy_status wanted[] = { LAZY_OK, LAZY_E_INIT, LAZY_E_CLOSED, LAZY_E_INIT };
static const long lengths_ns[] = { 0, 30000, 100000, 300000, 1000000 };

static void spend(long ns) {
    struct timespec time = { 0, ns }; /* a duration, which is what differs from round to round; no order depends on it */
    if (ns) nanosleep(&time, NULL);
}
static int32_t initialize(void *length) {
    pthread_barrier_wait(&attempt_runs);
    spend(*(const long *)length);
    if (atomic_load(&ending) == CLOSED) CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return atomic_load(&ending) == FAILED || atomic_load(&ending) == TAKES_TURNS;
}
static int32_t turn(void *ctx) {
    (void)ctx;
    spend(1000);
    return atomic_fetch_add(&turns, 1) < WAITERS / 4; /* then it succeeds, and those that are left find it ready */
}
static const lazy_config by_turns = { .size = sizeof(lazy_config), .initialize = turn, .on_failure = LAZY_FAIL_RETRY };
static void *waiting(void *number) {
    intptr_t me = (intptr_t)number;
    for (;;) {
        pthread_barrier_wait(&round_begins);
        int end = atomic_load(&ending);
        if (end < 0) return NULL;
        pthread_barrier_wait(&attempt_runs);
        uint64_t limit = me % 2 ? atomic_load(&limit_ns) + (uint64_t)me * 500 : UINT64_MAX;
        lazy_status status = lazy_once_init_timeout(&once, limit);
        if (me % 2 && status == LAZY_E_TIMEOUT) status = wanted[end - READY];
        if (wanted[end - READY] == LAZY_E_INIT && status == LAZY_OK) status = LAZY_E_INIT; /* its own attempt, or after one */
        CHECK_IS(status, wanted[end - READY]);
        pthread_barrier_wait(&round_ends);
    }
}

int main(void) {
    pthread_t threads[WAITERS];
    pthread_barrier_init(&round_begins, NULL, WAITERS + 1);
    pthread_barrier_init(&attempt_runs, NULL, WAITERS + 1);
    pthread_barrier_init(&round_ends, NULL, WAITERS + 1);
    for (intptr_t i = 0; i < WAITERS; i++) threads[i] = start(waiting, (void *)i);
    for (long i = rounds(1200); i > 0; i--) {
        long length = lengths_ns[i % 5];
        once = (lazy_once)LAZY_ONCE_WITH(i % ENDINGS == TAKES_TURNS - READY ? &by_turns : NULL);
        atomic_store(&turns, 0);
        atomic_store(&ending, READY + i % ENDINGS);
        atomic_store(&limit_ns, (unsigned long long)lengths_ns[i / 5 % 5] + 1);
        pthread_barrier_wait(&round_begins);
        CHECK_IS(lazy_once_run(&once, initialize, &length), wanted[i % ENDINGS]);
        pthread_barrier_wait(&round_ends);
        if (once.config) CHECK_IS(lazy_once_close(&once), LAZY_OK);
    }
    atomic_store(&ending, -1);
    pthread_barrier_wait(&round_begins);
    for (int i = 0; i < WAITERS; i++) join(threads[i]);
    return finish();
}
