// Guards the pthread_once shape: an initializer given at the call must run once, fail and be retried, share its failure,
// answer recursion, and drain the queue exactly as a configured one does; pthread_once and call_once hang on recursion.
#include "check.h"
#include <stdatomic.h>

static gate started = GATE_INIT, proceed = GATE_INIT;
static atomic_int runs, requests, waiters[4];
static lazy_once plain = LAZY_ONCE_INIT, failing, contended, deferred;

static int32_t count(void *counter) {
    atomic_fetch_add((atomic_int *)counter, 1);
    return 0;
}
static int32_t recursive(void *once) {
    atomic_fetch_add(&runs, 1);
    CHECK_IS(lazy_once_run((lazy_once *)once, recursive, once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_init((lazy_once *)once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_call((lazy_once *)once, count, &requests), LAZY_QUEUED);
    CHECK(lazy_once_is_initializing((lazy_once *)once));
    return 0;
}
static int32_t fails(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&runs, 1);
    return lazy_fail(8, "this one cannot start");
}
static int32_t never(void *ctx) {
    (void)ctx;
    CHECK(!"an initializer that is not needed was run");
    return 0;
}
static int32_t fails_when_released(void *ctx) {
    gate_open(&started);
    gate_wait(&proceed);
    return fails(ctx);
}
static void *owner(void *ctx) {
    CHECK_IS(lazy_once_run(&contended, fails_when_released, ctx), LAZY_E_INIT);
    return NULL;
}
static void *waiter(void *id) {
    gate_wait(&started);
    atomic_store((atomic_int *)id, thread_id());
    CHECK_IS(lazy_once_run(&contended, never, NULL), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 8);
    CHECK_HAS(lazy_last_error()->message, "this one cannot start");
    return NULL;
}
static int failures_left = 1;
static int32_t fails_in_drain(void *ctx) {
    (void)ctx;
    return failures_left-- > 0 ? 4 : 0;
}

int main(void) {
    CHECK_IS(lazy_once_run(&plain, recursive, &plain), LAZY_OK);
    CHECK(lazy_once_is_initialized(&plain));
    CHECK_IS(atomic_load(&runs), 1);
    CHECK_IS(atomic_load(&requests), 1);
    CHECK_IS(lazy_once_run(&plain, never, NULL), LAZY_OK);
    CHECK_IS(lazy_once_init(&plain), LAZY_OK);

    atomic_store(&runs, 0);
    CHECK_IS(lazy_once_run(&failing, fails, NULL), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 8);
    CHECK_IS(lazy_once_run(&failing, fails, NULL), LAZY_E_INIT);
    CHECK(!lazy_once_is_initialized(&failing));
    CHECK_IS(lazy_once_run(&failing, count, &runs), LAZY_OK);
    CHECK_IS(atomic_load(&runs), 3);

    atomic_store(&runs, 0);
    pthread_t threads[5];
    threads[4] = start(owner, NULL);
    for (int i = 0; i < 4; ++i) threads[i] = start(waiter, &waiters[i]);
    for (int i = 0; i < 4; ++i) {
        while (!atomic_load(&waiters[i])) sched_yield();
        until_asleep(atomic_load(&waiters[i]));
    }
    gate_open(&proceed);
    for (int i = 0; i < 5; ++i) join(threads[i]);
    CHECK_IS(atomic_load(&runs), 1);

    atomic_store(&runs, 0);
    CHECK_IS(lazy_once_call(&deferred, fails_in_drain, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_run(&deferred, count, &runs), LAZY_E_DEFERRED);
    CHECK_IS(lazy_last_error()->code, 4);
    CHECK_IS(lazy_once_run(&deferred, never, NULL), LAZY_OK); /* the native part is done */
    CHECK_IS(atomic_load(&runs), 1);
    return finish();
}
