// Guards against a close that waits for the attempt, and against waiters that sleep on: while the initializer is still
// inside, close returns and everybody who waits in init, run, call or submit gets LAZY_E_CLOSED. What was queued is
// dropped once and never runs; the owner hears of the close when its initializer has returned.
#include "callers.h"

enum { WAITERS = 20 };
static hold start_up = HOLD_INIT;
static const lazy_config config = { .size = sizeof(lazy_config), .name = "closing", .initialize = held, .ctx = &start_up };
static lazy_once once = LAZY_ONCE_WITH(&config);
static atomic_int dropped, refused_dropped;

static lazy_status in_submit_with_drop(void *ctx) {
    lazy_request request = LAZY_REQUEST_INIT;
    (void)ctx;
    request.fn = never;
    request.ctx = &refused_dropped;
    request.drop = count_drop;
    return lazy_once_submit(&once, &request, NULL);
}
static lazy_status (*const ways[])(void *) = { in_init, in_unlimited_init, in_run, in_call, in_submit_with_drop };

int main(void) {
    caller owner, waiters[WAITERS];
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = never;
    request.ctx = &dropped;
    request.drop = count_drop;
    for (int i = 0; i < 3; i++) CHECK_IS(lazy_once_submit(&once, &request, NULL), LAZY_QUEUED);
    CHECK_IS(lazy_once_call(&once, never, NULL), LAZY_QUEUED);

    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    for (int i = 0; i < WAITERS; i++) begin(&waiters[i], ways[i % 5], &once);
    for (int i = 0; i < WAITERS; i++) until_waiting(&waiters[i]);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    CHECK_IS(atomic_load(&dropped), 3);
    for (int i = 0; i < WAITERS; i++) {
        CHECK_IS(ended(&waiters[i]), LAZY_E_CLOSED);
        CHECK(*waiters[i].message != 0);
    }
    CHECK_IS(atomic_load(&refused_dropped), 0); /* they were not taken, so they are still their submitters' own */
    CHECK_IS(info_of(&once).phase, LAZY_CLOSED);
    CHECK_IS(info_of(&once).queued, 0);

    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_E_CLOSED);
    CHECK_IS(atomic_load(&start_up.runs), 1);
    CHECK_IS(atomic_load(&dropped), 3);
    CHECK_IS(info_of(&once).phase, LAZY_CLOSED);
    CHECK(!lazy_once_is_initialized(&once));
    return finish();
}
