// Guards against a host without wait_detached, as a JVM is, that is treated as one that refuses, or let go all the same: a
// thread of such a host attaches, sleeps as it is, and is woken; limits, the try and cancel work; nothing calls NULL.
#include "big_lock.h"
#include "callers.h"

static lazy_once once;
static hold start_up;
static int runs, inside;
static __thread int attached;
static uint64_t ticket;

static int32_t run(void *ctx, void (*body)(void *arg), void *arg) {
    CHECK(ctx == &runs);
    ADD(runs, 1);
    ADD(inside, 1);
    attached++;
    body(arg);
    attached--;
    ADD(inside, -1);
    return 0;
}
static lazy_status in_short(void *ctx) {
    return lazy_once_init_timeout((lazy_once *)ctx, 2000000);
}
static atomic_int ran;
static int32_t not_attached(void *ctx) {
    (void)ctx;
    CHECK_IS(attached, 0);
    atomic_fetch_add(&ran, 1);
    return 0;
}
static lazy_status in_own_call(void *ctx) {
    return lazy_once_call((lazy_once *)ctx, not_attached, NULL);
}
static lazy_status in_cancel(void *ctx) {
    return lazy_once_cancel((lazy_once *)ctx, ticket);
}
static int32_t initialize(void *ctx) {
    (void)ctx;
    CHECK_IS(attached, 1);
    return 0;
}
static int32_t queued(void *ctx) {
    CHECK_IS(attached, 1);
    return held(ctx);
}

int main(void) {
    lazy_host host = LAZY_HOST_INIT;
    lazy_config config = LAZY_CONFIG_INIT;
    lazy_request request = LAZY_REQUEST_INIT;
    caller owner, waiters[4];
    host.name = "machine";
    host.ctx = &runs;
    host.run_attached = run;
    config.initialize = initialize;
    config.host = &host;
    once = (lazy_once)LAZY_ONCE_WITH(&config);
    start_up = (hold)HOLD_INIT;
    request.fn = queued;
    request.ctx = &start_up;
    ticket = queue_request(&once, request);
    begin(&owner, in_init, &once);
    gate_wait(&start_up.inside);
    begin(&waiters[0], in_init, &once);
    begin(&waiters[1], in_own_call, &once);
    begin(&waiters[2], in_cancel, &once);
    begin(&waiters[3], in_reset, &once);
    for (int i = 0; i < 4; i++) until_waiting(&waiters[i]);
    CHECK_IS(COUNT(inside), 5); /* asleep as they are */
    CHECK_IS(lazy_once_init_timeout(&once, 0), LAZY_E_TIMEOUT);
    CHECK_IS(COUNT(runs), 5);
    CHECK_IS(in_short(&once), LAZY_E_TIMEOUT);
    CHECK_IS(info_of(&once).waiters, 2);
    gate_open(&start_up.go);
    CHECK_IS(ended(&owner), LAZY_OK);
    CHECK_IS(ended(&waiters[0]), LAZY_OK);
    lazy_status status = ended(&waiters[1]); /* the reset may be sooner than its second look */
    CHECK(status == LAZY_OK || status == LAZY_QUEUED);
    CHECK_IS(ended(&waiters[2]), LAZY_E_NOT_FOUND);
    CHECK_IS(ended(&waiters[3]), LAZY_OK);
    CHECK_IS(COUNT(inside), 0);
    CHECK_IS(atomic_load(&ran), status == LAZY_OK);
    CHECK_IS(lazy_once_close(&once), LAZY_OK);
    return finish();
}
