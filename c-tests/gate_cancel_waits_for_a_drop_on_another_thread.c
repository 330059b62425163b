// Guards against an owner that is unloaded while another thread is still in its `drop`: the request is out of the queue, but a
// cancel by ticket or by owner comes back only when its `drop`, called by another thread's cancel, cancel_owner, replacement
// or close, has returned. From inside that `drop` nothing waits; where two of them cancel each other, one is refused.
#include "requests.h"

static lazy_once *once;
static lazy_once crossing[2];
static uint64_t ticket, tickets[2];
static char owner;
static int by_owner, mode, canceller, left, refused;
static gate in_drop[2];

static void drop(void *ctx) {
    (void)ctx;
    CHECK_IS(lazy_once_cancel(once, ticket), LAZY_IN_PROGRESS);
    CHECK_IS(lazy_once_cancel_owner(once, &owner), 0);
    gate_open(&in_drop[0]);
    while (!COUNT(canceller)) sched_yield();
    until_asleep(COUNT(canceller));
    ADD(left, 1);
}
static lazy_request keyed_request(void) {
    static job j;
    lazy_request request = request_for(&j);
    request.key = 1;
    return request;
}
static void *withdraws(void *ctx) {
    (void)ctx;
    lazy_request request = keyed_request();
    if (mode == 0) CHECK_IS(lazy_once_cancel(once, ticket), LAZY_OK);
    if (mode == 1) CHECK_IS(lazy_once_cancel_owner(once, &owner), 1);
    if (mode == 2) queue_request(once, request);
    if (mode == 3) CHECK_IS(lazy_once_close(once), LAZY_OK);
    return NULL;
}
static void check(void) {
    lazy_once storage = LAZY_ONCE_INIT;
    lazy_request request = keyed_request();
    once = &storage;
    in_drop[0] = (gate)GATE_INIT;
    canceller = left = 0;
    request.drop = drop;
    request.owner = &owner;
    ticket = queue_request(once, request);
    pthread_t thread = start(withdraws, NULL);
    gate_wait(&in_drop[0]);
    SET(canceller, thread_id());
    if (by_owner) CHECK_IS(lazy_once_cancel_owner(once, &owner), 0);
    else CHECK_IS(lazy_once_cancel(once, ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(COUNT(left), 1);
    join(thread);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
    CHECK_IS(COUNT(left), 1);
}
static void drop_that_cancels_the_other(void *ctx) {
    int mine = (int)(intptr_t)ctx, other = 1 - mine;
    gate_open(&in_drop[mine]);
    gate_wait(&in_drop[other]);
    lazy_status status = lazy_once_cancel(&crossing[other], tickets[other]);
    if (status == LAZY_E_DEADLOCK) ADD(refused, 1);
    else CHECK_IS(status, LAZY_E_NOT_FOUND);
}
static void *cancels(void *number) {
    CHECK_IS(lazy_once_cancel(&crossing[(intptr_t)number], tickets[(intptr_t)number]), LAZY_OK);
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (by_owner = 0; by_owner < 2; by_owner++)
        for (mode = 0; mode < 4; mode++) check();
    for (intptr_t i = 0; i < 2; i++) {
        lazy_request request = keyed_request();
        in_drop[i] = (gate)GATE_INIT;
        request.ctx = (void *)i;
        request.drop = drop_that_cancels_the_other;
        tickets[i] = queue_request(&crossing[i], request);
    }
    for (intptr_t i = 0; i < 2; i++) threads[i] = start(cancels, (void *)i);
    for (int i = 0; i < 2; i++) join(threads[i]);
    CHECK_IS(refused, 1);
    return finish();
}
