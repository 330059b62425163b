// Guards against a waiter count that misses one of the ways to wait, counts what does not wait, or never goes down: it
// counts the threads asleep in init, run, call and submit, no others, and not those whose limit has passed.
#include "callers.h"

enum { WAYS = 5 };
static lazy_status (*const ways[WAYS])(void *) = { in_init, in_unlimited_init, in_run, in_call, in_submit };
static hold start_up = HOLD_INIT;
static atomic_int ran;
static const lazy_config config = { .size = sizeof(lazy_config), .name = "popular", .initialize = held, .ctx = &start_up };
static lazy_once once = LAZY_ONCE_WITH(&config);

static lazy_status in_counting_call(void *ctx) {
    (void)ctx;
    return lazy_once_call(&once, count, &ran);
}
static lazy_status in_counting_submit(void *ctx) {
    (void)ctx;
    return LAZY_CALL(&once, count, &ran);
}

int main(void) {
    caller owner, resetter, waiters[2 * WAYS];
    lazy_request request = LAZY_REQUEST_INIT;
    CHECK_IS(info_of(&once).waiters, 0);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    CHECK_IS(info_of(&once).waiters, 0);
    for (int i = 0; i < 2 * WAYS; i++) {
        lazy_status (*way)(void *) = ways[i % WAYS];
        begin(&waiters[i], way == in_call ? in_counting_call : way == in_submit ? in_counting_submit : way, &once);
        until_waiting(&waiters[i]);
        CHECK_IS(info_of(&once).waiters, i + 1);
        CHECK_IS(lazy_once_init_timeout(&once, 1000), LAZY_E_TIMEOUT);
        CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
        CHECK_IS(info_of(&once).waiters, i + 1);
    }
    request.fn = count;
    request.ctx = &ran;
    request.flags = LAZY_REQUEST_NO_WAIT;
    CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
    begin(&resetter, in_reset, &once);
    until_waiting(&resetter);
    CHECK_IS(info_of(&once).waiters, 2 * WAYS);
    CHECK_IS(info_of(&once).phase, LAZY_INITIALIZING);
    CHECK_IS(info_of(&once).owner_thread, atomic_load(&owner.id));

    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&resetter), LAZY_OK);
    for (int i = 0; i < 2 * WAYS; i++) {
        lazy_status status = ended(&waiters[i]); /* the reset may be sooner than a call's second look */
        CHECK(status == LAZY_OK || (status == LAZY_QUEUED && i % WAYS >= 3));
    }
    CHECK_IS(info_of(&once).waiters, 0);
    CHECK_IS(lazy_once_init(&once), LAZY_OK);
    CHECK_IS(atomic_load(&ran), 5);
    return finish();
}
