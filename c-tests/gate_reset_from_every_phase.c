// Guards against a reset that forgets the queue or the count of attempts, or that leaves the initializer's earlier
// success behind: from ready, fresh, a failed drain and sticky failure the once is fresh again, one generation older,
// and its initializer runs again.
#include "callers.h"

typedef struct plan { atomic_int started, fails; } plan;
static int32_t initialize(void *ctx) {
    plan *p = (plan *)ctx;
    atomic_fetch_add(&p->started, 1);
    return atomic_load(&p->fails) ? lazy_fail(atomic_load(&p->fails), "not yet") : 0;
}
static int32_t fails_while(void *flag) { return atomic_load((atomic_int *)flag); }

static void check(const lazy_once *once, uint32_t phase, uint32_t attempts, uint32_t generation, uint64_t queued) {
    lazy_info info = info_of(once);
    CHECK_IS(info.phase, phase);
    CHECK_IS(info.attempts, attempts);
    CHECK_IS(info.generation, generation);
    CHECK_IS(info.queued, queued);
    CHECK_IS(lazy_once_is_initialized(once), phase == LAZY_READY);
}
static void from_every_phase(lazy_once *once, plan *p, bool sticky) {
    atomic_int ran = 0, request_fails = 0;
    check(once, LAZY_FRESH, 0, 0, 0);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    check(once, LAZY_FRESH, 0, 1, 0);
    for (int i = 0; i < 3; i++) CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    check(once, LAZY_FRESH, 0, 2, 3);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 3);
    check(once, LAZY_READY, 1, 2, 0);

    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    check(once, LAZY_FRESH, 1, 3, 0);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    CHECK_IS(atomic_load(&ran), 3);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 4);
    CHECK_IS(atomic_load(&p->started), 2);
    check(once, LAZY_READY, 2, 3, 0);

    CHECK_IS(lazy_once_reset(once), LAZY_OK); /* the initializer fails */
    atomic_store(&p->fails, 7);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(once), LAZY_E_INIT);
    CHECK_IS(lazy_last_error()->attempt, 3);
    check(once, sticky ? LAZY_FAILED : LAZY_FRESH, 3, 4, 1);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    check(once, LAZY_FRESH, 3, 5, 1);
    atomic_store(&p->fails, 0);

    atomic_store(&request_fails, 1); /* a request fails */
    CHECK_IS(lazy_once_call(once, fails_while, &request_fails), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(once), LAZY_E_DEFERRED);
    CHECK_IS(atomic_load(&ran), 5);
    CHECK_IS(atomic_load(&p->started), 4);
    check(once, sticky ? LAZY_FAILED : LAZY_FRESH, 4, 5, 1);
    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    check(once, LAZY_FRESH, 4, 6, 1);
    atomic_store(&request_fails, 0);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&p->started), 5);
    check(once, LAZY_READY, 5, 6, 0);
}

int main(void) {
    static plan plans[3];
    static const lazy_config shared = { .size = sizeof(lazy_config), .initialize = initialize, .ctx = &plans[0] };
    static lazy_once constant = LAZY_ONCE_WITH(&shared), sticky;
    lazy_config config = shared;
    from_every_phase(&constant, &plans[0], false);
    config.ctx = &plans[1];
    config.on_failure = LAZY_FAIL_STICKY;
    CHECK_IS(lazy_once_configure(&sticky, &config), LAZY_OK);
    from_every_phase(&sticky, &plans[1], true);

    lazy_once *named = lazy_once_named("reset from every phase");
    config.ctx = &plans[2];
    config.on_failure = LAZY_FAIL_SHARE;
    CHECK_IS(lazy_once_configure(named, &config), LAZY_OK);
    from_every_phase(named, &plans[2], false);
    return finish();
}
