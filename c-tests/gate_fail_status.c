// Guards against "initialization failed" where the initializer knows better: the status that it names with its code is
// what the initializing call, its waiters and, where failure is sticky, everybody later gets. It counts for the code
// that is returned, is never a success, and says nothing in other callbacks.
#include "callers.h"

static gate inside = GATE_INIT, go = GATE_INIT;
static atomic_int attempts;
typedef struct plan { lazy_status named; int32_t named_code, returned; bool waits; } plan;

static int32_t follow(void *ctx) {
    const plan *p = (const plan *)ctx;
    if (atomic_fetch_add(&attempts, 1) == 0 && p->waits) {
        gate_open(&inside);
        gate_wait(&go);
    }
    CHECK_IS(lazy_fail_status(p->named, p->named_code, "no driver here"), p->named_code ? p->named_code : -1);
    return p->returned;
}
static void check(plan p, lazy_status wanted) {
    lazy_once once = LAZY_ONCE_INIT, sticky = LAZY_ONCE_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    config.name = "unavailable";
    config.initialize = follow;
    config.ctx = &p;
    config.on_failure = LAZY_FAIL_STICKY;
    CHECK_IS(lazy_once_configure(&sticky, &config), LAZY_OK);
    CHECK_IS(lazy_once_run(&once, follow, &p), wanted);
    if (wanted < 0) {
        CHECK_IS(lazy_last_error()->status, wanted);
        CHECK_IS(lazy_last_error()->code, p.returned);
        CHECK_IS(lazy_last_error()->attempt, 1);
        if (p.returned == p.named_code) CHECK_HAS(lazy_last_error()->message, "no driver here");
    }
    for (int i = 0; i < 2; i++) CHECK_IS(lazy_once_init(&sticky), wanted);
    CHECK_IS(lazy_once_call(&sticky, nothing, NULL), wanted);
    if (wanted < 0) CHECK_IS(lazy_last_error()->code, p.returned);
    CHECK_IS(lazy_once_close(&sticky), LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
}
static int32_t fails_in_queue(void *ctx) {
    (void)ctx;
    return lazy_fail_status(LAZY_E_UNAVAILABLE, 31, "no generator");
}

int main(void) {
    for (lazy_status named = LAZY_E_INTERRUPTED; named < 0; named++) check((plan){ named, 100, 100, false }, named);
    for (lazy_status named = LAZY_OK; named < 5; named++) check((plan){ named, 100, 100, false }, LAZY_E_INIT);
    check((plan){ LAZY_E_UNAVAILABLE, 0, -1, false }, LAZY_E_UNAVAILABLE);
    check((plan){ LAZY_E_UNAVAILABLE, 100, 101, false }, LAZY_E_INIT); /* not the code that it was named for */
    check((plan){ LAZY_E_UNAVAILABLE, 100, 0, false }, LAZY_OK);

    static lazy_once once = LAZY_ONCE_INIT, queue = LAZY_ONCE_INIT;
    plan p = { LAZY_E_UNAVAILABLE, 100, 100, true };
    lazy_config config = LAZY_CONFIG_INIT;
    caller owner, waiters[8];
    config.initialize = follow;
    config.ctx = &p;
    CHECK_IS(lazy_once_configure(&once, &config), LAZY_OK);
    atomic_store(&attempts, 0);
    begin(&owner, in_init, &once);
    gate_wait(&inside);
    for (int i = 0; i < 8; i++) begin(&waiters[i], i % 2 ? in_run : in_init, &once);
    for (int i = 0; i < 8; i++) until_waiting(&waiters[i]);
    gate_open(&go);
    CHECK_IS(ended(&owner), LAZY_E_UNAVAILABLE);
    for (int i = 0; i < 8; i++) {
        CHECK_IS(ended(&waiters[i]), LAZY_E_UNAVAILABLE);
        CHECK(!strcmp(waiters[i].message, owner.message));
    }
    CHECK_IS(atomic_load(&attempts), 1);

    CHECK_IS(lazy_once_call(&queue, fails_in_queue, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(&queue), LAZY_E_DEFERRED);
    CHECK_IS(lazy_last_error()->code, 31);
    CHECK_HAS(lazy_last_error()->message, "no generator");
    CHECK_IS(lazy_once_close(&queue), LAZY_OK);

    lazy_once ready = LAZY_ONCE_INIT, outside = LAZY_ONCE_INIT;
    CHECK_IS(lazy_once_init(&ready), LAZY_OK);
    CHECK_IS(lazy_once_call(&ready, fails_in_queue, NULL), LAZY_E_CALLBACK);
    CHECK_IS(lazy_last_error()->code, 31);
    CHECK_HAS(lazy_last_error()->message, "no generator");
    lazy_fail_status(LAZY_E_UNAVAILABLE, 55, "said outside");
    p = (plan){ LAZY_E_NOT_NOW, 56, 55, false };
    CHECK_IS(lazy_once_run(&outside, follow, &p), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->code, 55);
    CHECK(strstr(lazy_last_error()->message, "said outside") == NULL);
    return finish();
}
