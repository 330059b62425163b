// Guards against a plugin that is unloaded under its own callback: cancel of a running request comes back only when the
// request, its `describe` and its `drop` have returned, in whichever of them it found it, then as LAZY_E_NOT_FOUND; one that
// fails is then not kept, whatever the policy, and its attempt has failed all the same. Also when `close` intervenes.
#include "requests.h"

static const lazy_config configs[] = {
    { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_KEEP },
    { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_DROP },
    { .size = sizeof(lazy_config), .on_deferred_failure = LAZY_DEFERRED_CONTINUE },
};
static lazy_once *once;
static int canceller, left, result, by_owner, ran, dropped, described, closes;
static uint64_t ticket;
static gate arrives;
enum { in_request, in_describe, in_drop };
static int arrival;

static void wait_for_canceller(void) {
    gate_open(&arrives);
    while (!COUNT(canceller)) sched_yield();
    until_asleep(COUNT(canceller));
}
static int32_t run(void *ctx) {
    (void)ctx;
    ADD(ran, 1);
    if (arrival == in_request) wait_for_canceller();
    if (closes) CHECK_IS(lazy_once_close(once), LAZY_OK);
    if (arrival == in_request) wait_for_canceller(); /* still */
    return result;
}
static void describe(void *ctx, char *buffer, size_t capacity) {
    (void)ctx;
    if (arrival <= in_describe) wait_for_canceller();
    ADD(described, 1);
    snprintf(buffer, capacity, "the unwanted one");
}
static void drop(void *ctx) {
    (void)ctx;
    wait_for_canceller(); /* even now */
    ADD(dropped, 1);
    SET(left, 1);
}
static void *cancels(void *ctx) {
    (void)ctx;
    gate_wait(&arrives);
    SET(canceller, thread_id());
    if (by_owner) CHECK_IS(lazy_once_cancel_owner(once, &ticket), 0); /* it was not withdrawn before it ran */
    else CHECK_IS(lazy_once_cancel(once, ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(COUNT(left), 1);
    return NULL;
}
static void check(uint32_t policy, int fails, int owner, int closed, int stage) {
    lazy_once storage = LAZY_ONCE_WITH(&configs[policy]);
    lazy_request request = LAZY_REQUEST_INIT;
    job behind = { 0 };
    once = &storage;
    SET(canceller, 0);
    SET(left, 0);
    ran = dropped = described = 0;
    result = fails;
    by_owner = owner;
    closes = closed;
    arrives = (gate)GATE_INIT;
    arrival = stage;
    request.fn = run;
    request.drop = drop;
    request.describe = describe;
    request.owner = &ticket;
    ticket = queue_request(once, request);
    queue_job(once, &behind);
    pthread_t thread = start(cancels, NULL);
    CHECK_IS(lazy_once_init(once), closed ? LAZY_E_CLOSED : fails ? LAZY_E_DEFERRED : LAZY_OK);
    join(thread);
    if (!closed) CHECK_IS(described, fails);
    if (fails && !closed) CHECK_IS(lazy_once_init(once), LAZY_OK);
    CHECK_IS(ran, 1);
    CHECK_IS(dropped, 1);
    CHECK_JOB(behind, !closed, 1);
    CHECK_IS(lazy_once_cancel(once, ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(lazy_once_close(once), LAZY_OK);
}

int main(void) {
    for (int owner = 0; owner < 2; owner++) {
        check(LAZY_DEFERRED_KEEP, 0, owner, 0, in_request);
        check(LAZY_DEFERRED_KEEP, 0, owner, 0, in_drop);
        for (uint32_t policy = LAZY_DEFERRED_KEEP; policy <= LAZY_DEFERRED_CONTINUE; policy++)
            for (int stage = in_request; stage <= in_describe; stage++) check(policy, 1, owner, 0, stage);
        check(LAZY_DEFERRED_DROP, 1, owner, 0, in_drop);
        for (int fails = 0; fails < 2; fails++) check(LAZY_DEFERRED_KEEP, fails, owner, 1, in_request);
    }
    return finish();
}
