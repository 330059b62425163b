// Guards against LAZY_FAIL_STICKY that forgets, or that keeps taking requests which nobody will run: the first failure,
// of the initializer or of a queued request, is what all 64 waiters and everybody after them get, in init, run, call
// and submit alike; nothing more is queued; reset ends it, and what was queued before runs then.
#include "callers.h"

enum { WAITERS = 64, WAYS = 5 };
static lazy_status (*const ways[WAYS])(void *) = { in_init, in_unlimited_init, in_run, in_call, in_submit };
static caller owner, waiters[WAITERS];

static void sticks(lazy_once *once, bool in_drain) {
    hold start_up = HOLD_INIT, request = HOLD_INIT, *culprit = in_drain ? &request : &start_up;
    lazy_config config = LAZY_CONFIG_INIT;
    atomic_int ran = 0, refused = 0;
    lazy_status wanted = in_drain ? LAZY_E_DEFERRED : LAZY_E_INIT;
    char text[1024];
    config.name = "final";
    config.initialize = held;
    config.ctx = &start_up;
    config.on_failure = LAZY_FAIL_STICKY;
    CHECK_IS(lazy_once_configure(once, &config), LAZY_OK);
    CHECK_IS(lazy_once_call(once, held, &request), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    atomic_store(&culprit->code, 23);
    if (in_drain) gate_open(&start_up.go);
    begin(&owner, in_init, once);
    gate_wait(&culprit->inside);
    for (int i = 0; i < WAITERS; i++) begin(&waiters[i], ways[i % WAYS], once);
    for (int i = 0; i < WAITERS; i++) until_waiting(&waiters[i]);
    gate_open(&culprit->go);
    CHECK_IS(ended(&owner), wanted);
    CHECK_HAS(owner.message, "it was held and failed");
    snprintf(text, sizeof text, "%s", owner.message);
    for (int i = 0; i < WAITERS; i++) {
        CHECK_IS(ended(&waiters[i]), wanted);
        CHECK(!strcmp(waiters[i].message, text));
        CHECK_IS(waiters[i].error.code, 23);
        CHECK_IS(waiters[i].error.attempt, 1);
    }
    CHECK_IS(info_of(once).phase, LAZY_FAILED);
    for (int i = 0; i < 3 * WAYS; i++) {
        CHECK_IS(ways[i % WAYS](once), wanted);
        CHECK(!strcmp(lazy_last_error()->message, text));
        CHECK_IS(lazy_last_error()->code, 23);
        CHECK_IS(lazy_last_error()->attempt, 1);
        CHECK_IS(lazy_last_error()->owner_thread, atomic_load(&owner.id));
    }
    CHECK_IS(lazy_once_init_timeout(once, 0), wanted);
    lazy_request late = LAZY_REQUEST_INIT;
    late.fn = never;
    late.ctx = &refused;
    late.drop = count_drop;
    late.flags = LAZY_REQUEST_NO_WAIT;
    CHECK_IS(lazy_once_submit(once, &late, NULL), wanted);
    CHECK_IS(atomic_load(&refused), 0);
    CHECK_IS(info_of(once).attempts, 1);
    CHECK_IS(info_of(once).queued, 2);
    CHECK_IS(atomic_load(&start_up.runs), 1);
    CHECK_IS(atomic_load(&ran), 0);
    CHECK(!lazy_once_is_initialized(once));

    CHECK_IS(lazy_once_reset(once), LAZY_OK);
    atomic_store(&culprit->code, 0);
    gate_open(&request.go);
    CHECK_IS(lazy_once_call(once, count, &ran), LAZY_QUEUED);
    CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(atomic_load(&request.runs), 1 + in_drain);
    CHECK_IS(atomic_load(&ran), 2);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
}

int main(void) {
    static lazy_once onces[2];
    sticks(&onces[0], false);
    sticks(&onces[1], true);
    return finish();
}
