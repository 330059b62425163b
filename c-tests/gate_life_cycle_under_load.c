// Guards against what only a mixture finds: four threads initialize, run, reset, try, hand in requests, withdraw them and
// look, while initializer, prepare and can_init fail now and then and call back in, under each failure policy; then every
// request has been run or withdrawn exactly once and dropped once, attempts did not overlap, and the counts agree.
#include "callers.h"

enum { THREADS = 4 };
static lazy_once *once;
static long total;
static uint32_t policy;
static atomic_int inside, attempts, resets, taken, ran, withdrawn, dropped, prepares;

/* The same numbers in every run, per thread: which thread meets which is left to chance. */
static _Thread_local uint32_t seed;
static uint32_t draw(uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % below;
}
static int32_t run_request(void *ctx) {
    (void)ctx;
    return count(&ran);
}
static void drop_request(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&dropped, 1);
}
static void hand_in(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    lazy_receipt receipt = LAZY_RECEIPT_INIT;
    request.fn = run_request;
    request.drop = drop_request;
    request.phase = (int32_t)draw(3);
    request.flags = draw(4) == 0 ? LAZY_REQUEST_NO_WAIT : 0;
    lazy_status status = lazy_once_submit(once, &request, &receipt);
    if (status < 0) {
        CHECK(status == LAZY_E_NOT_NOW || (policy == LAZY_FAIL_STICKY && status == LAZY_E_INIT));
        return;
    }
    atomic_fetch_add(&taken, 1);
    if (status == LAZY_QUEUED && draw(5) == 0) {
        status = lazy_once_cancel(once, receipt.ticket);
        CHECK(status == LAZY_OK || status == LAZY_E_NOT_FOUND || status == LAZY_IN_PROGRESS);
        if (status == LAZY_OK) atomic_fetch_add(&withdrawn, 1);
    }
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(atomic_exchange(&inside, 1), 0);
    atomic_fetch_add(&attempts, 1);
    CHECK(lazy_once_is_initializing(once));
    CHECK_IS(lazy_once_init(once), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_reset(once), LAZY_IN_PROGRESS);
    if (draw(2)) hand_in();
    if (draw(8) == 0) sched_yield();
    CHECK_IS(atomic_exchange(&inside, 0), 1);
    return draw(3) == 0 ? lazy_fail((int32_t)draw(100) + 1, "drawn") : 0;
}
static int32_t prepare(void *ctx) {
    (void)ctx;
    atomic_fetch_add(&prepares, 1);
    if (draw(2)) hand_in();
    if (draw(6) == 0) {
        lazy_status status = lazy_once_init(once);
        CHECK(status == LAZY_OK || status == LAZY_IN_PROGRESS || status == LAZY_E_INIT || status == LAZY_E_NOT_NOW);
    }
    return draw(6) == 0;
}
static int32_t can_init(void *ctx) {
    (void)ctx;
    return draw(6) == 0;
}
static void check_init(lazy_status status) {
    CHECK(status == LAZY_OK || status == LAZY_E_INIT || status == LAZY_E_NOT_NOW);
    if (status < 0) CHECK_IS(lazy_last_error()->status, status);
}
static void *using(void *number) {
    seed = (uint32_t)(intptr_t)number * 7919 + policy;
    for (long i = 0; i < total; i++) {
        uint32_t what = draw(12);
        if (what < 4) check_init(lazy_once_init(once));
        else if (what < 5) check_init(lazy_once_run(once, initialize, NULL));
        else if (what < 6) {
            lazy_status status = lazy_once_init_timeout(once, draw(2) * 1000);
            if (status != LAZY_E_TIMEOUT) check_init(status);
        } else if (what < 7) {
            CHECK_IS(lazy_once_reset(once), LAZY_OK);
            atomic_fetch_add(&resets, 1);
        } else if (what < 8) {
            lazy_info info = info_of(once);
            CHECK(info.phase <= LAZY_READY && info.waiters < THREADS);
        } else hand_in();
    }
    return NULL;
}

int main(void) {
    static lazy_once onces[3];
    total = rounds(100000);
    for (policy = LAZY_FAIL_SHARE; policy <= LAZY_FAIL_STICKY; policy++) {
        pthread_t threads[THREADS];
        lazy_config config = LAZY_CONFIG_INIT;
        config.name = "under load";
        config.initialize = initialize;
        config.prepare = prepare;
        config.can_init = can_init;
        config.on_failure = policy;
        once = &onces[policy];
        atomic_int *const counts[] = { &attempts, &resets, &taken, &ran, &withdrawn, &dropped };
        for (int i = 0; i < 6; i++) atomic_store(counts[i], 0);
        CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
        for (intptr_t i = 0; i < THREADS; i++) threads[i] = start(using, (void *)i);
        for (int i = 0; i < THREADS; i++) join(threads[i]);
        lazy_info info = info_of(once);
        CHECK_IS(info.generation, atomic_load(&resets));
        CHECK_IS(info.attempts, atomic_load(&attempts));
        CHECK_IS(info.waiters, 0);
        CHECK_IS(info.owner_thread == 0 || info.phase == LAZY_READY, true);
        CHECK_IS(info.queued, atomic_load(&taken) - atomic_load(&ran) - atomic_load(&withdrawn));
        CHECK_IS(lazy_once_close(once), LAZY_OK);
        CHECK_IS(atomic_load(&dropped), atomic_load(&taken));
        CHECK(atomic_load(&ran) > 0 && atomic_load(&withdrawn) > 0 && atomic_load(&resets) > 0);
    }
    CHECK(atomic_load(&prepares) > 0);
    return finish();
}
