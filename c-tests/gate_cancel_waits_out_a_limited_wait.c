// Guards against a false alarm: the running request waits for the canceller's once with a time limit, so it ends by itself;
// the cancel is not refused but sleeps, the request times out and returns, and the cancel comes back. The once's own limit
// does not count for the cancel.
#include "requests.h"

static int32_t initialize_b(void *ctx);
static const lazy_config config_a = { .size = sizeof(lazy_config), .name = "a", .timeout_ns = 1 };
static const lazy_config config_b = { .size = sizeof(lazy_config), .name = "b", .initialize = initialize_b };
static lazy_once a = LAZY_ONCE_WITH(&config_a), b = LAZY_ONCE_WITH(&config_b);
static gate a_runs = GATE_INIT, b_owned = GATE_INIT;
static int requester, left;
static uint64_t ticket;

static int32_t needs_b_for_a_while(void *ctx) {
    (void)ctx;
    gate_open(&a_runs);
    gate_wait(&b_owned);
    SET(requester, thread_id());
    CHECK_IS(lazy_once_init_timeout(&b, 300000000), LAZY_E_TIMEOUT);
    SET(left, 1);
    return 0;
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    gate_open(&b_owned);
    while (!COUNT(requester)) sched_yield();
    CHECK_IS(lazy_once_cancel(&a, ticket), LAZY_E_NOT_FOUND);
    CHECK_IS(COUNT(left), 1);
    return 0;
}

int main(void) {
    lazy_request request = LAZY_REQUEST_INIT;
    request.fn = needs_b_for_a_while;
    ticket = queue_request(&a, request);
    pthread_t thread = start(initializes, &a);
    gate_wait(&a_runs);
    CHECK_IS(lazy_once_init(&b), LAZY_OK);
    join(thread);
    CHECK(lazy_once_is_initialized(&a) && lazy_once_is_initialized(&b));
    return finish();
}
