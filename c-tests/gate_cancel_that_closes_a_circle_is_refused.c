// Guards against two threads that wait for each other through a cancel: a request on once A waits for once B, whose
// initializing thread cancels that request. The cancel is refused, with both onces named, by ticket as LAZY_E_DEADLOCK, by
// owner as SIZE_MAX, and everybody goes on; where the cancel slept first, the request's wait for B is refused instead.
#include "requests.h"

static const lazy_config config_a = { .size = sizeof(lazy_config), .name = "plugin host" };
static int32_t initialize_b(void *ctx);
static const lazy_config config_b = { .size = sizeof(lazy_config), .name = "device", .initialize = initialize_b };
static lazy_once *a, *b;
static gate a_runs, b_owned;
static int by_owner, cancel_first, requester, canceller, ran, dropped;
static uint64_t ticket;

static void sleeps(int *thread) {
    while (!COUNT(*thread)) sched_yield();
    until_asleep(COUNT(*thread));
}
static int32_t needs_b(void *ctx) {
    (void)ctx;
    ADD(ran, 1);
    gate_open(&a_runs);
    gate_wait(&b_owned);
    if (cancel_first) sleeps(&canceller);
    SET(requester, thread_id());
    CHECK_IS(lazy_once_init(b), cancel_first ? LAZY_E_DEADLOCK : LAZY_OK);
    if (cancel_first) CHECK_HAS(lazy_last_error()->message, "\"device\"");
    if (cancel_first) CHECK_HAS(lazy_last_error()->message, "\"plugin host\"");
    return 0;
}
static void drop(void *ctx) {
    (void)ctx;
    ADD(dropped, 1);
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    gate_open(&b_owned);
    if (!cancel_first) sleeps(&requester);
    SET(canceller, thread_id());
    if (by_owner) CHECK_IS(lazy_once_cancel_owner(a, &ticket), cancel_first ? 0 : SIZE_MAX);
    else CHECK_IS(lazy_once_cancel(a, ticket), cancel_first ? LAZY_E_NOT_FOUND : LAZY_E_DEADLOCK);
    CHECK_IS(COUNT(dropped), cancel_first);
    if (!cancel_first) {
        const lazy_error *error = lazy_last_error();
        CHECK_IS(error->status, LAZY_E_DEADLOCK);
        CHECK_HAS(error->message, "\"plugin host\"");
        CHECK_HAS(error->message, "\"device\"");
    }
    return 0;
}
static void check(int owner, int first) {
    lazy_once storage_a = LAZY_ONCE_WITH(&config_a), storage_b = LAZY_ONCE_WITH(&config_b);
    a = &storage_a;
    b = &storage_b;
    a_runs = b_owned = (gate)GATE_INIT;
    by_owner = owner;
    cancel_first = first;
    requester = canceller = ran = dropped = 0;
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = needs_b;
    request.drop = drop;
    request.owner = &ticket;
    ticket = queue_request(a, request);
    pthread_t thread = start(initializes, a);
    gate_wait(&a_runs);
    CHECK_IS(lazy_once_init(b), LAZY_OK);
    join(thread);
    CHECK_IS(ran, 1);
    CHECK_IS(dropped, 1);
    CHECK(lazy_once_is_initialized(a) && lazy_once_is_initialized(b));
}

int main(void) {
    for (int owner = 0; owner < 2; owner++)
        for (int first = 0; first < 2; first++) check(owner, first);
    return finish();
}
