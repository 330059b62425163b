// Guards against limits that the search for circles reads wrongly. A limited wait is no part of a circle, whether it
// sleeps or would close one, and whichever call it is made in: it ends in LAZY_E_TIMEOUT, and the other goes on.
// UINT64_MAX over a configured limit is no limit: then the circle stands and is refused.
#include "waiters.h"

enum { FIFTH_OF_A_SECOND = 200000000 };
typedef lazy_status (*wait_fn)(lazy_once *once);
static lazy_once a, b;
static gate a_owned, b_owned;
static atomic_int sleeper;
static wait_fn sleeping, closing;
static lazy_status sleeping_ends_as, closing_ends_as;

static lazy_status wait_limited(lazy_once *once) {
    return lazy_once_init_timeout(once, FIFTH_OF_A_SECOND);
}
static lazy_status wait_unlimited(lazy_once *once) {
    return lazy_once_init_timeout(once, UINT64_MAX);
}
static int32_t initialize_a(void *ctx) {
    (void)ctx;
    gate_open(&a_owned);
    gate_wait(&b_owned);
    atomic_store(&sleeper, thread_id());
    CHECK_IS(sleeping(&b), sleeping_ends_as);
    return 0;
}
static int32_t initialize_b(void *ctx) {
    (void)ctx;
    gate_open(&b_owned);
    gate_wait(&a_owned);
    while (!atomic_load(&sleeper)) sched_yield();
    if (sleeping_ends_as == LAZY_OK) until_asleep(atomic_load(&sleeper)); /* else it may be over already */
    CHECK_IS(closing(&a), closing_ends_as);
    return 0;
}
static void circle(const lazy_config *config_a, const lazy_config *config_b, wait_fn sleep, lazy_status sleep_as,
                   wait_fn close, lazy_status close_as) {
    static waiter first, second;
    a = (lazy_once)LAZY_ONCE_WITH(config_a);
    b = (lazy_once)LAZY_ONCE_WITH(config_b);
    a_owned = b_owned = (gate)GATE_INIT;
    atomic_store(&sleeper, 0);
    sleeping = sleep, sleeping_ends_as = sleep_as, closing = close, closing_ends_as = close_as;
    waiter_start(&second, &b, wait_unlimited);
    gate_wait(&b_owned);
    waiter_start(&first, &a, wait_unlimited);
    CHECK_IS(waiter_join(&first), LAZY_OK);
    CHECK_IS(waiter_join(&second), LAZY_OK);
    CHECK(lazy_once_is_initialized(&a) != (close == wait_in_reset && close_as == LAZY_OK));
    CHECK(lazy_once_is_initialized(&b) != (sleep == wait_in_reset && sleep_as == LAZY_OK));
    CHECK_IS(lazy_once_close(&a), LAZY_OK);
    CHECK_IS(lazy_once_close(&b), LAZY_OK);
}

int main(void) {
    static const lazy_config free_a = { .size = sizeof(lazy_config), .name = "a", .initialize = initialize_a };
    static const lazy_config free_b = { .size = sizeof(lazy_config), .name = "b", .initialize = initialize_b };
    lazy_config limited_a = free_a, limited_b = free_b;
    limited_a.timeout_ns = limited_b.timeout_ns = FIFTH_OF_A_SECOND;
    static const wait_fn configured[] = { wait_in_init, wait_in_run, wait_in_call, wait_in_submit, wait_in_reset };
    for (int i = 0; i < 5; i++) {
        circle(&free_a, &limited_b, configured[i], LAZY_E_TIMEOUT, configured[i], LAZY_OK);
        circle(&limited_a, &free_b, configured[i], LAZY_OK, configured[i], LAZY_E_TIMEOUT);
    }
    circle(&free_a, &free_b, wait_limited, LAZY_E_TIMEOUT, wait_in_init, LAZY_OK);
    circle(&free_a, &free_b, wait_in_init, LAZY_OK, wait_limited, LAZY_E_TIMEOUT);
    circle(&limited_a, &limited_b, wait_unlimited, LAZY_OK, wait_unlimited, LAZY_E_DEADLOCK);
    return finish();
}
